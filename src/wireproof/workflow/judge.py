"""Judges what other benchmarks have printed: texts, files and folders, on all cores when there are
many.
"""

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import BinaryIO, TypedDict, TypeVar, Unpack

from wireproof.adapters import read
from wireproof.adapters.psm3 import is_help, is_statistics, statistics
from wireproof.atlas.known import Atlas
from wireproof.files.hostile import open_regular
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput, NoResult, WireproofError
from wireproof.physics.table import Table
from wireproof.report.json.judgement import (
    JudgedSeries,
    JudgementDocument,
    joined,
)
from wireproof.report.names import clean
from wireproof.verdict.catalogue import CATALOGUE
from wireproof.verdict.external import judge_log
from wireproof.workflow.atlas import atlas
from wireproof.workflow.bug import sentence
from wireproof.workflow.judged_file import JudgedFile, Tally, may_be_log
from wireproof.workflow.reporter import LoggingReporter, Reporter

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
_MANY = 32  # fewer are judged sooner than a second process starts
_CHUNK = 16
_SAY_AFTER_S = 2.0
_OF_THE_SHELL = re.compile(r"/dev/fd/[0-9]{1,9}|/dev/stdin|/proc/self/fd/[0-9]{1,9}", re.ASCII)

Rendered = TypeVar("Rendered")


@dataclass(frozen=True, kw_only=True)
class Standard:
    """What results are held against."""

    link: LinkClaim | None = None
    path: str = ""
    table: Table | None = None
    atlas: Atlas | None = None


class Claims(TypedDict, total=False):
    """What a user says of a log, as he writes it. ``link``: ``10gbe``; ``path``: ``tcp``; ``mtu``
    in bytes; ``pcie``: ``gen3x16``; ``physics``: a TOML file that overrides constants; ``site``: a
    folder of published numbers (docs/atlas.md) beside wireproof's.
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
    """From texts as a user writes them: ``link`` ``10gbe``, ``path`` ``tcp``, ``pcie`` ``gen3x16``,
    ``physics`` a TOML file that overrides constants, ``site`` a folder of published numbers beside
    ours. Raises BadInput.
    """
    from wireproof.physics.rails import claim_of_rails
    from wireproof.settings.inputs import read_table
    from wireproof.settings.row import as_path

    if not link and (mtu or pcie or path):
        raise BadInput(
            "--mtu, --pcie and --path say more about a link:"
            " name it with --link, such as --link 10gbe."
        )
    return Standard(
        link=claim_of_rails(link, path=path, mtu=mtu, pcie=pcie) if link else None,
        path=path,
        table=read_table(as_path(physics)),
        atlas=atlas(as_path(site)) if link else None,
    )


def judge(
    text_or_path: str | bytes | Path,
    *,
    name: str = "text",
    **claims: Unpack[Claims],
) -> JudgementDocument:
    """What a benchmark has printed, held against the claims: a text, or the Path of a file or
    folder.

    Gives what ``wireproof judge --json`` prints. Raises BadInput when a text or a file holds no
    result; files of a folder that hold none are listed in ``errors``. ``name``: what a text is
    called there.
    """
    against = standard(**claims)
    if isinstance(text_or_path, Path):
        found = list(judge_files(files_of([str(text_or_path)]), against, itself))
    else:
        data = text_or_path.encode() if isinstance(text_or_path, str) else text_or_path
        found = [_of_bytes(data, name, against)]
    named = frozenset([str(text_or_path)] if isinstance(text_or_path, Path) else [name])
    tally = Tally(named=named)
    for one in found:
        tally.add(one)
    if tally.errors and len(found) == 1:
        raise BadInput(tally.errors[0].message)
    return tally.document((series for one in found for series in one.series), against.link)


def _of_bytes(data: bytes, name: str, against: Standard) -> JudgedFile[JudgedSeries]:
    if is_statistics(data):
        return JudgedFile(name, statistics=statistics(data, name))
    found = judge_bytes(data, name, against)
    return JudgedFile(name, found, [one.verdict for one in found])


def itself(series: JudgedSeries) -> JudgedSeries:
    """What is rendered of a series if it goes into a document."""
    return series


def advice(found: JudgementDocument) -> dict[str, str]:
    """What to do next, by the code of each reason."""
    codes = {reason.code for one in found.series for reason in one.reasons}
    return {code: CATALOGUE[code].next_action for code in codes if code in CATALOGUE}


def judge_bytes(data: bytes, name: str, against: Standard) -> list[JudgedSeries]:
    """Every series in ``data``, judged. Raises BadInput when there is none."""
    series = read(data, name)
    found = judge_log(
        series, against.link, path=against.path, table=against.table, atlas=against.atlas
    )
    return [joined(one, judged, against.link) for one, judged in zip(series, found, strict=True)]


def files_of(names: Iterable[str]) -> list[str]:
    """The files named; a folder stands for the files in it. Raises BadInput for a folder without
    any.
    """
    found: list[str] = []
    for name in names:
        if name != "-" and os.path.isdir(name):
            inside = sorted(_inside(name))
            if not inside:
                raise BadInput(f"{name}: the folder has no file in it.")
            found += inside
        else:
            found.append(name)
    if found.count("-") > 1:
        raise BadInput("standard input (-) can be read once only.")
    return found


def _inside(folder: str) -> Iterator[str]:
    """Files in and below a folder, hidden ones left out; as deep as paths go, which a recursion
    would not.
    """
    waiting = [folder]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:  # not ours to read, or deeper than a path can be
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
    """Results in the order of the names. ``render`` makes what is wanted of a series where that is
    judged, in one of ``jobs`` processes (default: one per core). ``stdin`` is read for ``-``.
    """
    workers = jobs or _cores()
    results: Iterator[JudgedFile[Rendered]]
    if len(names) < _MANY or workers == 1 or "-" in names:
        results = (_judged_file(name, against, render, stdin) for name in names)
    else:
        results = _in_waves(names, partial(_judged_chunk, against=against, render=render), workers)
    yield from _reported(results, len(names), reporter or LoggingReporter())


def _cores() -> int:
    """Cores that we may use; where the system does not say (macOS, Windows), those it has."""
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
            result.passed_over = f"{shown}: explains PSM3's counters and holds none"
            return result
        if is_statistics(data):
            result.statistics = statistics(data, shown)
            return result
        found = judge_bytes(data, shown, against)
        # Every series of a file or none: what cannot be shown is not counted either.
        result.series = [render(one) for one in found]
        result.verdicts = [one.verdict for one in found]
    except WireproofError as error:
        result.error = clean(error, 600)
        result.no_log = isinstance(error, NoResult) and not may_be_log(name)
    except Exception as error:  # the other files keep their verdicts
        result.bug = True
        result.error = sentence(error, f"judging {shown}")
    return result


def _judged_chunk(
    names: Sequence[str], against: Standard, render: Callable[[JudgedSeries], Rendered]
) -> list[JudgedFile[Rendered]]:
    return [_judged_file(name, against, render) for name in names]


def _contents(name: str, stdin: BinaryIO | None) -> bytes:
    """The bytes of a file or of standard input. Raises BadInput when it cannot be read or is too
    large for a log.
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
            f"{name}: more than {_LARGEST >> 20} MiB, too large for a log of results:"
            " cut out the part that holds them."
        )
    return data


def _opened(name: str) -> BinaryIO:
    """A file; or, as the shell gives the output of ``<(zcat log.gz)``, a pipe that is open
    already.
    """
    if _OF_THE_SHELL.fullmatch(name):
        return open(name, "rb")
    return open_regular(name)


Chunk = Callable[[Sequence[str]], list[JudgedFile[Rendered]]]


def _in_waves(
    names: Sequence[str], judge_chunk: Chunk[Rendered], workers: int
) -> Iterator[JudgedFile[Rendered]]:
    """By several processes. All results at once would hold every file's text in memory."""
    chunks = [names[i : i + _CHUNK] for i in range(0, len(names), _CHUNK)]
    wave = 32 * workers
    for start in range(0, len(chunks), wave):
        yield from _by_several(chunks[start : start + wave], judge_chunk, workers)


def _by_several(
    chunks: Sequence[Sequence[str]], judge_chunk: Chunk[Rendered], workers: int
) -> Iterator[JudgedFile[Rendered]]:
    """A process that is killed (for want of memory) costs one file."""
    done = 0
    while done < len(chunks):
        with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
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
    """One file by a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        try:
            return pool.submit(judge_chunk, [name]).result()[0]
        except BrokenProcessPool:
            killed = "the process that judged it was killed, perhaps for want of memory."
            return JudgedFile(
                file=clean(name, 400), error=f"{clean(name, 200)}: {killed}", bug=True
            )


def _reported(
    results: Iterator[JudgedFile[Rendered]], total: int, reporter: Reporter
) -> Iterator[JudgedFile[Rendered]]:
    """The same results, with a sentence now and then when it takes longer."""
    last = time.monotonic()
    for done, result in enumerate(results, 1):
        yield result
        now = time.monotonic()
        if now - last > _SAY_AFTER_S and done < total:
            reporter.say(f"{done} of {total} files judged")
            last = now
