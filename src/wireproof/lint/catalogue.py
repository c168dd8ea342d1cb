"""All rules and all checks."""

from __future__ import annotations

import difflib

from wireproof.lint import admin, files, script
from wireproof.lint.rule import Check, Rule
from wireproof.lint.rules import RULES
from wireproof.model.errors import BadInput

__all__ = ["CHECKS", "RULES", "explain", "page"]


CHECKS: tuple[Check, ...] = (*script.CHECKS, *admin.CHECKS, *files.CHECKS)


def explain(code: str) -> Rule:
    """The rule of a code. Raises BadInput with the nearest codes when there is none."""
    key = code.strip().lower().replace("_", "-")
    if key in RULES:
        return RULES[key]
    near = difflib.get_close_matches(key, RULES, n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}?" if near else "'wireproof lint --rules' lists them"
    raise BadInput(f"no rule has the code {code!r}; {hint}")


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
writes only what is marked *safe*, after showing the difference; `--diff` shows it and writes
nothing.

A finding about a setting names its entry in the [catalogue of settings](settings.md), with what it
should be: advice that has aged is right on some machines only.
"""


def page() -> str:
    """``docs/lint.md``: all rules, by code."""
    parts = [_PREFACE]
    for rule in sorted(RULES.values(), key=lambda each: each.code):
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
