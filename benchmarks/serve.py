"""`wireproof serve` over 10,000 results of 10,000 nodes: the first view, and what it costs.

The history is made up as a busy cluster's would be: every hundredth result is of all nodes, the
others are of 16 neighbours each. The page is asked for as a user does, from the command that
prints the address to what a browser has drawn; reading results goes on in processes of their own,
whose memory is shown beside the server's.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
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

GROUP = "serve"
RESULTS, NODES, FEW, WHOLE_EVERY = 10_000, 10_000, 16, 100
FIRST_VIEW_S, RESIDENT_MB = 1.0, 150.0
_VIEWS = 5
_SETTINGS = {f"setting example.{at}": f"value of setting {at}" for at in range(150)}
_NUMBERS = [
    (name, size) for name in ("pingpong", "stream", "exchange") for size in (8, 1 << 16, 1 << 20)
]


def made_history(root: Path, results: int = RESULTS, nodes: int = NODES) -> None:
    """A history whose index alone is there: the page needs no more until a run is opened."""
    draw = random.Random(1)
    names = [f"n{at:05}" for at in range(1, nodes + 1)]
    (root / store.INDEX).mkdir(parents=True)
    store._write_parquet(root, [_entry(at, names, draw) for at in range(results)])


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


class _Watch(threading.Thread):
    """The most memory that a process of the server's has had, in MB."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.process, self.over, self.most = process, threading.Event(), 0.0

    def run(self) -> None:
        while not self.over.wait(0.02):
            for path in Path(f"/proc/{self.process}/task").glob("*/children"):
                with contextlib.suppress(OSError):
                    for child in path.read_text().split():
                        self.most = max(self.most, _megabytes(int(child), "VmHWM"))


def _megabytes(process: int, name: str) -> float:
    try:
        text = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    line = next((line for line in text.splitlines() if line.startswith(f"{name}:")), "x 0")
    return int(line.split()[1]) / 1024


@contextlib.contextmanager
def _served(root: Path) -> Iterator[tuple[str, float, subprocess.Popen[str], _Watch]]:
    begun = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "wireproof", "-q", "serve", str(root)],
        stdout=subprocess.PIPE,
        text=True,
    )
    watch = _Watch(process.pid)
    watch.start()
    try:
        address = process.stdout.readline().strip() if process.stdout else ""
        yield address, time.monotonic() - begun, process, watch
    finally:
        watch.over.set()
        process.terminate()
        process.communicate(timeout=30)


def _asked(address: str) -> float:
    begun = time.monotonic()
    with urllib.request.urlopen(address, timeout=120) as answer:  # noqa: S310
        answer.read()
    return time.monotonic() - begun


def _until_shown(address: str, words: str) -> float:
    """When the first page has these words; after two minutes at the latest."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        with urllib.request.urlopen(address, timeout=120) as answer:  # noqa: S310
            if words in answer.read().decode():
                break
        time.sleep(0.2)
    return time.monotonic()


def _in_browser(setting: Setting, address: str) -> None:
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
            page = browser.new_context().new_page()
            page.goto(address)
            loaded.append(
                page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") / 1e3
            )
            page.context.close()
        browser.close()
    note = f"from address to load event; {_shown(loaded)}"
    title = "first view, in Chromium"
    setting.add(certain(GROUP, title, "s", median(loaded), FIRST_VIEW_S, note=note))


def _shown(seconds: list[float]) -> str:
    return f"{len(seconds)} times, {min(seconds):.2f} to {max(seconds):.2f} s"


def run(setting: Setting) -> None:
    """Adds the first view, start, reading again, and memory."""
    root = setting.scratch / "history"
    setting.say(f"serve: a history of {RESULTS} results and {NODES} nodes")
    made_history(root)
    with _served(root) as (address, start_s, process, watch):
        if not address:
            setting.skip(GROUP, "the whole part", "wireproof serve printed no address")
            return
        first = _asked(address)
        again = [_asked(address) for _ in range(_VIEWS)]
        note = f"by HTTP, the very first; then {_shown(again)}"
        setting.add(certain(GROUP, "first view", "s", first, FIRST_VIEW_S, note=note))
        _in_browser(setting, address)
        for name in ("nodes", "results", "trends", "nodes?nodes=n[00001-00512]&sort=worst"):
            _asked(address + name)
        newest = msgspec.structs.replace(_entry(1, ["n00001", "n00002"], random.Random(1)), id="x")
        store.add_entry(root, newest)
        begun = time.monotonic()
        note = "of the state of before, where the newer one is not yet read"
        after = _asked(address)
        setting.add(
            certain(GROUP, "view after one more result", "s", after, FIRST_VIEW_S, note=note)
        )
        read_again = _until_shown(address, f"All {RESULTS + 1:,} results") - begun
        setting.add(certain(GROUP, "until that result is shown", "s", read_again, None))
        setting.add(certain(GROUP, "start, until the address is there", "s", start_s, None))
        peak = _megabytes(process.pid, "VmHWM")
        setting.add(certain(GROUP, "resident at most", "MiB", peak, RESIDENT_MB, note="the server"))
        note = "a process that reads the history and ends"
        setting.add(certain(GROUP, "resident at most, apart", "MiB", watch.most, None, note=note))
