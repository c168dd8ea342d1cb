"""Every pattern between two ranks has a title of its own, and says what its time is."""

from typing import get_args

import msgspec
import pytest
from tests.report.test_worlds import four_nodes, rejudged

from wireproof.model.pattern import PairPattern
from wireproof.report.judged_run import JudgedRun
from wireproof.report.rows import tables

ONE_FORM = {
    "pingpong": "latency",
    "stream": "stream",
    "exchange": "stream",
    "fetch_and_op": "latency",
    "compare_and_swap": "latency",
}


def of_pattern(pattern: str, form: str) -> JudgedRun:
    section = four_nodes()
    pairs = [
        msgspec.structs.replace(it, pattern=pattern, form=form)
        for it in section.judgement.pairs[:3]
    ]
    return rejudged(section, pairs=pairs)


@pytest.mark.parametrize("pattern", get_args(PairPattern))
@pytest.mark.parametrize("form", ["latency", "stream"])
def test_every_pattern_has_a_title_and_says_what_its_time_is(pattern: str, form: str) -> None:
    if ONE_FORM.get(pattern, form) != form:
        pytest.skip(f"{pattern} has no form {form}")
    for table in tables(of_pattern(pattern, form)):
        assert not table.title.startswith(f"{pattern},"), "the fallback is no title"
        assert table.halved == ("half round trip" in table.title)
