"""The tables of ``PSM2_MQ_PRINT_STATS`` and ``PSM3_MQ_PRINT_STATS``: one row of totals per reading,
columns of 16 characters. No real file of PSM2 was seen; the columns are psm_mq.c's.
"""

from __future__ import annotations

import re

from wireproof.adapters.page import Page
from wireproof.model.errors import BadInput
from wireproof.model.psm3 import Identity, Section, Statistics

__all__ = ["is_table", "of_table"]

_HEAD = re.compile(rb"^ {0,16}delta_t +rx_user_bytes +rx_user_num ", re.M)
_NAME = re.compile(
    r"psm(?P<generation>[23])-perf-stat-ep-(?P<id>.{1,200})-pid-(?P<pid>\d{1,10})$", re.A
)
_NO_RANK = 1 << 31


def is_table(head: bytes) -> bool:
    """Whether the text begins as such a table."""
    return _HEAD.search(head[:4096]) is not None


def _rows(page: Page, start: int, columns: int) -> tuple[list[list[int]], list[int], str]:
    """Rows, their line indexes, and what is wrong with the last one ("" when nothing is)."""
    rows: list[list[int]] = []
    places: list[int] = []
    for index in range(start, len(page.lines)):
        words = page.lines[index].split()
        if not words:
            continue
        if len(words) == columns and all(word.lstrip("-").isdigit() for word in words):
            rows.append([int(word) for word in words])
            places.append(index)
        elif index == len(page.lines) - 1:
            return rows, places, f"line {index + 1}: the file is cut off here"
        else:
            raise BadInput(
                f"{page.source}: line {index + 1} is torn: expected {columns} numbers as the"
                f" heading has columns, and {len(words)} words stand there."
            )
    return rows, places, ""


def of_table(page: Page) -> Statistics:
    """The last row, as one section ``MQ``. Raises BadInput when there is none."""
    start = next(i for i, line in enumerate(page.lines) if line.split()[:1] == ["delta_t"])
    names = page.lines[start].split()
    rows, places, cut = _rows(page, start + 1, len(names))
    if not rows:
        raise BadInput(
            f"{page.source}: line {start + 2}: expected a row of {len(names)} numbers below the"
            " heading, and the file ends: the process has written no counters."
        )
    counters = dict(zip(names, rows[-1], strict=True))
    found = _NAME.search(page.source)
    rank = counters.get("comm_world_rank")
    known = rank is not None and 0 <= rank < _NO_RANK
    return Statistics(
        source=page.source,
        library="psm2" if found is not None and found["generation"] == "2" else "psm3",
        layout="table",
        host="",
        pid=int(found["pid"]) if found else None,
        identity=Identity(label="", rank=rank if known else None),
        settings=[],
        sections=[
            Section(
                heading="MQ",
                endpoint=found["id"] if found else "",
                counters={name: value for name, value in counters.items() if value >= 0},
                line=places[-1] + 1,
            )
        ],
        blocks=len(rows),
        seconds=counters.get("delta_t"),
        complete=not cut,
        checked=False,
        zeros=True,
        doubts=[cut] if cut else [],
    )
