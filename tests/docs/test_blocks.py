"""Every fenced block and every command of the pages is one that this version understands."""

import ast
import itertools
import json
import re
import tomllib
from collections.abc import Callable, Iterator

import click
import pytest
from tests.docs import grammar
from tests.docs.markdown import ROOT, Block, blocks, pages, spans
from tests.docs.readers import READERS
from tests.processes import ran

import wireproof as library
from wireproof.cli.help import contexts

OURS = ("PASS ", "FAIL ", "INCONCLUSIVE ", "wireproof: ")
"""How lines begin that only we print."""
REFUSED = "wireproof: --"
"""How the answer to a value begins that an option does not take; some pages show one."""
_LEAST_REASON = 3
"""Words of a reason that says something."""


def _blocks(*tags: str) -> list[Block]:
    return [one for page in pages() for one in blocks(page) if not tags or one.tag in tags]


def _place(block: Block) -> str:
    return block.place


def _wireproof(script: str) -> Iterator[list[str]]:
    for words in grammar.commands(script):
        if words[0] == "wireproof":
            yield words[1:]
        elif words[0] == "make":
            assert f"\n{words[1]}:" in (ROOT / "Makefile").read_text()


def _told(place: str, words: list[str]) -> None:
    """Fails with the place where ``words`` mean nothing."""
    try:
        grammar.parsed(words)
    except Exception as error:
        said = error.format_message() if isinstance(error, click.ClickException) else error
        pytest.fail(f"{place}: wireproof {' '.join(words)}: {said}")


def _shell(block: Block) -> None:
    checked = ran(["bash", "-n"], input=block.text, timeout=20)
    assert checked.returncode == 0, f"{block.place}: {checked.stderr}"
    for words in _wireproof(block.text):
        _told(block.place, words)


def _console(block: Block) -> None:
    for command, shown in grammar.typed(block.text):
        for words in _wireproof(command):
            if not shown.startswith(REFUSED):
                _told(block.place, words)


def _lower(words: list[str]) -> list[str]:
    """Those at the beginning that may name subcommands."""
    return list(itertools.takewhile(re.compile(r"[a-z][a-z-]*").fullmatch, words))


def _text(block: Block) -> None:
    """A drawing, a form, a file or what something prints: it hides no command."""
    if "synopsis" in block.note:
        for line in block.text.replace("\n  ", " ").splitlines():
            words = line.split()
            known = grammar.options_of(grammar.found(_lower(words[1:])).command)
            assert grammar.options_named(line) <= known, f"{block.place}: {line}"
        return
    for line in block.text.splitlines():
        assert not line.startswith(("$ ", "wireproof ")), (
            f"{block.place}: a command stands in a block of text: tag it console or sh"
        )
        assert "not run:" in block.note or not line.startswith(OURS), (
            f"{block.place}: show it below its command, in a console, or say why it is not run"
        )


def _python(block: Block) -> None:
    for node in ast.walk(ast.parse(block.text)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "wireproof":
            assert node.attr in library.__all__, f"{block.place}: wireproof.{node.attr}"


KINDS: dict[str, Callable[[Block], object]] = {
    "sh": _shell,
    "console": _console,
    "text": _text,
    "toml": lambda block: tomllib.loads(block.text),
    "json": lambda block: json.loads(block.text),
    "python": _python,
    "sql": lambda block: None,
}
"""Each tag that a block may have, with what all of its blocks must be."""


@pytest.mark.parametrize("page", pages())
def test_blocks_say_what_they_are(page: str) -> None:
    for block in blocks(page):
        assert block.tag in KINDS, f"{block.place}: tag it as one of {', '.join(KINDS)}"
        KINDS[block.tag](block)
        reason = block.note.get("not run:")
        assert reason is None or len(reason.split()) >= _LEAST_REASON, block.place


@pytest.mark.parametrize("block", _blocks("toml"), ids=_place)
def test_our_readers_take_the_files_that_pages_show(block: Block) -> None:
    assert {"file", "read as"} & set(block.note), (
        f"{block.place}: say whose file it is: <!-- test: read as KIND -->"
    )


@pytest.mark.parametrize("block", [one for one in _blocks() if "read as" in one.note], ids=_place)
def test_a_shown_file_is_read(block: Block) -> None:
    READERS[block.note["read as"]](block.text)


@pytest.mark.parametrize("page", pages())
def test_commands_within_sentences(page: str) -> None:
    """``wireproof tune try ...`` is no whole command: what is there of it must be right."""
    for place, text in spans(page):
        if text.startswith("wireproof "):
            span_means_something(place, text)


def span_means_something(place: str, text: str) -> None:
    """``text`` names a subcommand, and options that it has."""
    own = text.partition(" -- ")[0]
    try:
        context = grammar.found(_lower(own.split()[1:]))
    except click.UsageError as error:
        pytest.fail(f"{place}: `{text}`: {error.format_message()}")
    known = {name for one in contexts(context) for name in grammar.options_of(one.command)}
    unknown = grammar.options_named(own) - known - {"--help", "--version"}
    assert not unknown, f"{place}: `{text}`: there is no {', '.join(sorted(unknown))}"
    if re.fullmatch(r"wireproof explain [a-z0-9-]+", text):
        _told(place, text.split()[1:])
