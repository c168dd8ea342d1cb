"""The HPCC adapter: hpccoutf.txt whole, in pieces, and cut."""

from pathlib import Path

import pytest
from tests.conftest import some_of

from wireproof.logs.readers import read
from wireproof.model.errors import BadInput
from wireproof.model.series import Series

LOG = (Path(__file__).parent.parent / "golden" / "logs" / "hpccoutf.txt").read_text()
SUMMARY = LOG[LOG.index("Begin of Summary") : LOG.index("End of HPC Challenge")]
PART = LOG[LOG.index("Begin of LatencyBandwidth") : LOG.index("End of LatencyBandwidth")]
OLD_KEYS = (
    "CommWorldProcs=16\nMaxPingPongLatency_usec=7.5\nRandomlyOrderedRingLatency_usec=9.25\n"
    "MinPingPongBandwidth_GBytes=0.875\nNaturallyOrderedRingBandwidth_GBytes=0.25\n"
    "RandomlyOrderedRingBandwidth_GBytes=0.125\n"
)


def by_name(text: str) -> dict[str, Series]:
    return {series.benchmark: series for series in read(text.encode(), "hpccoutf.txt")}


def test_the_whole_file() -> None:
    found = by_name(LOG)
    assert list(found) == [
        "PingPongLatency",
        "PingPongBandwidth",
        "NaturallyOrderedRingLatency",
        "NaturallyOrderedRingBandwidth",
        "RandomlyOrderedRingLatency",
        "RandomlyOrderedRingBandwidth",
    ]
    assert {(one.tool, one.version, one.processes, one.complete) for one in found.values()} == {
        ("hpcc", "1.5.0", 4, True)
    }


def test_ping_pong_is_half_a_round_trip_of_the_mean_pair() -> None:
    series = by_name(LOG)["PingPongLatency"]
    (point,) = series.points
    assert (series.metric, series.traffic, series.waits) == ("half_round_trip", "pingpong", True)
    assert point.message_bytes == 8
    assert (point.time_min_ns, point.hrt_ns, point.time_max_ns) == pytest.approx(
        (15_844, 18_695, 21_278)
    )
    assert point.time_step_ns == pytest.approx(1)
    assert LOG.splitlines()[point.line - 1].startswith("Latency   min / avg / max:")
    assert any("12 pairs of 4 processes" in note for note in series.notes)


def test_bandwidth_is_of_two_million_bytes() -> None:
    (point,) = by_name(LOG)["PingPongBandwidth"].points
    assert point.message_bytes == 2_000_000
    assert point.goodput_bytes_per_s == pytest.approx(1152.461e6)
    assert point.values == pytest.approx(
        {"goodput_min_bytes_per_s": 1044.749e6, "goodput_max_bytes_per_s": 1237.975e6}
    )


def test_rings_are_per_process() -> None:
    found = by_name(LOG)
    ring = found["RandomlyOrderedRingBandwidth"]
    assert (ring.traffic, ring.directions, ring.pairs) == ("ring", 1, 1)
    assert ring.points[0].goodput_bytes_per_s == pytest.approx(549.503625e6)
    natural = found["NaturallyOrderedRingLatency"].points[0]
    assert (natural.time_ns, natural.hrt_ns) == (pytest.approx(28_135), None)


@pytest.mark.parametrize(
    "piece",
    [SUMMARY, PART, LOG.replace("\n", "\r\n"), "".join(f"  | {x} |\n" for x in LOG.splitlines())],
)
def test_pieces_and_decoration(piece: str) -> None:
    found = by_name(piece)
    assert len(found) == 6
    assert found["PingPongLatency"].points[0].hrt_ns == pytest.approx(18_695, rel=1e-4)
    assert found["PingPongBandwidth"].points[0].goodput_bytes_per_s == pytest.approx(
        1152.46e6, rel=1e-4
    )
    assert found["NaturallyOrderedRingLatency"].processes == 4


def test_old_versions_print_the_worst_pair_only() -> None:
    found = by_name(OLD_KEYS + "FFTEnblk=16\n")
    assert found["PingPongLatency"].points[0].hrt_ns == pytest.approx(7500)
    assert found["PingPongBandwidth"].points[0].goodput_bytes_per_s == pytest.approx(0.875e9)
    assert any("worst pair" in note for note in found["PingPongLatency"].notes)
    assert "NaturallyOrderedRingLatency" not in found
    assert all(series.complete for series in found.values())


def test_a_summary_that_ends_at_the_worst_pair_may_be_cut() -> None:
    found = by_name(OLD_KEYS)
    assert "PingPongLatency" not in found
    assert "PingPongLatency" in found["LatencyBandwidth"].incomplete


@pytest.mark.parametrize("bad", ["nan", "-1", "inf", "0", "1e300", "12_0", "abc"])
def test_what_is_no_measured_number_is_left_out(bad: str) -> None:
    text = SUMMARY.replace(
        "RandomlyOrderedRingLatency_usec=25.5775", f"RandomlyOrderedRingLatency_usec={bad}"
    )
    found = by_name(text)
    assert "RandomlyOrderedRingLatency" not in found
    assert len(found) == 5
    assert all(any("left out" in note for note in series.notes) for series in found.values())


def test_a_run_of_one_process_measures_nothing() -> None:
    lines = [
        f"{line.partition('=')[0]}=-1" if "PingPong" in line or "Ring" in line else line
        for line in SUMMARY.splitlines()
    ]
    (series,) = read(
        ("Begin of LatencyBandwidth section.\n" + "\n".join(lines) + "\n").encode(), "x"
    )
    assert (series.points, series.complete) == ([], False)
    assert "not measured" in series.incomplete


def test_a_part_of_hpcc_that_failed_is_said() -> None:
    found = by_name(SUMMARY.replace("Success=1", "Success=0"))
    assert all(any("Success=0" in note for note in series.notes) for series in found.values())


def test_two_runs_in_one_file() -> None:
    second = LOG.replace("0.018695", "0.099999")
    found = [
        series
        for series in read((LOG + second).encode(), "x")
        if series.benchmark == "PingPongLatency"
    ]
    assert [series.points[0].hrt_ns for series in found] == pytest.approx([18_695, 99_999])
    parts = [
        series
        for series in read((PART + PART).encode(), "x")
        if series.benchmark == "PingPongLatency"
    ]
    assert len(parts) == 2


def test_another_tool_ends_it() -> None:
    osu = (
        Path(__file__).parent.parent / "golden" / "logs" / "osu74-latency-tcp10g.out"
    ).read_text()
    found = read((LOG[: LOG.index("Begin of PTRANS")] + osu + PART).encode(), "x")
    assert [series.tool for series in found[:2]] == ["hpcc", "osu"]
    assert (found[0].points, found[0].complete) == ([], False)
    assert len(found) == 8


def _facts(found: list[Series]) -> set[str]:
    return {
        f"{series.benchmark} {series.unit} {point}" for series in found for point in series.points
    }


@pytest.mark.parametrize("text", some_of([OLD_KEYS + "FFTEnblk=16\n", SUMMARY], 1))
def test_a_cut_file_has_no_other_record(text: str) -> None:
    data = text.encode()
    true = _facts(read(data, "x"))
    lines = {index + 1 for index, byte in enumerate(data) if byte == ord("\n")}
    step = 97 if len(data) > 1000 else 1
    cuts = sorted(lines | set(range(1, len(data), step)))
    for end in cuts:
        try:
            found = read(data[:end], "x")
        except BadInput:
            continue
        assert _facts(found) <= true, end
        if len(_facts(found)) < len(true):
            assert not all(series.complete for series in found), end
