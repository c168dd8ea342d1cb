"""The same lab for an ordinary user, where the kernel allows user namespaces."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from tests.processes import ran

import wireproof
from wireproof.lab.supervisor import user_namespace_obstacles

pytestmark = [pytest.mark.netns, pytest.mark.root]

NOBODY = 65534
_SCRIPT = """
import json, os, subprocess, sys
sys.path[:0] = json.loads(sys.argv[1])
REACH = '''
import socket
try:
    socket.create_connection(("10.20.1.2", 9), 5)
except ConnectionRefusedError:
    print("refused by n2 itself")
'''
from wireproof.lab.cluster import down, up
from wireproof.lab.cluster import open_lab
from wireproof.files.programs import find_tool
from wireproof.lab.state import find_holders
from wireproof.model.topology import Network, Topology
net = Network(name="hsn", device="hsn0", rate="1gbit", subnet="10.20.1.0/24")
lab = up(Topology(nodes=("n1", "n2"), networks=(net,), wire=sys.argv[2]), "rootless")
def say(node, *argv):
    inside = lab.exec_argv(node, argv)
    return subprocess.run(inside, capture_output=True, text=True, timeout=120).stdout.strip()
found = {
    "user": lab.status().user_namespace,
    "state": lab.status().state,
    "hostname": say("n2", "hostname"),
    "nics": say("n1", "ls", "/sys/class/net").split(),
    "shaped": "htb" in say("@switch", find_tool("tc"), "qdisc", "show", "dev", "n2-hsn0"),
    "reached": say("n1", sys.executable, "-c", REACH),
    "counted": lab.topology.serialises and lab.wire_status().ports[0].tx_frames > 0,
    "notes": list(lab.notes),
    "uid": say("n1", "id", "-u"),
    "kernel_uid": os.geteuid(),
    "owner": os.stat(f"/proc/{next(find_holders(lab.folder))}").st_uid,
    "down": len(down("rootless").processes),
    "left": list(find_holders(lab.folder)) + [str(lab.folder)] * lab.folder.exists(),
}
print(json.dumps(found))
"""


def _python_of_everybody(home: Path) -> str | None:
    """A Python that nobody may start and that has our own packages' version; this one's may be in a
    private home.
    """
    for candidate in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        asked = ran(
            [*_as_nobody(home), candidate, "-c", "import sys; print(*sys.version_info[:2])"],
            timeout=120,
        )
        if asked.stdout.split() == [str(part) for part in sys.version_info[:2]]:
            return candidate
    return None


def _as_nobody(home: Path) -> list[str]:
    return [
        *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
        *("env", "-i", "PATH=/usr/bin:/bin", f"HOME={home}", f"TMPDIR={home}"),
    ]


def _lab_as_nobody(
    node_program: Path, wire: str, tun: Callable[[Path], list[str]]
) -> dict[str, object]:
    """What the script found; ``tun`` makes the words ahead of it, given a folder of everybody's."""
    import msgspec

    if obstacles := user_namespace_obstacles():
        pytest.skip(f"netns: {obstacles[0]}")
    home = Path("/tmp") / f"wireproof-test-{os.getpid()}"
    home.mkdir(mode=0o755)
    try:
        bin_folder = home / "bin"
        shutil.copytree(Path(wireproof.__file__).parent, home / "lib" / "wireproof")
        shutil.copytree(Path(msgspec.__file__).parent, home / "lib" / "msgspec")
        bin_folder.mkdir()
        shutil.copy(node_program, bin_folder / "wireproof-node")
        os.chown(home, NOBODY, NOBODY)
        python = _python_of_everybody(home)
        if python is None:
            pytest.skip("netns: no python3 of this version that an ordinary user may start")
        folders = json.dumps([str(home / "lib")])
        nobody = [*_as_nobody(home), f"WIREPROOF_ENGINE_DIR={bin_folder}", python, "-c"]
        done = ran([*tun(home), *nobody, _SCRIPT, folders, wire], timeout=60, cwd="/")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)  # type: ignore[no-any-return]
    finally:
        shutil.rmtree(home)


def _expected(**changes: object) -> dict[str, object]:
    return {
        "user": True,
        "state": "up",
        "hostname": "n2",
        "nics": ["hsn0", "lo"],
        "shaped": True,
        "reached": "refused by n2 itself",
        "counted": False,
        "notes": [],
        "uid": "0",
        "kernel_uid": NOBODY,
        "owner": NOBODY,
        "left": [],
        **changes,
    }


def test_a_lab_without_root(node_program: Path) -> None:
    found = _lab_as_nobody(node_program, "token-bucket", lambda _: [])
    assert cast("int", found.pop("down")) >= 3, "the supervisor and both nodes"
    assert found == _expected()


def _with_tun(mode: str) -> Callable[[Path], list[str]]:
    """In a mount namespace of its own, /dev/net/tun has this mode."""

    def words(home: Path) -> list[str]:
        script = (
            'mknod "$1" c 10 200 && chmod "$2" "$1" && mount --bind "$1" /dev/net/tun && shift 2'
            ' && exec "$@"'
        )
        return ["unshare", "--mount", "sh", "-c", script, "sh", str(home / "tun"), mode]

    return words


@pytest.mark.skipif(not Path("/dev/net/tun").exists(), reason="netns: no /dev/net/tun")
def test_a_store_and_forward_lab_without_root(node_program: Path) -> None:
    found = _lab_as_nobody(node_program, "store-and-forward", _with_tun("666"))
    assert cast("int", found.pop("down")) >= 4, "the wire too"
    assert found == _expected(shaped=False, counted=True)


@pytest.mark.skipif(not Path("/dev/net/tun").exists(), reason="netns: no /dev/net/tun")
def test_without_the_right_to_taps_an_ordinary_user_gets_token_buckets_and_is_told(
    node_program: Path,
) -> None:
    found = _lab_as_nobody(node_program, "store-and-forward", _with_tun("600"))
    found.pop("down")
    (note,) = cast("list[str]", found.pop("notes"))
    assert "/dev/net/tun cannot be opened (Permission denied)" in note
    assert "`chmod 666 /dev/net/tun`" in note
    expected = _expected()
    expected.pop("notes")
    assert found == expected


def test_a_kernel_that_forbids_it_is_named(node_program: Path) -> None:
    """A user namespace whose own limit is 0, and a process in it without rights."""
    script = (
        "echo 0 > /proc/sys/user/max_user_namespaces;"
        ' exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs "$@"'
    )
    asked = "from wireproof.lab.supervisor import missing_for_lab; print(*missing_for_lab())"
    paths = os.pathsep.join(path for path in sys.path if path)
    argv = ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh", sys.executable, "-c"]
    done = ran([*argv, asked], timeout=120, env={**os.environ, "PYTHONPATH": paths})
    assert "`sysctl -w user.max_user_namespaces=10000`" in done.stdout, done.stderr
