"""Tables that were published, each judged by the link that its authors name."""

import tomllib

import pytest
from tests.logs.tables import GOLDEN
from tests.records import osu_times

from wireproof.logs.verdict import judge_series
from wireproof.model.series import Series, SeriesPoint
from wireproof.physics import claim_from_text

TABLES = {
    name: dict(rows)
    for name, rows in tomllib.loads((GOLDEN / "published.toml").read_text("utf-8")).items()
}


def pingpong(times: dict[int, float], **changes: object) -> Series:
    points = [
        SeriesPoint(message_bytes=size, hrt_ns=us * 1e3, time_step_ns=10.0)
        for size, us in times.items()
    ]
    return osu_times(points, **changes)


def stream(rates: dict[int, float], *, scale: float = 1e6, **changes: object) -> Series:
    points = [
        SeriesPoint(message_bytes=size, goodput_bytes_per_s=rate * scale, goodput_step=0.01 * scale)
        for size, rate in rates.items()
    ]
    named = {
        "tool": "osu",
        "benchmark": "osu_bw",
        "metric": "bandwidth",
        "traffic": "stream",
        "window": 64,
        **changes,
    }
    return Series(points=points, formula="bytes / time", unit="MB/s", **named)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("series", "link", "verdict"),
    [
        (pingpong(TABLES["ddr"]), "ddr", "pass"),
        (pingpong(TABLES["edr_latency"], protocol="rdma", tool="perftest"), "edr", "pass"),
        (
            stream(TABLES["edr_stream"], scale=125e6, protocol="rdma", tool="perftest"),
            "edr",
            "pass",
        ),
        (stream(TABLES["hdr100"], traffic="exchange", directions=2), "hdr100", "pass"),
        (pingpong(TABLES["efa"]), "efa:100", "inconclusive"),
        (stream(TABLES["efa_stream"]), "efa:100", "inconclusive"),
    ],
)
def test_a_published_table_of_a_fabric_is_of_that_fabric(
    series: Series, link: str, verdict: str
) -> None:
    found = judge_series(series, claim_from_text(link))
    assert (found.proof, found.verdict) == ("unproven", verdict), found.reasons


@pytest.mark.parametrize(
    "link", ["10gbe", "100gbe", "roce100", "efa:100", "ipoib-edr", "1gbe", "slingshot:200"]
)
@pytest.mark.parametrize("name", ["shared", "quick"])
def test_a_published_table_of_shared_memory_is_no_wire(name: str, link: str) -> None:
    found = judge_series(pingpong(TABLES[name]), claim_from_text(link))
    assert found.verdict != "pass"
    if name == "quick" or link in ("10gbe", "100gbe", "efa:100", "ipoib-edr", "1gbe"):
        assert found.proof == "off-wire"


def test_a_fabric_whose_large_messages_collapse_is_slow_and_no_memory() -> None:
    """Sendrecv and Exchange over HDR100: a fall of 84 % from 1 MiB on, reported and never
    explained.
    """
    for rates in (
        {262144: 15660.37, 524288: 17616.61, 1 << 20: 8107.16, 2 << 20: 4479.40, 4 << 20: 2726.56},
        {262144: 11283.53, 524288: 12394.29, 1 << 20: 5260.33, 2 << 20: 3936.01, 4 << 20: 3778.18},
    ):
        series = stream(rates, tool="imb", traffic="exchange", directions=2, window=None)
        found = judge_series(series, claim_from_text("hdr100"))
        assert (found.proof, found.verdict) == ("unproven", "fail")
        assert {"below-expectation", "cache-shaped"} <= {reason.code for reason in found.reasons}


def test_a_published_table_of_both_directions_exceeds_one() -> None:
    found = judge_series(stream(TABLES["hdr100"]), claim_from_text("hdr100"))
    assert found.verdict == "fail"
    assert "above-ceiling" in {reason.code for reason in found.reasons}
