"""Settings are changed from Python as from the command line."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.audit.trees import lay_out

import wireproof

SWAPPINESS = "proc/sys/vm/swappiness"


@pytest.mark.engine
def test_a_plan_is_carried_out_and_taken_back(tmp_path: Path) -> None:
    root = lay_out(tmp_path / "root", "haswell-hfi1", {SWAPPINESS: "60"})
    (root / "etc/sysctl.d").mkdir(parents=True)
    state = str(tmp_path / "state")
    assert wireproof.tune_plan("swappiness", root=str(root)).hosts
    plan = wireproof.tune_plan("swappiness", root=root)
    assert [one.change.value for one in plan.hosts[0].changes] == ["10"]
    done = wireproof.tune_apply(plan, root=root, state=state)
    assert done.done
    assert (root / SWAPPINESS).read_text() == "10\n"
    assert wireproof.tune_confirm(done.id, root=root, state=state).done
    (shown,) = wireproof.tune_status(root=str(root), state=state).hosts
    assert [one.state for one in shown.sets] == ["confirmed"]
    assert wireproof.tune_revert(root=root, state=state).done
    assert (root / SWAPPINESS).read_text() == "60\n"
    assert list((root / "etc/sysctl.d").iterdir()) == []


def test_a_misspelt_option_and_a_wrong_name_are_said(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="no option 'host'"):
        wireproof.tune_status(host="n1")  # type: ignore[call-arg]
    with pytest.raises(wireproof.BadInput, match="did you mean swappiness"):
        wireproof.tune_plan("swapiness", root=tmp_path)
    with pytest.raises(wireproof.BadInput, match="not the ID of a change set"):
        wireproof.tune_confirm("../x", root=tmp_path)


def test_experiments_are_functions() -> None:
    tried = wireproof.tune_try("X=1,2", ["true"], budget_s=2.0, seed=7)
    assert (tried.seed, tried.knob.values, tried.kept) == (7, ("1", "2"), None)
    world = "latency_ns=15000,gap_ns_per_byte=0.8,noise=0.01"
    steps = wireproof.ladder(
        layers=["tcp", "mpi"],
        model_steps=["mpi:latency_ns=11000"],
        transport="model",
        model=world,
        sizes=[8, 64, 512, 65536, 262144, 1 << 20],
        seed=1,
    )
    assert [finding.code for finding in steps.findings] == ["layer-latency"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: wireproof.tune_try("UCX_TLS=a,b", pattern="ring"), "--pattern 'ring'"),
        (lambda: wireproof.study("psm4", hosts="a,b"), "psm4"),
        (lambda: wireproof.ladder(hosts="a,b", layers=["tcp"]), "give two or more"),
        (lambda: wireproof.measure_gain(transport="model"), "--gain needs hosts with rails"),
    ],
)
def test_an_experiment_that_cannot_be_made_is_an_exception(
    call: Callable[[], object], words: str
) -> None:
    with pytest.raises(wireproof.BadInput, match=words):
        call()
