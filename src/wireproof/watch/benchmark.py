"""Run the prepared steps between two readings of the ports' counters, and judge the tool's numbers
by the bytes that crossed the ports.
"""

import contextlib
import dataclasses
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from wireproof.atlas.job import atlas
from wireproof.files.held import held_folder
from wireproof.files.hostile import read_bounded
from wireproof.files.programs import printed
from wireproof.launch.here import (
    address_argv,
    address_in,
    core_near,
    cpulist_argv,
    is_nic,
    netdevs_argv,
)
from wireproof.launch.recipe import BenchmarkRecipe
from wireproof.logs.json import JudgedSeries, joined
from wireproof.logs.readers import read
from wireproof.logs.verdict import judge_log
from wireproof.model.claim import first_rail
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import Verdict
from wireproof.model.traffic import TrafficVerdict
from wireproof.report.reporter import Reporter
from wireproof.target import Target, guarded, reach
from wireproof.watch.benchmark_document import (
    BenchmarkDocument,
    BenchmarkStep,
    PreparedDocument,
)
from wireproof.watch.command import NOWHERE, Sinks
from wireproof.watch.document import watched_document
from wireproof.watch.hosts import Companion
from wireproof.watch.prove import (
    INTERRUPTED,
    ProofSpecification,
    ProvedCommand,
    prove_command,
)
from wireproof.watch.specification import BenchmarkSpecification
from wireproof.watch.steps import PreparedSteps, prepare_steps
from wireproof.watch.verdict import judge_traffic

_LARGEST_RESULT = 16 << 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class BenchmarkResult:
    """The tool's numbers, judged. ``interrupted``: the user stopped the tool, so nothing is
    judged."""

    prepared: PreparedSteps
    proved: ProvedCommand
    series: list[JudgedSeries]
    verdict: Verdict
    interrupted: bool = False

    def interruption_lines(self) -> list[str]:
        """Return the known facts about the ports after the user has stopped the tool."""
        proved, program = self.proved, self.prepared.recipe.program
        ended = f"{program} was interrupted; its output so far is above, but no result is kept."
        path = watched_document(proved.exit_status, proved.traffic, proved.judgement)
        return [path.answer, ended]

    def document(self) -> BenchmarkDocument:
        """Return the document that ``wireproof run --json`` prints."""
        return BenchmarkDocument(
            verdict=self.verdict,
            proof=self.proved.judgement.proof,
            recipe=prepared_document(self.prepared),
            seconds=self.proved.seconds,
            path=self.proved.judgement,
            traffic=self.proved.traffic,
            series=self.series,
            statistics=self.proved.statistics,
        )


def prepared_document(prepared: PreparedSteps) -> PreparedDocument:
    """Return the commands as the document that ``wireproof run --dry-run --json`` prints."""
    recipe = prepared.recipe
    return PreparedDocument(
        title=prepared.title,
        tool=recipe.tool,
        benchmark=recipe.benchmark,
        why=recipe.why,
        program=None if prepared.program is None else str(prepared.program),
        mpi=prepared.install.title if prepared.install else "",
        steps=prepared.steps,
        files=prepared.files,
        root_steps=list(prepared.root_steps),
        notes=list(prepared.notes),
    )


@contextlib.contextmanager
def ready(
    wanted: BenchmarkSpecification, environment: Mapping[str, str], reporter: Reporter
) -> Iterator[tuple[PreparedSteps, Path]]:
    """Yield the steps, ready to run, and the folder of their files, which exists during the
    block."""
    with _work_folder(wanted.recipe) as folder:
        informed = with_core_and_address(wanted, reporter)
        prepared = prepare_steps(informed, environment, folder)
        for name, text in prepared.files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        yield prepared, Path(folder)


@contextlib.contextmanager
def _work_folder(recipe: BenchmarkRecipe) -> Iterator[str]:
    """Yield a private folder in the working directory, because on a cluster other hosts see it too;
    yield "" if the program needs no folder.
    """
    if not recipe.input_file:
        yield ""
        return
    try:
        with held_folder(Path.cwd()):  # the owner could exchange the folder
            folder = tempfile.mkdtemp(prefix=f"wireproof-{recipe.tool}-", dir=Path.cwd())
    except OSError as error:
        raise CouldNotMeasure(
            f"no folder for {recipe.input_file} can be created in {Path.cwd()} ({error.strerror}):"
            " run in a writable folder that all hosts see."
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def with_core_and_address(
    wanted: BenchmarkSpecification, reporter: Reporter
) -> BenchmarkSpecification:
    """Choose a core on the NIC's socket and the server's address on the NIC, unless the user has
    given them.

    In a lab the addresses are known, and virtual NICs have no nearby core.
    """
    target = wanted.target
    if not target.hosts or not target.nics or target.lab is not None:
        return wanted
    if wanted.cpu is None and (wanted.pairs or wanted.recipe.pairs) == 1:
        wanted = _with_core(wanted, target, reporter)
    if wanted.recipe.shape == "pair" and not wanted.address:
        wanted = _with_address(wanted, target, reporter)
    return wanted


def _with_core(
    wanted: BenchmarkSpecification, target: Target, reporter: Reporter
) -> BenchmarkSpecification:
    client, nic = target.hosts[0], first_rail(target.nics[0])
    core = core_near(_ask(client, cpulist_argv(nic), target))
    if core is None:
        return wanted
    reporter.say(f"core {core} of {client} is on the socket of {nic}: pinned to it")
    return dataclasses.replace(wanted, cpu=core)


def _with_address(
    wanted: BenchmarkSpecification, target: Target, reporter: Reporter
) -> BenchmarkSpecification:
    server = target.hosts[1]
    netdev = _netdev(server, target)
    address = address_in(_ask(server, address_argv(netdev), target))
    if not address:
        return wanted
    reporter.say(f"{netdev} of {server} has the address {address}")
    return dataclasses.replace(wanted, address=address)


def _netdev(server: str, target: Target) -> str:
    """Return the netdev that belongs to the RDMA device, whose address perftest's connection
    manager needs.
    """
    netdevs = _ask(server, netdevs_argv(first_rail(target.nics[1])), target).split()
    return netdevs[0] if netdevs and is_nic(netdevs[0]) else first_rail(target.nics[1])


def _ask(host: str, argv: Sequence[str], target: Target) -> str:
    return printed(reach(target, host, argv), any_status=True)


def run_prepared(
    prepared: PreparedSteps,
    folder: Path,
    *,
    environment: Mapping[str, str],
    sinks: Sinks = NOWHERE,
    reporter: Reporter | None = None,
) -> BenchmarkResult:
    """Run the steps with the proof, and judge.

    Raises ``CouldNotMeasure`` if the tool failed or printed no numbers that wireproof recognises.
    """
    target, recipe = prepared.wanted.target, prepared.recipe
    wanted = proof_of(prepared)
    proved = prove_command(wanted, environment=environment, sinks=sinks, reporter=reporter)
    proved = _with_result_file(proved, folder, recipe.result_file, target)
    if not target.wire:
        judgement = without_claim(proved.judgement)
        proved = dataclasses.replace(proved, judgement=judgement)
    interrupted = proved.exit_status == INTERRUPTED
    if not interrupted:
        _check_that_it_ran(recipe, proved)
    series = [] if interrupted else _judged(proved, target, prepared.wanted.path)
    return BenchmarkResult(
        prepared=prepared,
        proved=proved,
        series=series,
        verdict=overall(proved.verdict, series),
        interrupted=interrupted,
    )


def proof_of(prepared: PreparedSteps) -> ProofSpecification:
    """Return the prepared steps as a command with its servers, ready to run with the proof."""
    servers = tuple(
        Companion(step.host, step.enclosed) for step in prepared.steps if step.role == "server"
    )
    main = next(step for step in prepared.steps if step.role != "server")
    target = prepared.wanted.target
    return ProofSpecification(
        argv=tuple(main_argv(main, target)),
        target=target,
        companions=servers,
        name=prepared.recipe.program,
        stdin="held" if main.host else "shared",
        psm_statistics=prepared.wanted.psm_statistics,
    )


def main_argv(step: BenchmarkStep, target: Target) -> list[str]:
    """Return the command of the proven step as started from this machine: a client on another host
    runs through ssh or the agent.
    """
    if target.lab is not None or not step.host:  # in a lab the proof itself enters the first node
        return list(step.enclosed)
    return guarded(target, step.host, step.enclosed)


def _with_result_file(
    proved: ProvedCommand, folder: Path, name: str, target: Target
) -> ProvedCommand:
    """Add the numbers of a tool that writes them to a file, and judge its path by them."""
    if not name:
        return proved
    try:
        series = read(read_bounded(folder / name, _LARGEST_RESULT, follow=False), name)
    except (OSError, BadInput):
        return proved
    judgement = judge_traffic(proved.traffic, series, target.claim())
    return dataclasses.replace(proved, series=series, judgement=judgement)


def without_claim(verdict: TrafficVerdict) -> TrafficVerdict:
    """Return the verdict for a single machine without a claimed wire: traffic through memory and
    loopback is expected there, and proves nothing.
    """
    reasons = [
        msgspec.structs.replace(reason, severity="note") if reason.severity == "fail" else reason
        for reason in verdict.reasons
    ]
    return msgspec.structs.replace(verdict, verdict="inconclusive", reasons=reasons)


def _check_that_it_ran(recipe: BenchmarkRecipe, proved: ProvedCommand) -> None:
    """Raise ``CouldNotMeasure`` if the tool failed or printed no result; its last lines are the
    best explanation.
    """
    if proved.exit_status:
        how = f"ended with status {proved.exit_status}"
    elif not any(table.points for table in proved.series):
        how = "printed no result that wireproof recognises"
    else:
        return
    raise CouldNotMeasure(f"{recipe.program} {how}: its last lines are above.")


def _judged(proved: ProvedCommand, target: Target, path: str) -> list[JudgedSeries]:
    """Judge each series. The counters prove or disprove the path, which a log alone cannot."""
    proof = proved.judgement.proof
    verdicts = judge_log(
        proved.series, target.link, path=path, atlas=atlas(), counted=proof == "on-wire"
    )
    judged = [
        joined(table, verdict, target.link)
        for table, verdict in zip(proved.series, verdicts, strict=True)
    ]
    if proof == "unproven":
        return judged
    return [
        msgspec.structs.replace(
            table,
            proof=proof if table.proof == "unproven" else table.proof,
            reasons=[reason for reason in table.reasons if reason.code != "log-without-counters"],
        )
        for table in judged
    ]


def overall(path: Verdict, judged: Sequence[JudgedSeries]) -> Verdict:
    """Return fail if the path or a number fails; pass if the path is proven and every number that
    has a limit passes.

    A number without a limit (a collective, a ring) is shown, but alone it is not enough to pass.
    """
    if path == "fail" or any(table.verdict == "fail" for table in judged):
        return "fail"
    limited = [table for table in judged if not _has_no_limit(table)]
    passes = path == "pass" and limited and all(table.verdict == "pass" for table in limited)
    return "pass" if passes else "inconclusive"


def _has_no_limit(table: JudgedSeries) -> bool:
    doubts = {
        reason.code for reason in table.reasons if reason.severity in ("fail", "inconclusive")
    }
    return table.verdict == "inconclusive" and doubts == {"only-a-floor"}
