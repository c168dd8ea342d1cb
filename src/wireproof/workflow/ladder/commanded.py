"""The layers that other programs measure: perftest's raw verbs, and a command of the user's."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from wireproof.files.hostile import replace_file
from wireproof.launch.program import shell_line
from wireproof.launch.recipe import find_recipe
from wireproof.model import quantity
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import Proof, worst_proof
from wireproof.model.ladder import LayerName, PlannedLayer
from wireproof.model.series import Series, SeriesPoint
from wireproof.report.json.encode import json_text
from wireproof.verdict.external.watched import judge_traffic
from wireproof.verdict.ladder.steps import Round
from wireproof.workflow.benchmark.run import proof_of, ready
from wireproof.workflow.benchmark.specification import BenchmarkSpecification
from wireproof.workflow.documents import in_envelope
from wireproof.workflow.prove import INTERRUPTED, ProofSpecification, ProvedCommand, prove_command
from wireproof.workflow.reporter import LoggingReporter, Quiet, Reporter
from wireproof.workflow.result import MeasuredPart
from wireproof.workflow.target.target import Target

SIZE_WORD = "{size}"
"""In the words of a command: the message size, in bytes."""
SIZES = (8, 512, 4096, 65536, 1 << 20)
"""Of a command that is run once for each size, unless others are asked for."""
LONGEST_S = 120.0
"""What a command may take in a round, unless --deadline says otherwise."""
_VERBS_SIZES = tuple(1 << power for power in range(1, 24))
_VERBS_ITERATIONS = 200
_MIB = 1 << 20
_NS_PER_S = 1e9


@dataclasses.dataclass(frozen=True, kw_only=True)
class Asked:
    """One run of a command. ``size`` and ``number``: it is run for this size alone, and this finds
    the time (ns) in its output; else its output is a table that an adapter reads.
    """

    proof: ProofSpecification
    size: int | None = None
    number: Callable[[str], float | None] | None = None


class CommandedLayer:
    """One layer; ``runs``: what makes up a round; each takes ``longest_s`` at most."""

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
        self._proofs: list[Proof] = []

    @property
    def target(self) -> Target:
        return self._runs[0].proof.target

    def run(self, number: int, seed: int, reporter: Reporter) -> Round:
        """One round. Raises ``CouldNotMeasure`` when a command fails or prints nothing usable."""
        times: dict[int, float] = {}
        windowed: list[float] = []
        proofs: set[Proof] = set()
        for at, one in enumerate(self._runs):
            proved = self._proved(one, reporter)
            series = proved.series
            if one.size is not None:
                series = [_of_number(one, one.size, proved, self.title)]
                seen = judge_traffic(proved.traffic, series, one.proof.target.claim())
                proved = dataclasses.replace(proved, judgement=seen)
            proofs.add(proved.judgement.proof)
            times |= _times(series)
            windowed += _windowed(series)
            self._keep(f"{self.name}-{number + 1}-{at + 1}.json", one, proved)
        if not times and not windowed:
            raise CouldNotMeasure(
                f"{self.title}: the command's output has no table of sizes that is known: put"
                f" {SIZE_WORD} where it takes the size, and give --metric."
            )
        self._proofs.append(_of_round(proofs))
        return Round(times, max(windowed, default=None))

    def _proved(self, one: Asked, reporter: Reporter) -> ProvedCommand:
        try:
            proved = prove_command(
                dataclasses.replace(one.proof, longest_s=self._longest_s),
                environment=self._environment,
                reporter=Quiet(reporter),
            )
        except CouldNotMeasure as error:
            raise CouldNotMeasure(f"{self.title}: {error}") from error
        if proved.exit_status == INTERRUPTED:
            raise KeyboardInterrupt
        if proved.exit_status:
            words = proved.last_words
            how = f"{one.proof.argv[0]} ended with status {proved.exit_status}"
            raise CouldNotMeasure(f"{self.title}: {how}{f': {words}' if words else '.'}")
        return proved

    def _keep(self, name: str, one: Asked, proved: ProvedCommand) -> None:
        if self._folder is not None:
            text = json_text(in_envelope(proved.document(one.proof))) + "\n"
            replace_file(self._folder / name, text.encode())

    def planned(self, seed: int) -> PlannedLayer:
        """The commands of a round."""
        lines = [shell_line(one.proof.argv, {}) for one in self._runs]
        return PlannedLayer(name=self.name, title=self.title, commands=lines)

    def titled(self) -> str:
        return self.title

    def how(self) -> str:
        """The program, and how often it runs in a round."""
        words = " ".join(self._runs[0].proof.argv)
        return words if len(words) <= 80 else f"{words[:77]}..."

    def waited(self) -> float | None:
        """Nobody counts it."""
        return None

    def proof(self) -> Proof:
        """On the wire when every round was."""
        return worst_proof(self._proofs)

    def part(self) -> MeasuredPart | None:
        """Nothing that `report` would judge: the proofs are kept beside it."""
        return None


def _of_round(proofs: set[Proof]) -> Proof:
    """Runs of small messages are too few bytes to be seen; those that are seen decide."""
    return worst_proof(proofs - {"unproven"})


def _times(series: Sequence[Series]) -> dict[int, float]:
    """Time of one message, where each waits for the one before."""
    found: dict[int, float] = {}
    for one in series:
        for point in one.points:
            time_ns = point.hrt_ns or point.time_ns
            if time_ns and point.message_bytes > 0:
                found[point.message_bytes] = time_ns
    return found


def _windowed(series: Sequence[Series]) -> list[float]:
    """The rate of the largest size of each table of one-way rates, bytes/s."""
    tables = [one for one in series if one.metric == "bandwidth" and one.directions == 1]
    last = [max(one.points, key=lambda it: it.message_bytes) for one in tables if one.points]
    return [one.goodput_bytes_per_s for one in last if one.goodput_bytes_per_s]


def _of_number(one: Asked, size: int, proved: ProvedCommand, title: str) -> Series:
    """What the command has said of one size, as a table of one row."""
    reader = one.number
    time_ns = reader(proved.output.decode("utf-8", "replace")) if reader is not None else None
    if time_ns is None or not 0.0 < time_ns < float("inf"):
        raise CouldNotMeasure(
            f"{title}: --metric finds no positive time in the output for {quantity.size(size)}."
        )
    point = SeriesPoint(
        message_bytes=size, time_ns=time_ns, goodput_bytes_per_s=_rate(size, time_ns)
    )
    return Series(
        tool="command",
        benchmark=Path(one.proof.argv[0]).name,
        metric="time",
        traffic="pingpong",
        points=[point],
        formula="",
        unit="ns",
    )


def _rate(size: int, time_ns: float) -> float:
    return size / time_ns * _NS_PER_S


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
    """The user's command: once for each size where its words have ``{size}``, else once, and its
    output is a table. Raises ``BadInput``.
    """
    by_size = any(SIZE_WORD in word for word in argv)
    if by_size != (number is not None):
        raise BadInput(
            f"--metric and {SIZE_WORD} in the command belong together: it is run once for each"
            " size, and --metric finds the time of one message in its output."
        )
    runs = [
        Asked(
            proof=ProofSpecification(
                argv=tuple(word.replace(SIZE_WORD, str(size)) for word in argv), target=target
            ),
            size=size,
            number=number,
        )
        for size in (sizes or SIZES)
        if by_size
    ] or [Asked(proof=ProofSpecification(argv=tuple(argv), target=target))]
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
    """perftest's RDMA write between the hosts: half round trips of all sizes in one run (or of each
    of ``sizes``), and the rate of the largest. ``place``: the RDMA device, and the second host's
    address on it.

    Raises ``CouldNotMeasure`` where perftest is not installed.
    """
    device, address = place
    on_device = dataclasses.replace(target, nics=(device,) * len(target.hosts))
    each: list[tuple[int, ...]] = [(size,) for size in sizes] or [_VERBS_SIZES]
    asked = [("ib_write_lat", of) for of in each]
    runs = []
    for program, of in [*asked, ("ib_write_bw", (max(sizes, default=_MIB),))]:
        wanted = BenchmarkSpecification(
            recipe=find_recipe("perftest", program),
            target=on_device,
            address=address,
            sizes=of,
            iterations=_VERBS_ITERATIONS if program == "ib_write_lat" else None,
            read_by_people=False,
        )
        prepared, _ = stack.enter_context(ready(wanted, environment, Quiet(LoggingReporter())))
        runs.append(Asked(proof=proof_of(prepared)))
    return CommandedLayer("verbs", "raw verbs", runs, folder, environment)
