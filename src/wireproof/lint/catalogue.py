"""All checks, and the page of all rules."""

from __future__ import annotations

from wireproof.lint import admin, by_row, files, script
from wireproof.lint.rule import Check, Rule
from wireproof.lint.rules import rules

__all__ = ["CHECKS", "page"]


CHECKS: tuple[Check, ...] = (*script.CHECKS, *admin.CHECKS, *files.CHECKS, *by_row.CHECKS)


_PREFACE = """\
# Rules for recipes

`wireproof lint FILE...` finds what is wrong in a job script, a command line or a configuration
file before it is used. Each finding has one of these codes; `wireproof explain CODE` prints its
entry. This page is written by `wireproof.lint.catalogue.page()`, and a test keeps it equal to the
catalogue.

The path of a file tells its kind (`/etc/modprobe.d/x.conf`, `*.sbatch`), else by its
content; `--kind` overrides it. A text that is none of them (a page pasted as `.txt` or `.md`) is
read line by line: commands behind prompts and numbers, scripts between fences, lines of
configuration files. Files that a script writes by a here-document or by `echo LINE >> FILE` are
judged as the file that they become.

The exit status is 0 without findings, 1 with findings (warnings too: `--severity error` leaves
them out), 2 when a file could not be read or is not a recipe (a log, a table, a list of users: it
holds nothing that a rule looks at; `--kind` has it judged all the same); the other files are still
judged. A line with
`wireproof: allow CODE` in a comment, at its end or on the line before it, is left alone. `--fix`
writes only what is marked *safe*, after showing the difference, and refuses a symbolic link;
`--diff` shows the difference and writes nothing.

A finding about a setting names its entry in the [catalogue of settings](settings.md), with what it
should be: advice that has aged is right on some machines only.
"""


def page() -> str:
    """``docs/lint.md``: all rules, by code."""
    parts = [_PREFACE]
    for rule in sorted(rules().values(), key=lambda each: each.code):
        safe = ", safe" if rule.safe else ""
        parts.append(
            f"### `{rule.code}`\n\n{rule.sentence} ({rule.severity}{safe}; "
            f"{', '.join(rule.kinds)})\n\n"
            f"*Why:* {rule.why}\n\n*Right:* {_code(rule.right)}\n\n"
            f"{_setting(rule)}*Source:* {rule.source}\n"
        )
    return "\n".join(parts)


def _setting(rule: Rule) -> str:
    return f"*Setting:* [`{rule.setting}`](settings.md)\n\n" if rule.setting else ""


def _code(text: str) -> str:
    return f"`{text}`" if "\n" not in text and "`" not in text else text
