"""The JSON of ``judge``: its schema is the one on disk, and documents keep to it."""

import json
from pathlib import Path

import jsonschema
import pytest

from wireproof.logs import json as judgement
from wireproof.logs.document import (
    brief_part,
    judgement_document,
    series_section,
    totals,
)
from wireproof.logs.readers import read
from wireproof.logs.verdict import judge_series
from wireproof.physics import claim_from_text
from wireproof.report.html.document import document_page
from wireproof.report.ink import Look
from wireproof.report.text import part_text

GOLDEN = Path(__file__).parent.parent / "golden"
SCHEMA_FILE = Path(judgement.__file__).with_name("judgement.schema.json")


def of(name: str, link: str) -> judgement.JudgedSeries:
    (series,) = read((GOLDEN / name).read_bytes(), name)
    claim = claim_from_text(link)
    return judgement.joined(series, judge_series(series, claim), claim)


def _text(judged: judgement.JudgedSeries, look: Look) -> str:
    return part_text(series_section(judged), look)


def test_the_schema_on_disk_is_current() -> None:
    again = json.dumps(judgement.json_schema(), indent=2, sort_keys=True) + "\n"
    command = "run: python -m wireproof.logs.json > src/wireproof/logs/judgement.schema.json"
    assert SCHEMA_FILE.read_text() == again, command


def test_a_series_keeps_to_the_schema() -> None:
    one = json.loads(judgement.encoded(of("1gbe_openmpi_osu_put_bw.csv", "1gbe")))
    document = {
        "schema": "wireproof.judgement",
        "version": 1,
        "link": None,
        "series": [one],
        "verdict": "pass",
        "errors": [],
    }
    jsonschema.validate(document, judgement.json_schema())
    assert one["share_of_nominal"] == pytest.approx(0.9357, abs=1e-4)


def test_what_was_not_printed_is_absent_not_zero() -> None:
    point = json.loads(judgement.encoded(of("1gbe_openmpi_osu_put_bw.csv", "1gbe")))["points"][0]
    assert "hrt_ns" not in point
    assert point["goodput_bytes_per_s"] == pytest.approx(0.2e6)


def test_the_text_says_every_unit_and_the_share() -> None:
    text = _text(of("1gbe_openmpi_osu_put_bw.csv", "1gbe"), Look())
    for words in (
        "PASS",
        "116.96 MB/s",
        "111.54 MiB/s",
        "0.9357 Gb/s",
        "99.4% of attainable",
        "93.6% of nominal",
    ):
        assert words in text


def test_no_share_of_a_wire_that_was_not_used() -> None:
    text = _text(of("40gbe_intelmpi_imb_p2p_pingpong.csv", "40gbe"), Look())
    assert "FAIL" in text
    assert "of nominal" not in text


def test_the_curve_is_plain_where_the_terminal_is() -> None:
    text = _text(of("1gbe_openmpi_osu_put_bw.csv", "1gbe"), Look(ascii=True))
    assert text.isascii()
    assert "@@@" in text


def test_the_page_draws_both_curves_with_their_bounds_and_says_what_to_do() -> None:
    name = "40gbe_intelmpi_imb_p2p_pingpong.csv"
    found = judgement.JudgementDocument(
        schema="wireproof.judgement",
        version=1,
        link=claim_from_text("40gbe"),
        series=[of(name, "40gbe")],
        verdict="fail",
        errors=[],
    )
    page = document_page(judgement_document(found, advice={"below-floor": "Look at the path."}))
    for title in ("Half round trip against message size", "Goodput against message size"):
        assert title in page
    assert page.count('class="limit" d="M') == 4, "each chart stands there wide and narrow"
    assert "Look at the path." in page


def test_one_line_and_totals() -> None:
    line = part_text(brief_part(of("40gbe_intelmpi_imb_p2p_pingpong.csv", "40gbe")))
    assert line.count("\n") == 1
    assert "below" in line
    assert (
        totals({"pass": 2, "fail": 1}, 4, 1)
        == "3 series in 4 files: 2 pass, 1 fail; 1 could not be judged"
    )


def test_a_table_of_message_rates_prints_the_rate() -> None:
    text = _text(of("logs/osu74-mbw_mr-2pairs-tcp10g.out", "10gbe"), Look())
    assert "50.3 k messages/s of 1 B by 2 pairs" in text
    assert "messages/s of" not in _text(of("1gbe_openmpi_osu_put_bw.csv", "1gbe"), Look())
