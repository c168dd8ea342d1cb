# pure
"""Errors that users see, and the reader of JSON from untrusted sources, which raises them. An error
is one sentence that says what was observed and what to do.

Only ``cli`` maps them to exit statuses (design section 6): 2 usage, 4 could not measure.
"""

import contextlib
import math
from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec


class WireproofError(Exception):
    """Base of all errors that are shown to the user as one sentence, without a traceback."""

    exit_status = 4


class BadInput(WireproofError):
    """Input that cannot be used: an unknown NIC, host, size, link kind, file or option."""

    exit_status = 2


class NoResult(BadInput):
    """The file was read, but it contains no result of the kind that was looked for."""


class CouldNotMeasure(WireproofError):
    """The measurement could not be made: no MPI, failed start, deadline reached, disk full."""

    exit_status = 4


def made_by_newer(name: object, found: object, known: int) -> BadInput:
    """Return the error for a stored file whose format only later releases know."""
    return BadInput(
        f"{name} was made by a newer wireproof (format {found}, and this one reads up to {known}):"
        " update wireproof."
    )


class LabError(WireproofError):
    """The machine refuses to build the lab, or the lab is not in the expected state."""


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of ``errors``: a problem, worded as on standard error, and what it concerns.
    ``rank`` and ``point`` belong to a measurement. Unknown members are left out.
    """

    message: str
    code: str = ""
    file: str = ""
    host: str = ""
    rank: int | None = None
    point: int | None = None


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The document of ``--json`` if a command ends before it has a result. ``verdict`` is always
    null: nothing was judged, which is never a pass.
    """

    errors: tuple[Problem, ...]
    exit_status: int


def suggestion(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return ``did you mean NAME?`` with the known name that is nearest to an unknown name;
    ``otherwise``, or a list of all, if none is near.
    """
    from difflib import get_close_matches

    names = list(known)
    near = get_close_matches(name, names, n=1)
    return f"did you mean {near[0]}?" if near else otherwise or f"there are {', '.join(names)}."


@contextlib.contextmanager
def reading(what: object, missing: str = "") -> Iterator[None]:
    """Raise ``BadInput`` in one sentence if the block cannot read or decode the file ``what``;
    ``missing``: the sentence if it does not exist.

    Raises ``BadInput``.
    """
    try:
        yield
    except OSError as error:
        if missing and isinstance(error, FileNotFoundError):
            raise BadInput(missing) from None
        raise BadInput(f"{what} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{what}, line {line}: it is not text in UTF-8.") from error
    except msgspec.DecodeError as error:
        raise BadInput(f"{what} is damaged: {error}.") from error


@contextlib.contextmanager
def writing(what: object, kind: type[WireproofError] = BadInput) -> Iterator[None]:
    """Raise ``kind`` in one sentence if the block cannot write the file or folder ``what``."""
    try:
        yield
    except OSError as error:
        raise kind(f"{what} cannot be written: {error.strerror}.") from error


# --- JSON from untrusted sources is decoded only if the decoded form fits into memory: three bytes,
# ``{},``, can become 250 bytes, so the items are counted before they are created.


LARGEST_DECODED = 896 << 20
"""Bytes in memory. A result of 10,000 hosts with two adapters each takes half of this."""
_SMALL = 1 << 20
_COSTS = ((b"{", 250), (b"[", 70), (b",", 60), (b":", 100))
"""Upper bound of bytes per character, measured with CPython 3.11 on the largest struct without a
value, an empty list, a number or short text, and a key of a dictionary.
"""
_WIDE = tuple(bytes([lead]) for lead in range(0xF0, 0xF5))
T = TypeVar("T")


def decode_json(data: bytes | str, type_: type[T], *, times: int = 1) -> T:
    """Decode ``data`` as ``type_``. In a text, characters that UTF-8 cannot express become question
    marks.

    ``times``: number of copies in memory, for example if the value is converted afterwards. Raises
    ``msgspec.DecodeError``, with a message that continues "... is damaged: ". Invalid UTF-8, too
    deep nesting, and data that would take more than ``LARGEST_DECODED`` also raise it.
    """
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    refuse_large(data, times=times)
    try:
        return msgspec.json.decode(data, type=type_)
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(f"it is not UTF-8: {error.reason}") from error
    except RecursionError as error:
        raise msgspec.DecodeError("it is nested too deeply") from error


def member_of(data: bytes, name: str, type_: type[T]) -> T:
    """Decode one member of a JSON object and ignore the others. Raises like ``decode_json``."""
    members = decode_json(data, dict[str, msgspec.Raw])
    if name not in members:
        raise msgspec.ValidationError(f"Object missing required field `{name}`")
    return decode_json(bytes(members[name]), type_)


def refuse_large(data: bytes, *, times: int = 1) -> None:
    """Raise ``msgspec.DecodeError`` if ``data`` is too large for ``decode_json``."""
    if len(data) > _SMALL and times * memory_of(data) > LARGEST_DECODED:
        raise msgspec.DecodeError(
            f"it would take more than {LARGEST_DECODED >> 20} MiB of memory when decoded"
        )


def memory_of(data: bytes) -> int:
    """Return an upper bound of the memory in bytes that ``data`` and its decoded form take."""
    items = sum(cost * data.count(letter) for letter, cost in _COSTS)
    return items + len(data) * (1 + _width(data))


def _width(data: bytes) -> int:
    """Return the bytes per character that Python needs for the widest character of the text."""
    ascii_only = data.isascii()
    if b"\\u" in data or (not ascii_only and any(lead in data for lead in _WIDE)):
        return 4
    return 1 if ascii_only else 2


# --- Numbers and names that users give, or that files contain.

LARGEST_COUNT = (1 << 63) - 1
LARGEST_MESSAGE = 1 << 50
"""Floating point does not represent larger sizes exactly, and no memory holds them."""
LARGEST = 1e21
"""Upper bound for any float: a rate of 10^15 bit/s and a time of 30,000 years are below it, and
products of two such numbers stay finite.
"""
MOST_NODES = 1_000_000
MOST_PPN = 4096
MOST_RANKS = 1_000_000_000
_SHOWN = 15  # digits


def _seen(value: int | float) -> str:
    """Format a number for people: 10^30 instead of thirty zeros."""
    if isinstance(value, float):
        return f"{value:g}"
    power = round(value.bit_length() * math.log10(2.0))
    return str(value) if power < _SHOWN else f"about {'-' if value < 0 else ''}10^{power}"


def whole(name: str, value: int, low: int, high: int) -> int:
    """Return ``value``; raise BadInput if it is not between ``low`` and ``high``."""
    if not low <= value <= high:
        raise BadInput(f"{name} is {_seen(value)}: give a whole number from {low} to {high}.")
    return value


def real(name: str, value: float, low: float, high: float, unit: str = "") -> float:
    """Return ``value``; raise BadInput if it is not a number between ``low`` and ``high``."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (math.isfinite(number) and low <= number <= high):
        limits = f"{low:g} to {high:g}{' ' if unit else ''}{unit}"
        raise BadInput(f"{name} is {_seen(value)}: give a number from {limits}.")
    return number


def chosen(name: str, value: str, known: Iterable[str]) -> str:
    """Return ``value`` if it is ``known``; otherwise raise BadInput that names the nearest."""
    names = list(known)
    if value in names:
        return value
    from difflib import get_close_matches

    lower = {known_name.lower(): known_name for known_name in names}
    near = get_close_matches(value[:80].lower(), lower, n=1, cutoff=0.4)
    hint = f"did you mean {lower[near[0]]!r}? There" if near else "there"
    if not value:
        raise BadInput(f"give {name}: {', '.join(names)}.")
    raise BadInput(f"{name} {value[:80]!r} is not known: {hint} are {', '.join(names)}.")
