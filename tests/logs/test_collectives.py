"""Collectives, several pairs, and what is not a test of a link."""

import msgspec
from tests.logs.tables import codes, imb, pingpong, stream, wire_times
from tests.records import imb_rates

from wireproof.logs.verdict import judge_series
from wireproof.model.series import Series, SeriesPoint
from wireproof.physics import claim_from_text


def collective(times_us: dict[int, float], name: str, **changes: object) -> Series:
    points = [
        SeriesPoint(message_bytes=s, time_ns=t * 1e3, time_step_ns=10.0)
        for s, t in times_us.items()
    ]
    plain = imb_rates(
        points,
        tool="osu",
        benchmark=name,
        metric="time",
        traffic="collective",
        formula="mean",
        unit="us",
    )
    return msgspec.structs.replace(plain, **changes)


def test_a_collective_is_held_against_the_floor_only() -> None:
    link = claim_from_text("10gbe")
    fast = collective({4: 0.4, 8: 0.4, 1 << 20: 90.0}, "osu_allreduce")
    assert judge_series(fast, link).proof == "off-wire"
    real = collective({4: 22.0, 8: 22.0, 1 << 20: 900.0}, "osu_allreduce")
    assert judge_series(real, link).verdict == "inconclusive"
    # Eight ranks on one node are as quick as that over a quick wire: a collective never passes.
    near = collective({4: 2.0}, "osu_allreduce", processes=8)
    assert judge_series(near, claim_from_text("edr")).verdict == "inconclusive"
    # The root of a broadcast may return at once, and a reduction of nothing does nothing.
    assert judge_series(collective({4: 0.4}, "osu_bcast"), link).proof == "unproven"
    assert judge_series(collective({0: 0.05, 4: 22.0}, "osu_allreduce"), link).proof == "unproven"


def test_an_operation_with_a_fence_has_only_a_floor() -> None:
    # An accumulate through memory with a fence takes 9.9 us: longer than any of these wires needs.
    times_us = {size: 9.9 + size / 63.0 for size in (4, 8, 64, 1024, 1 << 20)}
    fence = "t = time of one accumulate with a fence each; bandwidth = size / t"
    fenced = {"traffic": "atomic", "metric": "latency", "formula": fence, "waits": True}
    for link in ("10gbe", "hdr200", "aries"):
        near = collective(times_us, "Accumulate", tool="imb", **fenced)
        found = judge_series(near, claim_from_text(link))
        assert (found.verdict, codes(found, "inconclusive")) == ("inconclusive", {"only-a-floor"})
    quick = collective({4: 0.4, 8: 0.4}, "Accumulate", tool="imb", **fenced)
    assert judge_series(quick, claim_from_text("hdr200")).proof == "off-wire"


def test_of_several_pairs_only_the_slowest_must_have_crossed() -> None:
    point = SeriesPoint(
        message_bytes=8, hrt_ns=400.0, time_min_ns=250.0, time_max_ns=1200.0, time_step_ns=1.0
    )
    series = pingpong({}, points=[point], processes=64, tool="hpcc", benchmark="PingPongLatency")
    assert judge_series(series, claim_from_text("edr")).proof == "unproven"
    assert judge_series(series, claim_from_text("10gbe")).proof == "off-wire"
    assert (
        judge_series(msgspec.structs.replace(series, processes=2), claim_from_text("edr")).proof
        == "off-wire"
    )


def test_the_slowest_of_many_pairs_is_bound_by_the_link() -> None:
    def many(slowest: float) -> Series:
        point = SeriesPoint(
            message_bytes=2_000_000,
            goodput_bytes_per_s=9e9,
            values={"goodput_min_bytes_per_s": slowest},
        )
        return pingpong(
            {}, points=[point], processes=64, tool="hpcc", benchmark="PingPongBandwidth"
        )

    assert judge_series(many(1.1e9), claim_from_text("10gbe")).proof == "unproven"
    assert judge_series(many(5e9), claim_from_text("10gbe")).proof == "off-wire"


def test_a_pingpong_that_prints_no_time_is_judged_less_ten_floors() -> None:
    series = stream(
        {2_000_000: 1030.0},
        tool="hpcc",
        benchmark="PingPongBandwidth",
        traffic="pingpong",
        waits=True,
    )
    assert judge_series(series, claim_from_text("10gbe", mtu=1500)).verdict == "pass"
    slow = stream(
        {2_000_000: 800.0},
        tool="hpcc",
        benchmark="PingPongBandwidth",
        traffic="pingpong",
        waits=True,
    )
    assert codes(judge_series(slow, claim_from_text("10gbe", mtu=1500)), "fail") == {
        "below-expectation"
    }


def test_overlap_and_unknown_tests_are_not_judged_by_a_link() -> None:
    link = claim_from_text("10gbe")
    for series in (
        collective({4: 30.0}, "osu_iallreduce", metric="overlap", processes=2),
        collective({4: 30.0}, "osu_hello", traffic="other"),
        collective({4: 30.0}, "ring", traffic="ring"),
    ):
        assert judge_series(series, link).verdict == "inconclusive"


def test_a_put_that_is_complete_locally_says_nothing() -> None:
    series = pingpong(
        wire_times(0.2, 9000, range(1, 8)), traffic="put", formula="put and MPI_Win_flush_local"
    )
    assert judge_series(series, claim_from_text("edr")).proof == "unproven"


def test_shared_memory_may_be_claimed() -> None:
    found = judge_series(imb("opa100_intelmpi_imb_p2p_pingpong.csv"), claim_from_text("shm"))
    assert (found.verdict, codes(found, "fail")) == ("inconclusive", set())
    assert "no-wire-claimed" in codes(found)
