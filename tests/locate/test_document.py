"""What was located, told: text, page and object name the culprits, what was cleared, and what
silence is worth.
"""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from tests import records
from tests.locate.test_causes import TABLES
from tests.rendered import answered, text_of
from tests.report.test_worlds import HOSTILE, four_nodes

from wireproof.locate.verdict import with_located
from wireproof.model.located import Blame, Cause, Contention, Located, Tier
from wireproof.report.ink import Look
from wireproof.report.json import json_text, result
from wireproof.report.judged_run import JudgedRun

CABLE = Cause(
    code="errors-sent",
    sentence="link errors rise at n3",
    confidence=0.8,
    fix="Replace the cable.",
    evidence=["n3: net/hsn0/tx_errors +512"],
)
SLOW = {"slowdown": 0.69, "low": 0.68, "high": 0.7, "value": 37e6, "nodes": ["n3"]}
FAST = Contention(subject="n1 -> n4", loaded=60e6, alone=118e6, sentence="n1 -> n4 is fast alone")


def blame(**changes: Any) -> Blame:
    return records.blame(**(SLOW | {"causes": [CABLE]} | changes))


def located(**changes: Any) -> Located:
    whole: dict[str, Any] = {
        "nodes": 8,
        "measured": 7,
        "rounds": 7,
        "samples": 112,
        "detectable": 0.031,
        "blames": [blame()],
        "cleared": ["n1", "n2"],
        "contention": [FAST],
        "tiers": [
            Tier(name="one switch", samples=56, median=119e6),
            Tier(name="across leaves", samples=56, median=59e6, oversubscription=2.01),
        ],
        "missing": {"n8": "did not answer within 10 s"},
    }
    return records.located(**(whole | changes))


def section(*found: Located, hosts: int = 8) -> JudgedRun:
    plain = four_nodes(hosts)
    return replace(plain, located=found, judgement=with_located(plain.judgement, found))


def flat(text: str) -> str:
    return " ".join(text.split())


def test_the_text_tells_everything_in_order() -> None:
    shown = flat(text_of(section(located())))
    order = TABLES["shown_in_order"]
    places = [shown.find(words) for words in order]
    assert all(place > 0 for place in places), dict(zip(order, places, strict=True))
    assert places == sorted(places)


def test_many_alike_are_one_line_with_folded_names() -> None:
    many = [blame(subject=f"n{i}", slowdown=0.2 + i / 1000) for i in range(1, 101)]
    shown = flat(text_of(section(located(blames=many))))
    assert "n[1-100] send slowly" in shown
    assert "20 % to 30 % less" in shown


def test_the_slowest_culprit_is_the_headline() -> None:
    slow = section(
        located(
            blames=[
                blame(kind="node", subject="n5", direction="", slowdown=0.1, causes=[]),
                blame(),
            ]
        )
    )
    assert text_of(slow).startswith("FAIL  n3 sends slowly")
    assert answered(slow, "Why?")[0] == "It may be that link errors rise at n3"
    assert answered(slow, "Which node or link?")[0] == "n3, sending, n5"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"samples": 0, "blames": []}, "There is no sample"),
        ({"detectable": math.inf, "blames": []}, "Even a large slowdown would not be found"),
        (
            {"detectable": 0.2, "blames": []},
            "20 % or more would have been found (noise of one sample 1.0 %), which",
        ),
        ({"blames": []}, "no node stands out"),
        (
            {
                "metric": "hrt",
                "blames": [blame(metric="hrt", direction="", value=2400.0, expected=2e3)],
            },
            "2.40 µs of",
        ),
    ],
)
def test_what_silence_is_worth(changes: dict[str, Any], words: str) -> None:
    assert words in flat(text_of(section(located(**changes)), Look(width=160)))


def hostile() -> Located:
    """Names that are markup and control characters, and numbers that are none."""
    cause = Cause(code=HOSTILE, sentence=HOSTILE, confidence=0.1, fix=HOSTILE, evidence=[HOSTILE])
    words = {"subject": HOSTILE, "nodes": [HOSTILE], "evidence": [HOSTILE], "causes": [cause]}
    odd = blame(slowdown=math.nan, value=math.inf, expected=0.0, confidence=math.nan, **words)
    return located(
        blames=[odd],
        cleared=[HOSTILE],
        missing={HOSTILE: HOSTILE},
        notes=[HOSTILE],
        tiers=[Tier(name=HOSTILE, samples=1, median=one) for one in (math.nan, math.inf)],
        contention=[Contention(subject=HOSTILE, loaded=1.0, alone=math.nan, sentence=HOSTILE)],
    )


def test_hostile_names_and_numbers_are_harmless() -> None:
    shown = text_of(section(hostile()))
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "confidence unknown" in flat(shown)


def test_the_object_holds_it_and_knows_no_nan() -> None:
    one = section(located(detectable=math.inf))
    found = json.loads(json_text(result.document_of(one)))
    assert found["located"][0]["detectable"] is None
    assert found["located"][0]["blames"][0]["subject"] == "n3"
    assert found["located"][0]["blames"][0]["causes"][0]["code"] == "errors-sent"
    assert found["located"][0]["missing"] == {"n8": "did not answer within 10 s"}
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(result.json_schema()).validate(found)
    bare = result.document_of(replace(one, located=()))
    assert json.loads(json_text(bare))["located"] == []
