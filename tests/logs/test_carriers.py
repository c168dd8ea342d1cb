"""What a log says of its carrier, its units and its other tables."""

import msgspec
import pytest
from tests.logs.tables import codes, pingpong, stream, wire_times
from tests.logs.test_nccl import HEAD, TAIL

from wireproof.logs.readers import read
from wireproof.logs.verdict import judge_log, judge_series
from wireproof.model.series import Series, SeriesVerdict
from wireproof.physics import claim_from_text

VMA = " VMA INFO: VMA_VERSION: 9.8.51-1 Release built on Mar 12 2024\n"
ONLOAD = "oo:sockperf[1234]: Using OpenOnload 201811 Copyright 2006-2018 Solarflare\n"
XLIO = " XLIO INFO: XLIO_VERSION: 3.40.5-1 Release built on Jun  3 2024\n"


def sockperf(latency: float, banner: str = "", command: str = "") -> str:
    return (
        f"{command}{banner}sockperf: == version #3.10-0.git5ebd327da983 ==\n"
        "sockperf[CLIENT] send on:sockperf: using recvfrom() to block on socket(s)\n\n"
        "[ 0] IP = 192.168.5.2     PORT = 11111 # TCP\n"
        "sockperf: Starting test...\nsockperf: Test ended\n"
        "sockperf: [Total Run] RunTime=10.000 sec; Warm up time=400 msec; SentMessages=4166667; "
        "ReceivedMessages=4166666\n"
        f"sockperf: ====> avg-latency={latency:.3f} (std-dev=0.050)\n"
        f"sockperf: Summary: Latency is {latency:.3f} usec\n"
        "sockperf: Total 3979166 observations; each percentile contains 39791.66 observations\n"
        f"sockperf: ---> percentile 50.000 = {latency:>8.3f}\n"
        f"sockperf: ---> <MIN> observation = {latency:>8.3f}\n"
    )


def only(text: str, link: str, **options: str) -> SeriesVerdict:
    (series,) = read(text.encode(), "x")
    path = options.get("path", "")
    return judge_series(series, claim_from_text(link, path=path), path=path)


# --- sockets past the kernel


@pytest.mark.parametrize("banner", [VMA, ONLOAD, XLIO])
@pytest.mark.parametrize(
    ("latency", "link"), [(1.2, "25gbe"), (2.1, "10gbe"), (1.2, "roce25"), (1.2, "100gbe")]
)
def test_sockets_past_the_kernel_are_no_shared_memory(
    banner: str, latency: float, link: str
) -> None:
    found = only(sockperf(latency, banner), link)
    assert found.proof == "unproven"
    assert found.verdict != "fail"
    assert "judged-past-kernel" in codes(found)
    plain = only(sockperf(latency), "25gbe")
    assert plain.proof == "off-wire", "the same number through the kernel is none of a wire"


def test_what_the_user_says_of_the_path_is_not_overruled() -> None:
    for path in ("onload", "vma", "bypass", "rdma"):
        assert only(sockperf(1.2), "25gbe", path=path).proof == "unproven", path
    assert only(sockperf(1.2), "25gbe", path="tcp").proof == "off-wire"


def test_a_preloaded_library_holds_for_what_follows_a_banner_for_its_own_result() -> None:
    preload = "export LD_PRELOAD=/usr/lib64/libvma.so\n" + sockperf(1.3) + sockperf(1.4)
    found = judge_log(read(preload.encode(), "x"), claim_from_text("25gbe"))
    assert [one.proof for one in found] == ["unproven", "unproven"]
    mixed = sockperf(1.3, VMA) + sockperf(1.4)
    found = judge_log(read(mixed.encode(), "x"), claim_from_text("25gbe"))
    assert [one.proof for one in found] == ["unproven", "off-wire"]


def test_no_library_makes_sockets_quicker_than_a_nic() -> None:
    assert only(sockperf(0.3, VMA), "25gbe").proof == "off-wire"


# --- perftest ---

SIZES = (65536, 1 << 20, 4 << 20, 8 << 20)


def perftest(
    bandwidth: float, messages_from: float, unit: str = "MB/sec", mtu: int = 4096, layer: str = "IB"
) -> str:
    """``messages_from``: bytes/s that the message rate is made of."""
    rule = "-" * 87
    rows = "".join(
        f" {size:<10d} 5000  {bandwidth * 1.001:>14.2f} {bandwidth:>18.2f} "
        f"{messages_from / size / 1e6:>18.6f}\n"
        for size in SIZES
    )
    return (
        f"{rule}\n                    RDMA_Write BW Test\n Number of qps   : 1\t\tTransport type : "
        "IB\n"
        " Connection type : RC\t\tUsing SRQ      : OFF\n TX depth        : 128\n Mtu             "
        f": {mtu}[B]\n"
        f" Link type       : {layer}\n{rule}\n"
        f" #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   "
        f"MsgRate[Mpps]\n{rows}{rule}\n"
    )


def test_gigabits_under_a_heading_of_megabytes_are_a_doubt_and_no_slow_link() -> None:
    found = only(perftest(98.6, 98.6e9 / 8), "edr")
    assert found.verdict == "inconclusive"
    assert "unit-doubt" in codes(found, "inconclusive")
    assert any("Gb/s under a heading of MB/s" in reason.message for reason in found.reasons)


def test_the_rounding_of_few_messages_per_second_is_no_doubt_about_the_unit() -> None:
    row = f" {1 << 29}  20    24.31    24.31    0.000006\n"
    text = perftest(0.0, 0.0, unit="Gb/sec").rpartition("MsgRate[Mpps]\n")[0] + "MsgRate[Mpps]\n"
    assert only(text + row + "-" * 40 + "\n", "roce25").verdict == "pass"


def test_a_buffer_in_a_gpu_is_no_fault_of_the_link() -> None:
    text = perftest(5100.0, 5100.0 * 2**20)
    assert only(text, "edr").verdict == "fail"
    above = "initializing CUDA\ncuMemAlloc() of a 131072 bytes GPU buffer\n"
    assert only(above + text, "edr").verdict == "inconclusive"


def test_megabytes_under_a_heading_of_gigabits_are_a_doubt_and_not_off_wire() -> None:
    found = only(perftest(11758.0, 11758.0 * 2**20, unit="Gb/sec"), "edr")
    assert (found.verdict, found.proof) == ("inconclusive", "unproven")


@pytest.mark.parametrize(
    ("bandwidth", "unit", "link"),
    [(11758.0, "MB/sec", "edr"), (98.6, "Gb/sec", "edr"), (394.0, "Gb/sec", "ndr400")],
)
def test_a_bandwidth_that_its_message_rate_confirms_passes(
    bandwidth: float, unit: str, link: str
) -> None:
    factor = 2**20 if unit == "MB/sec" else 125e6
    assert only(perftest(bandwidth, bandwidth * factor, unit), link).verdict == "pass"


def test_the_printed_path_mtu_is_the_one_that_was_used() -> None:
    at = {
        mtu: only(perftest(90.0, 90.0 * 125e6, "Gb/sec", mtu, "Ethernet"), "roce100")
        for mtu in (1024, 4096)
    }
    assert (at[1024].attainable_bytes_per_s or 0) == pytest.approx(12.5e9 * 1024 / 1106)
    assert (at[4096].attainable_bytes_per_s or 0) == pytest.approx(12.5e9 * 4096 / 4178)
    too_fast = only(perftest(97.9, 97.9 * 125e6, "Gb/sec", 1024, "Ethernet"), "100gbe")
    assert "above-ceiling" in codes(too_fast, "fail")
    assert (
        only(perftest(97.9, 97.9 * 125e6, "Gb/sec", 4096, "Ethernet"), "100gbe").verdict == "pass"
    )


@pytest.mark.parametrize(
    ("latency", "link"), [(0.75, "roce100"), (0.85, "roce100"), (0.65, "ndr400"), (0.60, "ndr400")]
)
def test_verbs_back_to_back_are_no_doubt(latency: float, link: str) -> None:
    series = pingpong(
        {2: latency, 8: latency}, tool="perftest", benchmark="ib_write_lat", protocol="rdma"
    )
    assert judge_series(series, claim_from_text(link)).verdict == "pass"


# --- the other tables of the same log


def efa(**changes: object) -> list[Series]:
    latency = pingpong({1 << n: 16.0 + (1 << n) / 1200.0 for n in range(23)}, **changes)
    bandwidth = stream({1 << n: min(12_000.0, (1 << n) * 1.5) for n in range(23)}, first_line=40)
    return [latency, bandwidth]


def test_a_bandwidth_table_of_the_same_log_acquits_the_link() -> None:
    link = claim_from_text("efa100")
    latency, bandwidth = efa()
    assert judge_series(latency, link).verdict == "fail"
    slow, filled = judge_log([latency, bandwidth], link)
    assert (slow.verdict, filled.verdict) == ("inconclusive", "pass")
    assert any("line 40" in reason.message for reason in slow.reasons)


def test_only_a_table_that_fills_the_link_between_the_same_hosts_acquits_it() -> None:
    link = claim_from_text("efa100")
    latency, bandwidth = efa()
    half = stream({1 << n: min(3000.0, (1 << n) * 1.5) for n in range(23)})
    assert judge_log([latency, half], link)[0].verdict == "fail"
    elsewhere = msgspec.structs.replace(bandwidth, hosts=["c", "d"])
    assert (
        judge_log([msgspec.structs.replace(latency, hosts=["a", "b"]), elsewhere], link)[0].verdict
        == "fail"
    )
    memory = pingpong(wire_times(0.3, 9000))
    assert judge_log([memory, bandwidth], link)[0].proof == "off-wire", (
        "no table acquits shared memory"
    )


# --- nccl-tests ---

LARGE = (1 << 20, 16 << 20, 256 << 20, 1 << 30)


def nccl(program: str, bus_gb: float, factor: float, *hosts: str) -> list[Series]:
    lines = "".join(
        f"#  Rank {rank:2d} Group  0 Pid  {4000 + rank} on {host:>10} device  0 [0x8d] NVIDIA X\n"
        for rank, host in enumerate(hosts)
    )
    head = (
        f"$ ./build/{program}_perf -b 1M -e 1G\n# nThread 1 nGpus 1 minBytes 1048576 maxBytes "
        f"{LARGE[-1]} "
        "step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n# "
        f"Using devices\n{lines}#\n"
    )
    text = head + HEAD
    for size in LARGE:
        algorithm = bus_gb / factor
        place = f"  {size / algorithm / 1e3:9.1f} {algorithm:7.2f} {bus_gb:7.2f} {'0':>6}"
        text += f"{size:13d} {size // 4:13d} {'float':>9} {'sum':>7} {'-1':>7}{place}{place}\n"
    return read((text + TAIL).encode(), "x")


@pytest.mark.parametrize("program", ["sendrecv", "all_reduce", "broadcast"])
@pytest.mark.parametrize(
    ("bus", "verdict"), [(23.5, "pass"), (16.0, "inconclusive"), (6.7, "fail")]
)
def test_two_ranks_on_two_hosts_are_a_stream(program: str, bus: float, verdict: str) -> None:
    for one in nccl(program, bus, 1.0, "a", "b"):
        assert judge_series(one, claim_from_text("hdr200")).verdict == verdict


def test_two_ranks_on_one_host_are_none() -> None:
    found = judge_series(nccl("sendrecv", 6.7, 1.0, "a", "a")[0], claim_from_text("hdr200"))
    assert found.verdict != "pass"
    assert codes(found) & {"only-a-floor", "one-host"}


def test_less_than_a_tenth_of_all_rails_is_a_fail() -> None:
    hosts = ("a", "a", "a", "a", "b", "b", "b", "b")
    slow = judge_series(nccl("all_reduce", 5.0, 1.75, *hosts)[0], claim_from_text("4xhdr200"))
    assert "below-expectation" in codes(slow, "fail")
    quick = judge_series(nccl("all_reduce", 80.0, 1.75, *hosts)[0], claim_from_text("4xhdr200"))
    assert (quick.verdict, codes(quick, "inconclusive")) == ("inconclusive", {"only-a-floor"})
    each = judge_series(nccl("alltoall", 5.0, 0.875, *hosts)[0], claim_from_text("8xndr400"))
    assert each.verdict == "inconclusive", "its bus bandwidth is that of one GPU"


def test_ranks_on_hosts_of_their_own_are_no_neighbours() -> None:
    apart = judge_series(
        nccl("all_reduce", 20.0, 1.5, "a", "b", "c", "d")[0], claim_from_text("hdr200")
    )
    assert not any("neighbours" in reason.message for reason in apart.reasons)
    beside = judge_series(
        nccl("all_reduce", 20.0, 1.5, "a", "a", "b", "b")[0], claim_from_text("hdr200")
    )
    assert any("neighbours" in reason.message for reason in beside.reasons)


# --- the path MTU that perftest prints ---


@pytest.mark.parametrize(
    ("link", "mtu", "attainable", "severity"),
    [
        ("opa100", 2048, 12_075.5e6, "warning"),
        ("opa100", 4096, 12_284.1e6, "warning"),
        ("opa100", 8192, 12_391.1e6, ""),
        ("opa100", 10240, 12_412.7e6, ""),
        ("edr", 2048, None, "warning"),
        ("edr", 4096, None, ""),
        ("qdr", 2048, None, ""),
        ("roce100", 1024, None, "note"),
    ],
)
def test_a_missed_mtu_is_reported(
    link: str, mtu: int, attainable: float | None, severity: str
) -> None:
    text = (
        "                    RDMA_Write BW Test\n"
        f" Mtu             : {mtu}[B]\n Link type       : IB\n"
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
        " 1048576    5000             31.70              31.60               0.011\n"
    )
    (found,) = judge_log(read(text.encode(), "x"), claim_from_text(link))
    said = [one.severity for one in found.reasons if one.code == "small-path-mtu"]
    assert said == ([severity] if severity else [])
    if attainable is not None:
        assert found.attainable_bytes_per_s == pytest.approx(attainable, rel=1e-4)
