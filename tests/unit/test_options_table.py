"""A row of the table is all that the command line, variable, file and page of an option need."""

import os
import re
import shutil
import sys
from pathlib import Path

import click
import pytest
from tests.processes import ran

import wireproof
from wireproof.cli.subcommands import root, subcommands
from wireproof.options.table import ROWS

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
