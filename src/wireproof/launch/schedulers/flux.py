"""Flux: ``flux run`` inside an instance, ``flux submit`` from outside. Pure.

Options: flux-run(1), flux-submit(1) and flux-shell-options(7) of flux-core 0.7x; all but ``pmi=``
are in 0.49 too.
"""

from __future__ import annotations

from wireproof.launch.mpi.environment import clearings
from wireproof.launch.mpi.uniform import alike_environment, per_host, rank_order
from wireproof.launch.registry import BUILDERS, launcher
from wireproof.launch.request import LaunchCommand, LaunchRequest
from wireproof.launch.schedulers.slurm import fold_hosts
from wireproof.model.errors import BadInput, CouldNotMeasure

__all__ = ["flux", "flux_submit_argv"]


def _rule(name: str, value: str) -> str:
    """A rule of ``--env``; Flux would replace ``$NAME`` in the value."""
    return f"--env={name}={value.replace('$', '$$')}"


def _options(request: LaunchRequest, environment: dict[str, str]) -> list[str]:
    each = per_host(request, "flux run")
    order = rank_order(request)
    if order == "other":
        raise BadInput(
            "flux run numbers ranks host after host or in turns: give the hosts in one of these orders."
        )
    hosts = tuple(dict.fromkeys(request.hosts))
    options = [
        f"--nodes={len(hosts)}",
        f"--tasks-per-node={each}",
        "--exclusive",
        f"--requires=host:{fold_hosts(hosts)}",
    ]
    options += ["--taskmap=cyclic"] if order == "cyclic" and each > 1 else []
    # The cores that Flux would bind a task to are not chosen by the NIC; the engine says where it
    # ran.
    options += ["-o", "cpu-affinity=off"]
    if request.install is not None and request.install.family == "openmpi":
        # Open MPI 5 speaks PMIx only (the plugin is of the project flux-pmix); 4 takes PMIx too.
        # The rest: PMI-1.
        options += ["-o", "pmi=pmix"]
    options += [f"--cwd={request.folder}"] if request.folder else []
    return options + [_rule(name, value) for name, value in sorted(environment.items())]


@launcher("flux")
def flux(request: LaunchRequest) -> LaunchCommand:
    """The engine by ``flux run`` (standard input to rank 0 only, output as it comes), or by the
    MPI's launcher.
    """
    if request.install is None:
        raise CouldNotMeasure("no MPI was chosen to launch with.")
    if request.starter != "scheduler":
        return BUILDERS[request.install.family](request)
    environment = alike_environment(request, "flux run")
    return LaunchCommand(
        argv=(
            "flux",
            "run",
            "--unbuffered",
            "--input=0",
            *_options(request, environment),
            *request.words,
        ),
        environment=environment,
        launcher="flux",
        clear=clearings(request.install.family),
        notes=("Flux numbers the hosts in its own order: the engine says which rank ran where",),
        library=str(request.install.library or ""),
        expect=request.engine.expect,
        engine=request.engine.path,
    )


def flux_submit_argv(
    nodes: int, words: list[str], *, minutes: float, queue: str = "", bank: str = ""
) -> list[str]:
    """``flux batch`` for a whole job that runs ``words`` once inside an instance of its own of
    ``nodes`` nodes.

    It prints the job's id at once; ``flux job attach ID`` follows it and ``flux cancel ID`` ends
    it.
    """
    argv = ["flux", "batch", f"--nodes={nodes}", "--exclusive", f"--time-limit={minutes:g}m"]
    argv += [f"--queue={queue}"] if queue else []
    argv += [f"--bank={bank}"] if bank else []
    return [*argv, "--wrap", *words]
