"""The report page in a real browser: it draws, it fits, it is quiet, and it asks nobody for
anything.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.test_report_worlds import four_nodes, hostile, off_wire

from wireproof.report.html.page import render, write

pytestmark = pytest.mark.browser

CHROMIUM_FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
CANVASES = """() => { let count = 0;
  const walk = (node) => { for (const one of node.querySelectorAll("*")) {
    if (one.tagName === "CANVAS" && one.width > 100 && one.height > 100) count += 1;
    if (one.shadowRoot) walk(one.shadowRoot); } };
  walk(document); return count; }"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as driver:
        running = driver.chromium.launch(
            executable_path=program, headless=True, chromium_sandbox=False, args=CHROMIUM_FLAGS
        )
        yield running
        running.close()


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = render([four_nodes(), off_wire()], "synthetic page")
    return write(tmp_path_factory.mktemp("report") / "report.html", page)


class Visit:
    """A page that is open, with every request and every complaint that it made."""

    def __init__(
        self,
        browser: Any,
        file: Path,
        width: int = 1280,
        scheme: str = "light",
        scripts: bool = True,
    ) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.dialogs: list[str] = []
        self.context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            java_script_enabled=scripts,
            offline=True,
        )
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "console",
            lambda message: (
                self.complaints.append(message.text)
                if message.type in ("error", "warning")
                else None
            ),
        )
        self.page.on(
            "dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss())
        )
        self.page.goto(file.as_uri())
        if scripts:
            self.page.wait_for_function(
                "document.documentElement.dataset.plots === 'drawn'", timeout=30_000
            )

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


def test_the_page_draws_its_plots_without_network_and_without_complaint(
    browser: Any, page_file: Path
) -> None:
    with Visit(browser, page_file) as visit:
        visit.page.wait_for_timeout(300)
        assert visit.page.evaluate(CANVASES) >= 4
        assert visit.complaints == []
        outside = [url for url in visit.requests if not url.startswith(("file:", "data:"))]
        assert outside == []
        assert len([url for url in visit.requests if url.startswith("file:")]) == 1


@pytest.mark.parametrize("width", [360, 390, 768, 1280])
def test_nothing_sticks_out_at_any_width(browser: Any, page_file: Path, width: int) -> None:
    with Visit(browser, page_file, width=width) as visit:
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_readers_get_a_dark_page_with_light_axes(browser: Any, page_file: Path) -> None:
    colour = "Bokeh.documents[0].roots()[0].below[0].axis_label_text_color"
    with Visit(browser, page_file) as light, Visit(browser, page_file, scheme="dark") as dark:
        body = "getComputedStyle(document.body).backgroundColor"
        assert light.page.evaluate(body) != dark.page.evaluate(body)
        muted = "getComputedStyle(document.documentElement).getPropertyValue('--muted').trim()"
        assert light.page.evaluate(muted) != dark.page.evaluate(muted)
        for visit in (light, dark):
            assert (
                visit.page.evaluate(f"JSON.stringify({colour})").find(visit.page.evaluate(muted))
                >= 0
            )


def test_without_scripts_the_proof_the_pairs_and_the_tables_are_still_there(
    browser: Any, page_file: Path
) -> None:
    with Visit(browser, page_file, scripts=False) as visit:
        shown = visit.page.inner_text("body")
        assert "n3 sends at 297 Mb/s" in shown
        assert "The curves need scripts" in shown
        assert visit.page.locator("table.wire .silent").count() == 4
        assert visit.page.locator("table.heat td.bad").count() == 3


def test_hostile_names_stay_words(browser: Any, tmp_path: Path) -> None:
    file = write(tmp_path / "hostile.html", render([hostile()], "<img src=x onerror=alert(1)>"))
    with Visit(browser, file) as visit:
        visit.page.wait_for_timeout(200)
        assert visit.dialogs == []
        assert visit.complaints == []
        assert visit.page.locator("img").count() == 0
        assert len(visit.requests) == 1


def test_plots_have_words_and_tables_have_captions(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file) as visit:
        labels = visit.page.eval_on_selector_all(
            "[role=img]", "nodes => nodes.map(n => n.getAttribute('aria-label'))"
        )
        assert len(labels) == 4
        assert all("message size" in text and ("µs" in text or "MB/s" in text) for text in labels)
        assert visit.page.evaluate("[...document.querySelectorAll('table')].every(t => t.caption)")
        assert visit.page.evaluate(
            "[...document.querySelectorAll('main [id]')].length"
        ) == visit.page.evaluate(
            "new Set([...document.querySelectorAll('main [id]')].map(n => n.id)).size"
        )
