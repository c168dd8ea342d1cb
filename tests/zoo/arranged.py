"""More arrangements of the zoo's adapters, a row an animal: tunnels of each kind, what else stands
on a port, bonds that change their leg, many rails, counters that are denied, representors and
functions whose port counts. They are judged like the zoo and have no row in docs/matrix.md.
"""

from dataclasses import replace

from tests.zoo.animals import adapter
from tests.zoo.clusters import MODES, above, bond, several, shared
from tests.zoo.counters import WHOLE
from tests.zoo.parts import ALL, Adapter, File, both_directions

_ETHERNET = ("ice", "mlx5-eth", "bnxt_en", "bond-lacp-ice")
_TUNNELS: dict[str, tuple[float, tuple[str, ...]]] = {
    "gre": (1.02, _ETHERNET),
    "wireguard": (1.05, _ETHERNET),
    "geneve": (1.03, _ETHERNET),
    "vxlan": (1.03, _ETHERNET),
    "gretap": (1.03, ("ice",)),
    "ipip": (1.015, ("ice",)),
    "ip6gre": (1.03, ("ice",)),
    "sit": (1.015, ("ice",)),
}
"""Bytes below for each above, and what the tunnel's packets leave by."""
_STANDS_ON = {
    "macvtap": ("ice", "mlx5-eth", "igb", "virtio_net"),
    "ipvtap": ("ice", "mlx5-eth", "igb", "virtio_net"),
    "macsec": ("ice", "mlx5-eth", "igb", "virtio_net"),
    "team": ("ice",),
}
_FAILING = ("mlx5-eth", "bnxt_en", "ice", "igb", "mlx5-ipoib", "ixgbe", "virtio_net", "hns3")
MODES["failover"] = ((0.6, 0.6), (0.4, 0.4))
MODES["balance-tlb"] = ((0.5, 1.0), (0.5, 0.0))
_MANY = {
    "mlx5-roce-pf": 8,
    "ionic": 8,
    "efa": 8,
    "hns_roce": 4,
    "irdma-e810": 4,
    "mlx5-ib-vf": 4,
}
_DENIED = (
    *("efa", "bnxt_re", "irdma-e810", "mlx5-roce-pf", "hns_roce"),
    *("erdma", "qedr", "ionic", "mlx5-ib-pf"),
)


def _tunnel(kind: str, of: str) -> Adapter:
    return above(f"{kind}-{of}", f"{kind}1", kind, adapter(of), outer=_TUNNELS[kind][0])


def _hidden_below(one: Adapter) -> Adapter:
    """The tunnel as most kernels show it: nothing says what it stands on."""
    port = one.port(one.claimed)
    alone = replace(port, lower=(), driver=port.link_kind)
    return replace(one, key=f"{one.key}-nolower", ports=(alone, *one.ports[1:]))


def _denied(key: str) -> Adapter:
    """A container or a driver that may not read the hardware's counters of RDMA."""
    one = adapter(key)
    ports = (
        replace(port, files=tuple(file for file in port.files if "/hw_counters/" not in file.path))
        for port in one.ports
    )
    return replace(one, key=f"{key}-denied", ports=tuple(ports))


def _mirrored(level: str) -> tuple[File, ...]:
    """What a representor counts: the function's bytes, sent where the function received them."""
    return tuple(
        file
        for what in ("bytes", "packets")
        for file in both_directions(
            "net/{nic}/{way}_" + what, ALL, level, names=("rx", "tx"), what=what, header=66
        )
    )


def _represented(key: str, *, used: bool) -> Adapter:
    """A port in switchdev mode beside the representor of a function, which uses the port or is
    idle.
    """
    one = adapter(key)
    port = one.port(one.claimed)
    function = replace(port, nic=f"{port.nic}_0", device="", rdma_driver="", link_layer="", rate="")
    function = replace(function, kind="virtual", link_kind="representor", function="")
    function = replace(function, files=_mirrored("function"))
    seen = {function.nic: WHOLE} if used else {}
    shares = {carrier: {**of, **seen} for carrier, of in one.shares.items()}
    name = f"{key}-representor{'' if used else '-idle'}"
    return replace(one, key=name, ports=(*one.ports, function), shares=shares)


def _counted_by_port(key: str, physical: str, counters: tuple[str, str]) -> Adapter:
    """A virtual function on the host itself, beside the physical one whose registers count it."""
    one = adapter(key)
    port, above_it = one.port(one.claimed), adapter(physical).ports[0]
    ending = tuple(name.rsplit("/", 1)[-1] for name in counters)
    files = tuple(file for file in above_it.files if not file.path.endswith(ending))
    plain = {"device": "", "rdma_driver": "", "link_layer": "", "rate": ""}
    below = replace(above_it, nic="pf0", files=files, **plain)
    identity = {**port.identity, "physical": below.pci}
    virtual = replace(port, identity=identity, pci=f"{below.pci[:-1]}2", function="virtual")
    shares = {carrier: {**of, "phys9": WHOLE} for carrier, of in one.shares.items()}
    ports = (virtual, below, shared(counters, "pf0"))
    return replace(one, key=f"{key}-on-pf", ports=ports, shares=shares)


_PHY = ("tx_bytes_phy", "rx_bytes_phy")
_OVER = [_tunnel(kind, of) for kind, (_, below) in _TUNNELS.items() for of in below]

ARRANGED: tuple[Adapter, ...] = (
    *(_denied(key) for key in _DENIED),
    *(
        _represented(key, used=used)
        for key in ("mlx5-eth", "mlx5-roce-pf")
        for used in (True, False)
    ),
    _counted_by_port("mlx5-roce-vf", "mlx5-roce-pf", _PHY),
    _counted_by_port("mlx5-eth-guest", "mlx5-roce-pf", _PHY),
    _counted_by_port("irdma-e810-vf", "irdma-e810", ("tx_bytes.nic", "rx_bytes.nic")),
    *(
        several(f"{of}-{count}", of, count, f"{of}, {count} adapters")
        for of, count in _MANY.items()
    ),
    *(bond(of, mode) for mode in ("failover", "balance-tlb") for of in _FAILING),
    *(
        above(f"{kind}-{of}", f"{kind}0", kind, adapter(of))
        for kind in _STANDS_ON
        for of in _STANDS_ON[kind]
    ),
    *_OVER,
    *(_hidden_below(one) for one in _OVER),
)
