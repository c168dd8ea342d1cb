"""What a history concludes over time: changes and their causes, and whose turn it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import numpy as np
import pytest
from tests.changed_runs import each_nic
from tests.synthetic import World, run_of
from tests.unit.test_history import entry

from wireproof.analysis.change_points import change_points
from wireproof.model.claim import Criteria
from wireproof.model.disclosure import Disclosed, Disclosure
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.finding import Judgement, Verdict
from wireproof.report.section import Section
from wireproof.store.history import add_entry, entries
from wireproof.store.turns import take_turns
from wireproof.workflow.conditions import conditions
from wireproof.workflow.history.look import ages, least_proven, trends


@pytest.mark.parametrize("make", ["normal", "heavy", "two levels"])
def test_a_series_without_a_change_shows_one_at_the_stated_rate(make: str) -> None:
    rng = np.random.default_rng(7)
    false = 0
    for seed in range(300):
        values = {
            "normal": rng.normal(size=40),
            "heavy": rng.standard_t(2, size=40),
            "two levels": rng.integers(0, 2, size=40).astype(float),
        }[make]
        false += bool(change_points(values, alpha=0.01, seed=seed))
    assert false <= 10  # 3 expected; more than 10 has a probability below 1e-3


def test_two_changes_are_two() -> None:
    values = np.concatenate([np.zeros(20), np.ones(20), np.full(20, 3.0)])
    values += np.random.default_rng(3).normal(0, 0.1, 60)
    assert [one.index for one in change_points(values)] == [20, 40]


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 50, [1.0, 2.0] * 3])
def test_too_little_is_no_change(values: list[float]) -> None:
    assert change_points(values) == []


def test_short_jobs_cover_a_cluster_and_nodes_that_are_down_block_nobody(tmp_path: Path) -> None:
    hosts = [f"n{number}" for number in range(1, 65)]
    down = set(hosts[:10])  # more than one job's
    for run in range(8):
        chosen = least_proven(tmp_path, hosts, 8)
        assert len(chosen) == 8
        verdicts: dict[str, Verdict] = {
            node: "inconclusive" if node in down else "pass" for node in chosen
        }
        add_entry(tmp_path, entry(run, nodes=verdicts))
    proven = {one.node for one in ages(entries(tmp_path), hosts) if one.age_s is not None}
    assert proven == set(hosts) - down  # 64 nodes in 64 / 8 jobs
    again = {node for run in range(8, 10) for node in _job(tmp_path, hosts, run)}
    assert down <= again  # they are the first that have their turn again


def test_nodes_that_leave_no_result_have_had_their_turn(tmp_path: Path) -> None:
    hosts = ["n1", "../n2", "n3", "n4"]
    assert least_proven(tmp_path, hosts, 2) == ("n1", "../n2")
    now = datetime.now(UTC)
    take_turns(tmp_path, ["n1", "../n2"], now.isoformat())
    assert least_proven(tmp_path, hosts, 2) == ("n3", "n4")
    take_turns(tmp_path, ["n3", "n4"], (now + timedelta(days=9)).isoformat())  # a wrong clock
    assert least_proven(tmp_path, hosts, 2) == ("n3", "n4")
    assert {path.parent.name for path in tmp_path.rglob("*") if path.is_file()} == {"turns"}
    with pytest.raises(CouldNotMeasure, match="cannot be written"):
        take_turns(next((tmp_path / "turns").iterdir()), ["n1"], now.isoformat())


def _job(root: Path, hosts: list[str], day: int) -> tuple[str, ...]:
    chosen = least_proven(root, hosts, 8)
    add_entry(root, entry(day, nodes=dict.fromkeys(chosen, "pass")))
    return chosen


def _world(change: str) -> dict[str, str]:
    """Conditions of a result before and after somebody has changed something."""
    run = run_of(World(nodes=2, sizes=(1 << 20,), patterns=("stream",)))
    run = each_nic(run, mac="02:00:00:00:00:02" if change == "part" else "02:00:00:00:00:01")
    if change == "knob":
        told = msgspec.structs.replace(run.provenance, environment={"UCX_TLS": "rc"})
    else:
        told = msgspec.structs.replace(run.provenance, environment={"UCX_TLS": "dc"})
    items = [
        Disclosed(group="system", name="kernel", value="6.2" if change == "kernel" else "6.1"),
        Disclosed(
            group="firmware",
            name="firmware of mlx5_0",
            value="16.36" if change == "firmware" else "16.35",
            hosts=["n1"],
        ),
    ]
    section = Section(
        title="t",
        run=msgspec.structs.replace(run, provenance=told),
        judgement=Judgement(verdict="pass", proof="on-wire", findings=[], pairs=[]),
        limits=None,
        criteria=Criteria(),
        disclosure=Disclosure(hosts=["n1", "n2"], items=items),
    )
    return conditions([section])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("firmware", "firmware of mlx5_0: 16.35 (n1) -> 16.36 (n1)"),
        ("kernel", "kernel: 6.1 -> 6.2"),
        ("knob", "variable UCX_TLS: dc -> rc"),
        ("part", "address of n1 hsn0: 02:00:00:00:00:01 -> 02:00:00:00:00:02"),
    ],
)
def test_what_was_changed_is_named(change: str, said: str) -> None:
    before, after = _world(""), _world(change)
    known = [
        entry(
            day,
            1e10 * (1 + day % 3 / 1000) * (0.9 if day >= 12 else 1),
            conditions=after if day >= 12 else before,
        )
        for day in range(24)
    ]
    ((found_change,),) = [one.changes for one in trends(known)]
    assert found_change.since == "r00012"
    assert said in found_change.changed
    late = [
        msgspec.structs.replace(one, conditions=before if number < 11 else after)
        for number, one in enumerate(known)
    ]
    ((found_change,),) = [one.changes for one in trends(late)]
    assert f"{said} (since r00011)" in found_change.changed
