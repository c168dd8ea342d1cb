"""Probes: the snapshot is well-formed data, and its raw text is read without trust."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.instrument.plan_text import write_plan
from wireproof.model.plan import Plan, RankPlace, Transport
from wireproof.model.record import FactFrame
from wireproof.probes import machine
from wireproof.probes.machine import look, namespaces_argv
from wireproof.probes.parse import HostState, host_state, selected
from wireproof.probes.snapshot import quick, snapshot

CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
HUGE = "/sys/kernel/mm/transparent_hugepage/enabled"
GOVERNOR = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
SMT = "/sys/devices/system/cpu/smt/active"


def fact(path: str, text: str, rank: int = 0, status: str = "ok") -> FactFrame:
    return FactFrame(rank=rank, kind="file", status=status, path=path, text=text)  # type: ignore[arg-type]


def test_the_snapshot_asks_absolute_paths_and_argv_lists_once_each() -> None:
    requests = snapshot(["hsn0", "mlx5_0:1", "hsn0", ""])
    assert len(requests) == len(set(requests))
    assert set(quick()) <= set(requests)
    for request in requests:
        if request.kind == "command":
            assert request.argv
            assert not any(letter in word for word in request.argv for letter in "{};|&$ ")
        else:
            assert request.path.startswith("/")
            assert (request.kind == "glob") == ("*" in request.path)
    asked = [request.argv for request in requests if request.argv[:1] == ("ethtool",)]
    assert ("ethtool", "-k", "hsn0") in asked
    assert {argv[-1] for argv in asked} == {"hsn0"}


def test_every_request_survives_the_plans_text() -> None:
    ranks = (RankPlace(index=0, host="a"), RankPlace(index=1, host="b"))
    plan = Plan(
        run_id="r",
        seed=0,
        transport=Transport(kind="null"),
        ranks=ranks,
        points=(),
        facts=snapshot(["eth0"]),
    )
    lines = [line for line in write_plan(plan).splitlines() if line.startswith("fact ")]
    assert len(lines) == len(plan.facts)


def test_the_state_of_a_host() -> None:
    facts = [
        fact("/proc/version", "Linux version 6.1.0-56-amd64 (x@y) (gcc)"),
        fact(CLOCK, "tsc\n"),
        fact(HUGE, "always [madvise] never\n"),
        fact(GOVERNOR, "performance\n"),
        fact(SMT, "1\n"),
        fact("/proc/loadavg", "0.52 0.40 0.31 1/200 4242\n"),
        fact(CLOCK, "hpet\n", rank=1),
    ]
    assert host_state(facts) == HostState(
        rank=0,
        kernel="6.1.0-56-amd64",
        clock_source="tsc",
        huge_pages="madvise",
        governor="performance",
        smt=True,
        load=0.52,
    )
    assert host_state(facts, 1) == HostState(rank=1, clock_source="hpet")


def test_what_was_not_read_is_unknown_and_never_a_default() -> None:
    assert host_state([]) == HostState(rank=0)
    assert host_state(
        [fact(CLOCK, "tsc", status="denied"), fact(HUGE, "garbage"), fact(SMT, "?")]
    ) == HostState(rank=0)


@given(
    st.text(max_size=300),
    st.sampled_from(["/proc/version", CLOCK, HUGE, GOVERNOR, SMT, "/proc/loadavg"]),
)
def test_hostile_text_never_raises(text: str, path: str) -> None:
    state = host_state([fact(path, text)])
    assert state.clock_source is None or state.clock_source.isprintable()
    assert selected(text) is None or f"[{selected(text)}]" in text


def test_namespaces_are_tried_as_the_user_that_we_are() -> None:
    assert "--map-root-user" in namespaces_argv(root=False)
    assert "--user" not in namespaces_argv(root=True)
    assert namespaces_argv(root=True)[-1] == "true"


def test_the_machine_is_described_with_advice_for_what_does_not_work() -> None:
    found = look()
    assert found.cores >= 1
    names = [capability.name for capability in found.capabilities]
    assert len(names) == len(set(names))
    assert {"clock", "counters", "namespaces", "netem", "htb", "ip", "tc", "ethtool"} <= set(names)
    assert all(capability.detail for capability in found.capabilities)


@pytest.mark.parametrize(
    ("nics", "works", "seen"),
    [
        ({"eth0": "12", "lo": "5"}, True, "eth0"),
        ({"lo": "5"}, False, "no network interface but the loopback"),
        ({"eth0": "no number"}, False, "not readable: eth0"),
    ],
)
def test_counters_of_the_loopback_prove_nothing(
    tmp_path: Path, nics: dict[str, str], works: bool, seen: str
) -> None:
    for name, text in nics.items():
        (tmp_path / name / "statistics").mkdir(parents=True)
        (tmp_path / name / "statistics" / "tx_bytes").write_text(text)
    capability = machine._counters(tmp_path)
    assert capability.works is works
    assert seen in capability.detail
    assert bool(capability.advice) is not works
