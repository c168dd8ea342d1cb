"""Whose process it is, where the state is, and what is said when the machine refuses."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from wireproof.lab import state, supervisor
from wireproof.lab.state import LabState, ProcessId, is_alive, process_id, read_state, write_state
from wireproof.model.errors import LabError
from wireproof.model.topology import Network, Topology

TOPOLOGY = Topology(
    nodes=("n1",), networks=(Network(name="hsn", device="hsn0", subnet="10.20.1.0/24"),)
)
STATE = LabState(name="a", cookie="c", topology=TOPOLOGY, created_unix=1.0, user_namespace=False)


def test_state_survives_writing_and_a_torn_file_is_none(tmp_path: Path) -> None:
    assert read_state(tmp_path) is None
    write_state(tmp_path, STATE)
    assert read_state(tmp_path) == STATE
    whole = (tmp_path / "lab.json").read_bytes()
    for cut in range(0, len(whole), 17):
        (tmp_path / "lab.json").write_bytes(whole[:cut])
        assert read_state(tmp_path) is None


def test_state_of_another_shape_is_none(tmp_path: Path) -> None:
    (tmp_path / "lab.json").write_bytes(msgspec.json.encode({"name": 3}))
    assert read_state(tmp_path) is None


def test_a_process_is_known_by_pid_and_start_time() -> None:
    own = process_id(os.getpid())
    assert is_alive(own)
    assert not is_alive(ProcessId(own.pid, own.start + 1))
    assert not is_alive(None)


def test_a_process_that_has_gone_is_not_alive() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    known = process_id(child.pid)
    child.communicate(b"\n")
    assert not is_alive(known)
    with pytest.raises(LabError, match="ended immediately"):
        process_id(child.pid)


def test_a_stranger_is_never_taken_for_a_lab(tmp_path: Path) -> None:
    """A process that merely talks about the folder: our argument list, another program."""
    words = ["hold", "--state", str(tmp_path), "--cookie", "c"]
    stranger = subprocess.Popen([sys.executable, "-c", "input()", *words], stdin=subprocess.PIPE)
    try:
        assert list(state.find_holders(tmp_path)) == []
        assert state.terminate(tmp_path) == []
        assert stranger.poll() is None
    finally:
        stranger.communicate(b"\n")


def test_the_state_folder_must_be_ours_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state.os, "geteuid", lambda: 12345)
    shared = tmp_path / "wireproof-12345"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert state.state_root({}) == shared / "lab"
    shared.mkdir()
    with pytest.raises(LabError, match="belongs to another user"):
        state.state_root({})


def test_the_runtime_folder_is_used_when_it_is_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = tmp_path.stat().st_uid
    monkeypatch.setattr(state.os, "geteuid", lambda: owner or 12345)
    tmp_path.chmod(0o700)
    if owner == 0:
        monkeypatch.setattr(state, "_private", lambda folder: folder == tmp_path)
    assert state.state_root({"XDG_RUNTIME_DIR": str(tmp_path)}) == tmp_path / "wireproof" / "lab"
    assert state.state_root({"XDG_RUNTIME_DIR": "relative"}).parts[-2].startswith("wireproof-")


def test_rights_are_read_from_the_kernel() -> None:
    assert not supervisor.needs_user_namespace("Name:\tx\nCapEff:\t000001ffffffffff\n")
    assert supervisor.needs_user_namespace("Name:\tx\nCapEff:\t0000000000000000\n")
    # root in a container
    assert supervisor.needs_user_namespace("Name:\tx\nCapEff:\t00000000a80425fb\n")
    assert supervisor.needs_user_namespace("")


def test_obstacles_name_the_setting_and_the_remedy(tmp_path: Path) -> None:
    assert supervisor.user_namespace_obstacles(tmp_path) == []
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "max_user_namespaces").write_text("0\n", encoding="ascii")
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel" / "apparmor_restrict_unprivileged_userns").write_text(
        "1\n", encoding="ascii"
    )
    first, second = supervisor.user_namespace_obstacles(tmp_path)
    assert first.startswith("user.max_user_namespaces is 0: run `sysctl -w")
    assert "apparmor_restrict_unprivileged_userns is 1" in second


def test_missing_programs_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(supervisor, "find_tool", lambda name: None)
    monkeypatch.setenv("WIREPROOF_ENGINE_DIR", str(tmp_path))
    said = " ".join(supervisor.missing_for_lab())
    assert "the program ip is missing: install the package iproute2" in said
    assert "the program tc is missing" in said
    assert "wireproof-node is not in" in said


def test_a_refused_namespace_is_explained() -> None:
    reason = "create a user namespace: Operation not permitted"
    assert "user.x is 0" in supervisor.explain(reason, True, ["user.x is 0: do it"])
    assert "run the lab as root" in supervisor.explain(reason, True, [])
    assert "container" in supervisor.explain(
        "node n1: mount proc on /proc: Operation not permitted", True, []
    )
    assert supervisor.explain("x", False) == "the lab cannot be built: x."


def test_a_refused_line_is_shown() -> None:
    lines = ["link add a type veth", "link set dev nosuch up"]
    stderr = 'Cannot find device "nosuch"\nCommand failed -:2\n'
    assert supervisor.refusal("ip", "n1", stderr, lines) == (
        'ip refused on n1: Cannot find device "nosuch" (line: link set dev nosuch up).'
    )
    assert "no reason was given" in supervisor.refusal("ip", "n1", "", lines)


def test_a_kernel_without_netem_or_htb_is_named() -> None:
    stderr = "Error: Specified qdisc kind is unknown.\nCommand failed -:1\n"
    assert "no netem (module sch_netem)" in supervisor.refusal(
        "tc", "n1", stderr, ["qdisc add dev d netem delay 1us"]
    )
    assert "no HTB (module sch_htb)" in supervisor.refusal(
        "tc", "n1", stderr, ["qdisc add dev d root htb default 1"]
    )
