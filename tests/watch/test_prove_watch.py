"""The lines of a watch, as they come: whole, cut, late, from a login shell, and not from us at
all.
"""

from __future__ import annotations

import json
import os
import time

import pytest

from wireproof.instrument.watch import Follower, watch_argv
from wireproof.instrument.watch_command import Hearing, WatchedCommand
from wireproof.launch.engines import find_engine, find_program
from wireproof.ledger.catalogue import families

HELLO = b'{"frame":"watch","schema":1,"hostname":"n1","interval_ms":100,"nics":[{"name":"eth0"}]}\n'
MS = 1_000_000


def reading(t_ms: float, asked: int = 0, lost: list[str] | None = None, **counters: int) -> bytes:
    values = {f"net/eth0/{name}": value for name, value in counters.items()}
    frame = {"frame": "reading", "t_ns": int(t_ms * MS), "counters": values, "lost": lost or []}
    return json.dumps(frame | ({"asked": asked} if asked else {})).encode() + b"\n"


def test_marks_hold_every_value_though_readings_tell_changes_only() -> None:
    follower = Follower("n1")
    lines = (
        HELLO
        + reading(0, tx_bytes=10, rx_bytes=5)
        + reading(100, tx_bytes=20)
        + reading(130, 1)
        + reading(200)
    )
    for byte in lines + reading(230, 2, rx_bytes=6):
        follower.feed(bytes([byte]))
    seen = follower.watched()
    assert seen.error == ""
    assert seen.start.counters == {"net/eth0/tx_bytes": 10, "net/eth0/rx_bytes": 5}
    assert seen.before.counters == {"net/eth0/tx_bytes": 20, "net/eth0/rx_bytes": 5}
    assert seen.after.counters == {"net/eth0/tx_bytes": 20, "net/eth0/rx_bytes": 6}


def test_the_last_three_marks_count() -> None:
    follower = Follower("n1")
    follower.feed(
        HELLO
        + reading(0, tx_bytes=1)
        + b"".join(reading(n * 100, n, tx_bytes=n * 10) for n in (1, 2, 3))
    )
    seen = follower.watched()
    assert [one.t_ns for one in (seen.start, seen.before, seen.after) if one] == [
        100 * MS,
        200 * MS,
        300 * MS,
    ]


def test_the_peak_is_the_highest_rate_between_two_readings() -> None:
    follower = Follower("n1")
    follower.feed(
        HELLO + reading(0, tx_bytes=0) + reading(100, tx_bytes=1000) + reading(200, tx_bytes=51_000)
    )
    follower.feed(reading(300, tx_bytes=52_000))
    assert follower.peaks == {"net/eth0/tx_bytes": pytest.approx(500_000)}
    follower.forget_peaks()
    follower.feed(reading(400, tx_bytes=52_100))
    assert follower.peaks == {"net/eth0/tx_bytes": pytest.approx(1000)}


def test_two_readings_close_together_make_no_peak() -> None:
    follower = Follower("n1")
    follower.feed(
        HELLO
        + reading(0, tx_bytes=0)
        + reading(100, tx_bytes=100)
        + reading(100.1, 1, tx_bytes=10_100)
    )
    assert max(follower.peaks.values()) == pytest.approx(1000)
    follower.feed(reading(200, tx_bytes=10_200))
    assert max(follower.peaks.values()) == pytest.approx(101_000)


def test_a_counter_that_its_driver_refreshes_once_a_second() -> None:
    follower = Follower("n1")
    follower.feed(HELLO)
    for tenth in range(51):
        follower.feed(reading(100 * tenth, tx_bytes=10_000 * (tenth // 10)))
    assert follower.peaks == {"net/eth0/tx_bytes": pytest.approx(10_000)}


def test_a_counter_that_goes_back_makes_no_peak() -> None:
    follower = Follower("n1")
    follower.feed(HELLO + reading(0, tx_bytes=2**40) + reading(100, tx_bytes=5))
    assert follower.peaks == {}


def test_a_counter_that_something_reset_is_named_and_an_end_of_32_bits_is_none() -> None:
    follower = Follower("n1")
    follower.feed(HELLO + reading(0, tx_bytes=900, rx_bytes=2**32 - 5) + reading(50, 1))
    assert follower.watched().fell == []
    follower.feed(reading(100, tx_bytes=400, rx_bytes=8) + reading(200, 2, tx_bytes=5000))
    follower.feed(reading(300, 3, rx_bytes=1000) + reading(400, rx_bytes=980))
    assert follower.watched().fell == ["net/eth0/tx_bytes"]
    follower.forget_peaks()
    assert follower.watched().fell == []


def test_a_lost_counter_is_not_in_the_next_mark() -> None:
    follower = Follower("n1")
    follower.feed(HELLO + reading(0, tx_bytes=1) + reading(50, 1, lost=["net/eth0/tx_bytes"]))
    assert follower.marks[1].counters == {}


def test_many_marks_do_not_fill_the_memory() -> None:
    follower = Follower("n1")
    follower.feed(HELLO)
    for asked in range(50):
        follower.feed(reading(100 * asked, asked, tx_bytes=asked))
    assert follower.readings == 50
    assert [mark.counters["net/eth0/tx_bytes"] for mark in follower.marks] == [46, 47, 48, 49]


def test_what_a_login_shell_says_first_is_no_reading() -> None:
    follower = Follower("n1")
    follower.feed(b"Welcome to n1\n\xff\xfe\n" + HELLO + reading(0, tx_bytes=1))
    assert follower.error == ""
    assert len(follower.marks) == 1


@pytest.mark.parametrize(
    "bad",
    [
        b"{}\n",
        b'{"frame":"reading","t_ns":1,"counters":{"a":"x"}}\n',
        b'{"frame":"reading","t_ns":1,"counters":{}}\n',
        b"{" + b"[" * 100_000 + b"\n",
        HELLO + b"\x00\x01\x02\n",
        HELLO + HELLO[:40] + b"\n",
    ],
)
def test_what_is_no_watch_is_an_error_and_never_a_value(bad: bytes) -> None:
    follower = Follower("n1")
    follower.feed(bad)
    follower.feed(reading(0, tx_bytes=1) * 3)
    assert follower.watched().error


def test_a_line_without_an_end_is_given_up() -> None:
    follower = Follower("n1")
    follower.feed(HELLO)
    for _ in range(10):
        follower.feed(b"{" * (1 << 20))
    assert "without an end" in follower.error


def test_a_watch_that_was_cut_is_not_complete() -> None:
    follower = Follower("n1")
    follower.feed(HELLO + reading(0, tx_bytes=1) + reading(50, 1, tx_bytes=2))
    assert "incomplete" in follower.watched().error


def test_the_command_line() -> None:
    argv = watch_argv(find_engine("nompi"), 0.0256)
    assert argv[1:] == ["watch", "--interval-ms", "26"]
    assert watch_argv(find_engine("nompi"), 0.0001)[-1] == "1"


def test_each_counter_of_bytes_has_a_peak() -> None:
    """A driver's statistics (ethtool) are read before and after alone."""
    rows = [row for family in families() for row in family.rows]
    every = {name for row in rows for name in (*row.tx, *row.rx) if not name.startswith("ethtool/")}
    follower = Follower("n1")
    frames = [
        {
            "frame": "reading",
            "t_ns": 100 * tenth * MS,
            "counters": dict.fromkeys(every, 1000 * tenth),
            "lost": [],
        }
        for tenth in range(3)
    ]
    follower.feed(HELLO + b"".join(json.dumps(frame).encode() + b"\n" for frame in frames))
    assert follower.peaks == dict.fromkeys(every, pytest.approx(10_000))


@pytest.mark.engine
def test_the_duration_of_a_command_is_its_own() -> None:
    """Two in five commands were noticed a quarter of a second after their end, if the end of their
    output was read just before the process had ended.
    """
    hearing, node = Hearing(), find_program("wireproof-node")
    reading, writing = os.pipe()  # as the pipe of a reader of ports, which stays open
    hearing.add(reading, lambda _: True)
    seconds = []
    for _ in range(24):
        begun = time.monotonic()
        command = WatchedCommand(["true"], dict(os.environ), node, (None, None), hearing)
        assert hearing.listen(20.0, command.ended)
        seconds.append(time.monotonic() - begun)
        command.close()
    hearing.close()
    os.close(reading)
    os.close(writing)
    assert sum(each > 0.24 for each in seconds) <= 4
