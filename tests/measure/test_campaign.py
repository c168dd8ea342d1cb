"""One plan in as many launches as it takes: nobody lost is forgotten, nothing measured twice,
nothing invented.
"""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.records import PROVENANCE, group_result, made_plan, pair_result, point_record

from wireproof.instrument import Outcome
from wireproof.instrument.ending import Ending
from wireproof.measure.points import numbered, sweep
from wireproof.measure.session.campaign import (
    Campaign,
    CampaignResult,
    attempt_folder,
    earlier_attempts,
)
from wireproof.measure.session.merge import renumbered, subset_claim, subset_points
from wireproof.measure.session.screen_plan import screen_points
from wireproof.measure.specification import CheckSpecification
from wireproof.model.claim import Claim
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.plan import Point, Policy
from wireproof.model.record import EngineError, Host, Nic, PointRecord, WitnessReading
from wireproof.model.run import Missing, Run, RunDocument
from wireproof.options.table import Profile
from wireproof.target import Target
from wireproof.target.availability import is_down
from wireproof.verdict.run.plateau import STEADY
from wireproof.workflow.check import _policy, _sweeps

HOSTS = ("a", "b", "c", "d")


def record(point: Point) -> PointRecord:
    return point_record(
        point.id,
        pattern=point.pattern,
        message_bytes=point.message_bytes,
        pairs=[pair_result(*ends) for ends in point.pairs],
        witness=[
            WitnessReading(rank=rank, interval_ns=1.0) for ends in point.pairs for rank in ends
        ],
    )


class World:
    """Hosts that die: ``deaths`` maps the number of a launch to (points that still come through,
    host that dies).
    """

    def __init__(
        self, deaths: dict[int, tuple[int, str]], told: bool = True, crashed: bool = False
    ) -> None:
        self.deaths, self.told, self.crashed = deaths, told, crashed
        self.launches: list[tuple[tuple[str, ...], list[int]]] = []
        self.measured: list[tuple[int, str, str]] = []

    def launch(
        self, points: tuple[Point, ...], place: Target, claim: Claim, out: Path | None, said: str
    ) -> Outcome:
        number = len(self.launches)
        self.launches.append((place.hosts, [point.id for point in points]))
        through, dead = self.deaths.get(number, (len(points), ""))
        run = Run(
            claim=claim,
            provenance=PROVENANCE,
            open=None,
            hosts=[
                Host(rank=rank, host=name, hostname=name) for rank, name in enumerate(place.hosts)
            ],
            points=[record(point) for point in points[:through]],
        )
        for point in points[:through]:
            self.measured += [(point.id, place.hosts[a], place.hosts[b]) for a, b in point.pairs]
        ending = Ending(ended="done", reason="")
        if dead:
            rank = place.hosts.index(dead)
            ending = Ending(
                ended="rank-lost",
                reason="a rank is gone",
                culprit=points[through].id if through < len(points) else None,
                lost={rank: f"rank {rank} on {dead} was killed"} if self.told else {},
                crashed=self.crashed,
            )
        return Outcome(run=run, ending=ending, exit_status=0, folder=out or Path("/nowhere"))


def place() -> Target:
    return Target(hosts=HOSTS, start_on=HOSTS)


def nobody(_place: Target, _ranks: tuple[int, ...]) -> dict[int, str]:
    return {}


def points() -> tuple[Point, ...]:
    return numbered(screen_points(place(), None, seed=3, rounds=3, all_pairs=True), seed=3)


def carried_out(
    world: World,
    planned: tuple[Point, ...] = (),
    target: Target | None = None,
    *,
    base: Path | None = None,
    **asked: Any,
) -> CampaignResult:
    """A whole campaign in the world; one that has left ``base`` is resumed."""
    there = target or place()
    campaign = Campaign(
        planned or points(), there, there.claim(), world.launch, **({"probe": nobody} | asked)
    )
    return campaign.run(out=base, resume=base is not None)


def test_a_screen_streams_each_direction_of_each_pair_alone() -> None:
    streams = [point.pairs for point in points() if point.pattern == "stream"]
    assert {pair for pairs in streams for pair in pairs} == {
        (a, b) for a in range(4) for b in range(4) if a != b
    }
    assert all(
        len({rank for pair in pairs for rank in pair}) == 2 * len(pairs) for pairs in streams
    )


def all_pairs(some: tuple[Point, ...]) -> set[tuple[int, str, str]]:
    return {(point.id, HOSTS[a], HOSTS[b]) for point in some for a, b in point.pairs}


def test_a_healthy_cluster_is_one_launch() -> None:
    world = World({})
    carried = carried_out(world)
    assert len(world.launches) == 1
    assert set(world.measured) == all_pairs(points())
    assert (carried.ended, carried.lost, carried.missing) == ("done", {}, {})


@pytest.mark.parametrize("dead", HOSTS)
def test_a_dead_host_is_left_out_and_the_rest_is_measured_once(dead: str) -> None:
    world = World({0: (2, dead)})
    carried = carried_out(world)
    assert world.launches[1][0] == tuple(host for host in HOSTS if host != dead)
    done_before = {one for one in world.measured if dead in one[1:]}
    assert (
        set(world.measured)
        == {one for one in all_pairs(points()) if dead not in one[1:]} | done_before
    )
    assert len(world.measured) == len(set(world.measured)), "a pair was measured twice"
    assert list(carried.lost) == [HOSTS.index(dead)]
    ranks = {
        rank
        for run in carried.runs
        for point in run.points
        for p in point.pairs
        for rank in (p.origin, p.target)
    }
    assert ranks <= set(range(4))


def test_results_come_back_under_the_plans_own_ranks() -> None:
    world = World({0: (0, "a")})
    carried = carried_out(world)
    run = carried.runs[-1]
    assert {host.rank: host.hostname for host in run.hosts} == {1: "b", 2: "c", 3: "d"}
    wanted = {point.id: {ends for ends in point.pairs if 0 not in ends} for point in points()}
    for one in run.points:
        assert {(p.origin, p.target) for p in one.pairs} == wanted[one.id]
        assert all(reading.rank != 0 for reading in one.witness)
    assert [host.host for host in run.claim.hosts] == list(HOSTS)


def test_whom_the_probe_misses_is_not_waited_for() -> None:
    world = World({})
    carried = carried_out(world, probe=lambda _, ranks: {r: "c is down" for r in ranks if r == 2})
    assert world.launches == [
        (("a", "b", "d"), [p.id for p in points() if any(2 not in e for e in p.pairs)])
    ]
    assert carried.lost == {2: "c is down"}


GONE = {"examine": lambda _, ranks: {3: "d does not respond"}}


@pytest.mark.parametrize(
    ("deaths", "crashed", "asked", "launches", "lost"),
    [
        ({0: (1, "d"), 1: (1, "b")}, False, {}, ["abcd", "abc", "ac"], [1, 3]),
        ({0: (2, "b")}, True, {}, ["abcd", "abcd"], []),
        ({0: (2, "b"), 1: (2, "b")}, True, {}, ["abcd", "abcd", "acd"], [1]),
        ({0: (2, "b")}, True, GONE, ["abcd", "abc"], [3]),  # not the survivor that crashed
    ],
    ids=["two hosts, one after the other", "crashes once", "crashes twice", "host is gone"],
)
def test_a_rank_that_dies_is_left_out_and_one_that_crashed_is_tried_again(
    deaths: dict[int, tuple[int, str]],
    crashed: bool,
    asked: dict[str, Any],
    launches: list[str],
    lost: list[int],
) -> None:
    world = World(deaths, crashed=crashed)
    carried = carried_out(world, **asked)
    assert ["".join(hosts) for hosts, _ in world.launches] == launches
    assert sorted(carried.lost) == lost
    assert carried.ended == "done"


def test_when_nobody_can_be_named_the_point_is_given_up_and_not_the_run() -> None:
    world = World({0: (2, "b")}, told=False)
    carried = carried_out(world)
    given_up = world.launches[0][1][2]
    assert carried.missing == {given_up: Missing("rank-lost", "a rank is gone")}
    assert world.launches[1][0] == HOSTS
    assert given_up not in world.launches[1][1]


def test_a_rank_that_crashes_once_is_reported() -> None:
    carried = carried_out(World({0: (2, "b")}, crashed=True))
    assert carried.missing == {}
    [error] = [error for run in carried.runs for error in run.errors]
    assert error.code == "rank-lost"
    assert "rank 1 on b was killed, in launch 1" in error.message


def test_total_failure_is_an_error_that_names_everybody() -> None:
    with pytest.raises(CouldNotMeasure, match=r"a is down.*b is down.*c is down.*d is down"):
        carried_out(
            World({}), probe=lambda _, ranks: {rank: f"{HOSTS[rank]} is down" for rank in ranks}
        )


def test_a_cluster_that_loses_a_point_each_time_ends() -> None:
    world = World(dict.fromkeys(range(50), (0, "a")), told=False)
    with pytest.raises(CouldNotMeasure):
        carried_out(world)
    assert len(world.launches) < 10


def seal_like(folder: Path, run: Run, some: tuple[Point, ...]) -> None:
    """A run folder as the instrument leaves it."""
    folder.mkdir(parents=True)
    plan = made_plan(some, *(one.host for one in run.claim.hosts))
    document = RunDocument(
        claim=run.claim, provenance=PROVENANCE, plan=plan, ended="interrupted", reason="stopped"
    )
    (folder / "run.json").write_bytes(msgspec.json.encode(document))
    frames = [msgspec.json.encode(one) for one in (*run.hosts, *run.points)]
    (folder / "frames.jsonl").write_bytes(b"".join(frame + b"\n" for frame in frames))


def test_a_resumed_campaign_measures_only_the_rest_lost_hosts_included(tmp_path: Path) -> None:
    first = World({0: (3, "c")})
    base = tmp_path / "run"
    outcome = first.launch(points(), place(), place().claim(), None, "")
    seal_like(base, outcome.run, points())
    world = World({})
    carried = carried_out(world, base=base)
    assert set(world.measured) | set(first.measured) == all_pairs(points())
    assert not set(world.measured) & set(first.measured)
    assert len(carried.runs) == 2
    assert carried.lost == {}


def test_a_finished_campaign_is_resumed_to_nothing_new(tmp_path: Path) -> None:
    outcome = World({}).launch(points(), place(), place().claim(), None, "")
    seal_like(tmp_path / "run", outcome.run, points())
    world = World({})
    carried = carried_out(world, base=tmp_path / "run")
    assert world.launches == []
    assert carried.ended == "done"


def test_a_folder_of_other_hosts_or_points_is_not_resumed(tmp_path: Path) -> None:
    outcome = World({}).launch(points(), place(), place().claim(), None, "")
    seal_like(tmp_path / "run", outcome.run, points())
    other = Target(hosts=("a", "b", "c", "x"), start_on=("a", "b", "c", "x"))
    with pytest.raises(BadInput, match="other hosts"):
        carried_out(World({}), points(), other, base=tmp_path / "run")
    fewer = tuple(msgspec.structs.replace(point, message_bytes=4096) for point in points())
    with pytest.raises(BadInput, match="another plan"):
        carried_out(World({}), fewer, base=tmp_path / "run")


def test_attempts_have_folders_of_their_own_in_order(tmp_path: Path) -> None:
    base = tmp_path / "run"
    for number in (1, 2, 3):
        folder = attempt_folder(base, number)
        assert folder is not None
        seal_like(folder, World({}).launch((), place(), place().claim(), None, "").run, ())
    assert [folder.name for folder in earlier_attempts(base)] == ["run", "run.2", "run.3"]
    assert earlier_attempts(None) == []


def test_groups_are_measured_whole_or_not_at_all() -> None:
    ring = Point(id=9, pattern="ring", message_bytes=8, members=(0, 1, 2, 3), form="stream")
    assert subset_points([ring], set(), set(), set()) == (ring,)
    assert subset_points([ring], set(), {2}, set()) == ()
    assert subset_points([ring], {(9, -1, -1)}, set(), set()) == ()


def test_renumbering_reaches_every_place_that_names_a_rank() -> None:
    point = msgspec.structs.replace(
        record(Point(id=0, pattern="stream", message_bytes=8, pairs=((1, 0),))),
        group=group_result(2),
        witness=[WitnessReading(rank=1, interval_ns=1.0, shared_with=0)],
    )
    whole = place().claim()
    run = Run(
        claim=subset_claim(whole, (3, 1)),
        provenance=PROVENANCE,
        open=None,
        hosts=[],
        points=[point],
    )
    back = renumbered(run, (3, 1), whole).points[0]
    assert (back.pairs[0].origin, back.pairs[0].target) == (1, 3)
    assert (back.witness[0].rank, back.witness[0].shared_with) == (1, 3)
    assert back.group.members == [3, 1]
    assert [one.host for one in subset_claim(whole, (3, 1)).hosts] == ["d", "b"]


def test_a_launch_that_names_nobody_asks_the_hosts_whom_no_other_point_needs() -> None:
    """The last point of a dead host was under way: nobody would ask for it any more, and it must be
    named.
    """
    world = World({0: (2, "b")}, told=False)
    carried = carried_out(
        world, examine=lambda _, ranks: {rank: "b: its NIC is down" for rank in ranks if rank == 1}
    )
    assert carried.lost == {1: "b: its NIC is down"}
    assert world.launches[1][0] == ("a", "c", "d")
    assert world.launches[0][1][2] not in carried.missing, (
        "the pair without b was measured in that point"
    )


def test_what_is_said_of_all_hosts_names_nobody() -> None:
    world = World({0: (2, "b")}, told=False)
    carried = carried_out(world, examine=lambda _, ranks: dict.fromkeys(ranks, "its NIC is down"))
    assert carried.lost == {}


@pytest.mark.parametrize(
    ("text", "down"),
    [
        ("down\n", True),
        ("up", False),
        ("unknown", False),
        ("lowerlayerdown", True),
        ("", False),
        ("1: DOWN", True),
        ("4: ACTIVE", False),
        ("\x00\xff garbage", False),
        ("up\n4: ACTIVE", False),
    ],
)
def test_the_kernels_words_for_a_link(text: str, down: bool) -> None:
    assert is_down(text) is down


def test_a_full_disk_is_told_by_its_name() -> None:
    world = World({0: (2, "b")}, told=False)

    def launch(
        some: tuple[Point, ...], where: Target, claim: Claim, out: Path | None, said: str
    ) -> Outcome:
        outcome = world.launch(some, where, claim, out, said)
        full = msgspec.structs.replace(
            outcome.ending, ended="disk-full", reason="no space is left in out"
        )
        return msgspec.structs.replace(outcome, ending=full)

    carried = Campaign(points(), place(), place().claim(), launch, probe=nobody).run()
    assert [error.message for error in carried.runs[-1].errors] == ["no space is left in out"]
    assert len(world.launches) == 1


HANG = "large-messages-hang"


class BlackHole(World):
    """Two hosts between which messages of ``dropped`` and more never arrive."""

    def __init__(self, dropped: int) -> None:
        super().__init__({})
        self.dropped = dropped

    def launch(
        self, points: tuple[Point, ...], place: Target, claim: Claim, out: Path | None, said: str
    ) -> Outcome:
        through = next(
            (n for n, point in enumerate(points) if point.message_bytes >= self.dropped),
            len(points),
        )
        outcome = super().launch(points[:through], place, claim, out, said)
        nic = Nic(name="hsn0", mtu=9000, carrier=True)
        hosts = [msgspec.structs.replace(host, nics=[nic]) for host in outcome.run.hosts]
        run = msgspec.structs.replace(outcome.run, hosts=hosts)
        if through == len(points):
            return msgspec.structs.replace(outcome, run=run)
        ending = Ending(ended="deadline", reason="deadline: 30 s", culprit=points[through].id)
        return msgspec.structs.replace(outcome, run=run, ending=ending)


def sizes_of(*sizes: int) -> tuple[Point, ...]:
    """In this order."""
    planned = sweep("pingpong", sizes, [(0, 1)])
    return tuple(msgspec.structs.replace(point, id=n) for n, point in enumerate(planned))


def two() -> Target:
    return Target(hosts=HOSTS[:2], start_on=HOSTS[:2])


def test_two_deadlines_above_the_sizes_that_pass_end_the_large_ones() -> None:
    """Each larger size cost a deadline of its own: 153 s, and no word of an MTU."""
    world = BlackHole(8192)
    planned = sizes_of(8, 1024, 8192, 65536, 1 << 20, 4 << 20)
    carried = carried_out(world, planned, two())
    assert len(world.launches) == 2, "larger sizes were tried"
    assert {p.message_bytes for p in planned if p.id in carried.missing} == {
        8192,
        65536,
        1 << 20,
        4 << 20,
    }
    errors = [error for run in carried.runs for error in run.errors if error.code == HANG]
    assert len(errors) == 1
    assert "1 KiB" in errors[0].message
    assert "8 KiB" in errors[0].message
    assert "hsn0 9000" in errors[0].message


def test_a_path_that_the_ranks_have_seen_to_drop_ends_the_large_sizes_at_once() -> None:
    class Seen(BlackHole):
        def launch(self, *arguments: Any) -> Outcome:
            outcome = super().launch(*arguments)
            seen = EngineError(code=HANG, message="the path from n1 to n2 drops")
            run = msgspec.structs.replace(outcome.run, errors=[seen])
            return msgspec.structs.replace(outcome, run=run)

    world = Seen(8192)
    carried = carried_out(world, sizes_of(8, 1024, 8192, 65536, 1 << 20), two())
    assert len(world.launches) == 1
    errors = [error.message for run in carried.runs for error in run.errors if error.code == HANG]
    assert errors == ["the path from n1 to n2 drops"]


def test_after_a_deadline_the_small_sizes_come_first() -> None:
    """In the shuffled order each large size before the first small one cost a deadline."""
    world = BlackHole(8192)
    planned = sizes_of(65536, 1 << 20, 4 << 20, 8192, 1024, 8)
    carried = carried_out(world, planned, two())
    sealed = {p.id for run in carried.runs for p in run.points}
    assert {p.message_bytes for p in planned if p.id in sealed} == {8, 1024}
    assert len(world.launches) == 2


def test_sizes_that_hang_below_one_that_passes_are_no_black_hole() -> None:
    """They hang for another reason, so that every size is tried."""

    class OnlyTheLargest(BlackHole):
        def launch(
            self,
            points: tuple[Point, ...],
            place: Target,
            claim: Claim,
            out: Path | None,
            said: str,
        ) -> Outcome:
            passes = points[0].message_bytes == 1 << 20
            head = points[:1] if passes else ()
            done = World.launch(self, head, place, claim, out, said)
            ending = Ending(ended="deadline", reason="30 s", culprit=points[len(head)].id)
            return msgspec.structs.replace(done, ending=ending)

    planned = sizes_of(1 << 20, 8, 1024, 8192)
    world = OnlyTheLargest(8)
    carried = carried_out(world, planned, two())
    assert len(world.launches) == 3
    assert not [e for run in carried.runs for e in run.errors if e.code == HANG]


def test_ranks_that_share_too_few_cores_are_screened_pair_by_pair(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two streams at a time of four nodes on two busy cores showed the cores and not the links."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    hosts = tuple(f"n{number}" for number in range(1, 5))
    apart = Target(hosts=hosts, start_on=hosts, virtual=True)
    real = Target(hosts=hosts, start_on=hosts)
    points = [
        screen_points(one, None, seed=1, rounds=None, all_pairs=False) for one in (apart, real)
    ]
    assert [{len(point.pairs) for point in of} for of in points] == [{1}, {2}]
    assert {pair for point in points[0] for pair in point.pairs} == {
        pair for point in points[1] for pair in point.pairs
    }


def test_a_quick_check_asks_for_no_more_precision_than_decides() -> None:
    """Ten points of two good hosts took their whole second to be known to 1 %. A rate that is as
    wide as this still counts as steady beside others on the cores; screens of real hosts and the
    other profiles stay as precise as they were.
    """

    def widths(target: Target, profile: Profile) -> tuple[float, float]:
        policy = _policy(CheckSpecification(profile=profile), target)
        return policy.latency_half_width, policy.bandwidth_half_width

    hosts = tuple(f"n{number}" for number in range(1, 513))
    real, lab = (
        Target(hosts=hosts, start_on=hosts),
        Target(hosts=hosts, start_on=hosts, virtual=True),
    )
    quick = [widths(one, "quick") for one in (real.only((0, 1)), lab)]
    usual = Policy().latency_half_width, Policy().bandwidth_half_width
    assert {width > least for one in quick for width, least in zip(one, usual, strict=True)} == {
        True
    }
    assert {one[1] for one in quick} <= {STEADY}
    assert widths(real, "quick") == widths(real.only((0, 1)), "standard") == usual


def test_a_quick_check_of_a_link_without_a_rate_is_planned_for_a_slow_link() -> None:
    """Two hosts at 10 Mb/s without --link took 81 s, half of them for messages of 4 MiB."""
    unknown = Target(hosts=("a", "b"), start_on=("a", "b"))
    assert max(point.message_bytes for point in _sweeps("quick", unknown, back=True)) == 1 << 20
    assert max(point.message_bytes for point in _sweeps("standard", unknown, back=True)) > 1 << 20
    policy = _policy(CheckSpecification(profile="quick"), unknown)
    assert policy.in_flight_bytes < Policy().in_flight_bytes
