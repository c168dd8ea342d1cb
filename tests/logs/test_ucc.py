"""ucc_perftest's tables, with and without bandwidth; a barrier has no size."""

import pytest
from tests.logs.tables import GOLDEN, codes
from tests.records import holds

from wireproof.logs.readers import read
from wireproof.logs.verdict import judge_log
from wireproof.model.series import IN_GPU
from wireproof.physics import claim_from_text

TEXT = (GOLDEN / "logs" / "made_ucc_perftest.txt").read_text(encoding="utf-8")


def test_a_table_and_a_barrier() -> None:
    reduced, barrier = read(TEXT.encode(), "x")
    assert [one.benchmark for one in (reduced, barrier)] == ["allreduce", "barrier"]
    first = reduced.points[0]
    assert first.message_bytes == 512
    holds(
        first,
        time_ns=pytest.approx(6220),
        time_min_ns=pytest.approx(5850, rel=0.01),
        time_max_ns=pytest.approx(6660, rel=0.01),
    )
    assert reduced.points[-1].values["bus_bytes_per_s"] == pytest.approx(6.22e9, rel=0.01)
    assert [(point.message_bytes, point.time_ns) for point in barrier.points] == [(0, 3210)]
    assert reduced.complete
    assert barrier.complete


def test_a_collective_that_no_wire_allows_fails_and_another_stays_open() -> None:
    link = claim_from_text("edr")
    verdicts = [one.verdict for one in judge_log(read(TEXT.encode(), "x"), link)]
    assert verdicts == ["inconclusive", "inconclusive"]
    quick = TEXT.replace("3.21", "0.21").replace("3.10", "0.20").replace("3.40", "0.22")
    assert "below-floor" in codes(judge_log(read(quick.encode(), "x"), link)[1], "fail")


def test_buffers_in_a_gpu_and_older_headings() -> None:
    old = TEXT.replace("Bus Bandwidth", "    Bandwidth").replace(
        "Memory type:            host", "Memory type:            cuda"
    )
    reduced, _ = read(old.encode(), "x")
    assert len(reduced.points) == 7
    assert any(IN_GPU in note for note in reduced.notes)


def test_a_cut_row_is_no_row() -> None:
    (one, cut) = read(TEXT[:-3].encode(), "x")
    assert (len(one.points), len(cut.points), cut.complete) == (7, 0, False)
    line = next(line for line in TEXT.splitlines() if line.split()[:1] == ["512"])
    torn = TEXT.replace(line, line[:30])
    assert not read(torn.encode(), "x")[0].complete
