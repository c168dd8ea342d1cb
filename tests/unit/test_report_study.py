"""A study as people read it: no line is wider than the terminal, and nothing is left out."""

from __future__ import annotations

import msgspec
import pytest
from tests.unit.test_study_conclude import OBEYED, runs, study

from wireproof.model.study import Configuration, Probe
from wireproof.report.text.look import Look
from wireproof.report.text.study import study_text


@pytest.mark.parametrize("width", [80, 100, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    made = runs([{"stream": 2.0}, {"latency": 1.5}, {}], 12)
    striped = [
        msgspec.structs.replace(one, shares={"a0": 0.5, "b0": 0.5})
        if one.configuration == 1
        else msgspec.structs.replace(one, shares={"a0": 1.0})
        for one in made
    ]
    found = study(striped, {1: OBEYED, 2: OBEYED, 3: Probe(listed=["X_OTHER"])})
    long = Configuration(knob="X_RAILS_WITH_A_NAME_THAT_IS_VERY_LONG", value="1,2,3,4,5,6,7,8")
    found = msgspec.structs.replace(
        found, configurations=[*found.configurations[:3], long], notes=["\x1b[31mred"]
    )
    text = study_text(found, Look(width=width))
    assert max(map(len, text.splitlines())) <= width
    assert "helps yes" in text
    assert "hurts yes" in text
    assert "Recommended:" in text
    assert "on-wire, a0 50 %, b0 50 %: X_RAILS=1" in text
    assert "[setting-not-honoured]" in text.replace("\n  ", "")
    assert "\x1b" not in text


def test_a_study_without_a_run_is_text_too() -> None:
    text = study_text(study([], {1: Probe(failed="no")}), Look())
    assert "nothing was measured" in text
    assert "no run works with it: no" in text


def test_ascii_where_the_terminal_has_no_more() -> None:
    text = study_text(study(runs([{"stream": 2.0}], 12), {1: OBEYED}), Look(ascii=True))
    assert text.isascii()


def test_a_name_that_is_cut_keeps_its_value() -> None:
    found = study(runs([{"stream": 2.0}], 12), {1: OBEYED})
    long = Configuration(knob="X_A_NAME_THAT_IS_LONGER_THAN_THE_COLUMN", value="64000")
    found = msgspec.structs.replace(found, configurations=[found.configurations[0], long])
    assert "..=64000 " in study_text(found, Look(width=80))
