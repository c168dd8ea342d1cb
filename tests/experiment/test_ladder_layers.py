"""Which layers there are, and whether the claimed NIC has raw verbs."""

from typing import Any

import msgspec
import pytest

from wireproof.experiment.ladder.job import methods_of, rdma_device, where_of
from wireproof.experiment.ladder.launched import LaunchedLayer
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.plan import Libfabric
from wireproof.model.record import Host, Nic, Rdma
from wireproof.options.resolve import resolve
from wireproof.target import Target


class Measured(LaunchedLayer):
    """A layer that has run on hosts with these NICs."""

    def __init__(self, *nics: list[Nic]) -> None:
        self._nics = nics

    @property
    def hosts(self) -> list[Host]:
        return [
            Host(rank=rank, host=f"n{rank}", hostname=f"n{rank}", nics=nics)
            for rank, nics in enumerate(self._nics)
        ]


def nic(name: str, device: str = "", state: str = "4: ACTIVE", **more: Any) -> Nic:
    rdma = Rdma(device=device, port=1, state=state) if device else None
    return Nic(name=name, rdma=rdma, **more)


def target(name: str = "") -> Target:
    return Target(hosts=("a", "b"), start_on=("a", "b"), nics=(name,) * 2 if name else ())


IB = nic("ib0", "mlx5_0", address=["10.0.0.2/24"])
ETH = nic("eth0")


@pytest.mark.parametrize("claimed", ["ib0", "mlx5_0", ""])
def test_the_device_of_the_claimed_nic_and_the_servers_address(claimed: str) -> None:
    found = rdma_device([Measured([ETH, nic("ib0", "mlx5_0")], [ETH, IB])], target(claimed))
    assert found == ("mlx5_0", "10.0.0.2")


@pytest.mark.parametrize(
    ("left", "right", "claimed", "said"),
    [
        ([ETH], [ETH], "eth0", "eth0 is not an RDMA device on both hosts"),
        ([IB], [ETH], "ib0", "ib0 is not an RDMA device on both hosts"),
        ([ETH], [ETH], "", "the first active port is not an RDMA device"),
        ([nic("ib0", "mlx5_0", "1: DOWN")], [IB], "", "the first active port"),
        ([IB], [nic("ib0", "mlx5_3")], "ib0", r"different names \(mlx5_0, mlx5_3\)"),
    ],
)
def test_without_raw_verbs_one_sentence_says_why(
    left: list[Nic], right: list[Nic], claimed: str, said: str
) -> None:
    with pytest.raises(CouldNotMeasure, match=said):
        rdma_device([Measured(left, right)], target(claimed))
    with pytest.raises(CouldNotMeasure, match="raw verbs"):
        rdma_device([], target(claimed))


def test_the_model_has_the_world_that_is_given() -> None:
    given = {"transport": "model", "model": "latency_ns=15000,gap_ns_per_byte=0.8"}
    mpi, ofi = methods_of(resolve(given, {}))
    assert (mpi.model.latency_ns, mpi.transport, ofi.transport) == (15000, "model", "ofi")


def test_settings_of_libfabric_are_for_its_layer_and_the_fabric_for_the_mpis() -> None:
    given = {
        "provider": "tcp",
        "libfabric": "/opt/lib/libfabric.so.1",
        "messages": "msg",
        "completion": "delivery",
        "exchange": "mpi",
        "fabric": "tcp",
    }
    mpi, ofi = methods_of(resolve(given, {}))
    assert (mpi.transport, mpi.fabric, mpi.ofi) == ("mpi", "tcp", Libfabric())
    assert (ofi.transport, ofi.fabric) == ("ofi", "")
    assert "" not in msgspec.structs.astuple(ofi.ofi)


def test_hints_name_the_hosts_as_they_were_chosen() -> None:
    assert where_of(target("ib0")) == "--hosts a,b --nic ib0"
    assert where_of(Target(hosts=(), start_on=())) == "--hosts A,B"
