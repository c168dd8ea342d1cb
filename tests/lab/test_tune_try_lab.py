"""`tune try` on settings of real nodes: the old value is back, however the trial ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.cli.verb import document, one_sentence, wireproof
from tests.lab.conftest import Build, say

from wireproof.lab.cluster import Lab

pytestmark = [pytest.mark.netns, pytest.mark.engine, pytest.mark.root]

KNOB = "net.ipv4.tcp_wmem"
FILE = "/proc/sys/net/ipv4/tcp_wmem"
SMALL = "4096 4097 4098"


def trial(lab: Lab, state: Path, *more: object) -> list[object]:
    return ["tune", "try", f"{KNOB}={SMALL}", "--lab", lab.name, "--state", state, *more]


def value(lab: Lab) -> list[str]:
    return [say(lab, node, "cat", FILE).strip() for node in lab.nodes]


def started(argv: Sequence[object]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "wireproof", *map(str, argv)],
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env={name: text for name, text in os.environ.items() if name != "WIREPROOF_LAB_STATE"},
    )


def wait_for(lab: Lab, text: str, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while " ".join(value(lab)[0].split()) != text:
        assert time.monotonic() < until, value(lab)
        time.sleep(0.05)


def test_each_value_is_there_in_its_runs(build: Build, tmp_path: Path) -> None:
    lab = build(nodes=2)
    before = value(lab)
    # The "application" is as fast as its sender's buffer is large, and reads it where it runs.
    app = tmp_path / "app.py"
    app.write_text(f"print('n:', 1 + int(open('{FILE}').read().split()[2]) % 4096)\n")
    metric = ("--metric", "n: (.*)", "--better", "higher", "--json")
    done = wireproof(*trial(lab, tmp_path / "state", *metric, "--", sys.executable, "-S", app))
    found = document(done)
    # It prints no number that implies bytes on the wire, and neither NIC nor link is claimed.
    assert found["comparisons"][0]["answer"] in ("helps", "hurts"), done.stderr
    assert {run["proof"] for run in found["runs"]} == {""}
    assert "is not proven" in done.stderr
    seen = {run["value"]: run["metric"] for run in found["runs"]}
    assert seen[1] == 1 + 4098 % 4096
    assert seen[0] != seen[1]
    assert [run["metric"] for run in found["runs"]] == [seen[run["value"]] for run in found["runs"]]
    assert found["kept"] is None
    assert value(lab) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_trial_leaves_the_old_value(
    build: Build, tmp_path: Path, number: int
) -> None:
    lab = build(nodes=2)
    before = value(lab)
    running = started(trial(lab, tmp_path / "state", "--budget-s", 600, "--", "sleep", "0.5"))
    wait_for(lab, SMALL)
    running.send_signal(number)
    said = running.communicate(timeout=60)[1]
    assert running.returncode == 130, said
    assert value(lab) == before


def test_a_killed_trial_is_undone_by_revert(build: Build, tmp_path: Path) -> None:
    """The timers of the nodes would do it too, later."""
    lab = build(nodes=2)
    before = value(lab)
    running = started(trial(lab, tmp_path / "state", "--budget-s", 600, "--", "sleep", "0.5"))
    wait_for(lab, SMALL)
    running.kill()
    running.communicate(timeout=60)
    again = wireproof(*trial(lab, tmp_path / "state", "--", "true"))
    assert again.returncode == 2
    assert "wireproof tune revert" in one_sentence(again)
    done = wireproof("tune", "revert", "--lab", lab.name, "--state", tmp_path / "state")
    assert done.returncode == 0, done.stderr
    assert value(lab) == before
