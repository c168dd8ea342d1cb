"""The picture of the proof: bytes due and bytes seen per NIC and direction."""

import msgspec
import pytest
from tests.report.test_worlds import empty, four_nodes, off_wire

from wireproof.model.record import WitnessReading
from wireproof.model.run import Run
from wireproof.report.flows import SMALL_BYTES, flows


def _with_readings(run: Run, change: dict[str, object]) -> Run:
    points = [
        msgspec.structs.replace(
            point, witness=[msgspec.structs.replace(one, **change) for one in point.witness]
        )
        for point in run.points
    ]
    return msgspec.structs.replace(run, points=points)


def test_what_was_sent_was_seen_at_both_ends() -> None:
    found = flows(four_nodes().run)
    assert [(flow.host, flow.direction) for flow in found[:3]] == [
        ("n1", "out"),
        ("n1", "in"),
        ("n2", "out"),
    ]
    for flow in found:
        assert flow.claimed
        assert 1.0 <= flow.seen_bytes / flow.expected_bytes <= 1.2


def test_sums_are_those_of_the_big_messages() -> None:
    run = four_nodes(2).run
    big = [
        pair for point in run.points if point.message_bytes >= SMALL_BYTES for pair in point.pairs
    ]
    out = next(flow for flow in flows(run) if (flow.host, flow.direction) == ("n1", "out"))
    due = sum(pair.payload_forward_bytes for pair in big if pair.origin == 0)
    due += sum(pair.payload_backward_bytes for pair in big if pair.target == 0)
    assert out.expected_bytes == due


def test_off_the_wire_nothing_is_seen() -> None:
    found = flows(off_wire().run)
    assert [flow.seen_bytes for flow in found] == [0.0] * 4
    assert all(flow.expected_bytes > 1e7 for flow in found)


def test_unreadable_counters_are_unknown_and_never_zero() -> None:
    run = _with_readings(off_wire().run, {"unreadable": ["net/hsn0/tx_bytes", "net/hsn0/rx_bytes"]})
    assert [flow.seen_bytes for flow in flows(run)] == [None] * 4


def test_a_nic_that_nobody_claimed_is_shown_when_it_carried_traffic() -> None:
    run = _with_readings(off_wire().run, {"counters": {"net/eth0/tx_bytes": (0, 50_000_000)}})
    stray = [flow for flow in flows(run) if not flow.claimed]
    assert {(flow.nic, flow.direction) for flow in stray} == {("eth0", "out")}
    assert all(flow.expected_bytes == 0 and (flow.seen_bytes or 0) > 1e8 for flow in stray)


def test_ranks_that_share_a_namespace_share_its_counters() -> None:
    run = four_nodes(2, slow=None).run
    point = run.points[-1]
    shared = [
        WitnessReading(rank=0, interval_ns=3e8, counters={"net/hsn0/tx_bytes": (0, 10_000_000)}),
        WitnessReading(rank=1, interval_ns=3e8, shared_with=0),
    ]
    found = flows(
        msgspec.structs.replace(run, points=[msgspec.structs.replace(point, witness=shared)])
    )
    assert {flow.host for flow in found} == {"n1, n2"}
    assert next(flow.seen_bytes for flow in found if flow.direction == "out") == pytest.approx(1e7)


def test_without_points_there_is_no_picture() -> None:
    assert flows(empty().run) == []
