"""A report in the form that is asked for: page, Markdown, figures as SVG or PNG, PDF.

PDF and PNG are drawn by a Chromium of this machine, which prints our own page: it needs no network,
and the page's policy allows it none.
"""

import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from wireproof.files.held import make_folder
from wireproof.files.hostile import read_bounded, replace_file
from wireproof.files.programs import by_path, find_program
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.report.judged_run import JudgedRun
from wireproof.workflow.reporter import Reporter

Form = Literal["html", "markdown", "svg", "pdf", "png"]
"""A page, Markdown, every figure as SVG or PNG, the page on paper."""
_DEFAULTS: dict[Form, str] = {"html": "report.html", "markdown": "report.md", "pdf": "report.pdf"}
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_TIMEOUT_S = 180.0
_LARGEST = 256 << 20


def default_target(form: Form, folder: Path) -> Path:
    """Where a form goes: a file in ``folder``; figures beside each other in it."""
    return folder / _DEFAULTS[form] if form in _DEFAULTS else folder


def page_of(sections: Sequence[JudgedRun], title: str, home: str = "") -> str:
    """One page for several runs in the order given. ``home``: what a link back goes to, if the page
    is one of several. Raises ValueError without a run.
    """
    from wireproof.report.documents.run import run_document, when_of
    from wireproof.report.html.document import document_page

    return document_page(run_document(sections, title), when=when_of(sections), home=home)


def exported(
    form: Form, sections: Sequence[JudgedRun], title: str, target: Path, reporter: Reporter
) -> Path:
    """Write ``sections`` to the file ``target``, figures into the folder ``target``; returns it.

    Raises ``BadInput`` when no Chromium is here for what needs one, before anything is written, and
    ``CouldNotMeasure`` when it fails or the file cannot be written.
    """
    try:
        return _WRITERS[form](list(sections), title, target, reporter)
    except OSError as error:
        raise CouldNotMeasure(f"{target} cannot be written: {error.strerror}.") from error


def _html(sections: list[JudgedRun], title: str, target: Path, reporter: Reporter) -> Path:
    replace_file(target, page_of(sections, title).encode("utf-8"))
    return target


def _markdown(sections: list[JudgedRun], title: str, target: Path, reporter: Reporter) -> Path:
    from wireproof.report.documents.run import run_document
    from wireproof.report.markdown import document_markdown

    text = document_markdown(run_document(sections, title))
    replace_file(target, text.encode("utf-8"))
    return target


def _svg(sections: list[JudgedRun], title: str, target: Path, reporter: Reporter) -> Path:
    for name, text in _figures(sections).items():
        _written(target, f"{name}.svg", text.encode("utf-8"))
    return target


def _png(sections: list[JudgedRun], title: str, target: Path, reporter: Reporter) -> Path:
    program = _chromium("png")
    for name, text in _figures(sections).items():
        reporter.say(f"drawing {name}.png with {program}")
        _written(target, f"{name}.png", _shot(program, "png", text, "svg"))
    return target


def _pdf(sections: list[JudgedRun], title: str, target: Path, reporter: Reporter) -> Path:
    program = _chromium("pdf")
    reporter.say(f"printing with {program}")
    replace_file(target, _shot(program, "pdf", page_of(sections, title), "html"))
    return target


_WRITERS: dict[Form, Callable[[list[JudgedRun], str, Path, Reporter], Path]] = {
    "html": _html,
    "markdown": _markdown,
    "svg": _svg,
    "pdf": _pdf,
    "png": _png,
}


def _figures(sections: Sequence[JudgedRun]) -> dict[str, str]:
    """The text of each figure by its name; ``BadInput`` when there is none."""
    from wireproof.report.figure.file import figures
    from wireproof.report.figure.heat import pair_figures

    found = figures(sections) | pair_figures(sections)
    if not found:
        raise BadInput("there is no figure: no pair was measured over three sizes or more.")
    return found


def _written(folder: Path, name: str, data: bytes) -> None:
    make_folder(folder)
    replace_file(folder / name, data)


def _chromium(form: Form) -> str:
    program = next((found for name in _BROWSERS if (found := find_program(name))), None)
    if program is None:
        raise BadInput(
            f"--format {form} is drawn by Chromium, and none of {', '.join(_BROWSERS)} is on PATH:"
            " install Debian's package chromium, or take --format html, markdown or svg."
        )
    return program


def chromium_argv(program: str, form: str, source: Path, target: Path, *, root: bool) -> list[str]:
    """The command that draws ``source`` into ``target``. ``root``: whose Chromium refuses its own
    sandbox; what it shows is our own page.
    """
    how = (
        [f"--print-to-pdf={target}", "--no-pdf-header-footer"]
        if form == "pdf"
        else [f"--screenshot={target}", "--window-size=820,820", "--force-device-scale-factor=2"]
    )
    return [
        program,
        "--headless",
        *(["--no-sandbox"] if root else []),
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--hide-scrollbars",
        f"--user-data-dir={source.parent / 'profile'}",
        *how,
        source.as_uri(),
    ]


def _shot(program: str, form: Form, text: str, kind: str) -> bytes:
    """What Chromium makes of ``text``. Raises ``CouldNotMeasure`` when it does not."""
    with tempfile.TemporaryDirectory(prefix="wireproof-", ignore_cleanup_errors=True) as made:
        source, target = Path(made, f"source.{kind}"), Path(made, f"target.{form}")
        source.write_text(text, encoding="utf-8")
        argv = chromium_argv(program, form, source, target, root=os.geteuid() == 0)
        try:
            done = subprocess.run(
                **by_path(argv, {**os.environ, "HOME": made}),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise CouldNotMeasure(f"{program} did not end in {_TIMEOUT_S:.0f} s.") from error
        if not target.is_file():
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            last = said[-1][:300] if said else f"status {done.returncode}"
            raise CouldNotMeasure(f"{program} wrote no {form}: {last}.")
        return read_bounded(target, _LARGEST)
