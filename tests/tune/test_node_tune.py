"""`wireproof-node tune` on trees of files: apply, confirm, revert, status."""

import shutil
import stat
from pathlib import Path

import pytest
from tests.tune.conftest import Build
from tests.tune.node import (
    BOOT,
    change,
    end_timers,
    request,
    snapshot,
    statement,
    timers,
    wait_until,
)

pytestmark = pytest.mark.engine

NUMA = "proc/sys/kernel/numa_balancing"
HUGE = "sys/kernel/mm/transparent_hugepage/enabled"
RMEM = "proc/sys/net/ipv4/tcp_rmem"
KEEP = "etc/sysctl.d/90-wireproof.conf"
FILES = {
    NUMA: "1\n",
    HUGE: "always [madvise] never\n",
    RMEM: "4096\t131072\t6291456\n",
    "etc/sysctl.d/10-site.conf": "kernel.sysrq = 0\n",
}
LINES = (
    change(f"/{NUMA}", 0),
    change(f"/{RMEM}", "4096 131072 6291456", id="tcp-rmem"),
    statement("keep", path=f"/{KEEP}", text="kernel.numa_balancing = 0\n"),
)


def test_a_set_goes_its_whole_course(machine: Build) -> None:
    host = machine(FILES)
    before = snapshot(host.root)
    applied = host.run("apply", text=request(*LINES, timeout_s=600))
    assert applied.status == 0, applied.errors
    assert applied.states() == {"numa_balancing": "applied", "tcp-rmem": "already"}
    assert (applied.set["state"], applied.set["timer"]) == ("armed", "alive")
    assert host.text(NUMA) == "0\n"
    assert not (host.root / KEEP).exists(), "drop-ins wait for confirm"
    seen = host.run("status")
    assert seen.set == applied.set | {"deadline_s": seen.set["deadline_s"]}
    assert seen.states() == {
        "numa_balancing": "applied",
        "tcp-rmem": "already",
        f"/{KEEP}": "removed",
    }
    confirmed = host.run("confirm")
    assert confirmed.status == 0, confirmed.errors
    assert host.text(KEEP) == "kernel.numa_balancing = 0\n"
    assert (confirmed.set["state"], confirmed.set["timer"]) == ("confirmed", "none")
    wait_until(lambda: not timers(host.root))
    reverted = host.run("revert")
    assert reverted.status == 0, reverted.errors
    assert reverted.states() == {"numa_balancing": "reverted", f"/{KEEP}": "removed"}
    assert snapshot(host.root) == before


def test_the_state_is_for_its_owner_alone(machine: Build) -> None:
    host = machine(FILES)
    host.run("apply", text=request(*LINES))
    modes = {
        path: stat.S_IMODE(path.stat().st_mode) for path in [host.state, *host.state.rglob("*")]
    }
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def test_the_timer_reverts_what_is_not_confirmed(machine: Build) -> None:
    host = machine(FILES)
    before = snapshot(host.root)
    assert host.run("apply", text=request(*LINES, timeout_s=1)).status == 0
    wait_until(lambda: host.run("status").set["state"] == "reverted")
    assert snapshot(host.root) == before
    wait_until(lambda: not timers(host.root))
    late = host.run("confirm")
    assert late.status == 1
    assert "no set waits to be confirmed" in late.errors


def test_a_set_whose_timer_is_gone_is_reverted_by_the_next_call(machine: Build) -> None:
    host = machine(FILES)
    assert host.run("apply", text=request(*LINES, timeout_s=1)).status == 0
    end_timers(host.root)
    wait_until(lambda: host.run("status").set["deadline_s"] == 0)
    assert host.run("status").set["timer"] == "gone"
    assert host.text(NUMA) == "0\n", "status only looks"
    after = host.run("apply", text=request(*LINES, id="two"))
    assert [frame["state"] for frame in after.frames if frame["id"] == "one"] == ["reverted"]
    assert after.set["id"] == "two"
    assert host.run("status", "--id", "one").set["state"] == "reverted"


def test_after_a_reboot_what_is_back_needs_no_write(machine: Build) -> None:
    host = machine(FILES)
    assert host.run("apply", text=request(*LINES)).status == 0
    end_timers(host.root)
    host.write(BOOT, "f00d\n")
    host.write(NUMA, "1\n")
    assert host.run("status").set["boot"] == "other"
    reverted = host.run("revert")
    assert reverted.status == 0, reverted.errors
    assert reverted.states() == {"numa_balancing": "already"}


def test_what_somebody_else_changed_is_left_unless_forced(machine: Build) -> None:
    host = machine(FILES)
    host.run("apply", text=request(*LINES))
    host.run("confirm")
    host.write(NUMA, "7\n")
    host.write(KEEP, "of the site\n")
    reverted = host.run("revert")
    assert (reverted.status, reverted.set["state"]) == (1, "partly")
    assert reverted.states() == {"numa_balancing": "left", f"/{KEEP}": "left"}
    assert "someone else" in reverted.last("numa_balancing")["reason"]
    assert (host.text(NUMA), host.text(KEEP)) == ("7\n", "of the site\n")
    forced = host.run("revert", "--force")
    assert (forced.status, forced.set["state"]) == (0, "reverted")
    assert host.text(NUMA) == "1\n"
    assert not (host.root / KEEP).exists()


def test_an_older_drop_in_comes_back_with_its_mode(machine: Build) -> None:
    host = machine(FILES | {KEEP: "kernel.numa_balancing = 1\n"})
    (host.root / KEEP).chmod(0o600)
    host.run("apply", text=request(*LINES))
    assert host.run("confirm").status == 0
    assert stat.S_IMODE((host.root / KEEP).stat().st_mode) == 0o644
    assert host.run("revert").states()[f"/{KEEP}"] == "reverted"
    assert host.text(KEEP) == "kernel.numa_balancing = 1\n"
    assert stat.S_IMODE((host.root / KEEP).stat().st_mode) == 0o600


def test_a_folder_of_drop_ins_that_was_not_there_goes_again(machine: Build) -> None:
    host = machine({NUMA: "1\n", "etc/hostname": "n1\n"})
    host.run("apply", text=request(*LINES[::2]))
    assert host.run("confirm").status == 0
    assert host.text(KEEP)
    assert host.run("revert").status == 0
    assert not (host.root / "etc/sysctl.d").exists()


def test_one_set_after_the_other(machine: Build) -> None:
    host = machine(FILES)
    assert host.run("apply", text=request(*LINES)).status == 0
    other = host.run("apply", text=request(*LINES, id="two"))
    assert (other.status, other.frames) == (4, [])
    assert "the set one of tester is armed: confirm or revert it first" in other.errors
    again = host.run("apply", text=request(*LINES))
    assert again.status == 2
    assert "take another id" in again.errors
    host.run("confirm")
    second = host.run("apply", text=request(change(f"/{NUMA}", 2), id="two"))
    assert second.status == 0, second.errors
    assert [host.run("revert").set["id"] for _ in range(2)] == ["two", "one"]
    assert host.text(NUMA) == "1\n"
    nothing = host.run("revert")
    assert (nothing.status, nothing.frames) == (0, [])
    assert "no set is to be reverted" in nothing.errors


def test_a_value_that_cannot_be_read_stops_all(machine: Build, tmp_path: Path) -> None:
    host = machine(FILES | {"sys/long": "x" * 70000, "sys/odd": "a\x00b\n"})
    (host.root / "sys/folder").mkdir()
    before = snapshot(host.root)
    for name, state in (
        ("long", "unreadable"),
        ("odd", "unreadable"),
        ("folder", "unreadable"),
        ("none", "gone"),
    ):
        answer = host.run("apply", text=request(LINES[0], change(f"/sys/{name}", 1), id=name))
        assert (answer.status, answer.states()) == (1, {name: state})
        assert answer.set["state"] == "reverted"
        assert snapshot(host.root) == before
        assert not (host.state / name).exists()


def test_old_sets_are_forgotten(machine: Build) -> None:
    host = machine(FILES)
    assert host.run("apply", text=request(change(f"/{NUMA}", 0))).status == 0
    assert host.run("revert").status == 0
    for number in range(100, 205):
        shutil.copytree(host.state / "one", host.state / f"old{number}")
    shutil.rmtree(host.state / "one")
    assert host.run("apply", text=request(change(f"/{NUMA}", 0))).status == 0
    kept = {path.name for path in host.state.iterdir() if path.is_dir()}
    assert kept == {"one", *(f"old{number}" for number in range(105, 205))}


def test_a_drop_in_that_cannot_be_written_leaves_the_set_armed(machine: Build) -> None:
    host = machine(FILES)
    second = statement("keep", path="/etc/modprobe.d/wireproof.conf", text="options x y=1\n")
    assert host.run("apply", text=request(*LINES, second)).status == 0
    host.write("etc/modprobe.d", "no folder\n")
    before = snapshot(host.root)
    answer = host.run("confirm")
    assert (answer.status, answer.set["state"], answer.set["timer"]) == (1, "armed", "alive")
    assert answer.states() == {f"/{KEEP}": "removed", "/etc/modprobe.d/wireproof.conf": "refused"}
    assert "Not a directory" in answer.last("/etc/modprobe.d/wireproof.conf")["reason"]
    assert snapshot(host.root) == before
    (host.root / "etc/modprobe.d").unlink()
    assert host.run("confirm").set["state"] == "confirmed"
    assert host.run("revert").status == 0
    assert not (host.root / "etc/modprobe.d").exists()


def test_a_coupled_file_that_this_kernel_has_not(machine: Build) -> None:
    host = machine(FILES | {"sys/locked": "\x01"})
    with_none = change(f"/{NUMA}", 0, coupled=("/sys/none",))
    assert host.run("apply", text=request(with_none)).states() == {"numa_balancing": "applied"}
    assert host.run("revert").states() == {"numa_balancing": "reverted"}
    unreadable = change(f"/{NUMA}", 0, coupled=("/sys/locked",))
    answer = host.run("apply", text=request(unreadable, id="two"))
    assert (answer.status, answer.states()) == (1, {"numa_balancing": "unreadable"})
    assert answer.last("numa_balancing")["reason"].startswith("/sys/locked: no text")
