"""Streams whose printed rate no reading shows: the bytes of their repetitions decide."""

import math

import msgspec
import pytest
from tests.records import osu_rates
from tests.watch.test_prove_verdict import MB, claim, codes, pair, stream

from wireproof.ledger.traffic_printed import printed
from wireproof.model.quantity import volume
from wireproof.model.series import Series, SeriesPoint
from wireproof.watch.verdict import judge_traffic


def osu(*sizes: int, rate: float = 117e6) -> Series:
    """OSU's bandwidth test, which prints no repetitions."""
    return osu_rates([SeriesPoint(message_bytes=size, goodput_bytes_per_s=rate) for size in sizes])


MIB = 1 << 20
SWEEP = osu(8192, 65536)
USUAL = 64 * (110 * 8192 + 22 * 65536) / MB
"""MB that OSU moves for it without -i."""


@pytest.mark.parametrize("peak", [0.0, 50e6])
def test_bytes_of_the_usual_repetitions_prove_it_though_no_reading_shows_the_rate(
    peak: float,
) -> None:
    found = judge_traffic(pair(1.03 * USUAL * MB, peak), [SWEEP], claim())
    assert (found.proof, found.verdict) == ("on-wire", "pass")
    assert codes(found) == ["traffic-on-wire", "traffic-rate-unseen"]


@pytest.mark.parametrize("share", [0.5, 0.8, 1.5, 5.0])
@pytest.mark.parametrize("peak", [0.0, 50e6])
def test_other_bytes_than_those_of_the_usual_repetitions_prove_nothing(
    peak: float, share: float
) -> None:
    """Half of the payload in memory, or all of it beside another job's flow, was a PASS if the port
    showed no rate, or if the command was short.
    """
    found = judge_traffic(pair(share * USUAL * MB, peak), [SWEEP], claim())
    assert (found.proof, found.verdict) == ("unproven", "inconclusive")
    assert codes(found) == ["traffic-rate-unseen"]
    assert "the tool's usual repetitions account for" in found.reasons[0].message
    assert "directly, not in a script, so that wireproof sees its -i" in found.reasons[0].message


@pytest.mark.parametrize(("moved", "proof"), [(21, "on-wire"), (29, "on-wire"), (45, "unproven")])
def test_two_short_counted_streams_beside_a_smaller_flow(moved: int, proof: str) -> None:
    """Both in memory, and twice their bytes of another job's at a third of their rate: a PASS."""
    streams = [stream(iterations=10), stream(iterations=10)]
    found = judge_traffic(pair(moved * MB, 40e6), streams, claim())
    assert found.proof == proof, found.reasons


@pytest.mark.parametrize(("background", "proof"), [(0.0, "on-wire"), (300.0, "unproven")])
def test_the_rate_of_a_steady_flow_is_not_the_commands(background: float, proof: str) -> None:
    """Half of the payload in memory, and 30 MB/s of another job all the time."""
    seen = pair(800 * MB, 90e6, background=background * MB)
    found = judge_traffic(seen, [stream(iterations=None, rate=110e6)], claim())
    assert found.proof == proof, found.reasons


def test_rates_between_two_late_readings_are_means() -> None:
    """A reading every 2 s shows no rate of 20 MB within 0.2 s: the bytes alone decide."""
    for moved, proof in ((1.03 * USUAL, "on-wire"), (800, "unproven")):
        seen = pair(moved * MB, 50e6)
        hosts = [msgspec.structs.replace(one, gap_s=2.0) for one in seen.hosts]
        late = msgspec.structs.replace(seen, hosts=hosts)
        found = judge_traffic(late, [SWEEP], claim())
        assert found.proof == proof
        assert proof == "on-wire" or "for 8 s or longer" in found.reasons[0].message


def collective(tool: str, benchmark: str, *sizes: int, rate: float = 50e6) -> Series:
    """A collective without printed repetitions; its time is that of ``rate``."""
    return Series(
        tool=tool,
        benchmark=benchmark,
        metric="time",
        traffic="collective",
        points=[SeriesPoint(message_bytes=size, time_ns=size / rate * 1e9) for size in sizes],
        formula="",
        unit="",
    )


SIZES = (8192, 1 << 20, 1 << 22)
WITHOUT_RATE = [
    # the least MB of the usual repetitions, as the tools' sources have them
    (collective("osu", "osu_allreduce", *SIZES), (1000 * 8192 + 100 * 5 * MIB) / 2 / MB),
    (collective("ucc_perftest", "allreduce", *SIZES), (1000 * 8192 + 200 * 5 * MIB) / 2 / MB),
    (collective("nccl_tests", "all_reduce_perf", *SIZES), 20 * (8192 + 5 * MIB) / 2 / MB),
    (
        msgspec.structs.replace(
            collective("osu", "osu_put_latency", *SIZES), traffic="put", metric="latency"
        ),
        (10_000 * 8192 + 1000 * 5 * MIB) / MB,
    ),
    (
        msgspec.structs.replace(
            collective("osu", "osu_get_acc_latency", *SIZES), traffic="atomic", metric="latency"
        ),
        (10_000 * 8192 + 1000 * 5 * MIB) / MB,
    ),
]


@pytest.mark.parametrize(("table", "usual"), WITHOUT_RATE)
@pytest.mark.parametrize(
    ("share", "proof"), [(1.02, "on-wire"), (3.0, "on-wire"), (0.9, "unproven")]
)
def test_rows_without_a_rate_need_the_bytes_of_the_usual_repetitions(
    table: Series, usual: float, share: float, proof: str
) -> None:
    """Those of one repetition were enough: a file server's traffic proved any collective."""
    found = judge_traffic(pair(share * usual * MB, 10e6), [table], claim())
    assert found.proof == proof, found.reasons
    if proof == "unproven":
        assert codes(found) == ["traffic-rate-unseen"]
        assert f"account for {volume(usual * MB)} " in found.reasons[0].message


def test_a_collective_that_some_reading_shows_needs_no_repetitions() -> None:
    """-i of a script is unknown; half of the size within the printed time is the minimum rate."""
    table = collective("osu", "osu_allreduce", *SIZES, rate=100e6)
    for peak, proof in ((36e6, "on-wire"), (34e6, "unproven")):
        assert judge_traffic(pair(30 * MB, peak), [table], claim()).proof == proof


def test_a_counted_collective_needs_a_reading_that_shows_it() -> None:
    """100 MB within 2 s: 20 MB/s for a long time are another job's."""
    point = SeriesPoint(message_bytes=1 << 20, time_ns=10e6, iterations=200)
    table = msgspec.structs.replace(collective("imb", "Allreduce"), points=[point], first_line=1)
    for peak, proof in ((60e6, "on-wire"), (20e6, "unproven")):
        found = judge_traffic(pair(130 * MB, peak), [table], claim())
        assert found.proof == proof, found.reasons


def test_an_unknown_tool_without_rate_and_repetitions_proves_nothing_by_few_bytes() -> None:
    found = judge_traffic(pair(40 * MB, 1e6), [collective("other", "allreduce", *SIZES)], claim())
    assert (found.proof, codes(found)) == ("unproven", ["traffic-rate-unseen"])


@pytest.mark.parametrize(
    ("moved", "peak", "code"),
    [
        (400, 10e6, "traffic-on-wire"),
        (3000, 60e6, "traffic-on-wire"),
        (6000, 10e6, "traffic-rate-unseen"),
        (400, 400e6, "traffic-not-its-own"),
        (6000, 400e6, "traffic-not-its-own"),
    ],
)
def test_a_collective_beside_a_larger_flow(moved: int, peak: float, code: str) -> None:
    """In memory, and a backup crossed: any number of bytes and any rate were enough."""
    table = collective("osu", "osu_allreduce", *SIZES)
    known = msgspec.structs.replace(table, processes=2)
    found = judge_traffic(pair(moved * MB, peak), [known], claim())
    assert codes(found)[0] == code, found.reasons
    assert found.proof == ("on-wire" if code == "traffic-on-wire" else "unproven")


@pytest.mark.parametrize("processes", [None, 2])
def test_a_collective_of_unknown_size_says_that_nothing_bounds_its_bytes(
    processes: int | None,
) -> None:
    table = collective("osu", "osu_allreduce", *SIZES)
    known = msgspec.structs.replace(table, processes=processes)
    found = judge_traffic(pair(400 * MB, 60e6), [known], claim())
    assert found.proof == "on-wire"
    assert ("number of processes is unknown" in found.reasons[0].message) == (processes is None)


@pytest.mark.parametrize(
    ("moved", "proof"), [(130, "on-wire"), (1300, "on-wire"), (3e3, "unproven")]
)
def test_counted_collectives_move_no_multiple_of_their_repetitions(
    moved: float, proof: str
) -> None:
    point = SeriesPoint(message_bytes=1 << 20, time_ns=10e6, iterations=200)
    table = msgspec.structs.replace(
        collective("imb", "Allreduce"), points=[point], first_line=1, processes=2
    )
    assert judge_traffic(pair(moved * MB, 60e6), [table], claim()).proof == proof


@pytest.mark.parametrize("processes", [2, 3, 16, 256])
@pytest.mark.parametrize("on_a_host", [1, 8, 64])
def test_the_most_of_a_collective_is_above_what_its_algorithms_send(
    processes: int, on_a_host: int
) -> None:
    """Bytes in a unit of the printed size that leave a host, ranks placed in turn or in blocks."""
    here = min(on_a_host, processes // 2)
    rounds = math.ceil(math.log2(processes))
    sent = {
        "osu_allreduce": max(2 * (processes - 1) / processes, here * rounds),
        "osu_bcast": max(1.0, here, rounds),
        "osu_gather": here,
        "osu_scatter": processes - here,
        "osu_allgather": max(processes - 1, here * (processes - here)),
        "osu_alltoall": max(here * (processes - here), here * processes / 2 * rounds),
    }
    for benchmark, most in sent.items():
        table = msgspec.structs.replace(collective("osu", benchmark, 1 << 20), processes=processes)
        seen = printed([table], visible_s=0.1)
        assert (seen.repeated_bytes or (0, 0))[1] >= 110 * most * MIB, (benchmark, most)
