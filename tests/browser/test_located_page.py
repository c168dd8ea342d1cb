"""The strip, the culprits, the leaves and the groups in a real browser: they fit any width and need
no script.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.browser.visit import Visit
from tests.locate.test_document import located, section
from tests.locate.test_page import fabric, many
from tests.rendered import page_of, write
from tests.report.test_groups import group, point
from tests.report.test_groups import section as grouped

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    long = msgspec.structs.replace(
        located(), cleared=[f"node-with-a-long-name-{i}-x" for i in range(0, 90, 3)]
    )
    leaves = replace(many(300), fabric=fabric(300))
    page = page_of([section(long), leaves, grouped(point(1, group()))], "who is slow")
    return write(tmp_path_factory.mktemp("located") / "report.html", page)


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out(browser: Any, page_file: Path, width: int) -> None:
    with Visit(browser, page_file, width=width, scripts=False) as visit:
        seen = visit.page.locator("body").bounding_box()
        assert seen["width"] <= width
        for one in visit.page.locator(".strip, .leaves").all():
            box = one.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        assert visit.page.locator(".marks b").first.is_visible()
        assert visit.page.locator(".leaves svg").first.is_visible()


def test_every_pair_can_be_read_by_keyboard_and_pointer(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file) as visit:
        canvas = visit.page.locator("figure.pairs canvas")
        said = visit.page.locator("figure.pairs output")
        canvas.focus()
        canvas.press("n")
        assert "n78 → n79: 36 MB/s ±0.6 %, 30 %, on-wire, pass" in said.inner_text()
        for _ in range(6):
            canvas.press("+")
        canvas.press("ArrowRight")
        assert "n78 → n80" in said.inner_text()
        before = said.inner_text()
        box = canvas.bounding_box()
        canvas.hover(position={"x": box["width"] * 0.35, "y": box["height"] * 0.2})
        assert said.inner_text() != before
        assert visit.complaints == []


def test_from_afar_the_slowest_pair_is_not_averaged_away(browser: Any, page_file: Path) -> None:
    """300 hosts on 600 points; the row of n78 is orange in the whole picture."""
    with Visit(browser, page_file) as visit:
        colours = visit.page.evaluate(
            """() => { const one = document.querySelector("figure.pairs canvas");
            const data = one.getContext("2d").getImageData(0, 154, 600, 4).data; const found = {};
            for (let i = 0; i < data.length; i += 4)
              if (data[i + 3]) found[[data[i], data[i + 1], data[i + 2]]] = 1;
            return Object.keys(found); }"""
        )
        assert any(int(one.split(",")[0]) > 150 > int(one.split(",")[1]) for one in colours)


def test_without_scripts_the_map_of_pairs_is_not_there(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file, scripts=False) as visit:
        assert not visit.page.locator("figure.pairs").is_visible()


def test_axe_finds_no_violation(browser: Any, page_file: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with Visit(browser, page_file) as visit:
        found = axe.run(visit.page).response["violations"]
        assert [
            (one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found
        ] == []


def test_a_culprits_bar_is_lower_and_under_its_mark(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file, scripts=False) as visit:
        bar = visit.page.locator(".lane path.bad").first.bounding_box()
        good = visit.page.locator(".lane path.good").first.bounding_box()
        mark = visit.page.locator(".marks b").first.bounding_box()
        assert bar["height"] < 0.6 * good["height"]
        assert bar["x"] - 12 <= mark["x"] + mark["width"] / 2 <= bar["x"] + bar["width"] + 12
