"""`wireproof ladder` between two nodes of a lab whose wire takes 4 ms: what the scheduler of this
machine adds does not matter.
"""

from pathlib import Path
from typing import Any

import pytest
from tests.cli.verb import document, one_sentence, wireproof
from tests.lab.conftest import Build

from wireproof.lab.cluster import Lab

pytestmark = [pytest.mark.netns, pytest.mark.engine]

RING = {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": "ring", "MPIR_CVAR_DEVICE_COLLECTIVES": "none"}
"""Between two ranks a ring goes round twice, where one exchange would do."""


@pytest.fixture
def far(build: Build) -> Lab:
    lab = build(2, wire="store-and-forward", latency="4ms", tied=False)
    if lab.notes:
        pytest.skip(f"netns: {lab.notes[0]}")
    return lab


def ladder(lab: Lab, *argv: object, **environment: str) -> Any:
    return wireproof("ladder", "--lab", lab.name, *argv, environment=environment)


@pytest.mark.slow
@pytest.mark.mpi
def test_a_bad_algorithm_of_the_mpi_is_named(far: Lab, tmp_path: Path) -> None:
    sizes = ("--sizes", "8,64,512,64KiB,128KiB,256KiB")
    layers = ("--layers", "mpi,collective", "--rounds", 7)
    done = ladder(far, *layers, *sizes, "--json", "--out", tmp_path / "out", **RING)
    found = document(done)
    assert done.returncode in (1, 3), done.stderr  # 3: this machine is busy, and that is said
    lost = {one["upper"] for one in found["steps"] if one["answer"] == "loses"}
    assert lost == {"collective"}
    assert {one["proof"] for one in found["layers"]} == {"on-wire"}
    assert {one["layer"] for one in found["hints"]} == {"collective"}
    # the records are a result like any other
    again = document(wireproof("report", tmp_path / "out", "--json"))["parts"]
    assert [bool(one["results"] or one["groups"]) for one in again] == [True, True]


def test_a_command_beside_the_wire_takes_no_part(far: Lab) -> None:
    command = ("--", "sh", "-c", "echo took 100 us for {size}")
    more = ("--rounds", 1, "--sizes", "8,512,256KiB", "--metric", "took ([0-9]+)")
    done = ladder(far, "--layers", "tcp,mpi", *more, "--json", *command)
    found = document(done)
    assert done.returncode == 3, done.stderr
    app = found["layers"][-1]
    assert (app["name"], app["proof"]) == ("application", "off-wire")
    assert "off-wire" in app["apart"]
    assert "layer-off-wire" in {one["code"] for one in found["findings"]}
    assert {one["upper"] for one in found["steps"]} == {"mpi"}


@pytest.mark.parametrize(
    ("argv", "status", "said"),
    [
        (("--layers", "tcp,verbs"), 4, "hsn0 is not an RDMA device on both hosts"),
        (("--layers", "tcp,mpi", "--", "sh", "-c", "echo no input >&2; exit 3"), 4, "no input"),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(
    far: Lab, argv: tuple[str, ...], status: int, said: str
) -> None:
    done = ladder(far, "--rounds", 1, "--sizes", "8,512,64KiB", *argv)
    assert done.returncode == status, done.stderr
    assert said in one_sentence(done)


@pytest.mark.libfabric
def test_a_provider_that_is_not_here_is_named(far: Lab) -> None:
    done = ladder(far, "--layers", "tcp,ofi", "--provider", "opx", "--rounds", 1)
    assert done.returncode == 2, done.stderr
    assert "offers no provider opx" in one_sentence(done)
