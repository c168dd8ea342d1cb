"""``place``: find where a measured number lies among published numbers. Pure.

Each source has one vote. With fewer than ``LEAST`` sources, no conclusion is drawn.
"""

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from msgspec.structs import replace

from wireproof.atlas.known import Atlas, Known, Layer
from wireproof.model.atlas import Near, Place, Quantity
from wireproof.model.claim import LinkClaim
from wireproof.model.quantity import counted, short_time, throughput
from wireproof.model.quantity import size as size_text

LEAST = 5
"""Fewest sources for a percentile."""
_NEAREST = 3
Votes = dict[str, list[tuple[float, Known]]]
"""The numbers of each source, with their series."""
_SAME = 0.05  # numbers within this share are equal
_OUTRUN = 0.8
"""Share of the fastest published time; no wire of this kind has been quicker yet."""


def place(
    atlas: Atlas,
    link: LinkClaim,
    pattern: str,
    message_bytes: int,
    *,
    time_ns: float | None = None,
    goodput: float | None = None,
    layer: Layer = "mpi",
) -> Place | None:
    """Return where ``time_ns`` (half a round trip of ``pingpong``) or ``goodput`` (bytes/s one way)
    lies.

    None if no published number is comparable.
    """
    quantity: Quantity = "goodput" if time_ns is None else "time"
    value = goodput if time_ns is None else time_ns
    votes: Votes = defaultdict(list)
    for one in atlas.comparable(link, pattern, layer):
        if (number := one.at(quantity, message_bytes)) is not None:
            votes[one.source.id].append((number, one))
    if not votes or not value:
        return None
    return _with_sentence(_placed(votes, link.name, pattern, message_bytes, quantity, value))


def _placed(
    votes: Votes, link: str, pattern: str, size: int, quantity: Quantity, value: float
) -> Place:
    every = [each for some in votes.values() for each in some]
    ordered = sorted(
        (median(number for number, _ in some) for some in votes.values()),
        reverse=quantity == "goodput",
    )
    share = _faster_than(list(votes.values()), quantity, value)
    return Place(
        link=link,
        pattern=pattern,
        quantity=quantity,
        message_bytes=size,
        value=value,
        sources=len(votes),
        rows=len(every),
        faster_than=share if len(votes) >= LEAST else None,
        as_slow=sum(_as_slow(some, quantity, value) for some in votes.values()),
        usual=len(votes) >= LEAST
        and _ratio(quantity, value, ordered[len(ordered) // 2]) >= 1 - _SAME,
        values=ordered,
        nearest=_nearest(every, value),
        sentence="",
        files=sorted({one.file for _, one in every if one.file}),
    )


def _faster_than(
    votes: Sequence[Sequence[tuple[float, Known]]], quantity: Quantity, value: float
) -> float:
    """Return the share of slower sources; a source with numbers on both sides counts in part."""
    total = 0.0
    for some in votes:
        slower = sum(_slower(number, value, quantity) for number, _ in some)
        same = sum(number == value for number, _ in some)
        total += (slower + same / 2) / len(some)
    return total / len(votes)


def _slower(number: float, value: float, quantity: Quantity) -> bool:
    return number > value if quantity == "time" else number < value


def _nearest(every: Sequence[tuple[float, Known]], value: float) -> list[Near]:
    """Return the nearest number of each of the nearest sources."""
    ordered = sorted(every, key=lambda each: max(each[0], value) / min(each[0], value))
    first = {one.source.id: (number, one) for number, one in reversed(ordered)}
    chosen = sorted(first.values(), key=lambda each: ordered.index(each))[:_NEAREST]
    return [
        Near(
            source=one.source.id,
            value=number,
            adapter=one.series.adapter,
            mpi=one.series.mpi,
            date=one.source.date,
            file=one.file,
        )
        for number, one in chosen
    ]


def _with_sentence(found: Place) -> Place:
    shown = short_time if found.quantity == "time" else throughput
    what = f"{found.link} {found.pattern} of {size_text(found.message_bytes)}"
    number = counted(found.sources, "published source")
    near = ", ".join(
        f"{shown(one.value)} ({one.source}{', of the site' if one.file else ''})"
        for one in found.nearest
    )
    if found.faster_than is None:
        text = (
            f"{shown(found.value)} for {what}: {number} ({_span(found)}), too few to say what is "
            "usual: only the limits judge"
        )
    else:
        text = (
            f"{shown(found.value)} for {what}: faster than {found.faster_than:.0%} of {number} "
            f"({_span(found)}); nearest: {near}"
        )
    return replace(found, sentence=text)


def _span(found: Place) -> str:
    shown = short_time if found.quantity == "time" else throughput
    fast, slow = shown(found.values[0]), shown(found.values[-1])
    return fast if fast == slow else f"{fast} to {slow}"


def _ratio(quantity: Quantity, value: float, other: float) -> float:
    """Return how many times as fast as ``other`` the value is."""
    return other / value if quantity == "time" else value / other


def _as_slow(some: Sequence[tuple[float, Known]], quantity: Quantity, value: float) -> bool:
    return any(_ratio(quantity, value, number) >= 1 - _SAME for number, _ in some)


def outruns_all(found: Place, *, likely: bool = False) -> bool:
    """Return True for a time much shorter than all of enough published times.

    Any shorter time counts if it is ``likely`` that two ranks shared a host.
    """
    enough = found.faster_than is not None and found.quantity == "time"
    return enough and found.value < (1.0 if likely else _OUTRUN) * found.values[0]


def trails_all(found: Place) -> bool:
    """Return True if the number is below all of enough published numbers."""
    return found.faster_than is not None and not found.as_slow
