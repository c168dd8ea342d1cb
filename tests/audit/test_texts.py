"""What commands printed, in place of files of /sys: folders of texts, and older archives."""

import tarfile
from pathlib import Path

import pytest
from tests.audit.test_pci import LSPCI
from tests.audit.test_sources import (
    IBSTAT_OF_ONE,
    IP_D_ADDRESS,
    IPOIB_ADDRESS,
    answers,
)
from tests.audit.trees import OUTPUTS, ROWS

from wireproof.audit import kept
from wireproof.audit.archive import opened
from wireproof.audit.facts import HostFacts
from wireproof.audit.interfaces import IP_ADDRESS, driver_of
from wireproof.audit.job import AuditSpecification, audit
from wireproof.audit.machine import machine_of
from wireproof.audit.printed import IBSTAT
from wireproof.model.record import FactFrame
from wireproof.report.reporter import LoggingReporter

PRINTED = {
    "ethtool -i ens1f0.txt": "driver: mlx5_core\nbus-info: 0000:17:00.0\n",
    "ethtool_-g_ens1f0": "Pre-set maximums:\nRX:\t\t8192\nTX:\t\t8192\n"
    "Current hardware settings:\nRX:\t\t256\nTX:\t\t8192\n",
    "ethtool ens1f0.out": "Settings for ens1f0:\n\tSpeed: 200000Mb/s\n\tDuplex: Full\n",
    "sysctl -a.log": "net.core.rmem_max = 212992\nkernel.osrelease = 6.8\n",
    "dmidecode": "BIOS Information\n\tVersion: 1.8\nSystem Information\n"
    "\tManufacturer: Dell Inc.\n\tProduct Name: PowerEdge R7625\n",
    "lspci.txt": LSPCI,
    "notes.txt": "net.core.wmem_max = 1\n",
}


@pytest.mark.engine
def test_a_folder_of_texts_named_after_their_commands_is_read(tmp_path: Path) -> None:
    """Nothing else: neither `ip` nor /proc."""
    for name, text in PRINTED.items():
        (tmp_path / name).write_text(text)
    found = {(name, of): (status, value) for name, of, status, value in answers(tmp_path)}
    assert found["ring-rx", "ens1f0"] == ("fail", "256")
    assert found["rmem-max", ""] == ("fail", "212992")
    assert found["pcie-max-payload", "ens1f0"] == ("fail", "128")
    assert found["bios-version", ""] == ("pass", "1.8"), "the maker tells that it is no guest"
    assert found["wmem-max", ""][0] != "fail", "notes are no output of a command"


@pytest.mark.engine
def test_the_pci_address_of_an_older_kernel_is_that_of_ethtool(tmp_path: Path) -> None:
    """`ip` prints no parent device before Linux 5.14."""
    files = {
        "proc/cpuinfo": "flags\t\t: fpu\n",
        "sos_commands/networking/ip_-d_address": IP_D_ADDRESS.replace("parentdev 0000:17", "x 1"),
        "sos_commands/networking/ethtool_-i_ens1f0": PRINTED["ethtool -i ens1f0.txt"],
        "sos_commands/pci/lspci_-nnvv": LSPCI,
    }
    for place, text in files.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    found = {(name, of): value for name, of, _, value in answers(tmp_path)}
    assert found["pcie-max-payload", "ens1f0"] == "128"


@pytest.mark.engine
def test_the_kernel_of_a_sosreport_is_that_of_sysctl(tmp_path: Path) -> None:
    """The kernel plugin of sos does not copy /proc/version."""
    files = {
        "proc/cpuinfo": "flags\t\t: fpu\n",
        "sos_commands/kernel/sysctl_-a": "kernel.osrelease = 3.10.0-1160.el7.x86_64\n",
        "sys/module/acpi_pad/initstate": "live\n",
    }
    for place, text in files.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    found = {name: status for name, _, status, _ in answers(tmp_path)}
    assert found["acpi-pad"] == "fail", "it matters only before 4.18"


@pytest.mark.parametrize(("cut", "status"), [(0, "missing"), (1, "failed")])
def test_a_name_that_a_shortened_list_lacks_was_not_read(
    cut: int, status: str, tmp_path: Path
) -> None:
    """`sysctl -a | grep net`, or its first lines, say nothing about other names."""
    names = [name.replace("/", ".") for name in kept.EVERYWHERE]
    file = tmp_path / "sos_commands/kernel/sysctl_-a"
    file.parent.mkdir(parents=True)
    file.write_text("".join(f"{name} = 1\n" for name in names[: len(names) - cut]))
    frame = FactFrame(rank=0, kind="file", status="missing", path="/proc/sys/kernel/numa_balancing")
    (found,) = kept.as_kept(tmp_path, [frame])
    assert found.status == status


def test_a_device_that_udev_renamed_has_the_driver_of_its_interface() -> None:
    printed = {
        IP_ADDRESS: IPOIB_ADDRESS,
        IBSTAT: IBSTAT_OF_ONE.replace("mlx5_0", "ibp65s0"),
        driver_of("ib0"): "driver: mlx5_core[ib_ipoib]\nbus-info: 0000:41:00.0\n",
    }
    frames = [
        FactFrame(rank=0, kind="command", status="ok", argv=list(argv), text=text)
        for argv, text in printed.items()
    ]
    (port,) = machine_of(HostFacts.of("n1", frames)).rdma
    assert port.names["rdma.driver"] == "mlx5_core"


def section(kind: str, subject: str, body: str) -> str:
    return f"#==[ {kind} ]===============================#\n# {subject}\n{body}\n\n"


SUPPORTCONFIG = ROWS["texts-supportconfig"]


@pytest.mark.engine
@pytest.mark.parametrize("packed", [False, True])
def test_a_supportconfig_is_read(packed: bool, tmp_path: Path) -> None:
    folder = tmp_path / "scc_n7_261123_1200"
    folder.mkdir()
    for name, text in SUPPORTCONFIG.items():
        (folder / name).write_text(text)
    before = sorted(tmp_path.rglob("*"))
    source = folder
    if packed:
        source = tmp_path / "scc_n7_261123_1200.txz"
        with tarfile.open(source, "w:xz") as archive:
            archive.add(folder, folder.name)
        before = sorted(tmp_path.rglob("*"))
    audited = audit(AuditSpecification(source=source), LoggingReporter(), {})
    found = {(one.id, one.instance): one.status for one in audited.results}
    assert audited.hosts == ["n7"]
    assert found["swappiness", ""] == "fail"
    assert found["duplex", "ens1"] == "fail"
    assert found["limit-memlock", ""] == "unknown"
    assert sorted(tmp_path.rglob("*")) == before
    assert not list(Path("/tmp").glob("evil"))


BOND = OUTPUTS["texts-bond"]
LONG_LSPCI = """0000:21:00.0 Ethernet controller: Some adapter (rev 01)
\tCapabilities: [60] Express (v2) Endpoint, MSI 00
\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16
\t\tLnkSta:\tSpeed 16GT/s, Width x8 (downgraded)
\tKernel driver in use: ice
"""
SLES = ROWS["texts-sles"]


@pytest.mark.engine
def test_a_supportconfig_is_read_in_the_forms_of_sles_15(tmp_path: Path) -> None:
    """`log_cmd`, `conf_files` and `modules_info` of supportutils 3.2."""
    folder = tmp_path / "scc_n7_261123_1200"
    folder.mkdir()
    for name, text in SLES.items():
        (folder / name).write_text(text)
    with opened(folder) as root:
        bond = {one.name: one.read_text().strip() for one in root.glob("sys/class/net/bond0/*/*")}
        assert "Width x8" in (root / "sos_commands/any/lspci_-nnvv").read_text()
        assert bond == {"mode": "802.3ad 4", "xmit_hash_policy": "layer2", "miimon": "0",
                        "arp_interval": "0"}  # fmt: skip
        assert (root / "sys/module/rv/initstate").read_text() == "live\n"
    audited = audit(AuditSpecification(source=folder), LoggingReporter(), {})
    found = {(one.id, one.instance): one.status for one in audited.results}
    assert found["pcie-width", "ens1"] == "fail"
    assert found["coalescing-adaptive", "ens1"] == "fail"
    assert found["ring-rx", "ens1"] == "not-applicable"
    assert found["time-sync", ""] == "fail"
    assert found["cpu-governor", "policy0"] == "fail"
    assert found["slurmd-memlock", ""] == "fail"
    assert found["adapters", ""] == "pass"
    with opened(folder) as root:
        assert (root / "sys/module/hfi1/parameters/rcvhdrcnt").read_text() == "64\n"
