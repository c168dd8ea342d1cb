"""The status of a setting on hosts that ``conditions.toml`` describes."""

import re
import tomllib
from collections import ChainMap
from pathlib import Path
from typing import Any

import pytest
from tests.audit.trees import facts_of, judge_machine

from wireproof.audit.catalogue import requests
from wireproof.audit.expression import UNKNOWN
from wireproof.audit.facts import HostFacts
from wireproof.audit.job import catalogue
from wireproof.audit.machine import machine_of
from wireproof.model.record import FactFrame
from wireproof.model.setting import Profile

DATA = tomllib.loads(Path(__file__).with_name("conditions.toml").read_text())


def status(name: str, texts: dict[str, str], profile: Profile = "throughput") -> str:
    """Of a setting on a host whose files and commands (those with a blank) say ``texts``."""
    frames = []
    for place, text in texts.items():
        command = " " in place
        frames.append(
            FactFrame(
                rank=0,
                kind="command" if command else "file",
                status="ok",
                path="" if command else place,
                argv=place.split() if command else [],
                text=text,
            )
        )
    frames += [
        FactFrame(rank=0, kind="file", status="missing", path=path)
        for path in ("/sys/module/rv/initstate",)
        if path not in texts
    ]
    machine = machine_of(HostFacts.of("n1", frames))
    found, *_ = judge_machine(machine, catalogue(), profile, [name])
    return found.status


def _rows(*chapters: str) -> list[tuple[str, dict[str, str], Any]]:
    """Setting, texts of the host, and expected status. A later text of a place replaces others."""
    rows = []
    for name, hosts, texts, expected in (row for chapter in chapters for row in DATA[chapter]):
        parts = [*(DATA["hosts"][host] for host in hosts), texts]
        rows.append((name, dict(ChainMap(*reversed(parts))), expected))
    return rows


@pytest.mark.parametrize(
    ("name", "texts", "expected"), _rows("beside", "drivers", "doubts", "makers", "uses")
)
def test_a_value_is_judged_by_what_its_host_shows(
    name: str, texts: dict[str, str], expected: str
) -> None:
    assert status(name, texts) == expected


def test_what_is_wanted_passes_and_what_is_below_fails() -> None:
    """Where the condition is one least number, people are told that number."""
    units = {"Ki": 1 << 10, "Mi": 1 << 20}
    for name, entry in catalogue().entries.items():
        bound = re.fullmatch(r"value >= (\d+)([KM]i)?", entry.setting.condition("throughput"))
        if bound:
            least = int(bound[1]) * units.get(bound[2], 1)
            told = [int(each) for each in re.findall(r"\d+", entry.setting.wish("throughput"))]
            assert not told or told[0] in (int(bound[1]), least, least >> 20), name


@pytest.mark.parametrize(("disabled", "expected"), [("0", "fail"), ("1", "pass")])
def test_the_sleep_of_the_last_core_counts(disabled: str, expected: str) -> None:
    texts = DATA["hosts"]["haswell-el7"] | {
        "/sys/devices/system/cpu/cpu0/cpuidle/state3/latency": "133",
        "/sys/devices/system/cpu/cpu0/cpuidle/state3/disable": "1",
        "/sys/devices/system/cpu/cpu47/cpuidle/state3/disable": disabled,
    }
    assert status("idle-states", texts, "latency") == expected


def test_what_was_too_much_to_list_is_unknown() -> None:
    policies = "/sys/devices/system/cpu/cpufreq/policy*"
    paths = [policies.replace("*", str(number)) for number in range(3)]
    frames = [
        FactFrame(rank=0, kind="file", status="ok", path="/proc/cpuinfo", text="flags\t: fpu\n")
    ]
    for name, text in (("scaling_governor", "performance"), ("cpuinfo_max_freq", "3"),
                       ("scaling_max_freq", "3")):  # fmt: skip
        listed = "".join(f"{path}/{name}\n" for path in paths)
        frames.append(FactFrame(rank=0, kind="glob", status="ok", path=f"{policies}/{name}",
                                text=listed, truncated=True))  # fmt: skip
        frames += [
            FactFrame(rank=0, kind="file", status="ok", path=f"{path}/{name}", text=text)
            for path in paths
        ]
    machine = machine_of(HostFacts.of("n1", frames))
    found = judge_machine(machine, catalogue(), "throughput", ["cpu-governor", "clock-maximum"])
    assert [one.status for one in found] == ["pass"] * 3 + ["unknown"] * 2
    assert all("more than 3" in one.message for one in found[3:])


@pytest.mark.parametrize(("limit", "expected"), [("150000000", "fail"), ("250000000", "pass")])
def test_a_power_cap_is_held_against_the_processor_s_own(limit: str, expected: str) -> None:
    folder = "/sys/class/powercap/intel-rapl:0"
    texts = {
        "/proc/cpuinfo": "flags\t\t: fpu\n",
        f"{folder}/constraint_0_power_limit_uw": limit,
        f"{folder}/constraint_0_max_power_uw": "250000000",
    }
    assert status("power-limit", texts) == expected


@pytest.mark.parametrize(("name", "texts", "by_profile"), _rows("profiles"))
def test_where_authorities_disagree_the_profile_or_the_driver_decides(
    name: str, texts: dict[str, str], by_profile: dict[Profile, str]
) -> None:
    assert {profile: status(name, texts, profile) for profile in by_profile} == by_profile
    assert "Authorities disagree" in catalogue().get(name).setting.why


WIRED = {
    "interfaces": '[{"name": "eth0", "kind": "ethernet", "operstate": "up", "mtu": 9000}]',
    "/sys/class/net/eth0/device/uevent": "DRIVER=ice",
    "/proc/cpuinfo": "flags\t\t: fpu\n",
}


def test_a_laptop_s_processor_is_no_server_s() -> None:
    def named(family: int, model: int) -> object:
        text = f"vendor_id\t: AuthenticAMD\ncpu family\t: {family}\nmodel\t\t: {model}\n"
        frame = FactFrame(rank=0, kind="file", status="ok", path="/proc/cpuinfo", text=text)
        return machine_of(HostFacts.of("n1", [frame])).names["host.cpu"]

    assert [named(25, 1), named(25, 17), named(26, 2)] == ["milan", "genoa", "turin"]
    assert [named(25, 0x21), named(25, 0x74), named(26, 0x44)] == [UNKNOWN] * 3


def test_looking_whether_a_file_is_there_does_not_cut_what_a_pattern_reads() -> None:
    asked = {one.path for one in requests(catalogue()) if one.kind == "file"}
    assert "/sys/kernel/iommu_groups/0/type" not in asked
    assert "/sys/kernel/iommu_groups/*/type" in {one.path for one in requests(catalogue())}


CPU = "/sys/devices/system/cpu"
REAL = {"/proc/cpuinfo": "flags\t\t: fpu\n"}


BIAS = f"{CPU}/cpu*/power/energy_perf_bias"
PREFERENCE = "energy_performance_preference"
LEAST, MOST = "scaling_max_freq", "cpuinfo_max_freq"


def each(place: str, *values: str) -> dict[str, str]:
    return {place.replace("*", str(at)): value for at, value in enumerate(values)}


def policies(name: str, *values: str) -> dict[str, str]:
    return each(f"{CPU}/cpufreq/policy*/{name}", *values)


@pytest.mark.parametrize(
    ("name", "texts", "status", "where"),
    [
        ("energy-preference", policies(PREFERENCE, "performance", "power"), "fail", "policy1"),
        ("energy-preference", policies(PREFERENCE, *["performance"] * 12), "pass", ""),
        ("energy-preference", policies(PREFERENCE, "performance", "128"), "fail", "policy1"),
        ("energy-bias", each(BIAS, "0", "7"), "fail", "cpu1"),
        ("energy-bias", each(BIAS, "0", "0"), "pass", ""),
        ("energy-bias", each(BIAS, "6") | policies(PREFERENCE, "performance"), "unknown", ""),
        ("energy-bias", each(BIAS, "7") | policies(PREFERENCE, "performance"), "fail", ""),
        (
            "clock-maximum",
            policies(MOST, *["3000000"] * 3) | policies(LEAST, "3000000", "3000000", "800000"),
            "fail",
            "policy2",
        ),
        (
            "clock-maximum",
            policies(MOST, "3000000", "3400000") | policies(LEAST, "3000000", "3400000"),
            "pass",
            "",
        ),
        (
            "thermal-throttling",
            each(f"{CPU}/cpu*/thermal_throttle/package_throttle_count", *["0"] * 10, "7", "0"),
            "fail",
            "cpu10",
        ),
        (
            "rps",
            DATA["hosts"]["roce"]
            | each("/sys/class/net/eth0/queues/rx-*/rps_cpus", *["00"] * 3, "f,00000000", "00"),
            "fail",
            "rx-3",
        ),
        ("clock-maximum", {}, "unknown", ""),
    ],
)
def test_every_core_socket_and_queue_is_looked_at_and_the_worst_is_named(
    name: str, texts: dict[str, str], status: str, where: str
) -> None:
    machine = machine_of(facts_of(REAL | texts))
    (one,) = judge_machine(machine, catalogue(), "throughput", [name])
    assert one.status == status, one
    assert where in one.message


def test_a_fabric_whose_driver_nobody_names_is_not_taken_for_another() -> None:
    ports = {"/sys/class/infiniband/rdmap0s6/ports/1/link_layer": "Unspecified"}
    pages = {"/proc/sys/vm/nr_hugepages": "0"}
    assert status("reserved-huge-pages", ports | pages) == "unknown"
    driver = {"/sys/class/infiniband/rdmap0s6/device/uevent": "DRIVER=efa", **pages}
    assert status("reserved-huge-pages", ports | driver) == "fail"
