"""Find and fix errors in recipes: files, texts, standard input."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, Literal

from wireproof.audit.job import settings_by_id
from wireproof.catalogue import refuse_slow_patterns
from wireproof.files.hostile import open_regular, rewrite_file
from wireproof.lint.check import lint_text, repaired, why_unjudged, with_whole_lines
from wireproof.lint.rule import KINDS, Kind
from wireproof.lint.rules import with_settings
from wireproof.model.errors import BadInput, CouldNotMeasure, suggestion, writing
from wireproof.model.finding import LintFinding, LintReport
from wireproof.model.site import Found, site_texts
from wireproof.report.names import clean
from wireproof.report.reporter import is_bug, sentence

LARGEST = 16 << 20
"""Size limit of a recipe in bytes; no script and no configuration file is larger."""


def in_time(match: Callable[[], Found], name: str) -> Found:
    """Return the result of ``match``, which applies all rules to the recipe ``name``.

    Raises ``BadInput`` if the site's rules take too long.
    """
    if site_texts():
        files = ", ".join(clean(site.name, 200) for site in site_texts())
        refuse_slow_patterns(match, clean(name, 200), files)
    return match()


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Selects the findings to report.

    ``kind``: the kind of the files, None to detect it. ``errors_only``: omit warnings.
    """

    kind: Kind | None = None
    errors_only: bool = False

    @classmethod
    def of(cls, kind: str | None, severity: str) -> Filter:
        """Build a filter. Raises ``BadInput`` with the nearest name for an unknown kind."""
        if kind is not None and kind not in KINDS:
            raise BadInput(
                f"no kind of recipe is called {clean(kind, 60)!r}; {suggestion(kind, KINDS)}"
            )
        return cls(kind=kind, errors_only=severity == "error")

    def chosen(self, findings: Iterable[LintFinding]) -> list[LintFinding]:
        """Return the findings that are severe enough."""
        return [one for one in findings if one.severity == "error" or not self.errors_only]

    def findings(self, text: str, name: str) -> list[LintFinding]:
        """Return the wanted findings in ``text``, each with its setting.

        Raises ``BadInput`` if no rule applies to the text.
        """
        every = in_time(partial(lint_text, text, name, self.kind), name)
        if found := self.chosen(every):
            whole = in_time(partial(with_whole_lines, found, text, self.kind), name)
            return with_settings(whole, text, settings_by_id())
        if not every and (why := why_unjudged(text, name, self.kind)):
            raise BadInput(f"{clean(name, 200)} is not a recipe: {why}.")
        return []


@dataclass(frozen=True, kw_only=True)
class LintedFile:
    """A file with its findings, or the error that stopped lint.

    ``bug``: the error is a defect in wireproof.
    """

    name: str
    text: str = ""
    findings: tuple[LintFinding, ...] = ()
    error: str = ""
    bug: bool = False


def lint(
    paths_or_text: str | Path | Iterable[Path],
    *,
    kind: str | None = None,
    severity: Literal["warning", "error"] = "warning",
) -> LintReport:
    """Return the errors in a recipe, before it is run: a text, the Path of a file, or several
    Paths.

    The result is the document that ``wireproof lint --json`` prints. Raises ``BadInput`` if a file
    cannot be read.
    """
    wanted = Filter.of(kind, severity)
    if isinstance(paths_or_text, str):
        return LintReport(findings=wanted.findings(paths_or_text, "text"))
    paths = [paths_or_text] if isinstance(paths_or_text, Path) else paths_or_text
    texts = {str(path): _text(str(path), None) for path in paths}
    return LintReport(
        findings=[
            finding for name, text in texts.items() for finding in wanted.findings(text, name)
        ]
    )


def lint_file(name: str, wanted: Filter, stdin: BinaryIO | None = None) -> LintedFile:
    """Lint one file, or ``stdin`` for ``-``.

    Errors are stored in the result, so that other files keep their findings.
    """
    shown = "stdin" if name == "-" else name
    try:
        text = _text(name, stdin)
        return LintedFile(name=name, text=text, findings=tuple(wanted.findings(text, shown)))
    except BadInput as error:
        return LintedFile(name=name, error=str(error))
    except Exception as error:
        return LintedFile(name=name, error=sentence(error, f"reading {shown}"), bug=is_bug(error))


def _text(name: str, stdin: BinaryIO | None) -> str:
    """Read the text of a recipe. Raises ``BadInput`` if it is not text."""
    shown = "stdin" if name == "-" else clean(name, 200)
    try:
        if name == "-" and stdin is not None:
            data = stdin.read(LARGEST + 1)
        elif not Path(name).exists():
            raise BadInput(f"{shown} does not exist.")
        elif Path(name).is_dir():
            raise BadInput(f"{shown} is a folder: give the files in it, such as {shown}/*.")
        else:
            with open_regular(name) as file:
                data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadInput(f"{shown} cannot be read: {why}.") from error
    if len(data) > LARGEST:
        raise BadInput(f"{shown} is larger than {LARGEST >> 20} MiB, too large for a recipe.")
    if b"\0" in data:
        raise BadInput(f"{shown} is binary: give a script or a configuration file.")
    return data.decode("utf-8", "surrogateescape")


def mend(file: LintedFile, wanted: Filter) -> LintedFile | None:
    """Return the file after its safe fixes, with the findings that are left; None if there are no
    fixes. Nothing is written.
    """
    after = in_time(partial(repaired, file.text, file.name, wanted.kind), file.name)
    if after == file.text:
        return None
    left = in_time(partial(lint_text, after, file.name, wanted.kind), file.name)
    return LintedFile(name=file.name, text=after, findings=tuple(wanted.chosen(left)))


def difference(file: LintedFile, mended: LintedFile) -> Sequence[str]:
    """Return a unified diff that is safe to print on a terminal."""
    shown = clean(file.name, 200)
    before, after = file.text.split("\n"), mended.text.split("\n")
    lines = difflib.unified_diff(before, after, shown, shown + " (fixed)", lineterm="")
    return [
        line[:1] + clean(line[1:], 2000) if line[:1] in "+-@ " else clean(line) for line in lines
    ]


def write_mended(file: LintedFile, mended: LintedFile) -> None:
    """Replace the file atomically.

    Raises ``CouldNotMeasure`` if it is a link, has changed since it was read, or is in another
    user's folder.
    """
    before, after = (each.text.encode("utf-8", "surrogateescape") for each in (file, mended))
    with writing(clean(file.name, 200), CouldNotMeasure):
        rewrite_file(Path(file.name), before, after)
