"""What published numbers change in a judgement: of a log and of a run."""

import msgspec
from tests.atlas.test_place import atlas, source
from tests.logs.tables import codes, pingpong, stream, wire_times
from tests.synthetic import World, lab, run_of

from wireproof.atlas import Atlas
from wireproof.atlas.job import atlas as published
from wireproof.logs.verdict import judge_series
from wireproof.model.finding import Judgement
from wireproof.physics import claim_from_text
from wireproof.report.document import Document, Dots, Facts
from wireproof.report.html.document import strip
from wireproof.report.ink import Look
from wireproof.report.text import document_text, dots
from wireproof.verdict.run import judge

EDR = claim_from_text("edr")
SIZE = 1 << 22


def streams(*rates: float) -> Atlas:
    found = [source(f"s{n}", [(SIZE, rate)], pattern="stream") for n, rate in enumerate(rates)]
    return atlas(*found)


def starts(*times: float) -> Atlas:
    return atlas(*(source(f"s{n}", [(8, time)]) for n, time in enumerate(times)))


def test_what_is_usual_is_no_failure() -> None:
    slow = stream({SIZE: 6000.0})
    assert judge_series(slow, EDR).verdict == "fail"
    usual = judge_series(slow, EDR, atlas=streams(5900, 5950, 6100, 9000, 11000, 11900))
    assert usual.verdict == "pass"
    assert "usual-shortfall" in codes(usual, "note")
    assert usual.places[0].usual


def test_what_one_source_alone_is_as_slow_as_is_a_doubt() -> None:
    slow = stream({SIZE: 6000.0})
    assert judge_series(slow, EDR, atlas=streams(5900, 11000, 11900)).verdict == "inconclusive"
    many = judge_series(slow, EDR, atlas=streams(5900, 9000, 11000, 11500, 11800, 11900))
    assert many.verdict == "inconclusive"


def test_below_all_published_ones_the_limits_still_fail_and_it_is_said() -> None:
    found = judge_series(stream({SIZE: 3000.0}), EDR, atlas=streams(9e3, 1e4, 1.1e4, 1.15e4, 1.2e4))
    assert found.verdict == "fail"
    assert "trails-published" in codes(found, "warning")


def test_far_quicker_than_every_published_start_does_not_pass() -> None:
    quick = pingpong(wire_times(0.8, 11_500.0))
    assert judge_series(quick, EDR).verdict == "pass"
    found = judge_series(quick, EDR, atlas=starts(1.1, 1.2, 1.3, 1.4, 1.5))
    assert found.verdict == "inconclusive", [one.message for one in found.reasons]
    assert "outruns-published" in codes(found, "inconclusive")


def test_ranks_that_are_likely_neighbours_start_no_quicker_than_every_published_pair() -> None:
    quick = pingpong(wire_times(0.95, 11_500.0))
    atlas = starts(1.1, 1.2, 1.3, 1.4, 1.5)
    assert judge_series(quick, EDR, atlas=atlas).verdict == "pass"
    idle = msgspec.structs.replace(quick, notes=["126 more processes waited meanwhile"])
    assert "outruns-published" in codes(judge_series(idle, EDR, atlas=atlas), "inconclusive")


def test_shared_memory_under_omni_path_does_not_pass() -> None:
    quick = pingpong(wire_times(0.62, 11_500.0))
    assert judge_series(quick, claim_from_text("opa100"), atlas=published()).verdict != "pass"


def test_a_few_sources_say_nothing_but_that_they_are_few() -> None:
    found = judge_series(pingpong(wire_times(0.8, 11_000.0)), EDR, atlas=starts(1.5, 1.6))
    assert found.verdict == "pass"
    assert "too few to tell which values are usual" in found.places[0].sentence


def test_what_is_off_the_wire_has_no_place() -> None:
    found = judge_series(pingpong(wire_times(0.2, 20_000.0)), EDR, atlas=starts(*[1.0] * 6))
    assert found.verdict == "fail"
    assert not found.places


def test_an_honest_qdr_stream_on_pcie_2_passes_by_what_others_published() -> None:
    qdr = claim_from_text("qdr")
    found = judge_series(stream({SIZE: 3400.0}), qdr, atlas=published())
    assert found.verdict != "fail", [one.message for one in found.reasons]


def _run(world: World, known: Atlas) -> Judgement:
    return judge(run_of(world), atlas=known)


GBE = [source(f"g{n}", [(8, 20.0 + n)], link="1gbe", path="tcp") for n in range(6)]


def test_a_run_says_where_it_lies_and_a_lab_does_not() -> None:
    found = _run(World(), atlas(*GBE))
    assert [(one.pattern, one.sources) for one in found.places] == [("pingpong", 6)]
    assert found.places[0].faster_than is not None
    assert not _run(lab(), atlas(*GBE)).places


def test_a_run_slower_than_all_published_ones_is_warned_of() -> None:
    slow = _run(World(latency_ns=90_000.0), atlas(*GBE))
    assert "trails-published" in {one.code for one in slow.findings if one.severity == "warning"}


def test_a_run_that_is_slow_as_usual_is_not_failed_for_it() -> None:
    world = World(speed=lambda _a, _b: 0.6)
    rates = [
        source(f"r{n}", [(SIZE, 60.0 + n)], pattern="stream", link="1gbe", path="tcp")
        for n in range(6)
    ]
    bare, known = _run(world, atlas()), _run(world, atlas(*rates))
    failing = {one.code for one in bare.findings if one.severity == "fail"}
    assert "below-expectation" in failing
    about = [one for one in known.findings if one.code == "usual-shortfall"]
    assert about
    streams_left = [
        one
        for one in known.pairs
        if one.pattern == "stream" and one.message_bytes == SIZE and one.verdict == "fail"
    ]
    assert not streams_left


def test_a_start_that_is_late_as_usual_is_no_fault_of_a_run_or_a_log() -> None:
    world = World(sizes=(8,), patterns=("pingpong",), latency_ns=175_000.0)
    late = [source(f"g{n}", [(8, 160.0 + n)], link="1gbe", path="tcp") for n in range(9)]
    late += [source(f"h{n}", [(8, 200.0 + n)], link="1gbe", path="tcp") for n in range(9)]
    log = pingpong(wire_times(175.0, 117.0))
    for known, expected in ((atlas(), True), (atlas(*late), False)):
        run = {one.code for one in _run(world, known).findings if one.severity == "fail"}
        judged = judge_series(log, claim_from_text("1gbe"), atlas=known)
        assert ("slow-start" in run, "slow-start" in codes(judged, "fail")) == (expected, expected)


def test_the_strip_marks_the_number_and_reads_without_colour() -> None:
    found = _run(World(), atlas(*GBE)).places[0]
    facts = Facts((("published", Dots.of(found)),))
    *told, line = document_text(Document("", "", (facts,)), Look(ascii=True)).splitlines()
    assert found.sentence.split()[0] in told[0]
    assert "^" in line
    assert line.count("|") == 2
    assert line.isascii()
    assert dots(Dots((1000.0,), "time"), Look()).startswith("1 us |")
    drawn = strip(Dots.of(found))
    assert drawn.count("<circle") == 6
    assert "aria-label=" in drawn


def test_hostile_words_of_a_site_stay_words() -> None:
    bad = '"><script>alert(1)</script>'
    evil = [
        source(f"e{n}", [(8, 20.0 + n)], link="1gbe", path="tcp", adapter=bad) for n in range(6)
    ]
    found = _run(World(), atlas(*evil)).places[0]
    drawn = strip(Dots.of(msgspec.structs.replace(found, sentence=bad)))
    assert "<script" not in drawn
