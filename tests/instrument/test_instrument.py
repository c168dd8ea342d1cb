"""Instrument: the plan's text, the frames' reader, and what is said about how a run ended. Nothing
is started here.
"""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.records import PROVENANCE, holds, point_record

from wireproof.instrument.ending import classify, clean_text, missing_points, under_way
from wireproof.instrument.folder import RunFolder, open_folder
from wireproof.instrument.plan_text import encode_value, write_plan
from wireproof.launch.engines import guard_argv
from wireproof.model.claim import Claim, HostClaim
from wireproof.model.errors import BadInput
from wireproof.model.frames import BadFrame, FrameReader, assemble, decode_frame
from wireproof.model.plan import (
    FactRequest,
    ModelCounter,
    ModelWorld,
    Plan,
    Point,
    Policy,
    RankPlace,
    Transport,
    WitnessPolicy,
)
from wireproof.model.record import Close, EngineError, Floor, Frame, Host, Open, PointRecord, Start
from wireproof.model.run import Missing

PLAN = Plan(
    run_id="a run, of 100%",
    seed=7,
    transport=Transport(kind="model", expect="Intel(R) MPI"),
    ranks=(
        RankPlace(index=0, host="n1", nic="hsn0", address="10.0.0.1"),
        RankPlace(index=1, host="n2"),
    ),
    policy=Policy(yield_=1, latency_half_width=0.05),
    witness=WitnessPolicy(idle_ms=0, root="/a b"),
    model=ModelWorld(latency_ns=1000.0, gap_ns_per_byte=0.1),
    facts=(
        FactRequest(kind="file", path="/proc/a=b"),
        FactRequest(kind="command", argv=("echo", "a,b", "c d"), timeout_ms=5),
    ),
    points=(
        Point(id=0, pattern="pingpong", message_bytes=8, pairs=((0, 1),)),
        Point(
            id=1,
            pattern="put",
            form="stream",
            message_bytes=64,
            pairs=((0, 1), (2, 3)),
            budget_ms=9,
            least_operations=7,
            repeat=2,
        ),
    ),
)


def test_the_plan_as_text() -> None:
    assert write_plan(PLAN) == Path(__file__).with_name("plan.txt").read_text(encoding="utf-8")


def test_a_counter_of_the_model_as_text() -> None:
    counter = ModelCounter(
        rank=1, path="ethtool/hsn0#rx[0]: packets", start=1 << 32, tx_byte=0.25, pegs=1, to_ms=9
    )
    assert write_plan(msgspec.structs.replace(PLAN, model_counters=(counter,))).splitlines()[8] == (
        "model_counter rank=1 path=ethtool/hsn0#rx[0]:%20packets start=4294967296 width=64 pegs=1"
        " refresh_ms=0 tx_byte=0.25 rx_byte=0.0 tx_message=0.0 rx_message=0.0 per_second=0.0"
        " from_ms=0 to_ms=9"
    )


@given(st.text())
def test_no_value_breaks_a_line_or_a_list(text: str) -> None:
    from urllib.parse import unquote

    encoded = encode_value(text)
    assert all(32 < ord(letter) < 127 and letter not in "=," for letter in encoded)
    assert unquote(encoded, errors="surrogateescape") == text


OPEN = {
    "frame": "open",
    "schema": 1,
    "engine": "e",
    "abi": "nompi",
    "transport": "null",
    "run_id": "r",
    "seed": 1,
    "ranks": 2,
    "clock": {"source": "tsc", "ns_per_tick": 0.4, "quantum_ns": 10, "read_cost_ns": 20},
}
START0 = {"frame": "start", "id": 0}


def line(frame: dict[str, object]) -> bytes:
    return json.dumps(frame).encode() + b"\n"


def read(data: bytes, reader: FrameReader | None = None) -> list[Frame]:
    return [frame for _, frame in (reader or FrameReader()).feed(data)]


@given(st.lists(st.integers(1, 40), max_size=12))
def test_frames_come_whole_however_the_pipe_cuts_them(cuts: list[int]) -> None:
    data, reader, frames = (
        line(OPEN) + b"warning: foreign\n" + line(START0) + b'{"frame":"st',
        FrameReader(),
        [],
    )
    for cut in [*cuts, len(data)]:
        frames += read(data[:cut], reader)
        data = data[cut:]
    assert [type(frame) for frame in frames] == [Open, Start]
    assert reader.take_talk() == [b"warning: foreign"]
    assert reader.take_talk() == []
    assert reader.torn == b'{"frame":"st'


def test_unknown_keys_are_tolerated_and_unknown_frames_are_not() -> None:
    assert read(line({**START0, "later": [1]})) == [Start(id=0)]
    for bad in (
        {"frame": "surprise"},
        {"frame": "start"},
        {"frame": "start", "id": "x"},
        {**OPEN, "seed": 1.5},
    ):
        with pytest.raises(BadFrame):
            read(line(bad))


def test_another_interface_version_is_refused() -> None:
    with pytest.raises(BadFrame, match="version 2"):
        read(line({**OPEN, "schema": 2}))


@pytest.mark.parametrize(
    "text",
    [
        b'{"frame":"start","id":NaN}',
        b'{"frame":"start"',
        b'{"frame":"st\xff"}',
        b'{"frame":' + b"[" * 9999,
    ],
)
def test_what_is_no_json_is_a_bad_frame(text: bytes) -> None:
    with pytest.raises(BadFrame):
        decode_frame(text)


def test_a_line_without_end_is_bounded() -> None:
    reader = FrameReader(max_line_bytes=1000)
    assert read(line(START0) + b"x" * 900, reader) == [Start(id=0)]
    with pytest.raises(BadFrame, match="1000 bytes"):
        read(b"x" * 200, reader)


def host(rank: int, name: str = "n1") -> Host:
    return Host(rank=rank, host=name, hostname=name)


def point(number: int) -> PointRecord:
    return point_record(number, pattern="pingpong", form="latency")


OPENED = msgspec.json.decode(json.dumps(OPEN), type=Open)
CLAIM = Claim(hosts=[HostClaim(rank=0, host="n1")])


def test_a_run_is_assembled_from_frames_and_the_last_of_a_kind_counts() -> None:
    floor = Floor(pattern="pingpong", form="latency", floor_ns=1.0)
    error = EngineError(code="x", message="y")
    frames: list[Frame] = [
        OPENED,
        host(1),
        host(0),
        floor,
        point(1),
        point(0),
        host(1, "again"),
        error,
        error,
    ]
    run = assemble(
        frames,
        claim=CLAIM,
        provenance=PROVENANCE,
        missing={
            1: Missing("failed", "sealed after all"),
            2: Missing("failed", "x", reached=False),
        },
    )
    assert run.open == OPENED
    assert [it.host for it in run.hosts] == ["n1", "again"]
    assert [it.id for it in run.points] == [1, 0]
    assert (len(run.errors), run.floors, run.close) == (2, [floor], None)
    assert run.missing == {2: Missing("failed", "x", reached=False)}


CLOSE = Close(points=2, failed=0, elapsed_ns=1.0, peak_rss_bytes=1)


def test_done_needs_the_close_frame_and_status_0() -> None:
    frames: list[Frame] = [OPENED, Start(id=0), point(0), Start(id=1), point(1), CLOSE]
    assert classify(PLAN, frames, b"", 0).ended == "done"
    assert classify(PLAN, frames[:-1], b"", 0).ended == "failed"
    assert classify(PLAN, frames, b"", 3).ended == "failed"


@pytest.mark.parametrize(
    ("talk", "status"),
    [
        (b"", -9),
        (b"", 137),
        (b"=   BAD TERMINATION\n=   KILLED BY SIGNAL: 9 (Killed)\n", 9),
        (
            (
                b"mpirun noticed that process rank 1 with PID 0 on node x exited on signal 9"
                b" (Killed).\n"
            ),
            137,
        ),
        (b"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n", 9),
    ],
)
def test_a_lost_rank_is_named_with_its_signal_and_point(talk: bytes, status: int) -> None:
    ending = classify(PLAN, [OPENED, host(1, "n2"), Start(id=0)], talk, status)
    assert ending.ended == "rank-lost"
    assert "SIGKILL at point 0 (pingpong, 8 B)" in ending.reason
    assert ending.culprit == 0


def test_a_lost_rank_is_named_by_the_host_that_the_user_knows() -> None:
    talk = (
        b"=   RANK 1 PID 77 RUNNING AT inner-name\n=   KILLED BY SIGNAL: 11 (Segmentation fault)\n"
    )
    ending = classify(PLAN, [OPENED, host(1, "n2"), Start(id=1)], talk, 11)
    assert ending.reason.startswith("rank 1 on n2 was killed by SIGSEGV at point 1")


def test_an_engine_that_does_not_start_is_quoted_without_escapes() -> None:
    talk = b"\x1b[31merror\x1b[0m while loading \x07shared libraries: libmpi.so.12\n=====\n\n"
    ending = classify(PLAN, [], talk, 127)
    assert ending.ended == "not-started"
    assert ending.reason.endswith(
        "(exit status 127): error while loading shared libraries: libmpi.so.12"
    )
    assert classify(PLAN, [], b"", 1).reason.endswith("it printed nothing")


def test_a_route_that_ucx_lacks_is_named_first() -> None:
    """A route over another port ended with three sentences of UCX and of the MPI."""
    talk = (
        b"[1.7] [n1:666 :0] select.c:657 UCX ERROR no active messages transport to <no debug"
        b" data>: self/memory - iface id differs, tcp/hsn0 - no route to 10.20.2.2:18588, \n"
        b"Abort(741491727) on node 0: Fatal error in internal_Init: Other MPI error\n"
    )
    ending = classify(PLAN, [], talk, 15)
    assert ending.ended == "not-started"
    assert "(exit status 15): hsn0 has no route to 10.20.2.2 (see `ip route get" in ending.reason


def test_the_engines_own_sentence_wins() -> None:
    told = EngineError(
        code="library-mismatch", message="asked for Intel(R) MPI, MPICH answered", rank=0
    )
    ending = classify(PLAN, [told], b"noise", 4)
    assert (ending.ended, ending.reason) == ("mismatch", "asked for Intel(R) MPI, MPICH answered")
    late = EngineError(code="deadline", message="the run's deadline of 5 s passed")
    assert classify(PLAN, [OPENED, Start(id=1), late], b"", 4).ended == "deadline"


def test_a_lost_rank_counts_more_than_what_it_brought_upon_the_others() -> None:
    follower = EngineError(code="interrupted", message="a signal ended the run", id=0, rank=0)
    talk = b"mpirun noticed that process rank 1 with PID 0 on node x exited on signal 9 (Killed).\n"
    frames: list[Frame] = [OPENED, host(1, "n2"), Start(id=0), follower]
    ending = classify(PLAN, frames, talk, 137)
    holds(
        ending,
        ended="rank-lost",
        reason="rank 1 on n2 was killed by SIGKILL at point 0 (pingpong, 8 B)",
    )
    assert missing_points(PLAN, frames, ending)[0] == Missing("rank-lost", ending.reason)


def test_the_engines_deadline_counts_more_than_how_its_launcher_cleans_up() -> None:
    late = EngineError(
        code="deadline", message="the point did not finish within 9 ms", id=0, rank=0
    )
    ending = classify(PLAN, [OPENED, Start(id=0), late], b"=   KILLED BY SIGNAL: 9 (Killed)\n", 9)
    assert ending.ended == "deadline"
    assert (
        ending.reason == "deadline: the point did not finish within 9 ms at point 0 (pingpong, 8 B)"
    )


def test_a_loaders_error_is_found_among_the_launchers_paragraphs() -> None:
    talk = (
        b"x: error while loading shared libraries: libmpi.so.12: cannot open shared object file\n"
        b"Primary job  terminated normally, but 1 process returned\na non-zero exit code.\n"
        b"mpirun detected that one or more processes exited with non-zero status, thus causing\n"
        b"the job to be terminated. The first process to do so was:\n"
        b"  Process name: [[1,1],1]\n  Exit code:    127\n"
    )
    assert "libmpi.so.12" in classify(PLAN, [], talk, 127).reason
    assert "Process name" not in classify(PLAN, [], talk, 127).reason


def test_a_missing_route_is_quoted_before_what_follows_from_it() -> None:
    """Only the refused connections were, of the ranks that the first had left."""
    talk = (
        b"select.c:657  UCX  ERROR   no active messages transport to <no debug data>:"
        b" tcp/hsn0 - no route to 10.22.1.2:22206, sysv/memory - different pid namespaces\n"
        b"sock.c:348  UCX  ERROR   connect(fd=20, dest_addr=10.22.1.1:48585) failed: Connection"
        b" refused\nAbort(1009927183) on node 0: Fatal error in internal_Init: Other MPI error\n"
    )
    reason = classify(PLAN, [], talk, 15).reason
    assert 0 < reason.index("no route to 10.22.1.2") < reason.index("refused")


def test_our_own_deadline_names_the_point() -> None:
    ending = classify(PLAN, [OPENED, Start(id=1)], b"", 143, timed_out="silent for 5 s")
    assert (ending.ended, ending.reason) == ("deadline", "silent for 5 s at point 1 (put, 64 B)")
    assert classify(PLAN, [], b"", 143, timed_out="silent").ended == "not-started"


def test_a_deadline_names_the_pair_of_its_point() -> None:
    ranks = tuple(RankPlace(index=rank, host=f"n{rank + 1}") for rank in range(3))
    plan = msgspec.structs.replace(PLAN, ranks=ranks)
    assert "n1 to n2" in classify(plan, [OPENED, Start(id=0)], b"", 143, timed_out="late").reason


def test_every_missing_point_has_its_reason() -> None:
    failed = EngineError(code="transport", message="connection reset", id=0)
    frames: list[Frame] = [OPENED, Start(id=0), failed, Start(id=1)]
    ending = classify(PLAN, frames, b"", -9)
    assert under_way(frames) == 1
    missing = missing_points(PLAN, frames, ending)
    assert missing[0].text == "connection reset"
    assert missing[1].text.startswith("the engine was killed by SIGKILL at point 1")


@given(st.binary(max_size=200))
def test_quoted_talk_is_one_printable_line(data: bytes) -> None:
    text = clean_text(data)
    assert text.isprintable()
    assert len(text) <= 400


def test_the_guard_gets_the_command_as_it_is() -> None:
    words = guard_argv(Path("/x/wireproof-node"), 5, ("mpiexec", "-n", "2"))
    assert words == ["/x/wireproof-node", "guard", "--control-fd", "5", "--", "mpiexec", "-n", "2"]


def test_a_fresh_folder_is_private() -> None:
    folder = open_folder()
    folder.close()
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert sorted(it.name for it in folder.path.iterdir()) == ["engine.log", "frames.jsonl"]
    for it in folder.path.iterdir():
        it.unlink()
    folder.path.rmdir()


def test_two_never_record_into_one_folder(tmp_path: Path) -> None:
    """Their frames would be mixed; the lock goes with the first, whatever ends it."""
    first = open_folder(tmp_path / "run")
    first.write("run.json", b"{}")
    with pytest.raises(BadInput, match="another wireproof is recording into"):
        open_folder(tmp_path / "run", resume=True)
    first.close()
    open_folder(tmp_path / "run", resume=True).close()


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(BadInput, match="not empty"):
        open_folder(tmp_path)
    with pytest.raises(BadInput, match="not a folder"):
        open_folder(tmp_path / "mine")
    with pytest.raises(BadInput, match="not a folder"):
        open_folder(tmp_path / "mine" / "below")
    with pytest.raises(BadInput, match="no run to resume"):
        open_folder(tmp_path, resume=True)
    assert [it.name for it in tmp_path.iterdir()] == ["mine"]


def test_resuming_cuts_a_torn_tail_and_refuses_a_damaged_file(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    frames = tmp_path / "frames.jsonl"
    frames.write_bytes(line(OPEN) + line(START0) + b'{"frame":"poi')
    folder: RunFolder = open_folder(tmp_path, resume=True)
    folder.append(b'{"frame":"start","id":1}')
    folder.close()
    assert len(folder.known) == 2
    assert read(frames.read_bytes())[-1] == Start(id=1)
    frames.write_bytes(line({"frame": "surprise"}) + line(OPEN))
    with pytest.raises(BadInput, match="damaged"):
        open_folder(tmp_path, resume=True)
