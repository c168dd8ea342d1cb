"""Measure a plan in as many launches as necessary: lost hosts are reported and left out, and the
rest is measured.

An MPI ends the whole job if one rank dies, so another launch without the lost hosts is needed to
continue. Each launch has its own complete run folder (``run``, ``run.2``, ...); here they become
one run with the plan's ranks.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from wireproof.instrument import Outcome
from wireproof.instrument.ending import Ending
from wireproof.instrument.lost import LARGE_MESSAGES_HANG
from wireproof.measure.session.merge import (
    ranks_by_host,
    renumbered,
    subset_claim,
    subset_points,
)
from wireproof.model.claim import Claim
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.plan import Point
from wireproof.model.quantity import size
from wireproof.model.record import EngineError, Nic
from wireproof.model.run import Missing, Run
from wireproof.store.load import load_document, load_run
from wireproof.target import Target

# --- Detect an MTU black hole after two deadlines: small messages pass and all larger ones
# hang.

_MOST_NAMED = 4


def large_messages_hang(
    points: Sequence[Point], sealed: Collection[int], late: Collection[int], runs: Sequence[Run]
) -> tuple[int, EngineError] | None:
    """Conclude which sizes hang from the points that ended (``sealed``) and those that hit their
    deadline (``late``). Return the smallest such size, because larger ones are not worth a
    deadline, and the error. None unless the ranks have seen it, or two sizes hang and all sizes
    that pass are smaller.
    """
    passed = {point.message_bytes for point in points if point.id in sealed}
    hung = sorted({point.message_bytes for point in points if point.id in late})
    seen = [error for run in runs for error in run.errors if error.code == LARGE_MESSAGES_HANG]
    if seen and hung:
        return hung[0], seen[0]
    if not passed or len(hung) < 2 or max(passed) >= hung[0]:
        return None
    text = (
        f"messages of up to {size(max(passed))} pass, but those of {size(hung[0])} and"
        f" {size(hung[1])} hang: the path may drop large frames ({_mtus(runs)})"
    )
    return hung[0], EngineError(code=LARGE_MESSAGES_HANG, message=text)


def smallest_first(points: Iterable[Point]) -> tuple[Point, ...]:
    """Return the order after a deadline: if small messages are measured first, they show why a
    large message hangs.
    """
    return tuple(sorted(points, key=lambda point: point.message_bytes))


def with_error(run: Run, error: EngineError) -> Run:
    """Return ``run`` with one more error."""
    return msgspec.structs.replace(run, errors=[*run.errors, error])


def _mtus(runs: Sequence[Run]) -> str:
    """Return the MTU of each host's claimed port, or of every port with a carrier."""
    by_host: dict[str, str] = {}
    for run in runs:
        claimed = {host.rank: host.nic for host in run.claim.hosts}
        for host in run.hosts:
            ports = [
                f"{nic.name} {nic.mtu}"
                for nic in host.nics
                if nic.mtu and _carries(nic, claimed.get(host.rank, ""))
            ]
            if ports:
                by_host[host.hostname] = f"{host.hostname} {', '.join(ports[:_MOST_NAMED])}"
    return "MTU: " + "; ".join(list(by_host.values())[:_MOST_NAMED]) if by_host else "MTU unknown"


def _carries(nic: Nic, claimed: str) -> bool:
    if claimed:
        return nic.name == claimed
    return nic.kind != "loopback" and nic.carrier is not False


MOST_ATTEMPTS = 6
"""Maximum number of attempts. Each attempt but the last has lost a host or a point; a cluster that
loses more must be repaired first.
"""
GOES_ON = ("rank-lost", "deadline", "failed", "not-started")
_BROKEN_OFF = ("broken-off", "deadline", "interrupted")
Done = set[tuple[int, int, int]]

Launch = Callable[[tuple[Point, ...], Target, Claim, Path | None, str], Outcome]
"""(points, target, claim, folder, suffix of the title) -> outcome. Raises ``CouldNotMeasure`` if
nothing could be started.
"""
Probe = Callable[[Target, tuple[int, ...]], dict[int, str]]
"""Returns the ranks whose hosts do not respond, with the reason."""


@dataclasses.dataclass
class CampaignResult:
    """``lost``: a sentence for each lost rank (of the plan); ``missing``: the reason why a point
    has no data.

    ``folders``: the folders of the records of ``runs``.
    """

    runs: list[Run] = dataclasses.field(default_factory=list)
    outcomes: list[Outcome] = dataclasses.field(default_factory=list)
    folders: list[Path] = dataclasses.field(default_factory=list)
    lost: dict[int, str] = dataclasses.field(default_factory=dict)
    missing: dict[int, Missing] = dataclasses.field(default_factory=dict)
    ended: str = "done"


def attempt_folder(base: Path | None, number: int) -> Path | None:
    """Return ``run`` for the first attempt, ``run.2`` for the second."""
    return base if base is None or number == 1 else base.with_name(f"{base.name}.{number}")


def earlier_attempts(base: Path | None) -> list[Path]:
    """Return the folders of the attempts of an interrupted campaign, in order."""
    if base is None:
        return []
    folders: list[Path] = []
    for number in range(1, 1000):
        folder = attempt_folder(base, number)
        if folder is None or not (folder / "run.json").is_file():
            break
        folders.append(folder)
    return folders


def _pairs_of(run: Run) -> Iterable[tuple[int, int, int]]:
    for record in run.points:
        yield from ((record.id, pair.origin, pair.target) for pair in record.pairs)
        if record.group is not None:
            yield (record.id, -1, -1)


def _recall(folder: Path, whole: Claim, points: Sequence[Point]) -> Run:
    """Load an earlier attempt's run with the plan's ranks.

    Raises ``BadInput`` if it belongs to another plan.
    """
    document = load_document(folder)
    ranks = ranks_by_host(document.claim, whole)
    if ranks is None:
        raise BadInput(f"{folder} was measured on other hosts: resume it with the same --hosts.")
    known = {point.id: point for point in points}
    for point in document.plan.points:
        same = known.get(point.id)
        if same is None or (same.pattern, same.message_bytes) != (
            point.pattern,
            point.message_bytes,
        ):
            raise BadInput(
                f"{folder} contains a run of another plan: resume it with the same options and"
                " hosts, and with the release that started it (wireproof"
                f" {document.provenance.wireproof}); `wireproof report` judges the existing"
                " records."
            )
    run = load_run(folder)
    errors = run.errors if document.ended == "done" else _lasting(run.errors)
    return renumbered(msgspec.structs.replace(run, errors=errors), ranks, whole)


def _lasting(errors: Sequence[EngineError]) -> list[EngineError]:
    """Return the errors except those about the abort of an attempt: they no longer matter once the
    rest is measured, and missing points are reported separately.
    """
    return [
        error
        for error in errors
        if error.code not in _BROKEN_OFF and not error.code.endswith(("-lost", "-gone"))
    ]


class Campaign:
    """The launches of a plan, until every point is measured or another launch would not help.

    ``probe`` is called before each launch, ``examine`` after a launch that failed without
    identifying a host.
    """

    def __init__(
        self,
        points: tuple[Point, ...],
        target: Target,
        claim: Claim,
        launch: Launch,
        *,
        probe: Probe,
        examine: Probe | None = None,
    ) -> None:
        self._points, self._target, self._claim = points, target, claim
        self._launch, self._probe, self._examine = launch, probe, examine or probe
        self._done: Done = set()
        self._crashed: set[int] = set()
        self._result = CampaignResult()

    def run(
        self,
        *,
        out: Path | None = None,
        resume: bool = False,
        lost: Mapping[int, str] | None = None,
    ) -> CampaignResult:
        """Measure without the hosts that are lost during the campaign, or were lost before it
        (``lost``).

        Raises ``CouldNotMeasure`` if nothing at all was measured.
        """
        self._result.lost |= lost or {}
        folders = earlier_attempts(out) if resume else []
        for folder in folders:
            self._take(_recall(folder, self._claim, self._points), folder)
        trouble = ""
        for number in range(len(folders) + 1, len(folders) + 1 + MOST_ATTEMPTS):
            self._ask()
            try:
                if not self._attempt(number, out):
                    break
            except CouldNotMeasure as error:
                trouble, self._result.ended = str(error), "not-started"
                break
        return self._concluded(trouble)

    def _ask(self) -> None:
        """Mark the needed hosts that do not respond as lost."""
        known = self._result.lost
        known |= self._probe(self._target, tuple(r for r in self._task()[1] if r not in known))

    def _attempt(self, number: int, out: Path | None) -> bool:
        """Launch the remaining points; return whether another launch makes sense."""
        rest, ranks = self._task()
        if not rest:
            return False
        share = f"{len(ranks)} of {self._target.size} ranks"
        suffix = "" if number == 1 else f", attempt {number} with {share}"
        task = _narrowed(rest, self._target, self._claim, ranks)
        return self._learn(self._launch(*task, attempt_folder(out, number), suffix), ranks)

    def _take(self, run: Run, folder: Path) -> None:
        self._result.runs.append(run)
        self._result.folders.append(folder)
        self._done |= set(_pairs_of(run))

    def _task(self) -> tuple[tuple[Point, ...], tuple[int, ...]]:
        """Return the remaining points between ranks that are not lost, and those ranks."""
        lost, missing = set(self._result.lost), set(self._result.missing)
        rest = subset_points(self._points, self._done, lost, missing)
        if any(why.code == "deadline" for why in self._result.missing.values()):
            rest = smallest_first(rest)
        used = {rank for point in rest for rank in _ranks_of(point)}
        return rest, tuple(sorted(used))

    def _learn(self, outcome: Outcome, ranks: tuple[int, ...]) -> bool:
        """Record measured points and lost hosts; return whether another launch makes sense."""
        before, result, ending = len(self._done), self._result, outcome.ending
        run = renumbered(outcome.run, ranks, self._claim)
        errors = (
            _lasting(run.errors) if ending.lost else run.errors
        )  # lost hosts explain the other failures
        if ending.ended == "disk-full":
            errors = [EngineError(code="broken-off", message=ending.reason), *errors]
        self._take(msgspec.structs.replace(run, errors=errors), outcome.folder)
        result.outcomes.append(outcome)
        result.ended = ending.ended
        if ending.ended not in GOES_ON:
            return False
        fresh = {ranks[rank]: why for rank, why in ending.lost.items() if rank < len(ranks)}
        if ending.crashed and not self._crashed & set(fresh):
            return self._again_with(fresh, ranks)
        if not fresh:  # the launch failed without identifying a host: query the hosts
            fresh = self._examined(ranks)
        result.lost |= fresh
        if not fresh and ending.culprit is not None:
            result.missing.setdefault(ending.culprit, ending.missing(reached=True))
            self._skip_what_hangs()
            return True
        return bool(fresh) or len(self._done) > before

    def _again_with(self, crashed: Mapping[int, str], ranks: tuple[int, ...]) -> bool:
        """Keep ranks that crashed for the first time, unless their hosts are gone: an MPI library
        can crash in a rank because another rank died.
        """
        gone = self._examined(ranks)
        self._result.lost |= gone
        self._crashed |= set(crashed)
        for why in crashed.values():
            text = (
                f"{why}, in launch {len(self._result.runs)}. A rank can also crash because"
                " another rank was lost, so its host is measured again: see the log of that"
                " launch and the kernel logs of all its hosts"
            )
            run = with_error(self._result.runs[-1], EngineError(code="rank-lost", message=text))
            self._result.runs[-1] = run
        return True

    def _skip_what_hangs(self) -> None:
        """Skip all sizes that are larger than two sizes that have hung: each would cost a
        deadline."""
        result = self._result
        sealed = {point for point, _, _ in self._done}
        late = {
            point for point, why in result.missing.items() if why.code == "deadline" and why.reached
        }
        hang = large_messages_hang(self._points, sealed, late, result.runs)
        if hang is None:
            return
        from_bytes, error = hang
        why = Missing("deadline", f"not tried: {error.message}", reached=False)
        for point in self._points:
            if point.id not in sealed and point.message_bytes >= from_bytes:
                result.missing.setdefault(point.id, why)
        if all(known.code != error.code for run in result.runs for known in run.errors):
            result.runs[-1] = with_error(result.runs[-1], error)

    def _examined(self, ranks: tuple[int, ...]) -> dict[int, str]:
        """Return the hosts that no longer respond after a launch that identified none; empty if no
        host responds, because then no single host is the cause.
        """
        gone = self._examine(self._target, ranks)
        return gone if len(gone) < len(ranks) else {}

    def _concluded(self, trouble: str) -> CampaignResult:
        """Add the reason for every planned point without data.

        If nothing at all was measured, this is an error, never a result.
        """
        result = self._result
        if not any(run.points for run in result.runs):
            if result.ended == "interrupted":
                return result
            names = "; ".join(list(dict.fromkeys(result.lost.values()))[:4])
            raise CouldNotMeasure(trouble or names or _reason_of(result) or "nothing was measured.")
        sealed = {point for point, _, _ in self._done}
        for point in self._points:
            if point.id not in sealed:
                result.missing.setdefault(point.id, _why(point, result, trouble))
        return result


def _ranks_of(point: Point) -> set[int]:
    return {rank for pair in (*point.pairs, *point.load) for rank in pair} | set(point.members)


def _narrowed(
    rest: tuple[Point, ...], target: Target, claim: Claim, ranks: tuple[int, ...]
) -> tuple[tuple[Point, ...], Target, Claim]:
    if len(ranks) == target.size:
        return rest, target, claim
    number = {rank: index for index, rank in enumerate(ranks)}
    return (
        tuple(
            msgspec.structs.replace(
                point,
                pairs=tuple((number[a], number[b]) for a, b in point.pairs),
                load=tuple((number[a], number[b]) for a, b in point.load),
                members=tuple(number[rank] for rank in point.members),
            )
            for point in rest
        ),
        target.only(ranks),
        subset_claim(claim, ranks),
    )


def _reason_of(result: CampaignResult) -> str:
    last = result.outcomes[-1] if result.outcomes else None
    return f"{last.ending.reason} (log: {last.folder / 'engine.log'})" if last else ""


def _why(point: Point, result: CampaignResult, trouble: str) -> Missing:
    ranks = {rank for pair in point.pairs for rank in pair} | set(point.members)
    lost = [result.lost[rank] for rank in sorted(ranks & set(result.lost))]
    if lost:
        return Missing("rank-lost", lost[0])
    if trouble:
        return Missing("not-started", trouble, reached=False)
    last = result.outcomes[-1].ending if result.outcomes else Ending(ended="done", reason="")
    return last.missing(reached=False)
