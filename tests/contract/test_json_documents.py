"""Every document of ``--json``: in the envelope, as its JSON Schema says, also of bad input."""

import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
from tests.contract.json_documents import CASES, ROOT, Case
from tests.processes import ran

from wireproof.cli import main
from wireproof.cli.console import INTERRUPTED, Console, run, say
from wireproof.cli.declare import JSON
from wireproof.cli.help import contexts
from wireproof.cli.subcommands import root
from wireproof.report.json import HEADER, Kind
from wireproof.workflow.documents import KINDS, in_envelope, schema_called

TIMEOUT_S = 150
_AT_THE_END = {"wireproof.judgement"}
"""Written while files are read: what came of all of them is known last."""


def _with_json() -> Iterator[str]:
    """Every subcommand that has ``--json``, by its name."""
    program = root()
    for context in contexts(program):
        if any("--json" in parameter.opts for parameter in context.command.params):
            yield context.command_path.removeprefix("wireproof ")


_WRONG = {"prove": "--json --interval no-such-option -- true"}
"""Where an unknown option is the command's."""
SUBCOMMANDS = sorted(_with_json())


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """(exit status, standard output) of each call."""
    folder = tmp_path_factory.mktemp("documents")
    argv = [sys.executable, "-m", "tests.contract.json_documents", str(folder)]
    done = ran(argv, cwd=ROOT, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr[-4000:]
    return dict(json.loads((folder / "printed.json").read_text()))


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    schema = schema_called(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_every_subcommand_with_json_is_called() -> None:
    assert sorted({case.subcommand for case in CASES}) == SUBCOMMANDS, (
        "give each subcommand with --json a case in tests/contract/json_documents.py"
    )


def test_every_kind_of_document_is_printed() -> None:
    assert sorted({f"wireproof.{case.schema}" for case in CASES}) == sorted(
        one.schema for one in KINDS
    )


@pytest.mark.engine
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.words)
def test_the_document_is_as_its_schema_says(
    case: Case, printed: dict[str, tuple[int, str]]
) -> None:
    status, out = printed[case.words]
    document: dict[str, Any] = json.loads(out)
    assert document["schema"] == f"wireproof.{case.schema}", document["errors"]
    _validator(document["schema"]).validate(document)
    if document["schema"] not in _AT_THE_END:
        assert tuple(document)[:4] == HEADER
    assert document["verdict"] in ("pass", "fail", "inconclusive", None)
    if status == 0 and case.subcommand not in ("prove", "demo"):  # theirs is the command's
        assert document["verdict"] in ("pass", None)
    assert all(one["message"] for one in document["errors"])


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_bad_input_is_a_document_too(
    name: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = _WRONG.get(name, "--json --no-such-option")
    status = main([*name.split(), *wrong.split()])
    document = json.loads(capfd.readouterr().out)
    assert status == 2
    assert (document["schema"], document["verdict"]) == ("wireproof.error", None)
    assert document["exit_status"] == 2
    _validator("error").validate(document)
    assert "no-such-option" in document["errors"][-1]["message"]


@click.group()
def _program() -> None: ...


@_program.command("stopped", params=[JSON])
def _stopped() -> None:
    raise KeyboardInterrupt


@_program.command("refused", params=[JSON])
def _refused() -> int:
    Console().warn("n3 is left out")
    say("not agreed to: nothing was changed")
    return 1


@pytest.mark.parametrize(
    ("verb", "status", "messages"),
    [
        ("stopped", INTERRUPTED, ["interrupted by Ctrl-C."]),
        ("refused", 1, ["n3 is left out", "not agreed to: nothing was changed"]),
    ],
)
def test_an_end_without_a_document_is_one_too(
    verb: str, status: int, messages: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(_program, [verb, "--json"]) == status
    document = json.loads(capsys.readouterr().out)
    _validator("error").validate(document)
    assert document["exit_status"] == status
    assert [one["message"] for one in document["errors"]] == messages
    assert run(_program, [verb]) == status
    assert capsys.readouterr().out == ""


@pytest.mark.engine
def test_the_json_of_another_command_is_its_own(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "sh", "-c", "exit 1", "--json"]) == 1
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.schema)
def test_a_schema_demands_the_envelope(kind: Kind) -> None:
    schema = schema_called(kind.schema)
    whole = schema["$defs"][schema["$ref"].rpartition("/")[2]]
    assert tuple(whole["properties"])[:4] == HEADER
    assert set(HEADER) <= set(whole["required"])
    assert whole["properties"]["schema"]["enum"] == [kind.schema]
    assert whole["properties"]["version"]["enum"] == [kind.version]


def test_what_is_no_document_is_refused() -> None:
    with pytest.raises(TypeError, match="dict is not a document"):
        in_envelope({"a": 1})
