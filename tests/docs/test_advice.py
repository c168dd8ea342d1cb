"""What the program advises, it can do: commands in the sentences of the source."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.markdown import ROOT
from tests.docs.test_blocks import span_means_something

from wireproof.cli.subcommands import subcommands
from wireproof.verdict.catalogue import known_names

_COMMAND = re.compile(r"`(wireproof [^`]*)`")


def _said(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, text) of each string; what is filled in later is X."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "X" for part in node.values]
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def _advising() -> list[Path]:
    found = sorted((ROOT / "src" / "wireproof").rglob("*.py"))
    return [path for path in found if "`wireproof " in path.read_text(encoding="utf-8")]


def test_every_command_that_we_advise_is_there() -> None:
    files = _advising()
    assert len(files) > 20
    for path in files:
        for line, text in _said(ast.parse(path.read_text(encoding="utf-8"))):
            for command in _COMMAND.findall(text):
                span_means_something(f"{path.relative_to(ROOT)}:{line}", command)


def test_every_command_in_our_tables_is_there() -> None:
    """In settings, rules, names and findings: a command of ours has the options that we quote."""
    files = [*(ROOT / "src").rglob("*.toml"), *(ROOT / "src").rglob("*.md")]
    advised = 0
    for path in sorted(files):
        for line, text in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            for command in _advised(text):
                span_means_something(f"{path.relative_to(ROOT)}:{line}", command)
                advised += 1
    assert advised > 100


def _advised(text: str) -> Iterator[str]:
    """Yield `wireproof check` and, of sentences that leave our name out, `check --link edr`."""
    yield from re.findall(r"'(wireproof [^'`]*)'", text)
    for span in text.split("`")[1::2]:
        if span.startswith("wireproof "):
            yield span
        elif " --" in span and span.split()[0] in subcommands.commands:
            yield f"wireproof {span}"


def test_every_name_has_a_source_and_says_what_to_do() -> None:
    for name, row in known_names().items():
        assert row.source, name
        assert row.meaning.endswith("."), name
        assert row.detection.endswith("."), name
        assert row.next_action.endswith("."), name


def test_advice_that_names_no_option_of_ours_is_told() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"no such command 'mesure'|No such command"):
        span_means_something("x.py:1", "wireproof tune mesure")
    with pytest.raises(AssertionError, match="there is no --pattern"):
        span_means_something("x.py:1", "wireproof measure X --pattern stream")
