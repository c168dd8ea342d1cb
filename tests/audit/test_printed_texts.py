"""Texts as people keep them: any spelling of the command, several hosts or interfaces in one."""

import json
from importlib import import_module
from pathlib import Path

import pytest
from tests.audit.test_sources import answers
from tests.audit.trees import ROWS

from wireproof.audit import printed_texts
from wireproof.audit.archive import opened
from wireproof.audit.kept import told_elsewhere
from wireproof.audit.printed_texts import places_by_host
from wireproof.model.errors import BadInput

COMMANDS = "sos_commands/any/"
RING = (
    "Ring parameters for {nic}:\nPre-set maximums:\nRX:\t\t8192\nTX:\t\t8192\n"
    "Current hardware settings:\nRX:\t\t{rx}\nTX:\t\t8192\n"
)
FEATURES = "Features for {nic}:\ntcp-segmentation-offload: {tso}\n"


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("sysctl.txt", COMMANDS + "sysctl_-a"),
        ("sysctl-a", COMMANDS + "sysctl_-a"),
        ("lspci-vvv.log", COMMANDS + "lspci_-nnvv"),
        ("dmidecode.out", COMMANDS + "dmidecode"),
        ("dmidecode-t-bios.txt", COMMANDS + "dmidecode"),
        ("ethtool_i_ens1f0.txt", COMMANDS + "ethtool_-i_ens1f0"),
        ("ethtool-S-ens1f0.100.log", COMMANDS + "ethtool_-S_ens1f0.100"),
        ("ethtool.-i.ens1f0.txt", COMMANDS + "ethtool_-i_ens1f0"),
        ("ibv_devinfo.txt", COMMANDS + "ibv_devinfo_-v"),
        ("ip-a.txt", COMMANDS + "ip_-d_address"),
        ("ip_addr_show.out", COMMANDS + "ip_-d_address"),
        ("ip route.txt", COMMANDS + "ip_route_show_table_all"),
        ("perfquery-C-mlx5_0-P-1.txt", COMMANDS + "perfquery_-C_mlx5_0_-P_1"),
        ("perfquery_hfi1_1_2.txt", COMMANDS + "perfquery_-C_hfi1_1_-P_2"),
        ("tuned-adm-active.txt", COMMANDS + "tuned-adm_active"),
        ("lscpu", COMMANDS + "lscpu"),
        ("cat_proc_cmdline.txt", "proc/cmdline"),
        ("os-release", "etc/os-release"),
        ("hostname.txt", "etc/hostname"),
        ("limits.conf", "etc/security/limits.conf"),
        ("slurm.conf", "etc/slurm/slurm.conf"),
        ("irqbalance", "etc/sysconfig/irqbalance"),
        ("cpupower -c all frequency-info.txt", COMMANDS + "cpupower_frequency-info"),
        ("numactl -H.log", COMMANDS + "numactl_--hardware"),
        ("chronyc -n tracking.txt", COMMANDS + "chronyc_-n_tracking"),
        ("mlnx_qos -i ens1.txt", COMMANDS + "mlnx_qos_-i_ens1"),
        ("mlxconfig -d c1:00.0 -e q.txt", COMMANDS + "mlxconfig_-d_0000_c1_00.0_-e_q"),
        ("mstconfig_-d_0001_c1_00.1_q", COMMANDS + "mstconfig_-d_0001_c1_00.1_-e_q"),
        ("notes.txt", None),
        ("..", None),
        ("-.txt", None),
    ],
)
def test_a_name_in_any_spelling_is_that_of_its_command(file: str, place: str | None) -> None:
    found = places_by_host([(file, "text\n")])
    assert found == ({} if place is None else {"": {place: "text\n"}})


def test_the_sections_of_several_interfaces_are_told_apart() -> None:
    text = "".join(
        form.format(nic=nic, rx=512, tso="on") for nic in ("eth0", "eth1") for form in
        (RING, FEATURES)
    )  # fmt: skip
    found = places_by_host([("ethtool.txt", text)])[""]
    assert set(found) == {
        COMMANDS + f"ethtool_-{option}_{nic}" for option in "gk" for nic in ("eth0", "eth1")
    }
    assert found[COMMANDS + "ethtool_-g_eth1"] == RING.format(nic="eth1", rx=512)


def _pdsh(host: str, text: str) -> str:
    return "".join(f"{host}: {line}\n" for line in text.splitlines())


def _clush(host: str, text: str) -> str:
    return f"---------------\n{host}\n---------------\n{text}"


def _dshbak(host: str, text: str) -> str:
    return f"----------------\n{host} (1)\n----------------\n{text}"


def _ansible(host: str, text: str) -> str:
    return f"{host} | CHANGED | rc=0 >>\n{text}\n"


@pytest.mark.engine
@pytest.mark.parametrize("form", [_pdsh, _clush, _dshbak, _ansible])
def test_each_host_of_a_text_is_judged(form: object, tmp_path: Path) -> None:
    """The first host hid the others, or none was read."""
    texts = {
        "ethtool -i eth0.txt": ("driver: mlx5_core\nbus-info: 0000:17:00.0\n",) * 2,
        "ethtool-g-eth0.log": (RING.format(nic="eth0", rx=8192), RING.format(nic="eth0", rx=256)),
        "sysctl.txt": ("vm.swappiness = 10\nnet.core.rmem_max = 67108864\n",
                       "vm.swappiness = 10\nnet.core.rmem_max = 212992\n"),
        "ethtool eth0.txt": ("Settings for eth0:\n\tSpeed: 200000Mb/s\n\tDuplex: Full\n",) * 2,
        "dmidecode": ("System Information\n\tManufacturer: Dell Inc.\n\tProduct Name: R7\n",) * 2,
        "tuned-adm active.txt": ("Current active profile: hpc-compute\n",) * 2,
    }  # fmt: skip
    for name, (right, wrong) in texts.items():
        (tmp_path / name).write_text(form("n1", right) + form("n2", wrong))  # type: ignore[operator]
    from wireproof.audit.job import AuditSpecification, audit
    from wireproof.report.reporter import LoggingReporter

    found = audit(AuditSpecification(source=tmp_path), LoggingReporter(), {})
    assert found.hosts == ["n1", "n2"]
    status = {(one.host, one.id): one.status for one in found.results}
    assert status["n2", "ring-rx"] == status["n2", "rmem-max"] == "fail"
    assert "fail" not in (status["n1", "ring-rx"], status["n1", "rmem-max"])


def test_a_heading_names_all_hosts_with_this_text() -> None:
    found = places_by_host([("sysctl.txt", _clush("n[1-3]", "a = 1\n") + _clush("n4", "a = 2\n"))])
    texts = {host: places[COMMANDS + "sysctl_-a"] for host, places in found.items()}
    assert texts == {"n1": "a = 1\n", "n2": "a = 1\n", "n3": "a = 1\n", "n4": "a = 2\n"}


@pytest.mark.parametrize(
    "text",
    [
        "driver: mlx5_core\nversion: 1\nfirmware-version: 20.1\n",
        "----\nnot a host!\n----\na = 1\n",
        "----\n@group\n----\na: 1\n",
        "----\nfile:/etc/passwd\n----\na = 1\n",
    ],
)
def test_what_names_no_host_belongs_to_none(text: str) -> None:
    assert set(places_by_host([("sysctl.txt", text)])) <= {""}


def test_many_hosts_take_no_more_memory_than_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printed_texts, "_LARGEST", 1 << 16)
    with pytest.raises(BadInput, match="so many hosts"):
        places_by_host([("sysctl.txt", _clush("n[1-1000]", "a = 1\n" * 100))])


def test_lines_of_grep_are_files() -> None:
    text = (
        "/sys/module/hfi1/parameters/max_mtu:4096\n/proc/sys/vm/swappiness:60\n"
        "/sys/module/../../etc/passwd:x\n/sys/module/.x/y:1\n/proc/1/environ:x\n/etc/shadow:x\n"
    )
    found = places_by_host([("values.txt", text)])[""]
    assert found == {
        "sys/module/hfi1/parameters/max_mtu": "4096\n",
        "proc/sys/vm/swappiness": "60\n",
    }


def test_lines_of_grep_are_bounded_and_may_contradict_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("wireproof.audit.archive"), "_MOST_SECTIONS", 2000)
    lines = "".join(f"/sys/class/a{number}:1\n" for number in range(900))
    (tmp_path / "a.txt").write_text(lines + "/sys/class/net:1\n/sys/class/net/eth0:1\n")
    with opened(tmp_path) as root:
        assert (root / "sys/class/a899").read_text() == "1\n"
    for name in ("b", "c"):
        (tmp_path / f"{name}.txt").write_text(lines.replace("/a", f"/{name}"))
    with pytest.raises(BadInput, match="more than"), opened(tmp_path):
        pass


@pytest.mark.engine
@pytest.mark.parametrize(
    ("setting", "file", "text", "right", "wrong", "beside"),
    ROWS["a-wrong-setting-is-found-in-each-form-of-text"],
)
def test_a_wrong_setting_is_found_in_each_form_of_text(
    setting: str, file: str, text: str, right: str, wrong: str, beside: dict[str, str],
    tmp_path: Path,
) -> None:  # fmt: skip
    from wireproof.audit.job import AuditSpecification, audit
    from wireproof.report.reporter import LoggingReporter

    status = {}
    for value in (right, wrong):
        folder = tmp_path / value
        folder.mkdir()
        texts = {"sysctl.txt": "vm.swappiness = 10\n", "lscpu": "Vendor ID: GenuineIntel\n"}
        for name, content in {**texts, **beside, file: text.replace("{}", value)}.items():
            (folder / name).write_text(content)
        found = audit(AuditSpecification(source=folder), LoggingReporter(), {})
        status[value] = {one.status for one in found.results if one.id == setting}
    assert "fail" in status[wrong]
    assert status[right] == {"pass"}


def test_a_long_line_of_chrony_takes_no_time() -> None:
    """The time grew with the square of the blanks: minutes."""
    texts = {"chronyc_tracking": f"Leap status : Not{' ' * 200_000}x\n"}
    assert told_elsewhere(["timedatectl"], texts) == "System clock synchronized: no\n"


@pytest.mark.engine
def test_a_limit_that_differs_between_users_is_unknown(tmp_path: Path) -> None:
    """Which of them runs the job is not known."""
    (tmp_path / "limits.conf").write_text("* - memlock 65536\n@hpc - memlock unlimited\n")
    status = {setting: status for setting, _, status, _ in answers(tmp_path)}
    assert status["limit-memlock"] == "unknown"


FACTS = {
    "ansible_facts": {
        "ansible_hostname": "n7",
        "ansible_kernel": "5.14.0-427.el9.x86_64",
        "ansible_cmdline": {"ro": True, "root": "/dev/sda2", "pci": "nomsi"},
        "ansible_distribution": "RedHat",
        "ansible_distribution_version": "9.4",
        "ansible_processor": ["0", "GenuineIntel", "some model"],
        "ansible_virtualization_role": "host",
        "ansible_system_vendor": "Dell Inc.",
        "ansible_selinux": {"status": "enabled", "mode": "enforcing"},
        "ansible_interfaces": ["lo", "ens1f0", "../x"],
        "ansible_ens1f0": {
            "mtu": 1500, "speed": 100000, "active": True, "module": "mlx5_core",
            "pciid": "0000:17:00.0",
            "features": {"tcp_segmentation_offload": "off", "rx_checksumming": "on"},
        },
    },
    "changed": False,
}  # fmt: skip


@pytest.mark.engine
def test_facts_of_ansible_are_read(tmp_path: Path) -> None:
    (tmp_path / "n7").write_text(json.dumps(FACTS))
    found = {(name, of): status for name, of, status, _ in answers(tmp_path)}
    assert found["offload-tso", "ens1f0"] == "fail"
    assert found["mtu", "ens1f0"] == "fail"
    assert found["kernel-arguments", ""] == "fail"
    assert found["ring-rx", "ens1f0"] == "unknown", "was not gathered"


@pytest.mark.engine
def test_facts_of_ansible_name_interfaces_outside_pci_and_ports_of_a_card(tmp_path: Path) -> None:
    facts = FACTS["ansible_facts"]
    assert isinstance(facts, dict)
    nic = {"mtu": 9000, "speed": 100000, "active": True, "module": "bnxt_en"}
    azure = {
        **nic, "module": "hv_netvsc", "pciid": "f8615163-0000-1000-2000-6045bd123456",
        "features": {"tcp_segmentation_offload": "off"},
    }  # fmt: skip
    added = {
        "ansible_interfaces": ["eth0", "ens1f0", "ens1f1"],
        "ansible_eth0": azure,
        "ansible_ens1f0": {**nic, "pciid": "0000:17:00.0"},
        "ansible_ens1f1": {**nic, "pciid": "0000:17:00.1", "speed": 25000},
    }
    (tmp_path / "n7").write_text(json.dumps({"ansible_facts": {**facts, **added}}))
    found = {(name, of): status for name, of, status, _ in answers(tmp_path)}
    assert found["offload-tso", "eth0"] == "fail"
    assert found["link-speed", "ens1f1"] == "fail", "the card's other port is faster"
    assert found["hfi1-krcvqs", ""] == "unknown", "a port without IPoIB is no interface"


@pytest.mark.parametrize(
    "text",
    [
        '{"ansible_facts"',
        '{"ansible_facts": 1}',
        '{"ansible_facts": []}',
        '{"ansible_facts": {"interfaces": 5, "cmdline": [1], "processor": 2, "selinux": "x"}}',
        '{"ansible_facts": {"interfaces": ["a"], "a": {"mtu": "x", "features": {"k": [1]}}}}',
        "{" + '"ansible_facts":[' * 9000,
    ],
)
def test_damaged_facts_give_nothing_wrong(text: str) -> None:
    assert "sys/class/net/a/mtu" not in places_by_host([("n1", text)]).get("", {})


def test_lscpu_stands_for_cpuinfo() -> None:
    from wireproof.audit.facts import HostFacts
    from wireproof.audit.machine import machine_of
    from wireproof.model.record import FactFrame

    text = "CPU(s):  8\n  On-line CPU(s) list:  0-7\nVendor ID:  GenuineIntel\n  Model name: x\n"
    text += "    CPU family: 6\n    Model: 143\n    Flags: fpu vme\nNUMA:\n  NUMA node(s):  2\n"
    frame = FactFrame(rank=0, kind="command", status="ok", argv=["lscpu"], text=text)
    names = machine_of(HostFacts.of("n1", [frame])).names
    assert (names["host.cpu"], names["host.cores"]) == ("sapphire-rapids", 8)
    assert names["host.virtual"] is False
