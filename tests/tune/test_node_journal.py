"""A damaged journal: every value comes back, or `revert` says so and does not end with 0."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tune.conftest import Build
from tests.tune.node import BOOT, change, end_timers, request, snapshot, statement
from tests.tune.test_node_tune import FILES, KEEP, NUMA, RMEM

pytestmark = pytest.mark.engine

LINES = (
    change(f"/{NUMA}", 0),
    change(f"/{RMEM}", "4096 87380 16777216", id="tcp-rmem"),
    statement("keep", path=f"/{KEEP}", text="kernel.numa_balancing = 0\n"),
)
IDS = {NUMA: "numa_balancing", RMEM: "tcp-rmem"}
NEW = {NUMA: "0\n", RMEM: "4096 87380 16777216"}


def _flip(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]


def _without_a_line(data: bytes, dice: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    full = [at for at, line in enumerate(lines[:-1]) if line.strip()]
    del lines[dice.choice(full)]
    return b"".join(lines)


def _zeros(data: bytes, dice: random.Random) -> bytes:
    at, size = dice.randrange(len(data)), dice.choice([1, 8, 512])
    return data[:at] + b"\0" * len(data[at : at + size]) + data[at + size :]


def _tail_cut(data: bytes, dice: random.Random) -> bytes:
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10 and at > data.index(b"ready")]
    return data[: dice.choice(ends)]


def _head_cut(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(data.index(b"ready"))]


def _again(data: bytes, dice: random.Random) -> bytes:
    """A line is there twice."""
    lines = data.splitlines(keepends=True)
    lines.insert(dice.randrange(len(lines)), dice.choice(lines))
    return b"".join(lines)


def _exchanged(data: bytes, dice: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    one, other = dice.sample([at for at, line in enumerate(lines) if line.strip()], 2)
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


DAMAGES = (_flip, _without_a_line, _zeros, _head_cut, _tail_cut, _again, _exchanged)


@pytest.mark.parametrize("verbs", ["apply", "apply confirm"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_journal_is_never_called_reverted(
    machine: Build,
    damage: Callable[[bytes, random.Random], bytes],
    verbs: str,
    slow_turn: int | None,
) -> None:
    """A damaged journal is reverted as far as it is intact, and never ends with status 0. Each turn
    has 20 damages that no other turn has.
    """
    count, seed = (60, 7) if slow_turn is None else (20, 100 + slow_turn)
    host = machine(FILES)
    for verb in verbs.split():
        done = host.run(verb, text=request(*LINES, timeout_s=600))
        assert done.status == 0, done.errors
    end_timers(host.root)
    journal = Path(host.state) / "one" / "journal"
    whole = journal.read_bytes()
    dice = random.Random(seed)
    new = {name: text for name, text in snapshot(host.root).items() if FILES.get(name) != text}
    new.pop(BOOT)
    said = 0
    for _ in range(count):
        hurt = damage(whole, dice)
        if hurt == whole:
            continue
        for name, text in new.items():
            (host.root / name).write_text(text)
        journal.write_bytes(hurt)
        found = host.run("revert")
        left = snapshot(host.root)
        stand = [name for name in new if left.get(name) != FILES.get(name)]
        assert found.status != 0 or not stand, hurt
        named = {one for one, state in found.states().items() if state in ("left", "refused")}
        damaged = "the journal is damaged" in found.set.get("reason", "")
        standing = {IDS.get(name, f"/{name}") for name in stand}
        assert damaged or standing <= named, (hurt, found.frames)
        said += damaged
    assert said or damage is _tail_cut


def test_a_whole_journal_reverts_and_ends_with_0(machine: Build) -> None:
    host = machine(FILES)
    host.run("apply", text=request(*LINES, timeout_s=600))
    found = host.run("revert")
    assert (found.status, found.set["state"]) == (0, "reverted")
    assert all(host.text(name) == FILES[name] for name in NEW)


def _endless(journal: Path) -> None:
    with journal.open("wb") as file:
        file.truncate((256 << 20) + 1)


@pytest.mark.parametrize(
    "make",
    [os.mkfifo, Path.mkdir, lambda journal: journal.symlink_to("/etc/passwd"), _endless],
    ids=["pipe", "folder", "link", "endless"],
)
@pytest.mark.parametrize("verb", ["revert", "apply", "status"])
def test_a_journal_that_cannot_be_read_is_not_passed_over(
    machine: Build, make: Callable[[Path], object], verb: str
) -> None:
    """A bad sector is no set without changes."""
    host = machine(FILES)
    host.run("apply", text=request(*LINES, timeout_s=600))
    end_timers(host.root)
    journal = Path(host.state) / "one" / "journal"
    journal.unlink()
    make(journal)
    found = host.run(verb, text=request(*LINES, id="two"))
    assert found.status == 4
    assert "cannot be read" in found.errors


def test_the_journal_of_another_set_is_damaged(machine: Build) -> None:
    """A state folder that was restored by hand: the set that it names is not reverted by it."""
    host = machine(FILES)
    for id, line in (("one", change(f"/{NUMA}", 0)), ("two", change(f"/{RMEM}", "1 2 3", id="r"))):
        assert host.run("apply", text=request(line, id=id, timeout_s=600)).status == 0
        assert host.run("confirm").status == 0
    state = Path(host.state)
    (state / "one" / "journal").write_bytes((state / "two" / "journal").read_bytes())
    assert host.run("revert", "--id", "two").status == 0
    found = host.run("revert", "--id", "one")
    assert host.text(NUMA) != FILES[NUMA]
    assert found.status == 1
    assert "the journal is damaged" in found.set["reason"]


def test_a_line_that_was_cut_short_is_no_damage(machine: Build) -> None:
    """Power that fails while a line is appended: the next process goes on behind it."""
    host = machine(FILES)
    host.run("apply", text=request(*LINES, timeout_s=600))
    end_timers(host.root)
    journal = Path(host.state) / "one" / "journal"
    with journal.open("ab") as file:
        file.write(b"\nundo target=%2Fproc")
    found = host.run("revert")
    assert (found.status, found.set["state"]) == (0, "reverted")
    assert found.set.get("reason", "") == ""


def test_what_a_damaged_journal_does_not_show_is_not_confirmed(machine: Build) -> None:
    host = machine(FILES)
    host.run("apply", text=request(*LINES, timeout_s=600))
    end_timers(host.root)
    journal = Path(host.state) / "one" / "journal"
    lines = [line for line in journal.read_bytes().splitlines(keepends=True) if line.strip()]
    journal.write_bytes(b"".join(line for line in lines if not line.startswith(b"intent")))
    confirmed = host.run("confirm")
    assert confirmed.status != 0
    assert "is damaged: revert it" in confirmed.errors
    assert not (host.root / KEEP).exists()
    forced = host.run("revert", "--force")
    assert (forced.status, forced.set["state"]) == (1, "reverted")
    assert all(host.text(name) == FILES[name] for name in NEW)
    assert host.run("revert").status == 0  # nothing is left to be reverted


def _sealed(statement: str) -> str:
    """FNV-1a of 64 bits, as the journal has it."""
    found = 14695981039346656037
    for byte in statement.encode():
        found = (found ^ byte) * 1099511628211 % (1 << 64)
    return f"{statement} sum={found:016x}\n"


@pytest.mark.parametrize(
    "place",
    ["proc/sys/kernel/unprivileged_bpf_disabled", "proc/sys/net/ipv4/ip_forward",
     "sys/class/net/eth0/device/power/control", "sys/devices/pci0/enable"],
)  # fmt: skip
def test_what_an_earlier_version_has_written_is_reverted(machine: Build, place: str) -> None:
    """A file that is refused today still gets its old value: the journal was called damaged."""
    host = machine({**FILES, place: FILES[NUMA]})
    host.run("apply", text=request(LINES[0], timeout_s=600))
    end_timers(host.root)
    journal = Path(host.state) / "one" / "journal"
    lines = journal.read_text().splitlines()
    assert _sealed(lines[0].partition(" sum=")[0]) == f"{lines[0]}\n"
    other = [line.replace(NUMA, place).replace(NUMA.replace("/", "%2F"), place.replace("/", "%2F"))
             for line in lines]  # fmt: skip
    journal.write_text("".join(_sealed(line.partition(" sum=")[0]) for line in other if line))
    host.write(place, "0\n")
    refused = host.run("apply", text=request(change(f"/{place}", 0), id="two"))
    assert refused.status == 2
    found = host.run("revert")
    assert (found.status, found.set["state"]) == (0, "reverted"), found.frames
    assert host.text(place) == FILES[NUMA]
