"""The other forms of a report: Markdown that no name can break, figures that any program shows, and
the command that prints.
"""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from tests.locate.test_page import many
from tests.rendered import markdown_of
from tests.report.test_groups import group, point
from tests.report.test_groups import section as grouped
from tests.report.test_worlds import HOSTILE, empty, four_nodes, hostile, off_wire, rejudged

from wireproof.measure import export
from wireproof.model.claim import Limits
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import Finding
from wireproof.report.figure import Axis, Chart, Limit, Line, Mark, decades, plain, sizes
from wireproof.report.figure.curves import printed_times
from wireproof.report.figure.drawing import NARROW, WIDE, drawn
from wireproof.report.figure.file import charts, figures, style
from wireproof.report.figure.heat import pair_figures
from wireproof.report.reporter import LoggingReporter
from wireproof.report.rows import tables

SVG = "{http://www.w3.org/2000/svg}"


def test_markdown_tells_what_the_page_tells() -> None:
    text = markdown_of([four_nodes(), off_wire()], "both")
    for words in (
        "# both",
        "**FAIL** Screen of 4 nodes: n\\[1-4\\]: n3 sends at 297 Mb/s of 956 attainable",
        "- Why? No cause found yet\n  - Ruled out: ",
        "| host | NIC | direction | level | quality | due | seen | of due |",
        "| n1 | hsn0 | out | stack | exact | 2.78 GB | 2.91 GB | 105 % |",
        "### Ping-pong (half round trip): n1 → n2 (11 results)",
        "## **FAIL** A lie that was caught",
    ):
        assert words in text, words


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    text = markdown_of([hostile(), four_nodes(), grouped(point(1, group()))], HOSTILE)
    width = 0
    for line in text.splitlines():
        if not line.startswith("|"):
            width = 0
            continue
        cells = len(re.sub(r"\\.", "", line).split("|"))
        width = width or cells
        assert cells == width, line


def test_hostile_names_are_words_in_markdown() -> None:
    text = markdown_of([hostile()], HOSTILE)
    bare = re.sub(r"\\.", "", text)
    assert "<" not in bare
    assert "[" not in bare
    assert "`" not in bare
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("section", [four_nodes(), off_wire(), hostile()])
def test_a_figure_is_a_whole_picture_without_variables(section: object) -> None:
    found = figures([section])  # type: ignore[list-item]
    assert found
    for text in found.values():
        root = ElementTree.fromstring(text)  # noqa: S314  our own
        assert root.tag == f"{SVG}svg"
        assert "var(" not in text
        assert not root.findall(f".//{SVG}script")
        assert not root.findall(f".//{SVG}image")
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_a_figure_draws_every_mark_where_it_belongs() -> None:
    section = four_nodes()
    latency, bandwidth, *_ = charts(section, tables(section), "x")
    values = [pair.value / 1e3 for pair in section.judgement.pairs if pair.unit == "ns"]
    assert [mark.y for mark in latency.lines[0].marks] == pytest.approx(values)
    assert latency.x.low < latency.lines[0].marks[0].x < latency.x.high
    assert all(mark.low <= mark.y <= mark.high for line in bandwidth.lines for mark in line.marks)
    assert "attainable 119.5 MB/s" in bandwidth.limits[0].words


def test_the_floor_grows_with_the_size_and_bursts_shift_it() -> None:
    section = four_nodes()
    shaped = msgspec.structs.replace(
        section.limits or Limits(attainable_bytes_per_s=1.0, floor_ns=1.0),
        credit_bytes=16384,
        judged_from_bytes=65536,
    )
    (plain_floor,), (burst_floor,) = (
        charts(one, tables(one), "x")[0].limits
        for one in (section, replace(section, limits=shaped))
    )
    assert plain_floor.points[0][1] == pytest.approx(4.0, rel=0.01)
    assert plain_floor.points[-1][1] == pytest.approx(4.0 + 4.19 / 119.5e-6 * 1.5, rel=0.02)
    for (size, before), (_, after) in zip(plain_floor.points, burst_floor.points, strict=True):
        assert after <= before
        if size < 16384:
            assert after == pytest.approx(4.0)
    bandwidth = charts(replace(section, limits=shaped), tables(section), "x")[1]
    assert bandwidth.zones[0][1] == 65536
    assert "below 64 KiB (shaded) are not compared" in bandwidth.note


def test_the_switch_of_the_protocol_is_marked_where_the_judge_has_found_it() -> None:
    section = four_nodes(slow=None)
    note = Finding(
        code="protocol-switch",
        severity="note",
        message="",
        advice="",
        subject="n1 -> n2",
        evidence={"eager_limit_bytes": 16384, "step_ns": 3e3},
    )
    for chart in charts(rejudged(section, findings=[note, note]), tables(section), "x")[:2]:
        assert list(chart.steps) == [("switch above 16 KiB", 16384)]


@pytest.mark.parametrize(("low", "high"), [(0.3, 7e4), (1.0, 1.2), (9.0, 30.0), (1e-3, 4.0)])
def test_ticks_stand_within_the_axis(low: float, high: float) -> None:
    for found in (decades(low, high), plain(low, high)):
        assert all(low <= value <= high * (1 + 1e-9) for value, _ in found)
        assert all(float(word) == pytest.approx(value) for value, word in found)
    assert len(plain(low, high)) >= 3


def test_sizes_have_their_names_and_zero_its_place() -> None:
    assert sizes(0.5, 4096, 0.5)[0] == (0.5, "0")
    assert ("4 KiB" in dict(map(reversed, sizes(1, 4096, 0.5)))) is True  # type: ignore[arg-type]


def test_without_figures_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no figure"):
        export.exported("svg", [empty()], "x", tmp_path, LoggingReporter())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["pdf", "png"])
def test_without_a_browser_it_is_named_before_anything_is_written(
    form: export.Form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    target = export.default_target(form, tmp_path)
    with pytest.raises(BadInput, match="Debian's package chromium"):
        export.exported(form, [four_nodes()], "x", target, LoggingReporter())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("script", "said"), [("echo broken >&2; exit 3", "broken"), ("exit 0", "status 0")]
)
def test_a_browser_that_fails_is_quoted(
    script: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "chromium"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:/usr/bin:/bin")
    target = tmp_path / "report.pdf"
    with pytest.raises(CouldNotMeasure, match=said):
        export.exported("pdf", [four_nodes()], "x", target, LoggingReporter())
    assert not target.exists()


def test_the_command_that_prints() -> None:
    pdf = export.chromium_argv("chromium", "pdf", Path("/t/a.html"), Path("/t/b"), root=False)
    assert pdf[:2] == ["chromium", "--headless"]
    assert "--no-sandbox" not in pdf
    assert "--print-to-pdf=/t/b" in pdf
    assert pdf[-1] == "file:///t/a.html"
    png = export.chromium_argv("chromium", "png", Path("/t/a.svg"), Path("/t/b"), root=True)
    assert "--no-sandbox" in png
    assert "--screenshot=/t/b" in png


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    target = tmp_path / "no" / "report.md"
    with pytest.raises(CouldNotMeasure, match="cannot be written"):
        export.exported("markdown", [four_nodes()], "x", target, LoggingReporter())


def test_samples_are_drawn_as_cumulative_shares() -> None:
    section = four_nodes()
    charts_by_id = {one.id: one for one in charts(section, tables(section), "x")}
    samples = charts_by_id["x-samples"]
    assert [line.name for line in samples.lines] == [
        "pingpong 0 B n1 → n2",
        "pingpong 4 MiB n1 → n2",
        "stream 1 B n1 → n2",
        "stream 4 MiB n1 → n2",
    ]
    for line in samples.lines:
        shares = [mark.y for mark in line.marks]
        assert shares == sorted(shares)
        assert shares[-1] == pytest.approx(100.0)
        assert [mark.x for mark in line.marks] == sorted(mark.x for mark in line.marks)
    assert "two modes" in samples.note


def test_the_slow_pairs_are_the_foot_of_the_distribution() -> None:
    section = four_nodes()
    pairs = next(one for one in charts(section, tables(section), "x") if "pairs" in one.id)
    (line,) = pairs.lines
    assert line.marks[0].x == pytest.approx(37, rel=0.05)
    assert [mark.y for mark in line.marks if mark.x < 60][-1] == pytest.approx(25.0)
    assert "lowest 36." in pairs.alt
    assert pairs.limits[0].points[0][0] == pytest.approx(119.5)


def test_few_samples_and_few_pairs_are_not_drawn() -> None:
    section = four_nodes(2)
    few = [
        msgspec.structs.replace(
            one,
            pairs=[msgspec.structs.replace(pair, batch_ns=pair.batch_ns[:5]) for pair in one.pairs],
        )
        for one in section.run.points
    ]
    whole = replace(section, run=msgspec.structs.replace(section.run, points=few))
    names = [one.id for one in charts(whole, tables(whole), "x")]
    assert names == ["x-latency", "x-bandwidth"]


@pytest.mark.parametrize("hosts", [4, 60, 130])
def test_the_picture_of_the_pairs_is_a_file_too(hosts: int) -> None:
    section = many(hosts) if hosts > 4 else four_nodes()
    (text,) = pair_figures([section]).values()
    root = ElementTree.fromstring(text)  # noqa: S314  our own
    assert root.tag == f"{SVG}svg"
    if hosts <= 64:
        cells = [one for one in root.iter(f"{SVG}rect") if one.find(f"{SVG}title") is not None]
        assert len(cells) == (12 if hosts == 4 else hosts * 4)
    else:
        assert root.findall(f".//{SVG}path")


def test_hostile_hosts_are_words_in_the_picture_of_the_pairs() -> None:
    whole = many(10)
    pairs = [
        msgspec.structs.replace(pair, origin_host=HOSTILE) if pair.origin == 3 else pair
        for pair in whole.judgement.pairs
    ]
    (text,) = pair_figures([rejudged(whole, pairs=pairs)]).values()
    assert ElementTree.fromstring(text).find(f".//{SVG}img") is None  # noqa: S314  our own
    assert "<img" not in text
    assert "\u202e" not in text


def _chart(lines: int, floor: float = 0.0) -> Chart:
    """Lines from the left end of the axes to the right, all above ``floor``."""
    axis = Axis("x", True, 1.0, 2.0, ((1.0, "1 MiB"), (2.0, "2 MiB")))
    marks = tuple(Mark(at, at, at, at, "") for at in (1.0, 1.1, 2.0))
    limits = (Limit("floor 4 us", ((1.0, floor), (2.0, floor))),) if floor else ()
    named = tuple(Line(f"line {number}", marks) for number in range(lines))
    return Chart("c", "title", "", "", axis, axis, named, limits)


def test_each_of_many_lines_has_a_colour_and_a_look_of_its_own() -> None:
    groups = re.findall(r'<g class="(s\d+)">(.*?)</g>', drawn(_chart(24), WIDE))
    assert len(groups) == 24
    assert all(f".figure .{hue} .line" in style() for hue, _ in groups)
    looks = {
        (hue, *re.findall('dasharray="([^"]*)"', ink), ink.partition('dot" d="')[2].split("m")[1])
        for hue, ink in groups
    }
    assert len(looks) == 24


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_marks_and_words_at_the_ends_of_an_axis_are_whole(size: Any) -> None:
    whole = ElementTree.fromstring(drawn(_chart(1), size))  # noqa: S314 - our drawing
    inner = next(whole.iterfind(".//svg"))
    left, top, width, height = map(float, inner.attrib["viewBox"].split())
    assert (left, top) == (float(inner.attrib["x"]), float(inner.attrib["y"]))
    for dot in inner.iterfind(".//path[@class='dot']"):
        x, y = map(float, dot.attrib["d"][1:].split("m")[0].split())
        assert left + 5 <= x <= left + width - 5
        assert top + 5 <= y <= top + height - 5
    last = next(one for one in whole.iter("text") if one.text == "2 MiB")
    assert float(last.attrib["x"]) + 64 + 3.5 * len("2 MiB") <= size[0]


def test_the_label_of_a_limit_covers_no_mark() -> None:
    ink = drawn(_chart(1, floor=1.05), WIDE)
    (place,) = re.findall('class="ground" x="([^"]*)" y="([^"]*)" width="([^"]*)"', ink)
    x, y, width = map(float, place)
    dots = [tuple(map(float, one)) for one in re.findall('dot" d="M([^ ]*) ([^m]*)m', ink)]
    assert not [one for one in dots if x < one[0] < x + width and y < one[1] < y + 15]


def test_the_numbers_of_an_axis_do_not_overlap() -> None:
    ticks = tuple((1.0 + at / 40, f"t{at}") for at in range(40))
    chart = _chart(1)
    upright = drawn(msgspec.structs.replace(chart, y=Axis("y", True, 1.0, 2.0, ticks)), NARROW)
    heights = [float(one) for one in re.findall('y="([^"]*)"[^>]*>t[0-9]+<', upright)]
    assert len(heights) > 5
    assert all(low - high >= 13 for low, high in pairwise(heights))


def test_a_line_of_many_points_has_few_marks() -> None:
    marks = tuple(Mark(1 + at / 10_000, 1.5, 1.5, 1.5, f"tip {at}") for at in range(10_000))
    ink = drawn(msgspec.structs.replace(_chart(1), lines=(Line("long", marks),)), WIDE)
    assert 200 <= ink.count('class="dot"') <= 400
    assert len(ink) < 500_000


def test_times_below_the_floor_are_drawn_with_the_floor() -> None:
    chart = printed_times("log", "time", {1: 1500.0, 8: 1600.0, 64: 1700.0}, 1e9, 6000.0)
    assert chart is not None
    assert all(chart.y.low <= time <= chart.y.high for _, time in chart.limits[0].points)
