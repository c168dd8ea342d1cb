"""What a verb hands over: text or JSON on stdout, the sealed run and the page in the folder, the
exit status.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from wireproof.cli.console import say
from wireproof.cli.outcome import INTERRUPTED, status_of
from wireproof.instrument.measure import Outcome
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.severity import worst
from wireproof.report.section import Section
from wireproof.report.text.look import Look
from wireproof.report.text.summary import whole
from wireproof.store.seal import seal

__all__ = ["deliver", "result_folder"]


def _private(out: Path, *, change: bool) -> None:
    """Make the folder, or take one that is there and ours; either is for us alone. Raises
    ``BadInput`` for another's.

    Whoever can write into it could put links there that our records would be written through.
    ``change`` False: the mode of a folder that is there stays (a file in the current folder has
    named it), and one that is open is refused.
    """
    try:
        out.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        found = out.stat()
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError from None
        if found.st_uid != os.geteuid():
            raise BadInput(
                f"the folder {out} belongs to the user with the number {found.st_uid}: give another --out."
            ) from None
        if found.st_mode & 0o077 and not change:
            raise BadInput(
                f"the folder {out} is open to others: give it with --out, or make it yours (chmod 700)."
            ) from None
        if found.st_mode & 0o077:
            out.chmod(0o700)
            say(
                f"the folder {out} was open to others (mode {stat.S_IMODE(found.st_mode):04o}); now it is 0700"
            )


@contextlib.contextmanager
def result_folder(
    out: Path | None, verb: str, *, resume: bool = False, origin: str = "option"
) -> Iterator[Path]:
    """The folder of a verb that keeps several runs and a page: ``out``, or a new one in the working
    directory.

    It goes again if nothing was put in it. Raises ``BadInput`` when ``out`` holds something, unless
    ``resume``.
    """
    if out is None:
        if resume:
            raise BadInput("--resume needs the --out folder of the run to continue.")
        out = Path(f"wireproof-{verb}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}")
    try:
        if out.exists() and not resume and any(out.iterdir()):
            raise BadInput(
                f"the folder {out} is not empty: give another --out, or --resume to continue the run in it."
            )
        _private(out, change=origin != "file")
    except NotADirectoryError as error:
        raise BadInput(f"{out} is not a folder: give another --out.") from error
    except OSError as error:
        raise CouldNotMeasure(
            f"the folder {out} cannot be made: {error.strerror}. Give another --out."
        ) from error
    try:
        yield out
    except KeyboardInterrupt:
        if any(out.iterdir()):
            say(
                f"what was measured is kept in {out}; the same command with --resume --out {out} goes on."
            )
        raise
    finally:
        with contextlib.suppress(OSError):
            out.rmdir()


def deliver(
    parts: Sequence[tuple[Section, Sequence[Outcome]]],
    *,
    title: str,
    folder: Path | None,
    as_json: bool,
) -> int:
    """Print, seal, write the page; returns the exit status: that of the worst part, 130 when
    interrupted.
    """
    sections = [section for section, _ in parts]
    outcomes = [outcome for _, several in parts for outcome in several]
    # Sealed before printed: a reader of stdout that goes away (| head) must not cost the records.
    for outcome in outcomes if folder is not None else []:
        seal(outcome.folder)
    page = None
    if folder is not None and any(section.run.points for section in sections):
        page = _write_page(sections, title, folder)
    if as_json:
        _print_json(sections)
    else:
        look = Look.of(sys.stdout, os.environ)
        for section in sections:
            click.echo(whole(section, look))
    if page is not None:
        say(f"report: {page.absolute()}")
    if any(outcome.ending.ended == "interrupted" for outcome in outcomes):
        say(_kept(folder))
        return INTERRUPTED
    status = status_of(worst([section.judgement.verdict for section in sections]))
    if status != status_of("fail") and any(
        outcome.ending.ended == "disk-full" for outcome in outcomes
    ):
        say("the disk was full before all was measured: what is told above is not the whole.")
        return CouldNotMeasure.exit_status
    return status


def _kept(folder: Path | None) -> str:
    if folder is None:
        return "interrupted; what was measured is shown and kept nowhere: give --out to keep it."
    return f"interrupted; what was measured is kept in {folder}."


def _print_json(sections: Sequence[Section]) -> None:
    from wireproof.report.json.result import to_json

    texts = [
        to_json(one.run, one.judgement, one.limits, one.criteria, one.located).rstrip()
        for one in sections
    ]
    click.echo(texts[0] if len(texts) == 1 else "[\n" + ",\n".join(texts) + "\n]")


def _write_page(sections: Sequence[Section], title: str, folder: Path) -> Path | None:
    from wireproof.report.html.page import render, write

    try:
        return write(folder / "report.html", render(list(sections), title))
    except OSError as error:
        say(
            f"the report could not be written: {error.strerror}; the records that were written stay in {folder}."
        )
        return None
