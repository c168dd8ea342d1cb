"""NetPIPE's rows: half round trips by default, messages if it streams; megabits of 2^20."""

import pytest
from tests.logs.tables import GOLDEN, codes

from wireproof.logs.readers import read
from wireproof.logs.verdict import judge_log
from wireproof.physics import claim_from_text

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
    begun = TEXT.splitlines()[-1]
    for at in range(begun.index(":") + 1, len(begun)):
        (one,) = read(TEXT[: TEXT.rindex(begun) + at].encode(), "x")
        assert (len(one.points), one.complete) == (TEXT.count("times -->") - 1, False)
    (whole,) = read((TEXT + "[user@n1 ~]$").encode(), "x")
    assert whole.complete
    (none,) = read(b"Now starting the main loop\n", "x")
    assert (none.points, none.complete) == ([], False)


def test_the_seconds_of_version_3_6() -> None:
    text = "Now starting the main loop\n" + "".join(
        f"{at:3d}: {size:9d} bytes {7000 + at:6d} times --> {rate:9.2f} Mbps in {time:.9f} sec\n"
        for at, (size, rate, time) in enumerate([(1, 4.77, 1.6e-6), (1 << 20, 80000.0, 1e-4)])
    )
    (one,) = read(text.encode(), "x")
    assert [point.hrt_ns for point in one.points] == [pytest.approx(1600), pytest.approx(1e5)]
    assert one.points[1].goodput_bytes_per_s == pytest.approx((1 << 20) / 1e-4)


VERSION_5 = """\
Proc 0 is on host n1
Proc 1 is on host n2
      Clock resolution ~   1.000 nsecs      Clock accuracy ~  20.000 nsecs

Start testing with 7 trials for each message size
  1:       1  B     24000 times -->    4.000 Mbps  in    2.000 usecs
 19:   1.000 KB     61000 times -->    2.000 Gbps  in    4.000 usecs
 40:   8.000 MB       250 times -->   95.000 Gbps  in  673.684 usecs
 43:  64.000 MB        30 times -->   96.000 Gbps  in    5.333 msecs

Completed with        max bandwidth   96.000 Gbps        2.000 usecs latency
"""


def test_version_5_prints_units_of_1000() -> None:
    (one,) = read(VERSION_5.encode(), "x")
    assert [point.message_bytes for point in one.points] == [1, 1000, 8_000_000, 64_000_000]
    assert [point.hrt_ns for point in one.points] == pytest.approx([2e3, 4e3, 673684, 5.333e6])
    assert one.points[-1].goodput_bytes_per_s == pytest.approx(12e9)
    assert (one.hosts, one.complete, one.processes) == (["n1", "n2"], True, 2)
    (judged,) = judge_log([one], LINK)
    assert (judged.verdict, judged.proof) == ("pass", "unproven")


@pytest.mark.parametrize(
    ("said", "traffic", "directions"),
    [
        ("Streaming data in one direction", "stream", 1),
        ("Bidirectional mode using 1 pairs of processes.", "exchange", 2),
    ],
)
def test_the_modes_of_version_5(said: str, traffic: str, directions: int) -> None:
    (one,) = read(f"{said}\n{VERSION_5}".encode(), "x")
    assert (one.traffic, one.directions) == (traffic, directions)


def test_numbers_of_rows_are_no_ranks() -> None:
    row = "{:3d}:       {:d}  B     24000 times -->    4.000 Mbps  in    2.000 usecs\n"
    rows = "".join(row.format(at, at) for at in range(1, 10))
    (one,) = read((VERSION_5[: VERSION_5.index("  1:")] + rows).encode(), "x")
    assert len(one.points) == 9


def test_several_pairs_of_version_5_are_added_up() -> None:
    text = "Proc 2 is on host n3\nProc 3 is on host n4\n" + VERSION_5
    (one,) = read(text.encode(), "x")
    assert (one.processes, one.pairs, one.traffic, one.waits) == (4, 2, "rate", False)
    assert all(point.hrt_ns is None for point in one.points)
