"""A study as a document: what to use first, then what was not obeyed; every pattern has a table."""

import msgspec
from tests.experiment.test_study_conclude import OBEYED, runs, study

from wireproof.experiment.study import Probe
from wireproof.experiment.study.document import study_document
from wireproof.report.document import Document, Findings, Section, Span, Table


def sections(document: Document) -> list[Section]:
    return [part for part in document.parts if isinstance(part, Section)]


def codes(document: Document) -> list[str]:
    findings = [
        part for each in sections(document) for part in each.parts if isinstance(part, Findings)
    ]
    return [item.code for part in findings for item in part.items]


def test_what_to_use_is_the_answer_and_each_value_has_its_effect() -> None:
    made = runs([{"stream": 2.0}, {"latency": 1.5}, {}], 12)
    found = study(made, {1: OBEYED, 2: OBEYED, 3: Probe(listed=["X_OTHER"])})
    document = study_document(found)
    assert document.verdict == "pass"
    assert "X_RAILS=1" in document.answer
    assert codes(document) == ["setting-not-honoured"]
    stream, latency = (part for part in document.parts if isinstance(part, Table))
    assert [row.tone for row in stream.rows] == ["pass", "", ""]
    assert [row.tone for row in latency.rows] == ["", "fail", ""]
    assert [row.cells[3] for row in stream.rows] == ["yes", "yes", "no"]
    effect = found.effects[0]
    assert stream.rows[0].cells[-1] == Span(effect.ratio, effect.low, effect.high)


def test_nothing_is_recommended_of_launches_beside_the_wire() -> None:
    document = study_document(study(runs([{"stream": 2.0}], 12, proof="off-wire"), {1: OBEYED}))
    assert document.verdict == "inconclusive"
    assert sections(document)[0].verdict == "inconclusive"


def test_nothing_is_recommended_of_launches_on_busy_hosts() -> None:
    made = [msgspec.structs.replace(run, waited=0.4) for run in runs([{"stream": 2.0}], 12)]
    found = study(made, {1: OBEYED})
    assert {effect.answer for effect in found.effects} == {"undecided"}
    document = study_document(found)
    assert (document.verdict, found.advice) == ("inconclusive", [])
    assert "waited for a processor for 40% and 40% of the time" in document.answer


def test_a_study_without_a_run_says_what_did_not_start() -> None:
    document = study_document(study([], {1: Probe(failed="no")}))
    assert codes(document) == ["setting-not-honoured"]
    assert not [part for part in document.parts if isinstance(part, Table)]


def test_with_few_runs_the_answer_is_undecided() -> None:
    document = study_document(study(runs([{"stream": 2.0}], 2), {1: OBEYED}))
    assert document.verdict == "inconclusive"
    assert "--budget" in document.answer


def test_what_is_known_of_several_values_is_printed_once() -> None:
    made = runs([{}, {}], 2)
    document = study_document(study(made, {1: Probe(), 2: Probe(), 3: Probe(failed="no")}))
    assert "helps measurably" not in document.answer
    assert "are undecided" in document.answer
    (items,) = [part.items for part in sections(document)[0].parts if isinstance(part, Findings)]
    assert len(items) == 2
    assert items[0].text.count("the library reports nothing about it") == 1
