"""QPs and memory of a job: closed forms, the slides' numbers, bounds as properties."""

import contextlib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.model.errors import BadInput
from wireproof.plan import Bounds, Footprint, LimitCheck
from wireproof.plan.footprint import footprint as computed
from wireproof.plan.footprint import limit_of_attributes, qp_limit
from wireproof.plan.footprint.modes import MODES, PlannedJob
from wireproof.plan.footprint.observed import of_job, of_memory, of_node, resources_of

SLIDES = {"nodes": 64, "ppn": 28}
MESH = 63 * 28  # remote ranks of a rank, all with all


def footprint(
    mode: str, nodes: int, ppn: int, *, limits: tuple[LimitCheck, ...] = (), **options: Any
) -> Footprint:
    return computed(mode, PlannedJob(nodes=nodes, ppn=ppn, **options), limits)


@pytest.mark.parametrize(
    ("mode", "rank", "node", "job"),
    [
        ("psm3-rdma0", (1, 1), (28, 28), (1792, 1792)),
        ("psm3-rdma1", (1, 1), (28, 28 + 4 * 63), (1792, 1792 + 8 * 2016)),
        ("psm3-rdma2", (1, 1765), (28, 28 * 1765), (1792, 1792 * 1765)),
        ("psm3-rdma3", (1, 1765), (28, 28 * 1765), (1792, 1792 * 1765)),
        ("rxm", (0, 1764), (0, 49_392), (0, 3_161_088)),
        ("rxm-srx", (0, 1764), (0, 49_392), (0, 3_161_088)),
        ("ucx-rc", (0, 1765), (0, 28 * 1765), (0, 1792 * 1765)),
        ("ucx-dc", (9, 10), (28 * 9, 280), (1792 * 9, 17_920)),
        ("ucx-ud", (1, 1), (28, 28), (1792, 1792)),
    ],
)
def test_queue_pairs_of_64_nodes_with_28_ranks(
    mode: str, rank: tuple[int, int], node: tuple[int, int], job: tuple[int, int]
) -> None:
    """Counts by hand: UD per rank, RC per pair, each end counted; nobody talks, or all with all."""
    qps = footprint(mode, **SLIDES).qps
    assert (qps.rank, qps.node, qps.job) == (Bounds(*rank), Bounds(*node), Bounds(*job))


def test_the_slides_9696_queue_pairs_are_988_pairs_of_nodes_among_other_readings() -> None:
    """9,696 = 64 x 28 UD + 2 x 4 x 988: the slide does not say who talked, so it is one reading."""
    seen = of_job(footprint("psm3-rdma1", **SLIDES), 9696)
    assert seen.inside
    assert "lie between the bounds, 1,792 and 17,920" in seen.sentences[0]
    first = seen.readings[0]
    assert (first.connection, first.pairs, first.whole) == (4, 988, True)
    assert first.share == pytest.approx(988 / 2016)
    assert {(one.connection, one.pairs) for one in seen.readings} == {
        (4, 988),
        (2, 1976),
        (8, 494),
        (16, 247),
    }
    assert "does not distinguish these readings" in seen.sentences[-1]
    exact = footprint("psm3-rdma1", **SLIDES, node_pairs=988)
    assert exact.qps.job == Bounds(9696, 9696)


def test_the_slides_495_gigabytes_are_not_those_of_queue_pairs() -> None:
    found = footprint("psm3-rdma1", **SLIDES)
    assert found.bytes.job.high < 110e9
    seen = of_memory(found, 495 * 10**9)
    assert not seen.inside
    assert "393.5 GB are the application's" in seen.sentences[1]


def test_memory_of_a_psm3_rank_is_that_of_the_closed_form() -> None:
    """S M + R (M + 64) of buffers alone, for packets of 4 KiB and of 1 KiB."""
    for mtu, payload in ((9000, 4096), (1500, 1024)):
        parts = {part.name: part for part in footprint("psm3-rdma0", 2, 1, mtu=mtu).parts}
        assert parts["send buffers"].bytes == Bounds(4080 * payload, 4080 * payload)
        assert parts["receive buffers"].bytes.low == 4095 * (payload + 64)
    rank = footprint("psm3-rdma0", 2, 1).bytes.rank
    assert 36e6 < rank.low < rank.high < 54e6


def test_rxm_without_shared_receive_has_its_buffers_for_each_peer() -> None:
    plain, shared = footprint("rxm", **SLIDES), footprint("rxm-srx", **SLIDES)
    assert plain.bytes.rank.high > MESH * 128 * 16_384
    assert shared.bytes.rank.high < plain.bytes.rank.high / 10


def test_mode_3_without_a_shared_queue_has_buffers_for_each_peer() -> None:
    with_srq = footprint("psm3-rdma3", **SLIDES)
    without = footprint("psm3-rdma3", **SLIDES, settings={"psm3_use_srq": 0})
    assert without.bytes.rank.high > 8 * with_srq.bytes.rank.high
    assert with_srq.qps == without.qps


@given(
    mode=st.sampled_from(sorted(MODES)),
    nodes=st.integers(1, 200),
    ppn=st.integers(1, 64),
    rails=st.integers(1, 4),
)
def test_bounds_are_ordered_and_grow_with_the_job(
    mode: str, nodes: int, ppn: int, rails: int
) -> None:
    found = footprint(mode, nodes, ppn, rails=rails)
    for sums in (found.qps, found.bytes):
        assert 0 <= sums.rank.low <= sums.rank.high <= sums.node.high <= sums.job.high
        assert sums.node.low <= sums.node.high
        assert sums.job.low * (1 - 1e-9) <= nodes * sums.node.high
    larger = footprint(mode, nodes + 1, ppn, rails=rails)
    assert larger.qps.job.high > found.qps.job.high
    assert larger.qps.job.low >= found.qps.job.low
    assert larger.bytes.node.high >= found.bytes.node.high


@given(
    mode=st.sampled_from(sorted(MODES)),
    nodes=st.integers(2, 40),
    ppn=st.integers(1, 16),
    data=st.data(),
)
def test_what_is_known_of_the_peers_narrows_the_bounds(
    mode: str, nodes: int, ppn: int, data: st.DataObject
) -> None:
    wide = footprint(mode, nodes, ppn)
    peers = data.draw(st.integers(0, (nodes - 1) * ppn))
    pairs = data.draw(st.integers(0, nodes * (nodes - 1) // 2))
    for narrow in (
        footprint(mode, nodes, ppn, peers=peers),
        footprint(mode, nodes, ppn, node_pairs=pairs),
    ):
        for name in ("rank", "node", "job"):
            outer, inner = getattr(wide.qps, name), getattr(narrow.qps, name)
            assert outer.low <= inner.low <= inner.high <= outer.high


@given(nodes=st.integers(2, 60), ppn=st.integers(1, 16), data=st.data())
def test_a_real_communication_lies_within_its_bounds(
    nodes: int, ppn: int, data: st.DataObject
) -> None:
    """Draw who talks to whom, count by hand, and compare with what the pairs alone allow."""
    ranks = nodes * ppn
    links = data.draw(
        st.sets(
            st.tuples(st.integers(0, ranks - 1), st.integers(0, ranks - 1))
            .filter(lambda pair: pair[0] // ppn != pair[1] // ppn)
            .map(lambda pair: (min(pair), max(pair))),
            max_size=40,
        )
    )
    node_pairs = {(min(a // ppn, b // ppn), max(a // ppn, b // ppn)) for a, b in links}
    for mode, true in (
        ("psm3-rdma1", ranks + 8 * len(node_pairs)),
        ("psm3-rdma2", ranks + 2 * len(links)),
    ):
        job = footprint(mode, nodes, ppn, node_pairs=len(node_pairs)).qps.job
        assert job.low <= true <= job.high


def test_one_node_needs_no_connection() -> None:
    found = footprint("psm3-rdma1", 1, 28)
    assert found.qps.job == Bounds(28, 28)
    assert found.peers.most_pairs == 0


def test_limits_say_whether_a_node_fits() -> None:
    attributes = "hca_id: mlx5_0\n\tmax_qp:\t\t\t131072\n"
    limits = (limit_of_attributes(attributes), qp_limit("small", 100, "made up"))
    fits = [check.fits for check in footprint("psm3-rdma1", **SLIDES, limits=limits).limits]
    assert fits == [True, None]
    crowded = footprint("psm3-rdma2", **SLIDES, peers=1764, limits=limits).limits
    assert [check.fits for check in crowded] == [True, False]
    assert limit_of_attributes("hca_id: \x1b[31mevil\nmax_qp: 9\n").adapter == "adapter"
    with pytest.raises(BadInput, match="no max_qp"):
        limit_of_attributes("hca_id: mlx5_0")


QP_TEXT = "\n".join(
    [
        "link irdma0/1 lqpn 1 type GSI state RTS sq-psn 0 comm [ib_core]",
        *(
            f"link irdma0/1 lqpn {10 + n} type UD state RTS sq-psn 0 pid {100 + n} comm wrf"
            for n in range(4)
        ),
        *(f"link irdma0/1 lqpn {50 + n} type RC state RTS rqpn 5 comm [rv]" for n in range(24)),
        "dev irdma0 mrn 3 rkey 0x1 lkey 0x2 mrlen 17039360 pdn 4 pid 100 comm wrf",
    ]
)


def test_a_small_real_run_calibrates_the_formula() -> None:
    """8 nodes x 4 ranks: 4 UD and 24 kernel RC QPs on one node are 6 of its 7 peer nodes."""
    seen = of_node(footprint("psm3-rdma1", 8, 4), resources_of(QP_TEXT))
    assert seen.by_kind == {"RC": 24, "UD": 4}
    assert (seen.qps, seen.processes, seen.registered_bytes) == (28, 4, 17_039_360)
    assert seen.inside
    assert seen.job_qps == 8 * 28
    assert (seen.readings[0].pairs, seen.readings[0].whole) == (6, True)


def test_a_mode_that_fell_back_is_outside_of_the_bounds() -> None:
    """PSM3_RDMA=1 was asked for with all peers known to talk, and no RC QP is there."""
    only_ud = "\n".join(line for line in QP_TEXT.splitlines() if "type RC" not in line)
    found = footprint("psm3-rdma1", 8, 4, node_pairs=28)
    seen = of_node(found, resources_of(only_ud))
    assert not seen.inside
    assert "fewer than the bounds allow" in seen.sentences[0]


def test_rdma_resource_is_read_as_json_and_as_a_summary() -> None:
    rows = [{"ifname": "mlx5_0", "lqpn": n, "type": "RC", "pid": 7} for n in range(3)]
    assert resources_of(msgspec.json.encode(rows).decode()).by_kind == {"RC": 3}
    evil = "link a/1 lqpn 3 type \x1b[31mRC state RTS pid 5\n"
    assert resources_of(evil).by_kind == {"UNKNOWN": 1}
    summary = "0: mlx5_0: pd 3 cq 5 qp 4 cm_id 0 mr 0 ctx 0 srq 2\n"
    assert resources_of(summary).by_kind == {"any": 4}


@pytest.mark.parametrize("text", ["", "[", "hello", "[1, 2]", "0: mlx5_0: pd 3", '{"lqpn"'])
def test_an_output_without_queue_pairs_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="observed"):
        resources_of(text)


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(BadInput):
        assert resources_of(text).qps >= 0


def test_every_part_has_its_formula() -> None:
    assert all(part.formula for part in footprint("psm3-rdma1", **SLIDES).parts)
