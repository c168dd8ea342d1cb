"""`wireproof pfc` live: virtual links have no priority flow control, which it says, and the incast
is real.
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.verb import document, wireproof
from tests.lab.conftest import Build

pytestmark = [pytest.mark.netns, pytest.mark.engine]


def test_an_incast_runs_and_what_no_counter_shows_is_unproven(build: Build, tmp_path: Path) -> None:
    lab = build(nodes=3)
    kept = tmp_path / "kept.json"
    common = ("pfc", "--lab", lab.name, "--nic", "hsn0", "--priority", 3, "--json")
    done = wireproof(*common, "--transport", "tcp", "--duration", "1s", "--snapshot", kept)
    found = document(done)
    assert done.returncode == 3, done.stderr
    load = found["load"]
    assert (load["kind"], load["senders"], load["proof"]) == ("incast", 2, "on-wire")
    assert len(load["receivers"]) == 1
    assert load["seconds"] > 0.5
    answers = {one["answer"] for port in found["ports"] for one in port["conditions"]}
    assert answers == {"unproven"}
    codes = {one["code"] for one in found["findings"]}
    # the link's queue may drop what TCP then sends again
    assert codes - {"pfc-lost"} == {"pfc-adapter-unknown", "pfc-counters-missing"}
    (rate,) = found["pressure_evidence"]
    assert rate.startswith(f"2 simultaneous senders; hsn0 of {load['receivers'][0]} received ")
    share = int(rate.split(" received ")[1].split("%")[0])
    assert share > 30  # of a machine that others use too; the link is shaped
    again = wireproof("pfc", "--from", kept, "--priority", 3, "--json")
    assert document(again) == found


def test_a_command_and_a_job_are_watched(build: Build) -> None:
    lab = build(nodes=2)
    common = ("pfc", "--lab", lab.name, "--nic", "hsn0", "--priority", 3, "--json")
    done = wireproof(*common, "--", "sh", "-c", "exit 7")
    found = document(done)
    assert done.returncode == 3
    assert (found["load"]["kind"], found["load"]["exit_status"]) == ("command", 7)
    assert "pfc-load-failed" in {one["code"] for one in found["findings"]}
    watching = subprocess.Popen(
        [sys.executable, "-m", "wireproof", *map(str, common), "--no-load", "--duration", "1h"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while "watching 2 hosts" not in watching.stderr.readline():
        assert watching.poll() is None
    time.sleep(0.5)
    watching.send_signal(signal.SIGINT)
    output, _ = watching.communicate(timeout=60)
    assert watching.returncode == 3
    assert '"kind": "none"' in output


def test_an_unknown_interface_is_bad_input_before_anything_is_sent(build: Build) -> None:
    lab = build(nodes=3)
    done = wireproof("pfc", "--lab", lab.name, "--nic", "hsn9")
    assert done.returncode == 2
    assert "has the NIC 'hsn9'" in done.stderr
