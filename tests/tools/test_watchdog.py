"""A test that does not end is ended and named; one whose browser hangs is repeated once."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HANGS = """
import time
import tests.conftest

tests.conftest.AFTER_ITS_TIMEOUT_S, tests.conftest.SPARE_S = -59.5, 0


def test_hangs():
    time.sleep(50)
"""


def _pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").write_text("[pytest]\ntimeout = 60\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def test_a_test_that_hangs_is_ended_and_named(tmp_path: Path) -> None:
    """The timeout of a test is 60 s here, and the watchdog comes half a second after its begin."""
    (tmp_path / "test_made.py").write_text(HANGS)
    done = _pytest(tmp_path, "-p", "tests.conftest")
    assert done.returncode == 1
    assert "Timeout (0:00:00.500000)!" in done.stderr
    assert "in test_hangs" in done.stderr


BROWSER = """
import time
import pytest
import tests.browser.conftest as conftest

conftest.ANSWERS_WITHIN_S = 0.1
ended = []
conftest._end_browsers = lambda: ended.append(1)


@pytest.fixture
def browser():
    return None


def _waits(times):
    while len(ended) < times:
        time.sleep(0.01)
    raise OSError("the browser is gone")


def test_once(browser):
    if not ended:
        _waits(1)


def test_twice(browser):
    _waits(len(ended) + 1)


def test_fails(browser):
    raise ValueError("of the page")
"""


def test_a_test_whose_browser_hangs_is_repeated_once(tmp_path: Path) -> None:
    (tmp_path / "test_made.py").write_text(BROWSER)
    told = _pytest(tmp_path, "-p", "tests.browser.conftest").stdout
    assert "2 failed, 1 passed" in told
    assert "twice the browser gave no answer within 0 s" in told
    assert "ValueError: of the page" in told
