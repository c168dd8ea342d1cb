"""Priority flow control under load: counters are read before and after the load, live or from
stored texts.
"""

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from wireproof.files.hostile import read_bounded, replace_file
from wireproof.measure.session import Method
from wireproof.model.claim import rails_of
from wireproof.model.errors import BadInput, decode_json, reading, writing
from wireproof.model.frames import unsound
from wireproof.model.traffic import CounterMark, Watched
from wireproof.options.hosts import check_nic
from wireproof.options.sizes import parse_duration
from wireproof.options.table import Options
from wireproof.pfc import Headroom, PfcLoad, PfcRecord, PfcReport, PfcSettings
from wireproof.pfc.host_files import Stored, hosts_in, printed_of, read_host, settings_of
from wireproof.pfc.live import LiveSpecification, check_incast, record_live, refuse
from wireproof.pfc.verdict import judge_pfc, read
from wireproof.plan.headroom import LosslessPorts, pfc
from wireproof.report.reporter import Reporter, say_all
from wireproof.target.resolve import claimed_link, prefix_of, resolve_target
from wireproof.watch.command import NOWHERE, Sinks
from wireproof.watch.hosts import entered_node, target_of_command

__all__ = ["pfc_report"]


_LARGEST = 256 << 20


def record_of(source: Path, *, nic: str = "", seconds: float | None = None) -> PfcRecord:
    """Read a stored record.

    ``seconds``: time between the readings, if they do not state it. Raises ``BadInput``.
    """
    if not source.exists():
        raise BadInput(f"{source} does not exist.")
    if source.is_file():
        return read_snapshot(source)
    first, second = (_hosts(source, name) for name in ("before", "after"))
    if not set(first) & set(second):
        names = ", ".join(sorted(second)[:4])
        raise BadInput(
            f"no host of {source / 'before'} is in {source / 'after'}, which has {names}: both"
            " readings of a host must have its name."
        )
    printed = printed_of([*first.values(), *second.values()])

    def read(path: Path | None) -> Stored | None:
        return None if path is None else read_host(path, nic, printed)

    readings = [
        _watched(host, read(first.get(host)), read(second.get(host)), seconds)
        for host in {**first, **second}
    ]
    return PfcRecord(
        hosts=[watched for watched, _ in readings],
        settings=[setting for _, settings in readings for setting in settings],
        load=PfcLoad(kind="stored", seconds=seconds or 0.0),
        nics={watched.host: nic for watched, _ in readings} if nic else {},
    )


def _hosts(source: Path, name: str) -> dict[str, Path]:
    """Return the hosts of one of the two readings. Raises ``BadInput`` if its folder is missing."""
    folder = source / name
    if not folder.is_dir():
        raise BadInput(
            f"{source} has no folder {name}: store the readings from before the load in"
            f" {source.name}/before and those after it in {source.name}/after."
        )
    found = hosts_in(folder, source.name)
    if not found:
        raise BadInput(
            f"{folder} contains no host: give each host a folder (with sys and ethtool, or "
            "sos_commands), or a text with the output of `ethtool -S NIC`."
        )
    return found


def _watched(
    host: str, first: Stored | None, second: Stored | None, seconds: float | None
) -> tuple[Watched, list[PfcSettings]]:
    if first is None or second is None:
        when = "before" if first is None else "after"
        return Watched(host=host, error=f"it has no reading from {when} the load"), []
    error = first.error or second.error or _another_boot(first, second)
    if error or second.about is None:
        return Watched(host=host, about=second.about, error=error or "nothing was read"), []
    begin, end = _times(first, second, seconds)
    start = CounterMark(t_ns=begin, counters=first.counters)
    watched = Watched(
        host=host,
        about=second.about,
        start=start,
        before=start,
        after=CounterMark(t_ns=end, counters=second.counters),
    )
    texts = {**first.texts, **second.texts}
    return watched, [settings_of(host, nic, texts) for nic in second.about.nics]


def _another_boot(first: Stored, second: Stored) -> str:
    ids = {one.about.boot_id for one in (first, second) if one.about and one.about.boot_id}
    earlier, later = first.uptime_s, second.uptime_s
    back = earlier is not None and later is not None and later < earlier
    return "it rebooted between the readings" if len(ids) == 2 or back else ""


def _times(first: Stored, second: Stored, seconds: float | None) -> tuple[int, int]:
    """Return both times, from ``seconds`` or else from the uptimes; they are equal if neither is
    known.
    """
    if seconds is not None:
        return 0, round(seconds * 1e9)
    if first.uptime_s is not None and second.uptime_s is not None:
        return round(first.uptime_s * 1e9), round(second.uptime_s * 1e9)
    return 0, 0


def write_snapshot(path: Path, record: PfcRecord) -> None:
    """Store the record. Raises ``BadInput`` if the file exists or cannot be written."""
    if path.exists():
        raise BadInput(f"{path} already exists: give the snapshot another name.")
    with writing(path):
        replace_file(path, msgspec.json.encode(record))


_PAUSES = re.compile(rb"^[ \t]*([\w.]{1,60}x(?:on|off)[\w.]{0,40}): (\d{1,20})\s*$", re.MULTILINE)
_MOST_SHOWN = 4


def _single(path: Path, data: bytes) -> str:
    """Explain that one output of ``ethtool -S`` is not enough; "" for any other text."""
    found = _PAUSES.findall(data[: 1 << 20])
    if not found:
        return ""
    moved = [f"{name.decode()} {int(count):,}" for name, count in found if int(count)]
    shown = ", ".join(moved[:_MOST_SHOWN]) or "no Xoff and no Xon"
    return (
        f"{path} is one reading of a host's counters, which count from the time when its driver"
        f" was loaded ({shown}): one reading cannot show loss or load. Store a reading from"
        " before the load and one from after it, as before/HOST.txt and after/HOST.txt, and give"
        " their folder."
    )


def read_snapshot(path: Path) -> PfcRecord:
    """Load a file that ``write_snapshot`` wrote. Raises ``BadInput`` for any other file."""
    with reading(path):
        data = read_bounded(path, _LARGEST)
    try:
        record = decode_json(data, PfcRecord)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(
            _single(path, data)
            or f"{path} is not a snapshot of `wireproof pfc` (nor a folder with before and after)."
        ) from error
    if why := _unsound(record):
        raise BadInput(f"{path} contains an impossible number: {why}.")
    return record


def _unsound(record: PfcRecord) -> str:
    marks = (mark for host in record.hosts for mark in (host.start, host.before, host.after))
    return next(filter(None, map(unsound, filter(None, marks))), "")


def pfc_report(
    target: Options,
    environment: Mapping[str, str],
    reporter: Reporter,
    sinks: Sinks = NOWHERE,
    **options: Any,
) -> PfcReport:
    """Record and judge. ``options``: those of ``wireproof pfc`` as typed; ``source``: of --from;
    ``argv``: the command that is the load.

    Raises ``BadInput`` before anything is started, ``CouldNotMeasure`` if nothing could be read.
    """
    _check(target, options)
    source = options.get("source")
    seconds = parse_duration(options["duration"]) if options.get("duration") else None
    if source is not None:
        record = record_of(source, nic=target.nic, seconds=seconds)
    else:
        wanted = live_specification(target, environment, options)
        say_all(wanted.target.notes, reporter)
        record = record_live(wanted, environment=environment, reporter=reporter, sinks=sinks)
    if snapshot := options.get("snapshot"):
        write_snapshot(snapshot, record)
    return judged(record, options.get("priority"), options.get("cable_m"))


def _check(target: Options, options: Mapping[str, Any]) -> None:
    for nic in rails_of(target.nic):
        check_nic(nic)
    loads = {"--from": "source", "--no-load": "no_load", "a command": "argv"}
    given = [name for name, key in loads.items() if options.get(key)]
    if len(given) > 1:
        raise BadInput(f"{given[0]} and {given[1]} exclude each other: give one of them.")
    if options.get("senders") is not None and given:
        raise BadInput(f"--senders is for wireproof's incast, but {given[0]} is given.")
    if options.get("source") is not None and target.hosts:
        raise BadInput("--from already contains the hosts that were read: leave out --hosts.")
    if (snapshot := options.get("snapshot")) and snapshot.exists():
        raise BadInput(f"{snapshot} already exists: give the snapshot another name.")


_SECONDS = "10s"


def live_specification(
    asked: Options,
    environment: Mapping[str, str],
    options: Mapping[str, Any],
) -> LiveSpecification:
    """Return the live load to record. Raises ``BadInput`` before anything is started."""
    seconds = parse_duration(options.get("duration") or _SECONDS)
    argv = tuple(options.get("argv", ()))
    if argv:
        return _of_command(asked, environment, argv)
    if options.get("no_load"):
        target = resolve_target(asked, environment)
        return LiveSpecification(target=target, load="none", nic=asked.nic, seconds=seconds)
    method, senders = Method.from_options(asked), options.get("senders")
    if method.plays_hosts:
        raise BadInput(
            f"--transport {method.transport} sends nothing: give mpi, tcp or ofi for the incast."
        )
    target = resolve_target(asked, environment)
    check_incast(len(target.hosts), senders)
    return LiveSpecification(
        target=target,
        load="incast",
        nic=asked.nic,
        seconds=seconds,
        method=method,
        senders=senders,
    )


def _of_command(
    asked: Options,
    environment: Mapping[str, str],
    argv: tuple[str, ...],
) -> LiveSpecification:
    """Return the hosts of the command, determined as for ``prove``."""
    lab, node = asked.lab, ""
    entered = entered_node(argv)
    if entered is not None:
        lab, node, argv = entered
    link = claimed_link(asked)
    target = target_of_command(asked, argv, lab=lab, link=link, environment=environment)
    start_on = (node, *target.start_on) if node else target.start_on
    target = dataclasses.replace(
        target, sysfs_root=asked.sysfs_root, prefix=prefix_of(asked.prefix), start_on=start_on
    )
    return LiveSpecification(target=target, load="command", nic=asked.nic, argv=argv)


# --- Judge a record, with the headroom that its ports need according to ``plan pfc``.

CABLES_M = (3.0, 100.0)
"""Default cable lengths: within a rack and across a hall."""


def judged(record: PfcRecord, priority: int | None, cable_m: float | None = None) -> PfcReport:
    """Judge a record.

    ``cable_m``: length of the links to the switch, for the headroom. Raises ``BadInput`` if no host
    has the named interface, or its link has no PFC.
    """
    refuse(record)
    readings = read(record)
    cables = CABLES_M if cable_m is None else (cable_m,)
    kinds = {
        (reading.speed_bits_per_s / 1e9, reading.mtu)
        for reading in readings
        if reading.speed_bits_per_s and reading.mtu
    }
    needed = {kind: [need for cable in cables if (need := _need(*kind, cable))] for kind in kinds}
    return judge_pfc(record, readings, priority, needed)


def _need(speed_gbps: float, mtu: int, cable_m: float) -> Headroom | None:
    """Return the headroom, or None if no response time is known for this speed."""
    try:
        computed = pfc(LosslessPorts(speed_gbps=speed_gbps, mtu=mtu, cable_m=cable_m, ports=1))
    except BadInput:
        return None
    return Headroom(
        speed_gbps=speed_gbps,
        mtu=mtu,
        cable_m=cable_m,
        least_bytes=int(computed.headroom_bytes.low),
        most_bytes=int(computed.headroom_bytes.high),
    )
