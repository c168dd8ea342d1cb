"""Progress: a forecast from budgets, plain lines where there is no terminal, a terminal left as it
was.
"""

import io

import pytest
from tests.records import made_plan
from tests.report.test_worlds import four_nodes

from wireproof.model.plan import Plan, Point, Policy
from wireproof.model.record import Close, EngineError, Floor, Start
from wireproof.report.ink import Look, cell_length
from wireproof.report.progress import PLAIN_EVERY_S, Progress

RECORDS = four_nodes().run.points


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _plan(points: int = 10) -> Plan:
    return made_plan(
        [
            Point(id=i, pattern="stream", message_bytes=1 << 20, pairs=((0, 1),))
            for i in range(points)
        ],
        kind="null",
        policy=Policy(point_budget_ms=1000),
    )


def test_time_left_is_the_budget_at_first_and_the_pace_later() -> None:
    clock = Clock()
    forecast = Progress(_plan(), io.StringIO(), Look(), clock=clock)
    assert forecast.left_s() == pytest.approx(10.0)
    clock.now += 1.0
    for record in RECORDS[:2]:
        forecast.take(record)
    assert forecast.done == 2
    assert forecast.left_s() == pytest.approx(4.0)


def test_the_line_names_the_point_and_what_failed() -> None:
    clock = Clock()
    forecast = Progress(_plan(), io.StringIO(), Look(), clock=clock)
    forecast.take(Start(id=3))
    forecast.take(EngineError(code="deadline", message="late", id=3))
    forecast.take(EngineError(code="odd", message="no point", id=None))
    forecast.take(EngineError(code="odd", message="not planned", id=77))
    assert forecast.line().startswith(
        "1 of 10 points, stream 1 MiB, 1 failed; 0.0 s elapsed, about "
    )


def test_without_a_terminal_lines_are_plain_and_seldom() -> None:
    clock, stream = Clock(), io.StringIO()
    with Progress(_plan(), stream, Look(), title="screen\x1b[2J", clock=clock) as show:
        for i, record in enumerate(RECORDS[:10]):
            show(Start(id=i))
            clock.now += PLAIN_EVERY_S / 2.5
            show(record)
        show(Close(points=10, failed=0, elapsed_ns=1.0, peak_rss_bytes=1))
    lines = stream.getvalue().splitlines()
    assert 3 <= len(lines) <= 6
    assert lines[-1] == "wireproof: screen\\x1b[2J: 10 of 10 points; 20 s elapsed"
    assert "\x1b" not in stream.getvalue()


def test_frames_of_no_interest_change_nothing() -> None:
    stream = io.StringIO()
    with Progress(_plan(), stream, Look()) as show:
        show(Floor(pattern="stream", form="stream", floor_ns=4.0))
    assert stream.getvalue() == ""


def _hide_and_fail(stream: Terminal) -> None:
    with Progress(_plan(), stream, Look(color=True)) as show:
        show(Start(id=0))
        raise KeyboardInterrupt


def test_a_terminal_gets_a_bar_and_its_cursor_back_even_after_ctrl_c() -> None:
    stream = Terminal()
    with pytest.raises(KeyboardInterrupt):
        _hide_and_fail(stream)
    shown = stream.getvalue()
    assert "stream 1 MiB" in shown
    assert shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l") >= 0


def test_a_bar_fits_its_terminal_and_makes_room_for_a_sentence() -> None:
    clock, stream = Clock(), Terminal()
    with Progress(_plan(), stream, Look(width=40, color=True), "check 机" * 9, clock) as show:
        for record in RECORDS[:10]:
            clock.now += 1
            show(record)
        show.make_room()
        stream.write("wireproof: a sentence\n")
        clock.now += 1
        show(Start(id=1))
    drawn = stream.getvalue().split("\r\x1b[2K")
    assert all(cell_length(line.replace("\x1b[?25h", "")) <= 40 for line in drawn[1:])
    assert "wireproof: a sentence\n" in drawn
    assert drawn[-1] == "\x1b[?25h"


def test_an_empty_plan_has_no_time_left() -> None:
    assert Progress(_plan(0), io.StringIO(), Look()).left_s() == 0.0
