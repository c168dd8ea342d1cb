"""`kill -9` between any two writes, the last one torn; then `revert`."""

import itertools
from collections.abc import Callable

import pytest
from tests.tune.hostile import Hostile
from tests.tune.node import Answer, change, end_timers, request, snapshot, statement

pytestmark = [pytest.mark.engine, pytest.mark.fuse, pytest.mark.root]

VM = "proc/sys/vm"
HUGE = "sys/kernel/mm/transparent_hugepage/enabled"
KNOBS = {
    "proc/sys/kernel/numa_balancing": {"text": "1\n"},
    f"{VM}/dirty_ratio": {"text": "20\n", "clears": [f"/{VM}/dirty_bytes"], "refuse": ["0"]},
    f"{VM}/dirty_bytes": {"text": "0\n", "clears": [f"/{VM}/dirty_ratio"], "refuse": ["0"]},
    HUGE: {"text": "always [madvise] never\n", "form": "bracket"},
    "sys/module/ib/parameters/mask": {"text": "0x1\n", "form": "hex"},
}
FILES = {"etc/hosts": "127.0.0.1 n1\n", "etc/sysctl.d/90-wireproof.conf": "kernel.x = 1\n"}
REQUEST = request(
    change("/proc/sys/kernel/numa_balancing", 0),
    change(f"/{VM}/dirty_bytes", 1000000, coupled=(f"/{VM}/dirty_ratio",)),
    change(f"/{HUGE}", "never", form="choice"),
    change("/sys/module/ib/parameters/mask", 16),
    statement("keep", path="/etc/sysctl.d/90-wireproof.conf", text="kernel.x = 0\n"),
    statement("keep", path="/etc/modprobe.d/wireproof.conf", text="options ib mask=16\n"),
)


TRIED = {
    name: request(change(f"/{VM}/dirty_bytes", value, coupled=(f"/{VM}/dirty_ratio",)), id=name)
    for name, value in (("low", 1000000), ("high", 64000000), ("kept", 64000000))
}
COURSES = {
    "apply": ([], ["apply"], [], 47),
    "confirm": (["apply"], ["confirm"], [], 25),
    "revert": (["apply", "confirm"], ["revert"], [], 30),
    "confirm, again": (["apply"], ["confirm"], ["confirm"], 25),
    "revert, not confirmed": (["apply"], ["revert"], [], 12),
    "try": ([], ["low", "revert", "high", "revert", "kept", "confirm"], [], 80),
}
"""What is done before, what is killed, what is tried after it, and at how many places at least."""


def test_200_places_are_killed() -> None:
    assert sum(places for *_, places in COURSES.values()) >= 200


@pytest.mark.parametrize("course", COURSES)
def test_killed_anywhere_then_reverted(
    course: str, hostile: Callable[..., Hostile], slow_turn: int | None
) -> None:
    """Each turn kills at every third place, the next turn at the places after them."""
    first, apart = (1, 1) if slow_turn is None else (1 + slow_turn % 3, 3)
    host = hostile(KNOBS, FILES)
    before = snapshot(host.root)
    earlier, calls, later, places = COURSES[course]

    def call(name: str) -> Answer:
        return host.run("apply" if name in TRIED else name, text=TRIED.get(name, REQUEST))

    for step in itertools.count(first, apart):
        host.order(reset=True)
        assert all(call(name).status == 0 for name in earlier)
        host.order(kill_at=step, tear=True)
        ends = list(itertools.takewhile(lambda one: one.status != -9, map(call, calls)))
        host.order(kill_at=-1)
        assert {(one.status, one.errors) for one in ends} <= {(0, "")}, (step, ends)
        if len(ends) == len(calls):
            break
        assert all(call(name).status in (0, 1) for name in later)  # 1: it was already
        after = host.run("revert")
        assert after.status == 0, (step, after)
        assert snapshot(host.root) == before, (step, after)
        assert not (host.root / "etc/modprobe.d").exists()
        end_timers(host.root)
    assert step > places, step
