"""``-q`` and ``-v``: what is said on standard error, and that nothing else changes by them."""

from pathlib import Path

import pytest
from tests.cli.verb import one_sentence, wireproof

SCRIPT = "#!/bin/bash\n#SBATCH --nodes=2\nsrun ./a.out\n"


@pytest.mark.parametrize("before", [True, False])
def test_quiet_leaves_out_remarks_and_keeps_the_answer(tmp_path: Path, before: bool) -> None:
    pages = ("--man", tmp_path / "man")
    loud = wireproof("help", *pages)
    quiet = wireproof("-q", "help", *pages) if before else wireproof("help", "-q", *pages)
    assert "manual pages are in" in loud.stderr
    assert quiet.stderr == ""
    assert (quiet.returncode, quiet.stdout) == (loud.returncode, loud.stdout)


def test_quiet_keeps_errors_and_their_status() -> None:
    done = wireproof("-q", "explain", "5 parsecs")
    assert done.returncode == 2
    assert "parsecs" in one_sentence(done)


def test_quiet_keeps_warnings() -> None:
    done = wireproof("-q", "check", "--dry-run", environment={"WIREPROOF_LNIK": "edr"})
    assert "did you mean WIREPROOF_LINK?" in done.stderr


@pytest.mark.engine
def test_a_quiet_measurement_shows_no_progress() -> None:
    argv = ("measure", "pingpong", "--transport", "null", "--sizes", "8")
    assert "points" in wireproof(*argv).stderr
    quiet = wireproof(*argv, "-q")
    assert "points" not in quiet.stderr
    assert quiet.returncode == 3
    assert "INCONCLUSIVE" in quiet.stdout


def test_the_letter_means_quiet_in_every_subcommand() -> None:
    shown = wireproof("check", "--help-all").stdout
    assert "--qos NAME" in shown
    assert "-q, --qos" not in shown
    assert "-q, --quiet" in shown


def test_verbose_says_what_is_read_and_started(tmp_path: Path) -> None:
    log = tmp_path / "job.sh"
    log.write_text(SCRIPT)
    plain, told = wireproof("lint", log), wireproof("lint", "-v", log)
    assert f"wireproof: reads {log}" in told.stderr.splitlines()
    assert (told.returncode, told.stdout) == (plain.returncode, plain.stdout)
    assert set(plain.stderr.splitlines()) <= set(told.stderr.splitlines())


def test_verbose_masks_secrets_and_escapes_names(tmp_path: Path) -> None:
    log = tmp_path / "a\x1b[31mb"
    log.write_text(SCRIPT)
    assert "\x1b" not in wireproof("-v", "lint", log).stderr
    words = ("sh", "-c", "exit 0", "--password=hunter2")
    told = wireproof("-v", "prove", "--hosts", "localhost", "--", *words).stderr
    assert "wireproof: starts " in told
    assert "hunter2" not in told


def test_each_file_is_named_once(tmp_path: Path) -> None:
    log = tmp_path / "job.sh"
    log.write_text(SCRIPT)
    lines = wireproof("-v", "lint", log, log, "-v").stderr.splitlines()
    assert lines.count(f"wireproof: reads {log}") == 1


def test_the_words_are_not_part_of_the_command_that_repeats_it(tmp_path: Path) -> None:
    out = tmp_path / "run"
    argv = ("measure", "pingpong", "--transport", "null", "--sizes", "8", "--json")
    done = wireproof("-q", *argv, "-v", "--out", out)
    assert done.returncode in (3, 4), done.stderr
    assert "--verbose" not in done.stdout
