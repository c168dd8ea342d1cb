# pure
"""Read the knobs of a library from TOML and choose which knobs and values vary. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from wireproof.experiment.study import Configuration, Knob, Library
from wireproof.model import quantity
from wireproof.model.errors import BadInput, suggestion
from wireproof.model.pattern import Form, GroupPattern, Pattern
from wireproof.model.plan import Point
from wireproof.model.toml import at_field, once, read_rows, read_struct

MOST = 64
"""Largest number of values in a study besides the base; each costs a launch in every round."""
MOST_VALUES = 16
LONGEST = 1024
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,39}", re.ASCII)
_NAME = re.compile(r"[A-Z][A-Za-z0-9_]{1,127}", re.ASCII)


def library_of(text: str, source: str) -> Library:
    """Return the library that a TOML document describes.

    Raises ``BadInput`` with ``source`` and the place of the mistake.
    """
    found = read_struct(text, source, Library)
    try:
        _check_library(found)
    except ValueError as error:
        raise at_field(text, source, error) from error
    check = partial(_check_knob, found, set())
    read_rows(text, source, "knob", Knob, Library.__struct_fields__, check)
    return found


def _check_library(library: Library) -> None:
    if _ID.fullmatch(library.id) is None:
        raise ValueError(f"'id' is {library.id[:40]!r}: use lower-case letters, digits, and -")
    for pattern in library.says.values():
        _expression(pattern, "says", group="value")
    if library.rank:
        _expression(library.rank, "rank", group="rank")
    for pattern in library.complaints:
        _expression(pattern, "complaints")


def _check_knob(library: Library, known: set[str], knob: Knob) -> None:
    if _NAME.fullmatch(knob.name) is None:
        raise ValueError(f"'name' is {knob.name[:40]!r}, which is not a variable's name")
    once(known, knob.name, "knob")
    _expression(knob.valid, "valid")
    for pattern in knob.moves:
        if pattern not in PATTERNS:
            raise ValueError(
                f"'moves': no pattern {pattern[:40]!r}; there are {', '.join(PATTERNS)}"
            )
    for reading in knob.read:
        if reading.of not in library.says and not library.reader:
            raise ValueError(f"'read' has the kind {reading.of[:40]!r}, which 'says' lacks")
        for pattern in reading.expect.values():
            _expression(pattern, "read")


def _expression(pattern: str, field: str, group: str = "") -> None:
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(
            f"{field!r}: {pattern[:60]!r} is not a regular expression ({error})"
        ) from error
    if group and group not in compiled.groupindex:
        raise ValueError(f"{field!r}: the regular expression has no group (?P<{group}>...)")


def chosen(
    library: Library, names: Sequence[str], values: Mapping[str, Sequence[str]]
) -> list[Knob]:
    """Return the knobs called ``names`` (default: all, or those in ``values``), with ``values``
    replacing theirs.

    Raises ``BadInput``.
    """
    known = {knob.name: knob for knob in library.knob}
    wanted = list(names) or list(known)
    if values and not names:
        wanted = list(values)
    for name in (*wanted, *values):
        if name not in known:
            raise BadInput(_unknown(name, known, library))
    wanted += [name for name in values if name not in wanted]
    return [_with(known[name], values.get(name, ())) for name in dict.fromkeys(wanted)]


def _unknown(name: str, known: Iterable[str], library: Library) -> str:
    return f"the study {library.id} has no knob {name[:60]!r}; {suggestion(name, known)}"


def _with(knob: Knob, values: Sequence[str]) -> Knob:
    if not values:
        return knob
    for value in values:
        plain = value.isprintable() and len(value) <= LONGEST
        if not plain or re.fullmatch(knob.valid, value) is None:
            raise BadInput(
                f"{knob.name}: {value[:40]!r} is not a valid value: {knob.what} ({knob.valid})."
            )
    if len(set(values)) != len(values) or len(values) > MOST_VALUES:
        raise BadInput(f"{knob.name}: give at most {MOST_VALUES} different values.")
    return msgspec.structs.replace(knob, values=tuple(values))


def configurations(
    knobs: Sequence[Knob], rails: Sequence[str], base: Mapping[str, str]
) -> tuple[list[Configuration], list[str]]:
    """Return the base and one configuration for each value, and a sentence for each knob that was
    left out.

    ``rails``: NICs that the library may use. ``base``: variables of every run. A value that the
    base already has is not a separate configuration.
    """
    found, left = [Configuration()], []
    for knob in knobs:
        if len(rails) < knob.rails:
            there = f"only {rails[0]}" if rails else "none"
            left.append(
                f"{knob.name} is left out: it needs {knob.rails} rails, and the hosts have {there}."
            )
            continue
        for value in _expanded(knob.values, rails):
            alongside = {name: _filled(text, rails) for name, text in knob.alongside.items()}
            variables = {**alongside, knob.name: value}
            changed = {k: v for k, v in variables.items() if base.get(k) != v}
            if knob.name in changed:
                found.append(Configuration(knob=knob.name, value=value, variables=changed))
            else:
                left.append(f"{knob.name}={value} is left out: every run has it.")
    if not 1 < len(found) <= MOST + 1:
        why = " ".join(left) or "no knob has a value to try."
        raise BadInput(why if len(found) < 2 else f"{len(found) - 1} values: give at most {MOST}.")
    return found, left


def _expanded(values: Iterable[str], rails: Sequence[str]) -> list[str]:
    found: list[str] = []
    for value in values:
        each = rails if "{nic}" in value else ("",)
        found += [_filled(value, rails).replace("{nic}", nic) for nic in each]
    return [value for value in dict.fromkeys(found) if value]


def _filled(value: str, rails: Sequence[str]) -> str:
    """{nics}: all rails, separated by commas. {rails}: a pattern that matches each of them."""
    pattern = rails[0] if len(rails) == 1 else f"@({'|'.join(rails)})"
    return value.replace("{nics}", ",".join(rails)).replace("{rails}", pattern)


# --- A study measures one point for each of its patterns in each launch.


@dataclass(frozen=True, kw_only=True)
class StudyPattern:
    """``title``: with {size}. ``group``: all ranks take part, otherwise the first of each host."""

    title: str
    pattern: Pattern | GroupPattern
    form: Form
    size: int
    window: int = 64
    group: bool = False


PATTERNS: dict[str, StudyPattern] = {
    "latency": StudyPattern(
        title="half round trip of {size}", pattern="pingpong", form="latency", size=8
    ),
    "pingpong": StudyPattern(
        title="half round trip of {size}", pattern="pingpong", form="latency", size=128 << 10
    ),
    "stream": StudyPattern(
        title="stream of {size}, 8 in flight",
        pattern="stream",
        form="stream",
        size=128 << 10,
        window=8,
    ),
    "saturation": StudyPattern(
        title="message rate of {size}, all ranks, 64 in flight",
        pattern="message_rate",
        form="stream",
        size=2 << 10,
        group=True,
    ),
    "ring": StudyPattern(
        title="ring of {size}, all ranks",
        pattern="ring",
        form="stream",
        size=8,
        group=True,
    ),
    "allreduce": StudyPattern(
        title="allreduce of {size}, all ranks",
        pattern="allreduce",
        form="stream",
        size=16 << 10,
        group=True,
    ),
}
"""By the names of ``--over``. The sizes are below every protocol switch, or above the usual switch
(64,000 B), where a window of messages can keep several rails busy.
"""
_ALWAYS = "latency"
"""Always measured: a gain elsewhere that costs latency is a trade-off."""


def patterns_for(knobs: Iterable[Knob]) -> tuple[str, ...]:
    """Return the default patterns: those that any of the knobs can affect, and the latency."""
    moved = {name for knob in knobs for name in knob.moves} | {_ALWAYS}
    return tuple(name for name in PATTERNS if name in moved)


def points_of(names: Sequence[str], ranks: int) -> list[Point]:
    """Return one point for each pattern, in the order of ``names``, without final ids.

    The ranks of one host have consecutive numbers: pairs are rank 0 and the first of the second
    half.
    """
    unknown = next((name for name in names if name not in PATTERNS), None)
    if unknown is not None:
        raise BadInput(f"--over: there is no {unknown[:40]!r}; known are {', '.join(PATTERNS)}.")
    return [_point(PATTERNS[name], ranks) for name in dict.fromkeys(names)]


def _point(pattern: StudyPattern, ranks: int) -> Point:
    point = Point(
        id=0,
        pattern=pattern.pattern,
        message_bytes=pattern.size,
        form=pattern.form,
        window=pattern.window,
    )
    if pattern.group:
        return msgspec.structs.replace(point, members=tuple(range(ranks)))
    return msgspec.structs.replace(point, pairs=((0, ranks // 2),))


def title_of(name: str) -> str:
    """Return ``stream of 128 KiB, 8 in flight``."""
    pattern = PATTERNS[name]
    return pattern.title.format(size=quantity.size(pattern.size))
