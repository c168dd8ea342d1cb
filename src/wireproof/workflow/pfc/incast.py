"""Our own load: many hosts stream to one, and each of some hosts is that one for a part of the
time, so that all are compared alike.

MPI has the pattern ``incast``; transports that know pairs only have a rank on the receiver for each
sender instead, all pairs at once.
"""

from __future__ import annotations

import dataclasses

import msgspec

from wireproof.instrument.ending import Ending
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.pfc import PfcLoad
from wireproof.model.plan import Point
from wireproof.model.record import PointRecord
from wireproof.plan.pace import paced
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.result_folder import result_folder
from wireproof.workflow.session.run import run_session
from wireproof.workflow.specification import Method, Storage
from wireproof.workflow.target.target import Target

__all__ = ["MOST_SENDERS", "Incast", "check_incast", "incast_points", "run_incast"]

MOST_SENDERS = 16
"""At once, where nobody says: a switch's buffer is under pressure with two."""
MOST_PAIRS = 4
"""The same, where each sender needs a rank of its own on every host."""
LEAST_SENDERS = 2
_LEAST_POINT_S = 1.0
_MESSAGE_BYTES = 1 << 20
_TO_THE_END = 1_000_000_000
"""Operations: precision must not end a load early."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Incast:
    """``senders`` None: all the other hosts, at most ``MOST_SENDERS``."""

    method: Method
    seconds: float = 10.0
    senders: int | None = None


def check_incast(hosts: int, senders: int | None, most: int = MOST_SENDERS) -> int:
    """How many send at once. Raises ``BadInput`` where no incast can be made."""
    if hosts < LEAST_SENDERS + 1:
        have = f"{hosts} host{'s are' if hosts != 1 else ' is'}" if hosts else "no hosts are"
        raise BadInput(
            f"an incast needs two senders and a receiver, three --hosts, and {have} given: or"
            " watch another load, by -- COMMAND or --no-load."
        )
    if senders is not None and not LEAST_SENDERS <= senders < hosts:
        raise BadInput(
            f"--senders {senders} is out of range: of {hosts} hosts 2 to {hosts - 1} can send to"
            " one."
        )
    return senders if senders is not None else min(hosts - 1, most)


def incast_points(
    hosts: int, senders: int, seconds: float, *, by_pairs: bool = False
) -> list[Point]:
    """One point for each receiver: all hosts where each has a second, else some, evenly spaced; its
    senders are those that follow it. ``by_pairs``: each host has ``senders`` ranks, neighbours by
    number.
    """
    count = max(1, min(hosts, int(seconds / _LEAST_POINT_S)))
    budget_ms = max(1, round(1000 * seconds / count))
    points = []
    for number in range(count):
        members = [(number * hosts // count + each) % hosts for each in range(senders + 1)]
        receiver, *others = members
        pairs = [(other * senders, receiver * senders + i) for i, other in enumerate(others)]
        points.append(
            Point(
                id=number,
                pattern="stream" if by_pairs else "incast",
                message_bytes=_MESSAGE_BYTES,
                pairs=tuple(pairs) if by_pairs else (),
                members=() if by_pairs else tuple(members),
                form="stream",
                budget_ms=budget_ms,
                least_operations=_TO_THE_END,
            )
        )
    return points


def run_incast(wanted: Incast, target: Target, reporter: Reporter) -> PfcLoad:
    """Raises ``CouldNotMeasure`` where it does not run."""
    hosts = len(target.hosts)
    by_pairs = wanted.method.transport != "mpi"
    senders = check_incast(hosts, wanted.senders, MOST_PAIRS if by_pairs else MOST_SENDERS)
    points = incast_points(hosts, senders, wanted.seconds, by_pairs=by_pairs)
    ranks = target.spread(senders) if by_pairs else target
    storage = Storage(kept=False)
    method = wanted.method
    policy = target.pinned(paced(method.policy(), target.claimed_rate))
    deadline_ms = round(10_000 * wanted.seconds) + 30_000
    policy = msgspec.structs.replace(policy, point_deadline_ms=deadline_ms)
    title = f"incast, {senders} senders to each of {len(points)} hosts in turn"
    with result_folder(storage, "pfc", reporter) as folder:
        session = method.session(
            title,
            points,
            policy=policy,
            seed=method.chosen_seed(),
            out=folder / "run",
            storage=storage,
        )
        section, outcomes = run_session(session, ranks, reporter)
    if outcomes[-1].ending.ended == "interrupted":
        raise KeyboardInterrupt
    ran = [point for one in outcomes for point in one.run.points if point.pairs or point.group]
    if not ran:
        raise CouldNotMeasure("the incast did not run on any host.")
    receivers = [ranks.hosts[_receiver(point)] for point in ran]
    return PfcLoad(
        kind="incast",
        receivers=receivers,
        senders=senders,
        seconds=sum(point.elapsed_ns for point in ran) / 1e9,
        transport=method.transport,
        proof=section.judgement.proof,
        trouble=_trouble(outcomes[-1].ending, len(points) - len(ran)),
    )


def _trouble(ending: Ending, missing: int) -> str:
    if ending.ended == "done" and not missing:
        return ""
    return f"the incast did not run to its end: {ending.reason or f'{missing} hosts had no turn'}"


def _receiver(point: PointRecord) -> int:
    """The rank that all others sent to, or one of its host."""
    return point.group.members[0] if point.group is not None else point.pairs[0].target
