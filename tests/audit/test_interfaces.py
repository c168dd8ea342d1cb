"""Interfaces without an adapter: which are audited, what is asked of them, in whose namespace."""

import json
import shutil
import subprocess
from collections.abc import Sequence

import pytest
from tests.audit.trees import ROWS, facts_of, judge_machine

from wireproof.audit.interfaces import CHOSEN, INTERFACES
from wireproof.audit.job import catalogue
from wireproof.audit.machine import machine_of
from wireproof.launch.engines import find_engine
from wireproof.model.setting import AuditResult


def nic(name: str, kind: str = "virtual", link_kind: str = "", **more: object) -> dict[str, object]:
    return {"name": name, "kind": kind, "link_kind": link_kind, "operstate": "up", **more}


ADDRESS = ["10.0.0.1"]
LO = nic("lo", "loopback", address=["127.0.0.1"])
BOND = nic("bond0", link_kind="bond", address=ADDRESS, lower=["eth0", "eth1"], mtu=9000)
MEMBERS = [nic("eth0", "ethernet", mtu=9000), nic("eth1", "ethernet", mtu=1500)]


def texts(nics: Sequence[dict[str, object]], **more: str) -> dict[str, str]:
    return {INTERFACES: json.dumps([LO, *nics]), **more}


@pytest.mark.parametrize(("nics", "audited"), ROWS["what-may-carry-the-fabric-is-audited"])
def test_what_may_carry_the_fabric_is_audited(
    nics: list[dict[str, object]], audited: list[str]
) -> None:
    assert [one.label for one in machine_of(facts_of(texts(nics))).nics] == audited


def test_what_is_chosen_is_audited_whatever_its_name_is() -> None:
    nics = [nic("docker0", link_kind="bridge")]
    chosen = facts_of(texts(nics, **{CHOSEN: "docker0"}))
    assert [one.label for one in machine_of(chosen).nics] == ["docker0"]


@pytest.mark.parametrize("text", ["", "{}", "[{}]", '[{"name": 5}]', "[" * 5000, "\x1b[31m"])
def test_a_list_that_is_none_names_none(text: str) -> None:
    assert not machine_of(facts_of({INTERFACES: text})).nics


def results(facts: dict[str, str], *only: str) -> dict[tuple[str, str], AuditResult]:
    machine = machine_of(facts_of(facts))
    found = judge_machine(machine, catalogue(), "throughput", only)
    return {(one.id, one.instance): one for one in found}


def test_a_bond_is_held_against_its_members() -> None:
    facts = texts(
        [BOND, *MEMBERS],
        **{
            "/sys/class/net/bond0/mtu": "9000",
            "/sys/class/net/bond0/tx_queue_len": "0",
            "/sys/class/net/eth0/speed": "25000",
            "/sys/class/net/eth1/speed": "25000",
            "/sys/class/net/bond0/bonding/mode": "802.3ad 4",
            "/sys/class/net/bond0/bonding/xmit_hash_policy": "layer2 0",
        },
    )
    bond = machine_of(facts_of(facts)).nics[0].names
    assert (bond["nic.kind"], bond["nic.rate"], bond["nic.lower_mtu"]) == ("bond", 50, 1500)
    found = results(facts, "mtu-below", "bond-mode", "bond-hash", "ring-rx", "tx-queue-length")
    assert found["mtu-below", "bond0"].status == "fail"
    assert found["mtu-below", "eth0"].status == "not-applicable"
    assert found["bond-mode", "bond0"].status == "pass"
    assert found["bond-hash", "bond0"].status == "fail"
    assert found["tx-queue-length", "bond0"].status == "not-applicable"
    ring = found["ring-rx", "bond0"]
    assert ring.status == "not-applicable"
    assert "bond0 (bond) has no adapter of its own; eth0, eth1 below it has" in ring.message


@pytest.mark.parametrize(
    ("mode", "hash_status", "arp_status"),
    [
        ("balance-xor 2", "fail", "pass"),
        ("802.3ad 4", "fail", "fail"),
        ("balance-tlb 5", "pass", "fail"),
        ("balance-alb 6", "pass", "fail"),
    ],
)
def test_a_mode_of_a_bond_uses_its_hash_and_its_monitor(
    mode: str, hash_status: str, arp_status: str
) -> None:
    """By default balance-tlb and -alb spread connections by load; they cannot use ARP."""
    bonding = "/sys/class/net/bond0/bonding"
    facts = texts(
        [BOND, *MEMBERS],
        **{
            f"{bonding}/mode": mode,
            f"{bonding}/xmit_hash_policy": "layer2 0",
            f"{bonding}/arp_interval": "100",
        },
    )
    found = results(facts, "bond-mode", "bond-hash", "bond-arp-monitor")
    assert found["bond-hash", "bond0"].status == hash_status
    assert found["bond-arp-monitor", "bond0"].status == arp_status


def test_a_virtual_rate_is_not_believed() -> None:
    facts = texts(
        [nic("hsn0", link_kind="veth", address=ADDRESS, mtu=1500)],
        **{"/sys/class/net/hsn0/speed": "10000", "/sys/class/net/hsn0/mtu": "1500"},
    )
    machine = machine_of(facts_of(facts))
    assert "UNKNOWN" in repr(machine.nics[0].names["nic.rate"])
    assert "UNKNOWN" in repr(machine.names["host.rate"])
    assert results(facts, "mtu")["mtu", "hsn0"].status == "pass"


@pytest.mark.netns
@pytest.mark.engine
def test_where_sys_is_another_namespace_s_the_kernel_answers() -> None:
    """A network namespace under the host's /sys: no value may be the host's."""
    unshare = shutil.which("unshare")
    assert unshare is not None
    engine = str(find_engine("nompi"))
    spec = (
        "wireproof-plan 1\nfact kind=file path=interfaces\n"
        "fact kind=glob path=/sys/class/net/*/mtu\n"
        "fact kind=glob path=/sys/class/net/*/device/uevent\n"
    )
    make = 'ip link add hsn0 mtu 1234 type veth peer name hsn1 && exec "$0" facts --spec -'
    done = subprocess.run(
        [unshare, "-rn", "sh", "-c", make, engine],
        input=spec.encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    frames = [json.loads(line) for line in done.stdout.splitlines()]
    by_path = {frame["path"]: frame for frame in frames}
    names = {one["name"] for one in json.loads(by_path["interfaces"]["text"])}
    assert {"lo", "hsn0", "hsn1"} <= names
    assert by_path["/sys/class/net/hsn0/mtu"]["text"] == "1234"
    assert by_path["/sys/class/net/*/device/uevent"]["reason"].endswith("network namespace")
    mtus = {path.split("/")[4] for path in by_path if path.endswith("/mtu")} - {"*"}
    assert mtus == names
