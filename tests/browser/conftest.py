"""One browser for all tests of the pages: its start takes longer than a test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from tests.browser.visit import FLAGS


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as driver:
        running = driver.chromium.launch(
            executable_path=program, headless=True, chromium_sandbox=False, args=FLAGS
        )
        yield running
        running.close()
