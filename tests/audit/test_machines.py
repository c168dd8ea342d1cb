"""The documents' machine gets the documents' advice, today's machines today's."""

from pathlib import Path
from typing import Any

import pytest
from tests.audit.trees import MACHINES, lay_out

from wireproof.audit.job import AuditSpecification, audit, catalogue
from wireproof.model.setting import AuditResult, Profile
from wireproof.report.reporter import LoggingReporter

pytestmark = pytest.mark.engine


def audited(root: Path, profile: Profile = "throughput", *only: str) -> list[AuditResult]:
    found = audit(
        AuditSpecification(source=root, profile=profile, only=only), LoggingReporter(), {}
    )
    return found.results


def failing(root: Path, profile: Profile = "throughput") -> dict[str, AuditResult]:
    return {one.id: one for one in audited(root, profile) if one.status == "fail"}


@pytest.mark.parametrize("machine", MACHINES)
def test_every_entry_is_answered(machine: str, tmp_path: Path) -> None:
    results = audited(lay_out(tmp_path, machine))
    assert {one.id for one in results} == set(catalogue().entries)
    assert all(one.message and one.host for one in results)


def test_the_machine_of_2015_gets_the_advice_of_2015(tmp_path: Path) -> None:
    found = failing(lay_out(tmp_path, "haswell-hfi1"), "repeatability")
    assert {"cpu-governor", "scaling-driver", "clock-range", "acpi-pad", "irqbalance"} <= set(found)
    assert {"ipoib-mode", "ipoib-mtu"} <= set(found) or "ipoib-mode" in found
    assert "intel_pstate=disable" in found["scaling-driver"].fix
    assert "hintpolicy=exact" in found["irqbalance"].fix
    assert "blacklist acpi_pad" in found["acpi-pad"].fix
    assert not [name for name in found if name.startswith("hfi1-")], "its own defaults are good"


def test_what_the_document_asks_for_passes_there(tmp_path: Path) -> None:
    done: dict[str, str | None] = {
        "sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "performance",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver": "acpi-cpufreq",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq": "2600000",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq": "2600000",
        "sys/module/acpi_pad/initstate": None,
        "etc/sysconfig/irqbalance": "IRQBALANCE_ARGS=--hintpolicy=exact",
        "sys/class/net/ib0/mode": "connected",
        "sys/class/net/ib0/mtu": "65520",
    }
    found = failing(lay_out(tmp_path, "haswell-hfi1", done), "repeatability")
    documented = {"cpu-governor", "scaling-driver", "clock-range", "acpi-pad", "irqbalance"}
    assert not (documented | {"ipoib-mode", "ipoib-mtu"}) & set(found)


def test_the_old_advice_is_wrong_on_a_new_system(tmp_path: Path) -> None:
    """--hintpolicy is not an option of today's irqbalance."""
    changes = {"etc/sysconfig/irqbalance": "IRQBALANCE_ARGS=--hintpolicy=exact"}
    assert "irqbalance" in failing(lay_out(tmp_path / "old", "icelake-e810", changes))
    changes = {"etc/sysconfig/irqbalance": "IRQBALANCE_ARGS="}
    assert "irqbalance" not in failing(lay_out(tmp_path / "new", "icelake-e810", changes))


def test_iwarp_on_a_machine_for_roce(tmp_path: Path) -> None:
    assert "irdma-roce" in failing(lay_out(tmp_path, "icelake-e810"))


def test_strict_translation_and_a_governor_that_follows_the_load(tmp_path: Path) -> None:
    found = failing(lay_out(tmp_path, "epyc-connectx"))
    assert {"iommu-mode", "cpu-governor"} <= set(found)
    assert "ipoib-mode" not in found, "mlx5 has datagram mode only"


def test_the_maker_s_values_pass_on_cn5000(tmp_path: Path) -> None:
    found = failing(lay_out(tmp_path, "sapphire-cn5000"))
    assert not [name for name in found if name.startswith("hfi1-")]


def test_one_rail_on_half_of_its_lanes_is_named(tmp_path: Path) -> None:
    found = [one for one in audited(lay_out(tmp_path, "eight-gpus")) if one.status == "fail"]
    narrow = [one for one in found if one.id == "pcie-width"]
    assert [(one.instance, one.seen) for one in narrow] == [("rail3", "8")]


@pytest.mark.parametrize(
    ("place", "text", "setting"),
    [
        ("sys/class/infiniband/mlx5_0/ports/1/state", "2: INIT", "port-state"),
        ("sys/class/infiniband/mlx5_0/ports/1/rate", "50 Gb/sec (1X HDR)", "port-rate"),
        ("sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "4000", "symbol-errors"),
        ("sys/class/infiniband/mlx5_0/device/numa_node", "-1", "numa-node-rdma"),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet", "clock-source"),
        ("proc/sys/net/ipv4/tcp_sack", "0", "tcp-sack"),
        ("sys/kernel/mm/transparent_hugepage/defrag", "[always] madvise never", "huge-page-defrag"),
    ],
)
def test_one_wrong_setting_is_named(place: str, text: str, setting: str, tmp_path: Path) -> None:
    before = failing(lay_out(tmp_path / "good", "epyc-connectx"))
    after = failing(lay_out(tmp_path / "bad", "epyc-connectx", {place: text}))
    assert set(after) - set(before) == {setting}


@pytest.mark.parametrize(
    "text", ["", "\x1b[31m", "999999999999999999999", "-", "nan", "a" * 100000, "\ufffd\ufffd"]
)
def test_a_hostile_text_is_unknown_or_wrong_and_never_passes(text: str, tmp_path: Path) -> None:
    place = "sys/devices/system/clocksource/clocksource0/current_clocksource"
    root = lay_out(tmp_path, "epyc-connectx", {place: text})
    (found,) = audited(root, "throughput", "clock-source")
    assert found.status in ("unknown", "fail")
    assert "\x1b" not in found.seen or found.status == "unknown"


def test_the_odd_one_out(tmp_path: Path) -> None:
    from wireproof.audit import judge_machines
    from wireproof.audit.alike import kind_of, odd_ones
    from wireproof.audit.facts import HostFacts
    from wireproof.audit.machine import machine_of
    from wireproof.model.record import FactFrame

    def host(name: str, firmware: str) -> Any:
        texts = {
            "/sys/class/infiniband/mlx5_0/ports/1/link_layer": "InfiniBand",
            "/sys/class/infiniband/mlx5_0/device/uevent": "DRIVER=mlx5_core",
            "/sys/class/infiniband/mlx5_0/fw_ver": firmware,
        }
        frames = [
            FactFrame(rank=0, kind="file", status="ok", path=path, text=text)
            for path, text in texts.items()
        ]
        return machine_of(HostFacts.of(name, frames))

    machines = [host(f"n{number}", "20.31" if number != 3 else "20.28") for number in range(1, 9)]

    def odd_of(machines: list[Any]) -> list[Any]:
        results = judge_machines(machines, catalogue(), "throughput", ["firmware"])
        kinds = {each.facts.host: kind_of(each) for each in machines}
        return odd_ones(kinds, results, catalogue())

    (odd,) = odd_of(machines)
    assert (odd.id, odd.host, odd.seen) == ("firmware", "n3", "20.28")
    assert "7 others" in odd.message
    assert "vendor's tool" in odd.fix, "the value of the others passes: its own fix is none"
    assert not odd_of(machines[1:3]), "of two, neither is the odd one"
    halves = [host(f"n{number}", ("20.31", "20.28")[number > 4]) for number in range(1, 9)]
    split = odd_of(halves)
    assert [one.host for one in split] == [f"n{number}" for number in range(1, 9)]
    assert "hosts of the same kind differ: 20.31 on 4 hosts, 20.28 on 4 hosts" in split[0].message


@pytest.mark.parametrize(
    ("printed", "status"),
    [
        ("Act: 4  En: 4", "pass"),
        ("Act: 1  En: 4", "fail"),
        ("Act: 4  En: 4\n  LinkWidthDnGrd ActTx: 4  Rx: 4   En: 3,4", "pass"),
        ("Act: 4  En: 4\n  LinkWidthDnGrd ActTx: 4  Rx: 3   En: 3,4", "fail"),
    ],
)
def test_a_link_that_gave_up_lanes_is_judged_by_what_is_active(
    printed: str, status: str, tmp_path: Path
) -> None:
    place = "sos_commands/opa/opainfo"
    root = lay_out(
        tmp_path, "haswell-hfi1", {place: f"hfi1_0:1  PortGID:0x1\n  LinkWidth      {printed}"}
    )
    (found,) = audited(root, "throughput", "opa-link-width")
    assert found.status == status


def test_a_device_without_uevent_is_of_the_module_that_names_it(tmp_path: Path) -> None:
    gone = {
        "sys/class/infiniband/hfi1_0/device/uevent": None,
        "sys/class/net/ib0/device/uevent": None,
    }
    changes = {**gone, "sys/module/hfi1/parameters/krcvqs": "3,3,3,3,3,3,3"}
    (found,) = audited(lay_out(tmp_path, "haswell-hfi1", changes), "throughput", "hfi1-krcvqs")
    assert found.status == "fail"
