"""Real sshd in lab nodes: a measurement by Hydra over ssh, and hosts that cannot be reached, in a
sentence each.
"""

import contextlib
import dataclasses
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.lab.conftest import HSN, Build, run, say

from wireproof.lab.cluster import Lab
from wireproof.model.topology import Fault

pytestmark = [pytest.mark.netns, pytest.mark.root]

SSHD = shutil.which("sshd", path="/usr/sbin:/sbin:/usr/local/sbin")
ASK = """
import json, sys, time
from wireproof.launch.fanout import reachable
begin = time.monotonic()
answers = reachable(sys.argv[2:], agent=sys.argv[1], timeout_s=3.0)
print(json.dumps([answers, time.monotonic() - begin]))
"""


@dataclasses.dataclass(frozen=True)
class Site:
    """Keys, known hosts, and a program that is ssh with this configuration: ``ssh`` with the key,
    ``stranger`` not.
    """

    lab: Lab
    folder: Path

    @property
    def ssh(self) -> str:
        return str(self.folder / "ssh")

    @property
    def stranger(self) -> str:
        return str(self.folder / "stranger")

    def ask(self, agent: str, *hosts: str) -> tuple[dict[str, str], float]:
        """``reachable`` as it answers in the first node, and its seconds."""
        answers, seconds = json.loads(say(self.lab, "n1", sys.executable, "-c", ASK, agent, *hosts))
        return answers, seconds


def _keys(folder: Path) -> None:
    for name in ("user", "other", "host", "changed"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name],
            check=True,
            timeout=120,
        )
    (folder / "authorized").write_bytes((folder / "user.pub").read_bytes())
    (folder / "sshd").write_text(
        f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nUsePAM no\nPidFile none\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n",
        encoding="utf-8",
    )
    key = " ".join((folder / "host.pub").read_text(encoding="utf-8").split()[:2])
    (folder / "known").write_text(
        "".join(f"{name},{name}-hsn {key}\n" for name in ("n2", "n3", "n4")), encoding="utf-8"
    )
    for name, identity in (("ssh", "user"), ("stranger", "other")):
        (folder / f"{name}.conf").write_text(
            f"Host *\n  IdentityFile {folder}/{identity}\n  IdentitiesOnly yes\n  IdentityAgent"
            " none\n"
            f"  UserKnownHostsFile {folder}/known\n  GlobalKnownHostsFile none\n "
            " StrictHostKeyChecking yes\n"
            "  BatchMode yes\n  LogLevel ERROR\n",
            encoding="utf-8",
        )
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec ssh -F {folder}/{name}.conf "$@"\n', encoding="utf-8")
        program.chmod(0o755)


@contextlib.contextmanager
def _servers(lab: Lab, folder: Path, keys: dict[str, str]) -> Iterator[None]:
    """One sshd in each named node, in the foreground, with the host key of that name; ended by its
    own process.
    """
    assert SSHD is not None
    started = [
        subprocess.Popen(
            lab.exec_argv(
                node, [SSHD, "-D", "-e", "-f", str(folder / "sshd"), "-h", str(folder / key)]
            ),
            stderr=subprocess.DEVNULL,
        )
        for node, key in keys.items()
    ]
    try:
        yield
    finally:
        for server in started:
            server.terminate()
        for server in started:
            server.wait(timeout=120)


@pytest.fixture
def site(build: Build, tmp_path: Path) -> Iterator[Site]:
    """Nodes n1 to n5; sshd in n2 (right key), n4 (another key than the one that is known), none in
    n3; n5's link is down.
    """
    if SSHD is None or shutil.which("ssh-keygen") is None:
        pytest.skip("sshd or ssh-keygen is not here (Debian package openssh-server)")
    Path("/run/sshd").mkdir(exist_ok=True)
    lab = build(5, HSN, faults=[Fault(node="n5", network="hsn", kind="down")])
    _keys(tmp_path)
    with _servers(lab, tmp_path, {"n2": "host", "n4": "changed"}):
        site = Site(lab, tmp_path)
        for _ in range(100):
            if run(lab, "n1", site.ssh, "n2", "true").returncode == 0:
                break
        yield site


def measured(site: Site, asked: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = f"-m wireproof measure {asked} --nic hsn0 --mpi mpich --virtual".split()
    more = ("--launcher", site.ssh, "--out", str(folder / "run"))
    return run(site.lab, "n1", sys.executable, *words, *more, cwd=folder)


def test_who_cannot_be_reached_is_told_in_a_sentence_each(site: Site) -> None:
    answers, seconds = site.ask(site.ssh, "n2", "n3", "n4", "n5", "n9")
    assert answers["n2"] == ""
    assert "refused the connection" in answers["n3"]
    assert "host key" in answers["n4"]
    assert "did not answer" in answers["n5"] or "no route to it" in answers["n5"]
    assert "cannot be resolved" in answers["n9"]
    assert seconds < 120, "they are asked together, each with a limit of its own"
    refused, _ = site.ask(site.stranger, "n2")
    assert "refused the login" in refused["n2"]


@pytest.mark.mpi
def test_hydra_measures_over_real_ssh_and_the_bytes_are_on_the_wire(
    site: Site, tmp_path: Path
) -> None:
    before = site.lab.counters("n2", "hsn0")["rx_bytes"]
    asked = "stream --hosts n1-hsn,n2-hsn --sizes 64KiB --budget 300ms --json"
    done = measured(site, asked, tmp_path)
    moved = site.lab.counters("n2", "hsn0")["rx_bytes"] - before
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["proof"] == "on-wire", done.stderr
    assert site.ssh in found["provenance"]["argv"]
    assert moved > found["results"][0]["expected_bytes"] > 1 << 20


@pytest.mark.mpi
def test_a_host_that_is_down_ends_the_measurement_with_a_sentence(
    site: Site, tmp_path: Path
) -> None:
    done = measured(site, "pingpong --hosts n1-hsn,n3-hsn --sizes 8", tmp_path)
    assert done.returncode == 4, done.stderr
    assert "n3-hsn" in done.stderr
    assert "Traceback" not in done.stderr
