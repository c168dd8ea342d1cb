"""The pages of a history in a real browser, from files: quiet, readable, and without a mouse."""

from pathlib import Path
from typing import Any

import pytest
from tests.browser.visit import Visit
from tests.made_history import EVIL, fill, written

from wireproof.archive.board_document import file_of

pytestmark = pytest.mark.browser

PAGES = ("index.html", "nodes.html", file_of("set", EVIL), "results.html", "set-f.html")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("history")
    fill(root)
    return written(root, runs=3)


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light"), (2560, "dark")])
def test_pages_fit_and_are_quiet(browser: Any, pages: Path, width: int, scheme: str) -> None:
    for name in PAGES:
        with Visit(browser, pages / name, width=width, scheme=scheme) as visit:
            assert visit.page.evaluate("document.documentElement.scrollWidth") <= width, name
            assert visit.sticking_out() == [], name
            assert visit.complaints == [], name
            assert visit.dialogs == []
            border = "getComputedStyle(document.querySelector('.card')).borderTopWidth"
            assert visit.page.evaluate(border) != "0px", "the style was not loaded"
            assert visit.page.locator("img").count() == 0
            assert [url for url in visit.requests if not url.startswith("file:")] == []


def test_axe_finds_no_violation(browser: Any, pages: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found: list[object] = []
    (compared,) = pages.glob("compare-undated*")
    others = ((compared.name, "light"), ("node-n007.html", "dark"), ("index.html", "dark"))
    for name, scheme in [*((name, "light") for name in PAGES), *others]:
        with Visit(browser, pages / name, scheme=scheme) as visit:
            found += [
                (name, one["id"], [node["html"][:200] for node in one["nodes"][:3]])
                for one in axe.run(visit.page).response["violations"]
            ]
    assert found == []


def test_the_map_tells_a_node_and_opens_it(browser: Any, pages: Path) -> None:
    with Visit(browser, pages / "index.html") as visit:
        group = visit.page.locator(".map a").first
        box = group.locator("svg").bounding_box()
        data = "JSON.parse(document.getElementById('map-data').textContent)"
        for name, file in (("n007", "node-n007.html"), (None, file_of("node", EVIL))):
            at = visit.page.evaluate(
                f"{data}.names[0].findIndex(one => one === {name!r})"
                if name
                else f"Number(Object.keys({data}.odd)[0].split(',')[1])"
            )
            place = {  # of eight squares in a row
                "x": box["width"] * (at % 8 + 0.5) / 8,
                "y": box["height"] * (at // 8 + 0.5) / 8,
            }
            group.locator("svg").hover(position=place)
            if name:
                told = visit.page.locator("#told").inner_text()
                assert told == "n007: fail, never proven"
            group.locator("svg").click(position=place)
            visit.page.wait_for_url(f"**/{file}")
            visit.page.go_back()
        assert visit.complaints == []


def test_the_map_is_used_by_keyboard(browser: Any, pages: Path) -> None:
    with Visit(browser, pages / "index.html") as visit:
        group = visit.page.locator(".map a").first
        group.focus()
        assert "61 pass, 1 inconclusive, 2 fail" in visit.page.locator("#told").inner_text()
        group.press("Enter")
        visit.page.wait_for_url("**/group-0.html")
        assert visit.page.get_by_role("link", name="n007").is_visible()


def test_a_run_is_shown_and_leads_back(browser: Any, pages: Path) -> None:
    with Visit(browser, pages / "run-again.html") as visit:
        assert visit.complaints == []
        visit.page.get_by_role("link", name="Back to the history").click()
        visit.page.wait_for_url("**/index.html")


def test_without_scripts_everything_is_still_there(browser: Any, pages: Path) -> None:
    with Visit(browser, pages / "index.html", scripts=False) as visit:
        assert visit.page.locator(".map svg").first.is_visible()
        visit.page.locator(".map a").first.click()
        visit.page.wait_for_url("**/group-0.html")
        assert visit.page.get_by_role("link", name="n007").is_visible()
