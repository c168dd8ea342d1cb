"""How ranks are started in a Slurm job: the choice, without a Slurm. The commands are in
tests/launch/test_command.py.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.launch.test_command import FOUND, request
from tests.slurm.test_slurm_answers import PRINTED

from wireproof.launch.engines import Family
from wireproof.launch.schedulers.slurm_commands import SlurmFound, parse_plugins, slurm_options
from wireproof.model.errors import BadInput
from wireproof.options.hosts import fold_hosts, parse_hosts

JOB = ("n1", "n2", "n3")


@pytest.mark.parametrize(
    ("family", "nics", "found", "why"),
    [
        (
            "openmpi",
            "ib0",
            SlurmFound(plugins=("none", "pmi2")),
            "speaks PMIx, and srun offers none, pmi2",
        ),
        (
            "mpich",
            "ib0",
            SlurmFound(plugins=("none", "pmix")),
            "speaks PMI-2, and srun offers none, pmix",
        ),
        ("intel", "ib0", SlurmFound(plugins=("pmi2",)), "libpmi2.so"),
        ("mpich", "ib0", SlurmFound(), "no plugin list"),
        ("mpich", ("enp97s0", "enp182s0"), FOUND, "enp97s0, enp182s0"),
    ],
)
def test_what_srun_cannot_do_is_left_to_the_mpis_own_launcher(
    family: Family, nics: object, found: SlurmFound, why: str
) -> None:
    ((way, reason),) = slurm_options(request(family, nics=nics), found)
    assert way.starter == "mpi"
    assert why in reason


def test_an_order_that_is_not_the_jobs_is_for_srun_alone() -> None:
    asked = request("mpich", hosts=("n3", "n1"))
    assert [way.starter for way, _ in slurm_options(asked, FOUND, job_hosts=JOB)] == ["scheduler"]
    with pytest.raises(BadInput, match="use Slurm's order"):
        slurm_options(asked, SlurmFound(), job_hosts=JOB)


def test_the_way_that_is_wanted_comes_first_and_the_other_is_left() -> None:
    for wanted, starters in (("mpi", ["mpi", "scheduler"]), (None, ["scheduler", "mpi"])):
        ways = slurm_options(request("mpich"), FOUND, job_hosts=JOB, wanted=wanted)  # type: ignore[arg-type]
        assert [way.starter for way, _ in ways] == starters


@pytest.mark.parametrize(("hosts", "folded"), PRINTED["folded"])
def test_folding_keeps_order_and_repeats(hosts: list[str], folded: str) -> None:
    assert fold_hosts(hosts) == folded


NAMES = st.tuples(
    st.sampled_from("abc"), st.sampled_from(["", "-"]), st.text("0123456789", max_size=3)
).map(lambda parts: "".join(parts).rstrip("-"))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(NAMES, max_size=12))
def test_unfolding_gives_the_hosts_back(hosts: list[str]) -> None:
    folded = fold_hosts(hosts)
    assert (list(parse_hosts(folded, repeats=True)) if hosts else []) == hosts


@pytest.mark.parametrize(("printed", "plugins"), PRINTED["plugins"])
def test_plugins(printed: str, plugins: list[str]) -> None:
    assert list(parse_plugins(printed)) == plugins
