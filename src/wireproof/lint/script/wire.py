"""Rules for measurements between nodes: is it the wire that will be measured, and which one?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.script.job import Job, jobs
from wireproof.lint.script.launch import Launch
from wireproof.lint.script.whose import seen, several_nodes, whose
from wireproof.lint.shell import Word, at_word, corrected

__all__ = ["CHECKS"]


_TWO_SIDED = re.compile(
    r"osu_(latency|bw|bibw|mbw_mr|multi_lat|put|get|acc|cas|fop)\w*|IMB-P2P|IMB-RMA"
    r"|osu_\w*latency\w*|osu_\w*bw\w*|mpiGraph"
)
_PAIRS = re.compile(
    r"(?i)pingpong|pingping|sendrecv|exchange|uniband|biband|unidir|bidir|birandom|unirandom"
    r"|corandom"
)
_TCP_BTL = re.compile(r"(^|,)tcp(,|$)")
_CARRIED = re.compile(r"(UCX|FI|PSM2|PSM3|NCCL)_[A-Z0-9_]+\Z")


def _wire_tests(recipe: Recipe) -> Iterator[tuple[Job, Launch]]:
    """Launches of point-to-point benchmarks, and launch lines that a document shows without their
    program.
    """
    for job in jobs(recipe):
        for launch in job.launches:
            if _is_wire_test(launch):
                yield job, launch


def _is_wire_test(launch: Launch) -> bool:
    name = launch.benchmark
    if name.startswith("IMB-MPI1"):
        return any(_PAIRS.match(word.text) for word in launch.program[1:])
    return bool(_TWO_SIDED.match(name))


def placement(recipe: Recipe) -> Iterator[Broken]:
    """-ppn under Slurm; ranks that nothing spreads."""
    for job, launch in _wire_tests(recipe):
        command = launch.command
        nodes, each = job.count("--nodes"), job.count("--ntasks-per-node")
        spread = each is not None or (
            job.count("--ntasks") is not None and job.count("--ntasks") == nodes
        )
        per_node = launch.value("-ppn", "--ppn", "-perhost", "--perhost")
        if (
            per_node is not None
            and _looks_intel(job, launch)
            and job.slurm
            and not spread
            and _respects(job, launch)
        ):
            option = (
                launch.options[launch.options.index(per_node) - 1]
                if per_node in launch.options
                else per_node
            )
            new = f"-genv I_MPI_JOB_RESPECT_PROCESS_PLACEMENT off {option.raw}"
            fix = corrected(recipe, [(option, new)], option.line)
            yield at_word("ppn-under-slurm", option, f"{option.text} {per_node.text}", fix)
        elif (
            launch.ranks == 2
            and not launch.is_srun
            and (nodes or 0) > 1
            and not spread
            and not _placed(launch)
        ):
            yield Broken(
                "ranks-on-one-node",
                command.line,
                command.words[0].column,
                f"2 ranks, {nodes} nodes",
            )


def _respects(job: Job, launch: Launch) -> bool:
    value = seen(job, launch).get("I_MPI_JOB_RESPECT_PROCESS_PLACEMENT", "on").strip("\"'").lower()
    return value not in ("0", "off", "no", "disable", "false")


def _placed(launch: Launch) -> bool:
    if launch.per_node is not None:
        return True
    return launch.has(
        *(
            "--map-by",
            "-map-by",
            "--host",
            "-host",
            "-H",
            "-hosts",
            "--hosts",
            "-hostfile",
            "--hostfile",
            "-f",
        ),
        *(
            "-machinefile",
            "--machinefile",
            "-rr",
            "-bynode",
            "--bynode",
            "-ppn",
            "-perhost",
            "-N",
            "--npernode",
        ),
        *(
            "-npernode",
            "--rankfile",
            "-rf",
            "--map-by=ppr",
            "-machine",
            "-pernode",
            "--pernode",
            "-grr",
        ),
    )


def selection(recipe: Recipe) -> Iterator[Broken]:
    """Which fabric, which interface?"""
    for job, launch in _wire_tests(recipe):
        if job.hidden or not (several_nodes(job, launch) or launch.ranks == 2):
            continue
        values = seen(job, launch)
        word = launch.command.words[0]
        provider = values.get("FI_PROVIDER") or values.get("I_MPI_OFI_PROVIDER") or ""
        if _looks_intel(job, launch) and not provider:
            if not any(
                name.endswith("_IFACE") or name.startswith(("PSM", "UCX_NET")) for name in values
            ):
                fix = _inserted(recipe, word, "-genv I_MPI_DEBUG 5 -genv FI_PROVIDER <provider>")
                yield at_word("no-fabric-selection", word, launch.command.text, fix)
            continue
        bare = provider.split(";")[0]
        if bare in ("tcp", "sockets", "net") and not any(
            name.startswith("FI_") and "IFACE" in name for name in values
        ):
            name = "FI_SOCKETS_IFACE" if bare == "sockets" else "FI_TCP_IFACE"
            option = (
                f"-x {name}=<interface>"
                if whose(job, launch) == "openmpi"
                else f"-genv {name} <interface>"
            )
            with_name = None if launch.is_srun else _inserted(recipe, word, option)
            yield at_word("no-interface", word, f"FI_PROVIDER={provider}", with_name)
        if values.get("UCX_TLS", "").split(",")[0] == "tcp" and "UCX_NET_DEVICES" not in values:
            yield at_word("no-interface", word, f"UCX_TLS={values['UCX_TLS']}")


def _looks_intel(job: Job, launch: Launch) -> bool:
    """Intel MPI by its signs; without any, by its benchmarks behind its launcher's options."""
    mpi = whose(job, launch)
    return mpi == "intel" or (
        mpi is None and launch.benchmark.startswith("IMB-") and launch.families == {"hydra"}
    )


def transports(recipe: Recipe) -> Iterator[Broken]:
    """Open MPI's BTLs: interface and PML; also on a launch line whose program is missing."""
    for job in jobs(recipe):
        for launch in job.launches:
            if launch.program and not _is_wire_test(launch):
                continue
            values = seen(job, launch)
            btl = values.get("OMPI_MCA_btl", "").strip("\"'")
            if not btl or btl.startswith("^") or launch.is_srun or job.hidden:
                continue
            setting = next(each for each in reversed(job.settings) if each.name == "OMPI_MCA_btl")
            word = setting.word
            if _TCP_BTL.search(btl) and not any(
                name.startswith("OMPI_MCA_btl_tcp_if_") for name in values
            ):
                value = setting.value_word
                new = f"{value.raw} --mca btl_tcp_if_include <interface>"
                fix = (
                    corrected(recipe, [(value, new)], value.line) if setting.how == "mca" else None
                )
                yield Broken("no-interface", value.line, word.column, f"btl {btl}", fix)
            if "OMPI_MCA_pml" not in values and setting.how == "mca":
                yield at_word(
                    "pml-not-forced",
                    word,
                    f"btl {btl}",
                    _with_pml(recipe, launch, word),
                )


def _inserted(recipe: Recipe, launcher: Word, options: str) -> str:
    """The line with more options behind the launcher; ``<…>`` is for a person to fill in."""
    return corrected(recipe, [(launcher, f"{launcher.raw} {options}")], launcher.line)


def _with_pml(recipe: Recipe, launch: Launch, word: Word) -> str | None:
    words = launch.command.words
    at = words.index(word) if word in words else 0
    option = words[at - 1] if at else None
    if option is None:
        return None
    return corrected(recipe, [(option, f"{option.raw} pml ob1 {option.raw}")], option.line)


def memory(recipe: Recipe) -> Iterator[Broken]:
    """Shared memory alone between nodes."""
    for job, launch in _wire_tests(recipe):
        if not several_nodes(job, launch):
            continue
        values = {name: value.strip("\"'") for name, value in seen(job, launch).items()}
        word = launch.command.words[0]
        if values.get("I_MPI_FABRICS") == "shm":
            yield at_word("shared-memory-only", word, "I_MPI_FABRICS=shm")
        if values.get("FI_PROVIDER") == "shm":
            yield at_word("shared-memory-only", word, "FI_PROVIDER=shm")
        btl = set(filter(None, values.get("OMPI_MCA_btl", "").split(",")))
        if btl and btl <= {"self", "sm", "vader"} and values.get("OMPI_MCA_pml", "ob1") == "ob1":
            yield at_word("shared-memory-only", word, f"btl {values['OMPI_MCA_btl']}")
        tls = set(filter(None, values.get("UCX_TLS", "").split(",")))
        if tls and tls <= {
            "self",
            "sm",
            "shm",
            "mm",
            "posix",
            "sysv",
            "cma",
            "knem",
            "xpmem",
            "cuda",
            "cuda_ipc",
            "cuda_copy",
        }:
            yield at_word("shared-memory-only", word, f"UCX_TLS={values['UCX_TLS']}")


def first_two(recipe: Recipe) -> Iterator[Broken]:
    """PingPong with many ranks per node."""
    for job, launch in _wire_tests(recipe):
        each = launch.per_node or job.count("--ntasks-per-node")
        texts = {word.text.lower() for word in launch.program[1:]}
        if not launch.benchmark.startswith("IMB-MPI1") or not texts & {"pingpong", "pingping"}:
            continue
        if {"-map", "-multi"} & texts or any(text.startswith("-map") for text in texts):
            continue
        if launch.ranks and each and launch.ranks > each > 1 and several_nodes(job, launch):
            word = launch.command.words[0]
            yield at_word(
                "first-two-ranks",
                word,
                f"{launch.ranks} ranks, {each} on each node",
            )


def forwarded(recipe: Recipe) -> Iterator[Broken]:
    """Exported variables that ssh does not carry."""
    for job in jobs(recipe):
        for launch in job.launches[:50]:
            if (
                job.slurm
                or launch.is_srun
                or whose(job, launch) != "openmpi"
                or not _by_ssh(launch)
            ):
                continue
            passed = {word.text.partition("=")[0] for word in launch.options}
            for setting in job.settings:
                inside = setting.word.line < launch.command.line and setting.how in (
                    "export",
                    "assignment",
                )
                lost = inside and _CARRIED.match(setting.name) and setting.name not in passed
                early = job.exported.get(setting.name, launch.command.line) < launch.command.line
                if lost and early and not _by_list(job, launch):
                    yield at_word(
                        "variable-not-forwarded",
                        setting.word,
                        setting.name,
                    )


def _by_ssh(launch: Launch) -> bool:
    return launch.has(
        "--host", "-host", "-H", "--hostfile", "-hostfile", "--machinefile", "-machinefile"
    )


def _by_list(job: Job, launch: Launch) -> bool:
    return "OMPI_MCA_mca_base_env_list" in seen(job, launch)


CHECKS = (placement, selection, transports, memory, first_two, forwarded)
