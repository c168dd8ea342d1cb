# pure
"""Judge ports with late counters over the whole run instead of point by point. Pure.

The engine reads once before the first point and once after the last, each time after every counter
has settled. If it had to wait for that, bytes that are missing at a point may just not be counted
yet, whatever refresh delay the catalogue lists. So the payload of all points together is compared
with the rise over the run. A point is proven by the sum if its payload exceeds everything that the
port counted beyond the minimum due, and if the port's counter rose in step with the points, by no
more than they explain: after each point it shows at most the bytes due until then, and at least the
bytes due one wait earlier. Other traffic that adds up to the run's payload rarely meets these
bounds. If it does, at every point and in both directions, these counters cannot distinguish it from
the run's payload.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from wireproof.ledger.changes import WitnessChanges
from wireproof.ledger.crossed import crossed_at, everywhere
from wireproof.model.record import PairResult, PointRecord, Total
from wireproof.model.traffic import Direction, Ledger
from wireproof.verdict.context import Context
from wireproof.verdict.path.proof import PairProof, Place, Witnessed, pair_proof
from wireproof.verdict.path.sight import STRAY_BYTES, Due, Sighting, look

_LATE = "counters-late"
_DECIDED = ("on-wire", "wrong-path", "mixed")
_MOST = 1.12
_SILENT = ("off-wire", "partly")
_LACKING = (*_SILENT, "mixed")
_LOST = ("wrapped", "dark", "blind")

# bytes per packet: Ethernet, IPv6, TCP with options; and further traffic of a stream
_HEADERS, _SPARE = 90.0, 0.02
_SMALL_MTU = 900.0
_ACKS = 0.05
_PER_MESSAGE = 300.0
OPPOSITE: dict[Direction, Direction] = {"tx": "rx", "rx": "tx"}


def summed(
    ctx: Context, points: Sequence[PointRecord], witnessed: Sequence[Witnessed]
) -> list[PairProof]:
    """Return the proofs of all pairs of all points in order, based on the run's sum if counters are
    late.
    """
    waited = {total.rank for total in ctx.run.totals if total.settled_ns > 0}
    short = (proof.code == _LATE or _lacks(proof) for seen in witnessed for proof in seen.pairs)
    if not waited and not any(short):
        return [proof for seen in witnessed for proof in seen.pairs]
    whole = _Whole(ctx, points, witnessed, waited)
    return [
        whole.proof(pair, proof, seen) if whole.may_be_late(proof, seen) else proof
        for point, seen in zip(points, witnessed, strict=True)
        for pair, proof in zip(point.pairs, seen.pairs, strict=True)
    ]


def explained(ctx: Context, point: PointRecord, seen: Witnessed, place: Place) -> float:
    """Return the largest number of bytes that a point's payload puts on a port in one direction.

    Headers and acknowledgements are included, retransmissions are not.
    """
    due = seen.dues.get(place)
    if due is None:
        return 0.0
    reader, claimed, direction = place
    back = seen.dues.get((reader, claimed, OPPOSITE[direction]))
    mtu = ctx.link.mtu if ctx.link is not None else None
    with_headers = 1.0 + _SPARE + _HEADERS / (mtu or _SMALL_MTU)
    messages = sum(pair.messages_forward + pair.messages_backward for pair in point.pairs)
    acknowledged = (back.need if back else 0.0) * _ACKS
    return due.need * with_headers + acknowledged + due.control + _PER_MESSAGE * messages


class _Whole:
    """The sum of a run at each place."""

    def __init__(
        self,
        ctx: Context,
        points: Sequence[PointRecord],
        witnessed: Sequence[Witnessed],
        waited: AbstractSet[int],
    ) -> None:
        self.ctx, self.points, self.witnessed, self.waited = ctx, points, witnessed, waited
        self.paced: dict[tuple[Place, bool], bool] = {}
        self.dues: dict[Place, Due] = {}
        self.missing: dict[Place, float] = {}
        self.shown: dict[Place, float] = {}
        self.due_shown: dict[Place, float] = {}
        self.overflown: set[Place] = set()
        for seen in witnessed:
            for place, due in seen.dues.items():
                self.dues[place] = _plus(self.dues[place], due) if place in self.dues else due
            self._count(seen)
        self.ledgers = {
            total.rank: ctx.ports[total.rank].ledger(
                WitnessChanges(total, ctx.idle.get(total.rank))
            )
            for total in ctx.run.totals
            if total.shared_with is None and total.rank in ctx.ports
        }

    def may_be_late(self, proof: PairProof, seen: Witnessed) -> bool:
        """Return whether the engine waited for the counters of an end that lacks bytes."""
        return proof.code == _LATE or any(
            self._is_late(one, seen) or self._is_open(one, seen) for one in proof.sightings
        )

    def _is_open(self, one: Sighting, seen: Witnessed) -> bool:
        """Return whether the bytes that a point lacks may nevertheless have crossed."""
        return self._made_up(one, seen) or self._unsettled(one, seen)

    def _unsettled(self, one: Sighting, seen: Witnessed) -> bool:
        """Return whether another egress port of the host has late counters without a wait, so that
        it may have carried the bytes.
        """
        ledger = self.ledgers.get(seen.reader_of.get(one.rank, -1))
        if one.kind not in _SILENT or ledger is None:
            return False
        ways = everywhere(ledger, one.direction)
        return any(way.quality == "stale" for name, way in ways.items() if name != one.nic)

    def _is_late(self, one: Sighting, seen: Witnessed) -> bool:
        """Return whether the bytes missing at this point may have been counted at another point of
        the port.
        """
        if one.kind == "stale":
            return True
        place = self._place(one, seen)
        if not _is_counted(one) or place not in self.missing or place[0] not in self.waited:
            return False
        if not self._came_late(one, place):
            return False
        own = (one.seen or 0.0) - self.missing[place]
        return one.kind != "on-wire" or own < (1 - self.ctx.criteria.stray_share) * one.need

    def _count(self, seen: Witnessed) -> None:
        """Add the bytes that one point's readings show at each place, and the bytes that they
        lack."""
        others: dict[Place, float] = {}
        for one in (one for proof in seen.pairs for one in proof.sightings):
            place = self._place(one, seen)
            self.shown[place] = self.shown.get(place, 0.0) + (one.seen or 0.0)
            self.due_shown[place] = self.due_shown.get(place, 0.0) + min(one.seen or 0.0, one.need)
            others[place] = sum(one.others.values())
            if one.kind != "on-wire" and self._fell_short(one):
                self.missing[place] = self.missing.get(place, 0.0) + one.need
            if (one.seen or 0.0) + others[place] > _MOST * one.need + STRAY_BYTES:
                self.overflown.add(place)
        for place, count in others.items():
            self.shown[place] += count

    def _came_late(self, one: Sighting, place: Place) -> bool:
        """Return whether the count of the whole run exceeds the readings of its points by enough to
        account for this point. Also true if a point showed more than its bytes.
        """
        if place[0] is None or place[0] not in self.ledgers or place not in self.dues:
            return False
        if place in self.overflown:
            return True
        whole = self._over_the_run(one, place)
        if whole.kind in _LOST:  # a counter stopped at its maximum, at an unknown point
            return True
        total = (whole.seen or 0.0) + sum(whole.others.values())
        return total - self.shown[place] > self.ctx.criteria.stray_share * one.need

    def _over_the_run(self, one: Sighting, place: Place) -> Sighting:
        """Compare the bytes due at ``place`` over the run with all that it counted."""
        ledger = self.ledgers[place[0] if place[0] is not None else one.rank]
        return look(ledger, one.rank, place[1], place[2], self.dues[place], self.ctx.criteria)

    def _made_up(self, one: Sighting, seen: Witnessed) -> bool:
        """Return whether other points show, in addition to their own bytes, the bytes that this
        point lacks. The bytes came late, even on a port whose counters count as live, or belong to
        another job: a sum does not show which.
        """
        place = self._place(one, seen)
        if one.kind not in _LACKING or place not in self.missing:
            return False
        if place[0] not in self.ledgers:
            return False
        lacking = self.ctx.criteria.on_wire_min * one.need - (one.seen or 0.0)
        ledger, name = self.ledgers[place[0]], place[1] or one.nic
        if name not in ledger.ports:
            return False
        # quiet moments may include late bytes, so count what was subtracted as background too
        crossed = crossed_at(ledger, name, place[2])
        beside = (crossed.bytes or 0.0) + crossed.background - self.due_shown[place]
        return 0 < lacking <= beside

    def _fell_short(self, one: Sighting) -> bool:
        """Return whether the end lacks bytes that may appear later; other traffic beyond all due
        bytes is not late."""
        least = self.ctx.criteria.on_wire_min * one.need
        return _is_counted(one) and one.seen is not None and one.seen < least

    def _place(self, one: Sighting, seen: Witnessed) -> Place:
        nic = self.ctx.claimed_nic(one.rank)
        return seen.reader_of.get(one.rank), nic.name if nic is not None else "", one.direction

    def proof(self, pair: PairResult, late: PairProof, seen: Witnessed) -> PairProof:
        sightings = tuple(self._again(one, seen) for one in late.sightings)
        telling = {one.kind for one in sightings if one.kind != "small"}
        if len(telling) > 1:  # over a run, all sightings must show another path, or none
            sightings = tuple(
                _stale(one) if one.kind in ("wrong-path", "mixed") else one for one in sightings
            )
        return pair_proof(self.ctx, pair, sightings)

    def _again(self, one: Sighting, seen: Witnessed) -> Sighting:
        """Return the same end and direction, judged by the whole run."""
        reader, name, direction = self._place(one, seen)
        due = self.dues.get((reader, name, direction))
        if reader is None or reader not in self.ledgers or due is None:
            return one
        if not self._is_late(one, seen):
            return _stale(one) if self._is_open(one, seen) else one
        return self._by_sum(one, (reader, name, direction), due)

    def _keeps_pace(self, one: Sighting, place: Place, kind: str) -> bool:
        """Return whether the port's counter rose in both directions in step with the points, by no
        more than they explain. The other ports are included if they carried a part.
        """
        reader, name, direction = place
        both = (place, (reader, name, OPPOSITE[direction]))
        alone = kind == "on-wire"
        return all(self._is_paced(one, each, alone=alone) for each in both if each in self.dues)

    def _is_paced(self, one: Sighting, place: Place, *, alone: bool) -> bool:
        key = (place, alone)
        if key not in self.paced:
            self.paced[key] = self._rose(one, place, alone=alone)
        return self.paced[key]

    def _rose(self, one: Sighting, place: Place, *, alone: bool) -> bool:
        """Return whether the port showed the due bytes, and no more, after every point and over the
        run. ``alone``: the port without the others.
        """
        total = next(total for total in self.ctx.run.totals if total.rank == place[0])
        most, least = 0.0, self.ctx.criteria.on_wire_min
        so_far = _so_far(self.points, total)
        due_so_far = _must_show(self.points, self.witnessed, place, total.settled_ns)
        for point, seen, sum_, must_show in zip(
            self.points, self.witnessed, so_far, due_so_far, strict=True
        ):
            most += explained(self.ctx, point, seen, place)
            shown = _carried(self._shown(sum_, one, place), alone=alone)
            if shown > most + STRAY_BYTES:
                return False
            if _is_read(point, total) and shown < least * must_show - STRAY_BYTES:
                return False
        due, whole = self.dues[place], _carried(self._over_the_run(one, place), alone=alone)
        need = due.need if due.payload is None else due.payload
        return least * need <= whole <= most + STRAY_BYTES

    def _shown(self, so_far: Total, one: Sighting, place: Place) -> Sighting:
        idle = self.ctx.idle.get(so_far.rank)
        ledger = self.ctx.ports[so_far.rank].ledger(WitnessChanges(so_far, idle))
        return look(ledger, one.rank, place[1], place[2], Due(0.0, 0.0, 0.0), self.ctx.criteria)

    def _by_sum(self, one: Sighting, place: Place, due: Due) -> Sighting:
        whole = self._over_the_run(one, place)
        found = dataclasses.replace(
            whole, need=one.need, quality="stale", remark="summed over the run"
        )
        if whole.kind in _DECIDED and not self._keeps_pace(one, place, whole.kind):
            return _stale(found, one.remark)
        if whole.kind == "wrong-path" and self._goes_on(whole, place):
            return _stale(found, one.remark)
        if whole.kind != "on-wire" or whole.seen is None:
            return found
        if sum(whole.others.values()) > max(self.ctx.criteria.stray_share * due.need, STRAY_BYTES):
            # part of each point may have used that port, with other traffic in its place here
            return _stale(found, one.remark)
        spare = max(0.0, whole.seen - due.need) + (1 - self.ctx.criteria.on_wire_min) * due.need
        return (
            found
            if one.need > spare
            else dataclasses.replace(found, kind="stale", remark=one.remark)
        )

    def _goes_on(self, whole: Sighting, place: Place) -> bool:
        """Return whether the other ports rise as fast beside each point as during it: then the
        bytes that add up to the run's payload belong to another job.
        """
        reader, _, direction = place
        ledgers = [seen.ledgers[reader] for seen in self.witnessed if reader in seen.ledgers]
        return any(
            all(_rises_beside(ledger, name, direction) for ledger in ledgers)
            for name, count in whole.others.items()
            if count > self.ctx.criteria.stray_share * whole.need
        )


def _must_show(
    points: Sequence[PointRecord], witnessed: Sequence[Witnessed], place: Place, wait_ns: float
) -> Iterator[float]:
    """Yield for each point the bytes due at points that ended one wait before its end."""
    now_ns, dues = 0.0, list[tuple[float, float]]()
    for point, seen in zip(points, witnessed, strict=True):
        now_ns += point.elapsed_ns
        due = seen.dues.get(place)
        dues.append((now_ns, due.need if due else 0.0))
        yield sum(need for end_ns, need in dues if end_ns <= now_ns - wait_ns)


def _rises_beside(ledger: Ledger, name: str, direction: Direction) -> bool:
    crossed = crossed_at(ledger, name, direction)
    return crossed.background > (crossed.bytes or 0.0)


def _is_read(point: PointRecord, total: Total) -> bool:
    """Return whether the point's reading lists counter values: it lists only counters that rose."""
    return any(one.rank == total.rank and one.counters for one in point.witness)


def _so_far(points: Sequence[PointRecord], total: Total) -> Iterator[Total]:
    """Yield the counters from the first reading until after each point, as far as they are
    known.
    """
    every = sum(point.elapsed_ns for point in points) or 1.0
    last: dict[str, int] = {}
    elapsed = 0.0
    for point in points:
        elapsed += point.elapsed_ns
        for reading in (one for one in point.witness if one.rank == total.rank):
            last |= {name: after for name, (_, after) in reading.counters.items()}
        yield msgspec.structs.replace(
            total,
            interval_ns=total.interval_ns * elapsed / every,
            counters={
                name: (first, last[name])
                for name, (first, _) in total.counters.items()
                if name in last
            },
        )


def _carried(seen: Sighting, *, alone: bool) -> float:
    """Return the bytes of the port; unless ``alone``, with those of all others."""
    return (seen.seen or 0.0) + (0.0 if alone else sum(seen.others.values()))


def _lacks(proof: PairProof) -> bool:
    """Return whether the claimed port of some end lacks bytes."""
    return any(one.kind in _LACKING for one in proof.sightings)


def _stale(one: Sighting, remark: str = "") -> Sighting:
    return dataclasses.replace(one, kind="stale", remark=remark or one.remark)


def _is_counted(one: Sighting) -> bool:
    """Return False if nothing was read or no significant amount was due: then waiting does not
    help.
    """
    return one.kind != "small" and one.seen is not None


def _plus(one: Due, other: Due) -> Due:
    packets = (
        (one.packets or 0.0) + (other.packets or 0.0) if one.packets or other.packets else None
    )
    elsewhere = {**(one.elsewhere or {})}
    for name, most in (other.elsewhere or {}).items():
        elsewhere[name] = elsewhere.get(name, 0.0) + most
    need = one.need + other.need
    bare = (
        one.payload + other.payload
        if one.payload is not None and other.payload is not None
        else None
    )
    return Due(
        need, need, one.most + other.most, one.control + other.control, packets, elsewhere, bare
    )
