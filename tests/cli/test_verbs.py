"""The verbs as a user types them, on this machine."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.verb import document, one_sentence, wireproof

from wireproof.cli.subcommands import _RENAMED, SUBCOMMANDS

VERBS = ("check", "demo", "doctor", "explain", "lab", "measure")


def test_the_first_help_is_a_screen_with_at_most_twelve_verbs_and_names_all_others() -> None:
    top = wireproof("--help", environment={"COLUMNS": "80"})
    assert top.returncode == 0
    assert len(top.stdout.splitlines()) <= 24
    described, _, rest = top.stdout.partition("Also:")
    rows = [name for name in SUBCOMMANDS if re.search(rf"(?m)^  .{{6}}{name} ", described)]
    assert 0 < len(rows) <= 12
    others, _, _ = rest.partition(";")
    assert sorted(set(SUBCOMMANDS) - set(rows)) == re.findall("[a-z]+", others)


def test_all_help_describes_each_verb_and_each_verb_has_help() -> None:
    top = wireproof("--help-all")
    assert top.returncode == 0
    assert top.stdout == wireproof("help").stdout
    assert set(SUBCOMMANDS) == set(re.findall(r"(?m)^  ([a-z]+) {2}", top.stdout))
    for verb in VERBS:
        own = wireproof(verb, "--help")
        assert own.returncode == 0
        assert own.stdout.startswith(f"Usage: wireproof {verb}")


@pytest.mark.parametrize("former", _RENAMED)
@pytest.mark.parametrize("rest", [("--help",), ("/none/such", "--out", "x"), ()])
def test_a_former_name_names_the_new_name_once_and_changes_nothing_else(
    former: str, rest: tuple[str, ...]
) -> None:
    old, new = wireproof(former, *rest), wireproof(*_RENAMED[former].split(), *rest)
    assert (old.returncode, old.stdout) == (new.returncode, new.stdout)
    sentence = f"wireproof: 'wireproof {former}' is now 'wireproof {_RENAMED[former]}'.\n"
    assert old.stderr == sentence + new.stderr


@pytest.mark.parametrize("group", ["tune", "plan", "history", "lab", "dossier"])
def test_the_help_of_a_group_does_not_cut_its_sentences(group: str) -> None:
    text = wireproof(group, "--help", environment={"COLUMNS": "80"}).stdout
    assert not re.search(r"\w\.\.\.$", text.partition("Commands:")[2], re.MULTILINE)


def test_every_code_is_explained() -> None:
    lead, _, *lines = wireproof("explain").stdout.splitlines()
    listed = [line.split()[0] for line in lines if re.match(r"  \S", line)]
    assert lead == f"{len(listed)} findings; `wireproof explain CODE` shows one in full"
    assert {"The path", "Who is slow"} <= set(lines)
    assert {"off-wire", "wrong-path", "above-ceiling", "below-floor"} <= set(listed)
    entries = document(wireproof("explain", "--json"))["findings"]
    assert [entry["code"] for entry in entries] == listed
    assert all(
        entry["meaning"] and entry["detection"] and entry["next_action"] for entry in entries
    )


@pytest.mark.engine
def test_the_null_transport_never_passes() -> None:
    done = wireproof("measure", "stream", "--transport", "null", "--sizes", "8", "--json")
    assert done.returncode == 3, done.stderr
    found = document(done)
    assert found["verdict"] == "inconclusive"
    assert {pair["verdict"] for pair in found["results"]} == {"inconclusive"}
    assert {pair["proof"] for pair in found["results"]} == {"unproven"}


@pytest.mark.engine
def test_the_model_gives_back_its_world() -> None:
    world = "latency_ns=2000,gap_ns_per_byte=0.08"
    model = ("--transport", "model", "--model", world)
    done = wireproof("measure", "pingpong", *model, "--sizes", "0,1MiB", "--json")
    assert done.returncode == 3, done.stderr
    value = {pair["message_bytes"]: pair["value"] for pair in document(done)["results"]}
    assert value[0] == pytest.approx(2000, rel=0.01)
    assert value[1 << 20] == pytest.approx(2000 + 0.08 * (1 << 20), rel=0.01)


@pytest.mark.mpi
def test_one_plain_machine_proves_no_wire_and_says_so(tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = wireproof("check", "--json", "--out", out, "--budget", "100ms")
    assert done.returncode == 3, done.stderr
    whole = document(done)
    assert (whole["schema"], whole["verdict"]) == ("wireproof.results", "inconclusive")
    parts = whole["parts"]
    assert [part["verdict"] for part in parts] == ["inconclusive", "inconclusive"]
    for part in parts:
        assert "no-wire-claimed" in {finding["code"] for finding in part["findings"]}
        assert part["results"]
    assert "Content-Security-Policy" in (out / "report.html").read_text()
    assert (out / "run" / "points.parquet").is_file()


@pytest.mark.mpi
def test_records_are_kept_and_a_finished_run_resumes_to_nothing_new(tmp_path: Path) -> None:
    out = tmp_path / "run"
    measured = ("measure", "pingpong", "--sizes", "8,64")
    argv = (*measured, "--budget", "100ms", "--seed", "3", "--out", out)
    first = wireproof(*argv)
    assert first.returncode == 3, first.stderr
    frames = (out / "run" / "frames.jsonl").read_text()
    kinds = {json.loads(line)["frame"] for line in frames.splitlines()}
    assert kinds >= {"open", "host", "idle", "point", "close"}
    again = wireproof(*argv, "--resume")
    assert again.returncode == 3, again.stderr
    assert (out / "run" / "frames.jsonl").read_text() == frames


@pytest.mark.engine
def test_output_is_plain_and_safe_when_not_a_terminal() -> None:
    done = wireproof("measure", "pingpong", "--transport", "null", "--sizes", "8")
    assert "\x1b" not in done.stdout + done.stderr
    assert "INCONCLUSIVE" in done.stdout


def test_an_mpi_that_is_not_there_is_told_with_what_was_found(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    done = wireproof("measure", "pingpong", "--sizes", "8", "--mpi", tmp_path, cwd=tmp_path)
    assert done.returncode == 4
    assert "no launcher was found" in one_sentence(done)


@pytest.mark.engine
@pytest.mark.libfabric
def test_doctor_names_the_providers_and_what_each_mpi_takes() -> None:
    found = document(wireproof("doctor", "--providers", "--json"))
    first = found["libfabrics"][0]
    assert first["origin"] == "found by the dynamic linker"
    assert {"tcp", "shm"} <= {one["name"] for one in first["providers"] if one["state"] == "usable"}
    assert all(one["why"] for one in found["choices"])
    shown = wireproof("doctor", "--providers")
    assert shown.returncode == 0
    assert f"libfabric {first['version']}: {first['path']}" in shown.stdout


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("help",), "Subcommands"),
        (("help", "check"), "wireproof check --hosts n1,n2 --link edr"),
        (("version",), "wireproof 0"),
        (("-V",), "wireproof 0"),
        (("explain", "--links"), "edr"),
    ],
)
def test_what_people_type_first_is_answered(argv: tuple[str, ...], said: str) -> None:
    done = wireproof(*argv)
    assert done.returncode == 0
    assert said in done.stdout


def test_the_help_of_a_check_has_sections_in_the_width_of_the_terminal() -> None:
    done = wireproof("check", "--help", environment={"COLUMNS": "60"})
    for title in ("Check:", "Claimed link:", "Examples:"):
        assert title in done.stdout
    options = done.stdout.partition("Examples:")[0]
    assert max(map(len, options.splitlines())) <= 60


def test_the_help_of_a_check_shows_what_is_used_most_and_where_the_rest_is() -> None:
    short, whole = wireproof("check", "--help").stdout, wireproof("check", "--help-all").stdout
    option = re.compile(r"^  (-.*?)(?:  |$)", re.MULTILINE)
    first, every = set(option.findall(short)), set(option.findall(whole))
    assert len(first) <= 20
    assert first < every
    assert f"{len(every) - len(first)} more options: wireproof check --help-all" in short
    assert "more options" not in whole


@pytest.mark.parametrize("words", [("lint",), ("lab",), ("lab", "up"), ("history", "trend")])
def test_help_all_is_accepted_if_help_shows_all_options_already(words: tuple[str, ...]) -> None:
    assert wireproof(*words, "--help-all").stdout == wireproof(*words, "--help").stdout != ""


def test_a_variable_that_is_almost_a_setting_is_named_once() -> None:
    done = wireproof("check", "--dry-run", environment={"WIREPROOF_LNIK": "edr"})
    assert done.stderr.count("did you mean WIREPROOF_LINK?") == 1


def test_what_needs_a_link_is_refused_without_one() -> None:
    done = wireproof("check", "--pcie", "gen3x16", "--dry-run")
    assert done.returncode == 2
    assert "give the link with --link" in one_sentence(done)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_is_printed(shell: str) -> None:
    done = wireproof("completion", shell)
    assert done.returncode == 0
    assert "_WIREPROOF_COMPLETE" in done.stdout


@pytest.mark.engine
def test_a_measurement_can_be_shown_and_not_started(tmp_path: Path) -> None:
    done = wireproof("measure", "pingpong", "--dry-run", "--sizes", "8,64", cwd=tmp_path)
    assert done.returncode == 0
    said, command = done.stdout.splitlines()
    assert said.startswith("# 2 ranks, 2 points, 1 ordered pair;")
    assert "wireproof-engine" in command
    shown = document(wireproof("measure", "ring", "--ranks", "4", "--dry-run", "--json"))
    assert shown["argv"][-1] == "run"
    assert list(tmp_path.iterdir()) == [], "nothing is written"


def test_a_check_loads_what_it_needs_and_little_else(tmp_path: Path) -> None:
    """An import at the top of a module that every check loads once brought all adapters with it."""
    options = ["check", "--hosts", "n1,n2", "--transport", "model", "-q", "--out"]
    script = (
        "import sys, atexit\n"
        "atexit.register(lambda: print(*[m for m in sys.modules if m.startswith('wireproof')]))\n"
        "from wireproof.cli import main\n"
        f"sys.exit(main({[*options, str(tmp_path / 'run')]!r}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode in (0, 1, 3), done.stderr  # it judged
    assert 0 < len(done.stdout.split(b"\n")[-2].split()) <= 200
