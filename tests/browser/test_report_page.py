"""The report page in a real browser: it draws, it fits, it is quiet, and it asks nobody for
anything.
"""

import csv
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.browser.visit import Visit
from tests.conftest import some_of
from tests.rendered import page_of, write
from tests.report.test_document import document_with
from tests.report.test_worlds import HOSTILE, four_nodes, hostile, off_wire, rejudged

from wireproof.measure.document import run_document
from wireproof.report.document import Document, Findings, Head, Item, Row, Table
from wireproof.report.html.document import document_page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = page_of([four_nodes(), off_wire()], "synthetic page")
    return write(tmp_path_factory.mktemp("report") / "report.html", page)


def test_the_page_is_quiet_and_asks_nobody(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file) as visit:
        assert visit.page.locator("svg.figure[role=img]:visible").count() == 7
        assert visit.complaints == []
        assert visit.outside() == []
        assert len([url for url in visit.requests if url.startswith("file:")]) == 1


@pytest.mark.parametrize("width", [360, 768, 1280, 2560])
def test_nothing_sticks_out_at_any_width(browser: Any, page_file: Path, width: int) -> None:
    with Visit(browser, page_file, width=width) as visit:
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        assert visit.sticking_out() == []


def test_a_phone_gets_drawings_with_letters_that_can_be_read(browser: Any, page_file: Path) -> None:
    heights = {}
    for width in (360, 1280):
        with Visit(browser, page_file, width=width) as visit:
            tick = visit.page.locator("svg.figure[role=img]:visible text.tick").first
            heights[width] = tick.bounding_box()["height"]
    assert heights[360] > 0.8 * heights[1280]


@pytest.mark.parametrize("width", [400, 1300])
def test_the_page_of_any_document_is_as_wide_as_the_window(
    browser: Any, tmp_path: Path, width: int
) -> None:
    """A code without spaces, three columns, and a picture wider than its card."""
    name = "n" * 300
    heads = (Head("node", 9), Head("verdict", 8), Head("proven", 7))
    table = Table(heads, (Row((name[:60], "inconclusive", "2026-11-29 10:00:00")),))
    items = Findings((Item("fail", name, name, word=name[:12]),))
    made = Document("any", name, (items, table, document_with(name)), "fail")
    many = run_document([four_nodes(64)], "64")
    for document in (msgspec.structs.replace(made, parts=(items, table)), many):
        file = write(tmp_path / "any.html", document_page(document))
        with Visit(browser, file, width=width) as visit:
            assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
            assert visit.sticking_out() == []
            assert visit.page.locator("table.stacked").count() >= 1


def test_long_tables_can_repeat_their_heads_on_paper(browser: Any, tmp_path: Path) -> None:
    """Chromium repeats no head with a rounded height, or with the box of a button in it."""
    rows = tuple(Row((f"n{number}", "1")) for number in range(150))
    table = Table((Head("zebra", 9), Head("one", 8)), rows)
    file = write(tmp_path / "long.html", document_page(Document("t", "", (table,))))
    with Visit(browser, file) as visit:
        visit.page.emulate_media(media="print")
        height = visit.page.evaluate(
            "document.querySelector('thead').getBoundingClientRect().height"
        )
        assert 64 * height == int(64 * height)
        button = "getComputedStyle(document.querySelector('th button')).display"
        assert visit.page.evaluate(button) == "contents"


UNFOLD = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"


@pytest.mark.parametrize("width", [400, 800, 1300])
def test_no_table_is_wider_than_its_card(browser: Any, page_file: Path, width: int) -> None:
    wider = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.innerText)"
    with Visit(browser, page_file, width=width) as visit:
        visit.page.evaluate(UNFOLD)
        assert visit.page.eval_on_selector_all(".scroll", wider) == []
        if width == 400:
            assert visit.page.locator("td[data-head='proof']:visible").count() > 0


@pytest.mark.parametrize(("width", "height"), [(688, 1017), (710, 950)], ids=["A4", "letter"])
def test_nothing_is_cut_off_on_paper(
    browser: Any, page_file: Path, width: int, height: int
) -> None:
    """Pixels of the page less its margins of 12 mm, with everything unfolded."""
    with Visit(browser, page_file, width=width) as visit:
        visit.page.emulate_media(media="print")
        visit.page.evaluate(UNFOLD)
        assert visit.sticking_out() == []
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        assert visit.page.locator(".tools:visible").count() == 0


@pytest.mark.parametrize("others", [(), (off_wire, off_wire)], ids=["one run", "three runs"])
def test_four_nodes_print_on_four_pages_and_unfolded_on_more(
    browser: Any, tmp_path: Path, others: tuple[Any, ...]
) -> None:
    runs = [four_nodes(), *(made() for made in others)]
    file = write(tmp_path / "four.html", page_of(runs, "four nodes"))
    with Visit(browser, file, scheme="dark") as visit:
        for paper in ("A4", "Letter"):
            brief = visit.page.pdf(format=paper, prefer_css_page_size=True)
            assert brief.startswith(b"%PDF")
            assert 1 < brief.count(b"/Type /Page\n") <= 4
        visit.page.get_by_role("link", name="unfold all").click()
        from playwright.sync_api import expect

        expect(visit.page.locator("details:not([open])")).to_have_count(0)  # allowed by its CSP
        whole = visit.page.pdf(format="A4", prefer_css_page_size=True)
        assert whole.count(b"/Type /Page\n") > brief.count(b"/Type /Page\n")


def test_dark_readers_get_a_dark_page(browser: Any, page_file: Path) -> None:
    body = "getComputedStyle(document.body).backgroundColor"
    tick = "getComputedStyle(document.querySelector('svg.figure text.tick')).fill"
    with Visit(browser, page_file) as light, Visit(browser, page_file, scheme="dark") as dark:
        for colour in (body, tick):
            assert light.page.evaluate(colour) != dark.page.evaluate(colour)


def test_without_scripts_everything_is_still_there(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file, scripts=False) as visit:
        shown = visit.page.inner_text("body")
        assert "n3 sends at 297 Mb/s" in shown
        assert visit.page.locator("table[data-file=run2-proof] tr.bad").count() == 4
        assert visit.page.locator("table.heat td.bad").count() == 3
        assert visit.page.locator("svg.figure[role=img]:visible").count() == 7


def test_hostile_names_stay_words(browser: Any, tmp_path: Path) -> None:
    file = write(tmp_path / "hostile.html", page_of([hostile()], "<img src=x onerror=alert(1)>"))
    with Visit(browser, file) as visit:
        dots = visit.page.locator("svg.figure:visible").first
        dots.focus()
        dots.press("ArrowRight")
        assert "alert(1)" in visit.page.locator("figure.drawing output").first.inner_text()
        with visit.page.expect_download() as saved:
            visit.page.locator("table.data[data-file=run1-table1]").evaluate(
                "one => one.closest('details').querySelector('.tools button').click()"
            )
        saved_text = Path(saved.value.path()).read_text(encoding="utf-8")
        assert "</script><script>" in saved_text, "a label, as words"
        assert visit.dialogs == []
        assert visit.complaints == []
        assert visit.page.locator("img").count() == 0
        assert visit.outside() == []


def test_figures_have_words_and_tables_have_captions(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file) as visit:
        labels = visit.page.eval_on_selector_all(
            "[role=img]", "nodes => nodes.map(n => n.getAttribute('aria-label'))"
        )
        assert len(set(labels)) == 7
        units = ("µs", "MB/s", "medians")
        assert all(any(unit in text for unit in units) for text in labels)
        assert visit.page.evaluate("[...document.querySelectorAll('table')].every(t => t.caption)")
        assert visit.page.evaluate(
            "[...document.querySelectorAll('main [id]')].length"
        ) == visit.page.evaluate(
            "new Set([...document.querySelectorAll('main [id]')].map(n => n.id)).size"
        )


def _column(table: Any, number: int) -> list[str]:
    found: list[str] = table.evaluate(
        "(one, i) => [...one.tBodies[0].rows].filter(row => !row.hidden)"
        ".map(row => row.cells[i].textContent.trim())",
        number,
    )
    return found


def test_a_table_is_sorted_by_its_numbers(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file) as visit:
        table = visit.page.locator("table.data[data-file=run1-table2]")
        sizes = table.locator("th[data-name=message_bytes] button")
        rates = table.locator("th[data-name=goodput_MB_per_s] button")
        rates.click()
        shown = [float(text) for text in _column(table, 2)]
        assert shown == sorted(shown)
        sizes.focus()
        sizes.press("Enter")
        sizes.press("Enter")
        head = table.locator("th[data-name=message_bytes]")
        assert head.get_attribute("aria-sort") == "descending"
        assert _column(table, 0)[0] == "4 MiB"
        assert _column(table, 0)[-1] == "1 B"


def test_rows_are_filtered_by_words(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file) as visit:
        search = visit.page.get_by_label("Filter: Stream, one way")
        table = visit.page.locator("table.data[data-file=run1-table2]")
        search.fill("n3 → FAIL")
        assert len(_column(table, 0)) == 3
        assert (
            "3 of 21 rows"
            in visit.page.locator(
                "details:has(table[data-file=run1-table2]) .tools output"
            ).inner_text()
        )
        search.fill("")
        assert len(_column(table, 0)) == 21


def test_a_table_is_saved_as_csv_with_its_raw_numbers(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file) as visit:
        with visit.page.expect_download() as saved:
            visit.page.get_by_label("Save as CSV: Stream, one way").first.click()
        assert saved.value.suggested_filename == "run1-table2.csv"
        with Path(saved.value.path()).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 21
        biggest = max(rows, key=lambda row: int(row["message_bytes"]))
        assert biggest["message_bytes"] == str(4 << 20)
        assert 115 < float(biggest["goodput_MB_per_s"]) < 125
        assert biggest["from_to"] == "n1 → n2"


def test_a_spreadsheet_runs_nothing(browser: Any, tmp_path: Path) -> None:
    section = hostile()
    pairs = [msgspec.structs.replace(one, label="=1+1") for one in section.judgement.pairs]
    page = page_of([rejudged(section, pairs=pairs)], "formula")
    file = write(tmp_path / "formula.html", page)
    with Visit(browser, file) as visit:
        with visit.page.expect_download() as saved:
            visit.page.locator("details:has(table[data-file=run1-table1]) .tools button").click()
        with Path(saved.value.path()).open(encoding="utf-8", newline="") as read:
            rows = list(csv.DictReader(read))
        assert {row["label"] for row in rows} == {"'=1+1"}
        assert HOSTILE[:20] in visit.page.inner_text("body")


def test_the_arrow_keys_walk_over_a_curve(browser: Any, page_file: Path) -> None:
    with Visit(browser, page_file) as visit:
        drawing = visit.page.locator("svg.figure[role=img]:visible").first
        said = visit.page.locator("figure.drawing output").first
        drawing.focus()
        drawing.press("ArrowRight")
        assert "n1 → n2: 0 B" in said.inner_text()
        drawing.press("ArrowRight")
        assert "n1 → n2: 1 B" in said.inner_text()
        assert said.get_attribute("aria-live") == "polite"


@pytest.mark.parametrize("scheme", some_of(["light", "dark"], always=1))
def test_axe_finds_no_violation(browser: Any, page_file: Path, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with Visit(browser, page_file, scheme=scheme) as visit:
        visit.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        found = axe.run(visit.page).response["violations"]
        assert [
            (one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found
        ] == []
