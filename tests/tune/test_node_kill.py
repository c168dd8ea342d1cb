"""`kill -9` between any two writes, the last one torn; then `revert`."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from tests.tune.hostile import Hostile
from tests.tune.node import change, end_timers, request, snapshot, statement

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


@pytest.mark.parametrize("verb", ["apply", "confirm", "revert", "confirm again"])
def test_killed_anywhere_then_reverted(verb: str, hostile: Callable[..., Hostile]) -> None:
    host = hostile(KNOBS, FILES)
    before = snapshot(host.root)
    earlier = {"apply": [], "revert": ["apply", "confirm"]}.get(verb, ["apply"])
    verb, *later = verb.split()
    for step in itertools.count(1):
        host.order(reset=True)
        for one in earlier:
            assert host.run(one, text=REQUEST).status == 0
        host.order(kill_at=step, tear=True)
        killed = host.run(verb, text=REQUEST)
        host.order(kill_at=-1)
        if killed.status != -9:
            assert (killed.status, killed.errors) == (0, "")
            break
        if later:
            assert host.run(verb).status in (0, 1)  # 1: it was already
        after = host.run("revert")
        assert after.status == 0, (step, after)
        assert snapshot(host.root) == before, (step, after)
        assert not (host.root / "etc/modprobe.d").exists()
        end_timers(host.root)
    assert step > 10
