"""Where a number lies among published ones: votes, sizes, layers, and what is too little."""

import pytest

from wireproof.atlas import Atlas, outruns_all, place, trails_all
from wireproof.model.atlas import Publication, Published
from wireproof.physics.claims import claim_from_text

EDR = claim_from_text("edr")
Rows = list[tuple[int, float]]


def source(name: str, *tables: Rows, pattern: str = "pingpong", **more: object) -> Publication:
    told = {"link": "edr", "unit": "us" if pattern == "pingpong" else "MB/s"} | more
    series = [
        Published(pattern=pattern, formula="f", rows=rows, **told)  # type: ignore[arg-type]
        for rows in tables
    ]
    return Publication(id=name, title="title", where="where", trust="log", series=series)


def atlas(*sources: Publication) -> Atlas:
    return Atlas(lambda _: [(one, "") for one in sources])


def six(size: int = 8, unit: float = 1.0) -> Atlas:
    return atlas(*(source(f"s{n}", [(size, unit * (1 + n / 10))]) for n in range(6)))


def test_a_share_of_the_sources_is_faster_and_the_nearest_are_named() -> None:
    found = place(six(), EDR, "pingpong", 8, time_ns=1250.0)
    assert (found.sources, found.rows) == (6, 6)
    assert found.faster_than == pytest.approx(3 / 6)
    assert {one.source for one in found.nearest[:2]} == {"s2", "s3"}
    assert "faster than 50% of 6 published sources" in found.sentence


def test_rows_of_one_source_are_one_vote() -> None:
    many = source("many", *([[(8, 1.9)]] * 50))
    found = place(
        atlas(many, *(source(f"s{n}", [(8, 1.0)]) for n in range(4))),
        EDR,
        "pingpong",
        8,
        time_ns=1500.0,
    )
    assert found.sources == 5
    assert found.faster_than == pytest.approx(1 / 5)
    assert sorted(found.values) == [1000.0] * 4 + [1900.0]


def test_below_five_sources_only_the_limits_judge() -> None:
    few = atlas(*(source(f"s{n}", [(8, 1.0)]) for n in range(4)))
    found = place(few, EDR, "pingpong", 8, time_ns=400.0)
    assert found.faster_than is None
    assert "too few to tell which values are usual" in found.sentence
    assert not found.usual
    assert not outruns_all(found)
    assert not trails_all(found)


@pytest.mark.parametrize(
    ("question", "comparable"),
    [
        ({}, True),
        ({"link": claim_from_text("hdr100")}, False),
        ({"link": claim_from_text("2xedr")}, False),
        ({"link": claim_from_text("edr", path="tcp")}, False),
        ({"pattern": "put"}, False),
        ({"layer": "verbs"}, False),
        ({"size": 0}, True),
        ({"size": 32}, True),
        ({"size": 4096}, False),
    ],
)
def test_only_the_same_kind_of_number_is_comparable(
    question: dict[str, object], comparable: bool
) -> None:
    told = {"link": EDR, "pattern": "pingpong", "size": 8, "layer": "mpi"} | question
    found = place(
        six(),
        told["link"],  # type: ignore[arg-type]
        str(told["pattern"]),
        int(str(told["size"])),
        time_ns=1000.0,
        layer=told["layer"],  # type: ignore[arg-type]
    )
    assert (found is not None) == comparable


def test_between_two_near_sizes_a_time_lies_on_the_line_and_far_sizes_say_nothing() -> None:
    near = atlas(source("near", [(1024, 2.0), (4096, 4.0)]))
    far = atlas(source("far", [(8, 1.0), (65536, 10.0)]))
    found = place(near, EDR, "pingpong", 2048, time_ns=2000.0)
    assert found.values == [pytest.approx(2.0**1.5 * 1000)]
    assert place(far, EDR, "pingpong", 4096, time_ns=2000.0) is None


def test_a_rate_of_a_ping_pong_is_its_time_and_a_peak_has_no_size() -> None:
    rate = atlas(source("rate", [(1 << 20, 10_000.0)], unit="MB/s"))
    found = place(rate, EDR, "pingpong", 1 << 20, time_ns=1e5)
    assert found.values == [pytest.approx((1 << 20) / 10)]
    peak = atlas(source("peak", [(0, 96.5)], pattern="stream", unit="Gb/s"))
    found = place(peak, EDR, "stream", 1 << 20, goodput=12e9)
    assert found.values == [pytest.approx(96.5e9 / 8)]
    assert place(peak, EDR, "stream", 64, goodput=1e6) is None


def test_both_directions_of_an_exchange_are_halved() -> None:
    both = atlas(source("both", [(1 << 20, 22_000.0)], pattern="exchange"))
    found = place(both, EDR, "exchange", 1 << 20, goodput=11e9)
    assert found.values == [pytest.approx(11e9)]


def test_what_is_usual_what_outruns_all_and_what_trails_all() -> None:
    def at(ns: float):  # type: ignore[no-untyped-def]
        return place(six(), EDR, "pingpong", 8, time_ns=ns)

    assert at(1000.0).usual
    assert at(1350.0).usual
    assert not at(1450.0).usual
    assert at(1500.0).as_slow == 1
    assert at(1390.0).as_slow == 2
    assert outruns_all(at(620.0))
    assert not outruns_all(at(950.0))
    assert trails_all(at(1700.0))
    assert not trails_all(at(1500.0))


def test_goodput_is_better_the_more() -> None:
    rates = atlas(
        *(source(f"s{n}", [(1 << 20, 9000 + 500.0 * n)], pattern="stream") for n in range(6))
    )
    slow = place(rates, EDR, "stream", 1 << 20, goodput=8.0e9)
    fast = place(rates, EDR, "stream", 1 << 20, goodput=12.1e9)
    assert (slow.faster_than, fast.faster_than) == (0.0, 1.0)
    assert trails_all(slow)
    assert fast.usual


def test_what_its_own_source_reports_as_a_fault_has_no_vote() -> None:
    broken = [source(f"f{n}", [(8, 9.0)], fault=True) for n in range(6)]
    found = place(atlas(*broken, source("good", [(8, 1.0)])), EDR, "pingpong", 8, time_ns=9e3)
    assert (found.sources, found.as_slow) == (1, 0)
