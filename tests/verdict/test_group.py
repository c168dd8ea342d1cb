"""Points of many ranks, compared with the wire: what must cross each node, seen or not, and what is
too fast.
"""

from typing import Any

import msgspec
import pytest
from tests.changed_runs import codes
from tests.records import estimate, group_result, point_record
from tests.synthetic import World, run_of

from wireproof.model.record import PointRecord, WitnessReading
from wireproof.model.run import Run
from wireproof.verdict.run import judge
from wireproof.verdict.run.group import CrossingBytes, crossings, operations

GBE = 117.0e6  # what 1 GbE carries, bytes/s
SIZE = 1 << 20


def group(
    pattern: str, ranks: int, operations: int, size: int, per_member: int, **changes: Any
) -> PointRecord:
    """Every member sends and receives ``per_member`` messages in each operation; the time is the
    wire's own.
    """
    moved = [operations * per_member * size] * ranks
    time_ns = per_member * size / GBE * 1e9 if size > 8 else 60_000.0
    time_ns = changes.pop("time_ns", time_ns)
    result = group_result(
        ranks,
        batch_ns=[time_ns] * 20,
        block_batches=[1] * 20,
        window_used=2,
        messages_per_operation=ranks * per_member,
        member_ns=[time_ns] * ranks,
        sent_bytes=moved,
        received_bytes=list(moved),
        exact=changes.pop("exact", True),
        estimate=estimate(time_ns, 0.005, blocks=20, effective_blocks=20.0),
        integrity="ok",
    )
    return point_record(
        700,
        pattern=pattern,
        message_bytes=size,
        window=2,
        elapsed_ns=time_ns * operations,
        group=result,
        order=changes.pop("order", "natural"),
    )


def seen(run: Run, point: PointRecord, share: float = 1.04, loopback: float = 0.0) -> Run:
    """``run`` with only this point, whose bytes the claimed port of every host saw, or a ``share``
    of them.
    """
    readings = []
    for rank, (sent, got) in enumerate(
        zip(point.group.sent_bytes, point.group.received_bytes, strict=True)
    ):
        nic = next(one.name for one in run.hosts[rank].nics if one.kind == "ethernet")
        claimed = next((one.nic for one in run.claim.hosts if one.rank == rank and one.nic), nic)
        counters = {
            f"net/{claimed}/tx_bytes": (100, 100 + int(sent * share)),
            f"net/{claimed}/rx_bytes": (100, 100 + int(got * share)),
            "net/lo/tx_bytes": (0, int(sent * loopback)),
            "net/lo/rx_bytes": (0, int(got * loopback)),
        }
        readings.append(
            WitnessReading(
                rank=rank, interval_ns=point.elapsed_ns, counters=counters, source="netlink"
            )
        )
    close = run.close and msgspec.structs.replace(run.close, points=1)
    return msgspec.structs.replace(
        run, points=[msgspec.structs.replace(point, witness=readings)], close=close
    )


def world(nodes: int = 4) -> Run:
    return run_of(World(nodes=nodes, sizes=(8,), patterns=("stream",)))


RING = group("ring", 4, 500, SIZE, 2)


def test_a_ring_whose_bytes_crossed_passes() -> None:
    found = judge(seen(world(), RING))
    assert (found.verdict, found.proof) == ("pass", "on-wire"), found.findings
    (ring,) = found.groups
    assert (ring.members, ring.nodes, ring.verdict) == (4, 4, "pass")
    assert ring.efficiency == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(
    ("share", "loopback", "proof", "code"),
    [
        (0.0, 0.0, "off-wire", "off-wire"),
        (0.0, 1.0, "off-wire", "loopback"),
        (0.5, 0.0, "mixed", "partly-off-wire"),
    ],
)
def test_bytes_that_did_not_cross_fail(
    share: float, loopback: float, proof: str, code: str
) -> None:
    found = judge(seen(world(), RING, share, loopback))
    assert (found.verdict, found.proof) == ("fail", proof)
    assert code in codes(found, "fail")


def test_faster_than_the_wire_fails() -> None:
    fast = group("ring", 4, 500, SIZE, 2, time_ns=2 * SIZE / GBE * 1e9 / 3)
    found = judge(seen(world(), fast))
    assert "below-floor" in codes(found, "fail")


def test_a_barrier_faster_than_any_message_fails() -> None:
    point = group("barrier", 4, 500, 0, 0, time_ns=900.0, exact=False)
    assert "below-floor" in codes(judge(seen(world(), point)), "fail")


def test_a_barrier_near_a_floor_from_literature_is_a_doubt() -> None:
    point = group("barrier", 4, 500, 0, 0, time_ns=6400.0, exact=False)
    assert "below-floor" in codes(judge(seen(world(), point)), "inconclusive")


def test_ranks_of_one_machine_are_no_wire() -> None:
    run = seen(world(), RING)
    one = [
        msgspec.structs.replace(reading, shared_with=0 if reading.rank else None)
        for reading in run.points[0].witness
    ]
    hosts = [msgspec.structs.replace(host, boot_id="one", netns=5) for host in run.hosts]
    run = msgspec.structs.replace(
        run, hosts=hosts, points=[msgspec.structs.replace(run.points[0], witness=one)]
    )
    found = judge(run)
    assert found.verdict == "fail"
    assert "shared-memory-suspected" in codes(found, "fail")


def test_a_collective_may_move_more_than_the_least() -> None:
    point = group("allreduce", 4, 500, SIZE, 1, exact=False)
    found = judge(seen(world(), point, share=1.9))
    assert found.proof == "on-wire"
    assert found.groups[0].efficiency is None
    assert judge(seen(world(), point, share=0.3)).verdict == "fail"


def test_a_changed_payload_fails() -> None:
    assert RING.group is not None
    spoiled = msgspec.structs.replace(
        RING, group=msgspec.structs.replace(RING.group, integrity="corrupt")
    )
    assert "payload-corrupt" in codes(judge(seen(world(), spoiled)), "fail")


def test_no_number_is_no_pass() -> None:
    assert RING.group is not None
    empty = msgspec.structs.replace(
        RING, group=msgspec.structs.replace(RING.group, estimate=None, status="error")
    )
    found = judge(seen(world(), empty))
    assert found.verdict == "inconclusive"
    assert found.groups == []


def crossing(point: PointRecord, *nodes: int) -> dict[int, tuple[float, float, bool]]:
    return {
        node: (one.tx / SIZE, one.rx / SIZE, one.exact)
        for node, one in crossings(point, dict(enumerate(nodes))).items()
    }


def test_what_must_cross_with_several_ranks_on_a_node() -> None:
    """Four ranks, two a node, one operation; values in messages."""
    ring = group("ring", 4, 1, SIZE, 2)
    assert crossing(ring, 0, 0, 1, 1) == {0: (2, 2, True), 1: (2, 2, True)}
    assert crossing(ring, 0, 1, 0, 1) == {0: (4, 4, True), 1: (4, 4, True)}
    wild = msgspec.structs.replace(ring, order="random")
    assert crossing(wild, 0, 0, 1, 1) == {0: (2, 2, False), 1: (2, 2, False)}
    everybody = group("all_to_all", 4, 1, SIZE, 3)
    assert crossing(everybody, 0, 0, 1, 1) == {0: (4, 4, True), 1: (4, 4, True)}
    rate = group("message_rate", 4, 1, SIZE, 1)
    assert crossing(rate, 0, 0, 1, 1) == {0: (2, 2, True), 1: (2, 2, True)}
    assert crossing(rate, 0, 1, 0, 1) == {0: (0, 0, True), 1: (0, 0, True)}
    assert crossing(ring, 3, 3, 3, 3) == {3: (0, 0, True)}
    assert crossings(msgspec.structs.replace(ring, group=None), {}) == {}


def test_congestion_crosses_pair_by_pair() -> None:
    """Two watched ranks and a stream: 3 messages each way, and 50 one way."""
    point = group("congestion", 4, 1, SIZE, 0)
    assert point.group is not None
    moved = msgspec.structs.replace(
        point.group,
        sent_bytes=[3 * SIZE, 3 * SIZE, 50 * SIZE, 0],
        received_bytes=[3 * SIZE, 3 * SIZE, 0, 50 * SIZE],
    )
    point = msgspec.structs.replace(point, group=moved)
    assert crossing(point, 0, 1, 0, 1) == {0: (53, 3, True), 1: (3, 53, True)}
    assert crossing(point, 0, 1, 0, 0) == {0: (3, 3, True), 1: (3, 3, True)}
    assert crossing(point, 0, 0, 1, 0) == {0: (0, 50, True), 1: (50, 0, True)}
    assert crossing(point, 0, 0, 1, 1) == {0: (0, 0, True), 1: (0, 0, True)}


@pytest.mark.parametrize(
    ("pattern", "sent"),
    [
        ("ring", [14, 14, 14, 14]),
        ("broadcast", [7, 0, 0, 0]),
        ("allreduce", [7, 7, 7, 7]),
        ("allgather", [7, 7, 7, 7]),
        ("alltoall", [21, 21, 21, 21]),
        ("congestion", [7, 7, 900, 0]),
    ],
)
def test_operations_follow_from_what_was_sent(pattern: str, sent: list[int]) -> None:
    """Seven operations of four members; a collective's ``messages_per_operation`` is its
    members.
    """
    point = group(pattern, 4, 1, SIZE, 2 if pattern == "ring" else 1)
    assert point.group is not None
    moved = msgspec.structs.replace(point.group, sent_bytes=[SIZE * count for count in sent])
    assert operations(msgspec.structs.replace(point, group=moved)) == 7
    assert operations(msgspec.structs.replace(point, group=None)) == 0
    assert operations(msgspec.structs.replace(point, message_bytes=0)) == 0


def test_one_rank_a_node_crosses_with_everything() -> None:
    assert crossings(RING, dict(enumerate((4, 5, 6, 7))))[4] == CrossingBytes(
        1000.0 * SIZE, 1000.0 * SIZE, True
    )


def test_a_shortfall_below_the_background_that_was_taken_off_is_no_lie() -> None:
    """3 % of the bytes are missing, and 5 % were taken off for what the port moves when idle:
    nobody knows.
    """
    run = seen(world(), RING, share=0.99)
    idle = [
        msgspec.structs.replace(
            one,
            interval_ns=run.points[0].elapsed_ns / 50,
            counters={
                name: int((after - before) / 50 * 0.04)
                for name, (before, after) in run.points[0].witness[one.rank].counters.items()
            },
        )
        for one in run.idle
    ]
    found = judge(msgspec.structs.replace(run, idle=idle))
    assert found.proof == "unproven", found.findings
    assert "background-traffic" in codes(found, "inconclusive")
