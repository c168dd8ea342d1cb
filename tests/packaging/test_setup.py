"""tools/setup with a fake system around it: what it names, installs and refuses. Nothing real is
installed.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.processes import ran

ROOT = Path(__file__).resolve().parents[2]
TABLE = """\
# a comment
run  command no-such-compiler  gxx-debian  gxx-rhel
run  command no-such-compiler2 gxx-debian  gxx-rhel
run  command sh                never       never
test file    /no/such/header   header-deb  -
bench file   /no/such/library  library-deb -
all  command no-such-cross     cross-deb   cross-rhel
"""
TOOLS = ["cat", "dirname", "env", "flock", "mkdir", "python3", "rm", "sh", "sort", "tr"]


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """A checkout with only the set-up in it, and a PATH with only what the set-up itself needs."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy2(ROOT / "tools" / "setup", tmp_path / "tools" / "setup")
    (tmp_path / "tools" / "packages").write_text(TABLE)
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found, tool
        (tmp_path / "bin" / tool).symlink_to(found)
    return tmp_path


def _program(system: Path, name: str, text: str) -> None:
    program = system / "bin" / name
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)


def _setup(system: Path, group: str, user: int, manager: str) -> subprocess.CompletedProcess[str]:
    _program(system, "id", f"echo {user}")
    if manager:
        _program(system, manager, f'echo "{manager} $*" >>{system}/called; exit 1')
    environment = {"PATH": str(system / "bin"), "HOME": str(system)}
    return ran(
        [str(system / "tools" / "setup"), group],
        env=environment,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize(
    ("group", "manager", "command"),
    [
        ("run", "apt-get", "sudo apt-get install -y gxx-debian\n"),
        ("test", "apt-get", "sudo apt-get install -y gxx-debian header-deb\n"),
        ("bench", "apt-get", "sudo apt-get install -y gxx-debian header-deb library-deb\n"),
        ("all", "apt-get", "sudo apt-get install -y cross-deb gxx-debian header-deb\n"),
        ("test", "dnf", "sudo dnf install -y gxx-rhel\n"),
    ],
)
def test_without_root_the_missing_packages_are_named_and_nothing_happens(
    system: Path, group: str, manager: str, command: str
) -> None:
    before = sorted(system.rglob("*"))
    ended = _setup(system, group, user=1000, manager=manager)
    assert ended.returncode == 2
    assert command in ended.stderr
    assert not (system / "called").exists()
    after = [path for path in sorted(system.rglob("*")) if path not in before]
    assert {path.name for path in after} <= {"id", manager}


def test_as_root_exactly_the_missing_packages_are_installed(system: Path) -> None:
    ended = _setup(system, "test", user=0, manager="apt-get")
    called = (system / "called").read_text().splitlines()
    assert called[0].endswith(" install gxx-debian header-deb")
    assert "update" in called[1]  # the first try failed: the lists may be old
    assert ended.returncode != 0
    assert not (system / ".venv").exists()


def test_system_without_known_package_manager_is_told_what_is_missing(system: Path) -> None:
    ended = _setup(system, "run", user=0, manager="")
    assert ended.returncode == 2
    assert "missing: gxx-debian" in ended.stderr
    assert "neither apt-get nor dnf" in ended.stderr


def test_unknown_group_is_an_error(system: Path) -> None:
    ended = _setup(system, "everything", user=0, manager="apt-get")
    assert ended.returncode == 2
    assert "unknown group 'everything'" in ended.stderr


def test_table_names_a_package_for_each_need() -> None:
    lines = [
        line.split()
        for line in (ROOT / "tools" / "packages").read_text().splitlines()
        if line[:1] not in "#"
    ]
    assert lines
    for line in lines:
        group, probe, *_ = line
        assert len(line) == 5, line
        assert group in {"run", "test", "bench", "lint", "all", "make", "fresh"}
        assert probe in {"command", "file", "python"}


def test_what_make_starts_keeps_its_bytecode(tmp_path: Path) -> None:
    more = tmp_path / "more.mk"
    more.write_text("shown:\n\t@env\n")
    argv = ["make", "-s", "-f", "Makefile", "-f", str(more), "shown"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert "PATH=" in done.stdout
    assert "PYTHONDONTWRITEBYTECODE" not in done.stdout
