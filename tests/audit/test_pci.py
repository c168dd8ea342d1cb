"""PCI Express is read of the adapter and of what stands above it, never of another device."""

from pathlib import Path

import pytest
from tests.audit.fleet import answered
from tests.audit.fleet_machines import FLEET
from tests.audit.test_machines import audited
from tests.audit.test_planted import PLANTED, planted
from tests.audit.trees import OUTPUTS, cpu, judge_machine, lay_out

from wireproof.audit.job import catalogue
from wireproof.audit.pci import PciDevice, devices_of_lspci
from wireproof.model.setting import AuditResult

pytestmark = pytest.mark.engine
SETTINGS = (
    *("pcie-max-payload", "pcie-read-request", "relaxed-ordering", "pcie-path-rate"),
    *("gpu-distance", "acs"),
)


def results(root: Path, *only: str) -> dict[tuple[str, str], AuditResult]:
    return {(one.id, one.instance): one for one in audited(root, "throughput", *only)}


def test_each_rail_of_a_gpu_node_is_judged_by_its_own_path(tmp_path: Path) -> None:
    amd = "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nflags\t\t: fpu\n"
    found = results(lay_out(tmp_path, "eight-gpus", {"proc/cpuinfo": amd}), *SETTINGS)
    wrong = {place: one.seen for place, one in found.items() if one.status != "pass"}
    assert wrong == {
        ("pcie-max-payload", "rail6"): "128",
        ("relaxed-ordering", "rail7"): "off",
        ("pcie-path-rate", "rail2"): "126 (8 lanes of 16 GT/s at 0000:30:00.0)",
        ("acs", "rail5"): "0000:61:00.0 ReqRedir CmpltRedir UpstreamFwd; "
        "0000:61:01.0 ReqRedir CmpltRedir UpstreamFwd",
    }
    assert found["gpu-distance", "rail0"].seen == "PIX"
    assert len(found) == 8 * len(SETTINGS)


def test_what_root_alone_may_read_is_unknown_and_says_so(tmp_path: Path) -> None:
    """Others see 64 bytes: the tree of bridges, and no register of PCI Express."""
    root = lay_out(tmp_path, "eight-gpus")
    for config in root.glob("sys/bus/pci/devices/*/config"):
        config.write_bytes(config.read_bytes()[:64])
    found = results(root, *SETTINGS)
    assert found["gpu-distance", "rail0"].seen == "PIX"
    rest = [one for one in found.values() if one.id != "gpu-distance"]
    assert {one.status for one in rest} == {"unknown"}
    assert all("run the audit as root" in one.message for one in rest)


@pytest.mark.parametrize(
    "config", [b"", b"\xff" * 4096, b"\0" * 4096, b"\x10" * 300, b"\x40" * 4096]
)
def test_a_space_that_makes_no_sense_never_passes(config: bytes, tmp_path: Path) -> None:
    root = lay_out(tmp_path, "eight-gpus")
    for file in root.glob("sys/bus/pci/devices/*/config"):
        file.write_bytes(config)
    found = results(root, "pcie-max-payload", "pcie-path-rate", "acs")
    assert "pass" not in {one.status for one in found.values()}


LSPCI = OUTPUTS["pci-lspci"]


def test_the_text_of_lspci_is_read_by_slot() -> None:
    bridge, adapter, display = devices_of_lspci(LSPCI)
    assert (bridge.type, bridge.secondary, bridge.acs, bridge.numa) == (4, 0x17, 0b101, 0)
    assert (bridge.speed, bridge.speed_most, bridge.payload) == (4, 5, 256)
    assert (adapter.address, adapter.driver) == ("0000:17:00.0", "mlx5_core")
    assert (adapter.payload, adapter.read_request, adapter.relaxed) == (128, 512, False)
    assert (adapter.width, adapter.width_most, adapter.acs) == (8, 16, None)
    assert display.closed


@pytest.mark.parametrize("text", ["", "\x1b[31m", "00:01.0 ", LSPCI[:300], "x" * 10000])
def test_any_text_of_lspci_does_no_harm(text: str) -> None:
    assert all(one.payload is None or one.payload >= 128 for one in devices_of_lspci(text))


def test_what_a_sosreport_keeps_is_tied_to_the_adapter(tmp_path: Path) -> None:
    changes: dict[str, str | None] = {
        "sys/class/net/eth2/device/uevent": "DRIVER=ice\nPCI_SLOT_NAME=0000:17:00.0",
        "sos_commands/pci/lspci_-nnvv": LSPCI,
    }
    found = results(lay_out(tmp_path, "icelake-e810", changes), *SETTINGS)
    by_id = {name: one for (name, _), one in found.items()}
    assert (by_id["pcie-max-payload"].status, by_id["pcie-max-payload"].seen) == ("fail", "128")
    assert by_id["pcie-read-request"].status == "pass"
    assert by_id["pcie-path-rate"].seen.startswith("126 (8 lanes of 16 GT/s at 0000:17:00.0")
    assert by_id["acs"].status == "not-applicable"


def test_without_any_list_it_is_unknown(tmp_path: Path) -> None:
    found = results(lay_out(tmp_path, "epyc-connectx"), "pcie-max-payload", "relaxed-ordering")
    assert {one.status for one in found.values()} == {"unknown"}
    assert all("lspci -nnvv" in one.message for one in found.values())


def test_an_adapter_without_a_driver_is_named_and_the_others_are_counted(tmp_path: Path) -> None:
    root = lay_out(tmp_path, "eight-gpus")
    (root / "sys/bus/pci/devices/0000:52:00.0/uevent").write_text("PCI_CLASS=20000\n")
    found = results(root, "adapters", "adapters-without-driver")
    assert found["adapters", ""].seen == "7 mlx5_core, 1 no driver"
    lost = found["adapters-without-driver", ""]
    assert (lost.status, lost.seen) == ("fail", "0000:52:00.0")


def test_an_adapter_of_omni_path_is_a_network_adapter() -> None:
    node = FLEET["opa-two-adapters"]()
    node.devices = [
        PciDevice(address="0000:18:00.0", device_class="020800", driver="hfi1"),
        PciDevice(address="0000:19:00.0", device_class="020800"),
    ]
    asked = ["adapters", "adapters-without-driver"]
    found = judge_machine(answered(node.texts()), catalogue(), "throughput", asked)
    assert [one.seen for one in found] == ["1 hfi1, 1 no driver", "0000:19:00.0"]


@pytest.mark.parametrize(("speed", "expected"), [("1000", "not-applicable"), ("100000", "fail")])
def test_a_small_payload_matters_where_the_port_is_fast(speed: str, expected: str) -> None:
    node = FLEET["bnxt"]()
    (_, _, place, wrong) = next(one for one in PLANTED["bnxt"] if one[0] == "pcie-max-payload")
    texts = planted(node.texts(), place, wrong) | {"sys/class/net/ens1f0np0/speed": speed}
    found = judge_machine(answered(texts), catalogue(), "throughput", ["pcie-max-payload"])
    assert {one.instance: one.status for one in found}["ens1f0np0"] == expected


@pytest.mark.parametrize(("gpus", "expected"), [(0, "pass"), (1, "fail")])
def test_emerald_rapids_needs_relaxed_ordering_for_gpu_memory(gpus: int, expected: str) -> None:
    node = FLEET["bnxt"]()
    (_, _, place, wrong) = next(one for one in PLANTED["bnxt"] if one[0] == "relaxed-ordering")
    texts = planted(node.texts(), place, wrong) | {
        "proc/cpuinfo": cpu("GenuineIntel", 6, 207),
        **{f"sys/bus/pci/drivers/nvidia/0000:2{at}:00.0/numa_node": "0" for at in range(gpus)},
    }
    found = judge_machine(answered(texts), catalogue(), "throughput", ["relaxed-ordering"])
    assert {one.instance: one.status for one in found}["ens1f0np0"] == expected


def test_without_root_the_slot_is_what_sysfs_says_of_its_bridge() -> None:
    """An adapter of PCIe 5.0 on 16 lanes in a slot of 4.0 on 8 is as fast as it can be there."""
    node = FLEET["virtual-functions"]()
    folder = "sys/class/net/ens1f0np0/device"
    node.devices = [
        PciDevice(
            address=device.address, driver=device.driver, secondary=device.secondary, closed=True
        )
        for device in node.devices
    ]
    node.set({f"{folder}/current_link_width": "8"})
    slot = {f"{folder}/../max_link_width": "8", f"{folder}/../max_link_speed": "16.0 GT/s PCIe"}
    for texts, expected in ((slot, "pass"), ({}, "fail")):
        machine = answered({**node.texts(), **texts})
        results = judge_machine(machine, catalogue(), "throughput", ["pcie-width", "pcie-speed"])
        found = {one.status for one in results if one.instance == "ens1f0np0"}
        assert found == {expected}
