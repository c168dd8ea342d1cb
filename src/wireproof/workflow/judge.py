"""Reads and judges files, on all cores when there are many: what ``judge`` and ``run`` have in
common.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import repeat
from multiprocessing import get_context
from typing import BinaryIO

import click

from wireproof.adapters import read
from wireproof.files.hostile import open_regular
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput, WireproofError
from wireproof.physics.table import Table
from wireproof.report.json.judgement import JudgedSeries, encoded, joined
from wireproof.report.names import clean
from wireproof.report.text.judgement import long_text, short_text
from wireproof.report.text.look import Look
from wireproof.verdict.external import judge_log
from wireproof.workflow.bug import sentence

__all__ = ["Case", "Judged", "judge_text", "judged_files"]

_LARGEST = 128 << 20
_MANY = 32  # fewer are judged sooner than a second process starts
_CHUNK = 16
_SAY_AFTER_S = 2.0
_OF_THE_SHELL = re.compile(r"/dev/fd/[0-9]{1,9}|/dev/stdin|/proc/self/fd/[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Case:
    """What every file is held against, and how it is told."""

    link: LinkClaim | None = None
    path: str = ""
    table: Table | None = None
    look: Look = field(default_factory=Look)
    brief: bool = False
    as_json: bool = False


@dataclass(slots=True)
class Judged:
    """What came of some files: encoded JSON or text, verdicts, and errors with the files that they
    are about.
    """

    text: str = ""
    documents: list[bytes] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    bugs: int = 0

    def take(self, found: Sequence[JudgedSeries], case: Case) -> None:
        """Every series of one file, or none: what cannot be shown is not counted either."""
        if case.as_json:
            self.documents += [encoded(one) for one in found]
        else:
            show = short_text if case.brief else long_text
            self.text += "".join(show(one, case.look) for one in found)
        self.verdicts += [one.verdict for one in found]

    def lose(self, name: str, why: str) -> None:
        """A file without a verdict."""
        self.errors.append(why)
        self.files.append(clean(name, 400))


def _opened(name: str) -> BinaryIO:
    """A file; or, as the shell gives the output of ``<(zcat log.gz)``, a pipe that is open
    already.
    """
    if _OF_THE_SHELL.fullmatch(name):
        return open(name, "rb")
    return open_regular(name)


def _contents(name: str) -> bytes:
    """The bytes of a file or of standard input. Raises BadInput when it cannot be read or is too
    large for a log.
    """
    told = 0
    try:
        if name == "-":
            data = sys.stdin.buffer.read(_LARGEST + 1)
        else:
            with _opened(name) as file:
                told = os.fstat(file.fileno()).st_size
                data = file.read(_LARGEST + 1) if told <= _LARGEST else b""
    except OSError as error:
        raise BadInput(f"{name}: {error.strerror or error}.") from error
    if max(told, len(data)) > _LARGEST:
        raise BadInput(
            f"{name}: more than {_LARGEST >> 20} MiB, too large for a log of results: cut out the part that holds them."
        )
    return data


def judge_text(data: bytes, name: str, case: Case) -> list[JudgedSeries]:
    """Every series in ``data``, judged. Raises BadInput when there is none."""
    series = read(data, name)
    found = judge_log(series, case.link, path=case.path, table=case.table)
    return [joined(one, judged, case.link) for one, judged in zip(series, found, strict=True)]


def _one(name: str, case: Case, into: Judged) -> None:
    shown = "standard input" if name == "-" else name
    try:
        found = judge_text(_contents(name), shown, case)
        into.take(found, case)
    except WireproofError as error:
        into.lose(name, clean(error, 600))
    except Exception as error:  # the other files keep their verdicts
        into.bugs += 1
        into.lose(name, sentence(error, f"judging {shown}"))


def _some(names: Sequence[str], case: Case) -> Judged:
    result = Judged()
    for name in names:
        _one(name, case, result)
    return result


def _workers(jobs: int | None) -> int:
    return jobs or len(os.sched_getaffinity(0))


def judged_files(names: Sequence[str], case: Case, jobs: int | None = None) -> Iterator[Judged]:
    """Results in the order of the names. Progress goes to stderr from two seconds on."""
    workers = _workers(jobs)
    if len(names) < _MANY or workers == 1 or "-" in names:
        yield from _told((_some([name], case) for name in names), len(names), 1)
        return
    chunks = [names[i : i + _CHUNK] for i in range(0, len(names), _CHUNK)]
    # In waves: all results at once would hold every file's text in memory.
    wave = 32 * workers
    waves = (chunks[i : i + wave] for i in range(0, len(chunks), wave))
    yield from _told(
        (result for some in waves for result in _by_several(some, case, workers)),
        len(names),
        _CHUNK,
    )


def _by_several(chunks: Sequence[Sequence[str]], case: Case, workers: int) -> Iterator[Judged]:
    """Each chunk's result, by several processes. A process that is killed (for want of memory)
    costs one file.
    """
    done = 0
    while done < len(chunks):
        with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
            try:
                for result in pool.map(_some, chunks[done:], repeat(case)):
                    done += 1
                    yield result
                return
            except BrokenProcessPool:
                pass
        for name in chunks[done]:
            yield _alone(name, case)
        done += 1


def _alone(name: str, case: Case) -> Judged:
    """One file by a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        try:
            return pool.submit(_some, [name], case).result()
        except BrokenProcessPool:
            lost = Judged(bugs=1)
            lost.lose(
                name,
                f"{clean(name, 200)}: the process that judged it was killed, perhaps for want of memory.",
            )
            return lost


def _told(results: Iterator[Judged], total: int, each: int) -> Iterator[Judged]:
    """The same results, with a line on stderr now and then when it takes longer."""
    said = started = time.monotonic()
    done = 0
    for result in results:
        yield result
        done = min(total, done + each)
        now = time.monotonic()
        if now - started > _SAY_AFTER_S and now - said > _SAY_AFTER_S and done < total:
            click.echo(f"wireproof: {done} of {total} files judged", err=True)
            said = now
