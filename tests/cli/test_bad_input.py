"""What the user gets wrong: one clear sentence, exit status 2, nothing written."""

import json
import shlex
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest
from tests.cli.verb import one_sentence, wireproof

REFUSED = Path(__file__).parents[1] / "golden" / "refused.toml"
LITTLE = {"PATH": "/usr/bin:/bin", "OSU_HOME": "", "I_MPI_ROOT": ""}
"""No tools of this machine but those of the system."""


@pytest.mark.engine
@pytest.mark.parametrize(("line", "said"), tomllib.loads(REFUSED.read_text("utf-8")).items())
def test_bad_input_is_one_sentence_and_nothing_is_written(
    line: str, said: str, tmp_path: Path
) -> None:
    done = wireproof(*shlex.split(line), cwd=tmp_path, environment=LITTLE)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert said in one_sentence(done)
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.engine
def test_an_output_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "results"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    done = wireproof("measure", "pingpong", "--transport", "null", "--out", mine)
    assert done.returncode == 2
    assert "not empty" in one_sentence(done)
    assert [entry.name for entry in mine.iterdir()] == ["thesis.txt"]


def test_a_broken_settings_file_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "wireproof.toml").write_text('nic = "eth0"\nlikn = "edr"\n')
    done = wireproof("measure", "pingpong", "--transport", "null", cwd=tmp_path)
    assert done.returncode == 2
    assert "wireproof.toml:2" in one_sentence(done)
    assert "link" in one_sentence(done)


def test_a_physics_file_with_an_unknown_constant_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "mine.toml"
    table.write_text("[floor]\nwarp_drive = 1\n")
    done = wireproof("check", "--physics", table, "--link", "edr", cwd=tmp_path)
    assert done.returncode == 2
    assert "warp_drive" in one_sentence(done)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("locate", "/nowhere", "--json"), "nowhere"),
        (("explain", "5parsec", "--json"), "parsec"),
        (("check", "--json", "--hosts"), "--hosts"),
        (("plan", "footprint", "--json", "--nodes", "1", "--ppn", "1"), "--mode"),
    ],
)
def test_a_program_reads_why_there_is_no_result(argv: tuple[str, ...], said: str) -> None:
    done = wireproof(*argv)
    found = json.loads(done.stdout)
    assert (found["schema"], found["version"]) == ("wireproof.error", 1)
    assert (found["exit_status"], found["verdict"]) == (2, None)
    assert done.returncode == 2
    assert said in found["errors"][0]["message"]
    assert said in done.stderr


def test_the_word_of_a_command_asks_for_no_document() -> None:
    done = wireproof("prove", "--hosts", "n1,n2", "--link", "none", "--", "mpirun", "--json")
    assert done.returncode == 2
    assert done.stdout == ""


def test_ctrl_c_before_a_subcommand_begins_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from wireproof.cli import main
    from wireproof.files import held

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(held, "use_own_home", interrupted)
    assert main(["--help"]) == 130
    assert capsys.readouterr().err == "wireproof: interrupted by Ctrl-C.\n"


def test_a_terminal_shows_an_error_broken_between_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from wireproof.cli import main

    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["measure", "pingpnog"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert all(len(line) <= 40 and not line.endswith("-") for line in lines)
    assert "is not known; did you mean pingpong?" in " ".join(lines)


def test_a_wrong_word_is_answered_by_the_nearest_or_a_short_list() -> None:
    said = one_sentence(wireproof("measure", "xyzzy"))
    assert "the help lists the values. See `wireproof measure --help`" in said
    assert "there are text, html, markdown, json." in one_sentence(
        wireproof("compare", "a", "b", "--format", "x")
    )


def test_an_interrupted_demo_names_no_option_that_it_lacks(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from types import SimpleNamespace

    from wireproof.cli.options import ended, say_kept

    result = SimpleNamespace(page=None, folder=tmp_path, ended=lambda how: how == "interrupted")
    say_kept(cast("Any", result), "a demo cannot be continued: run it again")
    assert ended(cast("Any", result)) == 130
    said = capsys.readouterr().err
    assert "run it again" in said
    assert "--resume" not in said
