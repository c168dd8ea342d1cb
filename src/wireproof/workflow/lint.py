"""Finds what is wrong in recipes, and mends them: files, texts, standard input."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import BinaryIO, Literal

from wireproof.files.hostile import open_regular, rewrite_file
from wireproof.lint.check import is_recipe, lint_text
from wireproof.lint.fix import repaired, with_whole_lines
from wireproof.lint.kinds import KINDS
from wireproof.lint.rule import Kind
from wireproof.lint.settings import with_settings
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.lint import LintFinding, LintReport
from wireproof.model.site import site_texts
from wireproof.report.names import clean
from wireproof.workflow.audit import settings_by_id
from wireproof.workflow.bug import sentence
from wireproof.workflow.catalogue import refuse_slow_patterns

LARGEST = 16 << 20
"""Bytes of a recipe; no script and no configuration file is larger."""


@dataclass(frozen=True, kw_only=True)
class Filter:
    """``kind``: what the files are, where it is not detected; ``errors_only``: warnings are left
    out.
    """

    kind: Kind | None = None
    errors_only: bool = False

    @classmethod
    def of(cls, kind: str | None, severity: str) -> Filter:
        """Raises BadInput for an unknown kind, with the nearest."""
        if kind is not None and kind not in KINDS:
            near = get_close_matches(kind, KINDS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(KINDS)}."
            raise BadInput(f"no kind of recipe is called {clean(kind, 60)!r}; {hint}")
        return cls(kind=kind, errors_only=severity == "error")

    def findings(self, text: str, name: str) -> list[LintFinding]:
        """What is wrong in ``text`` and matters, each with the setting that it is about. Raises
        BadInput for a text that holds nothing that a rule could look at, unless ``kind`` is given.
        """
        if site_texts():
            files = ", ".join(clean(each.name, 200) for each in site_texts())
            tried = partial(lint_text, text, name, self.kind)
            refuse_slow_patterns(tried, clean(name, 200), files)
        found = [
            finding
            for finding in lint_text(text, name, self.kind)
            if finding.severity == "error" or not self.errors_only
        ]
        if found:
            return with_settings(with_whole_lines(found, text, self.kind), text, settings_by_id())
        if self.kind is None and text.strip() and not is_recipe(text, name):
            raise BadInput(
                f"{clean(name, 200)} is not a recipe: no command, job option or line of a"
                " configuration file that lint knows is in it; if it is one, say which with --kind."
            )
        return []


@dataclass(frozen=True, kw_only=True)
class LintedFile:
    """A file and what is wrong in it, or why nobody can say; ``bug``: the error is one of ours."""

    name: str
    text: str = ""
    findings: tuple[LintFinding, ...] = ()
    error: str = ""
    bug: bool = False


@dataclass(frozen=True, kw_only=True)
class Mended:
    """A file with its safe fixes. ``clean``: nothing is left to be found in it."""

    name: str
    before: str
    text: str
    difference: tuple[str, ...]
    clean: bool


def lint(
    paths_or_text: str | Path | Iterable[Path],
    *,
    kind: str | None = None,
    severity: Literal["warning", "error"] = "warning",
) -> LintReport:
    """What is wrong in a recipe, before it is run: a text, the Path of a file, or several Paths.

    Gives what ``wireproof lint --json`` prints. Raises BadInput for a file that cannot be read.
    """
    wanted = Filter.of(kind, severity)
    if isinstance(paths_or_text, str):
        return LintReport(findings=wanted.findings(paths_or_text, "text"))
    paths = [paths_or_text] if isinstance(paths_or_text, Path) else paths_or_text
    texts = {str(path): _text(str(path), None) for path in paths}
    return LintReport(
        findings=[one for name, text in texts.items() for one in wanted.findings(text, name)]
    )


def lint_file(name: str, wanted: Filter, stdin: BinaryIO | None = None) -> LintedFile:
    """One file, or ``stdin`` for ``-``; what goes wrong with it is said in the result, so that
    other files keep their findings.
    """
    shown = "stdin" if name == "-" else name
    try:
        text = _text(name, stdin)
        return LintedFile(name=name, text=text, findings=tuple(wanted.findings(text, shown)))
    except BadInput as error:
        return LintedFile(name=name, error=str(error))
    except Exception as error:
        return LintedFile(name=name, error=sentence(error, f"reading {shown}"), bug=True)


def _text(name: str, stdin: BinaryIO | None) -> str:
    """The text of a recipe. Raises BadInput in one sentence when it is none."""
    shown = "stdin" if name == "-" else clean(name, 200)
    try:
        if name == "-" and stdin is not None:
            data = stdin.read(LARGEST + 1)
        elif not Path(name).exists():
            raise BadInput(f"{shown} does not exist.")
        elif Path(name).is_dir():
            raise BadInput(f"{shown} is not a file: give the files in it by name.")
        else:
            with open_regular(name) as file:
                data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadInput(f"{shown} cannot be read: {why}.") from error
    if len(data) > LARGEST:
        raise BadInput(f"{shown} is larger than {LARGEST >> 20} MiB: that is no recipe.")
    if b"\0" in data:
        raise BadInput(f"{shown} is binary: give a script or a configuration file.")
    return data.decode("utf-8", "surrogateescape")


def mend(file: LintedFile, wanted: Filter) -> Mended | None:
    """The file after its safe fixes; None when there are none. Nothing is written."""
    after = repaired(file.text, file.name, wanted.kind)
    if after == file.text:
        return None
    return Mended(
        name=file.name,
        before=file.text,
        text=after,
        difference=tuple(_difference(file.text, after, clean(file.name, 200))),
        clean=not wanted.findings(after, file.name),
    )


def _difference(before: str, after: str, shown: str) -> Sequence[str]:
    """Unified, harmless for a terminal."""
    lines = difflib.unified_diff(
        before.split("\n"), after.split("\n"), shown, shown + " (fixed)", lineterm=""
    )
    return [
        line[:1] + clean(line[1:], 2000) if line[:1] in "+-@ " else clean(line) for line in lines
    ]


def write_mended(mended: Mended) -> None:
    """Replace the file as a whole. Raises ``CouldNotMeasure`` if it is a link, has changed since it
    was read, or is in a folder of another user.
    """
    try:
        rewrite_file(Path(mended.name), _bytes(mended.before), _bytes(mended.text))
    except OSError as error:
        name = clean(mended.name, 200)
        raise CouldNotMeasure(f"{name} cannot be written: {error.strerror}.") from error


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
