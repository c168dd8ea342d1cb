"""The pages of `wireproof serve` in a real browser: quiet, readable, and without a mouse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from tests.browser.visit import Visit
from tests.served import EVIL, fill, serving

from wireproof.workflow.serve.server import Server

pytestmark = pytest.mark.browser

PAGES = ("", "nodes?nodes=n[001-020]", f"trends?set={quote(EVIL)}", "results", "trends?set=f")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = tmp_path_factory.mktemp("history")
    fill(root)
    with serving(root) as server:
        yield server


def abroad(visit: Visit, server: Server) -> list[str]:
    own = urlsplit(server.address).netloc
    return [url for url in visit.requests if urlsplit(url).netloc != own]


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light"), (2560, "dark")])
def test_pages_fit_and_are_quiet(browser: Any, served: Server, width: int, scheme: str) -> None:
    for name in PAGES:
        with Visit(browser, served.address + name, width=width, scheme=scheme) as visit:
            assert visit.page.evaluate("document.documentElement.scrollWidth") <= width, name
            assert visit.sticking_out() == [], name
            loud = [one for one in visit.complaints if "status of" not in one]  # 404, 503
            assert loud == [], name
            assert visit.dialogs == []
            assert visit.page.locator("img").count() == 0
            assert abroad(visit, served) == []


def test_axe_finds_no_violation(browser: Any, served: Server) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found: list[object] = []
    others = (("compare?a=again&b=last", "light"), ("node?name=n007", "dark"), ("", "dark"))
    for name, scheme in [*((name, "light") for name in PAGES), *others]:
        with Visit(browser, served.address + name, scheme=scheme) as visit:
            found += [
                (name, one["id"], [node["html"][:200] for node in one["nodes"][:3]])
                for one in axe.run(visit.page).response["violations"]
            ]
    assert found == []


def test_the_map_tells_a_node_and_opens_it(browser: Any, served: Server) -> None:
    with Visit(browser, served.address) as visit:
        group = visit.page.locator(".map a").first
        box = group.locator("svg").bounding_box()
        at = visit.page.evaluate(
            "JSON.parse(document.getElementById('map-data').textContent).names[0].indexOf('n007')"
        )
        place = {  # of eight squares in a row
            "x": box["width"] * (at % 8 + 0.5) / 8,
            "y": box["height"] * (at // 8 + 0.5) / 8,
        }
        group.locator("svg").hover(position=place)
        assert visit.page.locator("#told").inner_text() == "n007: fail, never proven"
        group.locator("svg").click(position=place)
        visit.page.wait_for_url("**/node?name=n007")
        assert visit.page.get_by_role("heading", name="n007").is_visible()
        assert visit.complaints == []


def test_the_map_is_used_by_keyboard(browser: Any, served: Server) -> None:
    with Visit(browser, served.address) as visit:
        group = visit.page.locator(".map a").first
        group.focus()
        assert "61 pass, 1 inconclusive, 2 fail" in visit.page.locator("#told").inner_text()
        group.press("Enter")
        visit.page.wait_for_url("**/nodes?group=0")
        assert visit.page.get_by_role("link", name="n007").is_visible()


def test_nodes_are_filtered_by_a_node_set(browser: Any, served: Server) -> None:
    with Visit(browser, f"{served.address}nodes") as visit:
        visit.page.get_by_role("textbox", name="nodes").fill("n[005-008]")
        visit.page.get_by_label("verdict").select_option("fail")
        visit.page.get_by_role("button", name="show").click()
        visit.page.wait_for_url("**verdict=fail**")
        assert visit.page.locator("tbody tr").count() == 1
        assert visit.page.get_by_role("link", name="n007").is_visible()
        visit.page.get_by_role("textbox", name="nodes").fill("n[")
        visit.page.get_by_role("textbox", name="nodes").press("Enter")
        visit.page.get_by_role("alert").wait_for()
        assert visit.complaints == []


def test_two_results_are_chosen_and_compared(browser: Any, served: Server) -> None:
    with Visit(browser, f"{served.address}results?verdict=fail") as visit:
        names = [one.get_attribute("value") for one in visit.page.locator("input[name=a]").all()]
        assert sorted(names)[0] == "again"
        assert len(names) == 2
        for letter, name in zip("AB", names, strict=False):
            visit.page.get_by_label(f"{letter}: {name}").check()
        visit.page.get_by_role("button", name="Compare A and B").click()
        visit.page.wait_for_url("**/compare?**")
        assert visit.page.get_by_role("heading", name="Compare", exact=True).is_visible()


def test_a_run_is_shown_and_leads_back(browser: Any, served: Server) -> None:
    with Visit(browser, f"{served.address}run?id=again") as visit:
        assert visit.complaints == []
        visit.page.get_by_role("link", name="Back to the history").click()
        visit.page.wait_for_url(served.address)


def test_without_scripts_everything_is_still_there(browser: Any, served: Server) -> None:
    with Visit(browser, served.address, scripts=False) as visit:
        assert visit.page.locator(".map svg").first.is_visible()
        visit.page.locator(".map a").first.click()
        visit.page.wait_for_url("**/nodes?group=0")
        assert visit.page.get_by_role("link", name="n007").is_visible()


def test_a_wrong_token_is_one_sentence(browser: Any, served: Server) -> None:
    with Visit(browser, served.address.replace(served.token, "x")) as visit:
        said = visit.page.inner_text("main")
        assert said.startswith("This address lacks the right token")
        assert said.count(".") == 1
