"""`tune try` in a lab, as a user gives the command: a true effect of 10 % is found within a minute,
a placebo is not.

The effect: a sender on n1 that a variable paces at 100 or 110 MB/s of a 1 Gb/s link
(examples/try/stream.py). The placebo: a variable that nothing reads. Seeds 0, 1, ... by turns.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.lab_check import add_longest, document_in
from benchmarks.setting import Setting, add_share
from wireproof.lab.cluster import Lab, up
from wireproof.lab.topology_file import load_topology
from wireproof.model.errors import WireproofError

__all__ = ["run"]

GROUP = "tune try, 1 Gb/s lab"
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
STREAM = EXAMPLES / "try" / "stream.py"
TIMEOUT_S = 180
TRIALS = 100
WITHIN_S = 60.0


def trial(lab: Lab, seed: int, knob: str, *options: str) -> tuple[Any, float]:
    """(the JSON document, None where there is none; seconds) of one trial."""
    server = ("--server", lab.nodes[1], f"{sys.executable} -S {STREAM} serve")
    metric = ("--metric", r"rate: ([0-9.]+)", "--better", "higher")
    argv = [sys.executable, "-m", "wireproof", "tune", "try", knob, "--lab", lab.name, "--json"]
    argv += ["--seed", str(seed), *server, *metric, *options]
    argv += ["--", sys.executable, "-S", str(STREAM), "send", lab.nodes[1], "8"]
    began = time.monotonic()
    done = subprocess.run(argv, capture_output=True, timeout=TIMEOUT_S, check=False)
    return document_in(done.stdout), time.monotonic() - began


def run(setting: Setting) -> None:
    """Two rows of shares and one of time; the part ends when its time is over."""
    try:
        topology = load_topology(EXAMPLES / "lab" / "two-nodes-1g.toml")
        with up(topology, f"bench-try-{os.getpid()}") as lab:
            _trials(setting, lab)
    except WireproofError as error:
        setting.skip(GROUP, "tune try", error)


def _trials(setting: Setting, lab: Lab) -> None:
    answers: dict[str, list[str]] = {"effect": [], "placebo": []}
    times: list[float] = []
    for seed in range(TRIALS):
        for kind, knob in (("effect", "PACE_MB_S=100,110"), ("placebo", "PLACEBO=1,2")):
            if time.monotonic() > setting.until:
                break
            found, seconds = trial(lab, seed, knob)
            setting.say(f"tune try, {kind}, seed {seed}: {_said(found)}, {seconds:.1f} s")
            answers[kind].append(found["comparisons"][0]["answer"] if found else "failed")
            if kind == "effect":
                times.append(seconds)
    for kind, answer in (("effect", "helps"), ("placebo", "no-effect")):
        hits = answers[kind].count(answer)
        title = f"{answer} for a {'true effect of 10 %' if kind == 'effect' else 'placebo'}"
        add_share(setting, GROUP, title, hits, len(answers[kind]), 0.95, "at least")
    wrong = sum(one in ("helps", "hurts") for one in answers["placebo"])
    title = "helps or hurts for a placebo"
    add_share(setting, GROUP, title, wrong, len(answers["placebo"]), 0.05, "at most")
    add_longest(setting, GROUP, times, WITHIN_S, "trial of the effect")


def _said(found: Any) -> str:
    return found["comparisons"][0]["text"] if found else "no answer"
