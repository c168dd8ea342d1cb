# pure
"""Rules for measurements between nodes: whether they measure the wire, and which wire."""

import re
from collections.abc import Iterator
from itertools import pairwise

from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.script import Job, Launch, SetVariable, jobs, launched
from wireproof.lint.script.mpi import environment, mpi_of, several_nodes
from wireproof.lint.shell import Word, at_word, corrected, edited

_TWO_SIDED = re.compile(
    r"osu_(latency|bw|bibw|mbw_mr|multi_lat|put|get|acc|cas|fop)\w*|IMB-P2P|IMB-RMA"
    r"|osu_\w*latency\w*|osu_\w*bw\w*|mpiGraph"
)
_PAIRS = re.compile(
    r"(?i)pingpong|pingping|sendrecv|exchange|uniband|biband|unidir|bidir|birandom|unirandom"
    r"|corandom"
)
_ONE_SIDED = re.compile(r"osu_(put|get|acc|cas|fop)_|IMB-(RMA|EXT)\b")
_TCP_BTL = re.compile(r"(^|,)tcp(,|$)")
_EXPORTED = ("export", "assignment")
_RESPECTS = "I_MPI_JOB_RESPECT_PROCESS_PLACEMENT"
_CARRIED = re.compile(r"(UCX|FI|PSM2|PSM3|NCCL)_[A-Z0-9_]+\Z")


def _wire_tests(recipe: Recipe) -> Iterator[tuple[Job, Launch]]:
    """Return launches of point-to-point benchmarks, and launch lines that a document shows without
    a program.
    """
    yield from ((job, launch) for job, launch in launched(recipe) if _is_wire_test(launch))


def _is_wire_test(launch: Launch) -> bool:
    name = launch.benchmark
    if name.startswith("IMB-MPI1"):
        return any(_PAIRS.match(word.text) for word in launch.program[1:])
    return bool(_TWO_SIDED.match(name))


def placement(recipe: Recipe) -> Iterator[Broken]:
    """Check -ppn under Slurm, and find ranks that nothing spreads over nodes."""
    for job, launch in _wire_tests(recipe):
        tasks = job.count("--ntasks")
        by_count = tasks is not None and tasks == job.count("--nodes")
        if by_count or job.count("--ntasks-per-node") == 1:
            continue
        per_node = launch.value("-ppn", "--ppn", "-perhost", "--perhost")
        # Intel MPI under Slurm ignores -ppn
        if per_node and job.slurm and _looks_intel(job, launch) and _respects(job, launch):
            option = _before(launch.options, per_node) or per_node
            new, seen = f"-genv {_RESPECTS} off {option.raw}", f"{option.text} {per_node.text}"
            yield edited("ppn-under-slurm", recipe, option, new, seen)
        elif _on_one_node(job, launch):
            first = launch.command.words[0]
            yield at_word("ranks-on-one-node", first, f"2 ranks, {job.count('--nodes')} nodes")


def _before(words: tuple[Word, ...], word: Word) -> Word | None:
    return next((option for option, value in pairwise(words) if value == word), None)


def _on_one_node(job: Job, launch: Launch) -> bool:
    placed = launch.is_srun or launch.per_node is not None or launch.has(*_PLACING.split())
    several = launch.ranks == 2 and (job.count("--nodes") or 0) > 1
    return several and not placed and not _is_inside(job, launch)


def _is_inside(job: Job, launch: Launch) -> bool:
    """Return whether the launch lists cores of a single node, so that shared memory is intended."""
    by = launch.value("--map-by", "-map-by")
    inside = by is not None and by.text.startswith(
        ("core", "socket", "numa", "l3cache", "hwthread")
    )
    return inside or "," in environment(job, launch).get("I_MPI_PIN_PROCESSOR_LIST", "")


def _respects(job: Job, launch: Launch) -> bool:
    value = environment(job, launch).get(_RESPECTS, "on")
    return value.strip("\"'").lower() not in ("0", "off", "no", "disable", "false")


_PLACING = """--map-by -map-by --host -host -H -hosts --hosts -hostfile --hostfile -f -machinefile
--machinefile -rr -bynode --bynode -ppn -perhost -N --npernode -npernode --rankfile -rf
--map-by=ppr -machine -pernode --pernode -grr"""


def selection(recipe: Recipe) -> Iterator[Broken]:
    """Check the selection of fabric and interface."""
    for job, launch in _wire_tests(recipe):
        if job.hidden or not (several_nodes(job, launch) or launch.ranks == 2):
            continue
        values = environment(job, launch)
        word = launch.command.words[0]
        provider = values.get("FI_PROVIDER") or values.get("I_MPI_OFI_PROVIDER") or ""
        if _looks_intel(job, launch) and not provider:
            if not (_chooses(values) or launch.has(*_FABRICS.split())):
                fix = _inserted(recipe, word, "-genv I_MPI_DEBUG 5 -genv FI_PROVIDER <provider>")
                yield at_word("no-fabric-selection", word, launch.command.text, fix)
            continue
        yield from _any_interface(recipe, job, launch, provider)
        if values.get("UCX_TLS", "").split(",")[0] == "tcp" and "UCX_NET_DEVICES" not in values:
            yield at_word("no-interface", word, f"UCX_TLS={values['UCX_TLS']}")


_FABRICS = "-psm -PSM -psm2 -PSM2 -tmi -TMI -dapl -DAPL -ofa -OFA -rdma -RDMA -ib -IB"
"""Options of older Intel MPIs that select a fabric; rules name their replacement."""


def _chooses(values: dict[str, str]) -> bool:
    """Return whether an interface is named, or a fabric of Intel MPI before 2019, which counts as a
    choice; rules name its replacement.
    """
    parts = values.get("I_MPI_FABRICS", "").strip("\"'").split(":")
    return not {"", "shm", "ofi"}.issuperset(parts) or any(
        name.endswith("_IFACE") or name.startswith(("PSM", "UCX_NET", "I_MPI_TMI_PROVIDER"))
        for name in values
    )


def _any_interface(recipe: Recipe, job: Job, launch: Launch, provider: str) -> Iterator[Broken]:
    """Find a provider over TCP without the name of an interface."""
    bare = provider.split(";")[0]
    named = any(name.startswith("FI_") and "IFACE" in name for name in environment(job, launch))
    if bare not in ("tcp", "sockets", "net") or named:
        return
    word = launch.command.words[0]
    name = "FI_SOCKETS_IFACE" if bare == "sockets" else "FI_TCP_IFACE"
    option = f"-genv {name} <interface>"
    if mpi_of(job, launch) == "openmpi":
        option = f"-x {name}=<interface>"
    fix = None if launch.is_srun else _inserted(recipe, word, option)
    yield at_word("no-interface", word, f"FI_PROVIDER={provider}", fix)


def _looks_intel(job: Job, launch: Launch) -> bool:
    """Return whether the launch uses Intel MPI: by its signs, or if it has none, by its benchmark
    and the options of its launcher.
    """
    mpi = mpi_of(job, launch)
    return mpi == "intel" or (
        mpi is None and launch.benchmark.startswith("IMB-") and launch.families == {"hydra"}
    )


def transports(recipe: Recipe) -> Iterator[Broken]:
    """Check Open MPI's BTLs: interface and PML; also on a launch line without a program."""
    for job, launch in launched(recipe):
        wire = not launch.program or _is_wire_test(launch)
        if wire and not launch.is_srun and not job.hidden:
            yield from _btl(recipe, job, launch)


def _btl(recipe: Recipe, job: Job, launch: Launch) -> Iterator[Broken]:
    values = environment(job, launch)
    btl = values.get("OMPI_MCA_btl", "").strip("\"'")
    if not btl or btl.startswith("^"):
        return
    setting = _in_force(job, launch, "OMPI_MCA_btl")
    word, value = setting.word, setting.value_word
    by_option = setting.how == "mca"
    for code, parameter in _missing(job, launch, values) if _TCP_BTL.search(btl) else ():
        edits = [(value, f"{value.raw} --mca {parameter}")]
        fix = corrected(recipe, edits, value.line) if by_option else None
        yield Broken(code, value.line, word.column, f"btl {btl}", fix)
    if by_option and "OMPI_MCA_pml" not in values:
        option = _before(launch.command.words, word)
        new = [(option, f"{option.raw} pml ob1 {option.raw}")] if option else []
        fix = corrected(recipe, new, option.line) if option else None
        yield at_word("pml-not-forced", word, f"btl {btl}", fix)


def _in_force(job: Job, launch: Launch, name: str) -> SetVariable:
    """Return the setting of a variable of the ranks: the last in this launch, or else before it."""
    first, last = launch.command.line, launch.command.last
    found = [each for each in job.settings if each.name == name and each.word.line <= last]
    near = (one for one in reversed(found) if one.word.line >= first or one.how in _EXPORTED)
    return next(near)


def _missing(job: Job, launch: Launch, values: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Return the rules that the BTL tcp breaks, each with the parameter that is missing."""
    if not any(name.startswith("OMPI_MCA_btl_tcp_if_") for name in values):
        yield "no-interface", "btl_tcp_if_include <interface>"
    if _aborts(job, launch, values):
        yield "one-sided-over-tcp", "osc pt2pt"


def _aborts(job: Job, launch: Launch, values: dict[str, str]) -> bool:
    """Return whether this is a one-sided benchmark with the default one-sided component of Open MPI
    4.
    """
    following = None if launch.program else job.after(launch.command.last)
    name = launch.benchmark or (following.program if following else "")
    default = "OMPI_MCA_osc" not in values and not job.open_mpi("5-9")
    return default and _ONE_SIDED.match(name) is not None


def _inserted(recipe: Recipe, launcher: Word, options: str) -> str:
    """Return the line with more options after the launcher; ``<…>`` is for a person to fill in."""
    return corrected(recipe, [(launcher, f"{launcher.raw} {options}")], launcher.line)


_SHARED_BTLS = {"self", "sm", "vader"}
_SHARED_UCX = {
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
}


def memory(recipe: Recipe) -> Iterator[Broken]:
    """Find launches between nodes that allow only shared memory."""
    for job, launch in _wire_tests(recipe):
        if several_nodes(job, launch) and not _is_inside(job, launch):
            word = launch.command.words[0]
            for chosen in _shared_memory(environment(job, launch)):
                yield at_word("shared-memory-only", word, chosen)


def _shared_memory(settings: dict[str, str]) -> Iterator[str]:
    values = {name: value.strip("\"'") for name, value in settings.items()}
    for name in ("I_MPI_FABRICS", "FI_PROVIDER"):
        if values.get(name) == "shm":
            yield f"{name}=shm"
    ob1 = values.get("OMPI_MCA_pml", "ob1") == "ob1"
    for name, shown, shared in (
        ("OMPI_MCA_btl", "btl ", _SHARED_BTLS if ob1 else set()),
        ("UCX_TLS", "UCX_TLS=", _SHARED_UCX),
    ):
        chosen = set(filter(None, values.get(name, "").split(",")))
        if chosen and chosen <= shared:
            yield f"{shown}{values[name]}"


def first_two(recipe: Recipe) -> Iterator[Broken]:
    """Find PingPong with many ranks per node."""
    for job, launch in _wire_tests(recipe):
        each = launch.per_node or job.count("--ntasks-per-node")
        if not launch.ranks or not each or not _pairs_first_two(launch):
            continue
        if launch.ranks > each > 1 and several_nodes(job, launch):
            word = launch.command.words[0]
            yield at_word("first-two-ranks", word, f"{launch.ranks} ranks, {each} on each node")


def _pairs_first_two(launch: Launch) -> bool:
    """Return whether this is IMB-MPI1's PingPong, which pairs ranks 0 and 1 unless an option
    changes that.
    """
    texts = {word.text.lower() for word in launch.program[1:]}
    chosen = any(text == "-multi" or text.startswith("-map") for text in texts)
    pairs = launch.benchmark.startswith("IMB-MPI1") and texts & {"pingpong", "pingping"}
    return bool(pairs) and not chosen


_HOSTS = ("--host", "-host", "-H", "--hostfile", "-hostfile", "--machinefile", "-machinefile")


def forwarded(recipe: Recipe) -> Iterator[Broken]:
    """Find exported variables that ssh does not pass on."""
    for job in jobs(recipe):
        for launch in job.launches[:50] if not job.slurm else ():
            by_ssh = not launch.is_srun and launch.has(*_HOSTS)
            if by_ssh and mpi_of(job, launch) == "openmpi":
                for setting in _lost(job, launch):
                    yield at_word("variable-not-forwarded", setting.word, setting.name)


def _lost(job: Job, launch: Launch) -> Iterator[SetVariable]:
    line = launch.command.line
    passed = {word.text.partition("=")[0] for word in launch.options}
    by_list = "OMPI_MCA_mca_base_env_list" in environment(job, launch)
    for setting in () if by_list else job.settings:
        if setting.word.line >= line or setting.how not in _EXPORTED:
            continue
        exported = job.exported.get(setting.name, line) < line
        if exported and setting.name not in passed and _CARRIED.match(setting.name):
            yield setting


CHECKS = (placement, selection, transports, memory, first_two, forwarded)
