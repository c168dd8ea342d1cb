"""Write a report in the requested form: page, Markdown, figures as SVG or PNG, PDF.

A Chromium on this machine draws PDF and PNG from wireproof's page. It needs no network, and the
page's policy forbids network access.
"""

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from wireproof.files.held import make_folder, temporary_folder
from wireproof.files.hostile import read_bounded, replace_file
from wireproof.files.programs import by_path, find_program
from wireproof.model.errors import BadInput, CouldNotMeasure, writing
from wireproof.report.judged_run import JudgedRun
from wireproof.report.reporter import Reporter

Form = Literal["html", "markdown", "svg", "pdf", "png"]
"""The forms: a page, Markdown, every figure as SVG or PNG, the page as PDF."""
_DEFAULTS: dict[Form, str] = {"html": "report.html", "markdown": "report.md", "pdf": "report.pdf"}
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_TIMEOUT_S = 180.0
_LARGEST = 256 << 20


def default_target(form: Form, folder: Path) -> Path:
    """Return the target of a form: a file in ``folder``; for figures, ``folder`` itself."""
    return folder / _DEFAULTS[form] if form in _DEFAULTS else folder


def page_of(sections: Sequence[JudgedRun], title: str, home: str = "") -> str:
    """Return one page for several runs in the given order.

    ``home``: the target of a link back, if the page is one of several. Raises ValueError if there
    is no run.
    """
    from wireproof.measure.document import run_document, when_of
    from wireproof.report.html.document import document_page

    document = run_document(sections, title)
    if len(sections) == 1:  # the line below the title describes the measurement
        document = msgspec.structs.replace(document, parts=document.parts[1:])
    return document_page(document, when=when_of(sections), home=home)


def exported(
    form: Form, sections: Sequence[JudgedRun], title: str, target: Path, reporter: Reporter
) -> Path:
    """Write ``sections`` to the file ``target``, or figures into the folder ``target``; return it.

    Raises ``BadInput`` before anything is written if a form needs Chromium and there is none, and
    ``CouldNotMeasure`` if Chromium fails or the file cannot be written.
    """
    with writing(target, CouldNotMeasure):
        _WRITERS[form](list(sections), title, target, reporter)
    return target


def _html(sections: list[JudgedRun], title: str, target: Path, reporter: Reporter) -> None:
    replace_file(target, page_of(sections, title).encode("utf-8"))


def _markdown(sections: list[JudgedRun], title: str, target: Path, reporter: Reporter) -> None:
    from wireproof.measure.document import run_document
    from wireproof.report.markdown import document_markdown

    replace_file(target, document_markdown(run_document(sections, title)).encode("utf-8"))


def _svg(sections: list[JudgedRun], title: str, target: Path, reporter: Reporter) -> None:
    for name, text in _figures(sections).items():
        _written(target, f"{name}.svg", text.encode("utf-8"))


def _png(sections: list[JudgedRun], title: str, target: Path, reporter: Reporter) -> None:
    program = _chromium("png")
    for name, text in _figures(sections).items():
        reporter.say(f"drawing {name}.png with {program}")
        _written(target, f"{name}.png", _shot(program, "png", text, "svg"))


def _pdf(sections: list[JudgedRun], title: str, target: Path, reporter: Reporter) -> None:
    program = _chromium("pdf")
    reporter.say(f"printing with {program}")
    replace_file(target, _shot(program, "pdf", page_of(sections, title), "html"))


_WRITERS: dict[Form, Callable[[list[JudgedRun], str, Path, Reporter], None]] = {
    "html": _html,
    "markdown": _markdown,
    "svg": _svg,
    "pdf": _pdf,
    "png": _png,
}


def _figures(sections: Sequence[JudgedRun]) -> dict[str, str]:
    """Return the text of each figure by name. Raises ``BadInput`` if there is none."""
    from wireproof.report.figure.file import figures
    from wireproof.report.figure.heat import pair_figures

    texts = figures(sections) | pair_figures(sections)
    if not texts:
        raise BadInput("there is no figure: no pair was measured at three or more sizes.")
    return texts


def _written(folder: Path, name: str, data: bytes) -> None:
    make_folder(folder)
    replace_file(folder / name, data)


def _chromium(form: Form) -> str:
    program = next((found for name in _BROWSERS if (found := find_program(name))), None)
    if program is None:
        raise BadInput(
            f"--format {form} needs Chromium, but none of {', '.join(_BROWSERS)} is on PATH:"
            " install Debian's package chromium, or use --format html, markdown or svg."
        )
    return program


def chromium_argv(
    program: str, form: str, source: Path, target: Path, *, root: bool, size: str = "820,820"
) -> list[str]:
    """Return the command that draws ``source`` into ``target``.

    ``size``: width and height of the window. ``root``: disable the sandbox, because Chromium does
    not run as root with it; Chromium shows only our page.
    """
    how = (
        [f"--print-to-pdf={target}", "--no-pdf-header-footer"]
        if form == "pdf"
        else [
            f"--screenshot={target}",
            f"--window-size={size}",
            "--force-device-scale-factor=2",
        ]
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


def _size(text: str) -> str:
    """Return width and height of the window for a figure, or for a page if it is none."""
    found = re.search(r'^<svg [^>]*viewBox="0 0 ([\d.]+) ([\d.]+)"', text, re.MULTILINE)
    return ",".join(str(round(float(side))) for side in found.groups()) if found else "820,820"


def _shot(program: str, form: Form, text: str, kind: str) -> bytes:
    """Return the file that Chromium draws from ``text``. Raises ``CouldNotMeasure`` if it fails."""
    with temporary_folder("wireproof-") as made:
        source, target = Path(made, f"source.{kind}"), Path(made, f"target.{form}")
        source.write_text(text, encoding="utf-8")
        root = os.geteuid() == 0
        argv = chromium_argv(program, form, source, target, root=root, size=_size(text))
        try:
            done = subprocess.run(
                **by_path(argv, {**os.environ, "HOME": made}),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise CouldNotMeasure(f"{program} did not finish within {_TIMEOUT_S:.0f} s.") from error
        if not target.is_file():
            messages = done.stderr.decode("utf-8", "replace").strip().splitlines()
            last = messages[-1][:300] if messages else f"status {done.returncode}"
            raise CouldNotMeasure(f"{program} wrote no {form}: {last}.")
        return read_bounded(target, _LARGEST)
