"""The work of ``wireproof lint``: read, judge, show, write."""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import click

from wireproof.files.hostile import open_regular
from wireproof.lint.check import lint_text
from wireproof.lint.fix import repaired
from wireproof.lint.rule import Kind
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.lint import LintFinding
from wireproof.report.json.encode import json_text
from wireproof.report.names import clean
from wireproof.workflow.bug import BUG, sentence

__all__ = ["Asked", "lint_files", "read"]

LARGEST = 16 << 20
"""Bytes of a recipe; no script and no configuration file is larger."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants."""

    as_json: bool
    kind: str | None
    errors_only: bool
    diff: bool
    fix: bool
    yes: bool

    def counts(self, finding: LintFinding) -> bool:
        """Does the finding matter to this user?"""
        return finding.severity == "error" or not self.errors_only


def lint_files(names: list[str], asked: Asked, stdin: BinaryIO) -> int:
    """Judge all files; one that cannot be read costs only itself. Returns the exit status."""
    kind = cast("Kind | None", asked.kind)
    findings: list[LintFinding] = []
    texts: dict[str, str] = {}
    bad = bug = False
    for name in dict.fromkeys(names):
        try:
            text = read(name, stdin)
        except BadInput as error:
            click.echo(f"wireproof: {error}", err=True)
            bad = True
            continue
        shown = "stdin" if name == "-" else name
        try:
            found = lint_text(text, shown, kind)
        except Exception as error:  # the other files keep their findings
            click.echo(f"wireproof: {sentence(error, f'reading {shown}')}", err=True)
            bug = True
            continue
        texts[name] = text
        findings += [each for each in found if asked.counts(each)]
    if asked.as_json:
        click.echo(json_text({"findings": findings}, indent=2))
    else:
        _show(findings, len(texts))
    left = {finding.file for finding in findings}
    if asked.diff or asked.fix:
        for name, text in texts.items():
            after = _mend(name, text, kind, asked)
            if after is not None and not any(
                asked.counts(each) for each in lint_text(after, name, kind)
            ):
                left.discard(name)
    return BUG if bug else 2 if bad else int(bool(left))


def read(name: str, stdin: BinaryIO) -> str:
    """The text of a recipe. Raises BadInput in one sentence when it is none."""
    shown = "stdin" if name == "-" else clean(name, 200)
    try:
        if name == "-":
            data = stdin.read(LARGEST + 1)
        elif not Path(name).exists():
            raise BadInput(f"{shown} does not exist.")
        elif Path(name).is_dir():
            raise BadInput(f"{shown} is not a file: give the files in it by name.")
        else:
            with open_regular(name) as file:
                data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{shown} cannot be read: {getattr(error, 'strerror', None) or error}."
        ) from error
    if len(data) > LARGEST:
        raise BadInput(f"{shown} is larger than {LARGEST >> 20} MiB: that is no recipe.")
    if b"\0" in data:
        raise BadInput(f"{shown} is binary: give a script or a configuration file.")
    return data.decode("utf-8", "surrogateescape")


def _show(findings: list[LintFinding], files: int) -> None:
    for finding in findings:
        place = f"{clean(finding.file, 200)}:{finding.line}:{finding.column}"
        click.echo(f"{place}: {finding.severity}: {clean(finding.message)} [{finding.code}]")
        click.echo(f"    why:   {clean(finding.why)}")
        if finding.fix:
            for line in finding.fix.split("\n"):
                click.echo(f"    right: {clean(line.strip())}")
        elif finding.right:
            click.echo(f"    right: {clean(finding.right)}")
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors
    told = (
        f"{errors} error{'s' * (errors != 1)}, {warnings} warning{'s' * (warnings != 1)}"
        if findings
        else "nothing"
    )
    click.echo(f"wireproof: {told} in {files} file{'s' * (files != 1)}.", err=True)


def _mend(name: str, text: str, kind: Kind | None, asked: Asked) -> str | None:
    """Show what changes, and write it when that is wanted; the text as it is now, None when it
    stays as it was.
    """
    after = repaired(text, name, kind)
    shown = clean(name, 200)
    if after == text:
        return None
    lines = difflib.unified_diff(
        text.split("\n"), after.split("\n"), shown, shown + " (fixed)", lineterm=""
    )
    for line in lines:
        click.echo(
            line[:1] + clean(line[1:], 2000) if line[:1] in "+- @" else clean(line),
            err=asked.as_json,
        )
    if not asked.fix:
        return None
    if not asked.yes and not sys.stdin.isatty():
        click.echo(
            f"wireproof: {shown} is not written: nobody can be asked here, --yes writes without asking.",
            err=True,
        )
        return None
    if not asked.yes and not click.confirm(f"Write {shown}?", default=False, err=True):
        return None
    _write(Path(name), after)
    click.echo(f"wireproof: {shown} is written.", err=True)
    return after


def _write(path: Path, text: str) -> None:
    """Atomically: a new file beside it, with its mode, then renamed over it (over the target of a
    link).
    """
    path = path.resolve()
    try:
        before = path.stat()
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:50]}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8", "surrogateescape"))
                with contextlib.suppress(PermissionError):  # only root can give a file to another
                    os.fchown(file.fileno(), before.st_uid, before.st_gid)
                os.fchmod(file.fileno(), before.st_mode & 0o7777)
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise CouldNotMeasure(f"{clean(path, 200)} cannot be written: {error.strerror}.") from error
