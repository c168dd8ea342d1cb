"""judge, lint, convert and report on a Python without what only Linux has: a stored result is read
on any desk.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import wireproof as library

ROOT = Path(__file__).resolve().parents[2]
SYSTEMS = pytest.mark.parametrize("system", ["macos", "windows"])


def _foreign(system: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    stub = Path(__file__).with_name("foreign.py")
    search = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        [sys.executable, str(stub), system, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": search},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@SYSTEMS
def test_a_log_is_judged(system: str) -> None:
    log = ROOT / "tests" / "golden" / "1gbe_openmpi_osu_put_bw.csv"
    done = _foreign(system, "judge", log, "--link", "1gbe", "--json")
    assert done.returncode == 0, done.stderr
    (series,) = json.loads(done.stdout)["series"]
    assert series["efficiency"] == pytest.approx(0.994, abs=0.001)


@SYSTEMS
def test_a_batch_script_is_linted(system: str) -> None:
    done = _foreign(system, "lint", ROOT / "examples" / "recipes" / "pingpong-wrong.sbatch")
    assert done.returncode == 1, done.stderr
    assert "[typographic-dash]" in done.stdout


@SYSTEMS
def test_a_number_is_converted(system: str) -> None:
    done = _foreign(system, "convert", "12GB/s", "--link", "edr")
    assert done.returncode == 0, done.stderr
    assert "= 96.00 % of nominal" in done.stdout


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A check of three played hosts."""
    folder = tmp_path_factory.mktemp("stored") / "result"
    library.check(hosts="n[1-3]", transport="model", budget="20ms", link="10gbe", out=folder)
    return folder


@pytest.mark.engine
@SYSTEMS
def test_a_stored_result_is_reported(system: str, stored: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("an older one")
    done = _foreign(system, "report", stored, "--out", page)
    assert done.returncode in (0, 1, 3), done.stderr
    assert "error of wireproof itself" not in done.stderr
    assert page.read_text().startswith("<!")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("verb", ["judge", "lint", "report", "convert"])
def test_help_is_there(verb: str) -> None:
    done = _foreign("windows", verb, "--help")
    assert done.returncode == 0, done.stderr
    assert f"wireproof {verb}" in done.stdout


@pytest.mark.parametrize("absent", ["import fcntl", "import pwd", "os.O_NOFOLLOW", "os.geteuid"])
def test_the_stub_takes_away_what_it_says(absent: str) -> None:
    """A stub that hides nothing would pass everything."""
    code = f"import os, foreign; foreign.become('windows'); {absent}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert absent.rpartition(" ")[2].rpartition(".")[2] in done.stderr.splitlines()[-1]
