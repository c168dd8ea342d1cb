"""Logs of other programs in a history: claims that are stored and judged but prove no node."""

import dataclasses
import hashlib
import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from wireproof.files.held import make_folder, real_path
from wireproof.files.hostile import copy_folder, read_bounded, replace_file
from wireproof.logs.job import Claims, judge
from wireproof.logs.json import JudgedSeries, JudgementDocument
from wireproof.logs.readers.imb.heading import date_of
from wireproof.measure.keep import measured, not_copied, record, whole_folder
from wireproof.measure.report import judged_anew
from wireproof.model import gathered
from wireproof.model.errors import LARGEST, LARGEST_MESSAGE, BadInput, reading
from wireproof.model.history import Claimed, Entry, Imported
from wireproof.model.series import SeriesPoint
from wireproof.options.hosts import parse_hosts
from wireproof.options.sizes import parse_moment
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import clean, fold
from wireproof.report.reporter import Reporter
from wireproof.store.history import LOG, RESULTS, add_entry
from wireproof.store.load import DOCUMENT
from wireproof.store.manifest import is_sealed
from wireproof.store.result import RESULT
from wireproof.store.signature import held, refuse_altered
from wireproof.version import version

_LARGEST = 16 << 20
_MOST_NUMBERS = 20_000
_MOST_HOSTS = 20_000
_SKEW = timedelta(seconds=300)
_LEAST = 1e-6
_LONGEST_NAME = 80


@dataclasses.dataclass(frozen=True, kw_only=True)
class LogClaims:
    """The user's claims about logs, as typed.

    ``measured``: "" for the date in the log or of its file; ``hosts``: "" for the hosts in the log.
    """

    link: str | None = None
    path: str = ""
    mtu: int | None = None
    pcie: str = ""
    hosts: str = ""
    measured: str = ""


Log = tuple[Entry, bytes]
"""A log that is judged but not in the history yet: its entry and its content."""


def read_log(path: Path, claims: LogClaims) -> Log:
    """Read and judge a log.

    Raises ``BadInput`` if it contains no results, cannot be read or is larger than 16 MiB, or if
    the claims cannot be parsed.
    """
    data, changed = _contents(path)
    name = clean(path.name, _LONGEST_NAME)
    document = judge(data, name=str(path), **_judged_by(claims))
    if not any(table.points for table in document.series):
        raise BadInput(
            f"{path} contains no result of a benchmark, so there is nothing to store: `wireproof"
            " judge` shows what the file is."
        )
    measured, dated = _when(claims, data, changed)
    named = {clean(name, _LONGEST_NAME) for table in document.series for name in table.hosts}
    hosts = list(parse_hosts(claims.hosts)) if claims.hosts else sorted(named)
    numbers = _numbers(document.series)
    if len(numbers) > _MOST_NUMBERS or len(hosts) > _MOST_HOSTS:
        raise BadInput(
            f"{path} contains {len(numbers)} numbers of {len(hosts)} hosts; a log in a "
            f"history has at most {_MOST_NUMBERS} of {_MOST_HOSTS}: add it in parts."
        )
    imported = Imported(
        file=name,
        sha256=hashlib.sha256(data).hexdigest(),
        tools=sorted({table.tool for table in document.series}),
        dated=dated,
        hosts=hosts,
        numbers=numbers,
        link=claims.link,
        path=claims.path,
        mtu=claims.mtu,
        pcie=claims.pcie,
    )
    return _entry(imported, measured, document), data


def _judged_by(claims: LogClaims | Imported) -> Claims:
    return Claims(link=claims.link, path=claims.path, mtu=claims.mtu, pcie=claims.pcie)


def _contents(path: Path) -> tuple[bytes, datetime]:
    """Return the content of a file and the time of its last change."""
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
    if (printed := date_of(data.decode("utf-8", "replace"))) is not None:
        return printed, "log"
    return changed, "file"


def _entry(imported: Imported, measured: datetime, document: JudgementDocument) -> Entry:
    hosts = fold(imported.hosts) if imported.hosts else ""
    link = document.link.name if document.link else ""
    by = [link, imported.path, str(imported.mtu), imported.pcie]
    same = ["imported", *sorted(set(imported.hosts)), *by]
    versions = {(table.tool, table.version) for table in document.series if table.version}
    return Entry(
        id=f"log-{imported.sha256[:16]}",
        measured=measured.isoformat(timespec="seconds"),
        fingerprint=hashlib.sha256("\n".join(same).encode()).hexdigest()[:16],
        hosts=hosts,
        link=link,
        transport="",
        mpi="",
        verdict=document.verdict,
        wireproof=version(),
        conditions={f"version of {tool}": clean(text, 40) for tool, text in sorted(versions)},
        imported=imported,
    )


def _numbers(series: Sequence[JudgedSeries]) -> list[Claimed]:
    """Return the headline number of each row, except for tables that are off the wire.

    Slow results are kept: a trend without them would hide a loss.
    """
    values_of = gathered(
        ((_name(table), point.message_bytes, unit, table.window or 0), value)
        for table, point, unit, value in headlines(series)
        if table.proof != "off-wire"
        and _LEAST <= value <= LARGEST
        and 0 <= point.message_bytes <= LARGEST_MESSAGE
    )
    return [
        Claimed(
            name=name,
            message_bytes=size,
            unit=unit,
            window=window,
            value=statistics.median(values),
            tables=len(values),
        )
        for (name, size, unit, window), values in values_of.items()
    ]


def headlines(
    series: Iterable[JudgedSeries],
) -> Iterator[tuple[JudgedSeries, SeriesPoint, Literal["ns", "bytes_per_s"], float]]:
    """Yield each row that has a main number, with its table, and the number with its unit."""
    for table in series:
        for point in table.points:
            unit, value = _headline(table, point)
            if value > 0:
                yield table, point, unit, value


def _headline(
    table: JudgedSeries, point: SeriesPoint
) -> tuple[Literal["ns", "bytes_per_s"], float]:
    if point.valid is False:
        return "ns", 0.0
    time_ns = point.hrt_ns if point.hrt_ns is not None else point.time_ns
    rate = point.goodput_bytes_per_s
    if rate is not None and (time_ns is None or table.traffic not in ("pingpong", "collective")):
        return "bytes_per_s", rate
    return "ns", time_ns or 0.0


def _name(table: JudgedSeries) -> str:
    """Return the name of a table's series, as ``osu_bw`` or ``imb Allreduce, 16 ranks``.

    Results from jobs of different sizes are separate series.
    """
    what = (
        table.benchmark
        if table.benchmark.startswith(table.tool)
        else f"{table.tool} {table.benchmark}"
    )
    ranks = f", {table.processes} ranks" if table.processes else ""
    pairs = f", {table.pairs} pairs" if table.pairs > 1 else ""
    return clean(what + ranks + pairs, _LONGEST_NAME)


def add_log(root: Path, log: Log) -> Entry:
    """Store a copy of the log, completely or not at all, and its index entry.

    Adding the same log again replaces its entry. Raises ``CouldNotMeasure`` if the history cannot
    be written, and ``BadInput`` if its path leads outside of the history.
    """
    entry, data = log
    place = root / RESULTS / entry.id
    if place.is_symlink():
        raise BadInput(f"{place} is a link and not a folder of the history: remove it.")
    if place.is_dir():
        _write(place, data)
    else:
        with whole_folder(place) as fresh:
            make_folder(fresh, 0o700)
            _write(fresh, data)
    add_entry(root, entry)
    return entry


def _write(place: Path, data: bytes) -> None:
    try:
        replace_file(place / LOG, data)
    except OSError as error:
        raise not_copied(place, error) from error


def judged_again(root: Path, entry: Entry, imported: Imported) -> JudgementDocument:
    """Judge the stored copy by the rules of this version.

    Raises ``BadInput`` if it is missing or has changed since it was imported.
    """
    path = root / RESULTS / entry.id / LOG
    with reading(path):
        data = read_bounded(path, _LARGEST, follow=False)
    if hashlib.sha256(data).hexdigest() != imported.sha256:
        raise BadInput(
            f"{path} is not the file that was imported: its SHA-256 differs. Add the log again."
        )
    return judge(data, name=clean(imported.file, _LONGEST_NAME), **_judged_by(imported))


# --- Add existing results, and logs of other programs, to a history.

_LARGEST_SOURCE = 256 << 20


def add_all(
    root: Path, sources: Sequence[Path], claims: LogClaims, reporter: Reporter
) -> Iterator[Entry]:
    """Yield the entry of each source, a result's folder or a log; ``claims`` apply to the logs.

    Every log is read before anything is written. Raises ``BadInput`` for a log without results and
    for claims without a log; otherwise errors are those of ``add``.
    """
    logs = {path: read_log(path, claims) for path in sources if not path.is_dir()}
    if claims != LogClaims() and not logs:
        raise BadInput(
            "--link, --path, --mtu, --pcie, --hosts and --measured describe logs: a result of"
            " wireproof already contains these facts."
        )
    for path in sources:
        yield add_log(root, logs[path]) if path in logs else add(root, path, reporter)


def add(root: Path, folder: Path, reporter: Reporter) -> Entry:
    """Copy a result into the history, judged by the current rules, with all its records.

    A result that is already in the history stays in place, and its entry is rewritten. Raises
    ``BadInput`` for a folder without a result, and ``CouldNotMeasure`` if the history cannot be
    written.
    """
    inside = real_path(folder)
    if inside.parent == real_path(root / RESULTS):
        return record(root, inside, judged_anew(inside).sections)
    with held(folder) as copy:
        if is_sealed(copy):
            refuse_altered(copy)
        again = judged_anew(copy)
        if again.before is None:
            reporter.warn(f"{folder} has no {RESULT}: the existing records are judged.")
        sections = again.sections
        stamp = re.sub(r"[^0-9TZ]", "", measured(sections).replace("+00:00", "Z"))
        place = root / RESULTS / f"{stamp or 'undated'}-{_digest(copy, sections)}"
        if not place.exists():
            with whole_folder(place) as fresh:
                copy_folder(copy, fresh)
    return record(root, place, sections)


def _digest(folder: Path, sections: Sequence[JudgedRun]) -> str:
    """Return a short digest of the result's document, or of the first launch's document for results
    from before ``result.json``.
    """
    path = folder / RESULT
    with reading(path):
        if not path.exists():
            path = sections[0].records[0] / DOCUMENT
        return hashlib.sha256(read_bounded(path, _LARGEST_SOURCE, follow=False)).hexdigest()[:6]
