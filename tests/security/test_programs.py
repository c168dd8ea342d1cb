"""Programs that PATH would find in the current folder: none is run, by whatever way in."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.security.test_promises import SOURCES
from tests.security.test_written import EVE

from wireproof.cli import main
from wireproof.files.programs import by_path, find_program, search_path
from wireproof.instrument.plan_text import write_requests
from wireproof.launch.engines import find_engine
from wireproof.launch.engines import find_program as find_engine_program
from wireproof.launch.mpi.discovery import find_mpis
from wireproof.model.plan import FactRequest
from wireproof.version import version_of

ROOT = Path(__file__).parents[2]
HOSTILE = [".", "", "..", "tools", "./tools:", ":", "::/usr/bin", "./", "tools/../tools", "~"]
TOOLS = (
    "git ssh ip tc ethtool systemctl unshare lspci chromium mpirun mpiexec srun sinfo scontrol"
    " salloc sbatch ssh-keygen uname file true iperf3 ldconfig gcc cc sh python3 hostname"
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A current folder with a program of every name, which leaves its name in ``ran``."""
    place = tmp_path / "work"
    for folder in (place, place / "tools", place / "~", tmp_path):
        folder.mkdir(exist_ok=True)
        for name in TOOLS.split():
            (folder / name).write_text(f"#!/bin/sh\necho {name} >>{tmp_path}/ran\nexit 1\n")
            (folder / name).chmod(0o755)
    return place


def ran(place: Path) -> str:
    path = place.parent / "ran"
    return path.read_text() if path.exists() else ""


@pytest.mark.parametrize("path", HOSTILE)
def test_nothing_is_found_in_a_relative_folder(
    place: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(place)
    for name in TOOLS.split():
        found = find_program(name, {"PATH": path}, system=True)
        assert found is None or not Path(found).is_relative_to(place.parent)
        assert found is None or os.path.isabs(found)
    assert all(map(os.path.isabs, search_path(path).split(os.pathsep)))
    assert find_program("no-such-program", {"PATH": path}) is None
    assert find_program("sh", {"PATH": path}) == ("/usr/bin/sh" if "/usr" in path else None)


def test_what_is_started_has_an_absolute_path_and_a_path_without_relative_folders(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    started = by_path(["true", "x"], {"PATH": ".:/usr/bin:/bin:", "A": "b"})
    assert started["args"] == [find_program("true", {"PATH": "/usr/bin:/bin"}), "x"]
    assert started["env"] == {"PATH": "/usr/bin:/bin", "A": "b"}
    with pytest.raises(FileNotFoundError, match="no-such"):
        by_path(["no-such"], {"PATH": "."})
    assert by_path(["tools/git"])["args"] == [str(place / "tools/git")], "a path that was typed"
    assert by_path(["true"], {})["env"]["PATH"] == os.defpath


API = """
import contextlib, pathlib, sys
from wireproof.launch.fanout import facts_by_host, reachable
from wireproof.launch.schedulers.slurm_commands import find_slurm
from wireproof.files.programs import find_tool
from wireproof.model.errors import WireproofError
from wireproof.workflow import doctor
from wireproof.version import version_of
from wireproof.store.signature import check_signer, sign
from wireproof.measure.export import _chromium
from wireproof.report.reporter import LoggingReporter
from wireproof.target import resolve as lab_or_hosts
import wireproof

pathlib.Path("key").write_text("x")
for do in (
    lambda: version_of(pathlib.Path(sys.argv[1])),
    lambda: find_slurm(),
    lambda: find_tool("ip"),
    lambda: doctor._namespaces(True),
    lambda: reachable(["nowhere.invalid", "elsewhere.invalid"], timeout_s=3.0),
    lambda: facts_by_host(["localhost"], ["true"], timeout_s=3.0),
    lambda: lab_or_hosts._configured("nowhere.invalid"),
    lambda: check_signer("key"),
    lambda: sign(pathlib.Path("."), "key"),
    lambda: _chromium("pdf"),
    lambda: wireproof.audit(source=pathlib.Path("/")),
    lambda: wireproof.check(hosts="nowhere1.invalid,nowhere2.invalid", transport="tcp"),
):
    with contextlib.suppress(WireproofError, TypeError):
        do()
"""


@pytest.mark.engine
@pytest.mark.parametrize("path", [".", "", "tools:"])
def test_a_python_program_runs_none_either(place: Path, path: str) -> None:
    """No program is searched for in a relative folder."""
    (place.parent / "api.py").write_text(API)
    around = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"}
    argv = [sys.executable, str(place.parent / "api.py"), str(ROOT)]
    done = subprocess.run(argv, cwd=place, env=around, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    assert ran(place) == ""


@pytest.mark.engine
@pytest.mark.parametrize("path", HOSTILE)
def test_the_engine_and_its_guard_run_none_either(place: Path, path: str) -> None:
    """On a host that ssh has reached nobody has looked at PATH before."""
    plan = write_requests([FactRequest(kind="command", argv=("ethtool", "--version"))])
    engine, node = find_engine("nompi"), find_engine_program("wireproof-node")
    around = {"PATH": path}
    for argv in ([str(engine), "facts"], [str(node), "guard", "--", "ethtool", "--version"]):
        subprocess.run(argv, input=plan.encode(), env=around, cwd=place, capture_output=True)
    assert ran(place) == ""


def test_a_process_for_pages_takes_no_module_of_the_current_folder(tmp_path: Path) -> None:
    """``python -c``, by which it starts, puts the current folder first."""
    for name in ("multiprocessing", "msgspec", "random", "wireproof"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write('x')\n")
    script = tmp_path / "else" / "script.py"
    script.parent.mkdir()
    script.write_text(
        "import os\nfrom wireproof.archive.apart import apart\n"
        "if __name__ == '__main__':\n"
        "    assert len(apart(os.urandom, 4, seconds=60)) == 4\n"
        "    assert 'PYTHONSAFEPATH' not in os.environ\n"
    )
    around = {name: text for name, text in os.environ.items() if name != "PYTHONSAFEPATH"}
    argv = [sys.executable, str(script)]
    done = subprocess.run(argv, cwd=tmp_path, env=around, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    assert not (tmp_path / "ran").exists()


def _eves_home(folder: Path) -> Path:
    """A home of eve with an MPI, and with a configuration of git that names a program."""
    program = folder / "intel" / "oneapi" / "mpi" / "latest" / "bin" / "mpiexec.hydra"
    program.parent.mkdir(parents=True)
    for path in (program, folder / "git"):
        said = "echo 'Intel(R) MPI Library for Linux* OS, Version 2021.18'"
        path.write_text(f"#!/bin/sh\necho $0 >>{folder.parent}/ran\n{said}\n")
        path.chmod(0o755)
    (folder / ".gitconfig").write_text(f"[core]\n\tfsmonitor = {folder}/git\n")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, EVE, EVE)
    return folder


@pytest.mark.root
def test_nothing_of_the_home_of_another_user_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root with HOME still eve's (sudo -E): also by a program that uses the Python API."""
    home = _eves_home(tmp_path / "eve")
    monkeypatch.setenv("HOME", str(home))
    found = [str(install.launcher) for install in find_mpis()]
    version_of(ROOT)
    assert not (tmp_path / "ran").exists()
    assert not [path for path in found if path.startswith(str(home))]


@pytest.mark.root
@pytest.mark.parametrize("at", ["", "sub"])
def test_a_program_of_ours_starts_with_the_home_of_its_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """No program, library or setting is taken from the home folder of another user, even if `sudo`
    keeps `HOME`.
    """
    eves, ours = tmp_path / "eve" / at, tmp_path / "ours"
    for folder in (eves, ours):
        folder.mkdir(parents=True)
    os.chown(tmp_path / "eve", EVE, EVE)
    for home, stays in ((eves, False), (ours, True)):
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
        assert main(["--version"]) == 0
        assert (os.environ["HOME"] == str(home)) is stays
        assert ("XDG_CONFIG_HOME" in os.environ) is stays


SEARCHES = ("shutil.which", "which", "ctypes.util.find_library", "find_library")
STARTS = ("subprocess.run", "subprocess.Popen")
OTHER_STARTS = (
    *(
        "subprocess.call",
        "subprocess.check_call",
        "subprocess.check_output",
        "subprocess.getoutput",
    ),
    *("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell", "pty.spawn"),
    *(f"os.{name}" for name in ("posix_spawn", "posix_spawnp", "startfile", "execv", "execl")),
    *(f"os.exec{name}" for name in ("le", "lp", "lpe", "ve", "vp", "vpe")),
    *(f"os.spawn{name}" for name in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
)
ELSEWHERE = {"os.execve": {"cli/lab.py"}}
"""Of a command that ``exec_argv`` has made: the path of our own program, by PATH made absolute."""


def test_programs_are_searched_and_started_in_one_way() -> None:
    """``files.programs`` searches, and ``by_path`` stands in every call that starts a process."""
    ends = "|".join(name.rpartition(".")[2] for name in OTHER_STARTS if "subprocess." not in name)
    naming = re.compile(rf"\b(?:subprocess|shutil|which\(|find_library\b|(?:{ends})\b)")
    for path in SOURCES:
        place = str(path.relative_to(ROOT / "src" / "wireproof"))
        text = path.read_text(encoding="utf-8")
        if place == "files/programs.py" or not naming.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module in ("subprocess", "shutil"):
                names = {alias.name for alias in node.names}
                assert not names & {"which", "run", "Popen", "call"}, f"{place}: import the module"
            if not isinstance(node, ast.Call):
                continue
            name, where = ast.unparse(node.func), f"{place}:{node.lineno}"
            assert name not in SEARCHES, f"{where}: use files.programs.find_program"
            assert name not in OTHER_STARTS or place in ELSEWHERE.get(name, ()), where
            if name in STARTS:
                given = [ast.unparse(one.value) for one in node.keywords if one.arg is None]
                assert not node.args, f"{where}: use **by_path(argv)"
                assert len(given) == 1, where
                assert given[0].startswith("by_path("), where
                assert "env" not in [one.arg for one in node.keywords], where


def test_a_loop_of_links_is_no_error_of_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``Path.resolve`` raises RuntimeError for it: only our package's path is resolved so."""
    (tmp_path / "loop").symlink_to("loop")
    assert main(["compare", str(tmp_path / "loop"), str(tmp_path)]) == 2
    assert "wireproof itself" not in capsys.readouterr().err
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCES}
    for path in (path for path, text in texts.items() if ".resolve" in text):
        for node in ast.walk(ast.parse(texts[path])):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".resolve"):
                assert ast.unparse(node).startswith("Path(__file__)") or node.args, path
