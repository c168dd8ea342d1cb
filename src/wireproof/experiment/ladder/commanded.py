"""The layers that other programs measure: raw verbs with perftest, and the user's command."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from wireproof.experiment.ladder import LayerName
from wireproof.experiment.ladder.steps import Round
from wireproof.files.hostile import replace_file
from wireproof.launch.command import shell_line
from wireproof.launch.recipe import find_recipe
from wireproof.measure.result import MeasuredPart
from wireproof.model import quantity
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.experiment import PlannedArm
from wireproof.model.finding import Proof, worst_proof
from wireproof.model.series import Series, SeriesPoint
from wireproof.report.json import enveloped, json_text
from wireproof.report.reporter import LoggingReporter, Quiet, Reporter
from wireproof.target import Target
from wireproof.watch.benchmark import proof_of, ready
from wireproof.watch.document import KIND as PROOF
from wireproof.watch.prove import INTERRUPTED, ProofSpecification, ProvedCommand, prove_command
from wireproof.watch.specification import BenchmarkSpecification
from wireproof.watch.verdict import judge_traffic

SIZE_WORD = "{size}"
"""The placeholder for the message size in bytes in a command's words."""
SIZES = (8, 512, 4096, 65536, 1 << 20)
"""Default sizes of a command that is run once for each size."""
LONGEST_S = 120.0
"""Longest time of a command in a round; --deadline changes it."""
_VERBS_SIZES = tuple(1 << power for power in range(1, 24))
_VERBS_ITERATIONS = 200
_MIB = 1 << 20
_NS_PER_S = 1e9


@dataclasses.dataclass(frozen=True, kw_only=True)
class Asked:
    """One run of a command.

    With ``size`` and ``number`` it runs for this size alone, and ``number`` finds the time (ns) in
    its output; otherwise an adapter reads a table from its output.
    """

    proof: ProofSpecification
    size: int | None = None
    number: Callable[[str], float | None] | None = None


class CommandedLayer:
    """One layer. ``runs`` make up a round; each takes at most ``longest_s``."""

    def __init__(
        self,
        name: LayerName,
        title: str,
        runs: Sequence[Asked],
        folder: Path | None,
        environment: Mapping[str, str],
        longest_s: float = LONGEST_S,
    ) -> None:
        self.name: LayerName = name
        self._longest_s = longest_s
        self.title = title
        self._runs, self._folder, self._environment = runs, folder, environment
        self.rounds: dict[int, tuple[Round, Proof]] = {}

    @property
    def target(self) -> Target:
        return self._runs[0].proof.target

    def run(self, number: int, seed: int, reporter: Reporter) -> Round:
        """Run one round, unless ``rounds`` has it from before an interruption.

        Raises ``CouldNotMeasure`` if a command fails or prints nothing usable.
        """
        if number in self.rounds:
            return self.rounds[number][0]
        times: dict[int, float] = {}
        windowed: list[float] = []
        proofs: set[Proof] = set()
        for at, asked in enumerate(self._runs):
            proved = self._proved(asked, reporter)
            series = proved.series
            if asked.size is not None:
                series = [_of_number(asked, asked.size, proved, self.title)]
                judgement = judge_traffic(proved.traffic, series, asked.proof.target.claim())
                proved = dataclasses.replace(proved, judgement=judgement)
            proofs.add(proved.judgement.proof)
            times |= _times(series)
            windowed += _windowed(series)
            self._keep(f"{self.name}-{number + 1}-{at + 1}.json", asked, proved)
        if not times and not windowed:
            raise CouldNotMeasure(
                f"{self.title}: the command's output contains no known table of sizes: put"
                f" {SIZE_WORD} in place of the size in the command, and give --metric."
            )
        # Runs of small messages move too few bytes to be visible in the counters, so the other runs
        # decide.
        measured = Round(times, max(windowed, default=None))
        self.rounds[number] = measured, worst_proof(proofs - {"unproven"})
        return measured

    def _proved(self, asked: Asked, reporter: Reporter) -> ProvedCommand:
        try:
            proved = prove_command(
                dataclasses.replace(asked.proof, longest_s=self._longest_s),
                environment=self._environment,
                reporter=Quiet(reporter),
            )
        except CouldNotMeasure as error:
            raise CouldNotMeasure(f"{self.title}: {error}") from error
        if proved.exit_status == INTERRUPTED:
            raise KeyboardInterrupt
        if proved.exit_status:
            words = proved.last_words
            how = f"{asked.proof.argv[0]} ended with status {proved.exit_status}"
            raise CouldNotMeasure(f"{self.title}: {how}{f': {words}' if words else '.'}")
        return proved

    def _keep(self, name: str, asked: Asked, proved: ProvedCommand) -> None:
        if self._folder is not None:
            text = json_text(enveloped(PROOF, proved.document(asked.proof))) + "\n"
            replace_file(self._folder / name, text.encode())

    def planned(self, seed: int) -> PlannedArm:
        """Return the commands of a round."""
        lines = [shell_line(asked.proof.argv, {}) for asked in self._runs]
        return PlannedArm(title=self.title, commands=lines)

    def titled(self) -> str:
        return self.title

    def how(self) -> str:
        """Return the name of the program that measures this layer."""
        words = " ".join(self._runs[0].proof.argv)
        return words if len(words) <= 80 else f"{words[:77]}..."

    def waited(self) -> float | None:
        """Return None: the time during which a process waited for a processor is not measured."""
        return None

    def proof(self) -> Proof:
        """Return on-wire if every round was on the wire."""
        return worst_proof(proof for _, proof in self.rounds.values())

    def part(self) -> MeasuredPart | None:
        """Return None: a command has no part that `report` could judge; its proofs are stored
        separately.
        """
        return None


def _times(series: Sequence[Series]) -> dict[int, float]:
    """Return the time of one message in ns by size, from tables in which each message waits for the
    previous message.
    """
    times: dict[int, float] = {}
    for table in series:
        for point in table.points:
            time_ns = point.hrt_ns or point.time_ns
            if time_ns and point.message_bytes > 0:
                times[point.message_bytes] = time_ns
    return times


def _windowed(series: Sequence[Series]) -> list[float]:
    """Return the rate of the largest size of each table of one-way rates, bytes/s."""
    tables = [table for table in series if table.metric == "bandwidth" and table.directions == 1]
    last = [
        max(table.points, key=lambda point: point.message_bytes) for table in tables if table.points
    ]
    return [point.goodput_bytes_per_s for point in last if point.goodput_bytes_per_s]


def _of_number(asked: Asked, size: int, proved: ProvedCommand, title: str) -> Series:
    """Return the time that the command printed for one size, as a table of one row."""
    reader = asked.number
    time_ns = reader(proved.output.decode("utf-8", "replace")) if reader is not None else None
    if time_ns is None or not 0.0 < time_ns < float("inf"):
        raise CouldNotMeasure(
            f"{title}: --metric found no positive time in the output for {quantity.size(size)}."
        )
    point = SeriesPoint(
        message_bytes=size, time_ns=time_ns, goodput_bytes_per_s=size / time_ns * _NS_PER_S
    )
    return Series(
        tool="command",
        benchmark=Path(asked.proof.argv[0]).name,
        metric="time",
        traffic="pingpong",
        points=[point],
        formula="",
        unit="ns",
    )


def application(
    argv: Sequence[str],
    target: Target,
    *,
    sizes: Sequence[int],
    number: Callable[[str], float | None] | None,
    environment: Mapping[str, str],
    folder: Path | None,
    longest_s: float = LONGEST_S,
) -> CommandedLayer:
    """Return the layer of the user's command: it runs once for each size if its words contain
    ``{size}``, else once, and its output is a table. Raises ``BadInput``.
    """
    by_size = any(SIZE_WORD in word for word in argv)
    if by_size != (number is not None):
        raise BadInput(
            f"--metric and {SIZE_WORD} in the command belong together: the command runs once for"
            " each size, and --metric finds the time of one message in its output."
        )
    runs = [
        Asked(
            proof=ProofSpecification(
                argv=tuple(word.replace(SIZE_WORD, str(size)) for word in argv),
                target=target,
                stdin="empty",
            ),
            size=size,
            number=number,
        )
        for size in (sizes or SIZES)
        if by_size
    ] or [Asked(proof=ProofSpecification(argv=tuple(argv), target=target, stdin="empty"))]
    title = "the application"
    return CommandedLayer("application", title, runs, folder, environment, longest_s)


def raw_verbs(
    target: Target,
    place: tuple[str, str],
    sizes: Sequence[int],
    *,
    environment: Mapping[str, str],
    folder: Path | None,
    stack: ExitStack,
) -> CommandedLayer:
    """Return the layer of perftest's RDMA write between the hosts: half round trips of all sizes in
    one run (or in one run for each of ``sizes``), and the rate of the largest size. ``place``: the
    RDMA device and the second host's address on it.

    Raises ``CouldNotMeasure`` if perftest is not installed.
    """
    device, address = place
    on_device = dataclasses.replace(target, nics=(device,) * len(target.hosts))
    groups: list[tuple[int, ...]] = [(size,) for size in sizes] or [_VERBS_SIZES]
    latencies = [("ib_write_lat", group) for group in groups]
    runs = []
    for program, group in [*latencies, ("ib_write_bw", (max(sizes, default=_MIB),))]:
        wanted = BenchmarkSpecification(
            recipe=find_recipe("perftest", program),
            target=on_device,
            address=address,
            sizes=group,
            iterations=_VERBS_ITERATIONS if program == "ib_write_lat" else None,
            read_by_people=False,
        )
        prepared, _ = stack.enter_context(ready(wanted, environment, Quiet(LoggingReporter())))
        runs.append(Asked(proof=proof_of(prepared)))
    return CommandedLayer("verbs", "raw verbs", runs, folder, environment)
