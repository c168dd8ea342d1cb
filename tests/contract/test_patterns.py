"""The engine's catalogue of patterns and Python's are one."""

import json
import subprocess
from typing import Any, get_args

import pytest

from wireproof.launch.engines import find_engine
from wireproof.model.pattern import (
    CATALOGUE,
    GROUP_PATTERNS,
    PAIR_PATTERNS,
    Form,
    Pattern,
    answers,
    crossings,
    fits,
    is_rate,
    is_remote,
    is_round_trip,
    place_of,
    title_of,
)
from wireproof.model.plan import Formula

pytestmark = pytest.mark.engine


def listed() -> dict[str, Any]:
    engine = find_engine("nompi")
    done = subprocess.run(
        [str(engine), "--patterns"], capture_output=True, text=True, check=True, timeout=60
    )
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def engine() -> dict[str, Any]:
    return listed()


@pytest.fixture(scope="module")
def rows(engine: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in engine["patterns"]}


def test_both_have_the_same_patterns_in_the_same_order(rows: dict[str, dict[str, Any]]) -> None:
    assert list(rows) == list(CATALOGUE) == [*PAIR_PATTERNS, *GROUP_PATTERNS]


@pytest.mark.parametrize("pattern", CATALOGUE)
def test_a_row_says_the_same_on_both_sides(
    pattern: Pattern, rows: dict[str, dict[str, Any]]
) -> None:
    ours, theirs = CATALOGUE[pattern], rows[pattern]
    assert theirs["kind"] == ours.kind
    assert theirs["access"] == ours.access
    assert theirs["unit_bytes"] == ours.unit_bytes
    assert [one["form"] for one in theirs["forms"]] == list(ours.forms)
    for one in theirs["forms"]:
        assert "robust" in one["formulas"]
        assert set(one["formulas"]) <= set(get_args(Formula))


@pytest.mark.parametrize("pattern", PAIR_PATTERNS)
def test_origin_and_target_send_what_the_engine_says(
    pattern: Pattern, rows: dict[str, dict[str, Any]]
) -> None:
    roles = CATALOGUE[pattern].forms
    for one in rows[pattern]["forms"]:
        role = roles[one["form"]]
        assert (role.origin_sends, role.target_sends) == (one["origin_sends"], one["target_sends"])


@pytest.mark.parametrize("pattern", GROUP_PATTERNS)
def test_the_members_of_a_group_send_what_its_loops_say(
    pattern: Pattern, engine: dict[str, Any], rows: dict[str, dict[str, Any]]
) -> None:
    row, sent = rows[pattern], CATALOGUE[pattern].sent
    if sent is None:
        pytest.skip("its members' parts differ")
    assert sum(row["sent"]) == sent(engine["members"])
    if CATALOGUE[pattern].kind == "group":
        assert sum(row["received"]) == row["messages_per_operation"] == sent(engine["members"])


def test_every_form_of_a_pattern_follows_from_its_row() -> None:
    for pattern in PAIR_PATTERNS:
        for form in CATALOGUE[pattern].forms:
            assert is_rate(pattern, form) == (form == "stream")
            assert (crossings(pattern, form) == 0) == (form == "stream")
            assert is_round_trip(pattern, form) == (form == "latency" and not is_remote(pattern))
            both = CATALOGUE[pattern].forms[form][1:] == (1, 1)
            assert answers(pattern, form) == (both and form == "latency")


def test_titles_are_unique_and_places_in_the_order_of_the_rows() -> None:
    places, titles = [], []
    for pattern, row in CATALOGUE.items():
        for form in row.forms:
            titles.append(title_of(pattern, form))
            places.append(place_of(pattern, form))
    assert len(set(titles)) == len(titles)
    assert places == list(range(len(places)))
    assert place_of("unheard") == len(places)
    assert title_of("unheard", "latency") == "unheard"


@pytest.mark.parametrize(
    ("pattern", "size", "fitting"),
    [
        ("pingpong", 0, True),
        ("stream", 0, False),
        ("accumulate", 12, False),
        ("accumulate", 16, True),
        ("fetch_and_op", 16, False),
        ("compare_and_swap", 8, True),
        ("barrier", 0, True),
        ("barrier", 8, False),
        ("allreduce", 6, False),
        ("allreduce", 8, True),
    ],
)
def test_a_sweep_leaves_out_sizes_that_a_pattern_cannot_have(
    pattern: Pattern, size: int, fitting: bool
) -> None:
    assert fits(pattern, size) is fitting


def test_every_form_is_one_that_a_plan_can_say(rows: dict[str, dict[str, Any]]) -> None:
    said = {one["form"] for row in rows.values() for one in row["forms"]}
    assert said == set(get_args(Form))
