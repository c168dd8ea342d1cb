"""`wireproof history pages` over 10,000 results of 10,000 nodes: what it costs, and the first view.

The history is made up as a busy cluster's would be: every hundredth result is of all nodes, the
others are of 16 neighbours each.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import msgspec

from benchmarks.row import certain
from benchmarks.setting import Setting
from wireproof.model.finding import Verdict
from wireproof.model.history import Entry, Number
from wireproof.store import history as store

__all__ = ["made_history", "run"]

GROUP = "pages"
RESULTS, NODES, FEW, WHOLE_EVERY = 10_000, 10_000, 16, 100
FIRST_VIEW_S, AGAIN_S, RESIDENT_MB = 1.0, 20.0, 600.0
_VIEWS = 5
_SETTINGS = {f"setting example.{at}": f"value of setting {at}" for at in range(150)}
_NUMBERS = [
    (name, size) for name in ("pingpong", "stream", "exchange") for size in (8, 1 << 16, 1 << 20)
]


def made_history(root: Path, results: int = RESULTS, nodes: int = NODES) -> None:
    """A history whose index alone is there: reports of runs are not written."""
    draw = random.Random(1)
    names = [f"n{at:05}" for at in range(1, nodes + 1)]
    (root / store.INDEX).mkdir(parents=True)
    store._write_table(root, [_entry(at, names, draw) for at in range(results)])


def _entry(at: int, names: list[str], draw: random.Random) -> Entry:
    first = draw.randrange(max(1, len(names) - FEW))
    chosen = names if at % WHOLE_EVERY == WHOLE_EVERY // 2 else names[first : first + FEW]
    verdicts: dict[str, Verdict] = dict.fromkeys(chosen, "pass")
    bad = [name for name in chosen if draw.random() < 0.001]
    hosts = f"n[{chosen[0][1:]}-{chosen[-1][1:]}]"
    when = datetime.now(UTC) - timedelta(hours=1.5 * (RESULTS - at))
    return Entry(
        id=f"r{at:06}",
        measured=when.isoformat(timespec="seconds"),
        fingerprint=hosts,
        hosts=hosts,
        link="edr",
        transport="mpi",
        mpi="MPICH 5.0.2 (/usr)",
        verdict="fail" if bad else "pass",
        wireproof="0.1.0",
        conditions=_SETTINGS | {"driver": f"5.{at // 1000}"},
        nodes=verdicts | dict.fromkeys(bad, "fail"),
        reasons={"sends slowly": bad} if bad else {},
        numbers=[_number(name, size, draw.gauss(1, 0.01)) for name, size in _NUMBERS],
    )


def _number(name: str, size: int, factor: float) -> Number:
    value = 1e4 * factor
    return Number(
        name=name,
        message_bytes=size,
        unit="ns" if name == "pingpong" else "bytes_per_s",
        value=value,
        low=value * 0.99,
        high=value * 1.01,
        results=FEW,
    )


def _written(root: Path) -> tuple[float, float]:
    """Seconds, and MiB at most, of one call."""
    begun = time.monotonic()
    argv = [sys.executable, "-m", "wireproof", "-q", "history", "pages", str(root), "--runs", "0"]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    _, _, used = os.wait4(process.pid, 0)
    return time.monotonic() - begun, used.ru_maxrss / 1024


def _in_browser(setting: Setting, page: Path) -> None:
    """Until the page has been drawn, by the browser's own clock; a fresh one each time."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        setting.skip(GROUP, "first view, in Chromium", "no chromium, or no playwright")
        return
    loaded = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=program, chromium_sandbox=False, args=["--disable-gpu"]
        )
        for _ in range(_VIEWS):
            view = browser.new_context().new_page()
            view.goto(page.as_uri())
            loaded.append(
                view.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") / 1e3
            )
            view.context.close()
        browser.close()
    shown = f"{len(loaded)} times, {min(loaded):.2f} to {max(loaded):.2f} s"
    title = "first view, in Chromium"
    setting.add(certain(GROUP, title, "s", median(loaded), FIRST_VIEW_S, note=shown))


def run(setting: Setting) -> None:
    """Adds the first writing, writing after one more result, the first view, and memory."""
    root = setting.scratch / "history"
    setting.say(f"pages: a history of {RESULTS} results and {NODES} nodes")
    made_history(root)
    first, peak = _written(root)
    setting.add(certain(GROUP, "all pages, the first time", "s", first, None))
    newest = msgspec.structs.replace(_entry(1, ["n00001", "n00002"], random.Random(1)), id="x")
    store.add_entry(root, newest)
    again, _ = _written(root)
    setting.add(certain(GROUP, "after one more result", "s", again, AGAIN_S))
    setting.add(certain(GROUP, "resident at most", "MiB", peak, RESIDENT_MB))
    _in_browser(setting, root / "pages" / "index.html")
