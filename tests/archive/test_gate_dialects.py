"""The dialects of the gate: each has the form that its reader takes, and fails closed."""

import json
import re
import xml.etree.ElementTree as ElementTree
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as text_format
from tests.cli.verb import wireproof
from tests.gate_results import NOW, asked, stored

from wireproof.model.run import Gate, NodeVerdict
from wireproof.report.gate import DIALECTS, age


def a_gate(*verdicts: str) -> Gate:
    nodes = [
        NodeVerdict(
            node=f"n{number}",
            verdict=verdict,  # type: ignore[arg-type]
            reason='slow | by "70 %" <b>\x1b[31m\n' + "x" * 300,
        )
        for number, verdict in enumerate(verdicts, 1)
    ]
    worst = next((v for v in ("fail", "inconclusive", "pass") if v in verdicts), "inconclusive")
    return Gate(
        verdict=worst,  # type: ignore[arg-type]
        subject="n1",
        reason=nodes[0].reason if nodes else "no result",
        measured=NOW.isoformat(),
        age_s=7200.0,
        nodes=nodes,
    )


ALL = [a_gate("pass"), a_gate("fail", "pass"), a_gate("inconclusive"), a_gate()]


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("found", ALL, ids=["pass", "fail", "undecided", "nothing"])
def test_no_dialect_calls_anything_but_a_pass_healthy(name: str, found: Gate) -> None:
    dialect = DIALECTS[name]
    text = dialect.text(found)
    assert "\x1b" not in text
    if name != "openmetrics":
        assert (dialect.status[found.verdict] == 0) == (found.verdict == "pass")
        assert dialect.status[found.verdict] in (0, 1, 2, 3)


@pytest.mark.parametrize("found", ALL)
def test_lines_are_one_line(found: Gate) -> None:
    for name in ("text", "nagios", "nhc", "slurm", "npd"):
        assert len(DIALECTS[name].text(found).splitlines()) == 1
    assert len(DIALECTS["npd"].text(found)) <= 80
    assert DIALECTS["nagios"].text(found).count("|") == 1


@pytest.mark.parametrize("found", ALL)
@pytest.mark.parametrize("parse", [text_format, open_metrics])
def test_metrics_are_read_by_prometheus(found: Gate, parse: object) -> None:
    assert callable(parse)
    families = {one.name: one for one in parse(DIALECTS["openmetrics"].text(found) + "\n")}
    states = {one.labels["verdict"]: one.value for one in families["wireproof_verdict"].samples}
    assert states[found.verdict] == 1
    assert sum(states.values()) == 1
    assert all(sample.timestamp is None for one in families.values() for sample in one.samples)
    samples = (
        families["wireproof_node_verdict"].samples if "wireproof_node_verdict" in families else []
    )
    assert len(samples) == 3 * len(found.nodes)


@pytest.mark.parametrize("found", ALL)
def test_junit_has_an_error_for_what_is_undecided(found: Gate) -> None:
    suite = ElementTree.fromstring(DIALECTS["junit"].text(found)).find("testsuite")  # noqa: S314
    cases = suite.findall("testcase")
    assert int(suite.get("tests", "0")) == len(cases) >= 1
    # what the schema of Ant's JUnit task asks for, in its order
    assert set(suite.keys()) >= {"id", "package", "hostname", "timestamp", "name", "time"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp", ""))
    kinds = list(dict.fromkeys(one.tag for one in suite))
    assert kinds == ["properties", "testcase", "system-out", "system-err"]
    assert int(suite.get("skipped", "1")) == 0
    bad = int(suite.get("failures", "0")) + int(suite.get("errors", "0"))
    assert (bad == 0) == (found.verdict == "pass")


@pytest.mark.parametrize("found", ALL)
def test_ctrf_counts_add_up_and_nothing_is_skipped(found: Gate) -> None:
    results = json.loads(DIALECTS["ctrf"].text(found))["results"]
    summary = results["summary"]
    kinds = ("passed", "failed", "pending", "skipped", "other")
    assert sum(summary[kind] for kind in kinds) == summary["tests"] == len(results["tests"]) >= 1
    assert summary["skipped"] == summary["pending"] == 0
    assert (summary["passed"] == summary["tests"]) == (found.verdict == "pass")


def test_sarif_folds_ten_thousand_nodes_with_one_fault() -> None:
    many = a_gate(*["fail"] * 10_000)
    (run,) = json.loads(DIALECTS["sarif"].text(many))["runs"]
    (result,) = run["results"]
    assert "n[1-10000]" in result["message"]["text"]
    assert len(result["locations"]) == 100


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0 s"), (59, "59 s"), (7200, "2 h"), (86400 * 3, "3 d")]
)
def test_ages(seconds: float, said: str) -> None:
    assert age(seconds) == said


@pytest.mark.parametrize(("name", "status"), [("nagios", 3), ("nhc", 1), ("npd", 2)])
def test_what_cannot_be_measured_is_undecided_in_the_dialect(name: str, status: int) -> None:
    hosts = "nosuchhost1.invalid,nosuchhost2.invalid"
    done = wireproof("check", "--prolog", "--dialect", name, "--hosts", hosts)
    assert done.returncode == status
    assert done.stdout.count("\n") == 1
    assert "nosuchhost" in done.stdout


def test_a_dialect_is_of_a_prolog_and_one_that_there_is() -> None:
    done = wireproof("check", "--dialect", "nagios")
    assert (done.returncode, "--prolog" in done.stderr) == (2, True)
    done = wireproof("check", "--prolog", "--dialect", "nagois")
    assert (done.returncode, "did you mean nagios" in done.stderr) == (2, True)


def test_sarif_stays_below_what_its_readers_take() -> None:
    """GitHub shows 5,000 results of a run and refuses more than 25,000; a result needs a file."""
    nodes = [
        NodeVerdict(node=f"n{number}", verdict="fail", reason=f"n{number} sends {number} MB/s")
        for number in range(30_000)
    ]
    found = Gate(verdict="fail", subject="n[0-29999]", reason="30,000 fail", nodes=nodes)
    (run,) = json.loads(DIALECTS["sarif"].text(found))["runs"]
    assert len(run["results"]) == 5000
    assert "25001 more reasons" in run["results"][-1]["message"]["text"]
    assert (
        len({one["partialFingerprints"]["primaryLocationLineHash"] for one in run["results"]})
        == 5000
    )
    for one in run["results"]:
        assert one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert len(one["locations"]) <= 100
    (rule,) = run["tool"]["driver"]["rules"]
    assert set(rule) >= {"id", "shortDescription", "fullDescription", "help"}


def test_lines_keep_the_bounds_of_their_readers_in_bytes() -> None:
    found = a_gate("fail")
    found = msgspec.structs.replace(found, reason="n1 needs 3 µs × 2 – " + "µ" * 900)
    assert len(DIALECTS["npd"].text(found).encode()) <= 80
    assert DIALECTS["npd"].text(found).startswith("fail: n1 needs 3 µs")
    assert len(DIALECTS["nagios"].text(found).encode()) < 1024
    text, _, data = DIALECTS["nagios"].text(found).partition(" | ")
    assert text.startswith("WIREPROOF CRITICAL - ")
    for one in data.split():
        assert re.fullmatch(r"[a-z_]+=[0-9]+s?(;[0-9]*){4}", one + ";" * (4 - one.count(";")))


def test_a_result_of_the_future_has_no_age_for_a_monitor(tmp_path: Path) -> None:
    found = asked(stored(tmp_path / "a", when=NOW + timedelta(hours=1)))
    assert found.age_s < 0
    assert "age=" not in DIALECTS["nagios"].text(found)
    assert "ago" not in DIALECTS["text"].text(found)
