"""The documents' own measured tables: two of the four never crossed a wire, and the figures alone
show it.
"""

import csv
from pathlib import Path

import msgspec
import pytest
from tests.records import estimate, pair_result, point_record
from tests.synthetic import World, run_of

from wireproof.model.claim import LinkClaim
from wireproof.model.finding import Judgement
from wireproof.model.record import Close, PointRecord
from wireproof.physics import link_from_name
from wireproof.verdict.run import judge

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def told(name: str, link: LinkClaim) -> Judgement:
    """The table as a run without counters: one ping-pong per row."""
    with (GOLDEN / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    frame = run_of(World(sizes=(8,), patterns=("pingpong",)))
    points = [
        _point(number, int(row["bytes"]), float(row["t_usec"]) * 1e3)
        for number, row in enumerate(rows)
    ]
    close = Close(points=len(points), failed=0, elapsed_ns=1e9, peak_rss_bytes=1)
    run = msgspec.structs.replace(frame, points=points, close=close, idle=[])
    return judge(run, link=link)


def _point(number: int, size: int, half_ns: float) -> PointRecord:
    batches = [2 * half_ns * 100 * (1 + 0.001 * k) for k in range(10)]
    pair = pair_result(
        stop="iterations",
        operations_per_batch=100,
        batch_ns=batches,
        block_batches=[1] * 10,
        messages_forward=1000,
        messages_backward=1000,
        payload_forward_bytes=1000 * size,
        payload_backward_bytes=1000 * size,
        estimate=estimate(half_ns, 0.01),
        integrity="ok",
    )
    return point_record(
        number,
        pattern="pingpong",
        form="latency",
        message_bytes=size,
        formula="imb-p2p",
        elapsed_ns=sum(batches) * 1.1,
        pairs=[pair],
    )


@pytest.mark.parametrize("mtu", [1500, 9000])
def test_the_40_gbe_table_is_shared_memory(mtu: int) -> None:
    found = told("40gbe_intelmpi_imb_p2p_pingpong.csv", link_from_name("40gbe", mtu=mtu))
    assert found.verdict == "fail"
    failed = {f.code for f in found.findings if f.severity == "fail"}
    assert {"below-floor", "cache-shaped"} <= failed
    # 4986 MB/s is more than 4707, and less than 4950 with its tolerance
    assert ("above-ceiling" in failed) == (mtu == 1500)
    assert found.pairs[0].codes == ["below-floor", "unproven-no-counters"]


def test_the_omni_path_table_is_shared_memory() -> None:
    found = told("opa100_intelmpi_imb_p2p_pingpong.csv", link_from_name("opa100"))
    failed = {f.code for f in found.findings if f.severity == "fail"}
    assert {"below-floor", "cache-shaped", "below-expectation"} <= failed
    assert "below-floor" in {pair.message_bytes: pair.codes for pair in found.pairs}[1024]


def test_the_1_gbe_table_is_plausible_and_still_unproven() -> None:
    found = told("1gbe_intelmpi_imb_p2p_pingpong.csv", link_from_name("1gbe", mtu=1500))
    assert (found.verdict, found.proof) == ("inconclusive", "unproven")
    assert not [f for f in found.findings if f.severity == "fail"]
    assert {f.code for f in found.findings if f.severity == "inconclusive"} == {
        "unproven-no-counters"
    }
    largest = found.pairs[-1]
    assert largest.efficiency == pytest.approx(0.982, abs=0.001)
