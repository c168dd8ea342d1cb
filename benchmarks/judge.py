"""``wireproof judge`` on many logs: 10,000 files of 10 kB, wall time and the memory of all its
processes; one file.

The logs are the golden ones, padded to their size with lines as they stand in job logs, no two
files alike.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

from benchmarks.paired import median_row
from benchmarks.row import certain
from benchmarks.setting import ROOT, Setting

__all__ = ["corpus", "memory_of", "run", "watched"]

GROUP = "judge"
FILES, BYTES_EACH = 10_000, 10_000
WALL_S, MEMORY_MB, ONE_FILE_S = 20.0, 300.0, 0.4
ONE_FILE_RUNS = 9
_TICK_S = 0.05
_TOO_LONG_S = 600.0
_TALK = (
    "slurmstepd: info: task {n} of job {job} on node{n:04d} uses cores {n}-{n}",
    "Loading module gcc/12.{n} (required by openmpi/4.1.{n})",
    "[node{n:04d}:{job}] mca_btl_tcp: connection to 10.{n}.0.7 accepted",
    "++ date +%s.%N -> 17{job}.{n}",
)


def _logs() -> list[bytes]:
    folder = ROOT / "tests" / "golden" / "logs"
    return [
        path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.suffix in (".out", ".txt", ".log")
    ]


def corpus(folder: Path, files: int, bytes_each: int) -> list[str]:
    """Names of ``files`` files of about ``bytes_each`` bytes in ``folder``: one golden log each,
    amid a job's talk.
    """
    logs, names = _logs(), list[str]()
    for index in range(files):
        log = logs[index % len(logs)][:bytes_each]
        lines, size = list[bytes](), len(log)
        while size < bytes_each:
            number = len(lines)
            lines.append(
                _TALK[number % len(_TALK)]
                .format(n=(index + number) % 251, job=100_000 + index)
                .encode()
                + b"\n"
            )
            size += len(lines[-1])
        half = len(lines) // 2
        path = folder / f"job{index:05d}.log"
        path.write_bytes(b"".join(lines[:half]) + log + b"\n" + b"".join(lines[half:]))
        names.append(str(path))
    return names


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def memory_of(pid: int) -> int:
    """Bytes held by a process and its descendants, shared pages counted once (PSS); 0 when it has
    gone.
    """
    total = 0
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total = int(line.split()[1]) * 1024
    except OSError:
        return 0
    return total + sum(memory_of(child) for child in _children(pid))


def watched(argv: list[str]) -> tuple[float, float, int]:
    """(wall s, peak MB, exit status) of one run."""
    begun = time.monotonic()
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        peak, over = 0, threading.Event()

        def watch() -> None:
            nonlocal peak
            while not over.wait(_TICK_S):
                peak = max(peak, memory_of(child.pid))

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            status = child.wait(timeout=_TOO_LONG_S)
        finally:
            child.kill()
            over.set()
        wall = time.monotonic() - begun
        watcher.join()
    return wall, peak / 1e6, status


def _argv(*words: str) -> list[str]:
    return [sys.executable, "-m", "wireproof", "judge", "--link", "10gbe", *words]


def run(setting: Setting) -> None:
    """Adds three rows: wall time and memory of the corpus, wall time of one file."""
    folder = setting.scratch / "logs"
    folder.mkdir()
    setting.say(f"judge: {FILES} files of {BYTES_EACH} bytes")
    names = corpus(folder, FILES, BYTES_EACH)
    wall, peak, status = watched(_argv("--json", str(folder)))
    if status not in (0, 1, 2, 3):
        setting.skip(GROUP, "10,000 logs", f"judge ended with status {status}")
    else:
        megabytes = sum(Path(name).stat().st_size for name in names) / 1e6
        note = f"{megabytes:.0f} MB; one run"
        setting.add(
            certain(
                GROUP, f"{FILES} logs of {BYTES_EACH / 1000:.0f} kB", "s", wall, WALL_S, note=note
            )
        )
        setting.add(
            certain(
                GROUP,
                f"{FILES} logs, all processes",
                "MB",
                peak,
                MEMORY_MB,
                note="sampled each 50 ms",
            )
        )
    alone = str(ROOT / "tests" / "golden" / "logs" / "osu74-bw-tcp1g.out")
    setting.add(
        median_row(
            GROUP,
            "one log",
            "s",
            [watched(_argv(alone))[0] for _ in range(ONE_FILE_RUNS)],
            ONE_FILE_S,
        )
    )
