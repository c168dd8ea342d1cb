"""``wireproof lint`` as a user runs it."""

import json
import os
import stat
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

import pytest
from tests.cli.verb import document, one_sentence, wireproof

from wireproof.lint.check import lint_text
from wireproof.lint.job import lint
from wireproof.lint.rule import KINDS, Kind
from wireproof.lint.rules import rules
from wireproof.logs.readers import read as read_log
from wireproof.model.errors import BadInput, NoResult
from wireproof.model.finding import LintFinding

WRONG = "#!/bin/bash -I\n#SBATCH -N 2\nexport I_MPI_PROCESSOR_LIST=0-23\nsrun ./a.out\n"
RIGHT = "#!/bin/bash -l\n#SBATCH -N 2\nexport I_MPI_PIN_PROCESSOR_LIST=0-23\nsrun ./a.out\n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "job.sbatch"
    path.write_text(WRONG)
    path.chmod(0o750)
    return path


def test_a_clean_file_gives_status_0_and_a_wrong_one_status_1(script: Path) -> None:
    done = wireproof("lint", script)
    assert done.returncode == 1
    assert f"{script}:1:13: error:" in done.stdout
    assert "[shebang-option]" in done.stdout
    assert "#!/bin/bash -l" in done.stdout
    script.write_text(RIGHT)
    done = wireproof("lint", script)
    assert (done.returncode, done.stdout) == (0, "PASS  no problems found in 1 file\n")


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_every_form_has_the_place_and_the_line_that_is_right(script: Path, form: str) -> None:
    done = wireproof("lint", script, "--format", form)
    assert done.returncode == 1
    for words in ("2 errors in 1 file", "shebang-option", "#!/bin/bash -l"):
        assert words in done.stdout.replace("\\", "")
    assert done.stdout.count(":1:13: error:") == 1


def test_json_has_the_fields_of_the_contract(script: Path) -> None:
    done = wireproof("lint", script, "--json")
    assert done.returncode == 1
    findings = document(done)["findings"]
    assert [(each["code"], each["file"], each["line"], each["column"]) for each in findings] == [
        ("shebang-option", str(script), 1, 13),
        ("variable-misspelt", str(script), 3, 8),
    ]
    assert findings[1]["fix"] == "export I_MPI_PIN_PROCESSOR_LIST=0-23"
    assert all(each["message"] and each["why"] and each["source"] for each in findings)
    script.write_text(RIGHT)
    assert document(wireproof("lint", script, "--json")) == {
        "schema": "wireproof.lint",
        "version": 1,
        "verdict": "pass",
        "errors": [],
        "findings": [],
    }


def test_files_without_findings_are_not_counted_among_those_with_findings(
    script: Path, tmp_path: Path
) -> None:
    clean = tmp_path / "clean.sh"
    clean.write_text(RIGHT)
    assert " in 1 of 2 files" in wireproof("lint", script, clean).stdout.splitlines()[0]


def test_stdin_is_read() -> None:
    command = [sys.executable, "-m", "wireproof", "lint", "-", "--json"]
    done = subprocess.run(
        command, input=WRONG.encode(), capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert {each["file"] for each in json.loads(done.stdout)["findings"]} == {"stdin"}


def test_a_file_that_cannot_be_read_costs_only_itself(script: Path, tmp_path: Path) -> None:
    binary, large = tmp_path / "a.out", tmp_path / "large.sh"
    binary.write_bytes(b"\x7fELF\0\0\1")
    with large.open("wb") as file:
        file.truncate((16 << 20) + 1)
    done = wireproof("lint", tmp_path / "none.sh", tmp_path, binary, large, script, "--json")
    assert done.returncode == 2
    assert len(document(done)["findings"]) == 2
    said = done.stderr.splitlines()
    assert len(said) == 4
    assert all(line.startswith("wireproof: ") for line in said)
    for word in ("does not exist", f"{tmp_path}/*", "is binary", "larger than 16 MiB"):
        assert word in done.stderr
    assert "Traceback" not in done.stderr
    told = wireproof("lint", binary, script)
    assert (told.stdout + told.stderr).count("is binary") == 1


@pytest.mark.parametrize(
    "text",
    [b"", b"\n", b"\xff\xfe\xfd", b"\r\n\r\n", b"#!", b"'", b'"\\', b"\x1b[2J\x1b]0;x\x07\n"],
)
def test_strange_texts_give_no_finding_and_no_crash(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "strange.sh"
    path.write_bytes(text)
    done = wireproof("lint", path)
    assert (done.returncode, done.stdout.split()[0]) == (0, "PASS")
    assert "Traceback" not in done.stderr


def test_what_is_wrong_in_the_command_is_told_in_one_sentence(script: Path) -> None:
    for argv, word in (
        ((script, "--kind", "modprob"), "modprobe"),
        ((script, "--kind", "zzz"), "there are"),
    ):
        done = wireproof("lint", *argv)
        assert done.returncode == 2
        assert word in one_sentence(done)


def test_kind_overrides_what_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "page.txt"
    path.write_text("options hfi1 max_mtu=8192 hfi1 num_vls=8\n")
    codes = {each["code"] for each in document(wireproof("lint", path, "--json"))["findings"]}
    assert "modprobe-module-repeated" in codes
    assert document(wireproof("lint", path, "--json", "--kind", "fstab"))["findings"] == []


def test_diff_shows_and_writes_nothing(script: Path) -> None:
    done = wireproof("lint", script, "--diff")
    assert done.returncode == 1
    assert "-#!/bin/bash -I" in done.stdout
    assert "+#!/bin/bash -l" in done.stdout
    assert script.read_text() == WRONG


def test_fix_asks_first_and_keeps_the_file_where_nobody_answers(script: Path) -> None:
    done = wireproof("lint", script, "--fix")
    assert done.returncode == 1
    assert "+#!/bin/bash -l" in done.stdout
    assert "--yes" in done.stderr
    assert script.read_text() == WRONG


def test_fix_writes_the_safe_fixes_with_the_files_mode(script: Path, tmp_path: Path) -> None:
    done = wireproof("lint", script, "--fix", "--yes")
    assert done.returncode == 0, done.stderr
    assert script.read_text() == RIGHT
    assert stat.S_IMODE(script.stat().st_mode) == 0o750
    assert [each.name for each in tmp_path.iterdir()] == ["job.sbatch"]


def test_fix_refuses_a_link(script: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.sbatch"
    link.symlink_to(script)
    done = wireproof("lint", link, "--fix", "--yes")
    assert (done.returncode, "symbolic link" in done.stderr) == (4, True), done.stderr
    assert link.is_symlink()
    assert script.read_text() == WRONG


def test_fix_keeps_line_ends_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "job.sh"
    path.write_bytes(b"#!/bin/bash -I\r\n# caf\xe9\r\nexport I_MPI_PROCESSOR_LIST=0\r\n")
    wireproof("lint", path, "--fix", "--yes")
    assert (
        path.read_bytes() == b"#!/bin/bash -l\r\n# caf\xe9\r\nexport I_MPI_PIN_PROCESSOR_LIST=0\r\n"
    )


def test_fix_leaves_alone_what_a_person_must_decide(tmp_path: Path) -> None:
    path = tmp_path / "job.sh"
    path.write_text("#!/bin/bash\nmpirun -genv I_MPI_FABRICS shm:tmi -n 4 ./a.out\n")
    before = path.read_text()
    assert wireproof("lint", path, "--fix", "--yes").returncode == 1
    assert path.read_text() == before


def test_terminal_escapes_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "\x1b[31mred.sh"
    path.write_text(
        "#!/bin/bash\nmpirun -genv I_MPI_FABRICS 'tmi\x1b]0;owned\x07' -n 2 ./\x1b[2J\u202e "
        "IPB-MPI1\n"
    )
    for argv in (("lint", path), ("lint", path, "--diff"), ("lint", path, "--json")):
        done = wireproof(*argv)
        assert done.returncode == 1
        assert "\x1b" not in done.stdout + done.stderr
        assert "\u202e" not in done.stdout.replace("\\u202e", "") or "--json" in argv


def test_severity_leaves_warnings_out(tmp_path: Path) -> None:
    path = tmp_path / "job.sh"
    path.write_text("#!/bin/bash\nmpirun -mca pml yalla -np 2 ./a.out\n")
    assert wireproof("lint", path).returncode == 1
    assert wireproof("lint", path, "--severity", "error").returncode == 0


def test_the_rules_are_listed_and_explained() -> None:
    lead, _, *listed = wireproof("lint", "--rules").stdout.splitlines()
    assert lead == f"{len(rules())} rules of lint; `wireproof explain CODE` shows one in full"
    assert [line.split()[0] for line in listed if not line.startswith(" ")] == sorted(rules())
    assert len(rules()) >= 50
    assert {
        each["code"] for each in document(wireproof("lint", "--rules", "--json"))["rules"]
    } == set(rules())
    done = wireproof("explain", "shebang_option")
    assert done.returncode == 0
    assert "-l" in done.stdout
    assert "shebang-option" in one_sentence(wireproof("explain", "shebang-optoin"))


def test_the_examples_are_what_they_say() -> None:
    folder = Path(__file__).resolve().parents[2] / "examples" / "recipes"
    assert wireproof("lint", folder / "pingpong.sbatch").returncode == 0
    found = {
        each["code"]
        for each in document(wireproof("lint", folder / "pingpong-wrong.sbatch", "--json"))[
            "findings"
        ]
    }
    assert {
        "shebang-option",
        "sbatch-variable",
        "variable-misspelt",
        "typographic-dash",
        "fabric-removed",
    } <= found


def test_a_file_that_cannot_be_written_is_told(script: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    tmp_path.chmod(0o500)
    try:
        done = wireproof("lint", script, "--fix", "--yes")
        assert done.returncode == 4
        assert "cannot be written" in done.stderr
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize(
    "text",
    [
        "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/usr/sbin:/usr/sbin/nologin\n",
        "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n0        1.02\n1     1.03\n",
        "Redistribution and use in source and binary forms are permitted.\n",
    ],
)
def test_a_file_that_holds_no_recipe_is_not_called_free_of_problems(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "osu.log"
    path.write_text(text)
    done = wireproof("lint", path)
    assert (done.returncode, done.stdout.split()[0]) == (2, "INCONCLUSIVE")
    assert "osu.log is not a recipe" in one_sentence(done)
    assert "no problems" not in done.stdout + done.stderr
    assert wireproof("lint", path, "--kind", "hosts").returncode != 0
    path.write_text(text + "mpirun -np 2 ./a.out\n")
    assert wireproof("lint", path).returncode == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["", "# a comment\n", "Dear all,\nthe meeting is at noon\n"])
def test_a_kind_of_which_nothing_stands_in_the_text_does_not_pass(kind: Kind, text: str) -> None:
    """Prose has findings as lines of some kinds."""
    if not lint_text(text, "text", kind):
        with pytest.raises(BadInput, match=r"text is not a recipe: no "):
            lint(text, kind=kind)


def test_a_path_alone_is_no_evidence(tmp_path: Path) -> None:
    prose, empty, ours = tmp_path / "ifcfg-ib0", tmp_path / "text", tmp_path / "site.toml"
    prose.write_text("the meeting is at noon\n")
    empty.write_text("\n")
    ours.write_text("a = 1\n")
    for path, word in ((prose, "kind ifcfg"), (empty, "no command"), (ours, "no rule")):
        done = wireproof("lint", path)
        assert (done.returncode, done.stdout.split()[0]) == (2, "INCONCLUSIVE")
        assert word in one_sentence(done)
    prose.write_text("# nothing is set here\n")
    assert wireproof("lint", prose).returncode == 0


def test_warnings_that_are_left_out_are_evidence_too(tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_text("# one\n")
    found = [LintFinding(code="c", file="f", line=1, column=1, message="m", severity="warning")]
    with patch.object(import_module("wireproof.lint.job"), "lint_text", lambda *_: found):
        assert lint(path, severity="error").findings == []


@pytest.mark.parametrize("line", ["   PortState:     Active", "Current Configuration: 1x40"])
def test_the_output_of_tools_that_lint_reads_is_no_benchmark(line: str) -> None:
    assert lint(f"{line}\n").findings == []
    with pytest.raises(NoResult, match=r"`wireproof lint FILE` reads it\."):
        read_log(f"{line}\n".encode(), "x.txt")
