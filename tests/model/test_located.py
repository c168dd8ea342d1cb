"""Culprits and suspects are typed, those of older documents too."""

import msgspec
import pytest

from wireproof.locate.blame import SlownessEstimate, blame_of, kind_of
from wireproof.model.finding import Both, Link, Node, Port, Route, Subject, Switch, Whole
from wireproof.model.located import Blame, Contention, Located

NUMBERS = {
    "slowdown": 0.2,
    "low": 0.1,
    "high": 0.3,
    "confidence": 0.9,
    "stage": "screened",
    "value": 8.0,
    "expected": 10.0,
}


@pytest.mark.parametrize(
    ("fields", "about"),
    [
        ({"kind": "node", "subject": "n3"}, Node("n3")),
        ({"kind": "node", "subject": "odd tx"}, Node("odd tx")),
        ({"kind": "port", "subject": "n3", "direction": "rx"}, Port("n3", "rx")),
        ({"kind": "link", "subject": "leaf1 - spine2"}, Link("leaf1", "spine2")),
        ({"kind": "switch", "subject": "leaf1", "direction": "tx"}, Switch("leaf1")),
        ({"kind": "pair", "subject": "n1 -> n2"}, Route("n1", "n2")),
        ({"kind": "pair", "subject": "n1 <-> n2"}, Both("n1", "n2")),
        ({"kind": "pair", "subject": "n1 - n2", "metric": "hrt"}, Both("n1", "n2")),
    ],
)
def test_a_culprit_of_an_older_document_is_typed(fields: dict[str, str], about: Subject) -> None:
    old = msgspec.json.encode(fields | NUMBERS)
    blame = msgspec.json.decode(old, type=Blame)
    assert blame.about == about
    assert msgspec.json.decode(msgspec.json.encode(blame), type=Blame) == blame


def test_suspects_of_an_older_document_are_typed() -> None:
    old = {
        "metric": "goodput",
        "nodes": 4,
        "measured": 4,
        "rounds": 3,
        "samples": 12,
        "noise": 0.01,
        "alpha": 0.05,
        "practical": 0.05,
        "detectable": 0.05,
        "cleared": ["n3 tx", "n2", "n1 -> n2"],
        "contention": [{"subject": "n3 rx", "loaded": 1.0, "alone": 2.0, "sentence": "slow"}],
    }
    located = msgspec.convert(old, Located)
    assert located.acquitted == [Port("n3", "tx"), Node("n2"), Route("n1", "n2")]
    assert located.contention[0].about == Port("n3", "rx")
    same = msgspec.json.decode(msgspec.json.encode(located), type=Located)
    assert same == located


def test_what_a_new_document_says_is_believed() -> None:
    about = Port("n1 -> n2", "tx")
    one = Contention(subject="n1 -> n2 tx", about=about, loaded=1.0, alone=2.0, sentence="")
    assert one.about == about


@pytest.mark.parametrize(
    ("about", "kind", "subject", "direction"),
    [
        (Node("n3"), "node", "n3", ""),
        (Port("n3", "tx"), "port", "n3", "tx"),
        (Link("leaf1", "?"), "link", "leaf1 - ?", "rx"),
        (Switch("leaf1"), "switch", "leaf1", "rx"),
        (Route("n1", "n2"), "pair", "n1 -> n2", ""),
        (Both("n1", "n2"), "pair", "n1 <-> n2", ""),
    ],
)
def test_a_blame_takes_kind_name_and_direction_of_its_culprit(
    about: Subject, kind: str, subject: str, direction: str
) -> None:
    estimate = SlownessEstimate(slowness=0.2, error=0.01, p=0.01, expected=-20.0)
    way = "rx" if isinstance(about, Link | Switch) else ""
    blame = blame_of(about, "goodput", estimate, stage="screened", nodes=["n1"], direction=way)
    assert (blame.kind, blame.subject, blame.direction) == (kind, subject, direction)
    assert blame.about == about


def test_a_whole_run_is_no_culprit() -> None:
    with pytest.raises(ValueError, match="not a culprit"):
        kind_of(Whole())
