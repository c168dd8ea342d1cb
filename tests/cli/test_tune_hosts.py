"""``wireproof tune`` on several hosts: folders that a program called like ssh leads to."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.audit.trees import lay_out
from tests.cli.verb import document, wireproof
from tests.tune.node import end_timers

pytestmark = pytest.mark.engine

SWAPPINESS = "proc/sys/vm/swappiness"
AGENT = """#!/bin/sh
# HOST WORDS...: runs them on HOST's folder; a host with a file HOST.dead is lost in the middle.
here={here}
host=$1
shift
command="$*"
case "$command" in
  *" facts "*)
    [ ! -e "$here/$host.silent" ] || {{ echo "no route to host" >&2; exit 255; }}
    command="$command --root $here/$host" ;;
  *" tune apply"*)
    [ ! -e "$here/$host.dead" ] || {{ printf '{{"frame":"set","id":"x","sta'; exit 255; }}
    command="$command --root $here/$host --state $here/$host.state"
    [ ! -e "$here/$host.slow" ] || {{
      sh -c "$command"
      # A shell that waits for touch survives a Ctrl-C, and its sleep then holds stderr open.
      (sleep 0.2; touch "$here/$host.done") &
      exec sleep 60; }} ;;
  *" tune "*) command="$command --root $here/$host --state $here/$host.state" ;;
esac
exec sh -c "$command"
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Path]:
    """Three hosts, of which n3 has another value; no timer is left."""
    for host, value in {"n1": "60", "n2": "60", "n3": "40"}.items():
        root = lay_out(tmp_path / host, "haswell-hfi1", {SWAPPINESS: value})
        (root / "etc/sysctl.d").mkdir(parents=True)
    agent = tmp_path / "agent"
    agent.write_text(AGENT.format(here=tmp_path))
    agent.chmod(0o755)
    yield tmp_path
    for host in ("n1", "n2", "n3"):
        end_timers(tmp_path / host)


def reach(cluster: Path, hosts: str = "n[1-3]") -> list[str]:
    return [f"--hosts={hosts}", f"--launcher={cluster / 'agent'}", "--scheduler=none"]


def values(cluster: Path) -> list[str]:
    return [(cluster / host / SWAPPINESS).read_text().strip() for host in ("n1", "n2", "n3")]


def test_hosts_with_the_same_plan_are_shown_together(cluster: Path) -> None:
    done = wireproof("tune", "plan", "swappiness", *reach(cluster))
    assert done.returncode == 0, done.stderr
    assert "n[1-2]: 1 value to change" in done.stdout
    assert "n3: 1 value to change" in done.stdout


def test_the_audit_of_other_hosts_says_that_its_commands_need_them(cluster: Path) -> None:
    done = wireproof("audit", "swappiness", *reach(cluster))
    assert "`wireproof tune apply swappiness`" in " ".join(done.stdout.split())
    assert "--hosts=n[1-3]" in done.stderr.replace("'", "")


def test_all_hosts_have_one_id_and_come_back(cluster: Path) -> None:
    done = wireproof("tune", "apply", "swappiness", "--yes", "--json", *reach(cluster))
    assert done.returncode == 0, done.stderr
    found = document(done)
    assert {one["sets"][0]["id"] for one in found["hosts"]} == {found["id"]}
    assert "--hosts=n[1-3]" in done.stderr.replace("'", "")
    assert values(cluster) == ["10"] * 3
    assert wireproof("tune", "confirm", found["id"], *reach(cluster)).returncode == 0
    assert (cluster / "n3/etc/sysctl.d/90-wireproof.conf").is_file()
    assert wireproof("tune", "revert", *reach(cluster)).returncode == 0
    assert values(cluster) == ["60", "60", "40"]
    assert not (cluster / "n3/etc/sysctl.d/90-wireproof.conf").exists()


def test_a_host_that_vanishes_in_the_middle_is_named(cluster: Path) -> None:
    (cluster / "n2.dead").touch()
    done = wireproof("tune", "apply", "swappiness", "--yes", *reach(cluster))
    assert done.returncode == 1
    assert "n2: it could not be reached" in done.stdout
    assert values(cluster) == ["10", "60", "10"]
    assert wireproof("tune", "revert", *reach(cluster, "n[1,3]")).returncode == 0
    assert values(cluster) == ["60", "60", "40"]


def test_a_host_that_cannot_be_read_is_named_and_the_others_are_changed(cluster: Path) -> None:
    (cluster / "n2.silent").touch()
    done = wireproof("tune", "plan", "swappiness", *reach(cluster))
    assert done.returncode == 3
    assert "n2: nothing is changed: there is no route to it" in done.stdout
    done = wireproof("tune", "apply", "swappiness", "--yes", *reach(cluster))
    assert done.returncode == 1
    assert values(cluster) == ["10", "60", "10"]
    assert wireproof("tune", "revert", *reach(cluster, "n[1,3]")).returncode == 0


def test_an_apply_that_is_interrupted_names_its_set_and_how_to_undo_it(cluster: Path) -> None:
    (cluster / "n2.slow").touch()
    apply = [sys.executable, "-m", "wireproof", "tune", "apply", "swappiness", "--yes"]
    only = reach(cluster, "n2")
    with subprocess.Popen(
        [*apply, *only], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as head:
        while not (cluster / "n2.done").exists():
            assert head.poll() is None
            time.sleep(0.01)
        os.killpg(head.pid, signal.SIGINT)  # as a terminal does
        said = head.communicate(timeout=60)[1]
    assert head.returncode in (130, -signal.SIGINT)
    undo = shlex.split(said.partition("; `")[2].partition("`")[0])
    assert values(cluster)[1] == "10"
    assert undo[3] in wireproof("tune", "status", *only).stdout
    assert wireproof(*undo[1:]).returncode == 0
    assert values(cluster) == ["60", "60", "40"]


def test_one_host_alone(cluster: Path) -> None:
    done = wireproof("tune", "apply", "swappiness", "--yes", *reach(cluster, "n3"))
    assert done.returncode == 0, done.stderr
    assert values(cluster) == ["60", "60", "10"]
    assert wireproof("tune", "revert", *reach(cluster, "n3")).returncode == 0


def test_a_host_of_slurm_is_refused_where_nobody_can_say_who_has_it(cluster: Path) -> None:
    folder = cluster / "n1/etc/slurm"
    folder.mkdir()
    (folder / "slurm.conf").write_text("ClusterName=x\n")
    silent = cluster / "bin" / "sinfo"
    silent.parent.mkdir()
    silent.write_text("#!/bin/sh\nexit 1\n")
    silent.chmod(0o755)
    path = f"{silent.parent}:{os.environ['PATH']}"
    done = wireproof(
        "tune", "apply", "swappiness", "--yes", *reach(cluster), environment={"PATH": path}
    )
    assert done.returncode == 1
    assert "n1: nothing is changed: it is configured for Slurm" in " ".join(done.stdout.split())
    assert values(cluster) == ["60", "10", "10"]
    wireproof("tune", "revert", *reach(cluster, "n[2-3]"))


@pytest.mark.root
def test_without_root_nothing_is_changed_and_it_is_said(tmp_path: Path) -> None:
    done = wireproof(
        "tune",
        "apply",
        "vm.swappiness=61",
        "--yes",
        "--prefix=setpriv --reuid=65534 --regid=65534 --clear-groups",
    )
    assert done.returncode == 4, done.stdout + done.stderr
    assert "(are you root?)" in " ".join(done.stdout.split())
    assert "61" not in Path("/proc/sys/vm/swappiness").read_text()
