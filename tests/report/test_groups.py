"""Group points in text, page and object: derived rates, quantiles, overlap; broken ones are told
and break nothing.
"""

import json
import math
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from tests.records import estimate, group_result, point_record
from tests.rendered import tables_of, text_of
from tests.report.test_html import Reader
from tests.report.test_worlds import HOSTILE, four_nodes, rejudged

from wireproof.measure.export import page_of
from wireproof.model.claim import HostClaim
from wireproof.model.finding import GroupVerdict
from wireproof.model.record import GroupResult, Overlap, PointRecord, Quantiles
from wireproof.report.ink import Look
from wireproof.report.json import json_text, result
from wireproof.report.judged_run import JudgedRun
from wireproof.report.rows import group_tables

set_ = msgspec.structs.replace


def group(**changes: Any) -> GroupResult:
    whole: dict[str, Any] = {
        "operations_per_batch": 10,
        "batch_ns": [20_000.0] * 10,
        "block_batches": [1] * 10,
        "messages_per_operation": 16,
        "member_ns": [1900.0] * 7 + [2100.0],
        "sent_bytes": [1600] * 8,
        "received_bytes": [1600] * 8,
        "estimate": estimate(2000.0, 0.01),
        "integrity": "ok",
    }
    return group_result(8, **(whole | changes))


def point(number: int, found: GroupResult, **changes: Any) -> PointRecord:
    whole: dict[str, Any] = {
        "pattern": "ring",
        "form": "latency",
        "message_bytes": 1024,
        "elapsed_ns": 1e6,
        "group": found,
        "order": "random",
    }
    return point_record(number, **(whole | changes))


def section(*points: PointRecord) -> JudgedRun:
    plain = four_nodes(4, slow=None)
    claims = [HostClaim(rank=rank, host=f"n{rank // 2 + 1}", nic="hsn0") for rank in range(8)]
    run = set_(plain.run, points=list(points), claim=set_(plain.run.claim, hosts=claims))
    return replace(
        plain,
        run=run,
        judgement=set_(plain.judgement, pairs=[], findings=[], verdict="inconclusive"),
    )


def shown(*points: PointRecord) -> str:
    return " ".join(tables_of(section(*points), Look(width=160)).split())


def test_a_ring_is_a_row_with_its_derived_rates() -> None:
    (table,) = group_tables(section(point(1, group())))
    (row,) = table.rows
    assert table.title == "Ring, random order"
    assert (len(row.sample.members), row.sample.nodes, row.sample.ranks_per_node) == (8, 4, "2")
    assert row.sample.messages_per_s == pytest.approx(16 / 2e-6)
    assert row.sample.bytes_per_s == pytest.approx(16 * 1024 / 2e-6)
    assert (row.sample.mean_ns, row.sample.max_ns) == (1925.0, 2100.0)
    text = shown(point(1, group()))
    assert "1 KiB 4 8 2 2.00 1.0 1.93 2.10 8.00 M 8192" in text
    assert "µs per operation of the slowest rank" in text


def test_the_figure_of_a_named_formula_stands_beside_ours() -> None:
    text = shown(point(1, group()), point(2, group(formula_value_ns=2500.0), formula="hpcc"))
    assert "hpcc 2.50 µs" in text


def test_a_librarys_collective_has_no_rate_and_its_overlap() -> None:
    overlap = Overlap(pure_ns=2000.0, compute_ns=2000.0, total_ns=2600.0, share=0.7)
    one = point(
        1, group(exact=False, overlap=overlap), pattern="allreduce", blocking=False, order=""
    )
    (table,) = group_tables(section(one))
    assert table.title == "Allreduce, non-blocking"
    assert table.rows[0].sample.messages_per_s is None
    assert table.rows[0].sample.bytes_per_s is None
    text = shown(one)
    assert "70 %" in text
    assert "msg/s" not in text.split("stable")[0]


def test_congestion_tells_quiet_and_loaded() -> None:
    quiet = Quantiles(samples=100, p50_ns=1500.0, p95_ns=1800.0, p99_ns=2000.0, max_ns=4000.0)
    loaded = Quantiles(samples=100, p50_ns=3000.0, p95_ns=9000.0, p99_ns=25_000.0, max_ns=90_000.0)
    text = shown(point(1, group(quiet=quiet, loaded=loaded), pattern="congestion", order=""))
    assert "1.50 µs / 1.80 µs / 2.00 µs" not in text
    assert "1.50 / 1.80 / 2.00" in text
    assert "3.00 / 9.00 / 25.00" in text
    assert "12.5" in text


def test_unequal_nodes_and_several_tables() -> None:
    tables = group_tables(
        section(
            point(1, group(members=[0, 1, 2])),
            point(2, group(), order="natural"),
            point(3, group(), pattern="message_rate", order=""),
            point(4, group(), message_bytes=8),
        )
    )
    assert [t.title for t in tables] == [
        "Message rate, many pairs at once",
        "Ring, natural order",
        "Ring, random order",
    ]
    assert [(r.sample.message_bytes, r.sample.ranks_per_node) for r in tables[2].rows] == [
        (8, "2"),
        (1024, "1-2"),
    ]


BROKEN = [
    group(status="error", estimate=None, batch_ns=[], member_ns=[], integrity="unchecked"),
    group(integrity="corrupt"),
    group(estimate=estimate(math.nan), member_ns=[math.nan, -1.0, math.inf]),
    group(members=[], sent_bytes=[], received_bytes=[], messages_per_operation=0),
    group(
        members=[99, 100],
        quiet=Quantiles(samples=0, p50_ns=0.0, p95_ns=0.0, p99_ns=0.0, max_ns=0.0),
        loaded=Quantiles(samples=0, p50_ns=0.0, p95_ns=0.0, p99_ns=0.0, max_ns=0.0),
    ),
]


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_points_are_told_and_break_nothing(broken: GroupResult) -> None:
    whole = section(point(1, broken, formula=HOSTILE), point(2, group()))
    assert tables_of(whole)
    page = Reader(page_of([whole], "groups"))
    assert "Ring, random order" in page.shown
    found = json.loads(json_text(result.document_of(whole)))
    assert len(found["groups"]) == 2
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(result.json_schema()).validate(found)


def test_the_page_and_the_status_of_what_failed() -> None:
    page = Reader(page_of([section(point(1, BROKEN[0]), point(2, BROKEN[1]))], "groups"))
    assert "payload corrupt" in page.shown
    assert "error" in page.shown
    assert sum(tag == "tr" and a.get("class") == "bad" for tag, a in page.elements) == 2
    tags = [tag for tag, _ in page.elements]
    assert tags.count("table") == tags.count("caption")


def test_what_failed_is_in_a_table_that_is_cut() -> None:
    many = [point(number, group()) for number in range(1, 60)]
    whole = section(*many, point(60, group(integrity="corrupt"), message_bytes=1 << 20))
    assert "payload corrupt" in tables_of(whole, Look(width=200))
    page = Reader(page_of([whole], "groups"))
    rows = [attributes for tag, attributes in page.elements if tag == "tr"]
    assert any(one.get("class") == "bad" for one in rows)


def test_narrow_terminals_name_what_they_leave_out() -> None:
    text = tables_of(section(point(1, group())), Look(width=60))
    assert max(len(line) for line in text.splitlines()) <= 60
    assert "not shown at this width" in text


def test_the_verdict_of_a_group_stands_in_its_row_and_in_the_counts() -> None:
    whole = section(point(1, group()), point(2, group(), message_bytes=64))
    verdicts = [
        GroupVerdict(
            point=number,
            pattern="ring",
            message_bytes=64,
            members=8,
            nodes=4,
            value=2000.0,
            low=1990.0,
            high=2010.0,
            half_width=0.01,
            label="stable",
            proof="on-wire",
            verdict=word,
            efficiency=0.93,
        )
        for number, word in ((1, "pass"), (2, "fail"))
    ]
    judged = rejudged(whole, groups=verdicts, verdict="fail", proof="on-wire")
    text = " ".join(text_of(judged, Look(width=160)).split())
    assert "1 of 2 results pass" in text
    assert "93 on-wire pass" in text
    assert "93 on-wire fail" in text
    page = Reader(page_of([judged], "groups"))
    assert "1 of 2 results pass." in page.shown
    assert sum(tag == "tr" and a.get("class") == "bad" for tag, a in page.elements) == 1
    found = json.loads(json_text(result.document_of(judged)))
    assert [one["verdict"] for one in found["group_results"]] == ["pass", "fail"]
