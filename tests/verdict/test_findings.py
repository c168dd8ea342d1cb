"""Each code is reached by the evidence that its entry names: the run as a whole, and the path."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.changed_runs import (
    SMALL,
    codes,
    each_counter,
    each_host,
    each_nic,
    each_pair,
    each_reading,
    set_,
    unread,
)
from tests.synthetic import World, run_of

from wireproof.model.record import (
    Clock,
    Close,
    EngineError,
    Idle,
    PointRecord,
    WitnessReading,
)
from wireproof.model.run import Missing, Run
from wireproof.physics import link_from_name
from wireproof.verdict.issue import overall
from wireproof.verdict.run import judge

# --- the run as a whole


def test_the_overall_verdict_is_the_worst_and_nothing_is_no_pass() -> None:
    found = judge(run_of(SMALL))
    assert overall(found.findings, found.pairs) == "pass"
    assert overall([], []) == "inconclusive"
    assert (
        overall([], [*found.pairs, set_(found.pairs[0], verdict="inconclusive")]) == "inconclusive"
    )
    assert overall([], [*found.pairs, set_(found.pairs[0], verdict="fail")]) == "fail"
    notes = judge(each_pair(run_of(SMALL), integrity="corrupt")).findings
    assert overall(notes, found.pairs) == "fail"


UNDECIDED = "inconclusive"
FAILED = Close(points=9, failed=2, elapsed_ns=1, peak_rss_bytes=1)
ONE_HOST = {"boot_id": "one", "hostname": "one", "cpu_count": 1, "netns": 0}
UNTIMED = {"batch_ns": [], "block_batches": [], "estimate": None}


def error(code: str) -> dict[str, Any]:
    return {"errors": [EngineError(code=code, message="asked for Intel, got MPICH")]}


def other_library(run: Run) -> Run:
    return set_(run, hosts=[run.hosts[0], set_(run.hosts[1], library="Another MPI 2.0")])


def test_nothing_measured_is_inconclusive() -> None:
    found = judge(set_(run_of(SMALL), points=[]))
    assert (found.verdict, found.proof) == ("inconclusive", "unproven")
    assert "nothing-measured" in codes(found, "inconclusive")


LATE = {99: Missing("deadline", "deadline of 30 s at point 99")}
KILLED = {
    99: Missing("rank-lost", "rank 1 on n2 was killed by SIGKILL at point 99"),
    100: Missing("rank-lost", "rank 1", reached=False),
}
WHOLE: list[tuple[str, Callable[..., Run], dict[str, Any], str, str]] = [
    ("missing point", set_, {"missing": {99: Missing("no-result")}}, "points-missing", UNDECIDED),
    ("deadline", set_, {"missing": LATE}, "deadline", UNDECIDED),
    ("killed rank", set_, {"missing": KILLED}, "rank-lost", UNDECIDED),
    ("not closed", set_, {"close": None}, "points-missing", UNDECIDED),
    ("failed points", set_, {"close": FAILED}, "points-missing", UNDECIDED),
    ("never opened", set_, {"open": None}, "engine-error", UNDECIDED),
    ("library asked for", set_, error("library-mismatch"), "library-mismatch", "fail"),
    ("libraries differ", other_library, {}, "library-mismatch", "fail"),
    ("peer gone", set_, error("peer-gone"), "rank-lost", UNDECIDED),
    ("odd error", set_, error("bad-plan"), "engine-error", UNDECIDED),
    ("no carrier", each_nic, {"carrier": False}, "nic-down", "fail"),
    ("port down", each_nic, {"operstate": "down"}, "nic-down", "fail"),
    ("slower NIC", each_nic, {"speed_mbps": 100}, "nic-speed-disagrees", "fail"),
    ("faster NIC", each_nic, {"speed_mbps": 10_000}, "nic-speed-disagrees", "warning"),
    ("few processors", each_host, ONE_HOST, "oversubscribed", "warning"),
    ("no boot id", each_host, {"boot_id": ""}, "placement-unknown", "warning"),
    ("corrupt", each_pair, {"integrity": "corrupt"}, "payload-corrupt", "fail"),
    ("stopped late", each_pair, {"status": "deadline"}, "deadline", UNDECIDED),
    ("pair error", each_pair, {"status": "error"}, "points-missing", UNDECIDED),
    ("no samples", each_pair, UNTIMED, "points-missing", UNDECIDED),
]


@pytest.mark.parametrize(
    ("name", "change", "values", "code", "severity"), WHOLE, ids=[row[0] for row in WHOLE]
)
def test_a_fault_of_the_run_is_told(
    name: str, change: Callable[..., Run], values: dict[str, Any], code: str, severity: str
) -> None:
    found = judge(change(run_of(SMALL), **values))
    assert code in codes(found, severity), [f.message for f in found.findings]
    assert found.verdict in ({"pass", "fail"} if severity == "warning" else {severity})


def test_a_host_is_not_blamed_for_reporting_a_deadline() -> None:
    """Rank 0 reports every deadline: its host was undecided while two others did not answer."""
    late = EngineError(code="deadline", message="the point did not finish", id=99, rank=0)
    found = judge(set_(run_of(SMALL), errors=[late]))
    assert {f.subject for f in found.findings if f.code == "deadline"} == {"run"}


def test_the_point_under_way_speaks_for_those_not_reached() -> None:
    reasons = {
        7: Missing("rank-lost", "rank 1 on n2 was killed by SIGKILL at point 7"),
        8: Missing("rank-lost", "rank 1 on n2 was killed by SIGKILL", reached=False),
    }
    found = judge(set_(run_of(SMALL), missing=reasons))
    told = next(f for f in found.findings if f.code == "rank-lost")
    assert "at point 7" in told.message
    assert "1 other point" in told.message


def test_the_clock_is_named_when_it_is_no_cycle_counter() -> None:
    run = run_of(SMALL)
    assert run.open is not None
    clock = Clock(source="monotonic", ns_per_tick=1, quantum_ns=1, read_cost_ns=22)
    found = judge(set_(run, open=set_(run.open, clock=clock)))
    assert codes(found) == {"clock-not-tsc"}
    assert found.verdict == "pass"


@pytest.mark.parametrize("transport", ["null", "model"])
def test_the_instrument_alone_proves_no_wire(transport: str) -> None:
    run = run_of(SMALL)
    assert run.open is not None
    found = judge(set_(run, open=set_(run.open, transport=transport)))
    assert (found.verdict, found.proof) == ("inconclusive", "unproven")
    assert "instrument-only" in codes(found)


def test_without_a_link_there_is_no_limit_and_no_pass() -> None:
    run = run_of(SMALL)
    found = judge(set_(run, claim=set_(run.claim, link=None)))
    assert found.verdict == "inconclusive"
    assert codes(found) == {"no-limit-known"}
    assert all("no-limit-known" in pair.codes for pair in found.pairs)
    assert (
        judge(set_(run, claim=set_(run.claim, link=None)), link=link_from_name("1gbe")).verdict
        == "pass"
    )


def test_one_machine_that_was_asked_for_is_reported_and_not_passed() -> None:
    memory = {"path": "shm", "link": "shm", "wire": False, "shared_ranks": 2}
    world = replace(SMALL, one_machine=True, one_namespace=True, **memory)
    found = judge(run_of(world))
    assert (found.verdict, found.proof) == ("inconclusive", "off-wire")
    assert codes(found, "fail") == set()
    assert "no-wire-claimed" in codes(found, "inconclusive")
    assert {pair.verdict for pair in found.pairs} == {"inconclusive"}
    assert all(pair.value > 0 for pair in found.pairs)
    corrupt = judge(each_pair(run_of(world), integrity="corrupt"))
    assert corrupt.verdict == "fail"


# --- the path


def test_names_alone_do_not_part_machines() -> None:
    found = judge(each_host(run_of(replace(SMALL, path="shm")), boot_id="the same"))
    assert found.proof == "off-wire"
    assert codes(found, "fail") >= {"shared-memory-suspected"}
    # as clones have, and both ports saw it all
    crossed = judge(each_host(run_of(SMALL), boot_id="the same"))
    assert (crossed.verdict, crossed.proof) == ("inconclusive", "unproven")


def test_no_counters_no_proof() -> None:
    found = judge(unread(run_of(SMALL)))
    assert (found.verdict, found.proof) == ("inconclusive", "unproven")
    assert "unproven-no-counters" in codes(found, "inconclusive")


def test_unreadable_counters_are_no_zeros() -> None:
    run = each_counter(run_of(SMALL), lambda name, pair: None if "hsn0" in name else pair)
    lost = ["net/hsn0/tx_bytes", "net/hsn0/rx_bytes"]
    found = judge(each_reading(run, lambda reading, _: set_(reading, unreadable=lost)))
    assert (found.verdict, found.proof) == ("inconclusive", "unproven")
    assert judge(run).proof == "off-wire"  # readable, and quiet


def test_one_deaf_end_is_no_proof() -> None:
    def deaf(name: str, pair: tuple[int, int]) -> tuple[int, int] | None:
        return None if name == "net/hsn0/rx_bytes" else pair

    found = judge(each_counter(run_of(replace(SMALL, patterns=("stream",))), deaf))
    assert (found.verdict, found.proof) == ("inconclusive", "unproven")
    # its packets moved: the bytes are not to be believed
    assert "counter-wrapped" in codes(found, "inconclusive")

    def both(name: str, pair: tuple[int, int]) -> tuple[int, int] | None:
        return None if name in ("net/hsn0/rx_bytes", "net/hsn0/rx_packets") else pair

    assert "ends-disagree" in codes(
        judge(each_counter(run_of(replace(SMALL, patterns=("stream",))), both)), "inconclusive"
    )


@pytest.mark.parametrize(("top", "noted"), [(2**32, True), (2**64, False)])
def test_one_clean_wrap_is_repaired_and_that_of_32_bits_is_noted(top: int, noted: bool) -> None:
    def near_the_top(name: str, pair: tuple[int, int]) -> tuple[int, int]:
        before = top - 1000
        return (before, (before + pair[1] - pair[0]) % top) if name == "net/hsn0/tx_bytes" else pair

    found = judge(each_counter(run_of(replace(SMALL, sizes=(65536,))), near_the_top))
    assert found.verdict == "pass"
    assert ("counter-wrapped" in codes(found, "note")) is noted


def test_a_reset_counter_proves_nothing() -> None:
    found = judge(
        each_counter(run_of(SMALL), lambda name, pair: (10**7, 10**5) if "hsn0" in name else pair)
    )
    assert (found.verdict, found.proof) == ("inconclusive", "unproven")
    assert "counter-wrapped" in codes(found, "inconclusive")


def test_loud_foreign_traffic_on_the_port_is_no_proof() -> None:
    run = run_of(SMALL)
    ways = ("net/hsn0/tx_bytes", "net/hsn0/rx_bytes")
    loud = each_counter(
        run, lambda name, pair: (pair[0], pair[1] + 10**10) if name in ways else pair
    )
    found = judge(loud)
    assert (found.verdict, found.proof) == ("inconclusive", "unproven")
    assert "background-traffic" in codes(found, "inconclusive")
    steady = [
        Idle(rank=r, interval_ns=2e8, counters={"net/hsn0/tx_bytes": 10**9}) for r in range(2)
    ]
    assert judge(set_(run, idle=steady)).proof == "unproven"


def test_half_the_payload_on_no_port_is_mixed() -> None:
    def half(name: str, pair: tuple[int, int]) -> tuple[int, int]:
        return (pair[0], pair[0] + (pair[1] - pair[0]) // 2) if "hsn0" in name else pair

    found = judge(each_counter(run_of(replace(SMALL, sizes=(1 << 20,))), half))
    assert (found.verdict, found.proof) == ("fail", "mixed")
    assert "partly-off-wire" in codes(found, "fail")


def test_too_few_bytes_prove_nothing_and_do_not_pass() -> None:
    run = each_pair(
        run_of(replace(SMALL, sizes=(8,), patterns=("stream",))),
        messages_forward=500,
        payload_forward_bytes=4000,
        operations_per_batch=1,
    )
    found = judge(run)
    assert found.verdict != "pass"
    assert {pair.proof for pair in found.pairs} == {"unproven"}
    assert "unproven-too-few-bytes" in codes(found, "inconclusive")


def test_a_claimed_nic_that_is_not_there_is_named() -> None:
    run = run_of(SMALL)
    hosts = [set_(claim, nic="ib7") for claim in run.claim.hosts]
    found = judge(set_(run, claim=set_(run.claim, hosts=hosts)))
    told = next(f for f in found.findings if f.code == "nic-unknown")
    assert "ib7" in told.message
    assert "hsn0" in told.message
    assert found.verdict == "inconclusive"


def test_without_a_claimed_nic_the_port_that_carried_it_is_found() -> None:
    found = judge(run_of(replace(SMALL, claim_nic=False, sizes=(1 << 20,), management=2_000)))
    assert found.proof == "on-wire"
    striped = judge(run_of(replace(SMALL, claim_nic=False, sizes=(1 << 20,), path="stripe")))
    assert striped.proof == "mixed"


def test_a_bond_may_carry_what_its_members_carry_too() -> None:
    def doubled(reading: WitnessReading, _: PointRecord) -> WitnessReading:
        on_eth0 = {k.replace("hsn0", "eth0"): v for k, v in reading.counters.items() if "hsn0" in k}
        return set_(reading, counters=reading.counters | on_eth0)

    run = each_reading(run_of(replace(SMALL, sizes=(1 << 20,))), doubled)
    assert judge(run).proof == "unproven"  # two ports moved all of it: which one was it?
    assert (
        judge(each_nic(run, driver="bonding", link_kind="bond", lower=["eth0"])).proof == "on-wire"
    )


def test_kernel_tcp_instead_of_rdma_is_told() -> None:
    world = World(link="edr", mtu=None, driver="mlx5", latency_ns=1_000, sizes=(1 << 20,))

    def by_kernel(reading: WitnessReading, point: PointRecord) -> WitnessReading:
        pair = point.pairs[0]
        moved = {pair.origin: pair.payload_forward_bytes, pair.target: pair.payload_backward_bytes}
        more = {"net/hsn0/tx_bytes": (0, moved[reading.rank])}
        return set_(reading, counters=reading.counters | more)

    assert "tcp-instead-of-rdma" not in codes(judge(run_of(world)))
    assert "tcp-instead-of-rdma" in codes(judge(each_reading(run_of(world), by_kernel)), "fail")


@pytest.mark.parametrize("path", ["wire", "shm", "mgmt"])
def test_an_adapter_that_is_not_in_the_catalogue_is_unproven_by_name(path: str) -> None:
    edr = {"link": "edr", "mtu": None, "latency_ns": 1_000, "management": 2_000}
    found = judge(run_of(World(driver="newcomer", path=path, **edr)))
    assert found.proof == "unproven"
    assert found.verdict != "pass"
    told = next(finding for finding in found.findings if finding.code == "adapter-unknown")
    assert "'newcomer'" in told.message
