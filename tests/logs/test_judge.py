"""Each reason of an external series is reached by the numbers that its entry names, and not by
sound ones.
"""

import csv

import msgspec
import pytest
from tests.logs.tables import GOLDEN, codes, imb, pingpong, stream, wire_times

from wireproof.logs.readers import read
from wireproof.logs.verdict import judge_series
from wireproof.physics import claim_from_text, default_table, override

# --- the documents


@pytest.mark.parametrize("mtu", [None, 1500])
def test_the_documents_gigabit_tables_pass(mtu: int | None) -> None:
    link = claim_from_text("1gbe", mtu=mtu)
    found = judge_series(imb("1gbe_intelmpi_imb_p2p_pingpong.csv"), link)
    assert (found.proof, found.verdict) == ("unproven", "pass")
    assert found.efficiency == pytest.approx(0.982, abs=0.001)
    assert found.attainable_bytes_per_s == pytest.approx(117.7e6, rel=1e-3)
    outlier = next(r for r in found.reasons if r.code == "non-monotone")
    assert outlier.severity == "note"
    assert "128 B takes 88.67 us, 40% more than the larger 256 B (63.22 us)" in outlier.message
    with (GOLDEN / "1gbe_openmpi_osu_put_bw.csv").open(encoding="utf-8") as file:
        rates = {int(row["bytes"]): float(row["mbytes_per_s"]) for row in csv.DictReader(file)}
    found = judge_series(stream(rates, traffic="put", benchmark="osu_put_bw"), link)
    assert (found.proof, found.verdict) == ("unproven", "pass")
    assert found.efficiency == pytest.approx(0.994, abs=0.001)


@pytest.mark.parametrize("mtu", [None, 1500, 8192, 9000])
@pytest.mark.parametrize(("name", "link"), [("40gbe", "40gbe"), ("opa100", "opa100")])
def test_the_documents_other_tables_are_memory(name: str, link: str, mtu: int | None) -> None:
    found = judge_series(
        imb(f"{name}_intelmpi_imb_p2p_pingpong.csv"), claim_from_text(link, mtu=mtu)
    )
    assert (found.proof, found.verdict) == ("off-wire", "fail")
    assert {"below-any-nic", "below-floor", "faster-than-transfer", "cache-shaped"} <= codes(
        found, "fail"
    )
    assert found.explained_by == ["shm"]
    assert found.efficiency is None
    text = " ".join(r.message for r in found.reasons)
    assert "both networks" not in text
    assert "untuned" not in text


def test_without_a_link_the_documents_tables_explain_themselves() -> None:
    assert judge_series(imb("1gbe_intelmpi_imb_p2p_pingpong.csv"), None).explained_by == ["1gbe"]
    found = judge_series(imb("opa100_intelmpi_imb_p2p_pingpong.csv"), None)
    assert (found.proof, found.verdict, found.explained_by) == ("off-wire", "fail", ["shm"])


# --- one reason at a time


def test_the_doubt_zone_of_a_literature_floor() -> None:
    link = claim_from_text("edr")
    verdicts = {}
    for start in (0.3, 0.5, 0.65, 0.7, 0.8):
        found = judge_series(pingpong(wire_times(start, 11_800)), link)
        verdicts[start] = (found.proof, found.verdict)
    assert verdicts == {
        0.3: ("off-wire", "fail"),
        0.5: ("unproven", "inconclusive"),
        0.65: ("unproven", "inconclusive"),
        0.7: ("unproven", "pass"),
        0.8: ("unproven", "pass"),
    }


def test_a_constant_of_the_user_is_held_firmly() -> None:
    table = override(default_table(), "[floor]\ninfiniband = 900\n")
    found = judge_series(pingpong(wire_times(0.8, 11_800)), claim_from_text("edr"), table=table)
    assert "below-floor" in codes(found, "fail")


def test_a_stream_above_its_link_is_not_of_that_link() -> None:
    rates = {1 << n: min(12_100.0, (1 << n) * 3.0) for n in range(23)}
    found = judge_series(stream(rates), claim_from_text("10gbe"))
    assert (found.proof, found.verdict) == ("off-wire", "fail")
    assert "above-ceiling" in codes(found, "fail")
    assert {"edr", "opa100"} <= set(found.explained_by)
    assert judge_series(stream(rates), claim_from_text("edr")).verdict == "pass"


def test_two_rails_are_mixed_paths_not_memory() -> None:
    rates = {1 << n: min(24_200.0, (1 << n) * 3.0) for n in range(23)}
    found = judge_series(stream(rates), claim_from_text("edr"))
    assert (found.proof, found.verdict) == ("mixed", "fail")
    assert "mixed-paths" in codes(found, "fail")


def test_memory_for_small_and_a_wire_for_large_messages() -> None:
    times = {1 << n: 0.3 if n < 13 else 2.0 + (1 << n) / 12_000 for n in range(23)}
    found = judge_series(pingpong(times), claim_from_text("edr"))
    assert (found.proof, found.verdict) == ("mixed", "fail")
    assert "mixed-paths" in codes(found, "fail")


def test_slow_is_told_with_both_numbers() -> None:
    found = judge_series(
        stream({1 << n: min(6000.0, float(1 << n)) for n in range(23)}), claim_from_text("edr")
    )
    reason = next(r for r in found.reasons if r.code == "below-expectation")
    assert (found.proof, found.verdict, reason.severity) == ("unproven", "fail", "fail")
    assert "6 GB/s is 48.4% of the attainable 12.41 GB/s" in reason.message


def test_a_latency_test_passes_on_its_start_alone_and_fails_on_a_slow_one() -> None:
    link = claim_from_text("edr")
    small = range(12)
    assert judge_series(pingpong(wire_times(1.0, 3000, small)), link).verdict == "pass"
    found = judge_series(pingpong(wire_times(14.0, 3000, small)), link)
    assert codes(found, "fail") == {"slow-start"}
    assert "ipoib-edr" in found.explained_by


def test_a_table_that_ends_early_must_not_crawl() -> None:
    link, sizes = claim_from_text("edr"), range(16)
    assert judge_series(pingpong(wire_times(1.0, 6000, sizes)), link).verdict == "pass"
    found = judge_series(pingpong(wire_times(1.0, 1000, sizes)), link)
    assert (found.verdict, codes(found, "inconclusive")) == ("inconclusive", {"below-expectation"})


def test_a_pingpong_is_judged_less_its_start() -> None:
    times = {1 << 20: 40.0 + (1 << 20) / 1130.0, 1: 40.0}
    found = judge_series(pingpong(times), claim_from_text("10gbe", mtu=1500))
    assert found.verdict == "pass"
    assert found.efficiency < 0.95


def test_a_cliff_names_both_sizes_and_the_knob() -> None:
    rates = {1 << n: min(11_900.0, (1 << n) * 1.5) for n in range(23)}
    rates[16384] = 4000.0
    found = judge_series(stream(rates), claim_from_text("edr"))
    reason = next(r for r in found.reasons if r.code == "protocol-switch-cliff")
    assert found.verdict == "pass"
    assert "8 KiB" in reason.message
    assert "16 KiB" in reason.message
    assert "UCX_RNDV_THRESH" in reason.message
    for link, knob in (
        ("opa100", "PSM2_MQ_RNDV_HFI_THRESH"),
        ("slingshot:100", "FI_CXI_RDZV_THRESHOLD"),
    ):
        text = " ".join(
            r.message for r in judge_series(stream(rates), claim_from_text(link)).reasons
        )
        assert knob in text


def test_smaller_sizes_that_take_longer_are_a_cliff_too() -> None:
    times = wire_times(1.0, 11_900)
    times[4096], times[8192] = 9.0, 10.0
    found = judge_series(pingpong(times), claim_from_text("edr"))
    reason = next(r for r in found.reasons if r.code == "protocol-switch-cliff")
    assert "8 KiB takes 10 us" in reason.message
    assert reason.severity == "warning"


def test_rows_that_contradict_themselves() -> None:
    series = imb("1gbe_intelmpi_imb_p2p_pingpong.csv")
    torn = [msgspec.structs.replace(p) for p in series.points]
    torn[20] = msgspec.structs.replace(torn[20], goodput_bytes_per_s=50e6)
    found = judge_series(msgspec.structs.replace(series, points=torn), claim_from_text("1gbe"))
    reason = next(r for r in found.reasons if r.code == "row-arithmetic")
    assert found.verdict == "inconclusive"
    assert "512 KiB" in reason.message
    shifted = [
        msgspec.structs.replace(p, messages_per_s=q.messages_per_s)
        for p, q in zip(series.points, [*series.points[1:], series.points[-1]], strict=True)
    ]
    found = judge_series(msgspec.structs.replace(series, points=shifted), claim_from_text("1gbe"))
    assert "row-arithmetic" in codes(found, "inconclusive")


@pytest.mark.parametrize(
    ("factor", "code"),
    [(2.0, "wrong-formula"), (0.5, "wrong-formula"), (1 / 1.048576, "unit-doubt")],
)
def test_a_constant_factor_between_columns_is_a_definition(factor: float, code: str) -> None:
    series = imb("1gbe_intelmpi_imb_p2p_pingpong.csv")
    points = [
        msgspec.structs.replace(p, goodput_bytes_per_s=(p.goodput_bytes_per_s or 0.0) * factor)
        for p in series.points
    ]
    found = judge_series(msgspec.structs.replace(series, points=points), claim_from_text("1gbe"))
    assert code in codes(found)
    assert "row-arithmetic" not in codes(found)
    assert found.efficiency == pytest.approx(0.982, abs=0.002)


def test_both_directions_in_one_number_are_told_and_halved() -> None:
    rates = {1 << n: min(23_000.0, (1 << n) * 3.0) for n in range(23)}
    both = stream(
        rates,
        traffic="exchange",
        benchmark="osu_bibw",
        metric="bidirectional_bandwidth",
        directions=2,
    )
    found = judge_series(both, claim_from_text("edr"))
    assert found.verdict == "pass"
    assert found.efficiency == pytest.approx(11.5 / 12.41, abs=0.001)
    assert any("sum of 2 directions: 11.5 GB/s each" in r.message for r in found.reasons)
    assert (
        judge_series(msgspec.structs.replace(both, directions=1), claim_from_text("edr")).verdict
        == "fail"
    )


def test_a_factor_of_two_is_asked_about() -> None:
    link = claim_from_text("edr")
    whole = judge_series(
        pingpong({size: 2 * us for size, us in wire_times(1.0, 12_000).items()}), link
    )
    assert whole.verdict == "inconclusive", "a library's ping-pong may be half as fast"
    assert any("full round trip" in r.message for r in whole.reasons if r.code == "wrong-formula")
    both = judge_series(stream({1 << n: min(23_500.0, (1 << n) * 3.0) for n in range(23)}), link)
    assert any("both directions" in r.message for r in both.reasons if r.code == "wrong-formula")
    slow = judge_series(pingpong(wire_times(1.0, 7_500)), link)
    assert "wrong-formula" not in codes(slow)


def test_ten_iterations_are_too_few() -> None:
    series = pingpong(wire_times(12.0, 1150))
    points = [msgspec.structs.replace(p, iterations=10) for p in series.points]
    found = judge_series(msgspec.structs.replace(series, points=points), claim_from_text("10gbe"))
    assert (found.verdict, codes(found, "inconclusive")) == ("inconclusive", {"too-few-iterations"})


def test_a_doubtful_unit_counts_only_near_a_limit() -> None:
    link = claim_from_text("10gbe", mtu=1500)
    for rate, verdict in (
        (1160.0, "inconclusive"),
        (1128.0, "pass"),
        (1080.0, "inconclusive"),
        (700.0, "fail"),
    ):
        found = judge_series(stream({1 << 20: rate}, unit_doubt="MB may be 2^20 bytes"), link)
        assert found.verdict == verdict, rate


def test_bits_read_as_bytes_are_suggested() -> None:
    rates = {1 << n: 96_000.0 for n in range(16, 23)}
    for tool, asked in (("table", True), ("fabtests", True), ("osu", False)):
        found = judge_series(stream(rates, tool=tool), claim_from_text("edr"))
        said = [r.message for r in found.reasons if r.code == "unit-doubt"]
        assert any("bits read as bytes" in one for one in said) == asked, tool


def test_a_cut_table_is_never_a_pass_and_still_a_fail() -> None:
    good = pingpong(
        wire_times(12.0, 1150), complete=False, incomplete="line 9: the text ends inside a row"
    )
    found = judge_series(good, claim_from_text("10gbe"))
    assert (found.verdict, codes(found, "inconclusive")) == ("inconclusive", {"incomplete-table"})
    bad = pingpong(wire_times(0.2, 9000, range(5)), complete=False)
    assert judge_series(bad, claim_from_text("10gbe")).verdict == "fail"


def test_more_messages_than_the_line_has_room_for() -> None:
    found = judge_series(stream({8: 8 * 260.0, 16: 16 * 260.0}), claim_from_text("edr"))
    assert "message-rate-above-link" not in codes(found)
    found = judge_series(stream({8: 8 * 600.0, 16: 16 * 600.0}), claim_from_text("edr"))
    assert ("message-rate-above-link" in codes(found, "fail"), found.proof) == (True, "off-wire")


def test_one_core_sends_only_so_many_messages() -> None:
    quick = {1 << n: min(11_800.0, (1 << n) * 14.0) for n in range(23)}
    found = judge_series(stream(quick), claim_from_text("edr"))
    assert found.verdict == "inconclusive"
    assert codes(found, "inconclusive") == {"message-rate-unusual"}
    counted = judge_series(stream(quick), claim_from_text("edr"), counted=True)
    assert codes(counted, "warning") == {"message-rate-unusual"}, "counters saw the wire"
    usual = {1 << n: min(11_800.0, (1 << n) * 6.0) for n in range(23)}
    assert "message-rate-unusual" not in codes(judge_series(stream(usual), claim_from_text("edr")))
    assert "message-rate-unusual" in codes(judge_series(stream(usual), claim_from_text("100gbe")))
    several = judge_series(stream(quick, pairs=8, traffic="rate"), claim_from_text("edr"))
    assert "message-rate-unusual" not in codes(several)


def test_small_streams_tell_nothing_of_the_link() -> None:
    found = judge_series(stream({8: 40.0}, window=1), claim_from_text("edr"))
    assert (found.verdict, codes(found, "inconclusive")) == ("inconclusive", {"sizes-too-small"})


def test_several_pairs_may_have_used_several_links() -> None:
    rates = {1 << n: min(36_000.0, (1 << n) * 9.0) for n in range(23)}
    found = judge_series(
        stream(rates, traffic="rate", pairs=8, benchmark="osu_mbw_mr"), claim_from_text("edr")
    )
    assert (found.proof, found.verdict) == ("unproven", "inconclusive")
    assert "above-ceiling" in codes(found, "inconclusive")


def test_a_start_that_tcp_cannot_have_is_judged_as_roce_unless_tcp_is_said() -> None:
    series = pingpong(wire_times(1.5, 11_700))
    found = judge_series(series, claim_from_text("100gbe"))
    assert (found.verdict, "judged-as-rdma" in codes(found)) == ("pass", True)
    found = judge_series(series, claim_from_text("100gbe", path="tcp"), path="tcp")
    assert (found.proof, found.verdict) == ("off-wire", "fail")


def test_a_fall_at_large_sizes_makes_rdma_a_doubt_and_no_memory() -> None:
    times = {1 << n: 1.6 + (1 << n) / (11_700 if n < 21 else 8_500) for n in range(23)}
    found = judge_series(pingpong(times), claim_from_text("100gbe"))
    assert (found.proof, found.verdict) == ("unproven", "inconclusive")
    assert {"judged-as-rdma", "cache-shaped"} <= codes(found)
    near = {1 << n: 1.1 + (1 << n) / (11_700 if n < 21 else 8_500) for n in range(23)}
    assert judge_series(pingpong(near), claim_from_text("100gbe")).proof == "off-wire"


def test_a_start_alone_does_not_make_an_ethernet_rdma() -> None:
    found = judge_series(pingpong(wire_times(3.0, 5000, range(8))), claim_from_text("10gbe"))
    assert (found.proof, found.verdict) == ("unproven", "inconclusive")
    assert "judged-as-rdma" in codes(found, "note")


def test_verbs_over_ethernet_are_rdma_by_themselves() -> None:
    series = stream(
        {65536: 11_500.0}, tool="perftest", benchmark="ib_write_bw", protocol="rdma", window=128
    )
    found = judge_series(series, claim_from_text("ethernet:100"))
    assert (found.verdict, "judged-as-rdma" in codes(found)) == ("pass", True)


def test_sockets_over_an_rdma_link_are_kernel_tcp() -> None:
    series = stream({131072: 3000.0}, tool="iperf3", benchmark="tcp", protocol="tcp", window=None)
    for link, kind in (("edr", "ipoib-edr"), ("roce100", "100gbe")):
        found = judge_series(series, claim_from_text(link))
        assert (found.proof, found.verdict) == ("unproven", "inconclusive")
        assert any(kind in r.message for r in found.reasons if r.code == "judged-as-tcp")
        assert "one TCP stream is limited by one core" in next(
            r.message for r in found.reasons if r.code == "below-expectation"
        )


@pytest.mark.parametrize("link", ["opa100", "ipofabric-opa100"])
@pytest.mark.parametrize("tool", ["iperf3", "qperf"])
def test_one_ip_stream_over_omni_path_is_held_against_its_guide(link: str, tool: str) -> None:
    verdicts = {}
    for rate in (900.0, 2500.0, 3500.0, 3950.0, 5000.0):
        series = stream({1 << 20: rate}, tool=tool, benchmark="tcp", protocol="tcp", window=None)
        found = judge_series(series, claim_from_text(link))
        verdicts[rate] = found.verdict
        (reason,) = [one for one in found.reasons if one.code == "below-expectation"]
        assert "3.9 GB/s of one stream" in reason.message
        assert "is expected of" not in reason.message
    unsure = {2500.0: "inconclusive", 3500.0: "inconclusive"}
    assert verdicts == {900.0: "fail", **unsure, 3950.0: "pass", 5000.0: "pass"}


def test_a_log_that_names_one_host_or_shared_memory_convicts_itself() -> None:
    series, link = pingpong(wire_times(1.0, 11_900)), claim_from_text("edr")
    assert judge_series(series, link).verdict == "pass"
    told = (
        (["n1"], "Intel MPI says: all 2 ranks are on n1"),
        ([], "libfabric provider shm"),
        (["127.0.0.1"], ""),
    )
    for hosts, note in told:
        found = judge_series(msgspec.structs.replace(series, hosts=hosts, notes=[note]), link)
        assert (found.proof, found.verdict, codes(found, "fail")) == (
            "off-wire",
            "fail",
            {"one-host"},
        )
    # only the peer's name
    assert judge_series(msgspec.structs.replace(series, hosts=["n1"]), link).verdict == "pass"


OSU_ROWS = "# OSU MPI Bandwidth Test v7.3\n# Size      Bandwidth (MB/s)\n" + "".join(
    f"{1 << power:<12}{11_900 * (1 << power) / ((1 << power) + 20_000):>14.2f}\n"
    for power in range(10, 23)
)


@pytest.mark.parametrize(
    ("launch", "proof"),  # "": as without the line
    [
        ("srun -N 1 -n 2 ./osu_bw", "off-wire"),
        ("+ srun --mpi=pmix --nodes=1 --ntasks=2 /opt/osu/pt2pt/osu_bw -m 4194304", "off-wire"),
        ("$ mpirun -np 2 -host n1:2 osu_bw", "off-wire"),
        ("mpiexec.hydra -n 2 -hosts n1 ./osu_bw", "off-wire"),
        ("srun -N 2 -n 2 ./osu_bw", ""),
        ("srun -N 1-4 -n 2 ./osu_bw", ""),
        ("srun -N 1 -n 1 ./osu_bw : -N 1 -n 1 ./osu_bw", ""),
        ("mpirun -N 1 -np 2 -host n1,n2 ./osu_bw", ""),
        ("# srun -N 1 -n 2 ./osu_bw", ""),
        ("srun -N 1 hostname", ""),
        ("srun -N 1 -n 2 ./osu_bw\nsrun -N 2 -n 2 ./osu_bw", ""),
    ],
)
def test_a_launch_on_one_host_convicts_the_table_below_it(launch: str, proof: str) -> None:
    """`srun -N 1 -n 2 osu_bw` at 12 GB/s of shared memory passed as a link of 100 Gb/s."""
    link = claim_from_text("edr")
    plain = judge_series(read(OSU_ROWS.encode(), "x")[0], link)
    (series,) = read(f"{launch}\n{OSU_ROWS}".encode(), "x")
    found = judge_series(series, link)
    if proof:
        assert (found.proof, codes(found, "fail")) == (proof, {"one-host"})
    else:
        assert (found.proof, found.verdict) == (plain.proof, plain.verdict)
        assert "one-host" not in codes(found, "fail")


def test_a_launch_holds_until_the_next() -> None:
    text = f"srun -N 1 -n 2 ./osu_bw\n{OSU_ROWS}{OSU_ROWS}srun -N 2 -n 2 ./osu_bw\n{OSU_ROWS}"
    found = [judge_series(one, claim_from_text("edr")) for one in read(text.encode(), "x")]
    assert ["one-host" in codes(one, "fail") for one in found] == [True, True, False]


def test_the_provider_that_a_log_names_decides_between_tcp_and_rdma() -> None:
    named = [
        f"Intel MPI says: libfabric provider {name}" for name in ("tcp;ofi_rxm", "verbs;ofi_rxm")
    ]
    series = pingpong(wire_times(14.0, 2500), notes=named[:1])
    assert "judged-as-tcp" in codes(judge_series(series, claim_from_text("edr")))
    series = pingpong(wire_times(1.5, 11_700), notes=named[1:])
    found = judge_series(series, claim_from_text("100gbe"))
    assert ("judged-as-rdma" in codes(found), found.verdict) == (True, "pass")
    series = pingpong(wire_times(1.5, 11_700), notes=named[:1])
    assert judge_series(series, claim_from_text("100gbe")).proof == "off-wire"


def test_a_rate_limiter_is_not_taken_for_memory() -> None:
    times = {1 << n: 10.0 + (1 << n) / (3000 if n < 16 else 1170) for n in range(23)}
    found = judge_series(pingpong(times), claim_from_text("10gbe", mtu=1500))
    assert (found.proof, found.verdict) == ("unproven", "inconclusive")
    assert "rate-limited" in codes(found, "inconclusive")


def test_a_labs_shaper_is_judged_above_its_bucket_only() -> None:
    lab = msgspec.structs.replace(claim_from_text("10gbe", mtu=1500), preamble_counted=False)
    rates = {1 << n: 2400.0 if n < 16 else 1150.0 for n in range(10, 23)}
    found = judge_series(stream(rates), lab)
    assert (found.proof, found.verdict) == ("unproven", "pass")
    assert 0.9 < found.efficiency < 1
    assert judge_series(stream(dict.fromkeys(rates, 2400.0)), lab).verdict == "fail"


def test_an_unknown_mtu_turns_no_good_table_into_a_failure_and_is_told() -> None:
    found = judge_series(stream({1 << 20: 1090.0}), claim_from_text("10gbe"))
    assert found.verdict == "pass"
    told = " ".join(found.derivation)
    assert "1176.9 MB/s with MTU 1500, tcp_timestamps=1" in told
    assert "1237.6 MB/s with MTU 9000, tcp_timestamps=1" in told
    assert (
        judge_series(stream({1 << 20: 1090.0}), claim_from_text("10gbe", mtu=9000)).verdict
        == "fail"
    )


def test_an_ethernet_without_a_rate_has_only_a_floor() -> None:
    found = judge_series(pingpong(wire_times(12.0, 900)), claim_from_text("ethernet"))
    assert (found.verdict, found.attainable_bytes_per_s) == ("pass", None)
    assert (
        judge_series(pingpong(wire_times(0.4, 9000)), claim_from_text("ethernet")).proof
        == "off-wire"
    )
    assert (
        judge_series(stream({1 << 20: 900.0}), claim_from_text("ethernet")).verdict
        == "inconclusive"
    )


def test_a_table_that_names_no_benchmark_says_what_was_taken() -> None:
    (series,) = read(b"# Size  Latency (us)\n8 12.00\n16 12.10\n", "pasted.txt")
    found = judge_series(series, claim_from_text("10gbe"))
    (reason,) = [one for one in found.reasons if one.code == "formula-differs"]
    assert "half a round trip" in reason.message
