"""The IMB adapter: real outputs of every program of the suite, and what each number means."""

import pytest
from tests.logs.tables import LOGS
from tests.logs.tables import golden as log
from tests.records import holds

from wireproof.logs.readers import read
from wireproof.model.series import Series


def named(name: str, benchmark: str) -> Series:
    return next(series for series in log(name) if series.benchmark == benchmark)


def test_pingpong_is_half_a_round_trip() -> None:
    series = named("imb2021-mpi1-pingpong-sendrecv-exchange-tcp10g.out", "PingPong")
    assert (series.tool, series.version, series.processes) == ("imb", "2021.11", 2)
    holds(series, metric="half_round_trip", traffic="pingpong", directions=1, waits=True)
    assert [point.message_bytes for point in series.points] == [
        0,
        *(1 << power for power in range(21)),
    ]
    last = series.points[-1]
    assert (last.hrt_ns, last.time_ns) == (pytest.approx(812_860), None)
    assert last.goodput_bytes_per_s == pytest.approx(1289.99e6)
    assert (last.iterations, last.line) == (40, 59)
    assert (last.time_step_ns, last.goodput_step) == (pytest.approx(10), pytest.approx(1e4))
    assert series.complete
    assert series.unit == "us; MB = 10^6 bytes"


@pytest.mark.parametrize(
    ("benchmark", "directions", "messages", "metric"),
    [
        ("PingPing", 1, 1, "bandwidth"),
        ("Sendrecv", 2, 2, "bidirectional_bandwidth"),
        ("Exchange", 2, 4, "bidirectional_bandwidth"),
    ],
)
def test_parallel_transfers_say_what_their_bandwidth_counts(
    benchmark: str, directions: int, messages: int, metric: str
) -> None:
    series = named("imb2021-mpi1-pingpong-sendrecv-exchange-tcp10g.out", benchmark)
    holds(series, traffic="exchange", directions=directions, metric=metric, waits=False)
    point = series.points[-1]
    assert point.time_ns * 1e-9 * point.goodput_bytes_per_s == pytest.approx(
        messages * point.message_bytes, rel=1e-3
    )


def test_a_collective_has_the_mean_and_both_ends() -> None:
    two, four, barrier, _ = log("imb2021-mpi1-allreduce-multi-npmin-tcp10g.out")
    assert (two.benchmark, two.processes, four.processes) == ("Allreduce", 2, 4)
    assert (two.metric, two.traffic) == ("time", "collective")
    last = two.points[-1]
    assert (last.time_min_ns, last.time_ns, last.time_max_ns) == pytest.approx(
        (33_320, 33_520, 33_710)
    )
    assert two.complete
    assert any("2 more processes" in note for note in two.notes)
    holds(barrier.points[0], message_bytes=0, time_ns=pytest.approx(3_999_800))


def test_a_time_out_row_makes_the_table_incomplete() -> None:
    series = log("imb2021-mpi1-timeout-row-tcp1g.out")[0]
    assert not series.complete
    assert "524288 bytes were not measured" in series.incomplete
    assert [point.message_bytes for point in series.points] == [0, 262144]
    four = log("imb2021-mpi1-allreduce-multi-npmin-tcp10g.out")[1]
    assert "line 68: 4096 bytes" in four.incomplete


def test_uniband_and_biband_sum_over_pairs() -> None:
    one, two, both, both_two = log("imb2021-mpi1-uniband-biband-tcp10g.out")
    assert [(one.pairs, one.traffic), (two.pairs, two.traffic)] == [(1, "stream"), (2, "rate")]
    assert [(both.directions, both.traffic), (both_two.directions, both_two.traffic)] == [
        (2, "exchange"),
        (2, "rate"),
    ]
    assert {series.window for series in (one, two, both, both_two)} == {256}
    point = two.points[-1]
    assert point.messages_per_s == 44918
    assert point.time_ns is None
    assert point.goodput_bytes_per_s == pytest.approx(44918 * 16384, rel=1e-4)


def test_p2p_counts_both_ways_of_a_ping_pong_over_its_round_trip() -> None:
    series = log("imb2021-p2p-pingpong-tcp1g.out")[0]
    holds(series, metric="half_round_trip", traffic="pingpong", directions=1, pairs=1)
    point = series.points[-3]
    assert point.hrt_ns * 1e-9 * point.goodput_bytes_per_s == pytest.approx(
        point.message_bytes, rel=0.02
    )
    assert point.messages_per_s == pytest.approx(1e9 / point.hrt_ns, rel=0.02)


def test_p2p_with_four_processes() -> None:
    found = {series.benchmark: series for series in log("imb2021-p2p-all-shm.out")}
    assert (found["PingPong"].pairs, found["PingPong"].traffic) == (2, "pingpong")
    holds(found["PingPing"], directions=2, metric="bidirectional_bandwidth")
    assert (found["SendRecv_Replace"].traffic, found["SendRecv_Replace"].pairs) == ("ring", 4)
    assert {found[name].traffic for name in ("Unirandom", "Corandom", "Stencil2D (2 x 2)")} == {
        "other"
    }
    assert log("imb2021-p2p-birandom-tcp10g.out")[0].points[-1].messages_per_s == 172


def test_one_sided_modes_are_told_apart() -> None:
    each, together, get_each, get_together = log("imb2021-rma-put-tcp10g.out")
    holds(each, benchmark="Unidir_put", traffic="put", metric="latency", waits=True)
    assert (together.metric, together.waits) == ("bandwidth", False)
    assert (get_each.traffic, get_together.traffic) == ("exchange", "exchange")
    assert "mode AGGREGATE" in together.notes
    assert each.points[-1].time_ns == pytest.approx(102_250)


def test_all_of_rma() -> None:
    found = log("imb2021-rma-all-shm.out")
    assert len(found) == 26
    traffic = {series.benchmark: series.traffic for series in found}
    assert traffic["Unidir_get"] == "get"
    assert traffic["Fetch_and_op"] == traffic["Accumulate"] == "atomic"
    assert traffic["Put_local"] == traffic["All_put_all"] == "other"
    assert all(series.complete and series.points for series in found)
    passive = found[-1].points[-1]
    assert (passive.time_ns, passive.values) == (pytest.approx(610), {"t_ovrl_us": 0.88})


def test_overlap_is_kept() -> None:
    series = log("imb2021-nbc-iallreduce-tcp10g.out")[0]
    assert (series.metric, series.traffic) == ("overlap", "collective")
    assert series.points[1].time_ns == pytest.approx(12_960)
    assert series.points[1].values == {
        "t_ovrl_us": 23.92,
        "t_cpu_us": 11.68,
        "overlap_percent": 5.51,
    }
    barrier, pure = log("imb2021-nbc-pure-shm.out")[:2]
    assert (barrier.benchmark, barrier.points[0].time_ns) == ("Ibarrier", pytest.approx(7750))
    assert (pure.metric, pure.points[0].time_max_ns) == ("time", pytest.approx(21_290))


def test_groups_that_run_at_once_are_series_of_their_own() -> None:
    first, second, *rest = log("imb2021-mpi1-multi1-shm.out")
    holds(first, benchmark="Multi-PingPong", processes=2, metric="half_round_trip")
    assert "group 0 of 2" in first.notes[0]
    assert "group 1 of 2" in second.notes[0]
    assert [point.hrt_ns for point in first.points[-2:]] == pytest.approx([3170, 3760])
    assert [point.hrt_ns for point in second.points[-2:]] == pytest.approx([3800, 3770])
    assert [series.benchmark for series in rest][-3:] == [
        "Multi-Uniband",
        "Multi-Uniband",
        "Uniband",
    ]


def test_multi_0_prints_the_slowest_of_all_groups() -> None:
    series = log("imb2021-mpi1-multi0-shm.out")[0]
    point = series.points[-1]
    assert (point.time_min_ns, point.hrt_ns, point.time_max_ns) == pytest.approx((2450, 3470, 3470))
    assert point.values == {"t_avg_us": 2.81}


def test_a_map_of_the_ranks_does_not_hide_the_processes() -> None:
    sendrecv, local = log("imb2021-mpi1-map-shm.out")
    assert (sendrecv.processes, len(sendrecv.points)) == (4, 6)
    assert (local.benchmark, local.traffic) == ("Reduce_local", "other")


def test_threads() -> None:
    found = {series.benchmark: series for series in log("imb2021-mt-shm.out")}
    assert found["PingPongMT"].points[-1].hrt_ns == pytest.approx(5630)
    assert (found["BiBandMT"].window, found["BiBandMT"].directions) == (64, 2)
    assert any("2 threads" in note for note in found["UniBandMT"].notes)
    assert found["BarrierMT"].points[0].time_ns == pytest.approx(3710)
    assert found["AllReduceMT"].traffic == "collective"


def test_the_figures_after_a_table_are_not_rows() -> None:
    series = log("imb_mpi1_pingpong_SHM_same_node.txt")
    assert len(series) == 1
    assert len(series[0].points) == 24
    assert series[0].complete


def test_where_the_ranks_are_is_kept_when_the_library_says_it() -> None:
    series = log("imb_mpi1_pingpong_SHM_same_node.txt")[0]
    assert series.hosts == ["n1"]
    assert "Intel MPI says: all 2 ranks are on n1" in series.notes
    assert "Intel MPI says: libfabric provider tcp" in series.notes
    text = (LOGS / "imb_mpi1_pingpong_SHM_same_node.txt").read_text()
    apart = text.replace("22153    n1", "22153    n2")
    assert read(apart.encode(), "x")[0].hosts == ["n1", "n2"]
    assert log("imb2021-mpi1-multi0-shm.out")[0].hosts == []
