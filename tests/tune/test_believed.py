"""A plan's file that was edited by hand: what no plan of ours has is refused before it is shown,
applied or exported.
"""

import msgspec
import pytest
from tests.tune.node import ROWS

from wireproof.model.errors import BadInput
from wireproof.model.tuning import Change, HostPlan, Keep, PlannedChange, PlannedKeep, TunePlan
from wireproof.tune.allowed import read_plan

FILE = Change(id="swappiness", value="5", path="/proc/sys/vm/swappiness")
COMMAND = Change(
    id="ring-rx/eth0",
    kind="command",
    value="4096",
    read=("ethtool", "-g", "eth0"),
    key="RX",
    write=("ethtool", "-G", "eth0", "rx", "{value}"),
)
KEEP = Keep(path="/etc/sysctl.d/90-wireproof.conf", text="# of us\nvm.swappiness\t= 5\n")


def read(change: Change = FILE, keep: Keep = KEEP, hosts: tuple[str, ...] = ("n1",)) -> TunePlan:
    made = [PlannedChange(change=change, was="1", why="w", undo="u")]
    kept = [PlannedKeep(keep=keep, was=None)]
    plan = TunePlan(hosts=[HostPlan(host=host, changes=made, keeps=kept) for host in hosts])
    return read_plan(msgspec.json.encode(plan), "plan.json")


@pytest.mark.parametrize("change", [FILE, COMMAND])
def test_a_plan_of_ours_is_read_as_it_was_written(change: Change) -> None:
    assert read(change).hosts[0].changes[0].change == change


@pytest.mark.parametrize("wrong", ROWS["a-file-that-is-no-setting-is-refused"])
def test_a_file_that_is_no_setting_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="create the plan again"):
        read(msgspec.structs.replace(FILE, **wrong))


@pytest.mark.parametrize(
    "wrong",
    [
        {"write": ("rm", "-rf", "{value}")},
        {"read": ("cat", "/etc/shadow")},
        {"write": ("ethtool", "-G", "eth0\nx", "rx", "{value}")},
        {"value": "-h"},
        {"value": "1 2"},
        {"key": ""},
    ],
)
def test_a_command_that_is_none_of_ours_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="create the plan again"):
        read(msgspec.structs.replace(COMMAND, **wrong))


@pytest.mark.parametrize(
    "wrong",
    [
        {"path": "/etc/cron.d/wireproof"},
        {"path": "/etc/sysctl.d/../wireproof"},
        {"path": "/etc/sysctl.d/99-site.conf"},
        {"text": "a\x00b"},
        {"text": "x" * 65537},
    ],
)
def test_a_drop_in_that_is_not_ours_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="create the plan again"):
        read(keep=msgspec.structs.replace(KEEP, **wrong))


def test_a_host_comes_once() -> None:
    with pytest.raises(BadInput, match="twice"):
        read(hosts=("n1", "n1"))
