"""Attributes of the firmware are found by their names for people; what is ambiguous is unknown."""

import json
from typing import Any

import pytest
from tests.audit.trees import ROWS, judge_machine

from wireproof.audit import judge_machines
from wireproof.audit.alike import kind_of, odd_ones
from wireproof.audit.facts import HostFacts
from wireproof.audit.firmware import plain_name
from wireproof.audit.job import catalogue
from wireproof.audit.machine import machine_of
from wireproof.audit.printed import mlxconfig_files
from wireproof.model.record import FactFrame
from wireproof.model.setting import AuditResult, Profile

XEON = "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 63\nstepping\t: 2\nflags\t\t: fpu\n"
HYPERVISOR = XEON.replace("fpu", "fpu hypervisor")


def entry(name: str, display: str, *values: tuple[str, str], **more: Any) -> dict[str, Any]:
    return {"AttributeName": name, "DisplayName": display, "Value": values, **more}


def judged(
    name: str,
    attributes: dict[str, Any],
    entries: list[dict[str, Any]] | None = None,
    *,
    maker: str = "",
    pending: dict[str, Any] | None = None,
    profile: Profile = "throughput",
    files: dict[str, str] | None = None,
) -> AuditResult:
    texts = {"/proc/cpuinfo": XEON, "bios": json.dumps({"maker": maker, "attributes": attributes})}
    if entries is not None:
        texts["bios/registry"] = json.dumps({"attributes": entries})
    if pending is not None:
        texts["bios/pending"] = json.dumps({"attributes": pending})
    return of_texts(name, texts | (files or {}), profile)


def of_texts(name: str, texts: dict[str, str], profile: Profile = "throughput") -> AuditResult:
    frames = [
        FactFrame(rank=0, kind="file", status="ok", path=path, text=text)
        for path, text in texts.items()
    ]
    machine = machine_of(HostFacts.of("n1", frames))
    (found,) = judge_machine(machine, catalogue(), profile, [name])
    return found


@pytest.mark.parametrize(
    ("maker", "display", "raw", "menu", "setting", "seen", "status"),
    ROWS["each-maker-s-spelling-is-found"],
)
def test_each_maker_s_spelling_is_found(
    maker: str, display: str, raw: Any, menu: str, setting: str, seen: str, status: str
) -> None:
    values = [(raw, menu)] if menu else []
    entries = [entry("Own", display, *values), entry("Other", "Boot Mode")]
    found = judged(setting, {"Own": raw, "Other": "Uefi"}, entries, maker=maker, profile="latency")
    assert (found.seen, found.status) == (seen, status)
    assert "Own" in found.evidence[0]


def test_two_that_fit_are_unknown_with_both_names() -> None:
    entries = [entry("A", "Turbo Mode"), entry("B", "Turbo Boost")]
    found = judged("bios-turbo", {"A": "Enabled", "B": "Disabled"}, entries)
    assert found.status == "unknown"
    assert "'Turbo Mode' (A)" in found.message
    assert "'Turbo Boost' (B)" in found.message


def test_the_maker_s_own_names_count_first() -> None:
    """Dell's workload profile is another thing than HPE's."""
    entries = [entry("A", "System Profile"), entry("B", "Workload Profile")]
    attributes = {"A": "Performance", "B": "Not Configured"}
    assert judged("bios-power-policy", attributes, entries, maker="Dell Inc.").status == "pass"
    assert judged("bios-power-policy", attributes, entries).status == "unknown"


def test_what_is_not_there_is_not_applicable_only_where_the_maker_lists_all() -> None:
    listed = [entry("A", "Boot Mode")]
    assert judged("bios-smt", {"A": "Uefi"}, listed, maker="Dell Inc.").status == "not-applicable"
    assert judged("bios-smt", {"A": "Uefi"}, listed, maker="Nobody").status == "unknown"
    assert judged("bios-smt", {"A": "Uefi"}, maker="Dell Inc.").status == "unknown"


def test_a_pending_value_is_said_and_does_not_count_yet() -> None:
    values = (("En", "Enabled"), ("Dis", "Disabled"))
    found = judged(
        "bios-turbo", {"A": "Dis"}, [entry("A", "Turbo Mode", *values)], pending={"A": "En"}
    )
    assert found.status == "fail"
    assert "Enabled is pending and takes effect after a reboot" in found.message


def test_without_a_registry_the_bmc_s_own_names_are_looked_at() -> None:
    assert judged("bios-smt", {"Hyper-Threading": "Disable"}).seen == "Disabled"


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"attributes": 7}', "[" * 10000, '{"attributes": {"Turbo Mode": []}}']
)
def test_a_text_that_is_no_list_of_attributes_is_unknown(text: str) -> None:
    found = of_texts("bios-turbo", {"/proc/cpuinfo": XEON, "bios": text})
    assert found.status == "unknown"


def test_a_virtual_machine_has_no_firmware_to_judge_unless_a_bmc_answers() -> None:
    without = {"/proc/cpuinfo": HYPERVISOR}
    assert of_texts("bios-turbo", without).status == "not-applicable"
    given = {**without, "bios": '{"attributes": {"Turbo Mode": "Disabled"}}'}
    assert of_texts("bios-turbo", given).status == "fail"


CPU = "/sys/devices/system/cpu"
SOCKETS = {
    f"{CPU}/cpu0/topology/physical_package_id": "0",
    f"{CPU}/cpu1/topology/physical_package_id": "1",
}


@pytest.mark.parametrize(
    ("setting", "files", "seen"), ROWS["what-the-operating-system-shows-is-labelled-so"]
)
def test_what_the_operating_system_shows_is_labelled_so(
    setting: str, files: dict[str, str], seen: str
) -> None:
    found = of_texts(setting, {"/proc/cpuinfo": XEON, **SOCKETS, **files})
    assert found.seen == seen
    assert ("inferred from the operating system" in found.message) == bool(seen)
    assert (found.status == "unknown") == (not seen)


def test_a_bmc_that_answers_is_believed_before_the_operating_system() -> None:
    files = {f"{CPU}/smt/active": "1"}
    found = judged("bios-smt", {"Logical Processor": "Disabled"}, files=files)
    assert found.seen == "Disabled"
    assert "inferred" not in found.message


def test_names_are_compared_without_marks_and_punctuation() -> None:
    assert plain_name("Intel(R) VT-d") == plain_name("INTEL® vt d") == "intelvtd"
    assert plain_name("®  - ") == ""


def test_the_documents_table_is_there_with_its_names() -> None:
    """The BIOS table of the tuning document of 2015."""
    table = (
        "CPU Power and Performance Policy", "Workload Configuration", "Uncore Frequency Scaling",
        "Performance P-limit", "Enhanced Intel SpeedStep(R) Tech", "Intel Configurable TDP",
        "Intel(R) Turbo Boost Technology", "Energy Efficient Turbo", "CPU C-State",
        "C1E Autopromote", "Processor C3", "Processor C6", "Intel(R) Hyper-Threading Tech",
        "IOU Non-posted Prefetch", "Cluster-on-Die", "Early Snoop", "MaxPayloadSize",
    )  # fmt: skip
    named = {
        plain_name(name)
        for one in catalogue().entries.values()
        if "S0" in one.setting.documents
        for names in one.setting.names.values()
        for name in names
    }
    assert {name for name in table if plain_name(name) not in named} == set()


def test_the_odd_one_among_like_hosts_is_named_with_what_differs() -> None:
    """Serial numbers and what the registry calls unique do not count."""
    entries = [entry("T", "Turbo Mode"), entry("N", "Node", IsSystemUniqueProperty=True)]
    machines = []
    for number in range(1, 5):
        attributes = {"T": "Disabled" if number == 3 else "Enabled", "N": f"n{number}"}
        attributes["BoardSerialNumber"] = f"{number:08}"
        texts = {
            "/proc/cpuinfo": XEON,
            "bios": json.dumps({"attributes": attributes}),
            "bios/registry": json.dumps({"attributes": entries}),
        }
        frames = [
            FactFrame(rank=0, kind="file", status="ok", path=path, text=text)
            for path, text in texts.items()
        ]
        machines.append(machine_of(HostFacts.of(f"n{number}", frames)))
    results = judge_machines(machines, catalogue(), "throughput", ["bios-attributes"])
    assert {one.status for one in results} == {"pass"}
    kinds = {each.facts.host: kind_of(each) for each in machines}
    (odd,) = odd_ones(kinds, results, catalogue())
    assert odd.host == "n3"
    assert "Turbo Mode: Disabled, not Enabled" in odd.message
    assert "Node" not in odd.message


def test_the_second_function_has_the_link_type_of_the_second_port() -> None:
    rows = "".join(
        f"        LINK_TYPE_P{port}   IB(1)   {kind}   {kind}\n"
        for port, kind in ((1, "IB(1)"), (2, "ETH(2)"))
    )
    argv = ("mlxconfig", "-d", "0000:18:00.0", "-e", "q")
    frame = FactFrame(rank=0, kind="command", status="ok", argv=list(argv), text=rows)
    addresses = [(f"ens{at}", f"0000:18:00.{at}") for at in range(3)]
    files = dict(mlxconfig_files(HostFacts.of("n1", [frame]), addresses))
    kinds = [files[f"mlxconfig/ens{at}/LINK_TYPE"].text for at in range(3)]
    assert kinds == ["IB(1)", "ETH(2)", "IB(1)"]
