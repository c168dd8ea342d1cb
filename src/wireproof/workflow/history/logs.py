"""Logs of other programs in a history: claims, kept and judged, that prove no node."""

import dataclasses
import hashlib
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from wireproof.adapters.imb.heading import date_of
from wireproof.files.held import make_folder
from wireproof.files.hostile import read_bounded, replace_file
from wireproof.model.errors import BadInput
from wireproof.model.history import Claimed, Entry, Imported
from wireproof.model.series import SeriesPoint
from wireproof.model.sound import LARGEST, LARGEST_MESSAGE
from wireproof.report.json.judgement import JudgedSeries, JudgementDocument
from wireproof.report.names import clean, fold
from wireproof.settings.durations import parse_moment
from wireproof.settings.hosts import parse_hosts
from wireproof.store.history import LOG, RESULTS, add_entry
from wireproof.version import version
from wireproof.workflow.history.keep import not_copied, whole_folder
from wireproof.workflow.judge import Claims, judge

_LARGEST = 16 << 20
_MOST_NUMBERS = 20_000
_MOST_HOSTS = 20_000
_SKEW = timedelta(seconds=300)
_LEAST = 1e-6
_LONGEST_NAME = 80


@dataclasses.dataclass(frozen=True, kw_only=True)
class LogClaims:
    """What the user says of logs, as he writes it. ``measured``: "" for what the log or its file
    says; ``hosts``: "" for those that the log names.
    """

    link: str | None = None
    path: str = ""
    mtu: int | None = None
    pcie: str = ""
    hosts: str = ""
    measured: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Log:
    """A log that has been judged, and is not in the history yet."""

    entry: Entry
    data: bytes


def read_log(path: Path, claims: LogClaims) -> Log:
    """A log, judged. Raises ``BadInput`` for what is no log of results, cannot be read, is larger
    than 16 MiB, or for claims that are not understood.
    """
    data, changed = _contents(path)
    name = clean(path.name, _LONGEST_NAME)
    found = judge(data, name=str(path), **_judged_by(claims))
    if not any(one.points for one in found.series):
        raise BadInput(
            f"{path} holds no number of a benchmark, and there is nothing to keep:"
            " `wireproof judge` says what it is."
        )
    measured, dated = _when(claims, data, changed)
    hosts = list(parse_hosts(claims.hosts)) if claims.hosts else _hosts(found.series)
    numbers = _numbers(found.series)
    if len(numbers) > _MOST_NUMBERS or len(hosts) > _MOST_HOSTS:
        raise BadInput(
            f"{path} holds {len(numbers)} numbers of {len(hosts)} hosts, and a log in a history at"
            f" most {_MOST_NUMBERS} of {_MOST_HOSTS}: add it in parts."
        )
    imported = Imported(
        file=name,
        sha256=hashlib.sha256(data).hexdigest(),
        tools=sorted({one.tool for one in found.series}),
        dated=dated,
        hosts=hosts,
        numbers=numbers,
        link=claims.link,
        path=claims.path,
        mtu=claims.mtu,
        pcie=claims.pcie,
    )
    return Log(entry=_entry(imported, measured, found), data=data)


def _judged_by(claims: LogClaims | Imported) -> Claims:
    return Claims(link=claims.link, path=claims.path, mtu=claims.mtu, pcie=claims.pcie)


def _contents(path: Path) -> tuple[bytes, datetime]:
    """Its bytes, and when it was last changed."""
    try:
        data = read_bounded(path, _LARGEST)
        changed = path.stat().st_mtime
        return data, datetime.fromtimestamp(changed, UTC)
    except (OSError, ValueError, OverflowError) as error:
        why = getattr(error, "strerror", "") or str(error)
        raise BadInput(f"{path} cannot be read: {why}.") from error


def _when(
    claims: LogClaims, data: bytes, changed: datetime
) -> tuple[datetime, Literal["given", "log", "file"]]:
    if claims.measured:
        given = parse_moment(claims.measured)
        if given > datetime.now(UTC) + _SKEW:
            raise BadInput(f"--measured {claims.measured[:40]} is in the future.")
        return given, "given"
    if (said := date_of(data.decode("utf-8", "replace"))) is not None:
        return said, "log"
    return changed, "file"


def _hosts(series: Sequence[JudgedSeries]) -> list[str]:
    return sorted({clean(name, _LONGEST_NAME) for one in series for name in one.hosts})


def _entry(imported: Imported, measured: datetime, found: JudgementDocument) -> Entry:
    hosts = fold(imported.hosts) if imported.hosts else ""
    link = found.link.name if found.link else ""
    by = [link, imported.path, str(imported.mtu), imported.pcie]
    same = ["imported", *sorted(set(imported.hosts)), *by]
    versions = {(one.tool, one.version) for one in found.series if one.version}
    return Entry(
        id=f"log-{imported.sha256[:16]}",
        measured=measured.isoformat(timespec="seconds"),
        fingerprint=hashlib.sha256("\n".join(same).encode()).hexdigest()[:16],
        hosts=hosts,
        link=link,
        transport="",
        mpi="",
        verdict=found.verdict,
        wireproof=version(),
        conditions={f"version of {tool}": clean(text, 40) for tool, text in sorted(versions)},
        imported=imported,
    )


def _numbers(series: Sequence[JudgedSeries]) -> list[Claimed]:
    """The headline number of each row; of tables that the link excludes, none. One that is slow is
    kept: a trend without it would hide what has become worse.
    """
    found: dict[tuple[str, int, Literal["ns", "bytes_per_s"], int], list[float]] = {}
    for one in series:
        for point in one.points if one.proof != "off-wire" else ():
            unit, value = headline_of(one, point)
            if _LEAST <= value <= LARGEST and 0 <= point.message_bytes <= LARGEST_MESSAGE:
                key = (_name(one), point.message_bytes, unit, one.window or 0)
                found.setdefault(key, []).append(value)
    return [
        Claimed(
            name=name,
            message_bytes=size,
            unit=unit,
            window=window,
            value=statistics.median(values),
            tables=len(values),
        )
        for (name, size, unit, window), values in found.items()
    ]


def headline_of(
    one: JudgedSeries, point: SeriesPoint
) -> tuple[Literal["ns", "bytes_per_s"], float]:
    """What the table is about; 0 where the row has none of it."""
    if point.valid is False:
        return "ns", 0.0
    time_ns = point.hrt_ns if point.hrt_ns is not None else point.time_ns
    rate = point.goodput_bytes_per_s
    if rate is not None and (time_ns is None or one.traffic not in ("pingpong", "collective")):
        return "bytes_per_s", rate
    return "ns", time_ns or 0.0


def _name(one: JudgedSeries) -> str:
    """``osu_bw``, ``imb Allreduce, 16 ranks``: tables of another size of job are other numbers."""
    what = one.benchmark if one.benchmark.startswith(one.tool) else f"{one.tool} {one.benchmark}"
    ranks = f", {one.processes} ranks" if one.processes else ""
    pairs = f", {one.pairs} pairs" if one.pairs > 1 else ""
    return clean(what + ranks + pairs, _LONGEST_NAME)


def add_log(root: Path, log: Log) -> Entry:
    """Keep a copy of the log, whole or not at all, and its entry; the same log again has one entry,
    the newer. Raises ``CouldNotMeasure`` when the history cannot be written, ``BadInput`` where it
    leads out of itself.
    """
    place = root / RESULTS / log.entry.id
    if place.is_symlink():
        raise BadInput(f"{place} is a link, and no folder of the history: remove it.")
    if place.is_dir():
        _write(place, log)
    else:
        with whole_folder(place) as fresh:
            make_folder(fresh, 0o700)
            _write(fresh, log)
    add_entry(root, log.entry)
    return log.entry


def _write(place: Path, log: Log) -> None:
    try:
        replace_file(place / LOG, log.data)
    except OSError as error:
        raise not_copied(place, error) from error


def judged_again(root: Path, entry: Entry, imported: Imported) -> JudgementDocument:
    """The kept copy, judged by the rules of this version. Raises ``BadInput`` when it is not there,
    or no longer what was imported.
    """
    path = root / RESULTS / entry.id / LOG
    try:
        data = read_bounded(path, _LARGEST, follow=False)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    if hashlib.sha256(data).hexdigest() != imported.sha256:
        raise BadInput(
            f"{path} is not what was imported: its SHA-256 is another. Add the log again."
        )
    return judge(data, name=clean(imported.file, _LONGEST_NAME), **_judged_by(imported))
