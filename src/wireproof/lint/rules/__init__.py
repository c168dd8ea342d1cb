"""The catalogue of rules and of their rows: the files of this folder, and those of a site. The
checks find where a rule is broken.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from wireproof.lint.rule import CommandRow, LineRow, Rule, VariableRow
from wireproof.model.site import HEADS, CatalogueFile, of_site, packaged, site_texts
from wireproof.model.toml import Row, read_rows

__all__ = ["ADMIN", "FILES", "SCRIPT", "Book", "book", "rules"]

SCRIPT = ("job-script.toml", "mpi.toml", "benchmarks.toml")
ADMIN = ("admin.toml",)
FILES = ("kernel.toml", "interfaces.toml", "system.toml")


class Book(NamedTuple):
    """Rules by their codes, and the rows that find broken rules."""

    rules: dict[str, Rule]
    line: list[LineRow]
    variable: list[VariableRow]
    command: list[CommandRow]


def book(names: Iterable[str] = (*SCRIPT, *ADMIN, *FILES)) -> Book:
    """Return the content of our files ``names`` and the rows of the site. Raise BadInput for a code
    with two rules, and for a row of an unknown rule.
    """
    return _book(tuple(names))


def rules() -> dict[str, Rule]:
    """Return all rules by their codes."""
    return book().rules


@of_site
def _book(names: tuple[str, ...]) -> Book:
    texts = (*(CatalogueFile(packaged(__package__, name), name) for name in names), *site_texts())
    made = Book({}, [], [], [])
    codes: set[str] = set()
    for text in texts:
        for rule in _rows(text, "rule", Rule, partial(_new, codes)):
            made.rules[rule.code] = replace(rule, source=text.source(rule.source))
    known = partial(_known, made.rules)
    for text in texts:
        made.line.extend(_rows(text, "line", LineRow, known))
        made.variable.extend(_rows(text, "variable", VariableRow, known))
        made.command.extend(_rows(text, "command", CommandRow, known))
    return made


def _rows(
    text: CatalogueFile, head: str, kind: type[Row], check: Callable[[Row], object]
) -> list[Row]:
    return read_rows(text.text, text.name, head, kind, HEADS, check)


def _new(codes: set[str], rule: Rule) -> None:
    if rule.code in codes:
        raise ValueError(f"the rule {rule.code!r} already exists")
    codes.add(rule.code)


def _known(rules: Mapping[str, Rule], row: LineRow | VariableRow | CommandRow) -> None:
    if row.code not in rules:
        raise ValueError(f"'code' is {row.code!r}, which is no rule of lint")
