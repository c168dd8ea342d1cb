"""Every renderer of a document shows every part, lets nothing hostile through, and drops nothing
that has no picture.
"""

import html.parser
import re

import pytest

from wireproof.report.document import (
    Bar,
    Document,
    Facts,
    Findings,
    Head,
    Item,
    Raw,
    Row,
    Section,
    Span,
    Spark,
    Step,
    Steps,
    Table,
    Text,
)
from wireproof.report.html.document import document_page
from wireproof.report.ink import Look
from wireproof.report.markdown import document_markdown
from wireproof.report.text import document_text

HOSTILE = "</script><img src=x onerror=alert(1)>\x1b[31m\u202e|`**"
WORDS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india")


def document_with(name: str) -> Document:
    """Every kind of part, each with a word of its own and ``name`` beside it."""
    heads = (Head("layer", 9, left=True), Head("us", 8), Head("", 5, left=True))
    bars = (Row((f"alpha {name}", "1.5", Bar(1.5))), Row(("none", "-", Bar(None)), "fail"))
    spans = (Row((f"bravo {name}", "+3 %", Span(1.03, 1.01, 1.05)), "pass"),)
    inner = Section(
        f"charlie {name}",
        (
            Facts((("delta", name), ("curve", Spark((1.0, 2.0, 4.0), 4.0, f"echo {name}")))),
            Findings(
                (
                    Item("fail", f"foxtrot {name}", "off-wire", (("next", f"golf {name}"),)),
                    Item("warning", name, word=f"{name}:3:1: error:"),
                )
            ),
            Steps((Step(f"hotel {name}", f"echo {name}"),)),
            Raw((f"  india {name}", "+ b")),
        ),
        "inconclusive",
    )
    tables = (Table(heads, bars, "bars", name), Table(heads, spans))
    return Document(f"title {name}", f"answer {name}", (*tables, inner, Text(name, "note")), "fail")


class _Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not [name for name, _ in attrs if name.startswith("on")]
        self.seen.add(tag)
        if tag not in ("meta", "link", "br", "path", "rect", "input", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("path", "rect"):
            assert self.open.pop() == tag


@pytest.mark.parametrize("width", [40, 80, 160])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_text_shows_every_part_within_the_width(width: int, ascii_only: bool) -> None:
    text = document_text(document_with("x"), Look(width=width, ascii=ascii_only))
    assert all(word in text for word in WORDS)
    assert text.startswith("FAIL  answer x\n")
    assert max(map(len, text.splitlines())) <= width
    assert text.isascii() or not ascii_only


def test_text_of_hostile_names_is_harmless_and_folds_no_command() -> None:
    text = document_text(document_with(HOSTILE), Look(width=60))
    assert not {"\x1b", "\u202e"} & set(text)
    command = next(line for line in text.splitlines() if line.strip().startswith("echo"))
    assert len(command) > 60


def test_text_says_how_much_it_leaves_out() -> None:
    rows = tuple(Row((str(number),)) for number in range(50))
    text = document_text(Document("t", "a", (Table((Head("n", 9),), rows),)))
    assert "10 more rows" in text


def test_markdown_shows_every_part_and_no_foreign_markup() -> None:
    text = document_markdown(document_with("x"))
    assert all(word in text for word in WORDS)
    assert text.startswith("# title x\n\n**FAIL** answer x\n")
    hostile = document_markdown(document_with(HOSTILE))
    assert not {"\x1b", "\u202e"} & set(hostile)
    code = hostile.split("\n```\n")
    prose = [line for line in (code[0] + code[2]).splitlines() if not line.startswith("- hotel")]
    assert not [line for line in prose if re.search(r"(?<!\\)[<`|]img", line)]


def test_lines_after_a_list_are_code_in_markdown_whatever_they_contain() -> None:
    lines = ("<img src=x>", "```", "# no title")
    text = document_markdown(Document("t", "", (Findings((Item("fail", "f"),)), Raw(lines))))
    assert "\n````\n" + "\n".join(lines) + "\n````\n" in text


def test_markdown_says_how_much_it_leaves_out() -> None:
    items = tuple(Item("fail", f"f{number}") for number in range(5))
    steps = tuple(Step(f"s{number}") for number in range(5))
    text = document_markdown(Document("t", "", (Findings(items, most=2), Steps(steps, most=1))))
    assert "\n3 more findings" in text
    assert "\n4 more steps" in text


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_long_name_leaves_room_for_its_value(width: int) -> None:
    rows = ((80 * "n", "some words of the value"), ("short", "value"))
    text = document_text(Document("t", "", (Facts(rows),)), Look(width=width))
    assert len(text.splitlines()) <= 8
    assert max(map(len, text.splitlines())) <= width
    assert "short  " in text


def test_a_page_is_well_formed_and_escapes_every_name() -> None:
    for name in ("x", HOSTILE):
        page = document_page(document_with(name))
        tags = _Tags()
        tags.feed(page)
        assert not tags.open
        assert "img" not in tags.seen
        assert not {"\x1b", "\u202e"} & set(page)
        assert all(word in page for word in WORDS)
        assert page.count('<svg class="cell"') == 4
        assert "default-src" in page


def test_text_prints_the_deciding_finding_once_with_its_code_and_advice_in_front() -> None:
    whole = Item("fail", "n3 is slow. Nothing explains it", "port-slow", (("next", "look"),))
    other = Item("fail", "n3 is slower than n4", "port-slow")
    inner = Section("first", (Findings((whole, other)),), "fail", "n3 is slow")
    again = Section("second", (Findings((whole,)),), "fail", "n3 is slow")
    text = document_text(Document("t", "n3 is slow", (inner, again), "fail"))
    assert text.splitlines() == [
        "FAIL  n3 is slow [port-slow]",
        "      Nothing explains it",
        "      next: look",
        "",
        "FAIL  first",
        "  FAIL  n3 is slower than n4 [port-slow]",
        "",
        "FAIL  second",
    ]
    alone = document_text(Document("t", "two are slow", (inner,), "fail"))
    assert alone.count("n3 is slow [port-slow]") == 1
    assert "n3 is slower" in alone


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_long_curve_stays_on_its_line(width: int) -> None:
    curve = Spark(tuple(range(1, 201)), 200.0, "1 to 200")
    text = document_text(Document("t", "", (Facts((("59 results", curve),)),)), Look(width=width))
    first = text.splitlines()[0]
    assert first.count("|") == 2
    assert first.count("█") >= 1
