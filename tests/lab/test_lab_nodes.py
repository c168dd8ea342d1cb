"""What a node is: its own names, NICs, processes and shared memory, and nothing on the host."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.lab.conftest import HSN, Build, lab_name, leftovers, run, say, topology
from tests.processes import ran
from tests.records import holds

from wireproof.lab.cluster import down, open_lab, up
from wireproof.lab.state import find_labs
from wireproof.model.errors import BadInput, LabError
from wireproof.model.topology import Network

pytestmark = pytest.mark.netns

MGMT = Network(name="mgmt", device="eth0", rate="1gbit", subnet="10.10.1.0/24")


def test_a_node_has_its_own_names_and_nics(build: Build) -> None:
    lab = build(2, MGMT, HSN)
    for number, node in enumerate(lab.nodes, start=1):
        assert say(lab, node, "hostname") == node
        assert say(lab, node, "ls", "/sys/class/net").split() == ["eth0", "hsn0", "lo"]
        assert f"10.20.1.{number}/24" in say(lab, node, "ip", "-4", "addr", "show", "dev", "hsn0")
    assert say(lab, "n1", "getent", "hosts", "n2").split()[0] == "10.10.1.2"
    assert say(lab, "n1", "getent", "hosts", "n2-hsn").split()[0] == "10.20.1.2"
    assert lab.node_address("n2", "mgmt") == "10.10.1.2"


def test_a_command_may_stand_behind_two_dashes(build: Build) -> None:
    """The form that the program's own hints print."""
    lab = build(2)
    words = [sys.executable, "-m", "wireproof", "lab", "exec", lab.name, "n1"]
    for dashes in ([], ["--"]):
        done = subprocess.run([*words, *dashes, "hostname"], capture_output=True, text=True)
        assert done.stdout.strip() == "n1", done.stderr
    nothing = subprocess.run([*words, "--"], capture_output=True, text=True)
    assert nothing.returncode == 2
    assert "give a command after --" in nothing.stderr


def test_processes_and_shared_memory_are_private(build: Build) -> None:
    lab = build(2)
    assert say(lab, "n1", "sh", "-c", "cat /proc/1/comm") == "lab-n1"
    say(lab, "n1", "sh", "-c", "echo x > /dev/shm/mine")
    assert say(lab, "n1", "ls", "/dev/shm") == "mine"
    assert say(lab, "n2", "ls", "/dev/shm") == ""
    assert not Path("/dev/shm/mine").exists()
    namespaces = [
        {say(lab, node, "readlink", f"/proc/self/ns/{kind}") for node in lab.nodes}
        for kind in _KINDS
    ]
    assert [len(found) for found in namespaces] == [2] * len(_KINDS)


_KINDS = ("net", "uts", "ipc", "mnt", "pid")


def test_a_node_goes_before_the_machines_other_processes(build: Build) -> None:
    """Also a session of its own, as MPI launchers start for each rank: the kernel shares the cores
    among sessions, whatever the nice values in them.
    """
    lab = build(2)
    if os.geteuid() != 0:
        assert "share the cores" in lab.priority
        pytest.skip("root: an ordinary user has no right to raise a priority")
    group = Path("/proc/self/autogroup")
    grouped = group.exists() and group.read_text(encoding="utf-8").startswith("/autogroup")
    look = "sleep 1; cut -d' ' -f19 /proc/self/stat; cat /proc/self/autogroup"
    for words in (("sh", "-c", look), ("setsid", "--wait", "sh", "-c", look)):
        nice, *more = say(lab, "n1", *words).splitlines()
        assert int(nice) == -15
        assert not grouped or more[0].endswith("nice -15")
    assert "nice -15" in lab.priority
    assert os.getpriority(os.PRIO_PROCESS, 0) >= 0
    assert not grouped or not group.read_text(encoding="utf-8").strip().endswith("-15")


def test_what_is_shared_on_purpose_is_shared_and_nothing_else(build: Build) -> None:
    lab = build(2, share=("ipc", "shm"))
    same = {
        kind: len({say(lab, node, "readlink", f"/proc/self/ns/{kind}") for node in lab.nodes})
        for kind in _KINDS
    }
    assert same == {"net": 2, "uts": 2, "ipc": 1, "mnt": 2, "pid": 2}
    assert say(lab, "n1", "readlink", "/proc/self/ns/ipc") != os.readlink("/proc/self/ns/ipc")
    say(lab, "n1", "sh", "-c", "echo x > /dev/shm/ours")
    assert say(lab, "n2", "ls", "/dev/shm") == "ours"
    assert not Path("/dev/shm/ours").exists()


def test_eight_nodes_reach_each_other(build: Build) -> None:
    lab = build(8)
    assert lab.status().state == "up"
    server = (
        "import socket; s = socket.create_server(('', 7)); print(1, flush=True);"
        " s.accept()[0].sendall(b'hello')"
    )
    client = "import socket; print(socket.create_connection(('n1', 7), 10).recv(5).decode())"
    for node in ("n2", "n8"):
        waiting = subprocess.Popen(
            lab.exec_argv("n1", [sys.executable, "-c", server]), stdout=subprocess.PIPE
        )
        waiting.stdout.readline()
        assert say(lab, node, sys.executable, "-c", client) == "hello"
        waiting.communicate(timeout=120)


def test_an_idle_link_is_silent_and_its_counters_count(build: Build) -> None:
    lab = build(2)
    link = lab.expected_link("hsn")
    holds(link, rate_bits_per_s=1e9, mtu=1500, protocol="tcp", preamble_counted=False)
    before = lab.counters("n1", "hsn0")
    say(lab, "n1", "sleep", "0.5")
    assert lab.counters("n1", "hsn0") == before
    with pytest.raises(BadInput, match="no device 'nosuch'"):
        lab.counters("n1", "nosuch")


def test_status_streams_folder_and_environment_are_the_callers(
    build: Build, tmp_path: Path
) -> None:
    lab = build(2)
    assert run(lab, "n1", "sh", "-c", "exit 7").returncode == 7
    assert run(lab, "n1", "sh", "-c", "kill -9 $$").returncode == 137
    assert run(lab, "n1", "/nosuch/program").returncode == 127
    assert run(lab, "n1", str(tmp_path)).returncode == 126
    assert run(lab, "n1", "cat", input="given").stdout == "given"
    assert run(lab, "n1", "sh", "-c", "echo out; echo bad >&2").stderr == "bad\n"
    assert run(lab, "n1", "pwd", cwd=tmp_path).stdout.strip() == str(tmp_path)
    odd = ["a b", "$HOME", "'", '"', "*", "", "\n", "é"]
    script = "import sys; print(sys.argv[1:])"
    assert say(lab, "n1", sys.executable, "-c", script, *odd) == str(odd)
    assert say(lab, "n1", "sh", "-c", 'echo "$WIREPROOF_LAB_STATE"') == str(lab.folder)


def test_cores_and_limits_are_the_callers(build: Build) -> None:
    lab = build(1)
    core = min(os.sched_getaffinity(0))
    limits = f"prlimit --nofile=99:99 taskset -c {core}".split()
    done = ran([*limits, *lab.exec_argv("n1", ["sh", "-c", _SHOW])], timeout=120)
    assert done.stdout.split() == ["99", str(core)]


_SHOW = "ulimit -n; grep Cpus_allowed_list /proc/self/status | cut -f2"


def test_a_node_that_is_not_there(build: Build) -> None:
    lab = build(2)
    with pytest.raises(BadInput, match="has no node 'n9'"):
        lab.exec_argv("n9", ["true"])
    done = ran([str(lab.program), "enter", "--state", str(lab.folder), "n9", "true"], timeout=120)
    assert done.returncode == 125
    assert "there is no living node 'n9'" in done.stderr


def test_a_name_that_is_taken(build: Build) -> None:
    lab = build(1)
    with pytest.raises(BadInput, match=f"lab {lab.name} already exists"):
        up(topology(1), lab.name)
    assert say(lab, "n1", "hostname") == "n1"


def test_two_labs_at_once_do_not_meet(node_program: Path) -> None:
    names = [lab_name(), lab_name()]
    failures: list[BaseException] = []

    def bring_up(name: str) -> None:
        try:
            up(topology(4), name)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=bring_up, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    folders = [status.folder for status in find_labs() if status.name in names]
    try:
        assert failures == []
        assert len(folders) == 2
        labs = [open_lab(name) for name in names]
        assert len({say(lab, "n1", "readlink", "/proc/self/ns/net") for lab in labs}) == 2
    finally:
        for folder in folders:
            down(folder.name)
    assert [left for folder in folders for left in leftovers(folder)] == []


def test_names_that_cannot_be(node_program: Path) -> None:
    for name in ("", "../x", "A", "a b", "x" * 40, "-a"):
        with pytest.raises(BadInput, match="is not valid"):
            up(topology(1), name)
    with pytest.raises(BadInput, match="there is no lab 'never-was'"):
        down("never-was")
    with pytest.raises(BadInput, match="there is no lab 'never-was'"):
        open_lab("never-was")


def test_a_topology_that_cannot_be_leaves_nothing(node_program: Path, lab_root: Path) -> None:
    name = lab_name()
    broken = Network(name="hsn", device="hsn0", subnet="10.20.1.0/24", rate="1gbit", mtu=65536)
    with pytest.raises(BadInput, match="mtu"):
        up(topology(2, broken), name)
    assert leftovers(lab_root / name) == []


_WITHOUT_HOSTS = """
import subprocess, sys
from wireproof.lab import cluster
from wireproof.model.topology import Network, Topology
net = Network(name="hsn", device="hsn0", rate="1gbit", subnet="10.20.1.0/24")
with cluster.up(Topology(nodes=("n1", "n2"), networks=(net,)), sys.argv[1], tied=True) as lab:
    for argv in (["getent", "hosts", "n2"], ["cat", "/etc/marker"]):
        inside = lab.exec_argv("n1", argv)
        done = subprocess.run(inside, capture_output=True, text=True, timeout=120)
        print(done.stdout.split()[0])
"""


@pytest.mark.root
def test_a_machine_without_a_hosts_file_is_not_changed(
    node_program: Path, lab_root: Path, tmp_path: Path
) -> None:
    """A bare debootstrap has no /etc/hosts to mount upon; here a mount namespace with an /etc of
    our own plays it.
    """
    etc = tmp_path / "etc"
    etc.mkdir()
    for name in ("passwd", "nsswitch.conf", "ld.so.cache"):
        if Path("/etc", name).exists():
            (etc / name).write_bytes(Path("/etc", name).read_bytes())
    (etc / "marker").write_text("seen", encoding="ascii")
    before = sorted(os.listdir(etc))
    name = lab_name()
    script = 'mount --bind "$1" /etc; shift; exec "$@"'
    argv = ["unshare", "--mount", "sh", "-c", script, "sh", str(etc), sys.executable, "-c"]
    environment = {**os.environ, "PYTHONPATH": _PATHS}
    done = ran([*argv, _WITHOUT_HOSTS, name], timeout=60, env=environment)
    assert done.stdout.split() == ["10.20.1.2", "seen"], done.stderr
    assert sorted(os.listdir(etc)) == before
    assert leftovers(lab_root / name) == []


_PATHS = os.pathsep.join(path for path in sys.path if path)


def test_a_tool_that_fails_half_way_leaves_nothing(
    node_program: Path, lab_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wireproof.lab import commands

    monkeypatch.setattr(
        commands, "node_link_lines", lambda topology, node: ["link set dev nosuch up"]
    )
    name = lab_name()
    with pytest.raises(LabError, match='ip refused on n1: Cannot find device "nosuch"'):
        up(topology(2), name)
    assert leftovers(lab_root / name) == []
