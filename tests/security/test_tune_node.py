"""What changing settings on a host may touch, and what it leaves to be read."""

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.tune.hostile import Hostile
from tests.tune.node import BOOT, Machine, change, end_timers, request, snapshot, statement, timers
from tests.tune.node import wait_until as wait

pytestmark = pytest.mark.engine

A = "proc/sys/vm/swappiness"
GOOD = change(f"/{A}", 10)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path / "machine", {A: "60\n", BOOT: "0d1e\n", "etc/hosts": "n1\n"})
    yield made
    end_timers(made.root)


def test_only_settings_are_touched(host: Machine) -> None:
    """`tune` writes below `/proc/sys` and `/sys`, runs `ethtool`, `ip` and `tc`, and creates
    drop-in files with `wireproof` in their names; any other target is refused before anything is
    changed, even if a link leads to it.
    """
    (host.root / "sys").mkdir()
    (host.root / "sys/link").symlink_to("../etc/hosts")
    before = snapshot(host.root)
    for line in (
        change("/etc/hosts", "x"),
        change("/sys/link", "x"),
        change("/proc/sys/../../etc/hosts", "x"),
        change("/proc/sys/kernel/core_pattern", "|/bin/x"),
        statement("keep", path="/etc/sysctl.d/99-site.conf", text="x\n"),
        statement("keep", path="/etc/cron.d/wireproof", text="x\n"),
        statement(
            "change", id="c", kind="command", key="x", value="1", read=("sh",), write=("{value}",)
        ),
    ):
        answer = host.run("apply", text=request(GOOD, line))
        assert (answer.status, answer.frames) == (2, []), line
    assert snapshot(host.root) == before


def test_the_journal_is_for_its_owner(host: Machine) -> None:
    """Old values are stored where only their owner can read them, and a state folder that another
    user can read or change is refused.
    """
    before = os.umask(0)
    try:
        assert host.run("apply", text=request(GOOD)).status == 0
    finally:
        os.umask(before)
    assert all(
        stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
        for path in [host.state, *host.state.rglob("*")]
    )
    for mode in (0o750, 0o701, 0o777):
        host.state.chmod(mode)
        answer = host.run("revert")
        assert (answer.status, answer.frames) == (4, [])
    host.state.chmod(0o700)
    assert host.run("revert").status == 0


@pytest.mark.fuse
@pytest.mark.root
def test_the_journal_comes_first(tmp_path: Path) -> None:
    """No setting is written before every old value is in the journal on the disk."""
    second = "proc/sys/vm/second"
    host = Hostile(
        tmp_path / "hostile", {A: {"text": "60\n", "on": ["hang"]}, second: {"text": "7\n"}}, {}
    )
    try:
        text = request(GOOD, change(f"/{second}", 8))
        with subprocess.Popen(
            host.argv("apply"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        ) as program:
            program.stdin.write(text.encode())
            program.stdin.close()
            journal = host.state / "one/journal"
            wait(lambda: journal.exists() and "intent" in journal.read_text(encoding="utf-8"))
            written = journal.read_text(encoding="utf-8")
            assert (host.text(A), host.text(second)) == ("60\n", "7\n")
            host.order(release=True)
        assert f"old target=/{A} text=60%0A" in written
        assert f"old target=/{second} text=7%0A" in written
    finally:
        host.close()


def test_nobody_has_to_be_there_for_the_revert(host: Machine) -> None:
    """A process on the host, which needs neither the caller nor the connection, reverts every
    change that is not confirmed.
    """
    caller = subprocess.Popen(
        host.argv("apply"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    said, _ = caller.communicate(request(GOOD, timeout_s=1).encode())
    assert b'"armed"' in said
    (pid,) = timers(host.root)
    assert os.getsid(pid) != caller.pid
    wait(lambda: host.text(A) == "60\n")
