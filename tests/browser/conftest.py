"""One browser for all tests of the pages: its start takes longer than a test."""

import os
import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browser.visit import FLAGS

ANSWERS_WITHIN_S = 60.0
"""A browser that needs longer hangs. Playwright waits for it without a limit, and when a signal
interrupts that wait it cannot close the browser any more: the session would never end."""


class Browser:
    """Chromium, started at the first page and again after it was ended."""

    def __init__(self, driver: Any) -> None:
        self._driver, self._running = driver, None

    def new_context(self, **options: Any) -> Any:
        if self._running is None or not self._running.is_connected():
            self._running = self._driver.chromium.launch(
                executable_path=shutil.which("chromium") or shutil.which("chromium-browser"),
                headless=True,
                chromium_sandbox=False,
                args=FLAGS,
            )
        return self._running.new_context(**options)

    def close(self) -> None:
        if self._running is not None:
            self._running.close()


def _descendants(process: int) -> Iterator[int]:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it ended in the meantime
            continue
        if parent == process:
            child = int(stat.parent.name)
            yield from _descendants(child)
            yield child


def _end_browsers() -> None:
    for process in list(_descendants(os.getpid())):
        try:
            if Path(f"/proc/{process}/comm").read_text().startswith("chrom"):
                os.kill(process, signal.SIGKILL)
        except OSError:
            continue


def _answers(pyfuncitem: pytest.Function) -> bool:
    """Run the test; False if the browser had to be ended."""
    ended = threading.Event()
    timer = threading.Timer(ANSWERS_WITHIN_S, lambda: (ended.set(), _end_browsers()))
    timer.start()
    names = pyfuncitem._fixtureinfo.argnames
    try:
        pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    except Exception:
        if not ended.is_set():
            raise
    finally:
        timer.cancel()
    return not ended.is_set()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Repeat a test once if the browser hangs: the pages are what is tested."""
    if "browser" not in pyfuncitem.funcargs:
        return None
    if not _answers(pyfuncitem) and not _answers(pyfuncitem):
        pytest.fail(f"twice the browser gave no answer within {ANSWERS_WITHIN_S:.0f} s")
    return True


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = Browser(driver)
        yield running
        running.close()
