"""What a history concludes over time: changes and their causes, and whose turn it is."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import numpy as np
import pytest
from tests.archive.test_history import entry
from tests.changed_runs import each_nic
from tests.synthetic import World, run_of

from wireproof.archive.history import ages, good_before, least_proven, regressions, standing, trends
from wireproof.archive.history_document import regression_lines, trend_document
from wireproof.measure.conditions import conditions
from wireproof.model.claim import Criteria
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.finding import Judgement, Verdict
from wireproof.model.history import Entry, Number
from wireproof.model.setting import Disclosed, Disclosure
from wireproof.report.judged_run import JudgedRun
from wireproof.report.text import document_text
from wireproof.stats.fit import change_points
from wireproof.store.history import add_entry, entries, take_turns


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
    section = JudgedRun(
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


def of_rates(rates: list[float], good: float = 1e9, *, seed: int = 1) -> list[Entry]:
    """Results of a stream of 1 MiB in this order, 0.5 % noise; below 80 % of ``good`` n3 fails, and
    its partner n1 is undecided.
    """
    rng = np.random.default_rng(seed)
    found = []
    for day, rate in enumerate(rates):
        value = rate * float(np.exp(rng.normal(0, 0.005)))
        verdict: Verdict = "pass" if rate > 0.8 * good else "fail"
        number = Number(
            name="stream",
            message_bytes=1 << 20,
            unit="bytes_per_s",
            value=value,
            low=value * 0.995,
            high=value * 1.005,
            results=12,
        )
        nodes: dict[str, Verdict] = {"n1": "pass", "n2": "pass", "n3": verdict}
        nodes["n1"] = "pass" if verdict == "pass" else "inconclusive"
        result = entry(day, verdict=verdict, nodes=nodes)
        found.append(msgspec.structs.replace(result, numbers=[number]))
    return found


@pytest.mark.parametrize("count", [*range(4, 16), 20])
def test_a_change_is_dated_to_the_first_result_after_it_and_names_the_node(count: int) -> None:
    for at in range(2, count - 1):
        for seed in range(3):
            known = of_rates([1e9] * at + [3e8] * (count - at), seed=seed)
            (trend,) = trends(known)
            if count == 20 and min(at, count - at) < 4:
                continue  # of many results ranks decide, and three are too few for them
            found = {one.since: one.nodes for one in trend.changes}
            assert found[known[at].id] == ["n3"], (count, at)
            assert standing(known, [trend], regressions(known)) == "fail"


def test_a_short_series_without_a_change_shows_one_at_the_stated_rate() -> None:
    rng = np.random.default_rng(11)
    false = sum(
        bool(change_points(rng.normal(0, 0.02, 4 + number % 12), alpha=0.01, floor=0.005))
        for number in range(2000)
    )
    assert false <= 35  # 20 expected


@pytest.mark.parametrize("count", [1, 2, 3])
def test_what_was_held_against_nothing_is_undecided(count: int) -> None:
    known = of_rates([1e9] * count)
    worse = regressions(known)
    assert worse == []
    assert standing(known, trends(known), worse) == "inconclusive"
    lines = regression_lines(known[-1].id, worse, len(good_before(known)))
    assert "3 passing results of these hosts are needed, there " in (lines[0])
    shown = document_text(trend_document(trends(known), lines, "inconclusive"))
    assert "4 or more results" in shown


def test_three_good_results_are_enough_to_hold_the_newest_against() -> None:
    for last, verdict in ((1e9, "pass"), (3e8, "fail")):
        known = of_rates([1e9, 1e9, 1e9, last])
        assert standing(known, trends(known), regressions(known)) == verdict


def test_the_first_line_tells_what_has_been_worse_for_a_while() -> None:
    known = [
        msgspec.structs.replace(one, verdict="pass") for one in of_rates([1e9] * 3 + [0.6e9] * 4)
    ]
    found, worse = trends(known), regressions(known)
    assert standing(known, found, worse) == "inconclusive"
    lines = regression_lines(known[-1].id, worse, len(good_before(known)))
    title = trend_document(found, lines, "inconclusive").answer
    assert f"% worse since {known[3].id}" in title
    assert "since" not in trend_document(trends(of_rates([1e9] * 7)), lines, "pass").answer


def test_two_levels_that_come_by_chance_are_no_failure() -> None:
    """Latencies that flip between two cores: a change is named, and nothing fails for it."""
    known = [msgspec.structs.replace(one, verdict="inconclusive") for one in of_rates([1e9] * 2)]
    known += of_rates([0.9e9] * 3)
    assert trends(known)[0].changes
    assert standing(known, trends(known), regressions(known)) == "inconclusive"
