"""``wireproof.prove``, ``wireproof.judge`` and ``wireproof.lint`` as a Python program uses them."""

import json
import os
import socket
import sys
import threading
from pathlib import Path

import jsonschema
import pytest
from tests.cli.verb import document as document_of
from tests.cli.verb import wireproof as verb

import wireproof
from wireproof.logs.json import JudgementDocument, json_schema
from wireproof.model.errors import BadInput
from wireproof.report.json import json_text
from wireproof.watch.document import ProofDocument
from wireproof.workflow.documents import in_envelope

GOLDEN = Path(__file__).parents[1] / "golden"
TABLE = GOLDEN / "1gbe_openmpi_osu_put_bw.csv"
SHARED_MEMORY = GOLDEN / "40gbe_intelmpi_imb_p2p_pingpong.csv"
WRONG = "#!/bin/bash -I\n#SBATCH -N 2\nexport I_MPI_PROCESSOR_LIST=0-23\nsrun ./a.out\n"


def printed(subcommand: str, *argv: object) -> object:
    """What the command line prints with --json."""
    return document_of(verb(subcommand, "--json", *argv))


# --- judge


def test_a_file_is_judged_as_the_command_line_does_it() -> None:
    found = wireproof.judge(TABLE, link="1gbe")
    assert isinstance(found, JudgementDocument)
    (series,) = found.series
    assert (series.verdict, series.proof, found.errors) == ("pass", "unproven", [])
    document = json.loads(json_text(found))
    jsonschema.validate(document, json_schema())
    assert document == printed("judge", TABLE, "--link", "1gbe")


def test_a_text_is_judged() -> None:
    text = SHARED_MEMORY.read_text(encoding="utf-8")
    (series,) = wireproof.judge(text, link="40gbe").series
    assert (series.source, series.verdict) == ("text", "fail")
    assert wireproof.judge(text.encode(), link="40gbe").series == [series]


def test_a_folder_lists_what_holds_no_result(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(TABLE.read_bytes())
    (tmp_path / "b.log").write_text("no result\n", encoding="utf-8")
    found = wireproof.judge(tmp_path, link="1gbe")
    assert [one.source for one in found.series] == [str(tmp_path / "a.log")]
    assert [one.file for one in found.errors] == [str(tmp_path / "b.log")]


@pytest.mark.parametrize(
    ("what", "options"),
    [
        ("no result\n", {}),
        (Path("/nowhere/at/all.log"), {}),
        (TABLE, {"link": "carrier-pigeon"}),
        (TABLE, {"mtu": 1500}),
        (TABLE, {"link": "1gbe", "physics": Path("/nowhere.toml")}),
    ],
)
def test_what_cannot_be_judged_is_an_exception(
    what: str | Path, options: dict[str, object]
) -> None:
    with pytest.raises(BadInput) as error:
        wireproof.judge(what, **options)  # type: ignore[arg-type]
    assert str(error.value)


def test_two_judgements_in_one_process_and_one_in_a_thread() -> None:
    fast = wireproof.judge(TABLE, link="10gbe")
    slow = wireproof.judge(TABLE, link="1gbe")
    found: list[JudgementDocument] = []
    thread = threading.Thread(target=lambda: found.append(wireproof.judge(TABLE, link="10gbe")))
    thread.start()
    thread.join()
    assert found == [fast]
    assert fast.series[0].verdict != slow.series[0].verdict


# --- lint


def test_a_recipe_is_linted_as_the_command_line_does_it(tmp_path: Path) -> None:
    script = tmp_path / "job.sbatch"
    script.write_text(WRONG, encoding="utf-8")
    found = wireproof.lint(script)
    assert [one.code for one in found.findings] == ["shebang-option", "variable-misspelt"]
    assert json.loads(json_text(in_envelope(found))) == printed("lint", script)
    assert [one.code for one in wireproof.lint([script, script]).findings] == [
        one.code for one in found.findings
    ]


def test_a_text_is_linted_and_warnings_can_be_left_out() -> None:
    assert {one.code for one in wireproof.lint(WRONG).findings} == {
        "shebang-option",
        "variable-misspelt",
    }
    errors = wireproof.lint(WRONG, severity="error").findings
    assert all(one.severity == "error" for one in errors)
    assert wireproof.lint("#!/bin/sh\nsrun ./a.out\n", kind="script").findings == []


def test_what_cannot_be_linted_is_an_exception(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="does not exist"):
        wireproof.lint(tmp_path / "none.sh")
    with pytest.raises(BadInput, match="no kind of recipe is called"):
        wireproof.lint(WRONG, kind="recipe")


# --- prove


@pytest.mark.engine
def test_a_command_is_proved(capfd: pytest.CaptureFixture[str]) -> None:
    found = wireproof.prove([sys.executable, "-c", "print('loud'); raise SystemExit(7)"])
    assert isinstance(found, ProofDocument)
    assert (found.exit_status, found.proof, found.verdict) == (7, "unproven", "inconclusive")
    assert [one.host for one in found.hosts] == [socket.gethostname()]
    assert capfd.readouterr() == ("", ""), "a library prints nothing"
    known = printed("prove", "--", "true")
    assert isinstance(known, dict)
    assert list(json.loads(json_text(in_envelope(found)))) == list(known)


@pytest.mark.engine
def test_the_command_inherits_what_the_caller_says(tmp_path: Path) -> None:
    before = dict(os.environ)
    file = tmp_path / "seen"
    argv = ["sh", "-c", f'echo "$MARK" > {file}']
    wireproof.prove(argv, environment={"MARK": "here", "PATH": os.environ["PATH"]})
    assert file.read_text(encoding="utf-8") == "here\n"
    assert dict(os.environ) == before


@pytest.mark.engine
def test_two_proofs_one_of_them_in_a_thread() -> None:
    found: list[ProofDocument] = []

    def prove() -> None:
        found.append(wireproof.prove(["sh", "-c", "exit 3"]))

    thread = threading.Thread(target=prove)
    thread.start()
    here = wireproof.prove(["sh", "-c", "exit 4"])
    thread.join(60)
    assert [one.exit_status for one in (*found, here)] == [3, 4]


@pytest.mark.engine
def test_what_happens_reaches_a_reporter() -> None:
    heard: list[str] = []

    class Listener(wireproof.LoggingReporter):
        def say(self, text: str) -> None:
            heard.append(text)

    argv = ["env", "mpirun", "-hosts", f"{socket.gethostname()},{socket.gethostname()}", "x"]
    found = wireproof.prove(argv, reporter=Listener())
    assert heard == found.notes
    assert heard[0].startswith(f"watching {socket.gethostname()} from the command's arguments")


@pytest.mark.parametrize(
    ("argv", "options"),
    [
        ([], {}),
        (["true"], {"interval": "1h"}),
        (["true"], {"link": "carrier-pigeon"}),
        (["true"], {"hosts": "-oProxyCommand=x"}),
        (["true"], {"server": [("n1", "'open")]}),
        (["true"], {"lab": "no-such-lab"}),
    ],
)
def test_what_cannot_be_proved_is_an_exception(argv: list[str], options: dict[str, object]) -> None:
    with pytest.raises(BadInput) as error:
        wireproof.prove(argv, **options)  # type: ignore[arg-type]
    assert str(error.value)


def test_an_option_that_is_none_is_a_mistake_of_the_program() -> None:
    with pytest.raises(TypeError, match="there is no option 'host'"):
        wireproof.prove(["true"], host="n1")  # type: ignore[call-arg]
