"""Snapshots, folders and archives: the same judgement wherever the texts come from."""

import contextlib
import gzip
import io
import shutil
import tarfile
from pathlib import Path

import msgspec
import pytest
from tests.audit.test_pci import LSPCI
from tests.audit.trees import MACHINES, OUTPUTS, judge_machine, lay_out

from wireproof.audit import pci, printed
from wireproof.audit.archive import opened
from wireproof.audit.facts import HostFacts
from wireproof.audit.interfaces import IP_ADDRESS
from wireproof.audit.job import AuditSpecification, audit, catalogue
from wireproof.audit.machine import machine_of
from wireproof.audit.printed import DMIDECODE, port_info
from wireproof.audit.values import AFFINITIES, folded, vectors_of
from wireproof.model.errors import BadInput
from wireproof.model.record import FactFrame
from wireproof.report.reporter import LoggingReporter
from wireproof.store.snapshot import is_snapshot, read_snapshot, write_snapshot


def frames(texts: dict[str, str]) -> list[FactFrame]:
    return [
        FactFrame(rank=0, kind="file", status="ok", path=path, text=text)
        for path, text in texts.items()
    ]


def answers(source: Path, **more: object) -> list[tuple[str, str, str, str]]:
    found = audit(AuditSpecification(source=source, **more), LoggingReporter(), {})  # type: ignore[arg-type]
    return [(one.id, one.instance, one.status, one.seen) for one in found.results]


def test_a_snapshot_gives_back_what_was_read(tmp_path: Path) -> None:
    facts = {
        "n1": [*frames({"/a": "1", "/b": "\u00b5"})],
        "n2": [
            FactFrame(
                rank=0, kind="command", status="denied", argv=["x", "-y"], reason="needs root"
            )
        ],
    }
    write_snapshot(tmp_path / "s", facts)
    assert is_snapshot(tmp_path / "s")
    assert read_snapshot(tmp_path / "s") == facts


def test_a_snapshot_is_never_written_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("mine")
    with pytest.raises(BadInput, match="cannot be written"):
        write_snapshot(tmp_path / "s", {})
    assert [each.name for each in tmp_path.iterdir()] == ["s"]
    assert (tmp_path / "s").read_text() == "mine"


def test_a_thousand_like_hosts_take_little(tmp_path: Path) -> None:
    texts = {f"/sys/module/hfi1/parameters/p{number}": f"{number}\n" * 20 for number in range(700)}
    facts = {f"n{host}": frames(texts | {"/proc/loadavg": f"{host}"}) for host in range(1000)}
    write_snapshot(tmp_path / "s", facts)
    assert (tmp_path / "s").stat().st_size < 5_000_000


@pytest.mark.parametrize("damage", range(6))
def test_a_damaged_snapshot_is_refused_in_one_sentence(damage: int, tmp_path: Path) -> None:
    file = tmp_path / "s"
    write_snapshot(file, {"n1": frames({"/a": "1"})})
    data = file.read_bytes()
    unpacked = gzip.decompress(data)
    damaged = [
        data[:-9],
        data[:20] + b"\0" * 10 + data[30:],
        gzip.compress(unpacked[:-5]),
        gzip.compress(b"\x93" * 5000),
        gzip.compress(unpacked.replace(b"wireproof.snapshot", b"wireproof.snapshit")),
        gzip.compress(b""),
    ]
    file.write_bytes(damaged[damage])
    with pytest.raises(BadInput, match=r"^[^\n]+\.$"):
        read_snapshot(file)


@pytest.mark.engine
def test_a_folder_its_archive_and_its_snapshot_agree(tmp_path: Path) -> None:
    root = lay_out(tmp_path / "sosreport-n1", "epyc-connectx", {"etc/hostname": "n1"})
    expected = answers(root, snapshot=tmp_path / "s")
    packed = tmp_path / "sosreport-n1.tar.xz"
    with tarfile.open(packed, "w:xz") as archive:
        archive.add(root, "sosreport-n1")
    assert answers(packed) == expected
    assert answers(tmp_path / "s") == expected


@pytest.mark.engine
def test_what_commands_printed_is_read_from_a_sosreport(tmp_path: Path) -> None:
    printed = "Features for rail0:\ntcp-segmentation-offload: off\n"
    place = "sos_commands/networking/ethtool_-k_rail0"
    root = lay_out(tmp_path, "eight-gpus", {place: printed})
    found = audit(
        AuditSpecification(source=root, only=("offload-tso",)), LoggingReporter(), {}
    ).results
    by_rail = {one.instance: one for one in found}
    assert by_rail["rail0"].status == "fail"
    assert by_rail["rail1"].status in ("unknown", "not-applicable")


@pytest.mark.engine
def test_the_sysctls_of_a_sosreport_are_read(tmp_path: Path) -> None:
    """An archive keeps them as what `sysctl -a` printed, not as files."""
    printed = (
        "kernel.osrelease = 5.14.0\nkernel.numa_balancing = 1\nvm.zone_reclaim_mode = 0\n"
        "net.ipv4.conf.eth0/7.rp_filter = 1\nbroken\n = 3\n"
    )
    machine = MACHINES["epyc-connectx"]
    gone = {place: None for place in machine if place.startswith("proc/sys/")}
    place = "sos_commands/kernel/sysctl_-a"
    root = lay_out(tmp_path, "epyc-connectx", {**gone, place: printed})
    asked = AuditSpecification(source=root, only=("numa-balancing", "zone-reclaim"))
    found = {one.id: one.status for one in audit(asked, LoggingReporter(), {}).results}
    assert found == {"numa-balancing": "fail", "zone-reclaim": "pass"}


@pytest.mark.engine
def test_what_the_driver_holds_fixed_is_not_a_fail(tmp_path: Path) -> None:
    printed = "Features for rail0:\ntcp-segmentation-offload: off [fixed]\n"
    place = "sos_commands/networking/ethtool_-k_rail0"
    root = lay_out(tmp_path, "eight-gpus", {place: printed})
    specification = AuditSpecification(source=root, only=("offload-tso",))
    found = {one.instance: one for one in audit(specification, LoggingReporter(), {}).results}
    assert found["rail0"].status == "not-applicable"
    assert "does not allow changes" in found["rail0"].message


@pytest.mark.engine
def test_an_archive_that_leads_elsewhere_does_no_harm(tmp_path: Path) -> None:
    packed = tmp_path / "evil.tar"
    with tarfile.open(packed, "w") as archive:
        for name in ("etc/ok", "../etc/evil", "/etc/wireproof-evil", "etc/../../evil"):
            member = tarfile.TarInfo(name)
            member.size = 1
            archive.addfile(member, io.BytesIO(b"x"))
        link = tarfile.TarInfo("etc/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with contextlib.suppress(BadInput):
        answers(packed)
    assert not (tmp_path / "evil").exists()
    assert not Path("/etc/wireproof-evil").exists()


@pytest.mark.parametrize("name", ["nothing", "text", "empty"])
def test_what_is_no_source_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput):
        answers(tmp_path / name)


def test_a_snapshot_of_the_first_version_is_read(tmp_path: Path) -> None:
    """Places, texts and facts as release 0.1 wrote them."""
    document = {
        "schema": "wireproof.snapshot",
        "version": 1,
        "texts": ["1", "", "x"],
        "places": [["file", "/a", []], ["command", "", ["x", "-y"]]],
        "hosts": {"n1": [[0, "ok", 0, 1], [1, "failed", 2, 1]]},
    }
    file = tmp_path / "s"
    file.write_bytes(gzip.compress(msgspec.msgpack.encode(document)))
    first, second = read_snapshot(file)["n1"]
    assert (first.path, first.text, first.exit_status) == ("/a", "1", None)
    assert (second.argv, second.status, second.text) == (["x", "-y"], "failed", "x")
    for version, said in ((0, "of version 0"), (3, "newer wireproof"), (99, "newer wireproof")):
        file.write_bytes(gzip.compress(msgspec.msgpack.encode({**document, "version": version})))
        with pytest.raises(BadInput, match=said):
            read_snapshot(file)


def command(status: str, text: str = "", **more: object) -> FactFrame:
    argv = ["systemctl", "is-active", "firewalld.service"]
    return FactFrame(rank=0, kind="command", status=status, argv=argv, text=text, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("frame", "status", "said"),
    [
        (command("ok", "active"), "pass", "active"),
        (command("failed", "inactive\n", exit_status=3), "pass", "inactive"),
        (command("failed", "", exit_status=3), "unknown", ""),
        (command("failed", "x", exit_status=1, reason="Host is down"), "unknown", "Host is down"),
        (command("missing", reason="No such file"), "unknown", "is not installed there"),
        (command("missing", reason="is not in the archive"), "unknown", "is not in the archive"),
        (
            command("failed", exit_status=95, reason="x: Operation not supported\n"),
            "not-applicable",
            "not supported",
        ),
    ],
)
def test_what_a_command_says_when_it_ends_otherwise(
    frame: FactFrame, status: str, said: str, tmp_path: Path
) -> None:
    write_snapshot(tmp_path / "s", {"n1": [frame]})
    found = audit(
        AuditSpecification(source=tmp_path / "s", only=("firewall",)), LoggingReporter(), {}
    )
    (one,) = found.results
    assert one.status == status
    assert said in one.seen + one.message


IP_D_ADDRESS = OUTPUTS["sources-ip-d-address"]


@pytest.mark.engine
def test_interfaces_of_a_sosreport_are_those_that_ip_printed(tmp_path: Path) -> None:
    """An archive has little of /sys/class/net."""
    files = {
        "etc/hostname": "n1\n",
        "proc/cpuinfo": "flags\t\t: fpu\n",
        "sos_commands/networking/ip_-d_address": IP_D_ADDRESS,
        "sos_commands/networking/ethtool_-i_ens1f0": "driver: mlx5_core\nversion: 5.8\n",
        "sos_commands/networking/ethtool_-k_ens1f0": "tcp-segmentation-offload: off\n",
        "sos_commands/pci/lspci_-nnvv": LSPCI,
    }
    for place, text in files.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    only = ("offload-tso", "mtu-below", "pcie-max-payload", "ring-rx")
    found = audit(AuditSpecification(source=tmp_path, only=only), LoggingReporter(), {}).results
    by_place = {(one.id, one.instance): one for one in found}
    assert {one.instance for one in found} == {"bond0", "bond0.5", "ens1f0", "ib0"}
    assert by_place["offload-tso", "ens1f0"].status == "fail"
    assert by_place["mtu-below", "bond0"].status == "fail", "9000 on a member of 1500"
    assert by_place["pcie-max-payload", "ens1f0"].seen == "128"
    assert "no adapter of its own; bond0 below it has" in by_place["ring-rx", "bond0.5"].message


@pytest.mark.engine
def test_the_release_of_a_sosreport_is_read_where_its_link_points(tmp_path: Path) -> None:
    changes = {"etc/os-release": None, "usr/lib/os-release": 'ID="rocky"\nVERSION_ID="9.4"\n'}
    root = lay_out(tmp_path / "sosreport-n1", "epyc-connectx", changes)
    (root / "etc").mkdir(exist_ok=True)
    (root / "etc/os-release").symlink_to("../usr/lib/os-release")
    packed = tmp_path / "sosreport-n1.tar.xz"
    with tarfile.open(packed, "w:xz") as archive:
        archive.add(root, "sosreport-n1")
    specification = AuditSpecification(source=packed, only=("operating-system",))
    (found,) = audit(specification, LoggingReporter(), {}).results
    assert (found.status, found.seen) == ("pass", '"9.4"')


def test_a_folder_with_several_hosts_is_not_taken_for_its_first(tmp_path: Path) -> None:
    for name in ("n1", "n2"):
        (tmp_path / name / "proc").mkdir(parents=True)
    with pytest.raises(BadInput, match=r"holds 2 hosts \(n1, n2"), opened(tmp_path):
        pass
    with opened(tmp_path / "n2") as root:
        assert root == tmp_path / "n2"


@pytest.mark.engine
def test_a_file_of_bytes_is_no_text_that_passes(tmp_path: Path) -> None:
    root = lay_out(tmp_path, "epyc-connectx", {"proc/cmdline": "ro\0\0quiet\n"})
    specification = AuditSpecification(source=root, only=("kernel-arguments",))
    (found,) = audit(specification, LoggingReporter(), {}).results
    assert found.status == "unknown"
    assert "not text" in found.message


@pytest.mark.engine
def test_what_a_container_does_not_show_is_unknown(tmp_path: Path) -> None:
    root = lay_out(tmp_path, "epyc-connectx")
    names = ("clock-source", "huge-pages", "iommu-mode", "busy-poll", "port-state")
    specification = AuditSpecification(source=root, only=names)
    shutil.rmtree(root / "sys/class/infiniband")
    shutil.rmtree(root / "sys/devices")
    shutil.rmtree(root / "sys/kernel", ignore_errors=True)
    shutil.rmtree(root / "proc/sys")
    found = audit(specification, LoggingReporter(), {}).results
    assert {one.id: one.status for one in found} == dict.fromkeys(names, "unknown")
    assert all("only partly visible" in one.message for one in found if one.id == "clock-source")


@pytest.mark.engine
@pytest.mark.parametrize(
    ("printed", "status"),
    [("NTP synchronized: yes", "pass"), ("System clock synchronized: no", "fail")],
)
def test_the_clock_of_rhel_7_and_of_a_sosreport(printed: str, status: str, tmp_path: Path) -> None:
    place = "sos_commands/systemd/timedatectl"
    root = lay_out(tmp_path, "haswell-hfi1", {place: f"   RTC in local TZ: no\n  {printed}\n"})
    specification = AuditSpecification(source=root, only=("time-sync",))
    (found,) = audit(specification, LoggingReporter(), {}).results
    assert found.status == status


WHOLE = (
    *("sys/devices/system/cpu", "sys/devices/system/node", "sys/module/", "proc/sys/", "etc/"),
    *("proc/modules", "proc/cpuinfo", "proc/meminfo", "proc/version", "proc/cmdline"),
)
"""What sos keeps of a host's own files."""
KEPT = {"sos_commands/kernel/uname_-a": "Linux"}


def by_entry(root: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, _, status, _ in answers(root):
        found.setdefault(name, set()).add(status)
    return found


@pytest.mark.engine
@pytest.mark.parametrize("machine", MACHINES)
def test_what_a_sosreport_does_not_keep_is_not_called_not_applicable(
    machine: str, tmp_path: Path
) -> None:
    gone = {place: None for place in MACHINES[machine] if not place.startswith(WHOLE)}
    whole = by_entry(lay_out(tmp_path / "whole", machine))
    part = by_entry(lay_out(tmp_path / "part", machine, {**gone, **KEPT}))
    judged = {name for name, statuses in whole.items() if statuses & {"pass", "fail"}}
    assert len(judged) > 20
    assert not {name for name in judged if part[name] == {"not-applicable"}}
    assert not {name for name in judged if "pass" in part[name] and whole[name] == {"fail"}}


IRQS = [*((40 + at, f"i40e-ens1-TxRx-{at}") for at in range(4)), (50, "ens10-rx"), (51, "x-ens1a")]
IBSTAT = OUTPUTS["sources-ibstat"]
ETHTOOL = "Settings for ens1:\n\tSupported link modes:   1000baseT/Full\n\t\t\t\t10000baseT/Full\n"
ETHTOOL += "\tLink partner advertised link modes:  1000baseT/Full 10000baseT/Full\n"
ETHTOOL += "\tSpeed: 1000Mb/s\n\tDuplex: Half\n\tLink detected: yes\n"
IP = "2: ens1: <UP> mtu 1500 qdisc mq state UP mode DEFAULT\n    link/ether 00:11:22:33:44:55\n"


@pytest.mark.engine
def test_what_ibstat_and_ethtool_printed_is_judged(tmp_path: Path) -> None:
    texts = {
        "sos_commands/infiniband/ibstat": IBSTAT,
        "sos_commands/networking/ethtool_ens1": ETHTOOL,
        "sos_commands/networking/ip_-d_address": IP,
        "proc/modules": "mlx5_core 1 0 - Live 0x0\nib_core 1 0 - Live 0x0",
        "sys/devices/system/cpu/online": "0-7",
        "proc/cpuinfo": MACHINES["epyc-connectx"]["proc/cpuinfo"],
        "proc/interrupts": "".join(f" {at}:  7 0 PCI-MSI {at}-edge  {of}\n" for at, of in IRQS),
        **{f"proc/irq/{at}/effective_affinity_list": "5" for at, _ in IRQS},
    }
    for place, text in texts.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    found = {(name, of): status for name, of, status, _ in answers(tmp_path)}
    assert found["port-state", "mlx5_0:1"] == "unknown", "its card has an active port"
    assert found["port-state", "mlx5_0:2"] == "pass"
    assert found["duplex", "ens1"] == "fail"
    assert found["link-speed", "ens1"] == "fail"
    assert not [of for _, of in found if "etc" in of]
    seen = {(name, of): value for name, of, _, value in answers(tmp_path)}
    assert seen["port-rate", "mlx5_0:2"].startswith("200 Gb/sec")
    assert seen["link-speed", "ens1"] == "1000"
    assert seen["irq-spread", "ens1"] == "100 % of 4 interrupts on core 5 (40, 41, 42, 43)"


BLANK = "\n" * 400_000


@pytest.mark.parametrize(
    "argv",
    [
        ("ethtool", "eth0"),
        ("ethtool", "-i", "eth0"),
        printed.IBSTAT,
        printed.DEVINFO,
        IP_ADDRESS,
        pci.LSPCI,
        DMIDECODE,
        AFFINITIES,
        vectors_of("eth0"),
        port_info("mlx5_0", "1"),
        printed.perfquery_of("mlx5_0", "1"),
    ],
)
def test_blank_lines_without_end_cost_no_time(argv: tuple[str, ...]) -> None:
    """What grows with the square of them takes hours."""
    heads = {
        printed.IBSTAT: "CA 'mlx5_0'\n\tPort 1:\n",
        printed.DEVINFO: "hca_id:\tmlx5_0\n\tport:\t1\n",
        IP_ADDRESS: "2: eth0: <UP> mtu 1500 state UP\n",
        pci.LSPCI: "01:00.0 Ethernet controller [0200]: Intel [8086:1592]\n\tCapabilities:\n",
    }
    text = heads.get(argv, "x:\n") + " \n" + BLANK + "\t\n" + BLANK
    frames = [
        FactFrame(rank=0, kind="command", status="ok", argv=list(argv), text=text),
        FactFrame(
            rank=0, kind="file", status="ok", path="/sys/class/net/eth0/device/uevent", text=BLANK
        ),
    ]
    machine = machine_of(HostFacts.of("n1", folded(frames, ["eth0"])))
    assert judge_machine(machine, catalogue(), "throughput")


UNITS = OUTPUTS["sources-units"]
UNIT_FILES = """\
UNIT FILE                              STATE     VENDOR PRESET
rdma-load-modules@.service             masked    enabled

1 unit files listed.
"""
SHOWN = "Id=other.service\nLimitMEMLOCK=infinity\n\nLimitMEMLOCK=65536\nId=slurmd.service\n"
DMI = OUTPUTS["sources-dmi"]
DISKS = """\
Filesystem     1K-blocks     Used Available Use% Mounted on
tmpfs              65536        0     65536   0% /dev/shm
"""
KEPT = {
    "systemd/systemctl_list-units": UNITS,
    "systemd/systemctl_list-units_--failed": "  irqbalance.service loaded failed failed x\n",
    "systemd/systemctl_list-unit-files": UNIT_FILES,
    "systemd/systemctl_show_service_--all": SHOWN,
    "hardware/dmidecode": DMI,
    "filesys/df_-al_-x_autofs": DISKS,
    "selinux/sestatus": "SELinux status:                 enabled\nCurrent mode:    enforcing\n",
}
TOLD = {
    "firewall": ("pass", "active"),
    "irqbalance-service": ("pass", "inactive"),
    "rdma-service": ("fail", "masked"),
    "slurmd-memlock": ("fail", "65536"),
    "bios-version": ("pass", "2.14.3"),
    "shared-memory": ("fail", "65536 0 65536 0% /dev/shm"),
    "selinux": ("pass", "1"),
}


@pytest.mark.engine
@pytest.mark.parametrize("cut", [False, True])
def test_what_another_command_of_a_sosreport_tells_is_read(cut: bool, tmp_path: Path) -> None:
    """A list that was cut short does not tell what it lacks."""
    kept = {name: text[:150] if cut and "list" in name else text for name, text in KEPT.items()}
    places = {f"sos_commands/{name}": text for name, text in kept.items()}
    gone = {place: None for place in MACHINES["epyc-connectx"] if place.startswith("sys/class/")}
    whole = {"etc/slurm/slurm.conf": "ClusterName=c", "proc/modules": "mlx5_core 1 0 - Live 0x0"}
    ports = {"sos_commands/infiniband/ibstat": IBSTAT_OF_ONE}
    root = lay_out(tmp_path, "epyc-connectx", {**gone, **places, **whole, **ports})
    found = {name: (status, seen) for name, _, status, seen in answers(root)}
    expected = dict(TOLD)
    if cut:
        expected["irqbalance-service"] = ("unknown", "")
    assert {name: found[name] for name in TOLD} == expected


IBSTAT_OF_ONE = OUTPUTS["sources-ibstat-of-one"]
IPOIB_ADDRESS = """\
2: ib0: <BROADCAST,UP,LOWER_UP> mtu 4092 qdisc mq state UP group default qlen 256
    link/infiniband 00:00:10:29:fe:80:00:00:00:00:00:00:50:6b:4b:03:00:c0:ff:ee \
parentbus pci parentdev 0000:41:00.0
    inet 10.1.0.7/16 scope global ib0
"""


def test_a_port_of_an_archive_is_that_of_the_interface_with_its_guid() -> None:
    frames = [
        FactFrame(rank=0, kind="command", status="ok", argv=list(argv), text=text)
        for argv, text in ((IP_ADDRESS, IPOIB_ADDRESS), (printed.IBSTAT, IBSTAT_OF_ONE))
    ]
    machine = machine_of(HostFacts.of("n1", frames))
    (port,) = machine.rdma
    assert port.names["rdma.nic"] == "ib0"
    assert port.names["rdma.most"] == 200, "by the model, where ibportstate is not kept"
    assert "PCI_SLOT_NAME=0000:41:00.0" in machine.facts.line(
        "/sys/class/infiniband/mlx5_0/device/uevent"
    )
    assert machine.facts.file("pci/mlx5_0/width").why != "was not asked for"
