"""PSM3's statistics, cut, decorated and made up: the counters that were written, or fewer, and
never a pass of what is not whole.
"""

import random
from pathlib import Path

import pytest

from wireproof.logs.psm3 import is_statistics
from wireproof.logs.psm3.counters import counted, unaccounted_bytes
from wireproof.logs.psm3.statistics import statistics
from wireproof.logs.psm3.verdict import judge_statistics
from wireproof.model.errors import BadInput
from wireproof.model.psm3 import Statistics

GOLDEN = Path(__file__).parents[1] / "golden" / "psm3"
SOUND = ("two-hosts", "two-rails", "rendezvous", "udp", "verbs-rdma2")
DASHES = "-" * 79


def files(folder: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((GOLDEN / folder).iterdir())]


def counters(one: Statistics) -> dict[tuple[str, str, str], int]:
    return {
        (section.heading, section.nic, name): value
        for section in one.sections
        for name, value in section.counters.items()
    }


@pytest.mark.parametrize("folder", SOUND)
def test_cut_anywhere(folder: str) -> None:
    """Whatever is missing, nothing is invented, and only what lacks no counter may pass."""
    data, other = files(folder)
    partner = statistics(other, "second")
    whole = counters(statistics(data, "first"))
    last = data.rindex(b"Time Delta")
    choice = random.Random(folder)
    for end in [*choice.sample(range(len(data)), 150), *range(last - 40, len(data))]:
        part = data[:end]
        if not is_statistics(part):
            continue
        try:
            one = statistics(part, "first")
        except BadInput:
            continue
        assert counters(one).items() <= whole.items()
        if end < last:
            assert judge_statistics([one, partner], wire=True).verdict != "pass", part[-60:]


@pytest.mark.parametrize("folder", SOUND)
@pytest.mark.parametrize("ending", [b"\r\n", b"\n\n"])
def test_line_ends_change_nothing(folder: str, ending: bytes) -> None:
    data = files(folder)[0]
    seen = statistics(data.replace(b"\n", ending), "x")
    assert counters(seen) == counters(statistics(data, "x"))


def made(choice: random.Random, *, settings: bool) -> tuple[str, dict[tuple[str, str, str], int]]:
    """A file of two to four blocks as psm_stats.c writes them, and the totals that it ends with."""
    names = [f"{word}_{number}" for word in ("tiny_cpu_send", "of_the_future") for number in "123"]
    groups = [("MPI_Statistics_Summary", ""), ("PSM_low-level_protocol_stats", "nic0")]
    groups.append(("PSM_low-level_protocol_stats", "nic1"))
    totals: dict[tuple[str, str, str], int] = {}
    head = ["cmdline: a b", "environ:", "SECRET=hunter2", DASHES] if settings else []
    head += ["PSM3_PRINT_STATS=5"] if settings else []
    lines = list(head)
    for block in range(choice.randint(2, 4)):
        lines += ["", f"Time Delta {5 * block} seconds Fri Nov 20 19:05:27 2026"]
        for heading, nic in groups:
            lines.append(f" {heading} id 0x1:2:0{' ' + nic if nic else ''} tid 7")
            for name in names:
                key = (heading, nic, name)
                step = choice.choice((0, 1, choice.randrange(1 << 40)))
                value = totals.get(key, 0) + step
                if value:
                    totals[key] = value
                    lines.append(f"    {name} {value} ({step})")
    return "\n".join(lines) + "\n", totals


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("settings", [False, True])
def test_what_is_written_is_read(seed: int, settings: bool) -> None:
    """Both layouts; a counter that nobody knows; several blocks."""
    text, totals = made(random.Random(seed), settings=settings)
    one = statistics(text.encode(), "psm3-perf-stat-n1-pid-7")
    assert counters(one) == totals
    assert (one.doubts, one.complete) == ([], True)


@pytest.mark.parametrize("seed", range(20))
def test_a_changed_number_is_doubted(seed: int) -> None:
    choice = random.Random(seed)
    text, _ = made(choice, settings=False)
    lines = text.split("\n")
    place = choice.choice([i for i, line in enumerate(lines) if line.startswith("    ")])
    name, value, step = lines[place].split()
    lines[place] = f"    {name} {int(value) + choice.randrange(1, 1 << 30)} {step}"
    one = statistics("\n".join(lines).encode(), "x")
    assert f"line {place + 1}: {name}" in one.doubts[0]
    assert judge_statistics([one], wire=True).verdict == "inconclusive"


@pytest.mark.parametrize("folder", sorted(path.name for path in GOLDEN.iterdir() if path.is_dir()))
def test_ways_to_send_add_up_in_every_real_file(folder: str) -> None:
    for data in files(folder):
        assert unaccounted_bytes(counted(statistics(data, "x"))) in (0, None)
