# pure
"""Quantities as text: fixed units, three significant digits, MB = 10^6, MiB = 2^20, bits only for
line rates.
"""

import math
from collections.abc import Sequence

import msgspec

# --- A rate or a time converted to every unit, as ``wireproof explain`` prints it.


class ConvertedRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a conversion: ``39.88888 Gb/s`` with its arithmetic. ``exact`` False: the last
    digit is rounded.
    """

    label: str
    value: float
    text: str
    arithmetic: str
    exact: bool


class LinkShares(msgspec.Struct, frozen=True, kw_only=True):
    """A value compared with a link. Rates and shares are present only if the value gives a rate."""

    kind: str
    derivation: list[str]
    arithmetic: list[str]
    warnings: list[str]
    nominal_bytes_per_s: float | msgspec.UnsetType | None = msgspec.UNSET
    attainable_bytes_per_s: float | msgspec.UnsetType | None = msgspec.UNSET
    share_of_nominal: float | msgspec.UnsetType | None = msgspec.UNSET
    share_of_attainable: float | msgspec.UnsetType | None = msgspec.UNSET


class Converted(msgspec.Struct, frozen=True, kw_only=True):
    """The output of ``wireproof explain --json``."""

    value: str
    kind: str
    message_bytes: int | None
    bytes_per_s: float | None
    arithmetic: list[str]
    remark: str
    rows: list[ConvertedRow]
    link: LinkShares | None


_BINARY = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_DECIMAL = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
UNKNOWN = "-"


def significant(value: float | None, digits: int = 3) -> str:
    """Return ``value`` with ``digits`` significant digits and no exponent; numbers >= 1000 keep all
    their digits.

    >>> significant(117.44), significant(9.401), significant(0.28571), significant(4986.2)
    ('117', '9.40', '0.286', '4986')
    """
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if value == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    rounded = round(value, places)
    places = max(0, digits - 1 - math.floor(math.log10(abs(rounded)))) if rounded else places
    return f"{rounded:.{min(places, 9)}f}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 pair`` or ``2 pairs``; ``plural`` for a noun that does not take an s.

    >>> counted(1, "pair"), counted(12_000, "pair"), counted(2, "switch", "switches")
    ('1 pair', '12000 pairs', '2 switches')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def size(message_bytes: int) -> str:
    """Return a message size, in binary units if it divides evenly: ``8 B``, ``64 KiB``, ``4 MiB``,
    ``1500 B``.
    """
    for unit, word in _BINARY:
        if message_bytes >= unit and message_bytes % unit == 0:
            return f"{message_bytes // unit} {word}"
    return f"{message_bytes} B"


def microseconds(ns: float | None) -> str:
    """Return nanoseconds in us, with four digits from 10 us on so that a 1 % interval stays
    visible.
    """
    return significant(None if ns is None else ns / 1e3, 4 if ns and ns >= 1e4 else 3)


def megabytes(bytes_per_s: float | None) -> str:
    """Return bytes per second in MB/s (10^6), with four digits from 10 MB/s on."""
    if bytes_per_s is None:
        return UNKNOWN
    return significant(bytes_per_s / 1e6, 4 if bytes_per_s >= 1e7 else 3)


def gigabits(bytes_per_s: float | None) -> str:
    """Return bytes per second in Gb/s (10^9 bits)."""
    return significant(None if bytes_per_s is None else bytes_per_s * 8 / 1e9, 3)


def line_rate(bits_per_s: float | None) -> str:
    """Return bits per second in the usual unit: ``297 Mb/s``, ``10 Gb/s``, ``94.1 Gb/s``."""
    if bits_per_s is None or not math.isfinite(bits_per_s):
        return UNKNOWN
    scale, unit = (1e9, "Gb/s") if bits_per_s >= 0.9995e9 else (1e6, "Mb/s")
    shown = bits_per_s / scale
    return f"{shown:.0f} {unit}" if shown == int(shown) else f"{significant(shown)} {unit}"


def percent(share: float | None, digits: int = 0) -> str:
    """Return a share (1.0 = all) in per cent; a small share above zero is never shown as 0."""
    if share is None or not math.isfinite(share):
        return UNKNOWN
    least = 10.0**-digits
    return f"<{least:g} %" if 0 < 100 * share < least / 2 else f"{100 * share:.{digits}f} %"


def change(ratio: float | None, low: float | None = None, high: float | None = None) -> str:
    """Return a ratio as a change in per cent, with its interval if that is known.

    >>> change(1.982, 1.951, 2.02), change(0.97)
    ('+98.2 % [+95.1, +102]', '-3.0 %')
    """
    if ratio is None:
        return UNKNOWN
    interval = "" if low is None or high is None else f" [{_signed(low)}, {_signed(high)}]"
    return f"{_signed(ratio)} %{interval}"


def _signed(ratio: float) -> str:
    per_cent = 100 * (ratio - 1)
    return f"{per_cent:+.1f}" if abs(per_cent) < 99.95 else f"{min(per_cent, 1e6):+.0f}"


def plus_minus(share: float | None, sign: str = "±") -> str:
    """Return a relative half-width as ``±0.4 %``; ``±<0.1 %`` below 0.05 %, ``±?`` if infinite or
    unknown.
    """
    if share is None or not math.isfinite(share):
        return f"{sign}?"
    shown = 100 * share
    if shown < 0.05:
        return f"{sign}<0.1 %"
    return f"{sign}{shown:.1f} %" if shown < 10 else f"{sign}{shown:.0f} %"


def volume(count: float | None) -> str:
    """Return a number of bytes in decimal units: ``412 MB``, ``176 B``."""
    if count is None or not math.isfinite(count):
        return UNKNOWN
    for unit, word in _DECIMAL:
        if abs(count) >= unit * 0.9995:
            return f"{significant(count / unit)} {word}"
    return f"{count:.0f} B"


def duration(seconds: float) -> str:
    """``0.8 s``, ``42 s``, ``3 min 05 s``, ``2 h 10 min``."""
    seconds = max(0.0, seconds)
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def goodput(bytes_per_s: float) -> str:
    """Return goodput in bits and bytes: ``297 Mb/s (37.1 MB/s)``."""
    bits = bytes_per_s * 8
    value, unit = (bits / 1e9, "Gb/s") if bits >= 1e10 else (bits / 1e6, "Mb/s")
    shown = f"{value:.0f}" if value >= 100 else f"{value:.3g}"
    return f"{shown} {unit} ({rate(bytes_per_s)})"


def rate(bytes_per_s: float) -> str:
    """Return bytes per second for a line of arithmetic, with one decimal: ``119.5 MB/s``."""
    return f"{bytes_per_s / 1e6:.1f} MB/s"


def in_every_unit(bytes_per_s: float) -> str:
    """Return a rate in each unit that programs print: ``119.50 MB/s = 113.96 MiB/s = 0.956
    Gb/s``.
    """
    return (
        f"{bytes_per_s / 1e6:.2f} MB/s = {bytes_per_s / 2**20:.2f} MiB/s"
        f" = {bytes_per_s * 8 / 1e9:.4g} Gb/s"
    )


def messages(per_s: float) -> str:
    """Return messages per second with a prefix: ``1.23 M``."""
    for least, prefix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if per_s >= least:
            return significant(per_s / least) + prefix
    return significant(per_s)


def throughput(bytes_per_s: float) -> str:
    """Return goodput as benchmarks print it, with four digits: ``1.177 GB/s``."""
    for scale, unit in _DECIMAL[1:]:
        if bytes_per_s >= scale:
            return f"{bytes_per_s / scale:.4g} {unit}/s"
    return f"{bytes_per_s:.3g} B/s"


def short_time(ns: float) -> str:
    """Return nanoseconds in a suitable unit: ``0.95 us``, ``1.204 ms``, ``2 s``."""
    for scale, unit in ((1e9, "s"), (1e6, "ms")):
        if ns >= scale:
            return f"{ns / scale:.4g} {unit}"
    return f"{ns / 1e3:.4g} us" if ns >= 1e3 else f"{ns / 1e3:.3g} us"


def amount(value: float, unit: str) -> str:
    """Return the value of a metric in the usual form for its unit."""
    if unit == "ns":
        return f"{microseconds(value)} us"
    if unit == "bytes_per_s":
        return f"{megabytes(value)} MB/s"
    if unit == "messages_per_s":
        return f"{messages(value)}/s"
    digits = ".0f" if 1e4 <= abs(value) < 1e15 else ".4g"
    return f"{value:{digits}} {unit}".rstrip() if math.isfinite(value) else f"? {unit}".rstrip()


def whole(text: str) -> int | None:
    """Return the number that 1 to 18 ASCII digits represent; None for any other text.

    ``str.isdigit`` also accepts digits such as ``²``, which ``int`` refuses.
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def first_few(names: Sequence[str], most: int, between: str = ", ", what: str = "") -> str:
    """Return the first ``most`` names, and how many more there are: ``a, b and 3 more``."""
    left = len(names) - most
    return between.join(names[:most]) + (f" and {left} more{what}" if left > 0 else "")
