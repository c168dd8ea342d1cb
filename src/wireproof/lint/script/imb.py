"""Rules for the Intel MPI Benchmarks and the OSU Micro-Benchmarks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.script.job import jobs
from wireproof.lint.script.launch import Launch
from wireproof.lint.script.variables import distance
from wireproof.lint.shell import Command, Word, at_word, commands, corrected

__all__ = ["CHECKS"]


_COLLECTIVE = (
    "Allgather Allgatherv Allreduce Alltoall Alltoallv Barrier Bcast Gather Gatherv Reduce "
    "Reduce_scatter Scatter Scatterv"
)
_SINGLE = """PingPong PingPongSpecificSource PingPongAnySource PingPing PingPingSpecificSource
PingPingAnySource Sendrecv Exchange Uniband Biband Reduce_local Reduce_scatter_block"""
_ONE_SIDED = """Unidir_put Unidir_get Bidir_put Bidir_get One_put_all One_get_all All_put_all
All_get_all Put_local Put_all_local Get_local Get_all_local Exchange_put Exchange_get Accumulate
Get_accumulate Fetch_and_op Compare_and_swap Truly_passive_put"""
_TEXTS = {
    "IMB-MPI1": _SINGLE + _COLLECTIVE,
    "IMB-P2P": "PingPong PingPing Unirandom Birandom Corandom SendRecv_Replace Stencil2D Stencil3D",
    "IMB-RMA": _ONE_SIDED,
    "IMB-EXT": "Window Unidir_Get Unidir_Put Bidir_Get Bidir_Put Accumulate",
    "IMB-MT": (
        "PingPongMT PingPingMT SendRecvMT ExchangeMT UniBandMT BiBandMT BarrierMT BcastMT "
        "AllreduceMT ReduceMT"
    ),
    "IMB-NBC": " ".join(
        f"I{name} I{name}_pure" for name in (_COLLECTIVE + " Reduce_scatter_block").split()
    ),
}
_BENCHMARKS: dict[str, frozenset[str]] = {
    name: frozenset(text.lower().split()) for name, text in _TEXTS.items()
}
_PROGRAMS = frozenset((*_BENCHMARKS, "IMB-IO", "IMB-MPI1-GPU", "IMB-RMA-GPU"))
_MISSPELT_IMB = re.compile(r"(?<![\w-])(IPB|IBM|BMI|MIB|INB)-(MPI1|P2P|RMA|EXT|NBC|MT|IO)\b")
_OSU_NAMES = frozenset(
    f"osu_{name}"
    for name in (
        "latency",
        "bw",
        "bibw",
        "latency_mt",
        "latency_mp",
        "mbw_mr",
        "multi_lat",
        "put_latency",
        "put_bw",
        "put_bibw",
        "get_latency",
        "get_bw",
        "acc_latency",
        "cas_latency",
        "fop_latency",
        "get_acc_latency",
        "allgather",
        "allgatherv",
        "allreduce",
        "alltoall",
        "alltoallv",
        "alltoallw",
        "barrier",
        "bcast",
        "gather",
        "gatherv",
        "reduce",
        "reduce_scatter",
        "reduce_scatter_block",
        "scatter",
        "scatterv",
        "iallgather",
        "iallgatherv",
        "iallreduce",
        "ialltoall",
        "ialltoallv",
        "ialltoallw",
        "ibarrier",
        "ibcast",
        "igather",
        "igatherv",
        "ireduce",
        "ireduce_scatter",
        "ireduce_scatter_block",
        "iscatter",
        "iscatterv",
        "init",
        "hello",
        "latency_persistent",
        "bw_persistent",
        "bibw_persistent",
        "oshm_put",
        "oshm_get",
        "oshm_put_mr",
        "oshm_get_mr",
        "oshm_atomics",
        "oshm_barrier",
        "oshm_broadcast",
        "oshm_collect",
        "oshm_fcollect",
        "oshm_reduce",
        "upc_memput",
        "upc_memget",
        "nccl_bw",
        "nccl_latency",
        "partitioned_latency",
    )
)
_TWO = re.compile(
    r"osu_(latency|bw|bibw|(put|get|acc|cas|fop|get_acc)_(latency|bw|bibw)|(latency|bw"
    r"|bibw)_persistent)\Z"
)
_EVEN = ("osu_mbw_mr", "osu_multi_lat")
_CALLED_RMA = re.compile(
    r"\bRMA\b[^.\n]{0,40}\bPing-?Pong\b|\bPing-?Pong\b[^.\n]{0,40}\bRMA (?:test|benchmark)",
    re.IGNORECASE,
)


def misspelt(recipe: Recipe) -> Iterator[Broken]:
    """``IPB-MPI1``, ``osu_latancy``."""
    for number, line in enumerate(recipe.lines, 1):
        if line.lstrip().startswith("#") or "-" not in line:
            continue
        for match in _MISSPELT_IMB.finditer(line[:4000]):
            right = f"IMB-{match[2]}"
            seen = f"{match.group()}, not {right}"
            fix = line[: match.start()] + right + line[match.end() :]
            yield Broken("benchmark-misspelt", number, match.start() + 1, seen, fix)
    for command in commands(recipe):
        name = command.program
        if re.fullmatch(r"osu_[a-z_]{2,40}", name) and name not in _OSU_NAMES:
            yield from _misspelt_osu(recipe, command)


def _misspelt_osu(recipe: Recipe, command: Command) -> Iterator[Broken]:
    name, word = command.program, command.words[0]
    long = (known for known in _OSU_NAMES if len(known) > 8)
    near = [known for known in long if distance(name, known, 2) <= 2]
    if len(near) == 1:
        fix = corrected(recipe, [(word, word.raw.replace(name, near[0]))], word.line)
        yield at_word("benchmark-misspelt", word, f"{name}, not {near[0]}", fix)


def unknown(recipe: Recipe) -> Iterator[Broken]:
    """``IMB-RMA PingPong``."""
    for command in commands(recipe):
        known = _BENCHMARKS.get(command.program)
        if known is None:
            continue
        for word in command.words[1:]:
            if word.text.startswith("-") or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]+", word.text):
                break
            broken = _unknown(recipe, command.program, word, known)
            if broken:
                yield broken


def _unknown(recipe: Recipe, program: str, word: Word, known: frozenset[str]) -> Broken | None:
    name = word.text.lower()
    if name in known:
        return None
    elsewhere = [other for other, names in _BENCHMARKS.items() if name in names]
    if elsewhere:
        return at_word(
            "imb-unknown-benchmark",
            word,
            f"{word.text} is in {', '.join(elsewhere)}",
        )
    near = sorted(each for each in known if distance(name, each, 2) <= 2 and len(each) > 5)
    if len(near) == 1:
        return at_word(
            "imb-unknown-benchmark",
            word,
            f"{word.text} for {program}; {near[0]} is meant?",
        )
    return None


def called_rma(recipe: Recipe) -> Iterator[Broken]:
    """A sentence, a title or a comment that calls PingPong one-sided."""
    for number, line in enumerate(recipe.lines, 1):
        match = _CALLED_RMA.search(line[:4000]) if "RMA" in line else None
        if match and "IMB-RMA" not in line and " not " not in line:
            fix = (
                line[: match.start()]
                + match.group().replace("RMA", "two-sided", 1)
                + line[match.end() :]
            )
            yield Broken("pingpong-is-not-rma", number, match.start() + 1, match.group(), fix)


def ranks(recipe: Recipe) -> Iterator[Broken]:
    """The number of ranks of OSU benchmarks."""
    for job in jobs(recipe):
        for launch in job.launches:
            count = launch.ranks
            if count is None or _mixed(launch):
                continue
            place = launch.command.words[0]
            if _TWO.match(launch.benchmark) and count != 2:
                yield at_word("osu-needs-two", place, f"{launch.benchmark} with {count}")
            elif launch.benchmark in _EVEN and count % 2:
                yield at_word("osu-needs-even", place, f"{launch.benchmark} with {count}")


def _mixed(launch: Launch) -> bool:
    """Several programs in one line (``prog1 : -n 1 prog2``): the ranks add up."""
    return any(word.text == ":" for word in launch.command.words)


CHECKS = (misspelt, unknown, called_rma, ranks)
