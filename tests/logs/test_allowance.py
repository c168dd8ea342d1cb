"""What a healthy pair may show less than its link: by pattern, library, slot and host; and what
stays a failure.
"""

from __future__ import annotations

import msgspec
import pytest
from tests.logs.tables import codes, pingpong, stream, wire_times

from wireproof.logs.readers import read
from wireproof.logs.verdict import judge_series
from wireproof.model.series import Series
from wireproof.physics import claim_from_text


def flat(rate_mb: float, **changes: object) -> Series:
    return stream({1 << n: min(rate_mb, (1 << n) * 3.0) for n in range(23)}, **changes)


@pytest.mark.parametrize(
    ("link", "start_us", "rate_mb", "verdict"),
    [
        ("efa100", 17.0, 2700.0, "inconclusive"),  # 22 %: honest
        ("efa100", 17.0, 900.0, "fail"),
        ("fdr", 1.3, 3400.0, "inconclusive"),  # SGI MPT
        ("edr", 1.1, 6200.0, "inconclusive"),
        ("edr", 1.1, 900.0, "fail"),
        ("qdr", 1.5, 900.0, "fail"),
        ("100gbe", 30.0, 1100.0, "inconclusive"),
        ("100gbe", 30.0, 300.0, "fail"),
        ("10gbe", 15.0, 600.0, "fail"),  # one core fills 10 Gb/s
    ],
)
def test_a_pingpong(link: str, start_us: float, rate_mb: float, verdict: str) -> None:
    found = judge_series(pingpong(wire_times(start_us, rate_mb)), claim_from_text(link))
    assert (found.proof, found.verdict) == ("unproven", verdict), found.reasons


@pytest.mark.parametrize(
    ("link", "rate_mb", "verdict"),
    [
        ("efa100", 4500.0, "inconclusive"),
        ("efa100", 2000.0, "fail"),
        ("qdr", 3400.0, "pass"),  # PCIe 2.0 x8
        ("qdr", 2000.0, "fail"),
        ("edr", 9000.0, "inconclusive"),
        ("fdr", 4900.0, "fail"),  # trained as FDR10
        ("edr", 6000.0, "fail"),
        ("hdr200", 12_800.0, "inconclusive"),  # PCIe 3.0 x16
        ("hdr200", 9_000.0, "fail"),
        ("ndr400", 26_000.0, "inconclusive"),  # PCIe 4.0 x16
        ("100gbe", 1700.0, "inconclusive"),
        ("100gbe", 700.0, "fail"),
        ("10gbe", 700.0, "fail"),
    ],
)
def test_a_stream(link: str, rate_mb: float, verdict: str) -> None:
    found = judge_series(flat(rate_mb), claim_from_text(link))
    assert (found.proof, found.verdict) == ("unproven", verdict), found.reasons


def test_verbs_alone_and_a_slot_that_is_said_have_no_library_to_blame() -> None:
    verbs = flat(9000.0, tool="perftest", benchmark="ib_write_bw", protocol="rdma")
    assert judge_series(verbs, claim_from_text("edr")).verdict == "fail"
    assert judge_series(flat(9000.0), claim_from_text("edr", pcie="gen3x16")).verdict == "fail"


def test_a_rate_that_differs_from_size_to_size_is_no_slower_line() -> None:
    rates = {1 << n: min(6000.0, (1 << n) * 3.0) for n in range(23)}
    link = claim_from_text("edr")
    assert judge_series(stream(rates), link).verdict == "fail"
    found = judge_series(stream(rates | {1 << 21: 3900.0, 1 << 22: 4400.0}), link)
    assert codes(found, "inconclusive") >= {"below-expectation"}
    assert not codes(found, "fail")


def slow_start(few: bool, *delays: float) -> Series:
    times = wire_times(14.0, 11_000, range(12))
    for size, delay in zip(times, delays, strict=False):
        times[size] += delay
    series = pingpong(times)
    points = [msgspec.structs.replace(p, iterations=20 if few else 1000) for p in series.points]
    return msgspec.structs.replace(series, points=points)


def test_a_slow_start_of_few_iterations_or_of_waits_is_a_doubt() -> None:
    link = claim_from_text("edr")
    assert codes(judge_series(slow_start(False), link), "fail") == {"slow-start"}
    few = judge_series(slow_start(True), link)
    assert (few.verdict, "slow-start" in codes(few, "inconclusive")) == ("inconclusive", True)
    waited = judge_series(slow_start(False, 40.0, 0.0, 25.0, 0.0, 90.0), link)
    assert (waited.verdict, "slow-start" in codes(waited, "inconclusive")) == ("inconclusive", True)
    first = judge_series(slow_start(False, 40.0), link)
    assert first.verdict == "fail", "the first size alone may have warmed up"


@pytest.mark.parametrize(("start_us", "verdict"), [(155.0, "inconclusive"), (170.0, "fail")])
def test_a_start_that_is_barely_late_is_a_doubt(start_us: float, verdict: str) -> None:
    found = judge_series(pingpong(wire_times(start_us, 116)), claim_from_text("1gbe"))
    assert (found.verdict, codes(found, verdict)) == (verdict, {"slow-start"})


@pytest.mark.parametrize(
    ("traffic", "pairs", "verdict"), [("exchange", 1, "pass"), ("rate", 8, "inconclusive")]
)
def test_both_directions_share_what_one_has_alone(traffic: str, pairs: int, verdict: str) -> None:
    """As IMB Biband between two EDR hosts: 83 % of attainable in each direction."""
    rates = {1 << n: min(20_480.0, (1 << n) * 2.5) for n in range(23)}
    found = stream(rates, traffic=traffic, pairs=pairs, directions=2, processes=2 * pairs)
    assert judge_series(found, claim_from_text("edr")).verdict == verdict


@pytest.mark.parametrize(
    ("share", "verdict"), [(0.37, "inconclusive"), (0.5, "inconclusive"), (0.2, "fail")]
)
@pytest.mark.parametrize("pcie", ["", "gen3x16"])
def test_one_pair_that_loads_both_directions_is_bound_by_its_processes(
    share: float, verdict: str, pcie: str
) -> None:
    """As IMB Biband of one pair on an EDR cluster whose streams fill the link."""
    link = claim_from_text("edr", pcie=pcie)
    both = {"traffic": "exchange", "directions": 2, "tool": "imb", "benchmark": "Biband"}
    found = judge_series(flat(2 * share * 12_409, **both), link)
    assert (found.proof, found.verdict) == ("unproven", verdict)
    text = next(r.message for r in found.reasons if r.code == "below-expectation")
    assert ("both together carry" in text) == (share == 0.5)
    verbs = flat(2 * share * 12_409, **{**both, "tool": "perftest", "protocol": "rdma"})
    assert judge_series(verbs, link).verdict == "fail", "no library is in between"


@pytest.mark.parametrize("pairs", [1, 4])
def test_processes_of_a_larger_job_may_share_a_host(pairs: int) -> None:
    both = {"traffic": "exchange", "directions": 2, "processes": 2 * pairs, "pairs": pairs}
    idle = flat(4_900.0, tool="imb", notes=["110 more processes waited meanwhile"], **both)
    found = judge_series(idle, claim_from_text("hdr100"))
    assert (found.proof, found.verdict) == ("unproven", "inconclusive")
    slow = flat(400.0, tool="imb", notes=idle.notes, **both)
    assert judge_series(slow, claim_from_text("hdr100")).verdict == "fail", "no memory is so slow"
    alone = msgspec.structs.replace(idle, notes=[])
    assert judge_series(alone, claim_from_text("hdr100")).verdict == "fail"


@pytest.mark.parametrize(
    ("where", "verdict"), [("DEVICE (D)", "inconclusive"), ("HOST (H)", "fail")]
)
def test_a_buffer_in_a_gpu_is_no_fault_of_the_link(where: str, verdict: str) -> None:
    notes = [f"Buffer on {where}", "Buffer on HOST (H)"]
    slow = judge_series(flat(310.0, notes=notes), claim_from_text("fdr"))
    late = judge_series(pingpong(wire_times(23.0, 4200), notes=notes), claim_from_text("fdr"))
    assert (slow.verdict, late.verdict) == (verdict, verdict)
    assert codes(late, verdict) >= {"slow-start"}


@pytest.mark.parametrize(
    ("title", "said", "gpu"),
    [
        ("MPI-CUDA Latency Test v7.5", "", True),
        ("MPI-ROCM Latency Test v7.5", "", True),
        ("MPI_Put-CUDA Latency Test v7.5", "", True),
        (
            "MPI-CUDA Latency Test v7.2",
            "# Send Buffer on HOST (H) and Receive Buffer on HOST (H)\n",
            False,
        ),
        ("MPI Latency Test v7.5", "", False),
    ],
)
def test_the_title_of_osu_names_the_gpu(title: str, said: str, gpu: bool) -> None:
    rows = "".join(f"{1 << n:<20}{19.0 + (1 << n) / 5100:>12.2f}\n" for n in range(23))
    text = f"# OSU {title}\n{said}# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n{rows}"
    (one,) = read(text.encode(), "x")
    assert any("Buffer on DEVICE" in note for note in one.notes) == gpu
    found = judge_series(one, claim_from_text("slingshot200"))
    assert found.verdict == ("inconclusive" if gpu else "fail")


@pytest.mark.parametrize(("put_us", "verdict"), [(585.0, False), (850.0, False), (1400.0, True)])
def test_a_fence_takes_messages_of_its_own(put_us: float, verdict: bool) -> None:
    rows = "".join(f" {1 << n} 100 {put_us + 0.01 * (1 << n):.2f} 0.01\n" for n in range(2, 8))
    text = (
        "#    Intel (R) MPI Benchmarks 4.1, MPI-2 part\n# Calling sequence was:\n\n# ./IMB-EXT\n\n"
        "#-----\n# Benchmarking Unidir_Put\n# #processes = 2\n#-----\n#\n#    MODE: NON-AGGREGATE\n"
        "#\n       #bytes #repetitions      t[usec]   Mbytes/sec\n"
    )
    (one,) = read((text + rows).encode(), "x")
    found = judge_series(one, claim_from_text("1gbe"))
    assert ("slow-start" in codes(found, "fail")) == verdict, found.reasons


@pytest.mark.parametrize(("gbits", "said"), [(4.94, True), (4.2, False), (5.4, False)])
def test_a_flow_at_the_limit_of_a_cloud_is_named(gbits: float, said: bool) -> None:
    text = (
        "Connecting to host 10.0.0.2, port 5201\n"
        "[  5] local 10.0.0.1 port 41000 connected to 10.0.0.2 port 5201\n"
        "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
        "[  5]   0.00-10.00  sec  5.75 GBytes  {0} Gbits/sec    0            sender\n"
        "[  5]   0.00-10.00  sec  5.75 GBytes  {0} Gbits/sec                 receiver\n"
    )
    (one,) = read(text.format(gbits).encode(), "x")
    found = judge_series(one, claim_from_text("25gbe"))
    assert found.verdict == "fail"
    assert any("Amazon EC2" in reason.message for reason in found.reasons) == said


def test_several_streams_have_no_core_to_blame() -> None:
    (one,) = read(
        b"[SUM]   0.00-10.00  sec  11.5 GBytes  10.0 Gbits/sec    0             sender\n"
        b"[SUM]   0.00-10.00  sec  11.5 GBytes  10.0 Gbits/sec                  receiver\n",
        "x",
    )
    found = judge_series(one, claim_from_text("100gbe"))
    assert found.verdict == "fail"
    assert not any("one core" in reason.message for reason in found.reasons)


@pytest.mark.parametrize(
    ("link", "rate_mb", "verdict"),
    [
        ("ipoib-qdr", 1_440.0, "inconclusive"),  # datagram mode
        ("ipoib-qdr", 300.0, "fail"),
        ("40gbe", 1_440.0, "fail"),
    ],
)
def test_several_streams_of_ip_over_a_fabric(link: str, rate_mb: float, verdict: str) -> None:
    streams = stream({131072: rate_mb}, tool="iperf", protocol="tcp", pairs=8)
    assert judge_series(streams, claim_from_text(link)).verdict == verdict


@pytest.mark.parametrize(
    ("rows", "most", "torn", "verdict"),
    [
        (12, 6840.0, " 4096 50", "inconclusive"),
        (12, 6840.0, "", "fail"),
        (23, 3000.0, " 8388608 50", "fail"),
    ],
)
def test_a_table_cut_where_its_rates_rise(rows: int, most: float, torn: str, verdict: str) -> None:
    text = "#bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]\n"
    for size in (1 << n for n in range(rows)):
        rate = min(most, size * 3.34)
        text += f" {size} 5000 0.00 {rate:.2f} {rate * 2**20 / size / 1e6:.6f}\n"
    (table,) = read((text + torn).encode(), "x")
    found = judge_series(table, claim_from_text("roce100"))
    assert found.verdict == verdict, found.reasons
