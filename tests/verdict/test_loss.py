"""What TCP sent again is in every report, and where it costs goodput it is a finding that names the
drops.
"""

import pytest
from tests.changed_runs import each_reading, set_
from tests.synthetic import lab, run_of

from wireproof.model.finding import Finding, Judgement, Port, Route
from wireproof.model.record import PointRecord, WitnessReading
from wireproof.model.run import Run
from wireproof.verdict.run import judge

SIZES = (8, 1 << 20)
WELL = {"sizes": (1 << 20,), "patterns": ("stream",)}


def losing(run: Run, rank: int, resent: int, sent: int = 10_000, **drops: int) -> Run:
    """``run`` with counters of the kernel's TCP at one host, and of drops at its port, at each
    point.
    """
    more = {"ip/Tcp/RetransSegs": (5, 5 + resent), "ip/Tcp/OutSegs": (100, 100 + sent)}
    more |= {f"net/hsn0/{name}": (0, count) for name, count in drops.items()}
    return counting(run, rank, more)


def counting(run: Run, rank: int, more: dict[str, tuple[int, int]]) -> Run:
    return each_reading(
        run,
        lambda one, _: set_(one, counters=one.counters | more) if one.rank == rank else one,
    )


def of_code(judgement: Judgement, code: str) -> list[Finding]:
    return [one for one in judgement.findings if one.code == code]


@pytest.mark.parametrize("resent", [1, 20])
def test_a_run_that_passes_says_what_was_sent_again(resent: int) -> None:
    """0.2 % loss passed 19 of 19 points with 180 retransmitted segments and no word."""
    run = losing(run_of(lab(sizes=SIZES)), 0, resent)
    judgement = judge(run)
    found = of_code(judgement, "retransmits")
    assert judgement.verdict == "pass"
    assert [(one.severity, one.subject) for one in found] == [("warning", "n1")]
    count = len(run.points)
    assert found[0].evidence["retransmitted_segments"] == resent * count
    assert found[0].evidence["per_million"] == pytest.approx(100 * resent, rel=0.003)
    assert f"of {(10_000 + resent) * count:,}" in found[0].message
    assert "lost elsewhere" in found[0].message
    lossy = of_code(judgement, "packet-loss")
    assert [(one.severity, one.about) for one in lossy] == [("warning", Route("n1", "n2"))] * (
        resent == 20
    )


@pytest.mark.parametrize(("points", "sent"), [(99, 10_000_000), (2, 10_000)])
def test_a_lost_packet_in_millions_is_a_note(points: int, sent: int) -> None:
    """Also a lone one: one of 21,860 segments was a warning about cable and flow control."""
    run = run_of(lab(sizes=SIZES))
    lossy = losing(run, 0, 1, sent).points[:points]
    run = set_(run, points=[*lossy, *run.points[points:]])
    assert [one.severity for one in of_code(judge(run), "retransmits")] == ["note"]


def test_loss_that_costs_goodput_is_a_finding_with_the_ports_drops() -> None:
    world = lab(nodes=3, sizes=SIZES, speed=lambda a, b: 0.6 if a == 0 else 1.0)
    judgement = judge(losing(run_of(world), 0, 30, tx_dropped=7))
    found = of_code(judgement, "packet-loss")
    assert [(one.severity, one.subject) for one in found] == [("fail", "n1 tx")]
    assert "net/hsn0/tx_dropped +" in found[0].message
    assert "cable" in found[0].advice


def test_segments_that_are_sent_twice_are_counted_twice() -> None:
    """A transmit queue of two packets retransmitted "47,387 of 40,036 segments"."""
    found = of_code(judge(losing(run_of(lab(**WELL)), 0, 12_000, tx_dropped=12_000)), "packet-loss")
    resent, sent = (found[0].evidence[f"{name}_segments"] for name in ("retransmitted", "sent"))
    assert isinstance(resent, int)
    assert isinstance(sent, int)
    assert resent * 22 == sent * 12
    assert "545,000 per million" in found[0].message
    assert "tx_dropped" in found[0].advice


def test_a_slow_node_without_loss_or_a_lossy_fast_one_is_not_called_lossy() -> None:
    world = lab(nodes=3, sizes=SIZES, speed=lambda a, b: 0.6 if a == 0 else 1.0)
    assert of_code(judge(run_of(world)), "packet-loss") == []
    assert of_code(judge(losing(run_of(world), 1, 1)), "packet-loss") == []


def losing_with(run: Run, rank: int, resent: int, sent: int = 10_000) -> Run:
    """Whoever is measured with ``rank`` sends again; ``rank`` itself does not."""

    def again(reading: WitnessReading, point: PointRecord) -> WitnessReading:
        ends = [{pair.origin, pair.target} for pair in point.pairs]
        met = reading.rank != rank and {rank, reading.rank} in ends
        more = {
            "ip/Tcp/RetransSegs": (5, 5 + resent * met),
            "ip/Tcp/OutSegs": (100, 100 + sent),
        }
        return set_(reading, counters=reading.counters | more)

    return each_reading(run, again)


def test_loss_is_blamed_on_the_end_that_all_lossy_pairs_share() -> None:
    """1 % loss at n3 was "n1 is slow and loses packets ... and n2, n3, n4"."""
    world = lab(
        nodes=4,
        sizes=(1 << 20,),
        patterns=("stream",),
        speed=lambda a, b: 0.5 if 2 in (a, b) else 1.0,
    )
    found = of_code(judge(losing_with(run_of(world), 2, 20)), "packet-loss")
    assert [one.subject for one in found] == ["n3 rx"]
    assert "n3 receives are lost" in found[0].message


@pytest.mark.parametrize(
    ("resent", "sent", "severity"),
    [(50, 10_000, "fail"), (20, 10_000, "fail"), (30, 50_000, "warning"), (20, 200_000, "")],
)
def test_loss_that_costs_nothing_names_the_end_that_all_lossy_pairs_share(
    resent: int, sent: int, severity: str
) -> None:
    """0.5 % loss towards n3 passed, and the answer to "why" was that n1 retransmits."""
    judgement = judge(losing_with(run_of(lab(nodes=4, **WELL)), 2, resent, sent))
    found = of_code(judgement, "retransmits")
    assert len(found) > 1
    assert all("n3" in one.message for one in found) == bool(severity)
    lossy = of_code(judgement, "packet-loss")
    assert [(one.severity, one.about) for one in lossy] == [(severity, Port("n3", "rx"))] * bool(
        severity
    )
    assert judgement.verdict == ("fail" if severity == "fail" else "pass")


@pytest.mark.parametrize("resent", [3, 20])
def test_loss_between_two_hosts_blames_neither(resent: int) -> None:
    """The way, and no end of it: a port at a tenth was "packets that n1 sends are lost" at n1 if
    both directions together lost fewer than 200 of a million.
    """
    world = lab(sizes=(1 << 20,), patterns=("stream",), speed=lambda a, b: 0.5)
    found = of_code(judge(losing_with(run_of(world), 1, resent)), "packet-loss")
    assert [one.about for one in found] == [Route("n1", "n2")]


def test_a_port_that_loses_far_more_than_all_others_fails_whatever_it_costs() -> None:
    """2 % loss behind busy hosts was inconclusive: their waits excused what was missing."""
    run = run_of(lab(nodes=4, **WELL))
    sends = judge(losing(run, 1, 200))
    assert [(one.severity, one.about) for one in of_code(sends, "packet-loss")] == [
        ("fail", Port("n2", "tx"))
    ]
    received = judge(losing_with(run, 2, 200))
    assert [one.about for one in of_code(received, "packet-loss")] == [Port("n3", "rx")]
    two = judge(losing(run_of(lab(**WELL)), 0, 200))
    assert [one.about for one in of_code(two, "packet-loss")] == [Route("n1", "n2")]
    assert {one.verdict for one in (sends, received, two)} == {"fail"}


def test_points_at_which_a_port_only_acknowledges_do_not_hide_its_loss() -> None:
    """2 % loss of what n2 sends passed: n2 retransmits in the streams that it sends, and half of
    its points are streams that it receives.
    """
    run = run_of(lab(nodes=4, **WELL))
    points = []
    for point in run.points:
        sends = any(pair.origin == 1 for pair in point.pairs)
        points += losing(set_(run, points=[point]), 1, 200 if sends else 0).points
    judgement = judge(set_(run, points=points))
    found = of_code(judgement, "packet-loss")
    assert [(one.severity, one.about) for one in found] == [("fail", Port("n2", "tx"))]
    assert judgement.verdict == "fail"


@pytest.mark.parametrize(
    ("resent", "sent", "named"),
    [(20, 1_000, True), (0, 100, True), (0, 1_000, False), (1, 10_000, False)],
)
def test_a_route_with_few_packets_does_not_hide_the_loss_of_its_port(
    resent: int, sent: int, named: bool
) -> None:
    """A port among eight was undecided if to one of seven partners less than 50 packets were lost;
    a route that would show the loss and does not leaves it undecided.
    """
    run = run_of(lab(nodes=4, **WELL))
    points = []
    for point in run.points:
        few = any((pair.origin, pair.target) == (1, 2) for pair in point.pairs)
        one = set_(run, points=[point])
        points += losing(one, 1, *((resent, sent) if few else (200, 10_000))).points
    found = of_code(judge(set_(run, points=points)), "packet-loss")
    assert [one.about for one in found] == [Port("n2", "tx")] * named


def test_a_port_that_loses_a_little_on_each_of_its_routes_is_named() -> None:
    """2 % loss among eight nodes passed: of 700 lost packets most routes had less than 50."""
    found = of_code(judge(losing(run_of(lab(nodes=4, **WELL)), 1, 20, 1_000)), "packet-loss")
    assert [(one.severity, one.about) for one in found] == [("fail", Port("n2", "tx"))]


def test_loss_that_is_no_ports_own_fails_nobody_by_itself() -> None:
    run = run_of(lab(nodes=4, **WELL))
    everywhere = losing(losing(losing(losing(run, 0, 200), 1, 200), 2, 200), 3, 200)
    two_ways = losing(losing(run_of(lab(**WELL)), 0, 200), 1, 150)
    for one in (everywhere, two_ways):
        assert of_code(judge(one), "packet-loss") == []


@pytest.mark.parametrize("counter", ["TCPDSACKRecv", "TCPDSACKOfoRecv", "TCPDSACKRecvSegs"])
@pytest.mark.parametrize(
    ("duplicates", "overtaken", "codes"),
    [(390, 300, {"reordering"}), (390, 2, set()), (20, 300, {"packet-loss"})],
)
def test_segments_that_the_receiver_had_already_are_not_lost(
    counter: str, duplicates: int, overtaken: int, codes: set[str]
) -> None:
    """Packets that overtook each other were a loss: "replace the cable". If none did, their
    acknowledgements came late.
    """
    run = losing(run_of(lab(sizes=SIZES, speed=lambda a, _: 0.5 if a == 0 else 1.0)), 0, 400)
    more = {
        f"ip/TcpExt/{counter}": (7, 7 + duplicates),
        "ip/TcpExt/TCPSACKReorder": (7, 7 + overtaken),
    }
    judgement = judge(counting(run, 0, more))
    found_ones = [one for one in judgement.findings if one.code in ("reordering", "packet-loss")]
    assert {one.code for one in found_ones} == codes
    (found,) = [one for one in of_code(judgement, "retransmits") if one.subject == "n1"]
    assert found.severity == ("warning" if codes else "note")
    resent = found.evidence["retransmitted_segments"]
    assert isinstance(resent, int)
    assert found.evidence["duplicate_segments"] == duplicates * resent // 400
