"""One set of questions: ``check`` and ``prove`` say the same of arrangements that the zoo does not
hold.
"""

from dataclasses import replace

import pytest
from tests.conftest import some_of
from tests.zoo.animals import adapter as animal
from tests.zoo.counters import WHOLE, netdev
from tests.zoo.fabric import MLX5_PHY, MLX5_ROCE, MLX5_VPORT
from tests.zoo.parts import ALL, Adapter, Port, stuck
from tests.zoo.place_worlds import roce, upper
from tests.zoo.scene import ETH0, Move, Other, Scene
from tests.zoo.verbs import MEMORY, STREAMS, both, verdicts

CROSSED, TURNED = Move(claimed=1.0, carrier="rdma"), Move(claimed=1.0, carrier="rdma", turned=True)
VF = (*netdev(), *stuck(MLX5_PHY), *MLX5_VPORT, *MLX5_ROCE)


def function(*more: Port, claimed: str = "hsn0", **changes: object) -> Adapter:
    """A function that knows its adapter and no register of the port, with what stands on it."""
    port = roce("hsn0", "mlx5_2", **{"files": VF, "function": "virtual", **changes})
    seen = dict.fromkeys(("hsn0", *(one.name for one in more)), WHOLE)
    shares = {"rdma": seen, "kernel": seen}
    return Adapter("vf", "", (port, *more), claimed, shares, "", fast="rdma", turns=True)


# --- functions of one adapter, whatever stands on them

STANDING = {
    "VLAN": upper("up0", "vlan", "hsn0", device="mlx5_2"),
    "macvlan": upper("up0", "macvlan", "hsn0", device="mlx5_2"),
    "ipvlan": upper("up0", "ipvlan", "hsn0", device="mlx5_2"),
    "bridge": upper("up0", "bridge", "hsn0"),
    "VRF": upper("up0", "vrf", "hsn0", driver="vrf"),
}


@pytest.mark.parametrize("kind", STANDING)
@pytest.mark.parametrize("carrier", ["rdma", "kernel"])
def test_what_stands_on_functions_of_one_adapter_is_no_proof(kind: str, carrier: str) -> None:
    one = function(STANDING[kind], claimed="up0")
    for nic in ("up0", ""):
        inside = replace(TURNED, carrier=carrier)
        found = verdicts(one, nic, inside, one_adapter=True)
        assert not found & both("on-wire"), nic
        crossed = replace(CROSSED, carrier=carrier)
        assert verdicts(one, nic, crossed) == both("on-wire")


def test_rails_that_are_functions_of_one_adapter_are_no_proof() -> None:
    second = roce("hsn2", "mlx5_3", files=VF, function="virtual", pci="0000:3b:00.3")
    one = function(second)
    halves = {"hsn0": (0.5, 0.5), "hsn2": (0.5, 0.5)}
    one = replace(one, shares={"rdma": halves, "kernel": halves})
    assert not verdicts(one, "hsn0,hsn2", TURNED, one_adapter=True) & both("on-wire")


# --- a register that stands at 0 since a reset


def masked(**identity: str) -> Adapter:
    """A physical function whose registers of the port are there and stand at 0."""
    return function(function="physical", identity=identity)


@pytest.mark.parametrize("nic", ["hsn0", "hsn0v7", ""])
@pytest.mark.parametrize("identity", [{}, {"serial": "98-03"}])
def test_a_register_at_0_and_an_unknown_adapter_prove_nothing(
    nic: str, identity: dict[str, str]
) -> None:
    one = masked(**identity)
    if nic == "hsn0v7":
        one = function(
            upper(nic, "vlan", "hsn0", device="mlx5_2"),
            claimed=nic,
            function="physical",
            identity=identity,
        )
    assert not verdicts(one, nic, TURNED, one_adapter=True) & both("on-wire")


@pytest.mark.parametrize("nic", ["hsn0", ""])
def test_a_register_at_0_is_no_doubt_between_adapters_that_state_who_they_are(nic: str) -> None:
    assert verdicts(masked(serial="98-03"), nic, CROSSED) == both("on-wire")
    assert verdicts(masked(serial="98-03"), nic, Move(carrier="rdma"), **MEMORY) == both("off-wire")


# --- a port without a wire, below


@pytest.mark.parametrize("kind", ["vlan", "bridge", "macvlan", "bond"])
def test_what_stands_on_wifi_is_on_no_wire(kind: str) -> None:
    radio = replace(ETH0, nic="wlp2s0", driver="iwlwifi", files=netdev(), pci="0000:02:00.0")
    radio = replace(radio, link_kind="wlan", speed_mbps=None)
    port = upper("up0", kind, "wlp2s0", driver="bonding" if kind == "bond" else kind)
    seen = {"wlp2s0": WHOLE, "up0": WHOLE}
    one = Adapter("air", "", (radio, port), "up0", {"kernel": seen}, "", rate=1e8)
    for nic in ("up0", "wlp2s0"):
        assert not verdicts(one, nic, Move(claimed=1.0), rate=6e7) & both("on-wire"), nic


def test_a_bond_whose_wifi_is_idle_is_on_the_wire() -> None:
    radio = replace(ETH0, nic="wlp2s0", driver="iwlwifi", files=netdev(), pci="0000:02:00.0")
    radio = replace(radio, link_kind="wlan", speed_mbps=None, master="up0")
    wired = replace(ETH0, nic="enp3s0", pci="0000:03:00.0", master="up0")
    port = upper("up0", "bond", "enp3s0", "wlp2s0", driver="bonding")
    seen = {"enp3s0": WHOLE, "up0": WHOLE}
    one = Adapter("laptop", "", (wired, radio, port), "up0", {"kernel": seen}, "", rate=1.25e8)
    assert verdicts(one, "up0", Move(claimed=1.0), rate=1e8) == both("on-wire")


# --- ports beside the claimed one


@pytest.mark.parametrize("kind", ["bond", "team"])
def test_a_bond_of_ports_that_nobody_counts_may_have_carried_it(kind: str) -> None:
    """The RDMA of two EFA-like members is in no file; the claimed port is idle."""
    blind = [
        roce(name, f"ocrdma{number}", files=netdev(), driver="be2net", rdma_driver="ocrdma")
        for number, name in enumerate(("p0", "p1"))
    ]
    members = [
        replace(port, master="bond1", pci=f"0000:8{number}:00.0", function="")
        for number, port in enumerate(blind)
    ]
    bond = upper("bond1", kind, "p0", "p1", driver="bonding" if kind == "bond" else kind)
    main = function(function="physical", files=(*netdev(), *MLX5_PHY, *MLX5_VPORT, *MLX5_ROCE))
    one = replace(main, ports=(*main.ports, *members, bond), shares={"rdma": {}, "kernel": {}})
    assert verdicts(one, "hsn0", CROSSED) == both("unproven")


CHATTER = tuple(
    Other("eth0", rate, start_s=start, end_s=start + 0.3, ways=ways)
    for rate, start, ways in ((9e7, 2.3, ("tx",)), (4e7, 2.9, ("rx",)), (8e7, 3.6, ("tx", "rx")))
)


@pytest.mark.parametrize("key", ["mlx5-roce-pf", "mlx5-ib-pf", "cxi", "hfi1", "ice"])
@pytest.mark.parametrize("named", [True, False])
def test_a_chatty_management_port_spoils_nothing(key: str, *, named: bool) -> None:
    one = animal(key)
    nic, move = one.claimed if named else "", replace(CROSSED, carrier=one.carrier)
    assert verdicts(one, nic, move, others=CHATTER) == both("on-wire")
    absent = verdicts(one, nic, replace(move, claimed=0.0), others=CHATTER, **MEMORY)
    assert not absent & both("on-wire")


@pytest.mark.parametrize("key", ["mlx5-roce-pf", "mlx5-ib-pf", "mlx4-ib-32", "bond-lacp-ice"])
def test_another_job_on_the_claimed_port_is_not_this_ones_proof(key: str) -> None:
    """Both jobs' hosts share the port; this one's bytes go through memory."""
    one = animal(key)
    beside = Other("claimed", 0.3 * one.rate, carrier=one.carrier)
    gone = verdicts(one, one.claimed, Move(carrier=one.carrier), others=(beside,), **MEMORY)
    assert not gone & both("on-wire")
    here = replace(CROSSED, carrier=one.carrier)
    shared = verdicts(one, one.claimed, here, others=(beside,), rate=0.6 * one.rate)
    assert shared <= both("on-wire") | both("unproven")


@pytest.mark.parametrize("start", ["anywhere", "near-end"])
@pytest.mark.parametrize("seed", range(4))
def test_a_counter_of_32_bits_comes_to_its_end(start: str, seed: int) -> None:
    one = animal("mlx4-ib-32")
    said = verdicts(one, one.claimed, CROSSED, rate=2.2e9, start=start, seed=seed)
    assert said <= both("on-wire") | both("unproven")
    gone = verdicts(one, one.claimed, Move(carrier="rdma"), start=start, seed=seed, **MEMORY)
    assert gone <= both("off-wire") | both("unproven")


@pytest.mark.parametrize("seconds", [5.0, 40.0])
def test_a_counter_that_starts_anew_hides_what_crossed_before(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """32 bits of a port of 1 Gb/s pass their end after 34 s: ``prove`` called the rest absent."""
    monkeypatch.setattr("tests.zoo.watched._SECONDS", seconds)
    files = tuple(replace(file, width=32) for file in netdev("wire", ALL))
    port = Port("hsn0", "lan743x", files, speed_mbps=1000, pci="0000:03:00.0")
    one = Adapter("lan743x", "", (port,), "hsn0", {"kernel": {"hsn0": WHOLE}}, "", rate=1.25e8)
    said = verdicts(one, "hsn0", Move(claimed=1.0), rate=1.2e8)
    assert said <= both("on-wire") | both("unproven")
    assert ("prove: on-wire" in said) == (seconds < 30)
    assert not verdicts(one, "hsn0", Move(claimed=0.5), **MEMORY) & both("off-wire")


@pytest.mark.parametrize("way", ["tx", "rx"])
@pytest.mark.parametrize("key", ["ice", "cxi", "bnxt_re", "irdma-e810"])
def test_counters_that_stand_still_in_one_direction_prove_nothing(key: str, way: str) -> None:
    one = animal(key)
    files = tuple(
        replace(file, stuck=True) if (file.way, file.what) == (way, "bytes") else file
        for file in one.ports[0].files
    )
    one = replace(one, ports=(replace(one.ports[0], files=files),))
    for carrier in one.shares:
        said = verdicts(one, "hsn0", Move(claimed=1.0, carrier=carrier))
        assert said <= both("unproven") | both("on-wire")


# --- a late counter below a bond


@pytest.mark.parametrize("key", ["bond-active-backup-igb", "bond-alb-igb", "igb"])
@pytest.mark.parametrize(
    ("late_s", "seed"),
    some_of([(late_s, seed) for seed in (801217, 802752) for late_s in (0.4, 1.0, 0.0, 0.7)], 2),
)
def test_a_late_igb_under_a_bond_is_never_wrong(key: str, late_s: float, seed: int) -> None:
    one = animal(key)
    for nic in (one.claimed, ""):
        more = {"late_s": late_s, "seed": seed}
        said = verdicts(one, nic, Move(claimed=1.0), **more)
        assert said <= both("on-wire") | both("unproven"), nic
        half = verdicts(one, nic, Move(claimed=0.5), **{**MEMORY, **more})
        assert half <= both("mixed") | both("unproven"), nic
        gone = verdicts(one, nic, Move(), **{**MEMORY, **more})
        assert gone <= both("off-wire") | both("unproven"), nic


# --- several network namespaces of one machine


@pytest.mark.parametrize("kind", ["macvlan", "ipvlan", "vlan"])
def test_containers_of_one_machine_on_the_fabric_port_prove_nothing(kind: str) -> None:
    one = function(upper("up0", kind, "hsn0", device="mlx5_2"), claimed="up0")
    inside = Scene(one, TURNED, nic="up0", points=STREAMS, with_rail=False, one_adapter=True)
    said = verdicts(one, "up0", TURNED, boot_ids=("one", "one"), one_adapter=True)
    assert not said & {"prove: on-wire"}, inside.nic
