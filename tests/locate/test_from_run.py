"""Samples of a run: who measured with whom, which rounds, and what is left out."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.synthetic import World, run_of

from wireproof.locate.document import locate_document
from wireproof.locate.samples import reasons_of, samples_of
from wireproof.model.claim import HostClaim
from wireproof.model.record import PairResult, PointRecord
from wireproof.model.run import Run
from wireproof.workflow import locate


@pytest.fixture(scope="module")
def run() -> Run:
    """Four hosts, streams of two sizes and ping-pongs of three."""
    return run_of(World(nodes=4, sizes=(8, 4096, 1 << 20)))


def _changed(run: Run, index: int, **fields: Any) -> Run:
    points = list(run.points)
    pair = msgspec.structs.replace(points[index].pairs[0], **fields)
    points[index] = msgspec.structs.replace(points[index], pairs=[pair])
    return msgspec.structs.replace(run, points=points)


def _large(run: Run) -> list[int]:
    return [
        i for i, p in enumerate(run.points) if p.pattern == "stream" and p.message_bytes == 1 << 20
    ]


def test_one_sample_per_stream_at_the_largest_size(run: Run) -> None:
    samples = samples_of(run)
    assert samples.nodes == ("n1", "n2", "n3", "n4")
    assert len(samples) == 12
    point = run.points[_large(run)[0]]
    estimate = point.pairs[0].estimate
    assert samples.value[0] == pytest.approx((1 << 20) / (estimate.median_ns * 1e-9))
    assert np.all(samples.half_width > 0)


def test_both_directions_of_the_same_pairs_are_one_round(run: Run) -> None:
    samples = samples_of(run)
    for number in range(6):
        own = samples.round == number
        assert np.sum(own) == 2
        assert set(samples.origin[own].tolist()) == set(samples.target[own].tolist())


def test_half_round_trips_are_of_small_messages(run: Run) -> None:
    samples = samples_of(run, "hrt")
    assert (samples.metric, len(samples)) == ("hrt", 6)
    small = [p for p in run.points if p.pattern == "pingpong" and p.message_bytes == 8]
    assert {round(v) for v in samples.value} == {
        round(p.pairs[0].estimate.median_ns) for p in small if p.pairs[0].estimate
    }


@pytest.mark.parametrize(
    "change", [{"status": "deadline"}, {"status": "error"}, {"integrity": "corrupt"}]
)
def test_what_did_not_end_well_is_no_sample(run: Run, change: dict[str, str]) -> None:
    samples = samples_of(_changed(run, _large(run)[0], **change))
    assert len(samples) == 11


def test_without_estimate_and_batches_there_is_no_sample(run: Run) -> None:
    samples = samples_of(_changed(run, _large(run)[0], estimate=None, batch_ns=[]))
    assert len(samples) == 11


def test_a_host_with_several_ranks_is_one_node(run: Run) -> None:
    hosts = [HostClaim(rank=rank, host=("a", "a", "b", "c")[rank]) for rank in range(4)]
    samples = samples_of(
        msgspec.structs.replace(run, claim=msgspec.structs.replace(run.claim, hosts=hosts))
    )
    assert samples.nodes == ("a", "b", "c")
    assert not np.any(samples.origin == samples.target)


def test_several_pairs_between_two_hosts_share_their_link(run: Run) -> None:
    first, second = (run.points[index] for index in _large(run)[:2])
    both = msgspec.structs.replace(
        first, pairs=[first.pairs[0], msgspec.structs.replace(first.pairs[0])]
    )
    samples = samples_of(msgspec.structs.replace(run, points=[both, second]))
    alone = samples_of(msgspec.structs.replace(run, points=[first, second]))
    assert samples.value[0] == pytest.approx(2 * alone.value[0])


def test_puts_serve_where_nothing_was_streamed(run: Run) -> None:
    points = [
        msgspec.structs.replace(p, pattern="put", form="stream")
        for p in run.points
        if p.pattern == "stream"
    ]
    samples = samples_of(msgspec.structs.replace(run, points=points))
    assert len(samples) == 12


def test_a_size_that_only_some_rounds_have_is_not_taken(run: Run) -> None:
    few = _large(run)[1:]
    kept = [p for i, p in enumerate(run.points) if i not in few]
    samples = samples_of(msgspec.structs.replace(run, points=kept))
    assert len(samples) == 12
    assert samples.value.max() == pytest.approx(
        max(4096 / (_median(p.pairs[0]) * 1e-9) for p in kept if _is(p, "stream", 4096))
    )


def _is(point: PointRecord, pattern: str, size: int) -> bool:
    return point.pattern == pattern and point.message_bytes == size


def _median(pair: PairResult) -> float:
    return pair.estimate.median_ns


def test_nothing_measured_is_none_and_no_crash(run: Run) -> None:
    assert samples_of(msgspec.structs.replace(run, points=[])) is None
    nobody = msgspec.structs.replace(run, claim=msgspec.structs.replace(run.claim, hosts=[]))
    assert samples_of(nobody) is None
    failed = run
    for index in _large(run):
        failed = _changed(failed, index, status="error")
    only = msgspec.structs.replace(failed, points=[failed.points[i] for i in _large(run)])
    assert samples_of(only) is None


def test_hosts_without_samples_have_a_reason(run: Run) -> None:
    assert reasons_of(run) == {}
    changed = run
    for index in _large(run):
        pair = run.points[index].pairs[0]
        if pair.target == 2:
            changed = _changed(changed, index, status="deadline")
        elif pair.origin == 3 or pair.target == 3:
            changed = _changed(changed, index, status="error")
    reasons = reasons_of(changed)
    assert (
        reasons["n3"] == "no sample in its receiving direction: 3 of 3 points ended with deadline"
    )
    assert (
        reasons["n4"]
        == "no sample: 5 of 6 points ended with error, 1 of 6 points ended with deadline"
    )
    assert set(reasons) == {"n3", "n4"}


def test_two_names_of_one_machine_are_one_host(run: Run) -> None:
    """What they say to each other goes through memory: its 13.6 Gb/s was expected of a cable."""
    hosts = [
        msgspec.structs.replace(host, boot_id="boot-1" if host.rank in (0, 2) else f"b{host.rank}")
        for host in run.hosts
    ]
    one_machine = msgspec.structs.replace(run, hosts=hosts)
    samples = samples_of(one_machine)
    assert samples.nodes == ("n1", "n2", "n4")
    assert len(samples) == 10
    claim = msgspec.structs.replace(run.claim, virtual=True)
    lab = samples_of(msgspec.structs.replace(one_machine, claim=claim))
    assert len(lab) == 12


def test_a_host_that_no_launch_could_measure_is_no_pass(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """n4 was lost before the first point, and the next launch left it out: "no node stands out"."""
    launches = {
        "run": msgspec.structs.replace(run, points=[]),
        "run.2": run_of(World(nodes=3, sizes=(1 << 20,))),
    }
    for name in launches:
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").touch()
    monkeypatch.setattr(locate, "load_run", lambda path: launches[path.name])
    found = locate.from_folder(tmp_path, None)
    assert (found.verdict, list(found.located[0].missing)) == ("inconclusive", ["n4"])
    assert "no sample of n4" in str(locate_document(found).answer)
