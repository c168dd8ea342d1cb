"""PSM3's counters beside what was measured: launch by launch, and the same when judged again."""

import dataclasses

import msgspec
import pytest
from tests.logs.test_psm3_verdict import pair, process, real
from tests.synthetic import World, run_of

from wireproof.logs.statistics import with_statistics
from wireproof.measure.result import stored_result
from wireproof.model.frames import unsound
from wireproof.model.psm3 import Statistics
from wireproof.model.run import StoredResult
from wireproof.report.judged_run import JudgedRun
from wireproof.verdict.run import judge


def section() -> JudgedRun:
    run = run_of(World(link="10gbe", mtu=9000, sizes=(65536, 1 << 20)))
    return JudgedRun(title="a pair", run=run, judgement=judge(run))


def later(one: Statistics, pid: int) -> Statistics:
    fields = {name: getattr(one, name) for name in Statistics.__struct_fields__}
    return Statistics(**{**fields, "pid": pid})


def codes(found: JudgedRun) -> list[str]:
    return [one.code for one in found.judgement.findings if one.code.startswith("psm-")]


def test_not_asked_for_adds_nothing() -> None:
    whole = section()
    assert with_statistics(whole, None) is whole


def test_asked_for_and_nothing_written_is_inconclusive() -> None:
    found = with_statistics(section(), ())
    assert codes(found) == ["psm-no-files"]
    assert found.judgement.verdict != "pass"


def test_sound_counters_leave_the_verdict() -> None:
    whole = section()
    found = with_statistics(whole, tuple(pair()))
    assert found.judgement.verdict == whole.judgement.verdict == "pass"
    assert codes(found) == []


def test_a_repeated_launch_is_not_another_job() -> None:
    first = pair()
    again = [later(one, 900 + number) for number, one in enumerate(first)]
    found = with_statistics(section(), (*again, *first))
    assert codes(found) == []
    assert found.judgement.verdict == "pass"


def test_a_rank_that_is_missing_in_one_launch() -> None:
    found = with_statistics(section(), (process(0), process(1), later(process(0), 900)))
    assert codes(found) == ["psm-ranks-missing"]
    assert found.judgement.verdict == "inconclusive"


def test_it_is_stored_and_judged_again_alike() -> None:
    found = with_statistics(section(), tuple(pair()))
    part = stored_result([found], "title").parts[0]
    assert part.statistics is not None
    assert (
        with_statistics(
            dataclasses.replace(section(), statistics=None), tuple(part.statistics)
        ).judgement.findings
        == found.judgement.findings
    )


@pytest.mark.parametrize("folder", ["two-rails", "verbs-rdma2", "udp", "zeros"])
def test_real_counters_come_back_from_the_file(folder: str) -> None:
    """A NUMA node of -1 and a counter of 2^64 - 1 are what the library prints."""
    found = with_statistics(section(), tuple(real(folder)))
    text = msgspec.json.encode(stored_result([found], "title"))
    stored = msgspec.json.decode(text, type=StoredResult)
    assert unsound(stored) == ""
    assert stored.parts[0].statistics == list(real(folder))
