"""An audit's report: an entry at a time, its hosts and values folded, what matters here first."""

import msgspec
import pytest

from wireproof.audit.document import FORMS, audit_document, settings_table, worst_part
from wireproof.audit.facts import UNKEPT
from wireproof.audit.pci import _UNREAD
from wireproof.model.setting import Audit, AuditResult, SettingEffect, Status
from wireproof.report.document import Findings, Item, Part, Section
from wireproof.report.failing import carrier_of, effect_text, failing, unread


def result(name: str, host: str, seen: str = "", **changes: object) -> AuditResult:
    whole: dict[str, object] = {
        "id": name,
        "host": host,
        "status": "fail",
        "seen": seen,
        "wanted": "good",
        "message": f"{name.title()}: why it matters",
        "expected_effect": SettingEffect(on="bandwidth", low=0.1, high=0.5),
        "fix": f"write good to /proc/{name}",
        "undo": "the old value",
    }
    return AuditResult(**(whole | changes))  # type: ignore[arg-type]


def test_an_entry_stands_once_with_its_hosts_and_values() -> None:
    results = [result("mtu", f"n{number}", "1500", instance="hsn0") for number in range(1, 129)]
    results += [result("mtu", "n129", "2000", instance="hsn0")]
    (one,) = failing(results)
    assert one.who == "n[1-129] hsn0"
    assert one.values == "1500 (n[1-128]), 2000 (n129)"
    assert one.mend == "write good to /proc/mtu; undo: the old value"


def test_that_hosts_differ_is_said_beside_what_is_wrong() -> None:
    odd = result("mtu", "n3", "1500", usual="9000", message="MTU: differs", fix="")
    (one,) = failing([result("mtu", "n3", "1500"), odd])
    assert (one.why, one.others) == ("Mtu: why it matters", "n3: others have 9000")
    assert one.fix, "the fix of what is wrong, not of the remark"
    (alone,) = failing([odd])
    assert (alone.why, alone.others) == ("MTU: differs", "")


def test_fixes_of_several_hosts_are_said_once() -> None:
    results = [result("mtu", f"n{n}", "1500", fix=f"mend eth{n}") for n in (1, 2, 3)]
    assert failing(results)[0].mend == "mend eth1 (and the same on 2 more); undo: the old value"


@pytest.mark.parametrize(
    ("carrier", "causes", "order"),
    [
        ("ip", (), ["sockets", "small", "adapter"]),
        ("rdma", (), ["adapter", "small", "sockets"]),
        ("ip", ("adapter",), ["adapter", "sockets", "small"]),
        ("ip", ("small",), ["small", "sockets", "adapter"]),
    ],
)
def test_the_worst_on_this_fabric_comes_first(
    carrier: str, causes: tuple[str, ...], order: list[str]
) -> None:
    effects = {
        "adapter": SettingEffect(on="bandwidth", high=0.6, over="rdma"),
        "sockets": SettingEffect(on="bandwidth", high=0.6, over="ip"),
        "small": SettingEffect(on="bandwidth", high=0.2),
    }
    results = [result(name, "n1", expected_effect=effect) for name, effect in effects.items()]
    assert [one.id for one in failing(results, carrier, causes)] == order


def test_the_severity_is_that_of_the_effect() -> None:
    """Programs that read the JSON need no rule of this catalogue's."""
    failed = result("adapter", "n1", expected_effect=SettingEffect(on="bandwidth", high=0.6))
    assert failed.severity == "major"
    assert msgspec.structs.replace(failed, expected_effect=None).severity == ""
    read = msgspec.json.decode(msgspec.json.encode(failed), type=AuditResult)
    assert (read, read.severity) == (failed, "major")


@pytest.mark.parametrize(
    ("status", "protocol", "carrier"),
    [
        ("pass", "", "rdma"),
        ("not-applicable", "", "ip"),
        ("pass", "tcp", "ip"),
        ("not-applicable", "rocev2", "rdma"),
        ("pass", "shm", ""),
    ],
)
def test_what_carries_the_messages(status: Status, protocol: str, carrier: str) -> None:
    assert carrier_of([result("port-state", "n1", status=status)], protocol) == carrier


def test_what_one_reason_kept_from_being_read_stands_together() -> None:
    results = [
        result(
            name,
            host,
            status="unknown",
            message=f"{name}: ethtool -{option} hsn0 is not installed there",
        )
        for name, option in (("ring-rx", "g"), ("offload-tso", "k"))
        for host in ("n1", "n2")
    ]
    results.append(result("numa", "n2", status="unknown", message="Numa: needs root"))
    first, second = unread(results)
    assert (first.ids, first.who) == (("ring-rx", "offload-tso"), "n[1-2]")
    assert first.reason == "ethtool is not installed there"
    assert (second.ids, second.who, second.reason) == (("numa",), "n2", "needs root")


def items_of(part: Part) -> tuple[Item, ...]:
    (found,) = (each for each in getattr(part, "parts", [part]) if isinstance(each, Findings))
    return found.items


def test_what_costs_most_comes_first_and_a_cause_before_it() -> None:
    large = SettingEffect(on="bandwidth", low=0.5, high=0.9, sure="measured")
    audit = Audit(
        hosts=["n1", "n2"],
        results=[
            *(result("large", host, "bad", expected_effect=large) for host in ("n1", "n2")),
            result("small", "n2"),
            result("dim", "n1", status="unknown", message="Dim: needs root"),
            result("right", "n1", "good", status="pass"),
        ],
    )
    document = audit_document(audit)
    assert document.verdict == "fail"
    assert document.answer.startswith("2 settings of n[1-2] ")
    first, second, *_ = document.parts
    assert [item.text.split(":")[0] for item in items_of(first)] == [
        "large on n[1-2]",
        "small on n2",
    ]
    assert isinstance(second, Section)
    assert [item.tone for item in items_of(second)] == ["inconclusive"]
    worst = items_of(worst_part(audit, "tcp", {"small"}))
    assert [item.text.split()[0] for item in worst] == ["small", "large"]
    table, is_cause = settings_table(audit, "settings", "tcp", {"small"})
    assert [row.cells[0] for row in table.rows] == ["small (may be the cause)", "large"]
    assert is_cause
    *_, rest, _ = audit_document(audit, everything=True).parts
    assert isinstance(rest, Section)
    assert [row.tone for row in rest.parts[0].rows] == ["pass"]  # type: ignore[union-attr]


def test_the_answer_never_calls_right_what_was_not_read() -> None:
    missing = result("dim", "n1", status="unknown", message="Dim: needs root")
    absent = result("fec", "n1", status="not-applicable")
    assert "could not be read" in audit_document(Audit(hosts=["n1"], results=[missing])).answer
    for results in ([absent], []):
        document = audit_document(Audit(hosts=["n1"], results=results))
        nothing = "no setting that was looked for applies to n1: nothing was judged"
        assert (document.answer, document.verdict) == (nothing, "inconclusive")
        nhc = FORMS["nhc"](Audit(hosts=["n1"], results=results))
        assert nhc == "ERROR: wireproof: inconclusive: settings of n1: no setting applies"
    waived = result("dim", "n1", status="waived")
    assert Audit(hosts=["n1"], results=[absent, waived]).verdict == "pass"


@pytest.mark.parametrize(
    ("effect", "text"),
    [
        (SettingEffect(on="bandwidth", low=0.04, high=0.1), "4 % to 10 % of bandwidth (practice)"),
        (
            SettingEffect(on="bandwidth", high=0.9, direction="rx", sure="vendor"),
            "up to 90 % of bandwidth, receiving (vendor)",
        ),
        (SettingEffect(on="availability"), "availability (practice)"),
        (SettingEffect(on="none"), ""),
    ],
)
def test_an_effect_in_words(effect: SettingEffect, text: str) -> None:
    assert effect_text(effect) == text


def test_ports_of_which_the_same_is_not_kept_are_one_line() -> None:
    lost = [
        AuditResult(id=name, host="n1", status="unknown", instance=instance, message=f"T: {why}")
        for name, instance, why in (
            ("a", "x_0:1", f"/sys/x_0/width {UNKEPT}; pci/x_0/width was not asked for"),
            ("a", "x_1:1", f"/sys/x_1/width {UNKEPT}; pci/x_1/width was not asked for"),
            ("b", "x_0:1", f"/sys/x_0/speed {UNKEPT}; pci/x_0/speed was not asked for"),
            ("b", "x_1:1", f"/sys/x_1/speed {UNKEPT}; pci/x_1/speed was not asked for"),
            ("c", "eth0", "irq/eth0 could not be read"),
            ("c", "eth1", "irq/eth1 could not be read"),
            ("e", "eth0", f"/sys/x {UNKEPT}; pci/eth0/width {_UNREAD['root']}"),
            ("f", "eth1", f"pci/eth1/payload {_UNREAD['root']}"),
            ("g", "", "systemctl is-active x System has not been booted with systemd as init"),
            ("h", "", "timedatectl System has not been booted with systemd as init system"),
            ("d", "eth0", f"judging the value needs pfc: dcb pfc show dev eth0 {UNKEPT}"),
        )
    ]
    assert [(one.ids, one.who) for one in unread(lost)] == [
        (("a", "b", "d"), "n1"),
        (("e", "f"), "n1"),
        (("g", "h"), "n1"),
        (("c",), "n1 eth0, eth1"),
    ]
