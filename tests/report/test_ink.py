"""Styled text folded to a width: nothing is lost, no line is too wide, colour changes no letter."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.report.document import Head
from wireproof.report.ink import Look, Paragraph, Piece, cell_length, grid, paint, wrapped

TEXT = st.text(alphabet="ab 机é\n", max_size=60)
STYLE = st.sampled_from(["", "bold red", "dim"])


@pytest.mark.parametrize(("text", "cells"), [("µs", 2), ("机房", 4), ("e\u0301", 1), ("", 0)])
def test_wide_letters_take_two_cells_and_marks_none(text: str, cells: int) -> None:
    assert cell_length(text) == cells


@given(st.lists(st.builds(Piece, TEXT, STYLE), max_size=5), st.integers(2, 30))
def test_folding_loses_no_letter_and_keeps_each_one_s_style(
    pieces: list[Piece], width: int
) -> None:
    lines = list(wrapped(pieces, width))
    assert all(cell_length("".join(piece.text for piece in line)) <= width for line in lines)
    before = [(char, style) for text, style in pieces for char in text if not char.isspace()]
    after = [(c, s) for line in lines for text, s in line for c in text if not c.isspace()]
    assert after == before


@given(st.lists(st.builds(Piece, TEXT, STYLE), max_size=5))
def test_colour_adds_escapes_alone(pieces: list[Piece]) -> None:
    paragraphs = [Paragraph(tuple(pieces), indent=2)]
    painted = re.sub(r"\x1b\[[0-9;]*m", "", paint(paragraphs, Look(color=True)))
    assert painted == paint(paragraphs, Look())


def test_words_stay_whole_where_a_line_can_hold_them() -> None:
    shown = paint([Paragraph.of("one two thirteen\nlast", indent=1)], Look(width=9))
    assert shown == " one two\n thirteen\n last\n"


def test_a_row_that_the_last_columns_cannot_hold_is_folded() -> None:
    heads = [Head("a", 3, True), Head("b", 2), Head("c", 1)]
    lines, dropped = grid(heads, [["x" * 50, "1", "2"]], [""], Look(width=40))
    assert paint(lines, Look(width=40)).splitlines()[1:] == [f"{'x' * 34}  1  2", "x" * 16]
    assert dropped == []
