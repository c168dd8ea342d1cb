"""A fault planted while a real lab is screened: the node is named, or nobody; no pair of it, and no
innocent.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.lab.conftest import Build

from wireproof.model.topology import Fault

pytestmark = [pytest.mark.netns, pytest.mark.engine]

DROP = Fault(node="n3", network="hsn", kind="rate", direction="tx", value="300mbit")


def sealed(out: Path) -> int:
    frames = out / "run" / "frames.jsonl"
    return frames.read_text(errors="replace").count('"frame":"point"') if frames.is_file() else 0


@pytest.mark.slow
def test_a_port_that_drops_in_the_middle_of_the_screen_is_named(
    build: Build, tmp_path: Path
) -> None:
    """Pairs were blamed: "neither end is slow with others", confidence 0.999."""
    lab = build(4)
    out = tmp_path / "check"
    words = (
        f"-m wireproof check --lab {lab.name} --hosts n[1-4] --transport tcp --json --out".split()
    )
    argv = [sys.executable, *words, str(out)]
    running = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while sealed(out) < 12 and time.monotonic() < deadline and running.poll() is None:
            time.sleep(0.05)
        lab.set_fault(DROP)
        printed, said = running.communicate(timeout=240)
    finally:
        running.kill()
    assert printed, said
    found = json.loads(printed)
    assert found["verdict"] != "pass", [one["message"] for one in found["findings"]]
    codes = ("node-slow", "port-slow", "pair-slow")
    slow = [one for one in found["findings"] if one["code"] in codes]
    assert {one["subject"].split()[0] for one in slow} <= {"n3"}, [one["message"] for one in slow]
    pairs = [one["message"] for one in slow if one["code"] == "pair-slow"]
    assert not any("above 0.9" in message for message in pairs)
