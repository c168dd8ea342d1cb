"""What is stored in a run folder, or lies in the current folder, never chooses what is started."""

import json
import os
import stat
import subprocess
from pathlib import Path

import click
import pytest
from tests.cli.verb import wireproof
from tests.conftest import some_of

from wireproof.cli import main
from wireproof.cli.check import safe_words
from wireproof.cli.subcommands import subcommands
from wireproof.measure.resume import ASKED, Invocation, allowed_variables, recall
from wireproof.model.errors import BadInput
from wireproof.options.resolve import SETTINGS, read_file


def _program(folder: Path, name: str) -> Path:
    """A program that leaves a trace when it is started."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho started >> {folder}/trace\nexit 0\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def _run(cwd: Path, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return wireproof(*words, cwd=cwd, environment=environment)


def _store(
    folder: Path, argv: list[str], environment: dict[str, str] | None = None, **more: object
) -> Path:
    folder.mkdir(exist_ok=True, mode=0o700)
    asked = {
        "argv": argv,
        "seed": 1,
        "folder": str(folder),
        "environment": environment or {},
        **more,
    }
    (folder / ASKED).write_text(json.dumps(asked), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "environment",
    some_of(
        [
            {"PATH": "{evil}:/usr/bin:/bin"},
            {"LD_PRELOAD": "{evil}/x.so"},
            {"WIREPROOF_ENGINE_DIR": "{evil}"},
            {"HYDRA_LAUNCHER_EXEC": "{evil}/ssh"},
            {"WIREPROOF_LAUNCHER": "{evil}/ssh"},
            {"WIREPROOF_MPI": "{evil}"},
            {"PYTHONPATH": "{evil}"},
            {"OSU_HOME": "{evil}"},
            {"I_MPI_ROOT": "{evil}"},
        ],
        4,
    ),
)
def test_a_stored_variable_starts_nothing(tmp_path: Path, environment: dict[str, str]) -> None:
    """No setting that is stored in a run folder names a program."""
    evil = tmp_path / "evil"
    evil.mkdir()
    for name in ("ssh", "mpiexec", "mpirun", "wireproof-engine.mpiabi", "wireproof-node", "srun"):
        _program(evil, name)
    stored = {name: value.format(evil=evil) for name, value in environment.items()}
    folder = _store(
        tmp_path / "run", ["check", "--hosts", "h1.invalid,h2.invalid", "--mpi", "mpich"], stored
    )
    done = _run(tmp_path, "resume", folder)
    assert done.returncode in (2, 4), done.stderr
    assert f"{next(iter(stored))} is stored with the run but is not used" in done.stderr
    assert not (evil / "trace").exists()
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--launcher", "{evil}/ssh"],
        ["--launcher={evil}/ssh"],
        ["--prefix", "{evil}/ssh"],
        ["--mpi", "{evil}/mpirun"],
    ],
)
def test_a_stored_option_starts_nothing(tmp_path: Path, words: list[str]) -> None:
    evil = tmp_path / "evil"
    evil.mkdir()
    for name in ("ssh", "mpirun"):
        _program(evil, name)
    argv = ["check", "--hosts", "a,b", *(word.format(evil=evil) for word in words)]
    done = _run(tmp_path, "resume", _store(tmp_path / "run", argv))
    assert done.returncode == 2
    assert "names a program that a stored run may not set" in done.stderr
    assert not (evil / "trace").exists()


@pytest.mark.parametrize(
    "argv",
    [
        ["check", "--prolog"],
        ["check", "--dry-run"],
        ["check", "--help"],
        ["check", "--x"],
        ["run", "osu"],
        ["prove", "--", "sh"],
        ["lab", "down"],
        [],
        ["check", "extra"],
        ["measure", "pingpong"],
    ],
)
def test_only_a_check_with_known_options_goes_on(
    tmp_path: Path, argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["resume", str(_store(tmp_path / "run", argv))]) in (0, 2)
    assert [path.name for path in (tmp_path / "run").iterdir()] == [ASKED]
    assert "Traceback" not in capsys.readouterr().err


def test_the_settings_that_may_be_stored_are_a_list() -> None:
    """A new setting is not stored before somebody has decided that it names no program."""
    everything = {f"WIREPROOF_{name.upper()}": "x" for name in SETTINGS} | {
        "PATH": "x",
        "WIREPROOF_ENGINE_DIR": "x",
    }
    names = {name.removeprefix("WIREPROOF_").lower() for name in allowed_variables(everything)}
    assert names == {
        "hosts",
        "transport",
        "fabric",
        "provider",
        "messages",
        "completion",
        "exchange",
        "nic",
        "nic_selection",
        "profile",
        "repeat",
        "link",
        "budget",
        "deadline",
        "sizes",
        "formula",
        "window",
    }
    assert set(allowed_variables({"WIREPROOF_MPI": "intel", "WIREPROOF_LAUNCHER": "ssh"})) == {
        "WIREPROOF_MPI",
        "WIREPROOF_LAUNCHER",
    }


def test_what_resume_is_about_to_run_is_shown_first(tmp_path: Path) -> None:
    """`resume` shows the command that it is about to run, with every stored setting, escaped for
    the terminal.
    """
    folder = _store(
        tmp_path / "run",
        ["check", "--hosts", "h1.invalid,h2.invalid", "--launcher", "ssh"],
        {"WIREPROOF_LINK": "10gbe", "WIREPROOF_\x1b]0;x\x07": "1"},
    )
    done = _run(tmp_path, "resume", folder)
    assert (
        "wireproof: WIREPROOF_LINK=10gbe wireproof check --hosts h1.invalid,h2.invalid"
        in done.stderr
    )
    assert "\x1b" not in done.stderr


def test_stored_words_with_escapes_are_shown_harmless(tmp_path: Path) -> None:
    for argv in (
        ["check", "--hosts", "a,b", "--link", "\x1b]0;x\x07\u202e"],
        ["check", "--\x1b[31m\u202e"],
    ):
        done = _run(tmp_path, "resume", _store(tmp_path / "run", argv))
        assert done.returncode == 2
        assert not set("\x1b\x07\u202e") & set(done.stderr)


def test_the_words_are_written_anew_with_absolute_paths(tmp_path: Path) -> None:
    physics = tmp_path / "p.toml"
    physics.touch()
    argv = [
        *("check", "--hosts=a,b", "-N2", "--slurm", "--physics", str(physics)),
        *("--model-fault", "x", "--model-fault", "y", "--all-pairs", "--json", "--seed", "7"),
        *("--out", "/elsewhere", "--resume"),
    ]
    asked = Invocation(argv=argv, seed=1, folder="/")
    words = safe_words(asked, subcommands)
    assert words[0] == "check"
    assert set(words[1:]) == {
        *("--hosts", "a,b", "--nodes", "2", "--slurm", "--physics", str(physics)),
        *("--model-fault", "x", "y", "--all-pairs"),
    }


def test_the_programs_of_the_first_time_are_asked_for_again(tmp_path: Path) -> None:
    folder = _store(
        tmp_path / "run", ["check", "--hosts", "a.invalid,b.invalid"], again=["launcher"]
    )
    done = _run(tmp_path, "resume", folder)
    assert done.returncode == 2
    assert "--launcher" in done.stderr
    agent = _program(tmp_path, "agent")
    done = _run(tmp_path, "resume", folder, "--launcher", agent)
    assert f"--launcher {agent}" in done.stderr
    for wrong in (["/bin/sh"], ["out"], ["\x1b"]):
        with pytest.raises(BadInput, match="damaged"):
            recall(_store(tmp_path / "run", ["check"], again=wrong))


@pytest.mark.engine
def test_a_check_remembers_no_program_and_is_for_us_alone(tmp_path: Path) -> None:
    (tmp_path / "wireproof.toml").write_text(
        'link = "10gbe"\nprofile = "quick"\n', encoding="utf-8"
    )
    done = _run(
        *(tmp_path, "check", "--hosts", "a,b", "--transport", "model", "--out", "out"),
        *("--mpi", "mpich", "--prefix", "env"),
        WIREPROOF_LAUNCHER="/bin/true",
        WIREPROOF_BUDGET="50ms",
        WIREPROOF_ENGINE_NOTE="x",
    )
    path = tmp_path / "out" / ASKED
    assert path.is_file(), done.stderr
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    asked = recall(tmp_path / "out")
    assert asked.again == ["prefix"]
    assert not {"--prefix", "env", "/bin/true"} & {*asked.argv, *asked.environment.values()}
    assert asked.environment == {
        "WIREPROOF_LINK": "10gbe",
        "WIREPROOF_PROFILE": "quick",
        "WIREPROOF_BUDGET": "50ms",
    }
    modes = {stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert modes == {0o600}


# --- the current folder


@pytest.mark.parametrize(
    "line",
    [
        'launcher = "/tmp/agent"',
        'launcher = "./ssh"',
        'mpi = "./mpi"',
        'mpi = "/opt/x"',
        'LAUNCHER = "x"',
        'mpi = ["/opt/x"]',
    ],
)
def test_a_file_in_the_current_folder_names_no_program(tmp_path: Path, line: str) -> None:
    """`wireproof.toml` in the current folder names no program."""
    path = tmp_path / "wireproof.toml"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"names a program|no setting"):
        read_file(path)


def test_a_file_in_the_current_folder_may_name_an_mpi_family(tmp_path: Path) -> None:
    path = tmp_path / "wireproof.toml"
    path.write_text('mpi = "intel"\nlauncher = "ssh"\n', encoding="utf-8")
    assert read_file(path)["mpi"][0] == "intel"


def test_a_pipe_in_the_current_folder_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "wireproof.toml")
    done = _run(tmp_path, "check", "--hosts", "a,b", "--dry-run")
    assert done.returncode == 2
    assert "a named pipe and not a file" in done.stderr


def test_no_relative_folder_is_searched_for_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No program is searched for in a relative folder."""
    from wireproof.launch.command import find_tool
    from wireproof.launch.mpi.discovery import find_mpis
    from wireproof.store.signature import check_signer

    _program(tmp_path, "mpiexec")
    _program(tmp_path, "osu_bw")
    _program(tmp_path, "ssh-keygen")
    monkeypatch.chdir(tmp_path)
    around = {"PATH": ".::", "OSU_HOME": ".", "I_MPI_ROOT": ".", "MPI_HOME": "."}
    assert not [one for one in find_mpis(around) if str(tmp_path) in str(one.launcher.absolute())]
    assert find_tool("osu_bw", environment=around) is None
    monkeypatch.setenv("PATH", ".::")
    with pytest.raises(BadInput, match=r"ssh-keygen .* is not on PATH"):
        check_signer(str(tmp_path / "ssh-keygen"))
    assert not (tmp_path / "trace").exists()


def test_click_is_given_no_stored_callback() -> None:
    """The parser of stored words must not run a verb: it only parses."""
    ran: list[str] = []

    @click.group()
    def group() -> None: ...

    @group.command("check")
    def check() -> None:
        ran.append("x")

    safe_words(Invocation(argv=["check"], seed=1, folder="/"), group)
    assert ran == []
