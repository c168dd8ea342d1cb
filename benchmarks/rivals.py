"""The other benchmarks: the arguments that they are called with and the text that they print. Pure.

Sizes are repeated in one call ("8 8 8 ..."): IMB then prints one row for each, which gives as many
short samples from one launch as we like. Printed microseconds have two decimals, far too coarse at
0.15 us; the rate beside them has more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "P2P_DEFAULT",
    "ImbRow",
    "imb_mpi1_argv",
    "imb_p2p_argv",
    "osu_argv",
    "p2p_default_seconds",
    "p2p_repetitions",
    "parse_imb",
    "parse_osu",
    "parse_plain",
    "plain_argv",
]

MIB = 1 << 20
P2P_DEFAULT = (100_000, 800)
"""IMB-P2P's default of ``-iter MAX,NUMERATOR``: repetitions = NUMERATOR MiB / size, at most MAX."""
ENOUGH_US = 100.0
"""From here on two decimals are digits enough, and 28 messages a second are not."""
P2P_PAUSE_S = 0.2
"""It sleeps 0.1 s twice for each size."""


@dataclass(frozen=True)
class ImbRow:
    """One row of an IMB table; ``columns`` by the names in its head."""

    bytes: int
    repetitions: int
    columns: dict[str, float]

    @property
    def half_round_trip_ns(self) -> float:
        """From the column with the most digits: the time has two decimals, the rates no fraction or
        two.

        P2P counts messages both ways, MPI1 bytes of one.
        """
        time = self.columns.get("t[usec]", 0.0)
        if time >= ENOUGH_US:
            return time * 1e3
        rate = self.columns.get("Msg/sec", 0.0)
        if rate > 0:
            return 1e9 / rate
        megabytes = self.columns.get("Mbytes/sec", 0.0)
        if megabytes > 0 and self.bytes > 0:
            return self.bytes * 1e3 / megabytes
        return time * 1e3


def imb_mpi1_argv(
    program: Path, benchmark: str, sizes: Path, iterations: int, window: int | None = None
) -> tuple[str, ...]:
    """IMB-MPI1: ``iterations`` for each row, its own warm-up and barriers as always, no shortening
    by time.
    """
    argv = [
        str(program),
        benchmark,
        "-msglen",
        str(sizes),
        "-iter",
        str(iterations),
        "-iter_policy",
        "off",
    ]
    return (*argv, "-window_size", str(window)) if window else tuple(argv)


def imb_p2p_argv(
    program: Path, sizes: Path | None, most: int, numerator: int, pause_us: int | None
) -> tuple[str, ...]:
    """IMB-P2P PingPong. ``sizes`` None: its own 0 B to 4 MiB; ``pause_us`` None: its own 0.1 s
    twice a size.
    """
    argv = [str(program), "PingPong", "-iter", f"{most},{numerator}"]
    argv += ["-msglen", str(sizes)] if sizes else []
    argv += ["-pause", str(pause_us)] if pause_us is not None else []
    return tuple(argv)


def p2p_repetitions(size: int, most: int, numerator: int) -> int:
    """What ``-iter most,numerator`` means for one size."""
    return max(1, min(most, numerator * MIB // max(1, size)))


def p2p_default_seconds(half_round_trip_ns: dict[int, float]) -> float:
    """Time that IMB-P2P PingPong takes by default for these sizes: its own repetitions, a tenth
    more, its pauses.
    """
    loops = sum(
        2e-9 * time * 1.1 * p2p_repetitions(size, *P2P_DEFAULT)
        for size, time in half_round_trip_ns.items()
    )
    return loops + P2P_PAUSE_S * len(half_round_trip_ns)


def parse_imb(text: str) -> list[ImbRow]:
    """Rows below the line that begins with ``#bytes``; anything else (time-outs too) ends or is
    skipped.
    """
    names: list[str] = []
    rows: list[ImbRow] = []
    for line in text.splitlines():
        words = line.split()
        if words[:2] == ["#bytes", "#repetitions"]:
            names = words[2:]
        elif names and len(words) == len(names) + 2:
            try:
                numbers = [float(word) for word in words]
            except ValueError:
                continue
            rows.append(
                ImbRow(int(numbers[0]), int(numbers[1]), dict(zip(names, numbers[2:], strict=True)))
            )
    return rows


def osu_argv(program: Path, size: int, iterations: int, warm_up: int) -> tuple[str, ...]:
    """osu_latency, osu_bw at one size."""
    return (str(program), "-m", f"{size}:{size}", "-i", str(iterations), "-x", str(warm_up))


def parse_osu(text: str) -> dict[int, float]:
    """Size -> printed value (us or 10^6 B/s) of the rows of an OSU table."""
    found: dict[int, float] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 2 and words[0].isdigit():
            try:
                found[int(words[0])] = float(words[1])
            except ValueError:
                continue
    return found


def plain_argv(program: Path, size: int, iterations: int, rows: int) -> tuple[str, ...]:
    """Our plain_loop.c: the least that a person would write."""
    return (str(program), str(size), str(iterations), str(rows))


def parse_plain(text: str) -> tuple[list[float], int]:
    """(half round trips in ns of each row, peak memory of the larger rank in bytes) of plain_loop's
    output.
    """
    rows: list[float] = []
    peak = 0
    for line in text.splitlines():
        match line.split():
            case ["half_round_trip_ns", value]:
                rows.append(float(value))
            case ["peak_rss_bytes", value]:
                peak = int(value)
    return rows, peak


def repeated(sizes: Sequence[int], times: int) -> str:
    """Contents of a ``-msglen`` file: each size ``times`` times, in turn."""
    return "".join(f"{size}\n" for _ in range(times) for size in sizes)
