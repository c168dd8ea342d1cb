"""The packed map of all pairs: what the page's script reads is what was measured."""

import base64
import json
import math
import struct
from typing import Any

import msgspec
import pytest
from tests.locate.test_page import many
from tests.report.test_worlds import HOSTILE, four_nodes, rejudged

from wireproof.measure.export import page_of
from wireproof.report.figure import Ink
from wireproof.report.figure.pairs import MOST_HOSTS, pair_map
from wireproof.report.judged_run import JudgedRun
from wireproof.report.rows import tables


def _map(section: JudgedRun) -> Ink | None:
    return pair_map(next(table for table in tables(section) if table.unit != "ns"), "run1-map1")


def _read(found: Ink) -> tuple[dict[str, Any], dict[tuple[str, str], tuple[float, float, int]]]:
    """The document, and rate, half-width and mark of each pair, as the script decodes them."""
    data = json.loads(found.markup.split('json" id="run1-map1-data">')[1].split("</script>")[0])
    hosts = data["hosts"]
    values = base64.b64decode(data["value"])
    widths, marks = base64.b64decode(data["width"]), base64.b64decode(data["mark"])
    numbers = struct.unpack(f"<{len(values) // 2}H", values)
    packed = base64.b64decode(data["at"])
    at = struct.unpack(f"<{len(packed) // 4}I", packed) if packed else range(len(numbers))
    cells = {}
    for cell, value, width, mark in zip(at, numbers, widths, marks, strict=True):
        if value:
            rate = (value - 1) / 65534 * data["most"] * 1e6
            half = data["narrowest"] * 10 ** ((width - 1) / data["widths"] * data["decades"])
            key = (hosts[cell // len(hosts)], hosts[cell % len(hosts)])
            cells[key] = (rate, half if width else math.nan, mark)
    return data, cells


@pytest.mark.parametrize(("hosts", "partners"), [(90, 4), (90, 89)], ids=["sparse", "dense"])
def test_every_pair_comes_back_as_it_was_measured(hosts: int, partners: int) -> None:
    section = many(hosts, partners=partners)
    found = _map(section)
    assert found is not None
    data, cells = _read(found)
    assert bool(data["at"]) == (partners == 4)
    assert len(cells) == hosts * partners
    for pair in section.judgement.pairs:
        rate, half, mark = cells[pair.origin_host, pair.target_host]
        assert rate == pytest.approx(pair.value, rel=1e-4)
        assert half == pytest.approx(pair.half_width, rel=0.03)
        assert data["verdicts"][mark % 4] == pair.verdict
        assert data["proofs"][mark >> 2] == pair.proof


def test_intervals_that_are_not_known_stay_unknown_and_wide_ones_are_bounded() -> None:
    whole = many(90)
    odd = [math.inf, math.nan, 0.0, 1e9, -1.0]
    pairs = [
        msgspec.structs.replace(pair, half_width=odd[i % 5])
        for i, pair in enumerate(whole.judgement.pairs)
    ]
    section = rejudged(whole, pairs=pairs)
    found = _map(section)
    assert found is not None
    _, cells = _read(found)
    for pair in pairs:
        half = cells[pair.origin_host, pair.target_host][1]
        if pair.half_width in (0.0, 1e9):
            assert half == pytest.approx(min(10.0, max(1e-4, pair.half_width)))
        else:
            assert math.isnan(half)


def test_more_hosts_than_can_be_drawn_keep_those_with_the_slowest_directions() -> None:
    found = _map(many(MOST_HOSTS + 100, slow=range(1100, 1110)))
    data, cells = _read(found)
    assert len(data["hosts"]) == MOST_HOSTS
    assert {f"n{i + 1}" for i in range(1100, 1110)} <= set(data["hosts"])
    assert "Of 1124 hosts" in found.note
    assert min(cells.values())[0] == pytest.approx(36e6, rel=1e-3)


def test_one_pair_alone_is_no_map() -> None:
    section = four_nodes(2, slow=None)
    one = [pair for pair in section.judgement.pairs if pair.unit != "ns"][:1]
    assert _map(rejudged(section, pairs=one)) is None


def test_a_hostile_host_cannot_leave_the_script() -> None:
    whole = many(90)
    pairs = [
        msgspec.structs.replace(pair, origin_host=HOSTILE) if pair.origin == 3 else pair
        for pair in whole.judgement.pairs
    ]
    page = page_of([rejudged(whole, pairs=pairs)], "x")
    assert '<figure class="card pairs"' in page
    assert "<script>alert" not in page


def test_a_thousand_hosts_stay_small() -> None:
    assert len(page_of([many(1024, partners=20)], "many").encode()) < 1_000_000
