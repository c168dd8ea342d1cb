"""The configuration disclosure: complete, folded by hosts, and honest about what is not known."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from tests.report.test_html import Reader
from tests.report.test_worlds import HOSTILE, four_nodes, hostile

from wireproof.audit.facts import HostFacts
from wireproof.audit.host import disclosed_items
from wireproof.audit.job_facts import BY_HAND, with_disclosures
from wireproof.measure.export import page_of
from wireproof.model.record import FactFrame
from wireproof.model.setting import GROUPS, Audit, AuditResult, Disclosed, Disclosure
from wireproof.report.disclosure import folded
from wireproof.report.judged_run import JudgedRun
from wireproof.store.snapshot import write_snapshot

CPUINFO = """processor\t: 0
model name\t: AMD EPYC 7763 64-Core Processor
physical id\t: 0
cpu cores\t: 64
microcode\t: 0xa0011d5
processor\t: 1
physical id\t: 1
cpu cores\t: 64
"""
FILES = {
    "/proc/cpuinfo": CPUINFO,
    "/proc/meminfo": "MemTotal:       263856304 kB\nMemFree: 1 kB\n",
    "/proc/version": "Linux version 5.14.0-427.el9.x86_64 (mockbuild@x) (gcc) #1 SMP\n",
    "/etc/os-release": 'NAME="Rocky Linux"\nPRETTY_NAME="Rocky Linux 9.4 (Blue Onyx)"\n',
    "/sys/class/dmi/id/sys_vendor": "Dell Inc.\n",
    "/sys/class/dmi/id/bios_version": "2.8.4\n",
    "/sys/class/infiniband/mlx5_0/fw_ver": "20.38.1002\n",
}
ETHTOOL = "driver: mlx5_core\nversion: 5.14\nfirmware-version: 20.38.1002 (MT_0000000224)\n"


def _file(path: str, text: str) -> FactFrame:
    return FactFrame(rank=0, kind="file", status="ok", path=path, text=text)


def _frames(**changes: str) -> list[FactFrame]:
    files = FILES | {f"/{name.replace('__', '/')}": text for name, text in changes.items()}
    argv = ["ethtool", "-i", "ib0"]
    command = FactFrame(rank=0, kind="command", status="ok", argv=argv, text=ETHTOOL)
    return [*(_file(path, text) for path, text in files.items()), command]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("maker", "Dell Inc."),
        ("processor", "AMD EPYC 7763 64-Core Processor"),
        ("sockets x cores", "2 x 64 cores, 2 threads online"),
        ("memory", "251.6 GiB"),
        ("BIOS version", "2.8.4"),
        ("microcode", "0xa0011d5"),
        ("kernel", "5.14.0-427.el9.x86_64"),
        ("operating system", "Rocky Linux 9.4 (Blue Onyx)"),
        ("firmware of mlx5_0", "20.38.1002"),
        ("firmware of ib0", "20.38.1002 (MT_0000000224)"),
    ],
)
def test_a_host_tells_what_it_is(name: str, value: str) -> None:
    found = {item.name: item for item in disclosed_items(HostFacts.of("n1", _frames()))}
    assert found[name].value == value
    assert found[name].why == ""


def test_what_cannot_be_read_is_there_and_says_why() -> None:
    denied = FactFrame(
        rank=0,
        kind="file",
        status="denied",
        path="/sys/class/dmi/id/bios_version",
        reason="no root",
    )
    found = {item.name: item for item in disclosed_items(HostFacts.of("n1", [denied]))}
    assert (found["BIOS version"].value, found["BIOS version"].why) == ("", "no root")
    assert all(item.why for item in found.values() if not item.value)


@pytest.mark.parametrize("text", ["", "\n", ":", "processor", "MemTotal: x kB", "\x00\x1b[2J"])
def test_texts_that_say_nothing_are_unknown(text: str) -> None:
    frames = [_file(path, text) for path in FILES]
    for item in disclosed_items(HostFacts.of("n1", frames)):
        assert item.value or item.why


def test_what_all_have_alike_stands_there_once_and_what_differs_names_its_hosts() -> None:
    found = [("hardware", "memory", "251 GiB", host, "") for host in ("n10", "n2", "n1")]
    odd = ("firmware", "BIOS version", "1.0", "n2", "")
    usual = [("firmware", "BIOS version", "2.0", host, "") for host in ("n1", "n10")]
    whole = folded([odd, *usual, *found], ["n1", "n2", "n10"])  # type: ignore[list-item]
    assert [(one.name, one.value, one.hosts) for one in whole.items] == [
        ("memory", "251 GiB", []),
        ("BIOS version", "1.0", ["n2"]),
        ("BIOS version", "2.0", ["n1", "n10"]),
    ]


def _disclosed(tmp_path: Path, section: JudgedRun, *command: str) -> Disclosure:
    snapshot = tmp_path / "settings.snapshot"
    if section.settings is not None:
        hosts = {host.host: _frames() for host in section.run.hosts}
        write_snapshot(snapshot, hosts)
    (found,) = with_disclosures([section], snapshot, command)
    assert found.disclosure is not None
    return found.disclosure


def test_a_check_discloses_every_group_and_survives_json(tmp_path: Path) -> None:
    audit = Audit(
        hosts=["n1"],
        results=[
            AuditResult(id="mtu", host="n1", instance="hsn0", status="pass", seen="9000"),
            AuditResult(id="iommu", host="n1", status="unknown", message="IOMMU: needs root"),
            AuditResult(id="isolated-cores", host="n1", status="pass"),
            AuditResult(id="bios-nps", host="n1", status="not-applicable"),
        ],
    )
    whole = _disclosed(tmp_path, replace(four_nodes(), settings=audit), "wireproof", "check", "a b")
    assert {item.group for item in whole.items} == set(GROUPS)
    known = {item.name: item for item in whole.items}
    assert known["command that repeats it"].value == "wireproof check 'a b'"
    assert known["processor"].value.startswith("AMD EPYC")
    assert known["mtu hsn0"].value == "9000"
    assert (known["iommu"].value, known["iommu"].why) == ("", "IOMMU: needs root")
    assert known["isolated-cores"].value == "not set"
    assert "bios-nps" not in known
    assert known["samples of each result"].value == "40 batches"
    assert "never the best" in known["what is reported"].value
    assert msgspec.json.decode(msgspec.json.encode(whole), type=Disclosure) == whole


def test_without_an_audit_it_says_that_settings_were_not_read(tmp_path: Path) -> None:
    whole = _disclosed(tmp_path, four_nodes())
    (item,) = [one for one in whole.items if one.group == "settings"]
    assert (item.value, item.hosts) == ("", [])
    assert "were not read" in item.why


def test_a_damaged_snapshot_costs_no_result(tmp_path: Path) -> None:
    section = replace(four_nodes(), settings=Audit(hosts=["n1"]))
    snapshot = tmp_path / "settings.snapshot"
    snapshot.write_bytes(b"\x1f\x8bnot one")
    (found,) = with_disclosures([section], snapshot)
    assert {item.name for item in found.disclosure.items} >= {"processor", "MPI"}


def _network(folder: Path) -> dict[str, Disclosed]:
    (found,) = with_disclosures([four_nodes()], folder / "settings.snapshot")
    return {item.name: item for item in found.disclosure.items}


def test_the_switch_is_stated_by_hand(tmp_path: Path) -> None:
    assert "disclosed.toml" in _network(tmp_path)["switch model"].why
    text = '[network]\n"switch model" = "DCS-7170-32CD-F"\n"switch firmware" = "4.22.1FX"\n'
    (tmp_path / BY_HAND).write_text(text + "[hardware]\nDIMMs = 12\n")
    items = _network(tmp_path)
    assert items["switch model"].value == "DCS-7170-32CD-F (by hand)"
    assert items["switch firmware"].value == "4.22.1FX (by hand)"
    assert (items["DIMMs"].group, items["DIMMs"].value) == ("hardware", "12 (by hand)")


@pytest.mark.parametrize(
    "text", ["[nework]\na = 1\n", "[network]\na = [1]\n", "network = 1\n", "[network\n", "\xff"]
)
def test_a_damaged_statement_costs_no_result(text: str, tmp_path: Path) -> None:
    (tmp_path / BY_HAND).write_bytes(text.encode("latin-1"))
    items = _network(tmp_path)
    assert BY_HAND in items["stated by hand"].why
    assert items["switch model"].value == ""


def test_the_page_shows_and_embeds_it(tmp_path: Path) -> None:
    section = four_nodes()
    whole = replace(section, disclosure=_disclosed(tmp_path, section, "wireproof", "check"))
    page = Reader(page_of([whole], "disclosed"))
    assert "Configuration disclosure" in page.shown
    assert "The command that repeats it wireproof check" in page.shown
    block = next(text for attributes, text in page.scripts if attributes.get("id") == "run1-data")
    held = msgspec.json.decode(block)["document"]["disclosure"]
    assert held["schema"] == "wireproof.disclosure"
    assert {item["group"] for item in held["items"]} >= {"network", "software", "method"}


def test_hostile_items_are_words(tmp_path: Path) -> None:
    section = hostile()
    odd = Disclosed(group="software", name=HOSTILE, value=HOSTILE, hosts=[HOSTILE], why=HOSTILE)
    shown = page_of([replace(section, disclosure=Disclosure(items=[odd]))], "x")
    assert "<script>alert" not in shown
    assert "\u202e" not in shown
    assert _disclosed(tmp_path, section).items
