"""A row of the table is all that the command line, variable, file and page of an option need."""

import inspect
import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from tests.processes import ran

import wireproof
from wireproof.cli.check import invocation_of, safe_words
from wireproof.cli.console import CallContext
from wireproof.cli.options import settings_of
from wireproof.cli.subcommands import root, subcommands
from wireproof.measure.resume import STORABLE, allowed_variables
from wireproof.model.errors import BadInput
from wireproof.options.resolve import FILE_NAME, SETTINGS, misspelt
from wireproof.options.row import OptionRow
from wireproof.options.table import ROWS, Options
from wireproof.workflow import api

ROW = '    colour: str = row("target", "NAME", "colour of the cable", "grey", parse=plain)'
NEW = f"{ROW}\n    link: str"
SCRIPT = """
import inspect
import sys
sys.meta_path[:] = [one for one in sys.meta_path if "editable" not in type(one).__module__]
import click, pathlib, wireproof
from wireproof.cli.subcommands import root
from wireproof.options.resolve import read_file, resolve
from wireproof.workflow.api import check as call

check = click.Context(root().command.get_command(root(), "check"), info_name="check")
assert "--colour NAME" not in check.get_help()
check.meta["wireproof.help-all"] = True
assert "--colour NAME" in check.get_help() and "colour of the cable" in check.get_help()
pathlib.Path("wireproof.toml").write_text('colour = "red"')
file = read_file(pathlib.Path("wireproof.toml"))
assert resolve({}, {}).colour == "grey"
assert resolve({}, {}, file).colour == "red"
assert resolve({}, {"WIREPROOF_COLOUR": "blue"}, file).colour == "blue"
given = resolve({"colour": "green"}, {"WIREPROOF_COLOUR": "blue"}, file)
assert (given.colour, given.origin("colour"), given.source("colour")) == (
    "green", "option", "--colour")
assert inspect.signature(call).parameters["colour"].default == "grey"
print(wireproof.__file__)
"""


def test_one_row_is_enough_for_an_option(tmp_path: Path) -> None:
    source = Path(wireproof.__file__).parent
    copy = tmp_path / "wireproof"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    table = copy / "options" / "table.py"
    text = table.read_text(encoding="utf-8")
    assert text.count("    link: str") == 1
    table.write_text(text.replace("    link: str", NEW), encoding="utf-8")
    done = ran(
        [sys.executable, "-P", "-c", SCRIPT],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) in done.stdout


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.names is not None])
def test_a_program_is_told_from_a_name(name: str) -> None:
    assert ROWS[name].is_program("/tmp/evil")
    assert not any(map(ROWS[name].is_program, ROWS[name].names or ()))


@pytest.mark.parametrize("name", ["check", "ladder", "measure", "pfc", "study"])
def test_help_shows_at_most_twenty_options_and_help_all_the_rest(name: str) -> None:
    command = subcommands.get_command(root(), name)
    assert command is not None
    context = click.Context(command, info_name=name)
    first = re.findall(r"(?m)^  -", context.get_help())
    assert 0 < len(first) <= 20
    context.meta["wireproof.help-all"] = True
    assert len(re.findall(r"(?m)^  -", context.get_help())) > 20


# --- The same value from each source gives the same options; a bad value names its source.

EXAMPLES = ("8,64KiB", "3", "1.5s", "/tmp/x", "word")
WRONG = "\x07no such; value"


def _example(row: OptionRow) -> str:
    """Return a text that the row accepts and that is not its default."""
    if isinstance(row.default, bool):
        return "yes"
    for text in (str((row.between or (0, 0))[1]), *row.choices, *row.metavar.split("|"), *EXAMPLES):
        try:
            if "..." not in text and row.read(text) not in (row.default, Path()):
                return text
        except BadInput:
            continue
    pytest.fail("no example: add a text to EXAMPLES")


def _command_of(name: str) -> str:
    """Return the subcommand that has the option."""
    return "measure" if ROWS[name].group == "measure" else "check"


def _words(name: str, text: str) -> list[str]:
    typed = ROWS[name].typed(name)
    return [typed] if isinstance(ROWS[name].default, bool) else [typed, text]


def _context(
    verb: str, words: list[str], environment: Mapping[str, str], *, resumed: bool = False
) -> click.Context:
    top = root()
    top.obj = CallContext(environment=environment, resumed=resumed)
    command = subcommands.get_command(top, verb)
    assert command is not None
    return command.make_context(verb, ["pingpong"] * (verb == "measure") + words, parent=top)


def _typed(verb: str, words: list[str], **environment: str) -> Options:
    with _context(verb, words, environment) as context:
        return settings_of(context.params)


def _resumed(words: list[str], **environment: str) -> Options:
    """Return the options of a check that is resumed from its stored command line."""
    with _context("check", words, environment) as context:
        asked = invocation_of(context)
    again = safe_words(asked, subcommands)[1:]
    variables = allowed_variables(asked.environment)
    with _context("check", again, variables, resumed=True) as context:
        return settings_of(context.params)


def _called(name: str, value: object) -> Options | None:
    """Return the options of a call from Python; None if it has no such keyword."""
    keyword = {"model_fault": "model_faults", "no_audit": "audit"}.get(name, name)
    if keyword not in inspect.signature(getattr(api, _command_of(name))).parameters:
        return None
    inverse = not value if keyword == "audit" and isinstance(value, bool) else value
    asked: Options = api.resolved({keyword: inverse})
    return asked


@pytest.mark.parametrize("name", ROWS)
def test_each_source_of_a_value_gives_the_same_options(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    row = ROWS[name]
    text = _example(row)
    if row.path:
        text = str(tmp_path / "file")
        Path(text).write_text("")
    given = row.names[-1] if row.names and row.names[-1] else text
    safe = not row.is_program(given)
    verb, words, variable = _command_of(name), _words(name, given), f"WIREPROOF_{name.upper()}"
    typed = _typed(verb, words)
    value: Any = getattr(typed, name)
    assert value != row.default
    assert _called(name, value) in (None, typed)
    stored = safe and name in STORABLE and verb == "check"
    assert not stored or _resumed(words) == typed
    if row.parse is None:
        assert _typed(verb, [], **{variable: given}) == Options()
        assert [row.typed(name) in sentence for sentence in misspelt([variable])] == [True]
        return
    assert _typed(verb, [], **{variable: given}) == typed
    assert not stored or _resumed([], **{variable: given}) == typed
    for toml in (f'"{given}"', str(value).lower()):
        if toml.startswith('"') or isinstance(value, int | float):
            Path(FILE_NAME).write_text(f"{name.replace('_', '-')} = {toml}\n")
            assert not safe or _typed(verb, []) == typed
            assert not stored or _resumed([]) == typed


@pytest.mark.parametrize("name", ROWS)
def test_a_wrong_value_names_its_source(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    verb, row, typed = _command_of(name), ROWS[name], ROWS[name].typed(name)
    if not isinstance(row.default, bool):
        with pytest.raises((BadInput, click.BadParameter)) as refused:
            _typed(verb, _words(name, WRONG))
        shown = refused.value
        text = shown.format_message() if isinstance(shown, click.BadParameter) else str(shown)
        assert typed in text
        assert "one of ," not in text
    if _called(name, row.default) == Options():
        with pytest.raises(BadInput, match="audit|yes or no" if name == "no_audit" else typed):
            _called(name, WRONG)
    if name in SETTINGS:
        with pytest.raises(BadInput, match=f"WIREPROOF_{name.upper()}: "):
            _typed(verb, [], **{f"WIREPROOF_{name.upper()}": WRONG})
        Path(FILE_NAME).write_text(f'\n{name} = "\\u0007no such; value"\n')
        with pytest.raises(BadInput, match=r"wireproof\.toml:2: "):
            _typed(verb, [])
