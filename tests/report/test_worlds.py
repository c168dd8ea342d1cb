"""Synthetic runs and judgements for the report's tests. Invented numbers: never results, never
shipped.
"""

import random
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from tests.records import estimate, pair_result, point_record

from wireproof.model.claim import Claim, HostClaim, Limits, LinkClaim
from wireproof.model.finding import Finding, Judgement, PairVerdict, Port, Proof, Verdict
from wireproof.model.record import (
    Clock,
    Close,
    EngineError,
    Floor,
    Host,
    Idle,
    Nic,
    Open,
    PairResult,
    PointRecord,
    Sentinel,
    Warmup,
    WitnessReading,
)
from wireproof.model.run import Missing, Provenance, Run
from wireproof.model.tuning import Standing, StandingSet
from wireproof.report.judged_run import JudgedRun

ATTAINABLE = 119.5e6
FLOOR_NS = 4_000.0
OPERATIONS = 160
BATCHES = 40
SWEEP = [0, 1, 8, 64, 512, 4096, 16384, 65536, 262144, 1 << 20, 4 << 20]
LIMITS = Limits(
    attainable_bytes_per_s=ATTAINABLE,
    floor_ns=FLOOR_NS,
    derivation=[
        "line rate 1 000 000 000 b/s = 125.0 MB/s",
        "TCP/IPv4 with timestamps at MTU 1500: 1448 payload of 1514 counted bytes = 95.64 %",
        "attainable = 119.5 MB/s",
    ],
    sources=["synthetic, for tests only"],
)


def four_nodes(hosts: int = 4, slow: int | None = 2, bad_factor: float = 0.31) -> JudgedRun:
    """``hosts`` nodes at 1 Gb/s; node ``slow`` (index) sends at ``bad_factor`` of attainable. None:
    a good world.
    """
    dice = random.Random(7)
    points: list[PointRecord] = []
    pairs: list[PairVerdict] = []
    for size in SWEEP:
        value = _half_round_trip(size) * dice.uniform(0.995, 1.005)
        _add(points, pairs, _Measured("pingpong", size, 0, 1, value), dice)
        if size:
            rate = _stream_rate(size) * dice.uniform(0.997, 1.003)
            _add(points, pairs, _Measured("stream", size, 0, 1, rate), dice)
    for origin in range(hosts):
        for target in range(hosts):
            if origin == target or (origin, target) == (0, 1):
                continue
            share = bad_factor if origin == slow else 0.995
            rate = ATTAINABLE * share * dice.uniform(0.99, 1.005)
            _add(points, pairs, _Measured("stream", 1 << 20, origin, target, rate), dice)
    findings = [_slow_finding(f"n{slow + 1}", bad_factor)] if slow is not None else []
    verdict: Verdict = "fail" if slow is not None else "pass"
    return JudgedRun(
        title=f"Screen of {hosts} nodes",
        lead="Every direction of every pair was streamed in rounds of disjoint pairs; one pair was "
        "swept over sizes.",
        run=_run(points, hosts),
        judgement=Judgement(verdict=verdict, proof="on-wire", findings=findings, pairs=pairs),
        limits=LIMITS,
    )


def rejudged(section: JudgedRun, **changes: Any) -> JudgedRun:
    """``section`` with another judgement in these fields."""
    return replace(section, judgement=msgspec.structs.replace(section.judgement, **changes))


def off_wire() -> JudgedRun:
    """Two ranks that claim two hosts and use shared memory: plausible numbers, nothing on the
    NIC.
    """
    dice = random.Random(11)
    points: list[PointRecord] = []
    pairs: list[PairVerdict] = []
    for size in (8, 4096, 65536, 1 << 20):
        time = 420.0 + size / 12.0
        _add(points, pairs, _Measured("pingpong", size, 0, 1, time, "off-wire"), dice)
    _add(points, pairs, _Measured("stream", 1 << 20, 0, 1, 9.4e9, "off-wire"), dice)
    due = sum(pair.expected_bytes or 0 for pair in pairs)
    finding = Finding(
        code="nolocal-shm",
        severity="fail",
        message=f"n1 -> n2: {due / 1e6:.0f} MB sent; port hsn0 counted 0 B; the bytes never "
        "left the machine",
        advice="Separate the nodes' IPC namespace and /dev/shm, or forbid shared memory below.",
        subject="n1 -> n2",
        evidence={"expected_bytes": due, "seen_bytes": 0, "nic": "hsn0"},
    )
    return JudgedRun(
        title="A lie that was caught",
        lead="Planted on purpose: both ranks were put into one shared-memory domain while two "
        "hosts were claimed.",
        run=_run(points, 2),
        judgement=Judgement(verdict="fail", proof="off-wire", findings=[finding], pairs=pairs),
        limits=LIMITS,
    )


def empty() -> JudgedRun:
    """A run that never opened: nothing measured."""
    run = Run(claim=Claim(hosts=[]), provenance=_provenance(), open=None, hosts=[], points=[])
    return JudgedRun(
        "Nothing", run, Judgement(verdict="inconclusive", proof="unproven", findings=[], pairs=[])
    )


HOSTILE = (
    "</script><script>alert(1)</script>\x1b[31m\u202e\r\n'\"><img src=x "
    "onerror=alert(2)>:smile:[bold]{{7*7}}"
)


def hostile() -> JudgedRun:
    """Every name and text that comes from a node is an attack on the terminal or on the page."""
    section = four_nodes(2, slow=None)
    pairs = [
        msgspec.structs.replace(pair, origin_host=HOSTILE, label=HOSTILE)
        for pair in section.judgement.pairs
    ]
    finding = Finding(
        code=HOSTILE,
        severity="fail",
        message=HOSTILE,
        advice=HOSTILE,
        subject=HOSTILE,
        evidence={HOSTILE: HOSTILE},
    )
    judged = Judgement(verdict="fail", proof="on-wire", findings=[finding, finding], pairs=pairs)
    run = _hostile_run(section.run)
    one = StandingSet(id=HOSTILE, state="armed", hosts=[HOSTILE], since=HOSTILE, changes=[HOSTILE])
    standing = Standing(hosts=[HOSTILE], sets=[one], unread={HOSTILE: [HOSTILE]})
    return JudgedRun(HOSTILE, run, judged, LIMITS, lead=HOSTILE, standing=standing)


def _hostile_run(run: Run) -> Run:
    hosts = [
        msgspec.structs.replace(
            host, host=HOSTILE, hostname=f"{HOSTILE}{host.rank}", library=HOSTILE
        )
        for host in run.hosts
    ]
    claims = [msgspec.structs.replace(claim, host=HOSTILE) for claim in run.claim.hosts]
    return msgspec.structs.replace(
        run,
        provenance=msgspec.structs.replace(
            run.provenance,
            mpi=HOSTILE,
            argv=[HOSTILE],
            environment={HOSTILE: HOSTILE},
            notes=[HOSTILE],
            started=HOSTILE,
        ),
        hosts=hosts,
        claim=msgspec.structs.replace(run.claim, hosts=claims),
        errors=[EngineError(code=HOSTILE, message=HOSTILE)],
        missing={99: Missing("failed", HOSTILE)},
    )


def _slow_finding(host: str, share: float) -> Finding:
    return Finding(
        code="node-direction-slow",
        severity="fail",
        message=f"{host} sends at 297 Mb/s of 956 attainable ({100 * share:.0f} %)",
        advice="Look at that node's NIC, cable and switch port in the named direction.",
        subject=f"{host} tx",
        about=Port(host, "tx"),
        evidence={
            "node": host,
            "direction": "tx",
            "value_bytes_per_s": 37.1e6,
            "others_bytes_per_s": 119.1e6,
        },
    )


def _half_round_trip(size: int) -> float:
    return 11_200.0 + size / ATTAINABLE * 1e9


def _stream_rate(size: int) -> float:
    return size / (1_300.0 / 1e9 + size / (ATTAINABLE * 0.994))


@dataclass(frozen=True)
class _Measured:
    """One point as it is measured: ``value`` is ns or bytes/s, by the pattern."""

    pattern: str
    size: int
    origin: int
    target: int
    value: float
    proof: Proof = "on-wire"

    @property
    def messages(self) -> int:
        return OPERATIONS + (OPERATIONS // 4 if self.size >= 65536 else 3000)


def _add(
    points: list[PointRecord], pairs: list[PairVerdict], one: _Measured, dice: random.Random
) -> None:
    record = _point(len(points), one)
    points.append(record)
    pairs.append(_judged(record, one.value, dice.uniform(0.002, 0.011), one.proof))


def _judged(record: PointRecord, value: float, spread: float, proof: Proof) -> PairVerdict:
    """What a judge would say of a point with one pair."""
    pair, size = record.pairs[0], record.message_bytes
    latency = record.pattern == "pingpong"
    share = None if latency else value / ATTAINABLE
    bad = proof != "on-wire" or (share is not None and size >= 65536 and share < 0.9)
    codes = ["nolocal-shm"] if proof != "on-wire" else ["node-direction-slow"] if bad else []
    seen = (
        0
        if proof == "off-wire"
        else int(pair.payload_forward_bytes * 1.045 + 66 * pair.messages_forward)
    )
    return PairVerdict(
        point=record.id,
        pattern=record.pattern,
        message_bytes=size,
        origin=pair.origin,
        target=pair.target,
        origin_host=f"n{pair.origin + 1}",
        target_host=f"n{pair.target + 1}",
        unit="ns" if latency else "bytes_per_s",
        value=value,
        low=value * (1 - spread),
        high=value * (1 + spread),
        half_width=spread,
        label="stable",
        proof=proof,
        verdict="fail" if bad else "pass",
        limit=FLOOR_NS if latency else ATTAINABLE,
        efficiency=share,
        codes=codes,
        expected_bytes=pair.payload_forward_bytes,
        seen_bytes=seen,
        form=record.form,
    )


def _point(index: int, one: _Measured) -> PointRecord:
    latency = one.pattern == "pingpong"
    turns = 2 if latency else 1
    per_operation = one.value if latency else one.size / one.value * 1e9
    moved = one.messages * one.size
    times = [per_operation * 4 * turns * (1 + 0.001 * (i % 5)) for i in range(BATCHES)]
    result = pair_result(
        one.origin,
        one.target,
        operations_per_batch=OPERATIONS // BATCHES,
        batch_ns=times,
        block_batches=[4] * 10,
        messages_forward=one.messages,
        messages_backward=one.messages if latency else 0,
        payload_forward_bytes=moved,
        payload_backward_bytes=moved if latency else 0,
        warmup=Warmup(operations=1000, elapsed_ns=2e6, stationary=True),
        window_used=1 if latency else 4,
        estimate=estimate(per_operation, 0.005, effective_blocks=9.1, autocorrelation=0.05),
        sentinels=[Sentinel(clock_read_ns=18.0, involuntary_switches=0, steal_ns=0.0)],
        integrity="ok",
    )
    return point_record(
        index,
        pattern=one.pattern,
        form="latency" if latency else "stream",
        message_bytes=one.size,
        window=64,
        started_unix_ns=1_700_000_000_000_000_000 + index,
        elapsed_ns=per_operation * one.messages * turns * 1.1 + 5e6,
        pairs=[result],
        witness=_witness(result, one.proof),
    )


def _witness(pair: PairResult, proof: Proof) -> list[WitnessReading]:
    """Counters of both ends: 4.5 % of headers, 66 bytes for each small message, and
    acknowledgements the other way.
    """
    crossed = 0 if proof == "off-wire" else 1
    there = crossed * int(pair.payload_forward_bytes * 1.045 + 66 * pair.messages_forward)
    back = crossed * int(
        pair.payload_backward_bytes * 1.045 + 66 * pair.messages_backward + 0.01 * there
    )
    readings = []
    for rank, out, into in ((pair.origin, there, back), (pair.target, back, there)):
        counters = {
            "net/hsn0/tx_bytes": (1000, 1000 + out),
            "net/hsn0/rx_bytes": (5000, 5000 + into),
            "net/eth0/rx_bytes": (0, 180),
        }
        changed = {name: pair for name, pair in counters.items() if pair[0] != pair[1]}
        readings.append(WitnessReading(rank=rank, interval_ns=3e8, counters=changed))
    return readings


def _run(points: list[PointRecord], hosts: int) -> Run:
    link = LinkClaim(
        kind="1gbe",
        protocol="tcp",
        rate_bits_per_s=1e9,
        mtu=1500,
        source="stated by the test",
        preamble_counted=False,
    )
    claim = Claim(
        hosts=[HostClaim(rank=rank, host=f"n{rank + 1}", nic="hsn0") for rank in range(hosts)],
        link=link,
        virtual=True,
    )
    return Run(
        claim=claim,
        provenance=_provenance(),
        open=Open(
            schema=1,
            engine="wireproof-engine 0.1 (synthetic)",
            abi="mpiabi",
            transport="mpi",
            run_id="synthetic",
            seed=42,
            ranks=hosts,
            clock=Clock(source="tsc", ns_per_tick=0.34, quantum_ns=0.34, read_cost_ns=18.0),
        ),
        hosts=[_host(rank) for rank in range(hosts)],
        points=points,
        idle=[
            Idle(rank=rank, interval_ns=2e8, counters={"net/eth0/rx_bytes": 90})
            for rank in range(hosts)
        ],
        floors=[
            Floor(pattern="pingpong", form="latency", floor_ns=9.2),
            Floor(pattern="stream", form="stream", floor_ns=4.1),
        ],
        close=Close(points=len(points), failed=0, elapsed_ns=2.1e10, peak_rss_bytes=31 << 20),
    )


def _host(rank: int) -> Host:
    return Host(
        rank=rank,
        host=f"n{rank + 1}",
        hostname=f"n{rank + 1}",
        boot_id="b" * 32,
        machine_id=f"{rank:032x}",
        netns=4026532000 + rank,
        ipcns=4026533000 + rank,
        pid=100 + rank,
        cpus_allowed="0-1",
        cpu_count=2,
        core=rank % 2,
        library="MPICH Version: 5.0.1 (synthetic)",
        library_path="/opt/example/lib/libmpi_abi.so.1",
        mpi_standard="5.0",
        shared_ranks=1,
        nics=[
            Nic(
                name="hsn0",
                address=[f"10.7.1.{rank + 1}"],
                driver="veth",
                mtu=1500,
                speed_mbps=10000,
                carrier=True,
            ),
            Nic(
                name="eth0",
                address=[f"10.7.0.{rank + 1}"],
                driver="veth",
                mtu=1500,
                speed_mbps=10000,
                carrier=True,
            ),
        ],
    )


def _provenance() -> Provenance:
    return Provenance(
        wireproof="0.1.0",
        mpi="MPICH 5.0.1 (synthetic)",
        engine="wireproof-engine.mpiabi",
        argv=["mpiexec", "-hosts", "n1,n2,n3,n4", "-n", "4", "wireproof-engine.mpiabi", "run"],
        environment={"UCX_NET_DEVICES": "hsn0", "UCX_TLS": "tcp,self"},
        launcher="hydra, lab agent",
        started="2026-01-01T00:00:00Z",
        notes=["synthetic data of a test"],
    )


def test_worlds_are_flagged_as_synthetic() -> None:
    for section in (four_nodes(), off_wire()):
        assert "synthetic" in section.run.provenance.mpi
        assert section.judgement.pairs
        assert {pair.point for pair in section.judgement.pairs} == {
            point.id for point in section.run.points
        }
