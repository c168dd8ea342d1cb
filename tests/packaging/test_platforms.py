"""What reads results, on a Python without what only Linux has: a result is read on any desk, and
with no more libraries than the answer needs.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import some_of
from tests.dossiers import dossier_of
from tests.processes import ran

import wireproof as library
from wireproof.cli.subcommands import SUBCOMMANDS

ROOT = Path(__file__).resolve().parents[2]
READ = {"compare", "explain", "dossier", "gate", "history", "judge", "lint", "report"}
SYSTEMS = pytest.mark.parametrize("system", some_of(["windows", "macos"], 1))


def _foreign(system: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    stub = Path(__file__).with_name("foreign.py")
    search = os.pathsep.join(path for path in sys.path if path)
    return ran(
        [sys.executable, str(stub), system, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": search},
        timeout=120,
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
    done = _foreign(system, "explain", "12GB/s", "--link", "edr")
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


@pytest.mark.engine
@SYSTEMS
def test_a_stored_result_is_asked_for_its_verdict(system: str, stored: Path) -> None:
    done = _foreign(system, "gate", stored)
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("wireproof inconclusive: n[1-3]: the hosts were simulated")


@pytest.mark.engine
@SYSTEMS
def test_stored_results_are_compared(system: str, stored: Path, tmp_path: Path) -> None:
    other = shutil.copytree(stored, tmp_path / "other")
    done = _foreign(system, "compare", stored, other)
    assert done.returncode in (0, 1, 3), done.stderr
    assert "numbers of a model say nothing about a machine" in done.stdout + done.stderr


@pytest.mark.engine
@SYSTEMS
def test_a_history_takes_a_result_and_lists_it(system: str, stored: Path, tmp_path: Path) -> None:
    added = _foreign(system, "history", "add", tmp_path / "history", stored)
    assert added.returncode == 0, added.stderr
    listed = _foreign(system, "history", "list", tmp_path / "history")
    assert listed.returncode == 0, listed.stderr
    assert "n[1-3]" in listed.stdout


@pytest.mark.parametrize(
    ("words", "loaded"),
    [
        ("convert 12GB/s --link edr", ""),
        ("explain below-floor", ""),
        ("lint examples/recipes/pingpong-wrong.sbatch", ""),
        ("judge tests/golden/1gbe_openmpi_osu_put_bw.csv --link 1gbe", ""),
    ],
)
def test_a_library_is_loaded_only_where_it_is_used(words: str, loaded: str) -> None:
    code = (
        "import contextlib, os, sys; from wireproof.cli import main\n"
        "with contextlib.redirect_stdout(open(os.devnull, 'w')), contextlib.suppress(SystemExit):\n"
        "    main()\n"
        "print(*sorted({'ClusterShell', 'duckdb', 'jinja2', 'numpy'} & set(sys.modules)))"
    )
    done = ran(
        [sys.executable, "-c", code, *words.split()],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        timeout=60,
    )
    assert done.stdout.strip() == loaded, done.stderr


@SYSTEMS
def test_a_dossier_is_verified(system: str, tmp_path: Path) -> None:
    folder = dossier_of(tmp_path / "dossier")
    done = _foreign(system, "dossier", "verify", folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("PASS  ")
    (folder / "run-1" / "frames.jsonl").unlink()
    done = _foreign(system, "dossier", "verify", folder)
    assert done.returncode == 2
    assert "run-1/frames.jsonl is missing" in done.stderr


@pytest.mark.parametrize("verb", some_of(sorted(READ & set(SUBCOMMANDS)), 2))
def test_help_is_there(verb: str) -> None:
    done = _foreign("windows", verb, "--help")
    assert done.returncode == 0, done.stderr
    assert f"wireproof {verb}" in done.stdout


@pytest.mark.parametrize("absent", ["import fcntl", "import pwd", "os.O_NOFOLLOW", "os.geteuid"])
def test_the_stub_takes_away_what_it_says(absent: str) -> None:
    """A stub that hides nothing would pass everything."""
    code = f"import os, foreign; foreign.become('windows'); {absent}"
    done = ran([sys.executable, "-c", code], cwd=Path(__file__).parent, timeout=60)
    assert done.returncode == 1
    assert absent.rpartition(" ")[2].rpartition(".")[2] in done.stderr.splitlines()[-1]
