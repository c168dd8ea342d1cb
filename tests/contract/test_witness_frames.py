"""What the engine writes about ports and counters is what the model's types say: on trees that its
model moves.
"""

from pathlib import Path
from typing import TypeVar

import pytest
from tests.processes import frames_of
from tests.records import holds

from wireproof.model.plan import (
    ModelCounter,
    ModelWorld,
    Plan,
    Point,
    RankPlace,
    Transport,
    WitnessPolicy,
)
from wireproof.model.record import Frame, Host, PointRecord, Total

pytestmark = pytest.mark.engine

PORT = "sys/class/infiniband/mlx5_0/ports/1/counters/"
NAME = "ib/mlx5_0/1/counters/"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two hosts with one InfiniBand port each."""
    for host in ("a", "b"):
        files = {
            "proc/sys/kernel/random/boot_id": f"boot-{host}",
            "netns": "1",
            "sys/class/infiniband/mlx5_0/node_guid": "b859:9f03:00a0:1234",
            "sys/class/infiniband/mlx5_0/ports/1/link_layer": "InfiniBand",
            PORT + "port_xmit_data": "0",
            PORT + "port_rcv_data": "0",
            "sys/devices/pci0000:00/0000:3b:00.0/current_link_speed": "16.0 GT/s PCIe",
            "sys/devices/pci0000:00/0000:3b:00.0/current_link_width": "16",
        }
        for name, text in files.items():
            file = tmp_path / host / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n")
        (tmp_path / host / "sys/class/infiniband/mlx5_0/device").symlink_to(
            "/sys/devices/pci0000:00/0000:3b:00.0"
        )
    return tmp_path


def run(tree: Path, *, settle_ms: int | None = None, **moved: int) -> list[Frame]:
    names = ("port_xmit_data", "tx_byte"), ("port_rcv_data", "rx_byte")
    counters = [
        ModelCounter(rank=rank, path=PORT + name, **{unit: 0.25}, **moved)  # type: ignore[arg-type]
        for rank in (0, 1)
        for name, unit in names
    ]
    plan = Plan(
        run_id="r",
        seed=1,
        transport=Transport(kind="model"),
        ranks=(
            RankPlace(index=0, host="a", nic="mlx5_0:1"),
            RankPlace(index=1, host="b", nic="mlx5_0:1"),
        ),
        points=(
            Point(id=1, pattern="stream", message_bytes=65536, pairs=((0, 1),), iterations=64),
        ),
        witness=WitnessPolicy(idle_ms=1, settle_ms=settle_ms, root=f"{tree}/{{host}}"),
        model=ModelWorld(latency_ns=1000, gap_ns_per_byte=0.1),
        model_counters=tuple(counters),
    )
    return frames_of(plan)


F = TypeVar("F", Host, PointRecord, Total)


def _of(kind: type[F], frames: list[Frame]) -> list[F]:
    return [frame for frame in frames if isinstance(frame, kind)]


def test_a_port_without_an_interface_is_a_nic(tree: Path) -> None:
    hosts = _of(Host, run(tree))
    assert [host.boot_id for host in hosts] == ["boot-a", "boot-b"]
    (nic,) = hosts[0].nics
    holds(nic, name="mlx5_0:1", kind="infiniband", pcie="gen4x16", pci="0000:3b:00.0")
    assert nic.adapter.node_guid == "b859:9f03:00a0:1234"


def test_a_point_has_its_witness_and_its_quiet_windows(tree: Path) -> None:
    (point,) = _of(PointRecord, run(tree))
    sender, receiver = point.witness
    payload = point.pairs[0].payload_forward_bytes
    assert sender.counters[NAME + "port_xmit_data"] == (0, payload // 4)
    assert receiver.counters[NAME + "port_rcv_data"] == (0, payload // 4)
    assert receiver.counters[NAME + "port_xmit_data"] == (0, 0)
    assert sender.quiet.interval_ns >= 4e6
    assert sender.quiet.counters == {}


def test_other_traffic_is_in_the_quiet_windows(tree: Path) -> None:
    (point,) = _of(PointRecord, run(tree, per_second=1_000_000_000))
    quiet = point.witness[0].quiet
    assert quiet.counters[NAME + "port_xmit_data"] > 0


def test_late_counters_are_in_the_total(tree: Path) -> None:
    frames = run(tree, settle_ms=250, refresh_ms=200)
    (point,) = _of(PointRecord, frames)
    totals = _of(Total, frames)
    assert [total.rank for total in totals] == [0, 1]
    assert totals[0].settled_ns >= 250e6
    assert totals[0].counters[NAME + "port_xmit_data"] == (
        0,
        point.pairs[0].payload_forward_bytes // 4,
    )


@pytest.mark.parametrize("per_second", [0, 1_000_000_000])
def test_only_a_flow_that_goes_on_is_in_both_windows_after_the_run(
    tree: Path, per_second: int
) -> None:
    flow = {"per_second": per_second, "from_ms": 1600}
    totals = _of(Total, run(tree, settle_ms=1000, refresh_ms=200, **flow))
    late, again = (window.counters.get(NAME + "port_xmit_data", 0) for window in totals[0].tail)
    assert late > 0, "the bytes of the point, or the flow"
    assert bool(again) == bool(per_second)


def test_a_pegged_counter_is_told(tree: Path) -> None:
    (point,) = _of(PointRecord, run(tree, start=(1 << 32) - 1, width=32, pegs=1))
    last = (1 << 32) - 1
    assert point.witness[0].counters[NAME + "port_xmit_data"] == (last, last)


def test_no_counter_is_written_through_a_link(tree: Path) -> None:
    outside = tree / "victim"
    outside.write_text("5\n")
    file = tree / "a" / PORT / "port_xmit_data"
    file.unlink()
    file.symlink_to(outside)
    with pytest.raises(AssertionError, match="is no regular file below"):
        run(tree)
    assert outside.read_text() == "5\n"
