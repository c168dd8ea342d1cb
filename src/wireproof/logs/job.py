"""Judge the output of other benchmarks: texts, files and folders; many files are judged on all
cores.
"""

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypedDict, TypeVar, Unpack

from wireproof.atlas import Atlas
from wireproof.atlas.job import atlas
from wireproof.files.hostile import open_regular
from wireproof.logs.json import (
    JudgedSeries,
    JudgementDocument,
    joined,
)
from wireproof.logs.psm3 import is_help, is_statistics
from wireproof.logs.readers import read
from wireproof.logs.statistics import JudgedFile, Tally, may_be_log
from wireproof.logs.verdict import judge_log
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput, NoResult, WireproofError
from wireproof.physics.table import Table
from wireproof.report.names import clean
from wireproof.report.reporter import LoggingReporter, Reporter, is_bug, sentence
from wireproof.verdict.catalogue import CATALOGUE

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

__all__ = [
    "JudgedFile",
    "Standard",
    "Tally",
    "advice",
    "files_of",
    "itself",
    "judge",
    "judge_bytes",
    "judge_files",
    "standard",
]

_LARGEST = 32 << 20
_MANY = 32  # fewer files are judged faster than a second process starts
_CHUNK = 16
_SAY_AFTER_S = 2.0
_OF_THE_SHELL = re.compile(r"/dev/fd/[0-9]{1,9}|/dev/stdin|/proc/self/fd/[0-9]{1,9}", re.ASCII)

Rendered = TypeVar("Rendered")


@dataclass(frozen=True, kw_only=True)
class Standard:
    """The standard that results are compared with."""

    link: LinkClaim | None = None
    path: str = ""
    table: Table | None = None
    atlas: Atlas | None = None


class Claims(TypedDict, total=False):
    """A user's claims about a log, as typed.

    ``link``: ``10gbe``; ``path``: ``tcp``; ``mtu`` in bytes; ``pcie``: ``gen3x16``; ``physics``: a
    TOML file that overrides constants; ``site``: a folder of published numbers (docs/atlas.md) that
    are used in addition to wireproof's.
    """

    link: str | None
    path: str
    mtu: int | None
    pcie: str
    physics: Path | str | None
    site: Path | str | None


def standard(
    link: str | None = None,
    *,
    path: str = "",
    mtu: int | None = None,
    pcie: str = "",
    physics: Path | str | None = None,
    site: Path | str | None = None,
) -> Standard:
    """Build the standard from the user's claims; see ``Claims``. Raises ``BadInput``."""
    from wireproof.physics.rails import claim_of_rails

    if not link and (mtu or pcie or path):
        raise BadInput(
            "--mtu, --pcie and --path describe a link in more detail: give the link with --link,"
            " such as --link 10gbe."
        )
    table = None
    if physics is not None:
        from wireproof.options.resolve import read_table

        table = read_table(Path(physics))
    return Standard(
        link=claim_of_rails(link, path=path, mtu=mtu, pcie=pcie) if link else None,
        path=path,
        table=table,
        atlas=atlas(Path(site) if site else None) if link else None,
    )


def judge(
    text_or_path: str | bytes | Path,
    *,
    name: str = "text",
    **claims: Unpack[Claims],
) -> JudgementDocument:
    """Judge the output of a benchmark by the claims: a text, or the Path of a file or folder.

    The result is the document that ``wireproof judge --json`` prints. Raises ``BadInput`` if a text
    or a file contains no result; files of a folder without a result are listed in ``errors``.
    ``name``: the name of a text in the document.
    """
    against = standard(**claims)
    if isinstance(text_or_path, Path):
        files = list(judge_files(files_of([str(text_or_path)]), against, itself))
    else:
        data = text_or_path.encode() if isinstance(text_or_path, str) else text_or_path
        files = [_of_bytes(data, name, against)]
    named = frozenset([str(text_or_path)] if isinstance(text_or_path, Path) else [name])
    tally = Tally(named=named)
    for file in files:
        tally.add(file)
    if tally.errors and len(files) == 1:
        raise BadInput(tally.errors[0].message)
    return tally.document((series for file in files for series in file.series), against.link)


def _of_bytes(data: bytes, name: str, against: Standard) -> JudgedFile[JudgedSeries]:
    if is_statistics(data):
        from wireproof.logs.psm3.statistics import statistics

        return JudgedFile(name, statistics=statistics(data, name))
    judged = judge_bytes(data, name, against)
    return JudgedFile(name, judged, [series.verdict for series in judged])


def itself(series: JudgedSeries) -> JudgedSeries:
    """Return the series unchanged: the renderer for a document."""
    return series


def advice(document: JudgementDocument) -> dict[str, str]:
    """Return the next action for the code of each reason."""
    codes = {reason.code for series in document.series for reason in series.reasons}
    return {code: CATALOGUE[code].next_action for code in codes if code in CATALOGUE}


def judge_bytes(data: bytes, name: str, against: Standard) -> list[JudgedSeries]:
    """Judge every series in ``data``. Raises ``BadInput`` if there is none."""
    series = read(data, name)
    verdicts = judge_log(
        series, against.link, path=against.path, table=against.table, atlas=against.atlas
    )
    return [
        joined(table, verdict, against.link)
        for table, verdict in zip(series, verdicts, strict=True)
    ]


def files_of(names: Iterable[str]) -> list[str]:
    """Return the named files, and the files in each named folder.

    Raises ``BadInput`` for an empty folder.
    """
    paths: list[str] = []
    for name in names:
        if name != "-" and os.path.isdir(name):
            inside = sorted(_inside(name))
            if not inside:
                raise BadInput(f"{name}: the folder contains no file.")
            paths += inside
        else:
            paths.append(name)
    if paths.count("-") > 1:
        raise BadInput("standard input (-) can be read only once.")
    return paths


def _inside(folder: str) -> Iterator[str]:
    """Yield the files in and below a folder without hidden ones.

    Not recursive, because paths can be deeper than the call stack.
    """
    waiting = [folder]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:  # not readable by this user, or nested deeper than a path can express
            continue
        waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        yield from (
            entry.path
            for entry in entries
            if not entry.name.startswith(".") and not entry.is_dir(follow_symlinks=False)
        )


def judge_files(
    names: Sequence[str],
    against: Standard,
    render: Callable[[JudgedSeries], Rendered],
    *,
    stdin: BinaryIO | None = None,
    jobs: int | None = None,
    reporter: Reporter | None = None,
) -> Iterator[JudgedFile[Rendered]]:
    """Yield the results in the order of the names.

    ``render`` converts each series in the process that judged it. ``jobs``: number of processes
    (default: one per core). ``stdin`` is read for ``-``.
    """
    workers = jobs or _cores()
    results: Iterator[JudgedFile[Rendered]]
    if len(names) < _MANY or workers == 1 or "-" in names:
        results = (_judged_file(name, against, render, stdin) for name in names)
    else:
        results = _in_waves(names, partial(_judged_chunk, against=against, render=render), workers)
    yield from _reported(results, len(names), reporter or LoggingReporter())


def _cores() -> int:
    """Return the cores that this process may use, or all cores if the system does not report this
    (macOS, Windows).
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _judged_file(
    name: str,
    against: Standard,
    render: Callable[[JudgedSeries], Rendered],
    stdin: BinaryIO | None = None,
) -> JudgedFile[Rendered]:
    result = JudgedFile[Rendered](file=clean(name, 400))
    shown = "standard input" if name == "-" else name
    try:
        data = _contents(name, stdin)
        if is_help(data):
            result.passed_over = f"{shown}: explains PSM3's counters but contains none"
            return result
        if is_statistics(data):
            from wireproof.logs.psm3.statistics import statistics

            result.statistics = statistics(data, shown)
            return result
        judged = judge_bytes(data, shown, against)
        # Either all series of a file are counted or none, because a series that cannot be shown
        # must not be counted.
        result.series = [render(series) for series in judged]
        result.verdicts = [series.verdict for series in judged]
    except WireproofError as error:
        result.error = clean(error, 600)
        result.no_log = isinstance(error, NoResult) and not may_be_log(name)
    except Exception as error:  # the other files keep their verdicts
        result.bug = is_bug(error)
        result.error = sentence(error, f"judging {shown}")
    return result


def _judged_chunk(
    names: Sequence[str], against: Standard, render: Callable[[JudgedSeries], Rendered]
) -> list[JudgedFile[Rendered]]:
    return [_judged_file(name, against, render) for name in names]


def _contents(name: str, stdin: BinaryIO | None) -> bytes:
    """Read a file or standard input.

    Raises ``BadInput`` if it cannot be read or is too large for a log.
    """
    size = 0
    try:
        if name == "-" and stdin is not None:
            data = stdin.read(_LARGEST + 1)
        else:
            with _opened(name) as file:
                size = os.fstat(file.fileno()).st_size
                data = file.read(_LARGEST + 1) if size <= _LARGEST else b""
    except OSError as error:
        raise BadInput(f"{name}: {error.strerror or error}.") from error
    if max(size, len(data)) > _LARGEST:
        raise BadInput(
            f"{name}: more than {_LARGEST >> 20} MiB, too large for a log of results: give only"
            " the part with the results."
        )
    return data


def _opened(name: str) -> BinaryIO:
    """Open a file, or the already open pipe that the shell passes for ``<(zcat log.gz)``."""
    return open(name, "rb") if _OF_THE_SHELL.fullmatch(name) else open_regular(name)


Chunk = Callable[[Sequence[str]], list[JudgedFile[Rendered]]]


def _in_waves(
    names: Sequence[str], judge_chunk: Chunk[Rendered], workers: int
) -> Iterator[JudgedFile[Rendered]]:
    """Judge in several processes, a limited number of files at a time, because otherwise the texts
    of all files would be in memory at once.
    """
    chunks = [names[i : i + _CHUNK] for i in range(0, len(names), _CHUNK)]
    wave = 32 * workers
    for start in range(0, len(chunks), wave):
        yield from _by_several(chunks[start : start + wave], judge_chunk, workers)


def _pool(workers: int) -> "ProcessPoolExecutor":
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    return ProcessPoolExecutor(workers, mp_context=get_context("fork"))


def _by_several(
    chunks: Sequence[Sequence[str]], judge_chunk: Chunk[Rendered], workers: int
) -> Iterator[JudgedFile[Rendered]]:
    """Judge in several processes. If a process is killed (out of memory), only one file is lost."""
    from concurrent.futures.process import BrokenProcessPool

    done = 0
    while done < len(chunks):
        with _pool(workers) as pool:
            try:
                for results in pool.map(judge_chunk, chunks[done:]):
                    done += 1
                    yield from results
                return
            except BrokenProcessPool:
                pass
        for name in chunks[done]:
            yield _alone(name, judge_chunk)
        done += 1


def _alone(name: str, judge_chunk: Chunk[Rendered]) -> JudgedFile[Rendered]:
    """Judge one file in a separate process."""
    from concurrent.futures.process import BrokenProcessPool

    with _pool(1) as pool:
        try:
            return pool.submit(judge_chunk, [name]).result()[0]
        except BrokenProcessPool:
            killed = "the process that judged it was killed, perhaps because memory ran out."
            return JudgedFile(
                file=clean(name, 400), error=f"{clean(name, 200)}: {killed}", bug=True
            )


def _reported(
    results: Iterator[JudgedFile[Rendered]], total: int, reporter: Reporter
) -> Iterator[JudgedFile[Rendered]]:
    """Pass on the results, with a progress message every few seconds."""
    last = time.monotonic()
    for done, result in enumerate(results, 1):
        yield result
        now = time.monotonic()
        if now - last > _SAY_AFTER_S and done < total:
            reporter.say(f"{done} of {total} files judged")
            last = now
