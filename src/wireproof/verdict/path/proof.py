# pure
"""Find out whether the bytes used the wire: compare the payload with the ledgers of both ends, per
port and direction.

Each end and direction is one sighting. ``need`` is the minimum that must have crossed: the payload,
and for a ping-pong one header per message because its messages cannot be merged. The maximum adds a
header allowance per message and acknowledgements. All shares below are shares of ``need``.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from wireproof.ledger.traffic import readers, watch
from wireproof.model.finding import Proof
from wireproof.model.pattern import answers
from wireproof.model.record import Nic, PairResult, PointRecord
from wireproof.model.traffic import LEVELS, QUALITIES, Direction, Ledger, Level, Quality
from wireproof.physics.framing import LEAST_HEADER
from wireproof.verdict.context import Context
from wireproof.verdict.path import Identity, inside_adapter
from wireproof.verdict.path.sight import Due, Sighting, blindly, look

# bytes per message: Ethernet, IP, TCP, MPI envelope, delayed acknowledgement
HEADER_ALLOWANCE = 300
# acknowledgements of a stream: 66 B for one or two segments, more for small RDMA packets
_ACK_SHARE = 0.08
CONTROL_BYTES = 262_144
"""Control traffic of wireproof itself during one point, bytes."""
CONTROL_RATE = 500_000  # bytes/s of control traffic in a long point


@dataclass(frozen=True, slots=True)
class PairProof:
    """The verdict on the path of one pair at one point.

    ``expected`` and ``seen``: the busier direction at the end that saw less. ``level``,
    ``quality``: the weakest of the evidence.
    """

    proof: Proof
    code: str
    sightings: tuple[Sighting, ...]
    expected: int | None
    seen: int | None
    level: Level | None = None
    quality: Quality | None = None


Place = tuple[int | None, str, Direction]
"""Reader rank, claimed port ("" = none claimed) and direction."""


@dataclass(frozen=True, slots=True)
class Witnessed:
    """A point's ledgers by reader rank, the path of each of its pairs in order, and the bytes due
    at each port.
    """

    ledgers: dict[int, Ledger]
    pairs: list[PairProof]
    reader_of: dict[int, int]
    dues: Mapping[Place, Due]


def prove(ctx: Context, point: PointRecord) -> Witnessed:
    """Compare a point's payload with the counters."""
    reader_of = readers(point, ctx.hosts)
    ledgers = {} if ctx.moves_nothing else watch(point, ctx.ports, ctx.idle_of(reader_of))
    desk = _Desk(ctx, point, reader_of, ledgers)
    return Witnessed(ledgers, [desk.pair(pair) for pair in point.pairs], reader_of, desk.known)


class _Desk:
    """A point together with its ledgers."""

    def __init__(
        self,
        ctx: Context,
        point: PointRecord,
        reader_of: Mapping[int, int],
        ledgers: Mapping[int, Ledger],
    ) -> None:
        self.ctx, self.point, self.reader_of, self.ledgers = ctx, point, reader_of, ledgers
        self.known: dict[Place, Due] = {}
        self.ends: dict[int, list[tuple[PairResult, int]]] = defaultdict(list)
        for pair in point.pairs:
            for end in (pair.origin, pair.target):
                self.ends[reader_of.get(end, -1)].append((pair, end))

    def pair(self, pair: PairResult) -> PairProof:
        if self.ctx.moves_nothing:
            return PairProof("unproven", "instrument-only", (), None, None)
        if self._together(pair):
            return self._on_one_machine(pair)
        o, t = pair.origin, pair.target
        views: tuple[tuple[int, Direction], ...] = ((o, "tx"), (t, "rx"), (t, "tx"), (o, "rx"))
        sightings = tuple(self._sighting(rank, pair, direction) for rank, direction in views)
        return pair_proof(self.ctx, pair, sightings)

    def _one_reader(self, pair: PairResult) -> bool:
        """Return whether one reading covers both ranks, so that their traffic passes no port."""
        return self.reader_of.get(pair.origin, -1) == self.reader_of.get(pair.target, -2)

    def _together(self, pair: PairResult) -> bool:
        same = self.ctx.same_machine(pair.origin, pair.target)
        return same is True or (self._one_reader(pair) and same is not False)

    def _on_one_machine(self, pair: PairResult) -> PairProof:
        """Return the proof for two ranks on one machine. No counter can prove a wire here; the
        counters only distinguish shared memory from loopback.

        Two machines with the same identity (cloned while running) are detected by two separate
        readings that both saw the bytes cross.
        """
        if not self._one_reader(pair) and self.ctx.hostnames_differ(pair.origin, pair.target):
            views: tuple[tuple[int, Direction], ...] = ((pair.origin, "tx"), (pair.target, "rx"))
            both = tuple(self._sighting(rank, pair, direction) for rank, direction in views)
            if all(one.kind == "on-wire" for one in both):
                return PairProof(
                    "unproven", "identity-shared", both, *_busier(both), *weakest(both)
                )
        sightings = tuple(self._sighting(rank, pair, "tx") for rank in (pair.origin, pair.target))
        need = max(s.need for s in sightings)
        code = (
            "loopback"
            if any(s.loopback >= 0.5 * max(need, 1.0) for s in sightings)
            else "shared-memory-suspected"
        )
        return PairProof("off-wire", code, sightings, *_busier(sightings))

    def _sighting(self, rank: int, pair: PairResult, direction: Direction) -> Sighting:
        ledger, nic = self.ledgers.get(self.reader_of.get(rank, -1)), self.ctx.claimed_nic(rank)
        name = nic.name if nic is not None else ""
        due = replace(self._due(rank, direction), own=self._need(pair, rank, direction))
        if ledger is None or (nic is None and self.ctx.claims_a_nic(rank)):
            remark = (
                "its counters were not read" if ledger is None else "the claimed NIC does not exist"
            )
            return blindly(rank, name, direction, due, self.ctx.criteria, remark)
        return look(ledger, rank, name, direction, due, self.ctx.criteria)

    def _due(self, rank: int, direction: Direction) -> Due:
        """Return the bytes due at the claimed port of the rank's namespace for all pairs of the
        point.
        """
        reader, nic = self.reader_of.get(rank), self.ctx.claimed_nic(rank)
        key = (reader, nic.name if nic else "", direction)
        if key not in self.known:
            names = {self._name(end) for _, end in self._ends(reader)} - {key[1], ""}
            elsewhere = (
                {name: self._summed(reader, name, direction).most for name in sorted(names)}
                if nic
                else {}
            )
            self.known[key] = replace(self._summed(reader, key[1], direction), elsewhere=elsewhere)
        return self.known[key]

    def _ends(self, reader: int | None) -> Sequence[tuple[PairResult, int]]:
        """Return the pairs of the point, each with the end that one reading covers."""
        return self.ends.get(reader, ()) if reader is not None else ()

    def _name(self, rank: int) -> str:
        nic: Nic | None = self.ctx.claimed_nic(rank)
        return nic.name if nic is not None else ""

    def _summed(self, reader: int | None, name: str, direction: Direction) -> Due:
        need = payload = both = 0.0
        messages = waited = 0
        for pair, end in self._ends(reader):
            if self._name(end) != name or self._one_reader(pair):
                continue
            need += self._need(pair, end, direction)
            sent, count = self._moved(pair, end, direction)
            payload, waited = payload + sent, waited + count
            both += pair.payload_forward_bytes + pair.payload_backward_bytes
            messages += pair.messages_forward + pair.messages_backward
        control = CONTROL_BYTES + CONTROL_RATE * self.point.elapsed_ns * 1e-9
        most = (
            payload * self.ctx.criteria.on_wire_max
            + both * _ACK_SHARE
            + messages * HEADER_ALLOWANCE
            + control
        )
        apart = answers(self.point.pattern, self.point.form)  # such messages cannot be merged
        return Due(need, need, most, control, float(waited) if apart else None, payload=payload)

    def _moved(self, pair: PairResult, rank: int, direction: Direction) -> tuple[int, int]:
        """Return (bytes, messages) that a rank moved in one direction."""
        if (rank == pair.origin) == (direction == "tx"):
            return pair.payload_forward_bytes, pair.messages_forward
        return pair.payload_backward_bytes, pair.messages_backward

    def _need(self, pair: PairResult, rank: int, direction: Direction) -> float:
        payload, count = self._moved(pair, rank, direction)
        apart = answers(self.point.pattern, self.point.form)
        return float(payload + (count * LEAST_HEADER if apart else 0))


def pair_proof(ctx: Context, pair: PairResult, sightings: tuple[Sighting, ...]) -> PairProof:
    """Return the proof for a pair on two hosts from its four sightings."""
    proof, code = conclude(sightings, _believed_remote(ctx, pair))
    level, quality = weakest(sightings)
    if proof == "on-wire" and may_be_inside(ctx, sightings, lambda rank: rank):
        proof, code = "unproven", "same-adapter"
    expected, seen = _busier(sightings)
    return PairProof(proof, code, sightings, expected, seen, level, quality)


def may_be_inside(
    ctx: Context, sightings: Sequence[Sighting], node_of: Callable[[int], int]
) -> bool:
    """Return whether the bytes between nodes may have stayed inside one adapter."""
    behind: dict[int, set[Identity]] = defaultdict(set)
    for one in sightings:
        behind[node_of(one.rank)] |= ctx.adapter_of(one.rank, one.nic)
    masked = (one.masked for one in sightings)
    return inside_adapter(weakest(sightings)[0], list(behind.values()), masked)


def _believed_remote(ctx: Context, pair: PairResult) -> bool | None:
    shared = [ctx.hosts[r].shared_ranks for r in (pair.origin, pair.target) if r in ctx.hosts]
    known = [count for count in shared if count is not None]
    return None if not known else max(known) <= 1


def weakest(sightings: Sequence[Sighting]) -> tuple[Level | None, Quality | None]:
    """Return level and quality of the weakest evidence among the sightings that say anything."""
    telling = [one for one in sightings if one.kind not in ("small", "blind")]
    if not telling:
        return None, None
    return (
        max((one.level for one in telling), key=LEVELS.index),
        max((one.quality for one in telling), key=QUALITIES.index),
    )


_ELSEWHERE: tuple[tuple[str, tuple[Proof, str]], ...] = (
    ("wrong-path", ("wrong-path", "wrong-path")),
    ("mixed", ("mixed", "striped")),
    ("partly", ("mixed", "partly-off-wire")),
)
_UNKNOWN: tuple[tuple[str, str], ...] = (
    ("wrapped", "counter-wrapped"),
    ("stale", "counters-late"),
    ("unknown", "adapter-unknown"),
    ("blind", "unproven-no-counters"),
    ("dark", "port-uncounted"),
    ("background", "background-traffic"),
)


def conclude(sightings: tuple[Sighting, ...], believed_remote: bool | None) -> tuple[Proof, str]:
    """Return the proof and the code of the problem ("" if there is none): the worst sighting
    decides.
    """
    telling = [s for s in sightings if s.kind != "small"]
    kinds = {s.kind for s in telling}
    if not kinds:
        return "unproven", "unproven-too-few-bytes"
    if "on-wire" not in kinds and kinds & {"off-wire", "loopback"}:
        # no port moved at one end, so the bytes of another port at the other end were not this
        # traffic
        kinds -= {"wrong-path"}
    elsewhere = next((found for kind, found in _ELSEWHERE if kind in kinds), None)
    if elsewhere is not None:
        return _unless_whole(elsewhere, telling)
    if "on-wire" not in kinds:
        if "inside" in kinds and not kinds & {"stale", "background"}:
            return "off-wire", "inside-adapter"
        if "loopback" in kinds:
            return "off-wire", "loopback"
    if kinds <= {"off-wire"}:
        silent = {None: "off-wire", True: "nolocal-shm", False: "shared-memory-suspected"}
        return "off-wire", silent[believed_remote]
    return _undecided(kinds, telling)


def _unless_whole(found: tuple[Proof, str], sightings: Sequence[Sighting]) -> tuple[Proof, str]:
    """Return ``found``, unless the other end of each sighting that lacks bytes counted everything
    or is late: somebody may have reset a counter.
    """
    whole = [one for one in sightings if one.kind in ("on-wire", "stale")]
    doubted = all(
        any(other.rank != one.rank and other.direction != one.direction for other in whole)
        for one in sightings
        if one.kind in ("partly", "mixed")
    )
    disagree = found[0] == "mixed" and doubted
    return ("unproven", "ends-disagree") if disagree else found


def _undecided(kinds: set[str], telling: Sequence[Sighting]) -> tuple[Proof, str]:
    silent = kinds & {"off-wire", "loopback", "inside"}
    if silent and "on-wire" in kinds:
        return "unproven", "ends-disagree"
    if silent and not kinds & {"unknown", "dark", "stale", "background"}:
        return "off-wire", "off-wire"
    for kind, code in _UNKNOWN:
        if kind in kinds:
            return "unproven", code
    if all(one.rival for one in telling):
        return "unproven", "rival-port"
    return "on-wire", ""


def _busier(sightings: tuple[Sighting, ...]) -> tuple[int | None, int | None]:
    if not sightings:
        return None, None
    need = max(s.need for s in sightings)
    known = [s.seen for s in sightings if s.need == need and s.seen is not None]
    return int(need), int(min(known)) if known else None
