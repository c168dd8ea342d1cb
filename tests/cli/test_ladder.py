"""`wireproof ladder` as a user runs it, on the model transport: a planted step is named, bad input
is one sentence.
"""

import shutil
from pathlib import Path

import pytest
from tests.cli.verb import document, wireproof

from wireproof.experiment.ladder.commanded import Asked, CommandedLayer
from wireproof.experiment.ladder.steps import Round
from wireproof.report.reporter import LoggingReporter
from wireproof.target import Target
from wireproof.watch.prove import ProofSpecification

pytestmark = pytest.mark.engine

WORLD = ("--transport", "model", "--model", "latency_ns=15000,gap_ns_per_byte=0.8,noise=0.01")
SMALL = ("--layers", "tcp,mpi", "--sizes", "8,64,512,64KiB,256KiB,1MiB", "--seed", 1)


def test_a_planted_step_is_named_and_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    step = ("--model-step", "mpi:latency_ns=11000")
    done = wireproof("ladder", *WORLD, *SMALL, *step, "--json", "--out", out)
    found = document(done)
    assert done.returncode == 1, done.stderr
    assert [one["code"] for one in found["findings"]] == ["layer-latency"]
    (lost,) = [one for one in found["steps"] if one["answer"] == "loses"]
    assert (lost["lower"], lost["upper"], lost["quantity"]) == ("tcp", "mpi", "start")
    assert lost["difference"]["low"] <= 11_000 <= lost["difference"]["high"]
    assert {one["layer"] for one in found["hints"]} == {"mpi"}
    assert (out / "ladder.json").is_file()
    again = wireproof("report", out)
    assert "the same findings" in again.stderr
    assert "MPI point to point takes 11" in (out / "report.html").read_text()


def test_nothing_lost_ends_well_and_is_said(tmp_path: Path) -> None:
    done = wireproof("ladder", *WORLD, *SMALL, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("PASS  no layer loses more than 25%.")
    assert "round 1 of" in done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert list(tmp_path.iterdir()) == []


def test_a_ladder_that_was_interrupted_measures_only_what_is_missing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    call = ("ladder", *WORLD, "--layers", "tcp,mpi", "--sizes", "8,64KiB,1MiB", "--rounds", 2)
    assert wireproof(*call, "--json", "--out", out).returncode in (0, 3)
    first = document(wireproof(*call, "--json", "--out", out, "--resume"))
    kept = (out / "tcp-1" / "frames.jsonl").stat().st_mtime_ns
    shutil.rmtree(out / "mpi-2")
    (out / "ladder.json").unlink()
    again = document(wireproof(*call, "--json", "--out", out, "--resume"))
    assert again["seed"] == first["seed"]
    assert [layer["rounds"] for layer in again["layers"]] == [2, 2]
    assert (out / "tcp-1" / "frames.jsonl").stat().st_mtime_ns == kept
    assert (out / "mpi-2" / "run.json").is_file()
    more = wireproof(
        "ladder", *WORLD, "--layers", "tcp,mpi", "--rounds", 3, "--out", out, "--resume"
    )
    assert more.returncode == 2
    assert "started with" in more.stderr


def test_rounds_of_a_command_are_not_run_again() -> None:
    proof = ProofSpecification(argv=("no-such-program",), target=Target(hosts=(), start_on=()))
    layer = CommandedLayer("application", "app", [Asked(proof=proof)], None, {})
    measured = Round({8: 100.0})
    layer.rounds = {0: (measured, "on-wire")}
    assert layer.run(0, 1, LoggingReporter()) is measured
    assert layer.proof() == "on-wire"
