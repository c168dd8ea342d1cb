"""Rails for real: two NICs in each node, and what each MPI does with them."""

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.lab.conftest import Build

from wireproof.experiment.rails import measure_gain
from wireproof.lab.cluster import Lab
from wireproof.measure.points import numbered, sweep
from wireproof.measure.session import Method, Session, Storage
from wireproof.measure.session.run import run_session
from wireproof.measure.specification import MeasureSpecification
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.experiment import GainRow, RailGain
from wireproof.model.finding import Judgement
from wireproof.model.plan import Policy
from wireproof.model.topology import Fault, Network
from wireproof.report.reporter import LoggingReporter
from wireproof.target import Target, lab_target

pytestmark = [pytest.mark.netns, pytest.mark.mpi]

RATE = "60mbit"
"""Slow enough that two busy cores keep up with both rails."""
FIRST = Network(name="a", device="hsn0", rate=RATE, subnet="10.20.1.0/24")
SECOND = Network(name="b", device="hsn1", rate=RATE, subnet="10.20.2.0/24")
BOTH = "hsn0,hsn1"
SIZE = 1 << 18
ONE_RAIL = (("UCX_MAX_EAGER_RAILS", "1"), ("UCX_MAX_RNDV_RAILS", "1"))


def streamed(place: Target, out: Path, **more: Any) -> Judgement:
    points = tuple(numbered(sweep("stream", [SIZE], [(0, 1)], budget_ms=400), seed=1))
    wish = Session(title="rails", points=points, seed=1, out=out, policy=Policy(), **more)
    claim = lab_target(place.lab, ("n1", "n2"), nic=BOTH).claim() if place.lab else None
    return run_session(wish, place, LoggingReporter(), claim=claim)[0].judgement


def codes(found: Judgement) -> set[str]:
    return {one.code for one in found.findings}


def shares(found: Judgement) -> dict[str, float]:
    """Of the sender's rails."""
    sent = [one for one in found.pairs[0].rails if one.direction == "tx"]
    return {one.rail: one.share or 0.0 for one in sent}


def gained(lab: Lab, **method: Any) -> RailGain:
    wanted = MeasureSpecification(
        pattern="stream",
        hosts=lab.nodes[:2],
        nic=BOTH,
        lab=lab.name,
        method=Method(budget_s=0.3, **method),
        storage=Storage(kept=False),
        sizes=(SIZE,),
    )
    return measure_gain(wanted, LoggingReporter(), {}, rounds=2)[0]


def row_of(gain: RailGain, pattern: str) -> GainRow:
    return next(one for one in gain.rows if one.pattern == pattern)


@pytest.mark.parametrize("mpi", ["mpich", pytest.param("openmpi", marks=pytest.mark.openmpi)])
def test_an_mpi_that_is_told_two_nics_shares_the_bytes(
    mpi: str, build: Build, tmp_path: Path
) -> None:
    lab = build(2, FIRST, SECOND)
    found = streamed(lab_target(lab, lab.nodes, nic=BOTH), tmp_path / "run", mpi=mpi)
    assert (found.pairs[0].proof, found.pairs[0].striping) == ("on-wire", "striped")
    assert shares(found) == pytest.approx({"hsn0": 0.5, "hsn1": 0.5}, abs=0.1)
    assert not codes(found) & {"one-rail", "unequal-rails", "slow-rail", "rail-down", "striped"}


def test_an_mpi_that_was_told_one_is_found(build: Build, tmp_path: Path) -> None:
    """The claim says both rails, the MPI knows one."""
    lab = build(2, FIRST, SECOND)
    told = lab_target(lab, lab.nodes, nic="hsn0")
    found = streamed(told, tmp_path / "run", mpi="mpich", extra=ONE_RAIL)
    assert (found.verdict, found.pairs[0].striping) == ("fail", "one-rail")
    assert shares(found)["hsn0"] > 0.95
    assert any("hsn0" in one.message for one in found.findings if one.code == "one-rail")


def test_shared_memory_is_no_rail(build: Build, tmp_path: Path) -> None:
    lab = build(2, FIRST, SECOND)
    lie = dataclasses.replace(lab_target(lab, lab.nodes, nic=BOTH), start_on=("n1", "n1"))
    found = streamed(lie, tmp_path / "run", mpi="mpich")
    assert (found.verdict, found.pairs[0].proof) == ("fail", "off-wire")
    assert found.pairs[0].striping == "unknown"


def test_a_third_network_is_no_rail(build: Build, tmp_path: Path) -> None:
    third = Network(name="mgmt", device="eth0", rate=RATE, subnet="10.10.1.0/24")
    lab = build(2, FIRST, SECOND, third)
    told = lab_target(lab, lab.nodes, nic="eth0")
    found = streamed(told, tmp_path / "run", mpi="mpich", extra=ONE_RAIL)
    assert (found.verdict, found.pairs[0].proof) == ("fail", "wrong-path")


@pytest.mark.slow
@pytest.mark.openmpi
def test_a_rail_that_is_down_at_one_end_is_one_sentence(build: Build, tmp_path: Path) -> None:
    """Open MPI finds no way to the peer then."""
    lab = build(2, FIRST, SECOND)
    lab.set_fault(Fault(node="n2", network="b", kind="down"))
    with pytest.raises(CouldNotMeasure, match="n2 cannot take part: its NIC hsn1 is down"):
        streamed(lab_target(lab, lab.nodes, nic=BOTH), tmp_path / "run", mpi="openmpi")


def test_a_network_that_is_down_is_named(build: Build, tmp_path: Path) -> None:
    lab = build(2, FIRST, SECOND)
    for node in lab.nodes:
        lab.set_fault(Fault(node=node, network="b", kind="down"))
    found = streamed(lab_target(lab, lab.nodes, nic=BOTH), tmp_path / "run", mpi="mpich")
    down = [one for one in found.findings if one.code == "rail-down"]
    assert [one.subject for one in down] == ["n1 hsn1", "n2 hsn1"]
    assert found.verdict == "fail"
    assert "one-rail" not in codes(found)


@pytest.mark.slow
def test_a_stream_gains_over_two_rails(build: Build) -> None:
    gain = gained(build(2, FIRST, SECOND), mpi="mpich")
    row = row_of(gain, "stream")
    assert row.gain.value > 1.5
    assert row.together.proof == "on-wire"
    assert {one.rail for one in row.alone} == {"hsn0", "hsn1"}
    assert "no-rail-gain" not in {one.code for one in gain.findings}
    assert gain.told["UCX_NET_DEVICES"] == BOTH


@pytest.mark.slow
def test_a_slow_rail_is_named_and_an_even_stripe_ends_with_it(build: Build) -> None:
    lab = build(2, FIRST, SECOND)
    lab.set_fault(Fault(node="n2", network="b", kind="rate", direction="rx", value="18mbit"))
    gain = gained(lab, mpi="mpich")
    assert gain.verdict == "fail"
    slow = [one for one in gain.findings if one.code == "slow-rail"]
    assert [one.evidence["rail"] for one in slow] == ["hsn1"]
    assert row_of(gain, "stream").gain.value < 1.1


@pytest.mark.slow
@pytest.mark.intelmpi
def test_psm3_alternates_messages_so_that_a_ping_pong_gains_nothing(
    build: Build, impi_root: Path
) -> None:
    mpi = str(impi_root / "bin" / "mpiexec.hydra")
    gain = gained(build(2, FIRST, SECOND), mpi=mpi, fabric="psm3")
    stream, pingpong = row_of(gain, "stream"), row_of(gain, "pingpong")
    assert gain.told["PSM3_MULTIRAIL_MAP"] == BOTH
    assert (stream.striping, stream.together.proof) == ("striped", "on-wire")
    assert stream.gain.value > 1.3 * pingpong.gain.value
    assert pingpong.gain.high < 1.5
    assert not pingpong.expected


def test_a_gain_that_was_interrupted_measures_only_what_is_missing(
    build: Build, tmp_path: Path
) -> None:
    lab = build(2, FIRST, SECOND)
    wanted = MeasureSpecification(
        pattern="stream",
        hosts=lab.nodes[:2],
        nic=BOTH,
        lab=lab.name,
        method=Method(budget_s=0.1, mpi="mpich"),
        storage=Storage(folder=tmp_path / "out"),
        sizes=(SIZE,),
    )
    first, folder = measure_gain(wanted, LoggingReporter(), {}, rounds=2)
    assert folder is not None
    kept = (folder / "rail1-1" / "frames.jsonl").stat().st_mtime_ns
    shutil.rmtree(folder / "together-2")
    (folder / "rails.json").unlink()
    again = dataclasses.replace(wanted, storage=Storage(folder=folder, resume=True))
    found, _ = measure_gain(again, LoggingReporter(), {}, rounds=2)
    assert (found.seed, found.rounds) == (first.seed, 2)
    assert (folder / "rail1-1" / "frames.jsonl").stat().st_mtime_ns == kept
    assert found.rows[0].alone == first.rows[0].alone
    with pytest.raises(BadInput, match="was started with the rounds '2'"):
        measure_gain(again, LoggingReporter(), {}, rounds=3)
