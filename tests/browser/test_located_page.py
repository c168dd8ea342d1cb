"""The strip, the culprits, the leaves and the groups in a real browser: they fit any width and need
no script.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.browser.visit import Visit
from tests.unit.test_report_groups import group, point
from tests.unit.test_report_groups import section as grouped
from tests.unit.test_report_located import located, section
from tests.unit.test_report_located_page import fabric, many

from wireproof.report.html.page import render, write

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    long = msgspec.structs.replace(
        located(), cleared=[f"node-with-a-long-name-{i}-x" for i in range(0, 90, 3)]
    )
    leaves = replace(many(300), fabric=fabric(300))
    page = render([section(long), leaves, grouped(point(1, group()))], "who is slow")
    return write(tmp_path_factory.mktemp("located") / "report.html", page)


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out(browser: Any, page_file: Path, width: int) -> None:
    with Visit(browser, page_file, width=width, scripts=False) as visit:
        seen = visit.page.locator("body").bounding_box()
        assert seen["width"] <= width
        for one in visit.page.locator(".strip, .leaves, .culprits").all():
            box = one.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        assert visit.page.locator(".marks b").first.is_visible()
        assert visit.page.locator(".leaves svg").first.is_visible()


def test_a_culprits_bar_is_lower_and_under_its_mark(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file, scripts=False) as visit:
        bar = visit.page.locator(".lane path.bad").first.bounding_box()
        good = visit.page.locator(".lane path.good").first.bounding_box()
        mark = visit.page.locator(".marks b").first.bounding_box()
        assert bar["height"] < 0.6 * good["height"]
        assert bar["x"] - 12 <= mark["x"] + mark["width"] / 2 <= bar["x"] + bar["width"] + 12
