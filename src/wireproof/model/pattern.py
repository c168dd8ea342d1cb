# pure
"""The catalogue of patterns, one row each, and the properties that follow from it.

The engine's engine/plan/patterns.def holds the same rows: ``wireproof-engine.nompi --patterns``
prints them, and tests/contract/test_patterns.py compares the two. A row defines one operation and
the messages of each side in it; docs/reference/engine-interface.md defines the patterns.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, get_args

import msgspec

Form = Literal["latency", "stream"]
PairPattern = Literal[
    "pingpong",
    "stream",
    "exchange",
    "put",
    "get",
    "accumulate",
    "fetch_and_op",
    "compare_and_swap",
    "persistent",
    "partitioned",
    "threads",
]
GroupPattern = Literal[
    "message_rate",
    "ring",
    "incast",
    "all_to_all",
    "congestion",
    "barrier",
    "broadcast",
    "allreduce",
    "allgather",
    "alltoall",
]
Pattern = PairPattern | GroupPattern

Access = Literal["messages", "memory", "sum", "word"]
"""How an operation reaches the other side: ``messages`` that it receives, or its exposed
``memory``: whole messages, a ``sum`` of 64-bit integers, or one ``word`` whose old value is
returned.
"""
Partners = Literal["", "neighbours", "halves", "first", "everyone", "twos"]
"""The members with which each member of a group exchanges payload, in equal parts: the next and the
previous member; the member half the group away; member 0 with each other member; all; member 2 i
with 2 i + 1. "" if the library chooses.
"""


class FormRole(NamedTuple):
    """One form of a pattern: its heading in reports, and the messages that the origin and the
    target send in one operation of a pair.
    """

    title: str
    origin_sends: int = 0
    target_sends: int = 0


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the catalogue.

    ``forms``: the forms that the pattern has, default first. ``sent``: takes the number of members
    and returns the number of messages that all of them send in one operation; for a collective, the
    minimum for any algorithm; None if the members send different numbers. ``unit_bytes``: every
    message is a multiple of it; ``least`` and ``most`` bound the sizes of a sweep. ``waits``: an
    operation of the group cannot end before something from another node arrives. ``room_for_all``:
    every member keeps a block for each other member.
    """

    kind: Literal["pair", "group", "collective"]
    forms: Mapping[Form, FormRole]
    access: Access = "messages"
    sent: Callable[[int], int] | None = None
    unit_bytes: int = 1
    least: int = 1
    most: int | None = None
    partners: Partners = ""
    waits: bool = False
    room_for_all: bool = False


_WORD_BYTES = 8
_FLOAT_BYTES = 4
_WORD: Mapping[str, Any] = {
    "access": "word",
    "unit_bytes": _WORD_BYTES,
    "least": _WORD_BYTES,
    "most": _WORD_BYTES,
}


def _collective(sent: Callable[[int], int], title: str, **more: Any) -> Traits:
    """Return the row of a collective, in which by default everybody waits for everybody."""
    row: dict[str, Any] = {"waits": True, **more}
    return Traits(kind="collective", forms={"latency": FormRole(title)}, sent=sent, **row)


CATALOGUE: Mapping[Pattern, Traits] = {
    "pingpong": Traits(
        kind="pair", forms={"latency": FormRole("Ping-pong (half round trip)", 1, 1)}, least=0
    ),
    "stream": Traits(
        kind="pair",
        forms={"stream": FormRole("Stream, one way, acknowledged at the receiver", 1, 0)},
    ),
    "exchange": Traits(
        kind="pair", forms={"stream": FormRole("Exchange, both ways at once", 1, 1)}
    ),
    "put": Traits(
        kind="pair",
        forms={
            "latency": FormRole("Put, each one flushed", 1, 0),
            "stream": FormRole("Put, one flush per window", 1, 0),
        },
        access="memory",
    ),
    "get": Traits(
        kind="pair",
        forms={
            "latency": FormRole("Get, each one flushed", 0, 1),
            "stream": FormRole("Get, one flush per window", 0, 1),
        },
        access="memory",
    ),
    "accumulate": Traits(
        kind="pair",
        forms={
            "latency": FormRole("Accumulate, each one flushed", 1, 0),
            "stream": FormRole("Accumulate, one flush per window", 1, 0),
        },
        access="sum",
        unit_bytes=_WORD_BYTES,
        least=_WORD_BYTES,
    ),
    "fetch_and_op": Traits(
        kind="pair", forms={"latency": FormRole("Fetch-and-op, each one flushed", 1, 1)}, **_WORD
    ),
    "compare_and_swap": Traits(
        kind="pair",
        forms={"latency": FormRole("Compare-and-swap, each one flushed", 1, 1)},
        **_WORD,
    ),
    "persistent": Traits(
        kind="pair",
        forms={
            "latency": FormRole("Ping-pong by persistent requests (half round trip)", 1, 1),
            "stream": FormRole("Stream by persistent requests, one way", 1, 0),
        },
    ),
    "partitioned": Traits(
        kind="pair",
        forms={
            "latency": FormRole("Ping-pong in partitions (half round trip)", 1, 1),
            "stream": FormRole("Stream in partitions, one way", 1, 0),
        },
    ),
    "threads": Traits(
        kind="pair",
        forms={
            "latency": FormRole("Ping-pong by several threads (half round trip)", 1, 1),
            "stream": FormRole("Stream by several threads, one way", 1, 0),
        },
    ),
    "message_rate": Traits(
        kind="group",
        forms={"stream": FormRole("Message rate, many pairs at once")},
        partners="halves",
        sent=lambda members: members // 2,
    ),
    "ring": Traits(
        kind="group",
        forms={"latency": FormRole("Ring")},
        partners="neighbours",
        sent=lambda members: 2 * members,
        waits=True,
    ),
    "incast": Traits(
        kind="group",
        forms={"stream": FormRole("Incast, all to one")},
        partners="first",
        sent=lambda members: members - 1,
    ),
    "all_to_all": Traits(
        kind="group",
        forms={"stream": FormRole("All to all, point to point")},
        partners="everyone",
        sent=lambda members: members * (members - 1),
        waits=True,
        room_for_all=True,
    ),
    "congestion": Traits(
        kind="group",
        forms={"latency": FormRole("Congestion: half round trips, quiet and loaded")},
        partners="twos",
        waits=True,
    ),
    "barrier": _collective(lambda members: 0, "Barrier", least=0, most=0),
    "broadcast": _collective(lambda members: 1, "Broadcast", waits=False),
    "allreduce": _collective(
        lambda members: members, "Allreduce", unit_bytes=_FLOAT_BYTES, least=_FLOAT_BYTES
    ),
    "allgather": _collective(lambda members: members, "Allgather", room_for_all=True),
    "alltoall": _collective(lambda members: members * (members - 1), "Alltoall", room_for_all=True),
}
"""Reports, help and the engine's list use this order."""

PAIR_PATTERNS: tuple[PairPattern, ...] = get_args(PairPattern)
GROUP_PATTERNS: tuple[GroupPattern, ...] = get_args(GroupPattern)
COLLECTIVES = tuple(name for name, row in CATALOGUE.items() if row.kind == "collective")
FORMS: dict[str, tuple[Form, ...]] = {name: tuple(CATALOGUE[name].forms) for name in PAIR_PATTERNS}
"""The forms of each pair pattern, default first."""
TWO_FORMS = tuple(name for name, forms in FORMS.items() if len(forms) > 1)
"""The patterns for which ``form`` selects one of two forms; all others have only one."""


def _row(pattern: str) -> Traits | None:
    return CATALOGUE.get(pattern)  # type: ignore[call-overload, no-any-return]


def _in_form(pattern: str, form: str) -> tuple[Traits | None, str]:
    """Return the row of a pair pattern (None for other patterns) and the form that applies: the
    requested form if the pattern has it, otherwise the first.
    """
    row = _row(pattern)
    if row is None or row.kind != "pair":
        return None, form
    return row, form if form in row.forms else next(iter(row.forms))


def is_remote(pattern: str) -> bool:
    """Return True if the origin works in the target's exposed memory."""
    row = _row(pattern)
    return row is not None and row.access != "messages"


def is_word_atomic(pattern: str) -> bool:
    """Return True if the operation sends a word and gets the old word back, so that no operation is
    shorter than a round trip.
    """
    row = _row(pattern)
    return row is not None and row.access == "word"


def is_round_trip(pattern: str, form: str) -> bool:
    """Return True if an operation is a message in each direction and its number is half of its
    time.
    """
    row, form = _in_form(pattern, form)
    return row is not None and row.access == "messages" and form == "latency"


def waits_for_each(pattern: str, form: str) -> bool:
    """Return True if the origin waits for the answer to each operation, so latency bounds the time
    from below.
    """
    row, form = _in_form(pattern, form)
    return row is not None and form == "latency"


def crossings(pattern: str, form: str) -> int:
    """Return the number of consecutive crossings of the link that complete an operation; 0 if
    operations do not wait.
    """
    return 0 if not waits_for_each(pattern, form) else 2 if is_word_atomic(pattern) else 1


def answers(pattern: str, form: str) -> bool:
    """Return True if each message is answered before the next is sent, so that no two messages
    share a packet.
    """
    row, form = _in_form(pattern, form)
    return row is not None and form == "latency" and row.forms["latency"][1:] == (1, 1)


def is_rate(pattern: str, form: str) -> bool:
    """Return True if the pattern is judged as goodput: several operations are in flight at a
    time.
    """
    row, form = _in_form(pattern, form)
    return row is not None and form == "stream"


def one_way(pattern: str, form: str) -> bool:
    """Return True for a rate in one direction of the link. ``accumulate`` is not included: the
    processor that adds may limit its rate.
    """
    row, form = _in_form(pattern, form)
    if row is None or form != "stream" or row.access == "sum":
        return False
    return row.forms["stream"][1:] == (1, 0)


def fits(pattern: Pattern, message_bytes: int) -> bool:
    """Return True if a sweep measures messages of this size."""
    row = CATALOGUE[pattern]
    most = message_bytes if row.most is None else row.most
    return row.least <= message_bytes <= most and message_bytes % row.unit_bytes == 0


def title_of(pattern: str, form: str) -> str:
    """Return the heading for a pattern's results; ``form`` is ignored for a group."""
    row = _row(pattern)
    if row is None:
        return pattern
    if row.kind != "pair":
        return next(iter(row.forms.values())).title
    role = row.forms.get(form)  # type: ignore[call-overload]
    return f"{pattern}, {form}" if role is None else role.title


def place_of(pattern: str, form: str = "") -> int:
    """Return the position of a pattern's results in reports: catalogue order, default form first,
    unknown patterns last.
    """
    rows = [(name, one) for name, row in CATALOGUE.items() for one in row.forms]
    places = [at for at, (name, one) in enumerate(rows) if name == pattern and form in ("", one)]
    return min(places, default=len(rows))
