"""The page as text: self-contained, escaped, complete, written whole or not at all."""

import base64
import errno
import hashlib
import json
import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from tests.rendered import page_of
from tests.report.test_worlds import HOSTILE, empty, four_nodes, hostile, off_wire

from wireproof.measure.export import exported
from wireproof.model.claim import Limits
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.run import Missing
from wireproof.report.document import Document, Text
from wireproof.report.figure.drawing import shade
from wireproof.report.html.document import document_page
from wireproof.report.judged_run import JudgedRun
from wireproof.report.reporter import LoggingReporter


class Reader(HTMLParser):
    """Elements with their attributes, scripts with their text, and the words that a person sees."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif self._inside != "style":
            self.words.append(data)

    @property
    def shown(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def demo() -> str:
    return page_of([four_nodes(), off_wire()], "synthetic page")


def test_the_page_is_one_file_of_bearable_size(demo: str) -> None:
    assert len(demo.encode()) < 400_000
    assert len(page_of([four_nodes(27)], "many").encode()) < 1_500_000


def test_nothing_outside_is_referenced(demo: str) -> None:
    page = Reader(demo)
    for tag, attributes in page.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        for name in ("src", "href", "action", "srcset", "data", "poster"):
            value = attributes.get(name)
            assert value is None or value.startswith("#"), (tag, name, value)
    without_scripts = re.sub(r"<script>.*?</script>", "", demo, flags=re.S)
    assert "http" not in re.sub(r'http-equiv="Content', "", without_scripts)
    assert "url(" not in without_scripts
    assert "@import" not in without_scripts


def test_the_policy_forbids_connections_and_lists_every_script(demo: str) -> None:
    page = Reader(demo)
    policy = (
        next(
            a["content"]
            for tag, a in page.elements
            if a.get("http-equiv") == "Content-Security-Policy"
        )
        or ""
    )
    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "script-src 'unsafe-inline'" not in policy
    running = [text for attributes, text in page.scripts if attributes.get("type") is None]
    assert len(running) == 1
    for text in running:
        assert (
            f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
            in policy
        )


def test_a_page_without_figures_and_tables_carries_no_script_at_all() -> None:
    page = Reader(document_page(Document("nothing", "Nothing was measured.", (Text("why"),))))
    assert page.scripts == []
    assert "Nothing was measured" in page.shown
    assert "Nothing was measured" in Reader(page_of([empty()], "nothing")).shown


def test_the_five_questions_are_answered_for_every_run(demo: str) -> None:
    shown = Reader(demo).shown
    for question in (
        "Is it normal?",
        "Did it use the wire?",
        "Which node or link?",
        "Why?",
        "How to undo?",
    ):
        assert shown.count(question) == 2
    assert "This run changed nothing" in shown
    assert "n3, sending" in shown
    assert re.search(r"0 B of \d+ MB seen", shown)


def test_bad_directions_are_outlined_and_worded(demo: str) -> None:
    cells = [a for tag, a in Reader(demo).elements if tag == "td" and a.get("class") == "bad"]
    assert sorted(str(cell["title"])[:7] for cell in cells) == ["n3 → n1", "n3 → n2", "n3 → n4"]
    assert all("fail" in str(cell["title"]) for cell in cells)


def test_every_table_has_a_caption_and_every_plot_has_words(demo: str) -> None:
    page = Reader(demo)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("table") == tags.count("caption")
    plots = [a["aria-label"] or "" for _, a in page.elements if a.get("role") == "img"]
    assert len(set(plots)) == 7
    assert all(plots.count(one) == 2 for one in plots), "for wide screens and for narrow ones"
    assert all(len(one) > 40 for one in plots)


def test_the_numbers_are_embedded_for_machines(demo: str) -> None:
    blocks = {
        a["id"]: json.loads(text)
        for a, text in Reader(demo).scripts
        if a.get("type") == "application/json"
    }
    assert blocks["run1-data"]["document"]["schema"] == "wireproof.result"
    assert len(blocks["run1-data"]["document"]["results"]) == len(four_nodes().judgement.pairs)
    assert blocks["run2-data"]["document"]["proof"] == "off-wire"


def test_what_is_too_long_to_embed_is_named() -> None:
    page = Reader(page_of([four_nodes(27)], "many"))
    block = json.loads(
        next(text for attributes, text in page.scripts if attributes.get("id") == "run1-data")
    )
    assert block["left_out"] == ["samples"]
    assert "left out: samples" in page.shown


def test_hostile_text_stays_text() -> None:
    page = Reader(page_of([hostile()], HOSTILE))
    assert not [tag for tag, _ in page.elements if tag == "img"]
    assert not any(
        "alert" in text for attributes, text in page.scripts if attributes.get("type") is None
    )
    assert "alert(1)" in page.shown
    assert "{{7*7}}" in page.shown
    assert "\x1b" not in page.shown
    assert "\u202e" not in page.shown
    block = json.loads(
        next(text for attributes, text in page.scripts if attributes.get("id") == "run1-data")
    )
    assert block["document"]["findings"][0]["code"] == HOSTILE


def test_runs_without_limits_or_claim_are_shown_without_them() -> None:
    section = four_nodes(2, slow=None)
    claim = msgspec.structs.replace(section.run.claim, link=None, wire=False)
    bare = replace(
        section,
        limits=None,
        run=msgspec.structs.replace(section.run, claim=claim, open=None, close=None),
    )
    shown = Reader(page_of([bare], "bare")).shown
    assert "this proves nothing about a wire" in shown
    no_numbers = replace(section, limits=Limits(attainable_bytes_per_s=None, floor_ns=None))
    assert "Bandwidth" in Reader(page_of([no_numbers], "no limits")).shown


def test_missing_points_and_errors_are_on_the_page() -> None:
    section = four_nodes(2, slow=None)
    run = msgspec.structs.replace(
        section.run, missing={7: Missing("rank-lost", "rank 1 was killed by signal 9")}
    )
    shown = Reader(page_of([replace(section, run=run)], "torn")).shown
    assert "point 7 is missing: rank 1 was killed by signal 9" in shown
    assert "1 planned points are missing" in shown


def test_a_report_needs_a_run() -> None:
    with pytest.raises(ValueError, match="at least one run"):
        page_of([], "none")


@pytest.mark.parametrize("share", [-1.0, 0.0, 0.31, 0.5, 0.88, 0.95, 1.0, 7.0])
def test_cell_text_can_be_read_on_its_background(share: float) -> None:
    def luminance(rgb: list[int]) -> float:
        parts = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    fill, ink = shade(share)
    under = luminance([int(number) for number in re.findall(r"\d+", fill)])
    over = luminance([int(ink[i : i + 2], 16) for i in (1, 3, 5)])
    assert (max(under, over) + 0.05) / (min(under, over) + 0.05) >= 4.5


def test_write_is_whole_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "report.html"
    exported("html", [empty()], "first", file, LoggingReporter())
    first = file.read_text()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CouldNotMeasure, match="No space left"):
        exported("html", [empty()], "second", file, LoggingReporter())
    assert file.read_text() == first
    assert os.listdir(tmp_path) == ["report.html"]


def test_sections_share_one_page_in_order(demo: str) -> None:
    shown = Reader(demo).shown
    assert shown.index("Screen of 4 nodes") < shown.index("A lie that was caught")
    ids = [str(a["id"]) for _, a in Reader(demo).elements if "id" in a]
    assert len(ids) == len(set(ids))


def test_many_runs_are_possible() -> None:
    sections: list[JudgedRun] = [replace(four_nodes(2), title=f"run {i}") for i in range(3)]
    assert Reader(page_of(sections, "three")).shown.count("Is it normal?") == 3
