"""Run any command between two readings of the ports of every host that it uses, and judge the path
that its bytes took.
"""

from __future__ import annotations

import dataclasses
import math
import shlex
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import msgspec

from wireproof.files.hostile import open_regular
from wireproof.instrument.watch_command import Stdin, WatchedCommand
from wireproof.ledger.traffic import not_watched
from wireproof.logs.readers import read
from wireproof.logs.readers.osu import with_request
from wireproof.logs.statistics import (
    collected,
    held_against_ports,
    statistics_folder,
)
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import Verdict, worst
from wireproof.model.psm3 import JudgedStatistics
from wireproof.model.series import Series
from wireproof.model.traffic import Traffic, TrafficVerdict
from wireproof.options.hosts import parse_hosts
from wireproof.options.resolve import resolve
from wireproof.options.row import refuse_unknown
from wireproof.options.sizes import parse_duration
from wireproof.options.table import Options
from wireproof.report.reporter import LoggingReporter, Reporter
from wireproof.target import Target, launcher_environment, reach
from wireproof.target.resolve import reader_prefix
from wireproof.watch.command import NOWHERE, Sinks, Watch
from wireproof.watch.document import ProofDocument, proof_document
from wireproof.watch.hosts import Companion, entered_node, start_servers, target_of_command
from wireproof.watch.verdict import judge_traffic

if TYPE_CHECKING:
    from wireproof.watch.document import ProofDocument

INTERRUPTED = 128 + signal.SIGINT
MOST_RESULTS = 32 << 20
"""Limit on the bytes that are read from a file of results."""
_USUAL_RESULTS = {"hpcc": "hpccoutf.txt"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProofSpecification:
    """``argv`` runs on ``target`` (in a lab inside its first node).

    ``name``: the ``source`` of the series in its output; ``results``: files to which it writes
    numbers; ``longest_s``: time after which it is stopped. ``psm_statistics``: use PSM3's counters
    as a second witness.
    """

    argv: tuple[str, ...]
    target: Target
    companions: tuple[Companion, ...] = ()
    interval_s: float = 0.1
    name: str = ""
    results: tuple[Path, ...] = ()
    stdin: Stdin = "shared"
    longest_s: float = math.inf
    psm_statistics: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProvedCommand:
    """``exit_status``: that of the command (128 + signal for a signal, 130 if the user stopped it).

    ``output``: its standard output, bounded by ``watch_command.MOST_OUTPUT``; ``seconds``: its
    duration; ``last_words``: its last line. ``series``: the numbers in the output. ``statistics``:
    PSM3's counters, if requested.
    """

    exit_status: int
    output: bytes
    seconds: float
    traffic: Traffic
    judgement: TrafficVerdict
    series: list[Series]
    last_words: str = ""
    notes: tuple[str, ...] = ()
    statistics: JudgedStatistics | None = None

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the path, and on PSM3's counters if they were read."""
        statistics = [self.statistics.verdict] if self.statistics else []
        return worst([self.judgement.verdict, *statistics])

    def document(self, wanted: ProofSpecification) -> ProofDocument:
        """Return the document that ``wireproof prove --json`` prints for the command in
        ``wanted``.
        """
        return proof_document(
            wanted.argv,
            self.exit_status,
            self.traffic,
            self.judgement,
            self.series,
            [*wanted.target.notes, *self.notes],
            self.statistics,
        )


def prove_command(
    wanted: ProofSpecification,
    *,
    environment: Mapping[str, str],
    sinks: Sinks = NOWHERE,
    reporter: Reporter | None = None,
) -> ProvedCommand:
    """Run the command between two readings of every host, and judge.

    The command inherits ``environment``. Its output is passed on to ``sinks`` as it arrives. Raises
    ``CouldNotMeasure``, without starting the command, if no host can be watched.
    """
    with statistics_folder(asked=wanted.psm_statistics) as (folder, more):
        proved = _proved({**environment, **more}, wanted, sinks, reporter or LoggingReporter())
        if folder is None or proved.exit_status == INTERRUPTED:
            return proved
        files, refused = collected(folder)
        judged = held_against_ports(files, proved.traffic, wanted.target)
        return dataclasses.replace(proved, statistics=judged, notes=(*proved.notes, *refused))


def _proved(
    environment: Mapping[str, str], wanted: ProofSpecification, sinks: Sinks, reporter: Reporter
) -> ProvedCommand:
    target = wanted.target
    whole = {**environment, **launcher_environment(target, environment)}
    files = {path: size_of(path) for path in wanted.results}
    with Watch(target, whole, wanted.interval_s, reporter) as watch:
        watch.begin()
        servers = start_servers(watch, wanted.companions, sinks, reporter)
        watch.look_at_the_background()
        command, status, seconds = run_command(watch, wanted, sinks)
        proved = judged_command(watch, wanted, command, status, seconds, files)
        for server in servers:
            server.end()
    return proved


def judged_command(
    watch: Watch,
    wanted: ProofSpecification,
    command: WatchedCommand,
    status: int,
    seconds: float,
    files: Mapping[Path, tuple[int, int]],
) -> ProvedCommand:
    """Take the readings after a command that `run_command` returned, and judge its path.

    ``files``: the files of results, with their sizes from before the command.
    """
    traffic = watch.traffic(seconds)
    argv = wanted.argv
    series = _numbers(bytes(command.output), wanted.name or Path(argv[0]).name, files)
    series = with_request(series, argv)
    unwatched = not_watched((host for table in series for host in table.hosts), watch.watched())
    traffic = msgspec.structs.replace(traffic, unwatched=unwatched)
    return ProvedCommand(
        exit_status=status,
        output=bytes(command.output),
        seconds=seconds,
        traffic=traffic,
        judgement=judge_traffic(traffic, series, wanted.target.claim(), exit_status=status),
        series=series,
        last_words=command.last_words(),
        notes=(*watch.notes, *_notes(command)),
    )


def run_command(
    watch: Watch,
    wanted: ProofSpecification,
    sinks: Sinks,
    environment: Mapping[str, str] | None = None,
) -> tuple[WatchedCommand, int, float]:
    """Run the command to its end; return it, its exit status and its duration in s.

    ``environment`` None: that of the watch.

    Ctrl-C stops the command, not the proof. Raises ``CouldNotMeasure`` if it exceeds its time
    limit.
    """
    begun = time.monotonic()
    argv = on_target(wanted.argv, wanted.target)
    command = watch.start(argv, sinks, stdin=wanted.stdin, environment=environment)
    try:
        while not watch.hearing.listen(min(3600.0, wanted.longest_s), command.ended):
            if time.monotonic() - begun >= wanted.longest_s:
                late = f"did not end within {wanted.longest_s:.0f} s"
                raise CouldNotMeasure(f"{wanted.argv[0]} {late}.")
        return command, command.end(), time.monotonic() - begun
    except KeyboardInterrupt:
        command.end()
        watch.hearing.listen(1.0, command.ended)
        return command, INTERRUPTED, time.monotonic() - begun


def _notes(command: WatchedCommand) -> tuple[str, ...]:
    lost = f"the last {command.dropped} bytes of the output were not searched for numbers"
    return (lost,) if command.dropped else ()


def on_target(argv: Sequence[str], target: Target) -> list[str]:
    """Return the command for the target: in a lab it runs inside the first node; else it runs here,
    and its launcher reaches the other hosts.
    """
    if target.lab is not None and target.start_on:
        return reach(target, target.start_on[0], argv)
    return list(argv)


def _numbers(output: bytes, name: str, files: Mapping[Path, tuple[int, int]]) -> list[Series]:
    """Return every series that an adapter recognizes in the output and in the files, which are
    given with their sizes from before the command.
    """
    series: list[Series] = []
    texts = [(written(path, before), path.name) for path, before in files.items()]
    for data, source in [(output, name), *texts]:
        try:
            series += read(data, source) if data else []
        except BadInput:
            continue
    return series


def size_of(path: Path) -> tuple[int, int]:
    """Return the size and the time of the last change; (0, 0) for a missing file."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return (status.st_size, status.st_mtime_ns) if path.is_file() else (0, 0)


def written(path: Path, before: tuple[int, int]) -> bytes:
    """Return the text written to a file of results since ``size_of`` returned ``before``, bounded:
    the part after the old end, or the whole file if it was rewritten.
    """
    size, changed = size_of(path)
    if changed == before[1] or not size:
        return b""
    try:
        with open_regular(path) as file:
            file.seek(before[0] if size > before[0] else 0)
            return file.read(MOST_RESULTS)
    except OSError:
        return b""


def usual_results(argv: Sequence[str], folder: Path) -> list[Path]:
    """Return the files that a program among the arguments is known to write into ``folder``."""
    names = {Path(word).name for word in argv[:200]}
    return [folder / file for program, file in _USUAL_RESULTS.items() if program in names]


# --- The options of a proof.

LONGEST_INTERVAL_S = 60.0


class ProofOptions(TypedDict, total=False):
    """The options of ``wireproof prove`` as typed; ``server``: pairs of a host and its command
    line. ``hosts``, ``nic``, ``launcher``: for ``prove`` alone; the command line also accepts them
    from files and variables.
    """

    hosts: str | Sequence[str]
    nic: str
    launcher: str
    lab: str | None
    link: str | None
    mtu: int | None
    pcie: str
    prefix: str
    sysfs_root: str
    interval: str
    results: Sequence[Path | str]
    server: Sequence[tuple[str, str]]
    psm_statistics: bool


def prove(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    reporter: Reporter | None = None,
    **options: Unpack[ProofOptions],
) -> ProofDocument:
    """Run ``argv`` between two readings of the ports of its hosts, and judge whether its bytes used
    the wire.

    The result is the document that ``wireproof prove --json`` prints. The command inherits
    ``environment`` (default: that of this process); its output is searched for numbers and not
    shown. Raises ``BadInput`` for options that cannot be used and ``CouldNotMeasure`` if no host
    can be watched.
    """
    from wireproof.launch.mpi.environment import own_environment

    inherited = own_environment() if environment is None else environment
    reporter = reporter or LoggingReporter()
    settings = _settings(options)
    wanted = specification(tuple(argv), settings, options, inherited)
    for line in wanted.target.notes:
        reporter.say(line)
    proved = prove_command(wanted, environment=inherited, reporter=reporter)
    return proved.document(wanted)


def _settings(options: ProofOptions) -> Options:
    """Return the settings of this call alone.

    Raises TypeError for an unknown option, which is a mistake in the caller.
    """
    refuse_unknown(options, ProofOptions.__optional_keys__)
    hosts = options.get("hosts")
    texts = {
        "hosts": hosts if hosts is None or isinstance(hosts, str) else ",".join(hosts),
        "nic": options.get("nic"),
        "launcher": options.get("launcher"),
    }
    return resolve(texts, {})


def specification(
    argv: tuple[str, ...],
    settings: Options,
    options: ProofOptions,
    environment: Mapping[str, str],
) -> ProofSpecification:
    """Parse and check every option, and find the target. Raises ``BadInput``."""
    if not argv:
        raise BadInput(
            "no command was given: write it after --, as in `wireproof prove -- mpirun osu_bw`."
        )
    if len(argv) == 1 and " " in argv[0] and not Path(argv[0]).exists():
        raise BadInput(f"the command {argv[0]!r} is one quoted word: leave out the quotes.")
    interval_s = _interval_s(options.get("interval", "100ms"))
    argv, lab, node = _entered(argv, options.get("lab"))
    target = target_of_command(
        settings, argv, lab=lab, link=_link(options, settings.nic), environment=environment
    )
    target = dataclasses.replace(
        target,
        sysfs_root=options.get("sysfs_root", ""),
        prefix=reader_prefix(options.get("prefix", "")),
        start_on=(node, *target.start_on) if node else target.start_on,
    )
    return ProofSpecification(
        argv=argv,
        target=target,
        companions=tuple(_companions(options.get("server", ()), target)),
        interval_s=interval_s,
        results=tuple(map(Path, options.get("results") or usual_results(argv, Path.cwd()))),
        psm_statistics=options.get("psm_statistics", False),
    )


def _interval_s(text: str) -> float:
    seconds = parse_duration(text)
    if not 0.001 <= seconds <= LONGEST_INTERVAL_S:
        raise BadInput(f"--interval {text[:40]!r} is out of range: give 1ms to 60s.")
    return seconds


def _entered(argv: tuple[str, ...], lab: str | None) -> tuple[tuple[str, ...], str | None, str]:
    """Return (argv, lab, node); for ``wireproof lab exec LAB NODE ARGV`` these are its parts."""
    entered = entered_node(argv)
    if entered is None:
        return argv, lab, ""
    if lab not in (None, entered[0]):
        raise BadInput(
            f"--lab is {lab}, but the command enters the lab {entered[0][:60]}: use the same lab"
            " in both."
        )
    return entered[2], entered[0], entered[1]


def _link(options: ProofOptions, nics: str) -> LinkClaim | None:
    from wireproof.physics.rails import claim_of_rails

    link = options.get("link")
    if not link:
        return None
    return claim_of_rails(link, nics, mtu=options.get("mtu"), pcie=options.get("pcie") or "")


def _companions(given: Sequence[tuple[str, str]], target: Target) -> list[Companion]:
    servers = []
    for host, text in given:
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise BadInput(f"--server {host[:60]}: {text[:60]!r} has an open quote.") from error
        if not words:
            raise BadInput(f"--server {host[:60]}: no command was given for it.")
        if target.lab is not None and host not in target.lab.nodes:
            nodes = ", ".join(target.lab.nodes)
            raise BadInput(f"--server {host[:60]!r}: the lab has the nodes {nodes}.")
        servers.append(Companion(parse_hosts(host)[0], tuple(words)))
    return servers
