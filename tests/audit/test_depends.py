"""Hosts that are judged together get the answers that each gets alone."""

import random
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from benchmarks.audit import hosts_like
from tests.audit.fleet import answered
from tests.audit.fleet_machines import FLEET
from tests.audit.trees import MACHINES, judge_machine, lay_out

from wireproof.audit import judge_machines
from wireproof.audit.catalogue import requests
from wireproof.audit.facts import HostFacts
from wireproof.audit.job import catalogue
from wireproof.audit.machine import machine_of
from wireproof.instrument.plan_text import collect
from wireproof.launch.engines import find_engine
from wireproof.model.record import FactFrame
from wireproof.model.setting import AuditResult, AuditResults
from wireproof.report.json import json_text
from wireproof.store.snapshot import read_snapshot, write_snapshot


@pytest.mark.engine
@pytest.mark.parametrize("own", [0.0, 0.3])
def test_answers_do_not_depend_on_the_other_hosts(own: float, tmp_path: Path) -> None:
    known = catalogue()
    kinds: list[tuple[FactFrame, ...]] = []
    for name in MACHINES:
        root = lay_out(tmp_path / name, name)
        argv = [str(find_engine("nompi")), "facts", "--spec", "-", "--root", str(root)]
        (found,) = collect({name: argv}, requests(known))
        kinds.append(found.frames)
    machines = [
        machine_of(HostFacts.of(f"{number}-{host}", frames))
        for number, kind in enumerate(kinds)
        for host, frames in hosts_like(kind, 3, own)
    ]
    random.Random(1).shuffle(machines)
    together = judge_machines(machines, known, "throughput")
    alone = [one for machine in machines for one in judge_machine(machine, known, "throughput")]
    assert together == alone


def test_like_hosts_share_their_results() -> None:
    """What is asked of them is as of a list of all."""
    first = [AuditResult(id=name, host="n1", status="pass") for name in ("mtu", "smt", "load")]
    high = AuditResult(id="load", host="n3", status="fail")
    shared, lost = AuditResults(first), AuditResult(id="host", host="n4", status="unknown")
    shared.add("n2", first, {})
    shared.add("n3", first, {2: high})
    shared.extend([lost])
    alike = [msgspec.structs.replace(one, host=host) for host in ("n2", "n3") for one in first]
    whole = [*first, *alike[:-1], high, lost]
    assert (list(shared), len(shared), shared[-2]) == (whole, len(whole), high)
    assert list(shared.distinct()) == [*first, high, lost]
    assert shared.statuses() == Counter(one.status for one in whole)
    for name in ("mtu", "load"):
        assert list(shared.where(lambda one, of=name: one.id == of)) == [
            one for one in whole if one.id == name
        ]
    assert json_text(shared) == json_text(whole)
    changed = shared.changed(lambda one: one.id == "mtu", _waived)
    assert list(changed) == [_waived(one) if one.id == "mtu" else one for one in whole]
    assert changed.statuses() == Counter(one.status for one in changed)
    assert {one.id for one in changed.distinct() if one.status == "pass"} == {"smt", "load"}


def _waived(result: AuditResult) -> AuditResult:
    return msgspec.structs.replace(result, status="waived", message=result.host)


def test_a_snapshot_of_like_hosts_gives_each_its_facts(tmp_path: Path) -> None:
    """Those of a host are kept as what differs from another's."""
    frames = [
        FactFrame(rank=0, kind="file", status="ok", path=f"/proc/sys/{at}", text=str(at))
        for at in range(200)
    ]
    unlike = [msgspec.structs.replace(frame, text="x") for frame in frames]
    hosts = {**dict(hosts_like(frames, 3, 0.01)), "u": unlike, "few": frames[:7]}
    hosts |= {f"late{at}": [*frames[:at], unlike[at], *frames[at + 1 :]] for at in (0, 199)}
    write_snapshot(tmp_path / "s", hosts)
    found = read_snapshot(tmp_path / "s")
    assert {host: list(kept) for host, kept in found.items()} == hosts
    assert {host: len(kept) for host, kept in found.items()} == {
        h: len(k) for h, k in hosts.items()
    }
    assert found["late199"][-1] == unlike[199]
    assert list(found["late0"][:2]) == [unlike[0], frames[1]]


def test_hosts_that_read_the_same_of_unlike_texts_share_results() -> None:
    """Only the lines and values that an entry reads count, with a word that says the opposite."""
    texts = FLEET["connectx-6-dx"]().texts()
    limits, errors = "proc/self/limits", next(each for each in texts if "symbol_error" in each)
    counters = next(each for each in texts if each.startswith("ethtool -S"))
    machines = []
    for host, count in enumerate(("0", "1", "4000", "1", "4000", "0")):
        noise = f"\n     rx_packets: {host}\n     rx_discards_phy_old: {host}\n"
        changed = {limits: f"Max pending signals {host}\n{texts[limits]}", errors: count}
        discards = texts[counters].replace("discards_phy: 0", f"discards_phy: {count}")
        machines.append(answered({**texts, **changed, counters: discards + noise}, f"n{host}"))
    machines.append(answered({**texts, limits: texts[limits].replace("unlimited", "65536")}, "low"))
    known = catalogue()
    together = judge_machines(machines, known, "throughput")
    assert together == [
        one for machine in machines for one in judge_machine(machine, known, "throughput")
    ]
    judged = [one for one in together if one.id == "symbol-errors" and one.seen == "4000"]
    assert len({id(one.evidence) for one in judged}) == 1
