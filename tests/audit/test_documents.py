"""What the tuning documents ask for, on their machine and on today's: audit gives each its advice,
and lint of the documents' line points at the entry.
"""

from pathlib import Path

import pytest
from tests.audit.test_machines import audited
from tests.audit.trees import MACHINES, ROWS, lay_out

from wireproof.lint.job import lint
from wireproof.lint.rule import Kind
from wireproof.model.setting import Profile, Setting, Status
from wireproof.workflow.explain import explain

pytestmark = pytest.mark.engine

HASWELL, ICELAKE, EPYC = "haswell-hfi1", "icelake-e810", "epyc-connectx"
CN5000, GPUS = "sapphire-cn5000", "eight-gpus"
TODAY = (ICELAKE, EPYC, CN5000, GPUS)
DRIVER = "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"
GOVERNOR = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor"
IRQBALANCE = "etc/sysconfig/irqbalance"
EXACT = "IRQBALANCE_ARGS=--hintpolicy=exact"
PARAMETERS = "sys/module/hfi1/parameters"


def statuses(
    setting: str, machine: str, folder: Path, changes: dict[str, str], profile: Profile
) -> set[Status]:
    root = lay_out(folder / machine, machine, changes)
    return {one.status for one in audited(root, profile, setting)}


@pytest.mark.parametrize(
    ("setting", "profile", "changes", "machine", "status"),
    [
        ("irqbalance", "throughput", {IRQBALANCE: EXACT}, HASWELL, "pass"),
        ("irqbalance", "throughput", {IRQBALANCE: "IRQBALANCE_ARGS="}, HASWELL, "fail"),
        *[("irqbalance", "throughput", {IRQBALANCE: EXACT}, one, "fail") for one in TODAY],
        *[
            ("irqbalance", "throughput", {IRQBALANCE: "IRQBALANCE_ARGS="}, one, "pass")
            for one in TODAY
        ],
        ("scaling-driver", "repeatability", {DRIVER: "acpi-cpufreq"}, HASWELL, "pass"),
        ("scaling-driver", "repeatability", {DRIVER: "intel_pstate"}, HASWELL, "fail"),
        *[
            ("scaling-driver", "repeatability", {DRIVER: "intel_pstate"}, one, "pass")
            for one in TODAY
        ],
        ("ipoib-mode", "throughput", {"sys/class/net/ib0/mode": "connected"}, HASWELL, "pass"),
        ("ipoib-mode", "throughput", {"sys/class/net/ib0/mode": "datagram"}, HASWELL, "fail"),
        ("ipoib-mode", "throughput", {"sys/class/net/ib0/mode": "datagram"}, EPYC, "pass"),
        ("acpi-pad", "throughput", {"sys/module/acpi_pad/initstate": "live"}, HASWELL, "fail"),
        *[
            ("acpi-pad", "throughput", {"sys/module/acpi_pad/initstate": "live"}, one, "pass")
            for one in TODAY
        ],
        *[
            ("cpu-governor", "throughput", {GOVERNOR: "performance"}, one, "pass")
            for one in MACHINES
        ],
        ("hfi1-max-mtu", "throughput", {f"{PARAMETERS}/max_mtu": "8192"}, HASWELL, "pass"),
        ("hfi1-max-mtu", "throughput", {f"{PARAMETERS}/max_mtu": "10240"}, CN5000, "pass"),
        ("hfi1-hdrq-entsize", "throughput", {f"{PARAMETERS}/hdrq_entsize": "16"}, HASWELL, "fail"),
        ("hfi1-krcvqs", "throughput", {f"{PARAMETERS}/krcvqs": "4"}, HASWELL, "pass"),
    ],
)
def test_each_machine_gets_the_advice_of_its_day(
    setting: str,
    profile: Profile,
    changes: dict[str, str],
    machine: str,
    status: Status,
    tmp_path: Path,
) -> None:
    assert statuses(setting, machine, tmp_path, changes, profile) == {status}


@pytest.mark.parametrize("lanes", [8, 4])
@pytest.mark.parametrize(
    "queues",
    ["3", "5", "3,3", "3,3,3", "0,0,0,5", "3,3,3,3", "3,3,3,3,3", "3,3,3,0,3"]
    + [",".join(["3"] * count) for count in (6, 7, 8, 9)],
)
def test_lint_and_audit_agree_on_queues_of_the_virtual_lanes(
    queues: str, lanes: int, tmp_path: Path
) -> None:
    """What lint calls wrong in modprobe.d does not pass on the host that has read it."""
    line = f"options hfi1 num_vls={lanes} krcvqs={queues}\n"
    wrong = any(
        one.code == "modprobe-queues-per-lane" for one in lint(line, kind="modprobe").findings
    )
    changes = {f"{PARAMETERS}/krcvqs": queues, f"{PARAMETERS}/num_vls": str(lanes)}
    found = statuses("hfi1-krcvqs", HASWELL, tmp_path, changes, "throughput")
    assert found == {"fail" if wrong else "pass"}


@pytest.mark.parametrize(
    ("kind", "line", "setting", "said"),
    ROWS["lint-of-a-documents-line-points-at-what-is-right-today"],
)
def test_lint_of_a_documents_line_points_at_what_is_right_today(
    kind: Kind, line: str, setting: str, said: str
) -> None:
    found = [one for one in lint(line + "\n", kind=kind).findings if one.setting == setting]
    assert found, "the line's advice has aged, and nothing points at the entry"
    assert said in found[0].wanted


def test_the_advice_that_has_ended_says_with_which_release() -> None:
    (found,) = lint(EXACT + "\n", kind="irqbalance").findings
    assert "irqbalance 1.2.0" in found.setting_until


@pytest.mark.parametrize(
    ("name", "settings"), ROWS["a-setting-is-explained-by-the-names-that-people-know"]
)
def test_a_setting_is_explained_by_the_names_that_people_know(
    name: str, settings: list[str]
) -> None:
    found = [one.entry for one in explain(name)]
    assert [one.id for one in found if isinstance(one, Setting)] == settings


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("processor", "cpu-governor"),
        ("transparent hugepages", "huge-pages"),
        ("ulimit -l", "limit-memlock"),
        ("MaxReadReq", "pcie-read-request"),
        ("LACP", "bond-hash"),
        ("datagram", "ipoib-mode"),
    ],
)
def test_a_word_of_the_field_leads_to_the_settings_and_to_no_entry_of_a_menu(
    name: str, setting: str
) -> None:
    found = explain(name)
    assert not any(isinstance(one.entry, Setting) for one in found)
    assert setting in str(found[0].paragraphs)
