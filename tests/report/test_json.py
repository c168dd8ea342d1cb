"""The object for machines: stable, described by its schema, free of NaN."""

import json
import math
from pathlib import Path
from typing import Any

import msgspec
import numpy
import pytest
from tests.report.test_worlds import empty, four_nodes, hostile, off_wire, rejudged

from wireproof.model.finding import Finding
from wireproof.report.json import json_text, result
from wireproof.report.judged_run import JudgedRun

SCHEMA_FILE = Path(result.__file__).with_name("result.schema.json")


def _refuse(constant: str) -> float:
    raise AssertionError(f"{constant} in JSON")


def _load(section: JudgedRun) -> dict[str, Any]:
    text = json_text(result.document_of(section))
    assert text.isascii()
    loaded = json.loads(text, parse_constant=_refuse)
    assert isinstance(loaded, dict)
    return loaded


def _broken() -> JudgedRun:
    """Numbers that are not finite wherever a number may stand."""
    section = four_nodes(2)
    pairs = [
        msgspec.structs.replace(pair, half_width=math.inf, low=math.nan)
        for pair in section.judgement.pairs
    ]
    return rejudged(section, pairs=pairs)


@pytest.mark.parametrize(
    "section", [four_nodes(), off_wire(), empty(), hostile()], ids=lambda one: one.title[:10]
)
def test_the_object_decodes_into_the_structs_that_document_it(section: JudgedRun) -> None:
    text = json_text(result.document_of(section))
    decoded = msgspec.json.decode(text, type=result.ResultDocument)
    assert decoded.findings == section.judgement.findings
    assert decoded.results == section.judgement.pairs
    assert (decoded.schema, decoded.version) == ("wireproof.result", 2)


@pytest.mark.parametrize(
    "section", [four_nodes(), off_wire(), empty(), _broken()], ids=lambda one: one.title[:10]
)
def test_the_object_obeys_the_schema(section: JudgedRun) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(result.json_schema()).validate(_load(section))


def test_numbers_that_are_not_finite_become_null() -> None:
    loaded = _load(_broken())
    assert {row["half_width"] for row in loaded["results"]} == {None}
    assert {row["low"] for row in loaded["results"]} == {None}
    assert all(row["value"] > 0 for row in loaded["results"])


def test_the_schema_file_is_what_the_structs_say() -> None:
    written = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    again = json.loads(json.dumps(result.json_schema()))
    assert written == again, (
        "run: python -m wireproof.report.json.result > src/wireproof/report/json/result.schema.json"
    )


def test_the_schema_names_its_version_and_allows_null_for_every_number() -> None:
    schema = result.json_schema()
    assert schema["title"] == "wireproof.result version 2"
    found: list[Any] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            found.append(node.get("type"))
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(schema)
    assert ["number", "null"] in found
    assert "number" not in found


def test_samples_summarise_batches_in_order() -> None:
    for sample in _load(four_nodes(2))["samples"]:
        assert sample["p1_ns"] <= sample["p50_ns"] <= sample["p99_ns"] <= sample["max_ns"]
        assert sample["batches"] == 40


def test_ping_pong_samples_are_halved_like_their_estimate() -> None:
    samples = [one for one in _load(four_nodes(2))["samples"] if one["pattern"] == "pingpong"]
    assert samples
    for sample in samples:
        assert sample["p50_ns"] == pytest.approx(sample["estimate"]["median_ns"], rel=0.01)


def test_numpy_scalars_in_evidence_are_plain_numbers() -> None:
    section = four_nodes(2)
    evidence: dict[str, Any] = {
        "a": numpy.float64(1.5),
        "b": numpy.int64(7),
        "c": numpy.bool_(True),
        "d": numpy.float64("nan"),
    }
    finding = Finding(code="unstable", severity="warning", message="m", evidence=evidence)
    loaded = _load(rejudged(section, findings=[finding]))
    assert loaded["findings"][0]["evidence"] == {"a": 1.5, "b": 7, "c": True, "d": None}


def test_missing_points_keep_their_reason() -> None:
    assert set(_load(hostile())["missing"]) == {"99"}
