"""Whatever a table holds: the judgement ends, names known codes, and never passes what cannot
be.
"""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.records import osu_rates, osu_times

from wireproof.logs.verdict import judge_series
from wireproof.model.series import Series, SeriesPoint
from wireproof.physics import claim_from_text
from wireproof.verdict.catalogue import CATALOGUE

LINKS = [
    None,
    *(
        claim_from_text(text)
        for text in ("1gbe", "10gbe", "ethernet", "edr", "opa100", "efa:100", "shm")
    ),
]
numbers = st.one_of(st.none(), st.floats(), st.floats(1e-3, 1e12))
points = st.builds(
    SeriesPoint,
    message_bytes=st.one_of(
        st.integers(-10, 1 << 70), st.sampled_from([0, 1, 8, 4096, 65536, 1 << 20, 1 << 22])
    ),
    hrt_ns=numbers,
    time_ns=numbers,
    time_min_ns=numbers,
    time_max_ns=numbers,
    goodput_bytes_per_s=numbers,
    messages_per_s=numbers,
    iterations=st.one_of(st.none(), st.integers(0, 1 << 40)),
    time_step_ns=st.floats(0, 1e4),
    goodput_step=st.floats(0, 1e7),
    valid=st.sampled_from([None, True, False]),
)
series = st.builds(
    Series,
    tool=st.sampled_from(["osu", "imb", "perftest", "iperf3"]),
    benchmark=st.text(max_size=12),
    metric=st.sampled_from(["half_round_trip", "bandwidth", "time", "overlap", "message_rate"]),
    traffic=st.sampled_from(
        [
            *("pingpong", "stream", "exchange", "put", "get", "rate", "ring", "collective"),
            *("atomic", "other"),
        ]
    ),
    points=st.lists(points, max_size=12),
    formula=st.text(max_size=12),
    unit=st.just("us"),
    directions=st.integers(1, 2),
    waits=st.booleans(),
    processes=st.one_of(st.none(), st.integers(0, 1 << 40)),
    pairs=st.integers(0, 64),
    window=st.one_of(st.none(), st.integers(0, 1 << 30)),
    protocol=st.sampled_from(["", "tcp", "udp", "rdma"]),
    complete=st.booleans(),
    unit_doubt=st.sampled_from(["", "MB may be 2^20"]),
    notes=st.lists(st.text(max_size=8), max_size=2),
)


@settings(max_examples=300, deadline=None)
@given(
    one=series, link=st.sampled_from(LINKS), path=st.sampled_from(["", "tcp", "rdma", "nonsense"])
)
def test_any_table_is_judged_with_known_codes(one: Series, link: object, path: str) -> None:
    found = judge_series(one, link, path=path)  # type: ignore[arg-type]
    assert all(
        reason.code in CATALOGUE and reason.message and "\n" not in reason.message
        for reason in found.reasons
    )
    severities = {reason.severity for reason in found.reasons}
    assert (found.verdict == "fail") == ("fail" in severities)
    assert found.proof in ("unproven", "off-wire", "mixed")
    if found.verdict == "pass":
        assert link is not None
        assert one.complete
        assert "inconclusive" not in severities
        assert one.traffic not in ("collective", "ring", "other")
    if found.proof == "off-wire":
        assert found.verdict == "fail"
    assert msgspec.json.encode(found)


@settings(max_examples=100, deadline=None)
@given(start=st.floats(0.01, 0.28), rate=st.floats(100, 60_000), link=st.sampled_from(LINKS[1:4]))
def test_a_start_of_memory_never_passes(start: float, rate: float, link: object) -> None:
    times = [
        SeriesPoint(
            message_bytes=1 << n, hrt_ns=start * 1e3 + (1 << n) / rate * 1e3, time_step_ns=10.0
        )
        for n in range(23)
    ]
    one = osu_times(times)
    found = judge_series(one, link)  # type: ignore[arg-type]
    assert (found.verdict, found.proof in ("off-wire", "mixed")) == ("fail", True)


@settings(max_examples=100, deadline=None)
@given(rate=st.floats(1.03, 50.0))
def test_more_than_the_link_carries_never_passes(rate: float) -> None:
    link = claim_from_text("edr")
    rows = [
        SeriesPoint(message_bytes=1 << n, goodput_bytes_per_s=rate * 12.41e9, goodput_step=1e4)
        for n in (20, 21, 22)
    ]
    one = osu_rates(rows)
    assert judge_series(one, link).verdict == "fail"
