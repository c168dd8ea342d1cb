"""Who is taken for lost, from real talk (tests/golden/lost) and from made-up worlds."""

import random
import tomllib
from pathlib import Path

import msgspec
import pytest

from wireproof.instrument.ending import classify
from wireproof.instrument.launcher_messages import scheduler_ended
from wireproof.instrument.lost import SignsOfLife, lost_ranks
from wireproof.model.frames import decode_frame
from wireproof.model.plan import Plan, Point, RankPlace, Transport
from wireproof.model.record import EngineError, Frame, Host, Start

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "lost"
NOBODY_NAMED = {
    "mpich_node",
    "mpich_daemon",
    "debian-mpich_node",
    "debian-mpich_daemon",
    "tcp_node",
    "tcp_daemon",
    "openmpi_daemon",
}
"""These launchers say only that a connection closed, not whose."""
LAUNCHERS = tomllib.loads(Path(__file__).with_name("launchers.toml").read_text(encoding="utf-8"))


def plan_of(hosts: int = 4, per_host: int = 1) -> Plan:
    ranks = range(hosts * per_host)
    pairs = tuple((rank, rank + 1) for rank in ranks if rank % 2 == 0)
    return Plan(
        run_id="lost",
        seed=1,
        transport=Transport(kind="mpi"),
        ranks=tuple(
            RankPlace(index=r, host=f"n{r // per_host + 1}", address=f"10.44.1.{r // per_host + 1}")
            for r in ranks
        ),
        points=tuple(
            Point(id=i, pattern="pingpong", message_bytes=8, pairs=pairs) for i in range(10, 20)
        ),
    )


def frames_of(path: Path) -> list[Frame]:
    return [decode_frame(line) for line in path.read_bytes().splitlines()]


def lost(talk: str, plan: Plan | None = None, frames: list[Frame] | None = None) -> dict[int, str]:
    return lost_ranks(plan or plan_of(), frames or [], talk.encode())


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.txt")), ids=lambda path: path.stem)
def test_real_talk_blames_rank_2_and_nobody_else(path: Path) -> None:
    frames = frames_of(path.with_suffix(".frames"))
    found = lost_ranks(plan_of(), frames, path.read_bytes())
    assert set(found) == (set() if path.stem in NOBODY_NAMED else {2}), found
    ending = classify(plan_of(), frames, path.read_bytes(), 255)
    assert ending.lost == found
    assert ending.ended in ("rank-lost", "deadline", "failed")
    if found and ending.ended == "rank-lost":
        assert "rank 2 on n3" in ending.reason


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.txt")), ids=lambda path: path.stem)
def test_cut_and_mixed_talk_never_blames_another(path: Path) -> None:
    talk = path.read_bytes()
    chance = random.Random(path.stem)
    for _ in range(20):
        start, end = sorted(chance.randrange(len(talk) + 1) for _ in range(2))
        assert set(lost_ranks(plan_of(), [], talk[start:end])) <= {2}


@pytest.mark.parametrize(("line", "says"), LAUNCHERS["says"])
def test_what_launchers_say(line: str, says: str) -> None:
    found = lost("something before\n" + line + "\nsomething after\n")
    assert list(found) == [2]
    assert says in found[2]
    assert found[2].startswith("rank 2 on n3 ")


@pytest.mark.parametrize(("talk", "crashed"), LAUNCHERS["crashed"])
def test_a_rank_that_crashed_may_be_a_survivor(talk: str, crashed: bool) -> None:
    ending = classify(plan_of(), [], talk.encode(), 255)
    assert 2 in ending.lost
    assert ending.crashed == crashed


@pytest.mark.parametrize("line", [*LAUNCHERS["nobody"], "", "\0\xff" * 50])
def test_nobody_is_blamed(line: str) -> None:
    assert lost(line) == {}


def test_a_host_takes_all_its_ranks_and_a_pid_only_its_own() -> None:
    plan = plan_of(hosts=3, per_host=2)
    frames: list[Frame] = [
        Host(rank=r, host=f"n{r // 2 + 1}", hostname=f"n{r // 2 + 1}", pid=80 + r) for r in range(6)
    ]
    assert set(lost("srun: error: Node failure on n3", plan, frames)) == {4, 5}
    crashed = "=   PID 85 RUNNING AT n3\n=   EXIT CODE: 11"
    assert set(lost(crashed, plan, frames)) == {5}
    killed = crashed.replace("11", "9")  # perhaps by Hydra itself, because its neighbour was lost
    assert set(lost(killed, plan, frames)) == {4, 5}
    assert set(lost(killed, plan)) == {4, 5}
    assert set(lost("srun: error: Node failure on n[2-3]", plan)) == {2, 3, 4, 5}
    assert set(lost("srun: error: n2: tasks 2-3: Killed", plan)) == {2, 3}


def word(rank: int, what: str, host: str = "") -> str:
    return (
        f"wireproof-engine: deadline: rank {rank} on {host or f'n{rank + 1}'} at point 12 {what}\n"
    )


def test_the_silent_one_that_is_waited_for_is_lost() -> None:
    talk = word(3, "waits for rank 2") + "".join(word(n, "waits for the others") for n in (0, 1))
    assert lost(talk) == {
        2: "rank 2 on n3 was silent at the deadline of point 12 while rank 3 on n4 waited for it"
    }


def test_a_late_word_is_no_word() -> None:
    talk = "".join(word(rank, "waits for the others") for rank in (0, 1)) + word(
        3, "waits for rank 2"
    )
    found = lost(talk + word(2, "waits for rank 3, late"))
    assert list(found) == [2]
    assert "late" in found[2]


def test_two_that_wait_for_each_other_have_a_broken_link_and_none_is_lost() -> None:
    talk = (
        word(2, "waits for rank 3") + word(3, "waits for rank 2") + word(0, "waits for the others")
    )
    assert lost(talk + word(1, "waits for the others")) == {}


def test_mere_silence_blames_few_only() -> None:
    others = [word(rank, "waits for the others") for rank in range(16)]
    plan = plan_of(16)
    assert set(lost("".join(others[:15]), plan)) == {15}
    assert set(lost("".join(others[:14]), plan)) == {14, 15}
    assert lost("".join(others[:13]), plan) == {}  # their words may have been cut off
    assert lost(others[0], plan) == {}


def test_who_hangs_in_itself_is_named() -> None:
    talk = "".join(word(rank, "waits for the others") for rank in (0, 1, 3)) + word(
        2, "is busy itself"
    )
    assert "busy with other work" in lost(talk)[2]
    assert lost("".join(word(rank, "is busy itself") for rank in range(4))) == {}


def test_survivors_name_the_peer_that_closed_not_each_other() -> None:
    talk = (
        "wireproof-engine: rank 3 on n4 at point 12: tcp-lost: rank 2 at 10.44.1.3:40 closed the"
        " connection\n"
        "wireproof-engine: rank 0 on n1 at point 12: tcp-lost: rank 3 closed the connection (its"
        " process ended)\n"
    )
    error = EngineError(code="tcp-lost", message="rank 3 closed the connection", rank=0)
    found = lost(talk, frames=[error])
    assert list(found) == [2]
    assert "rank 3 on n4 lost it" in found[2]
    absent = EngineError(
        code="tcp-absent", message="ranks 1 2 did not come to 10.0.0.1:4 within 60000 ms", rank=0
    )
    assert set(lost("", frames=[absent])) == {1, 2}


LOST = "lost the connection: Connection"
BROKEN = (
    f"wireproof-engine: rank 2 on n3 between points: tcp-lost: rank 0 {LOST} timed out\n"
    f"wireproof-engine: rank 0 on n1 between points: tcp-lost: rank 2 {LOST} reset by peer\n"
)
GAVE_UP = "rank 2 closed the connection (its process ended)"


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize(
    ("talk", "message"),
    [(BROKEN, "rank 2 lost the connection: reset"), (f"wireproof-engine: {GAVE_UP}\n", GAVE_UP)],
)
def test_a_connection_that_breaks_before_the_first_point_may_be_an_mtu(
    talk: str, message: str, started: bool
) -> None:
    """All frames above 1400 B to n3 were lost: "its process ended" was all that was reported."""
    error = EngineError(code="tcp-lost", message=message, rank=0)
    frames: list[Frame] = [Start(id=10), error] if started else [error]
    ending = classify(plan_of(), frames, talk.encode(), 1)
    assert ending.ended == "rank-lost"
    assert ("MTU" in ending.reason) != started
    # the address of the lost rank's host
    assert ("ping -M do -s 8972 10.44.1.3`" in ending.reason) != started
    if message == GAVE_UP:
        assert list(ending.lost) == [2]
        assert ("MTU" in ending.lost[2]) != started


def test_the_scheduler_is_nobodys_fault() -> None:
    limit = (
        "slurmstepd: error: *** JOB 5 ON n1 CANCELLED AT 2026-11-21T15:00:00 DUE TO TIME LIMIT"
        " ***\n"
    )
    killed = "srun: error: n3: task 2: Killed\n"
    assert scheduler_ended(limit.encode()) == "Slurm ended the job at its time limit"
    assert lost(killed + limit) == {}
    ending = classify(plan_of(), [], (limit + killed).encode(), 143)
    assert ending.ended == "interrupted"
    assert "time limit" in ending.reason
    assert "PBS" in scheduler_ended(b"=>> PBS: job killed: walltime 3612 exceeded limit 3600")
    failure = (
        b"slurmstepd: error: *** STEP 5.0 ON n1 CANCELLED AT 2026-11-21T15:00:00 DUE TO NODE"
        b" FAILURE, SEE LOG ***"
    )
    for talk in (
        b"",
        b"all is well",
        failure,
        b"slurmstepd: error: *** STEP 5.0 ON n1 CANCELLED AT 2026 ***",
    ):
        assert scheduler_ended(talk) == ""


def test_hostile_talk_is_bounded_and_believed_only_for_ranks_of_the_plan() -> None:
    flood = (
        word(999, "waits for rank 998") + "srun: error: n1: tasks 0-999999999: Killed\n"
    ) * 2000
    assert lost(flood) == {}
    for line in (
        "=" * 10**6,
        "RANK " + "9" * 10**6,
        "srun: error: Node failure on " + "n[1-9999999]," * 10**4,
    ):
        assert lost(line) == {}
    escape = plan_of()
    named = Plan(
        run_id="x",
        seed=1,
        transport=Transport(kind="mpi"),
        points=escape.points,
        ranks=(*escape.ranks[:2], RankPlace(index=2, host="n\x1b[31m3"), escape.ranks[3]),
    )
    found = lost(
        word(3, "waits for rank 2") + word(0, "waits for the others") + word(1, "is busy itself"),
        named,
    )
    assert "\x1b" not in found[2]


def test_ranks_that_a_launcher_ended_together_are_not_told_apart() -> None:
    both = "".join(
        f"=   RANK {rank} PID {80 + rank} RUNNING AT n1\n=   KILLED BY SIGNAL: 9 (Killed)\n"
        for rank in (0, 1)
    )
    plan = plan_of(hosts=1, per_host=2)
    assert lost(both, plan) == {}
    reason = classify(plan, [], both.encode(), 255).reason
    assert reason.startswith("one of ranks 0, 1 was killed by SIGKILL")
    # the host is gone, whoever was first
    assert set(lost(both, plan_of(hosts=2, per_host=2))) == {0, 1}


def sign(rank: int, what: str) -> bytes:
    return f"wireproof-engine: pending: rank {rank} on n{rank + 1} at point 12 {what}\n".encode()


PAIRED = {0: "waits for rank 1", 1: "waits for rank 0", 2: "waits for rank 3"}


def lived(
    until_s: float, speaks: dict[int, range], says: dict[int, str] | None = None, **plan: int
) -> dict[int, str]:
    """Who has stopped at ``until_s``; the ranks speak at the half seconds of their range."""
    signs = SignsOfLife(plan_of(**plan), 0.0)
    for half in range(int(2 * until_s) + 1):
        for rank, halves in speaks.items():
            if half in halves:
                what = (says or PAIRED).get(rank, "waits for the others")
                assert signs.take(sign(rank, what), half / 2) == b""
    return signs.stopped([], until_s)


ALWAYS = range(3, 2000, 3)
"""Every 1.5 s, in half seconds."""


LATE = {0: ALWAYS, 1: ALWAYS, 2: ALWAYS, 3: range(3, 60, 3)}
OTHERS = dict.fromkeys(range(4), "waits for the others")


@pytest.mark.parametrize(
    ("until_s", "speaks", "says", "hosts", "stopped"),
    [
        (9, dict.fromkeys((0, 1, 2), ALWAYS), None, 4, {3}),
        (9, {0: ALWAYS}, None, 2, {1}),
        (9, {1: ALWAYS}, None, 2, {0}),
        (37.5, LATE, None, 4, {3}),  # late in a long point
        (31.5, LATE, None, 4, set()),
        (900, dict.fromkeys(range(4), ALWAYS), None, 4, set()),
        (900, LATE | {1: range(5, 2000, 9), 3: ALWAYS}, None, 4, set()),
        (9, dict.fromkeys((0, 1, 2), ALWAYS), OTHERS | {0: "is busy itself"}, 4, {3}),
        (9, {0: ALWAYS, 1: ALWAYS}, OTHERS, 4, set()),  # half of them: blame few
    ],
)
def test_a_rank_that_gives_no_sign_of_life_has_stopped(
    until_s: float,
    speaks: dict[int, range],
    says: dict[int, str] | None,
    hosts: int,
    stopped: set[int],
) -> None:
    assert set(lived(until_s, speaks, says, hosts=hosts)) == stopped


def test_a_reader_that_slept_blames_nobody() -> None:
    """Signs of a minute come in one piece, some behind the end of it."""
    signs = SignsOfLife(plan_of(2), 0.0)
    signs.take(sign(0, PAIRED[0]) * 20, 60.0)
    signs.take(sign(1, PAIRED[1]) * 20, 60.1)
    assert signs.stopped([], 60.2) == {}


def test_a_point_that_ends_is_a_sign_of_all() -> None:
    signs = SignsOfLife(plan_of(2), 0.0)
    for half in ALWAYS[:4]:
        signs.take(sign(0, PAIRED[0]), half / 2)
    signs.moved(6.0)
    assert signs.stopped([], 9.0) == {}


def test_talk_keeps_all_that_is_no_sign_of_life() -> None:
    whole = b"one\n" + sign(0, PAIRED[0]) + b"x wireproof-engine: pending: rank 1\n\xff\0\ntwo"
    for cut in range(len(whole)):
        signs = SignsOfLife(plan_of(2), 0.0)
        kept = signs.take(whole[:cut], 1.0) + signs.take(whole[cut:], 2.0) + signs.rest()
        assert kept == whole.replace(sign(0, PAIRED[0]), b"")
    signs = SignsOfLife(plan_of(2), 0.0)
    assert signs.take(b"y" * 5000, 1.0) + signs.rest() == b"y" * 5000


def test_ranks_that_are_no_processes_never_stop() -> None:
    plan = msgspec.structs.replace(plan_of(2), transport=Transport(kind="model"))
    signs = SignsOfLife(plan, 0.0)
    for half in ALWAYS[:6]:
        signs.take(sign(0, "is busy itself"), half / 2)
    assert signs.stopped([], 9.5) == {}


def test_a_run_that_we_ended_for_a_stopped_rank_names_it() -> None:
    stopped = lived(9, {0: ALWAYS}, hosts=2)
    error = EngineError(code="interrupted", message="a signal ended the run")
    ending = classify(plan_of(2), [error], b"", 143, timed_out="x", stopped=stopped)
    assert (ending.ended, ending.lost) == ("rank-lost", stopped)


def drops(rank: int, address: str, small: int = 1500, large: int = 9000) -> bytes:
    where = f"rank {rank} on n{rank + 1} between points"
    sizes = f"gets packets of {small} bytes and none of {large}"
    return f"wireproof-engine: drops: {where}: {address} {sizes}\n".encode()


def dropping(*lines: bytes, seconds: float = 2.5) -> str:
    signs = SignsOfLife(plan_of(), 0.0)
    assert signs.take(b"".join(lines), 5.0) == b"".join(lines), "the log keeps them"
    return signs.dropped([], 5.0 + seconds)


def test_a_path_that_drops_large_packets_is_named_by_its_ends_and_sizes() -> None:
    """An MTU black hole was one of four candidates, after 61 s."""
    said = dropping(drops(0, "10.44.1.2"), drops(0, "10.44.1.2"))
    assert all(word in said for word in ("from n1 to n2", "10.44.1.2", "1500", "9000", "MTU"))
    assert "n3" not in said


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("0000:0000:0000:0000:0000:ffff:0a2c:0102", "n2 (10.44.1.2)"),
        ("fd00:0000:0000:0000:0000:0000:0000:0007", "to fd00::7 "),
        (".:.:.:", "to .:.:.: "),
    ],
)
def test_a_peer_is_named_by_its_address_at_least(address: str, name: str) -> None:
    assert name in dropping(drops(0, address))


def test_the_host_that_all_dropping_paths_share_is_named() -> None:
    said = dropping(drops(0, "10.44.1.3"), drops(3, "10.44.1.3"), drops(2, "10.44.1.1"))
    assert "all with n3 at an end" in said
    apart = dropping(drops(0, "10.44.1.2"), drops(2, "10.44.1.4"))
    assert "at an end" not in apart


@pytest.mark.parametrize(("rank", "seconds"), [(0, 1.5), (7, 2.5)], ids=["early", "stranger"])
def test_no_path_is_named_too_early_or_for_a_rank_that_is_not_planned(
    rank: int, seconds: float
) -> None:
    assert dropping(drops(rank, "10.44.1.2"), seconds=seconds) == ""


def test_a_point_that_ends_proves_the_path() -> None:
    signs = SignsOfLife(plan_of(), 0.0)
    signs.take(drops(0, "10.44.1.2"), 5.0)
    signs.moved(6.0)
    assert signs.dropped([], 9.0) == ""


def test_a_run_that_we_ended_for_a_path_has_lost_no_rank() -> None:
    """Ranks that we end one after the other report each other as lost."""
    error = EngineError(code="large-messages-hang", message="the path drops")
    talk = b"wireproof-engine: rank 0 on n1 between points: tcp-lost: rank 2 closed the connection"
    ending = classify(plan_of(), [error], talk, 143, timed_out="the path drops")
    assert (ending.reason, ending.lost) == ("the path drops", {})


def ended(*ranks: int, sender: str = " of process 4711 (earlyoom)") -> str:
    line = "wireproof-engine: ended: rank {0} on n{1} at point 13 by SIGTERM{2}\n"
    return "".join(line.format(rank, rank + 1, sender) for rank in ranks)


CLOSED = "wireproof-engine: rank 0 on n1 at point 13: tcp-lost: rank 2 closed the connection\n"
HYDRA_ENDS_OTHERS = "=   RANK 0 PID 80 RUNNING AT n1\n=   KILLED BY SIGNAL: 9 (Killed)\n"


@pytest.mark.parametrize("talk", ["", CLOSED, HYDRA_ENDS_OTHERS])
def test_all_ranks_that_a_process_ended_are_named_with_it(talk: str) -> None:
    ending = classify(plan_of(), [], (ended(1, 2) + talk).encode(), 137)
    assert (ending.ended, set(ending.lost)) == ("rank-lost", {1, 2})
    assert all("SIGTERM of process 4711 (earlyoom)" in why for why in ending.lost.values())
    assert "rank 1 on n2" in ending.reason
    assert "rank 2 on n3" in ending.reason


def test_ranks_that_a_process_outside_their_namespace_ended_are_blamed_by_others_only() -> None:
    """It may be a launcher that ends the ranks that are left."""
    talk = CLOSED + ended(0, 2, 3, sender="")
    ending = classify(plan_of(), [], talk.encode(), 4)
    assert set(ending.lost) == {2}
    assert "SIGTERM" in ending.lost[2]
    assert classify(plan_of(), [], ended(0, 2, sender="").encode(), 4).lost == {}


def test_a_rank_that_was_silent_because_it_was_ended_is_called_ended() -> None:
    stopped = {2: "rank 2 on n3 was silent"}
    ending = classify(
        plan_of(), [], ended(2, sender="").encode(), 143, timed_out="x", stopped=stopped
    )
    assert set(ending.lost) == {2}
    assert "SIGTERM" in ending.lost[2]


def test_no_rank_is_lost_to_a_signal_if_the_time_of_the_job_is_over() -> None:
    talk = b"slurmstepd: error: *** JOB 5 ON n1 CANCELLED AT 2026-11-21T15:00:00 DUE TO TIME LIMIT"
    ending = classify(plan_of(), [], ended(2).encode() + talk, 143)
    assert (ending.ended, ending.lost) == ("interrupted", {})
