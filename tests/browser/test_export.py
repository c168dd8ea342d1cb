"""PDF and PNG as Chromium draws them, and figures of their own as a browser shows them."""

import struct
from pathlib import Path
from typing import Any

import pytest
from tests.browser.visit import Visit
from tests.report.test_worlds import four_nodes, hostile

from wireproof.measure.export import exported
from wireproof.report.reporter import LoggingReporter

pytestmark = pytest.mark.browser


def test_a_report_becomes_a_pdf(tmp_path: Path) -> None:
    target = tmp_path / "report.pdf"
    exported("pdf", [four_nodes()], "printed", target, LoggingReporter())
    assert target.read_bytes().startswith(b"%PDF")
    assert [one.name for one in tmp_path.iterdir()] == ["report.pdf"]


def test_figures_become_pictures(tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    exported("png", [hostile()], "drawn", folder, LoggingReporter())
    names = sorted(one.name for one in folder.iterdir())
    assert names == [f"run1-{one}.png" for one in ("bandwidth", "latency", "pairs2", "samples")]
    data = (folder / names[0]).read_bytes()
    assert data.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", data[16:24])
    assert width == 2 * 760
    assert 900 < height < 1300, "as high as the figure"


def test_a_figure_of_its_own_is_drawn_and_runs_nothing(browser: Any, tmp_path: Path) -> None:
    exported("svg", [hostile()], "drawn", tmp_path, LoggingReporter())
    with Visit(browser, tmp_path / "run1-latency.svg", scripts=False) as visit:
        assert visit.page.locator("path.dot").first.is_visible()
        assert visit.outside() == []
        assert visit.dialogs == []
