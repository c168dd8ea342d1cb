"""A kernel that refuses, ignores, rewrites, clears, hangs, is read-only, or takes files away."""

import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from tests.tune.hostile import Hostile
from tests.tune.node import change, end_timers, request, snapshot, timers, wait_until

pytestmark = [pytest.mark.engine, pytest.mark.fuse, pytest.mark.root]

Build = Callable[..., Hostile]
FIRST = "proc/sys/net/core/busy_poll"
KNOB = "sys/class/net/eth0/knob"
PLAIN = {FIRST: {"text": "0\n"}}
LINE = change(f"/{FIRST}", 50)


@pytest.mark.parametrize(
    ("does", "state", "reason"),
    [
        ({"on": ["refuse"]}, "refused", "Invalid argument"),
        ({"on": ["ignore"]}, "ignored", "the old value stands there"),
        ({"form": "round"}, "ignored", "another value stands there"),
        ({"on": ["vanish"]}, "gone", "No such file"),
    ],
)
def test_one_that_does_not_hold_takes_all_back(
    does: dict[str, Any], state: str, reason: str, hostile: Build
) -> None:
    host = hostile(PLAIN | {KNOB: {"text": "4\n", **does}})
    before = snapshot(host.root)
    answer = host.run("apply", text=request(LINE, change(f"/{KNOB}", 9)))
    assert answer.status == 1
    assert answer.states() == {"busy_poll": "reverted", "knob": state}
    assert reason in answer.last("knob")["reason"]
    if state == "gone":
        assert answer.set["state"] == "partly"
        host.knob(KNOB)
        assert host.run("revert").set["state"] == "reverted"
    assert snapshot(host.root) == before
    assert host.run("status").set["state"] == "reverted"
    assert not timers(host.root)


@pytest.mark.parametrize(
    ("form", "old", "value", "seen"),
    [
        ("hex", "0x1\n", "16", "0x10"),
        ("tabs", "1\t2\n", "4096 87380 6291456", "4096\t87380\t6291456"),
        ("flag", "N\n", "1", "Y"),
        ("mask", "00000000,00000001\n", "ff", "00000000,000000ff"),
        ("bracket", "[always] madvise never\n", "never", "always madvise [never]"),
    ],
)
def test_another_form_of_the_value_is_kept_and_said(
    form: str, old: str, value: str, seen: str, hostile: Build
) -> None:
    host = hostile({KNOB: {"text": old, "form": form}})
    answer = host.run("apply", text=request(change(f"/{KNOB}", value)))
    assert (answer.status, answer.states()) == (0, {"knob": "rewritten"})
    assert answer.last("knob")["seen"] == seen
    again = host.run("revert")
    choice = form == "bracket"  # without form=choice the list of all words is written back
    assert again.status == (1 if choice else 0)
    assert (host.text(KNOB) == old) is not choice


def test_coupled_files_come_back_in_passes(hostile: Build) -> None:
    """Writing 0 to dirty_bytes is refused; writing dirty_ratio clears it."""
    ratio, size = "proc/sys/vm/dirty_ratio", "proc/sys/vm/dirty_bytes"
    host = hostile(
        {
            ratio: {"text": "20\n", "clears": [f"/{size}"], "refuse": ["0"]},
            size: {"text": "0\n", "clears": [f"/{ratio}"], "refuse": ["0"]},
        }
    )
    line = change(f"/{size}", 1000000, coupled=(f"/{ratio}",))
    assert host.run("apply", text=request(line)).status == 0
    assert host.text(ratio) == "0\n"
    reverted = host.run("revert")
    assert (reverted.status, reverted.states()) == (0, {"dirty_bytes": "reverted"})
    assert (host.text(ratio), host.text(size)) == ("20\n", "0\n")
    # Without knowing that they are coupled, the old value cannot be written back; it is said.
    assert host.run("apply", text=request(change(f"/{size}", 5000), id="two")).status == 0
    alone = host.run("revert")
    assert (alone.status, alone.states()) == (1, {"dirty_bytes": "refused"})
    assert "Invalid argument" in alone.last("dirty_bytes")["reason"]


def test_a_set_that_contradicts_itself_is_taken_back(hostile: Build) -> None:
    ratio, size = "proc/sys/vm/dirty_ratio", "proc/sys/vm/dirty_bytes"
    host = hostile(
        {
            ratio: {"text": "20\n", "clears": [f"/{size}"]},
            size: {"text": "0\n", "clears": [f"/{ratio}"]},
        }
    )
    before = snapshot(host.root)
    lines = (change(f"/{ratio}", 10), change(f"/{size}", 4096))
    answer = host.run("apply", text=request(*lines))
    assert answer.status == 1
    assert "another change of this set" in next(
        frame["reason"] for frame in answer.frames if frame.get("state") == "ignored"
    )
    assert snapshot(host.root) == before


@pytest.mark.parametrize(("what", "state"), [("hang", "refused"), ("hang-reading", "unreadable")])
def test_a_hang_in_the_kernel_costs_only_the_patience(
    what: str, state: str, hostile: Build
) -> None:
    host = hostile(PLAIN | {KNOB: {"text": "5\n", "on": [what]}})
    answer = host.run("apply", text=request(LINE, change(f"/{KNOB}", 9), patience_ms=200))
    assert (answer.status, answer.states()["knob"]) == (1, state)
    assert "no answer within 200 ms" in answer.last("knob")["reason"]
    assert host.text(FIRST) == "0\n"
    # A write that hangs may still come: nothing is called reverted before, nothing else begun.
    assert answer.set["state"] == ("partly" if what == "hang" else "reverted")
    if what == "hang":
        other = host.run("apply", text=request(LINE, id="two", patience_ms=50))
        assert (other.status, other.frames) == (4, [])
        assert "a write of an earlier tune hangs" in other.errors
    host.order(release=True)
    if what == "hang":
        wait_until(lambda: host.text(KNOB) == "9\n")
        other = host.run("apply", text=request(LINE, id="two"))
        assert (other.status, other.frames) == (4, [])
        assert "the set one is not back, and its timer will try again" in other.errors
    assert host.run("revert").status == 0
    assert host.text(KNOB) == "5\n"


def test_a_read_only_file_is_no_answer_about_the_setting(hostile: Build) -> None:
    host = hostile(PLAIN | {KNOB: {"text": "5\n", "on": ["read-only"]}})
    answer = host.run("apply", text=request(LINE, change(f"/{KNOB}", 9)))
    assert (answer.status, answer.frames) == (4, [])
    assert f"/{KNOB} cannot be written: Read-only file system" in answer.errors
    assert host.text(FIRST) == "0\n"
    assert not (host.state / "one").exists()


def test_a_refused_revert_is_tried_again_by_the_next(hostile: Build) -> None:
    host = hostile({KNOB: {"text": "5\n"}})
    assert host.run("apply", text=request(change(f"/{KNOB}", 9))).status == 0
    host.knob(KNOB, on=["refuse"])
    reverted = host.run("revert")
    assert (reverted.status, reverted.set["state"]) == (1, "partly")
    assert reverted.last("knob")["reason"] == "Invalid argument"
    host.knob(KNOB)
    assert host.run("revert").status == 0
    assert host.text(KNOB) == "5\n"


def test_two_at_once(hostile: Build) -> None:
    host = hostile(PLAIN | {KNOB: {"text": "5\n", "on": ["hang"]}})
    text = request(LINE, change(f"/{KNOB}", 9))
    with subprocess.Popen(
        host.argv("apply"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        first.stdin.write(text)
        first.stdin.close()
        wait_until(lambda: host.text(FIRST) == "50\n")
        for verb in ("apply", "confirm", "revert"):
            second = host.run(verb, text=request(LINE, id="two"))
            assert (second.status, second.frames) == (4, [])
            assert f"tune apply one (process {first.pid}) is at work" in second.errors
        assert host.run("status").set["state"] == "applying"
        host.order(release=True)
        assert first.wait(60) == 0
    end_timers(host.root)
    assert host.run("revert").status == 0


def test_a_killed_apply_whose_write_hangs(hostile: Build) -> None:
    """The write that is still in the kernel is waited for: it cannot come after the revert."""
    host = hostile(PLAIN | {KNOB: {"text": "5\n", "on": ["hang"]}})
    before = snapshot(host.root)
    with subprocess.Popen(
        host.argv("apply"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        first.stdin.write(request(LINE, change(f"/{KNOB}", 9)))
        first.stdin.close()
        journal = host.state / "one/journal"
        wait_until(lambda: journal.exists() and "intent id=knob" in journal.read_text())
        first.kill()
        assert first.stdout is not None
        first.wait(60)
    with subprocess.Popen(host.argv("revert"), stdout=subprocess.PIPE, text=True) as second:
        host.order(release=True)
        assert second.wait(60) == 0
    assert snapshot(host.root) == before
