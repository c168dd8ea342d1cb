"""Find the lost ranks: from their last messages, the frames, and the reports of launchers on dead
ranks and hosts. Pure.

There are three kinds of evidence, strongest first; weaker evidence counts only without stronger
evidence:

1. a launcher saw a rank end by an external signal, a daemon or a connection to a host disappear, a
   node fail; 2. at the deadline, or for a while before it, a rank was silent (or late) while the
   others reported the rank for which they waited; 3. survivors that lost a peer.

A rank that reported trouble itself is alive, whoever blames it; evidence against all ranks
identifies none.
"""

import dataclasses
import re
from collections.abc import Collection, Iterable, Sequence
from ipaddress import ip_address
from itertools import islice

from wireproof.instrument.launcher_messages import (
    Evidence,
    RankNames,
    dead_in_srun,
    killed,
    lines_of,
    lost_hosts,
    scheduler_ended,
)
from wireproof.model.plan import Plan
from wireproof.model.record import EngineError, Frame
from wireproof.model.secrets import clean_text

_MOST_EVIDENCE = 20_000
_FEW = 8  # at most one rank in eight may be reported for silence alone

_WORD = re.compile(
    r"wireproof-engine: (?:deadline|pending): rank (\d{1,7}) on \S{1,80}"
    r" (at point \d{1,18}|between points) "
    r"(?:waits for rank (\d{1,7})|waits for (the others)|is (busy) itself)(, late)?"
)
_PEER = re.compile(
    r"wireproof-engine: rank (\d{1,7}) on \S{1,80} [a-z]{2,8} [a-z0-9 ]{5,24}: "
    r"tcp-[a-z]{4,8}: (.{1,400})"
)
_PEER_RANKS = re.compile(r"^ranks? ((?:\d{1,7}[, ]{0,2}){1,20})")
_ABORT = re.compile(r"^Abort\(\d{1,12}\) on node (\d{1,7}) \(rank \d{1,7} in comm")
_FAILED_CALL = re.compile(
    r"MPI_(?:I?[Ss]end|I?[Rr]ecv)\(buf=[^,]{1,40}, count=\d{1,12}, \w{1,30}, (\d{1,7}), "
)

_ENDED = re.compile(
    r"wireproof-engine: ended: rank (\d{1,7}) on \S{1,80} (?:at point \d{1,18}|between points)"
    r" by (SIG[A-Z]{3,4})( of process \d{1,9}(?: \([ -~]{1,15}\))?)?$"
)
_PEER_HOST = re.compile(r"^\s{0,8}Peer host:\s{1,8}(\S{1,255})")


class _LastMessages:
    """The last messages of the ranks at a deadline."""

    def __init__(self, lines: Sequence[str], known: set[int]) -> None:
        self.waits: dict[int, int] = {}
        self.others: set[int] = set()
        self.busy: set[int] = set()
        self.late: set[int] = set()
        self.where = ""
        for line in lines:
            for found in _WORD.finditer(line):
                self._take(found, known)

    def _take(self, found: re.Match[str], known: set[int]) -> None:
        rank = int(found[1])
        if rank not in known:
            return
        if found[6]:
            self.late.add(rank)
            return
        self.where = self.where or (
            "of the run" if found[2].startswith("between") else f"of {found[2][3:]}"
        )
        if found[3] and int(found[3]) in known:
            self.waits[rank] = int(found[3])
        elif found[5]:
            self.busy.add(rank)
        else:
            self.others.add(rank)

    @property
    def spoken(self) -> set[int]:
        return set(self.waits) | self.others | self.busy


def _silent(last: _LastMessages, names: RankNames, time: str = "at the deadline") -> Evidence:
    """Return the ranks that were silent long enough and for which others wait; otherwise the few
    that were completely silent or busy.
    """
    if not last.spoken:
        return
    silent = set(names.host) - last.spoken
    awaited = {
        waited: rank
        for rank, waited in sorted(last.waits.items(), reverse=True)
        if waited in silent
    }
    manner = {rank: "was late to respond" if rank in last.late else "was silent" for rank in silent}
    for rank, other in sorted(awaited.items()):
        yield (
            {rank},
            f"{manner[rank]} {time} {last.where} while {names.title(other)} waited for it",
        )
    few = max(1, len(names.host) // _FEW)
    if not awaited and 0 < len(silent) <= few:
        for rank in sorted(silent):
            yield {rank}, f"{manner[rank]} {time} {last.where} while the others waited"
    elif not awaited and not silent and 0 < len(last.busy) <= few:
        why = (
            f"was busy with other work {time} {last.where} while the others waited (a driver"
            " or a file system)"
        )
        yield set(last.busy), why


def _peers_lost(lines: Sequence[str], frames: Sequence[Frame], names: RankNames) -> Evidence:
    """Return the ranks that survivors report as lost."""
    for line in lines:
        if found := _PEER.search(line):
            yield (
                named_ranks(found[2]),
                (
                    f"was lost: {names.title(int(found[1]))} lost it:"
                    f" {clean_text(found[2].encode(), 160)}"
                ),
            )
        elif found := _FAILED_CALL.search(line):
            yield (
                {int(found[1])},
                f"was lost: a message to or from it failed ({clean_text(found[0][:8].encode())})",
            )
        elif found := _PEER_HOST.search(line):
            yield names.on(found[1]), "was lost: the connection of another rank to it broke"
    for frame in frames:
        if isinstance(frame, EngineError) and frame.code in (
            "tcp-lost",
            "ofi-lost",
            "tcp-stalled",
            "tcp-absent",
        ):
            survivor = f"rank {frame.rank or 0}"
            yield (
                named_ranks(frame.message),
                f"was lost: {survivor} lost it: {clean_text(frame.message.encode(), 160)}",
            )


def named_ranks(message: str) -> set[int]:
    """Return the ranks in ``rank 5 at 10.0.0.5:4000 closed ..``, ``ranks 1 2 did not come``."""
    found = _PEER_RANKS.match(message)
    return {int(word) for word in re.findall(r"\d+", found[1])} if found else set()


def _alive(lines: Sequence[str], last: _LastMessages) -> set[int]:
    """Return the ranks that reported an error themselves."""
    own = {int(found[1]) for line in lines if (found := _PEER.search(line) or _ABORT.search(line))}
    return own | last.spoken


def _collect(
    evidence: Iterable[tuple[set[int], str]], names: RankNames, alive: Collection[int] = ()
) -> dict[int, str]:
    found: dict[int, str] = {}
    free = set(names.host).difference(alive)
    for ranks, why in islice(evidence, _MOST_EVIDENCE):
        fresh = ranks & free
        free -= fresh
        found.update((rank, f"{names.title(rank)} {why}") for rank in sorted(fresh))
    return found if len(found) < len(names.host) else {}


def silent_ranks(
    plan: Plan, frames: Sequence[Frame], signs: Sequence[str], time: str
) -> dict[int, str]:
    """Return a sentence for each rank that gave no sign of life for ``time`` while others waited.
    ``signs``: the last sign of life of each rank, if any.
    """
    names = RankNames(plan, frames)
    last = _LastMessages(signs, set(names.host))
    last.others, last.busy = last.others | last.busy, set()  # a busy rank is alive
    return _collect(_silent(last, names, time), names, last.spoken)


def lost_ranks(plan: Plan, frames: Sequence[Frame], talk: bytes) -> dict[int, str]:
    """Return for each lost rank a sentence with the reason; empty if no rank is lost, or the lost
    ranks are unknown.

    ``frames``: the frames of this run; ``talk``: standard error of launcher and ranks. Both are
    used only as far as they refer to ranks of the plan.
    """
    if scheduler_ended(talk):
        return {}
    names = RankNames(plan, frames)
    lines = list(lines_of(talk))
    last = _LastMessages(lines, set(names.host))
    strong = _collect(lost_hosts(lines, names), names) | _dead(lines, names)
    if strong and len(strong) < len(names.host):
        return dict(sorted(strong.items()))
    return _collect(_silent(last, names), names, last.spoken - last.busy) or _collect(
        _peers_lost(lines, frames, names), names, _alive(lines, last)
    )


def ended_ranks(
    plan: Plan, frames: Sequence[Frame], talk: bytes, lost: Collection[int] = ()
) -> dict[int, str]:
    """Return a sentence for each rank that received SIGTERM or SIGINT, and from which process.

    A rank that does not know the sender counts only if it is in ``lost``: a launcher outside its
    process namespace may have ended it because of another rank.
    """
    names = RankNames(plan, frames)
    seen = [found for line in lines_of(talk) for found in _ENDED.finditer(line)]
    evidence = (
        ({int(found[1])}, f"was ended by {found[2]}{found[3] or ''}")
        for found in seen
        if found[3] or int(found[1]) in lost
    )
    return _collect(evidence, names)


def crashed_ranks(plan: Plan, frames: Sequence[Frame], talk: bytes) -> set[int]:
    """Return the ranks that ended by a fault in the process, such as SIGSEGV, according to a
    launcher.

    This identifies no cause: an MPI library can crash in a survivor of another rank, and some
    launchers report only the first rank that ends.
    """
    names, lines = RankNames(plan, frames), list(lines_of(talk))
    return set(_dead(lines, names, faults=True))


def _dead(lines: Sequence[str], names: RankNames, *, faults: bool = False) -> dict[int, str]:
    """Return the ranks that died according to a launcher; ``faults``: by a fault of theirs."""
    by_launcher = _collect(killed(lines, names, faults=faults), names)
    return by_launcher | _collect(dead_in_srun(lines, names, faults=faults), names)


# --- Find ranks that have stopped: in a long point every rank reports every 1.5 s that it
# is alive.

SILENT_S = 7.0
_LEAST_SIGNS = 4
"""Number of signs of life that every other rank must have sent since the last of a rank that is
considered stopped: neither a single late line nor a pause of the reader makes a rank look stopped.
"""
_MOST_LINE = 1000
_SIGN = re.compile(rb"wireproof-engine: pending: rank (\d{1,7}) on \S{1,80} [ -~]{1,80}")


LARGE_MESSAGES_HANG = "large-messages-hang"
_MOST_PATHS = 3
_GATHER_S = 2.0
"""Time for all ranks to report the paths that drop: each looks every 1.5 s."""
_DROPS = re.compile(
    rb"wireproof-engine: drops: rank (\d{1,7}) on \S{1,80} [ -~]{1,40}: ([0-9a-f.:]{3,45})"
    rb" gets packets of (\d{1,5}) bytes and none of (\d{1,5})"
)


def _plain(address: str) -> str:
    """Return ``address`` in its usual form; anything else as it is."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return str(getattr(found, "ipv4_mapped", None) or found)


def _peer(rank: int, address: str, names: RankNames) -> str:
    """Return the host with this address: as the plan has it, or the only other host; else the
    address.
    """
    others = set(names.host.values()) - {names.host[rank]}
    hosts = ({names.host[one] for one in names.on(address)} or others) - {""}
    return hosts.pop() if len(hosts) == 1 else address


def _paths(drops: Sequence[tuple[str, str, str]]) -> str:
    """Return "the path from n1 to n2 (10.0.0.2) passes", and the host that several paths share.
    ``drops``: (from, to, address).
    """
    paths = [
        f"from {one} to {other}" + f" ({address})" * (other != address)
        for one, other, address in drops
    ]
    if len(paths) == 1:
        return f"the path {paths[0]} passes"
    shared = set.intersection(*({one, other} for one, other, _ in drops))
    more = f" and {len(paths) - _MOST_PATHS} more" * (len(paths) > _MOST_PATHS)
    end = f", all with {shared.pop()} at an end," if len(shared) == 1 else ""
    return f"the paths {', '.join(paths[:_MOST_PATHS])}{more}{end} pass"


@dataclasses.dataclass
class _Heard:
    at: float
    numbers: list[int]  # of its signs of life, counted over all ranks
    line: str


class SignsOfLife:
    """Reads the ranks' messages on standard error. ``now``: seconds of the same clock."""

    def __init__(self, plan: Plan, now: float) -> None:
        self._plan = plan
        self._simulated = plan.transport.kind in ("null", "model")
        self._part = b""
        self.moved(now)

    def moved(self, now: float) -> None:
        """Record that a point began or ended, in which all ranks took part."""
        self._heard: dict[int, _Heard] = {}
        self._begun, self._count = now, 0
        self._drops: dict[tuple[int, str], tuple[int, int]] = {}
        self._dropped_at = now

    def take(self, data: bytes, now: float) -> bytes:
        """Return ``data`` without the signs of life, which are not useful in a log."""
        *lines, part = (self._part + data).split(b"\n")
        talk = b"".join(line + b"\n" for line in lines if not self._is_sign(line, now))
        if len(part) > _MOST_LINE:
            talk, part = talk + part, b""
        self._part = part
        return talk

    def rest(self) -> bytes:
        """Return the last line if it was never completed."""
        part, self._part = self._part, b""
        return part

    def _is_sign(self, line: bytes, now: float) -> bool:
        if drops := _DROPS.fullmatch(line.rstrip(b"\r")):
            if int(drops[1]) not in RankNames(self._plan, []).host:
                return False
            self._dropped_at = self._dropped_at if self._drops else now
            self._drops[int(drops[1]), _plain(drops[2].decode())] = int(drops[3]), int(drops[4])
        found = _SIGN.fullmatch(line.rstrip(b"\r"))
        if found is None:
            return False
        self._count += 1
        before = self._heard.get(int(found[1]))
        numbers = [*(before.numbers if before else []), self._count][-_LEAST_SIGNS:]
        self._heard[int(found[1])] = _Heard(now, numbers, found[0].decode())
        return True

    def dropped(self, frames: Sequence[Frame], now: float) -> str:
        """Return a sentence that names the paths on which only small packets pass; "" if there are
        none, or more may be reported. ``frames`` name the hosts.
        """
        if not self._drops or now - self._dropped_at < _GATHER_S:
            return ""
        names = RankNames(self._plan, frames)
        paths = sorted(
            {
                (names.host[rank], _peer(rank, address, names), address)
                for rank, address in self._drops
            }
        )
        passed = min(small for small, _ in self._drops.values())
        dropped = max(large for _, large in self._drops.values())
        return clean_text(
            f"{_paths(paths)} packets of {passed} bytes and"
            f" {'drops' if len(paths) == 1 else 'drop'} those of {dropped} (an MTU black hole): set"
            " one MTU on both hosts and on every switch port and tunnel between them".encode(),
            600,
        )

    def stopped(self, frames: Sequence[Frame], now: float) -> dict[int, str]:
        """Return a sentence for each rank that has stopped; the hosts come from ``frames``."""
        if self._simulated or now - self._begun < SILENT_S:
            return {}
        alive = [one for one in self._heard.values() if now - one.at < SILENT_S]
        silent = [one for one in self._heard.values() if now - one.at >= SILENT_S]
        last = max((one.numbers[-1] for one in silent), default=0)
        if any(len([n for n in one.numbers if n > last]) < _LEAST_SIGNS for one in alive):
            return {}
        return silent_ranks(
            self._plan, frames, [one.line for one in alive], f"for {SILENT_S:.0f} s"
        )
