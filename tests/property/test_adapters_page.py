"""What holds for every parser, because the page, the rows or the scan see to it."""

import pytest

from wireproof.logs.readers import read
from wireproof.logs.readers.page import page_of
from wireproof.logs.readers.rows import number

NCCL = "#  size  count  type  redop  root  time  algbw  busbw #wrong\n"


@pytest.mark.parametrize(
    "text", ["nan", "inf", "-inf", "1e300", "-1e300", "1_0", "0x10", "", "٣", "9" * 31, "9" * 400]
)
def test_what_is_no_number(text: str) -> None:
    assert number(text) is None


def test_no_escape_survives() -> None:
    data = "\x1b[31mred\x1b[0m \x1b]0;title\x07 a\x1b\x0eb \x9b31m é\n".encode()
    (line,) = page_of(data, "log").lines
    assert "\x1b" not in line
    assert "\x9b" not in line
    assert "é" in line


def test_a_table_without_a_point_is_not_complete() -> None:
    one = read((NCCL + " 8 2 float sum -1 N/A N/A N/A N/A\n").encode(), "log")[0]
    assert not one.points
    assert not one.complete
