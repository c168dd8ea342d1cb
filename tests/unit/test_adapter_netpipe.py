"""NetPIPE's rows: half round trips by default, messages if it streams; megabits of 2^20."""

from __future__ import annotations

import pytest
from tests.unit.external_tables import GOLDEN, codes

from wireproof.adapters import read
from wireproof.physics import claim_from_text
from wireproof.verdict.external import judge_log

TEXT = (GOLDEN / "logs" / "made_netpipe.txt").read_text(encoding="utf-8")
LINK = claim_from_text("edr")


def test_a_table_of_half_round_trips() -> None:
    (one,) = read(TEXT.encode(), "x")
    assert (one.benchmark, one.traffic, one.hosts, one.complete) == (
        *("NetPIPE", "pingpong"),
        ["n1", "n2"],
        True,
    )
    first, last = one.points[0], one.points[-1]
    assert (first.message_bytes, last.message_bytes) == (1, (8 << 20) + 3)
    assert first.hrt_ns == pytest.approx(1320, rel=0.02)
    moved = last.message_bytes / (last.hrt_ns or 1.0) * 1e9
    assert last.goodput_bytes_per_s == pytest.approx(moved, rel=1e-3)
    (judged,) = judge_log([one], LINK)
    assert (judged.proof, judged.verdict) == ("unproven", "pass")


def test_ranks_before_the_rows_are_no_part_of_them() -> None:
    """As ``srun -l`` prints them; NetPIPE numbers its own rows in the same form."""
    labelled = "".join(f"0: {line}\n" for line in TEXT.splitlines())
    (one,) = read(labelled.encode(), "x")
    assert len(one.points) == TEXT.count("times -->")


@pytest.mark.parametrize(
    ("said", "traffic", "directions"),
    [
        ("Streaming in one direction only.", "stream", 1),
        ("Passing data in both directions simultaneously.", "exchange", 2),
    ],
)
def test_a_stream_has_no_latency(said: str, traffic: str, directions: int) -> None:
    (one,) = read(f"{said}\n{TEXT}".encode(), "x")
    assert (one.traffic, one.directions, one.waits) == (traffic, directions, False)
    assert all(point.hrt_ns is None and point.goodput_bytes_per_s for point in one.points)


def test_one_host_and_tcp_are_told() -> None:
    (one,) = judge_log(read(TEXT.replace("n2", "n1").encode(), "x"), LINK)
    assert "one-host" in codes(one, "fail")
    tcp = TEXT.replace("0: n1\n1: n2\n", "Send and receive buffers are 16384 and 87380 bytes\n")
    assert read(tcp.encode(), "x")[0].protocol == "tcp"


def test_a_cut_row_is_no_row() -> None:
    (one,) = read(TEXT[:-9].encode(), "x")
    assert (len(one.points), one.complete) == (TEXT.count("times -->") - 1, False)
    (none,) = read(b"Now starting the main loop\n", "x")
    assert (none.points, none.complete) == ([], False)
