"""The engine describes the ports of every tree of the zoo as the zoo does."""

import msgspec
import pytest
from tests.zoo.animals import ZOO
from tests.zoo.frames import nics_of, standing
from tests.zoo.play import listed
from tests.zoo.scene import Move, Scene, timeline
from tests.zoo.tree import lay_out

pytestmark = pytest.mark.engine
_LISTED = (
    "kind",
    "lower",
    "master",
    "link_kind",
    "function",
    "rdma",
    "adapter",
    "pci",
    "speed_mbps",
)


def _known(values: dict) -> dict:
    """Without what is not said."""
    inner = {
        key: _known(value) if isinstance(value, dict) else value for key, value in values.items()
    }
    return {key: value for key, value in inner.items() if value not in ("", None, [], {})}


@pytest.mark.parametrize("one", ZOO, ids=lambda one: one.key)
def test_the_engine_lists_the_ports_of_the_tree_and_their_byte_counters(one, tmp_path):
    scene = Scene(one, Move(claimed=1.0, carrier=one.carrier))
    machine = timeline(scene).machines[0]
    lay_out(tmp_path, machine, "n1")
    nics, counters = listed(tmp_path)
    found = {nic["name"]: _known(nic) for nic in nics}
    wanted = {nic.name: _known(msgspec.to_builtins(nic)) for nic in nics_of(scene, machine)}
    assert set(found) == set(wanted)
    readable = {name for name in standing(machine, 0.0) if "//" not in name}  # has a device
    assert counters == readable, "only these show others' traffic"
    for name, nic in wanted.items():
        # sysfs names no driver without a device
        keys = _LISTED if nic["kind"] == "virtual" else (*_LISTED, "driver")
        assert {key: found[name].get(key) for key in keys} == {key: nic.get(key) for key in keys}, (
            name
        )
