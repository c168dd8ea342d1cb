"""Whoever is killed, with whatever signal: nothing is left, or `down` removes it by name; strangers
are never hit.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.lab.conftest import Build, lab_name, leftovers, programs_in, run, say, topology

from wireproof.lab.cluster import down, open_lab, up
from wireproof.lab.state import (
    LabState,
    ProcessId,
    find_holders,
    is_alive,
    read_state,
    write_state,
)
from wireproof.model.errors import BadInput, LabError

pytestmark = pytest.mark.netns

_CREATOR = """
import sys, time
from wireproof.lab import cluster
from wireproof.model.topology import Network, Topology
name, moment, wire = sys.argv[1:]
if moment == "building":
    cluster.connect = lambda *_: (print("ready", flush=True), time.sleep(60))
net = Network(name="hsn", device="hsn0", rate="1gbit", subnet="10.20.1.0/24")
two = Topology(nodes=("n1", "n2"), networks=(net,), wire=wire)
lab = cluster.up(two, name, tied=moment == "tied")
print("ready", flush=True)
time.sleep(60)
"""


def wait_until(true: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.02)
    return true()  # one last look, for a machine that slept


def creator(name: str, moment: str, wire: str = "token-bucket") -> subprocess.Popen[str]:
    """Another process that brings a lab up and has said so."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    child = subprocess.Popen(
        [sys.executable, "-c", _CREATOR, name, moment, wire],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert child.stdout.readline() == "ready\n"
    return child


def kill(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.communicate()


@pytest.mark.parametrize("wire", ["token-bucket", "store-and-forward"])
@pytest.mark.parametrize("moment", ["building", "tied"])
def test_a_lab_goes_with_its_creator(
    node_program: Path, lab_root: Path, moment: str, wire: str
) -> None:
    name = lab_name()
    child = creator(name, moment, wire)
    assert list(find_holders(lab_root / name)) != []
    kill(child)
    assert wait_until(lambda: leftovers(lab_root / name) == []), leftovers(lab_root / name)


def test_a_lab_that_is_not_tied_stays_and_is_found_again(
    node_program: Path, lab_root: Path
) -> None:
    name = lab_name()
    kill(creator(name, "free"))
    lab = open_lab(name)
    assert say(lab, "n2", "hostname") == "n2"
    assert not down(name).crashed
    assert leftovers(lab_root / name) == []


def test_a_killed_supervisor_takes_everything_with_it(build: Build) -> None:
    lab = build(3)
    state = read_state(lab.folder)
    waiting = subprocess.Popen(
        lab.exec_argv("n1", ["sleep", "60"]), stderr=subprocess.PIPE, text=True
    )
    assert wait_until(lambda: "sleep" in programs_in(lab, "n1"))
    os.kill(state.supervisor.pid, signal.SIGKILL)
    assert wait_until(lambda: list(find_holders(lab.folder)) == [])
    assert waiting.wait(10) == 125
    assert "the lab went away" in waiting.stderr.read()
    waiting.stderr.close()
    assert lab.status().state == "crashed"
    with pytest.raises(BadInput, match="already exists \\(crashed\\)"):
        up(topology(1), lab.name)
    with pytest.raises(LabError, match="is crashed: `wireproof lab down"):
        open_lab(lab.name)
    assert run(lab, "n1", "true").returncode == 125
    assert down(lab.name).crashed
    assert leftovers(lab.folder) == []


def test_a_node_is_called_dead_before_the_supervisor_has_noticed(build: Build) -> None:
    lab = build(6)
    state = read_state(lab.folder)
    for name in ("n2", "n3", "n4", "n5", "n6"):
        os.kill(state.nodes[name].pid, signal.SIGKILL)
        assert wait_until(lambda node=state.nodes[name]: not is_alive(node))
        done = run(lab, name, "true")
        assert done.returncode in {125, 137}  # 137: the node took the command with it
        assert done.returncode == 137 or f"there is no living node '{name}'" in done.stderr


def test_a_killed_node_is_named_and_the_others_go_on(build: Build) -> None:
    lab = build(3)
    state = read_state(lab.folder)
    os.kill(state.nodes["n2"].pid, signal.SIGKILL)
    assert wait_until(lambda: lab.status().state == "degraded")
    assert [node.name for node in lab.status().nodes if not node.alive] == ["n2"]
    done = run(lab, "n2", "true")
    assert done.returncode == 125
    assert "there is no living node 'n2'" in done.stderr
    assert say(lab, "n1", "hostname") == "n1"
    with pytest.raises(LabError, match=r"node n2 of lab .* has died"):
        lab.counters("n2", "hsn0")


def test_everything_killed_at_once_leaves_a_folder_that_down_removes(build: Build) -> None:
    lab = build(3, tied=False)
    for pid in list(find_holders(lab.folder)):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    assert wait_until(lambda: list(find_holders(lab.folder)) == [])
    assert lab.folder.exists()
    assert down(lab.name).crashed
    assert leftovers(lab.folder) == []


@pytest.mark.parametrize("damage", ["gone", "torn", "foreign"])
def test_down_works_without_a_good_state_file(build: Build, damage: str) -> None:
    lab = build(2, tied=False)
    path = lab.folder / "lab.json"
    if damage == "gone":
        path.unlink()
    else:
        path.write_text("{" if damage == "torn" else '{"name": 1}', encoding="ascii")
    assert len(down(lab.name).processes) >= 3
    assert leftovers(lab.folder) == []


def test_a_pid_in_the_file_that_belongs_to_a_stranger_is_not_touched(build: Build) -> None:
    lab = build(1, tied=False)
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        state = read_state(lab.folder)
        assert state is not None
        false: LabState = msgspec.structs.replace(
            state, supervisor=ProcessId(stranger.pid, 1), nodes={"n1": ProcessId(stranger.pid, 1)}
        )
        write_state(lab.folder, false)
        down(lab.name)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_killed_caller_ends_its_command_and_what_that_started(
    build: Build, node_program: Path
) -> None:
    lab = build(1)
    script = "(trap '' TERM; setsid sleep 61 &) ; sleep 62"
    caller = subprocess.Popen(lab.exec_argv("n1", ["sh", "-c", script]))

    def sleeping() -> int:
        return programs_in(lab, "n1").count("sleep")

    assert wait_until(lambda: sleeping() == 2)
    caller.kill()
    caller.wait()
    assert wait_until(lambda: sleeping() == 0)


def test_signals_reach_the_command(build: Build) -> None:
    lab = build(1)
    script = "trap 'echo caught; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    caller = subprocess.Popen(
        lab.exec_argv("n1", ["sh", "-c", script]), stdout=subprocess.PIPE, text=True
    )
    assert caller.stdout.readline() == "ready\n"
    caller.terminate()
    assert caller.communicate(timeout=120)[0] == "caught\n"
    assert caller.returncode == 5
