# pure
"""Convert rates, times and message rates as people write them, exactly and with the arithmetic
shown.

MB = 10^6 bytes, MiB = 2^20 bytes, Gb = 10^9 bits. The letter's case decides between bits and bytes,
so a unit with the wrong case is refused, not guessed: the two readings differ by a factor of eight.
"""

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Literal

import msgspec

from wireproof.model.claim import LinkClaim
from wireproof.model.quantity import ConvertedRow
from wireproof.physics.limits import limits
from wireproof.physics.table import PhysicsError

Kind = Literal["rate", "time", "messages", "amount"]

_EXACT = Context(prec=60, rounding=ROUND_HALF_EVEN)
_DECIMALS = 6
_LONGEST = 80
_LARGEST_POWER = 18  # 10^18 B/s, messages/s or seconds: beyond every network
_NUMBER = re.compile(
    r"[+-]?(?:(?:[1-9][0-9]{0,2}(?:,[0-9]{3}){1,6}(?![0-9])|[0-9]{1,24})(?:\.[0-9]{0,24})?|\.[0-9]{1,24})"
    r"(?:[eE][+-]?[0-9]{1,3})?",
    re.ASCII,
)
_DECIMAL_PREFIX = {"": 0, "k": 3, "K": 3, "M": 6, "G": 9, "T": 12}
_BINARY_PREFIX = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40}
_SHORT = re.compile(r"([kKMGT]?|[KMGT]i)([bB])(?:/s|/sec|ps|(?<=[kKMGTi][bB])s)", re.ASCII)
_WORD = re.compile(r"([kmgt]?|[kmgt]i)(bits?|bytes?)(?:/s|/sec|ps)", re.ASCII | re.IGNORECASE)
_MESSAGES = re.compile(r"([kKMG]?)(?:msgs?|Msg|messages?)/s(?:ec)?", re.ASCII)
_SECONDS = {
    "s": 0,
    "sec": 0,
    "ms": -3,
    "msec": -3,
    "us": -6,
    "usec": -6,
    "µs": -6,
    "μs": -6,
    "ns": -9,
    "nsec": -9,
}
_ELSEWHERE = (
    (r"[kMG]?Hz", "a clock: 'wireproof explain clock-range' shows how cores keep their clock"),
    (r"GT/s", "transfers, not bytes: for PCIe give a link with its slot, as in edr --pcie gen3x16"),
    (r"MT/s", "the rate of a memory channel, which moves 8 bytes per transfer"),
    (r"QPs?", "a number of queue pairs: 'wireproof plan footprint --seen-qps' checks it"),
    (r"(nodes|cores|ranks)", "the size of a job: 'wireproof plan scale' uses it"),
    (r"(.* )?MTU", "a packet size: 'wireproof explain mtu' shows the right size"),
    (r"[kKMG]", "a size in steps that depend on the program: write MB for 10^6, MiB for 2^20"),
    (r"%", "a share: add the link that it refers to, such as 97.6% --link opa100"),
    (r"xDDR\d", "memory modules, which are out of scope: see 'wireproof explain DIMM'"),
    (r"-tier.*", "tiers of switches: 'wireproof explain leaf' lists the tools that measure them"),
    (r"([.-]|0x)[0-9].*", "a release or an address: 'wireproof audit' compares those of the hosts"),
    (r"% .+", "a difference: 'wireproof compare A B' computes it for two results"),
)
"""Units of numbers that are not a rate, time or amount, and the command that handles them."""
ALLOWED = (
    "bytes: B/s, kB/s, MB/s, GB/s (10^3 steps), KiB/s, MiB/s, GiB/s (2^10 steps), MBytes/sec; "
    "bits: Mb/s, Gb/s, Mbps, Gbps, Gbit/s; times: s, ms, us, usec, ns; messages: msg/s, kmsg/s, "
    "Mmsg/s"
)


class Quantity(msgspec.Struct, frozen=True, kw_only=True):
    """``value`` in bytes/s, seconds, messages/s or bytes by ``kind``; ``arithmetic``: the steps
    from the text to the value. ``remark``: programs that print this unit but mean another.
    """

    kind: Kind
    value: Decimal
    text: str
    arithmetic: str
    remark: str = ""


def exact(value: Decimal | float | int) -> Decimal:
    """Return a finite number >= 0 as a decimal; a float as its shortest decimal.

    Raises PhysicsError for NaN, infinity, a negative number, or a number of 10^18 or more.
    """
    number = value if isinstance(value, Decimal) else Decimal(repr(value))
    if not number.is_finite():
        raise PhysicsError(f"{value} is not a finite number: nothing can be converted")
    if number < 0:
        raise PhysicsError(f"{value} is negative: a rate or a time cannot be negative")
    if number and number.adjusted() >= _LARGEST_POWER:
        raise PhysicsError(
            f"{value:.4g} is 10^{number.adjusted()} in base units, more than any network reaches: "
            "check it"
        )
    return number


def _shown(value: Decimal) -> tuple[str, bool]:
    """Format with up to six decimals without trailing zeros, small numbers with six digits; also
    return True if the text is exact.
    """
    places = _DECIMALS if not value or value.adjusted() >= -1 else _DECIMALS - 1 - value.adjusted()
    rounded = value.quantize(Decimal(1).scaleb(-places), context=_EXACT)
    text = f"{rounded:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text), rounded == value


def _shift(value: Decimal, power: int) -> Decimal:
    return value.scaleb(power, context=_EXACT)


def _plain(value: Decimal) -> str:
    return _shown(value)[0]


def parse_quantity(text: str) -> Quantity:
    """Parse ``4986.11MB/s``, ``39.9 Gbit/s``, ``1.24us``, ``160e6 msg/s``.

    Raises PhysicsError with the allowed units.
    """
    seen = text.strip()
    if not seen or len(seen) > _LONGEST:
        raise PhysicsError(
            f"{seen[:40]!r} is not a value: write a number with its unit, such as 4986.11MB/s or "
            "39.9Gb/s"
        )
    return _with_unit(seen, *_number_and_unit(seen))


def _number_and_unit(seen: str) -> tuple[Decimal, str]:
    """Split ``12,300 MB/s`` into its number and its unit; commas separate thousands."""
    found = _NUMBER.match(seen)
    if found is None:
        kind = (
            "not a finite number"
            if re.match(r"[+-]?(nan|inf)", seen, re.IGNORECASE)
            else "not a number with a unit"
        )
        raise PhysicsError(f"{seen!r} is {kind}: write one such as 4986.11MB/s or 39.9Gb/s")
    unit = seen[found.end() :].strip()
    if unit[:1] in (",", "'", "_"):
        raise PhysicsError(
            f"{seen!r}: write the number with a decimal point, and commas only between thousands,"
            " such as 4986.11MB/s or 12,300MB/s"
        )
    return exact(Decimal(found.group(0).replace(",", ""))), unit


def parse_amount(text: str) -> Quantity | None:
    """Parse bytes or bits: ``495GB``, ``8 KiB``, ``25Gb``, and a whole number without a unit as
    bytes; None for other text.
    """
    seen = text.strip()
    if len(seen) > _LONGEST or _NUMBER.match(seen) is None:
        return None
    number, unit = _number_and_unit(seen)
    if not unit and number != number.to_integral_value():
        return None
    amount = _bytes_per_s(number, f"{unit or 'B'}/s")
    if amount is None:
        return None
    if not unit:
        remark = (
            f"no unit: assumed to be bytes; a rate or a time needs its unit, such as {seen}MB/s"
        )
    elif unit.endswith("b"):
        remark = f"an amount; a rate needs /s, as in {seen}/s"
    elif unit[0] in "kKMG" and unit[1:] == "B":
        remark = f"{unit} is taken as 10^3 steps; if 2^10 is meant, write {unit[0].upper()}iB"
    else:
        remark = ""
    if unit in ("B", "byte", "bytes") and number != number.to_integral_value():
        raise PhysicsError(f"{seen!r} is not a whole number of bytes: write 18,560 for thousands")
    steps = amount[1].replace("/s", "")
    return Quantity(
        kind="amount", value=exact(amount[0]), text=seen, arithmetic=steps, remark=remark
    )


def parse_share(text: str, nominal: Decimal) -> Quantity | None:
    """Parse ``97.6%`` of a nominal rate in bytes/s as a rate; None for other text."""
    seen = text.strip()
    if len(seen) > _LONGEST or _NUMBER.match(seen) is None or not seen.endswith("%"):
        return None
    number, unit = _number_and_unit(seen)
    if unit != "%":
        return None
    value = exact(_EXACT.multiply(number, _shift(nominal, -2)))
    line = f"{_plain(number)} % of {_plain(_shift(nominal, -6))} MB/s = {_plain(value)} B/s"
    return Quantity(kind="rate", value=value, text=seen, arithmetic=line)


def _with_unit(text: str, number: Decimal, unit: str) -> Quantity:
    rate = _bytes_per_s(number, unit)
    if rate is not None:
        return Quantity(
            kind="rate", value=exact(rate[0]), text=text, arithmetic=rate[1], remark=_remark(unit)
        )
    if unit in _SECONDS:
        seconds = _shift(number, _SECONDS[unit])
        if not seconds:
            raise PhysicsError(
                f"{text!r}: a time of zero has no rate, because the program printed too few digits"
            )
        line = f"{_plain(number)} {unit} = {_plain(seconds)} s"
        return Quantity(kind="time", value=seconds, text=text, arithmetic=line)
    messages = _MESSAGES.fullmatch(unit)
    if messages is not None:
        value = exact(_shift(number, _DECIMAL_PREFIX[messages.group(1)]))
        line = f"{_plain(number)} {unit} = {_plain(value)} messages/s"
        return Quantity(kind="messages", value=value, text=text, arithmetic=line)
    raise PhysicsError(_refusal(text, unit))


def _bytes_per_s(number: Decimal, unit: str) -> tuple[Decimal, str] | None:
    short, word = _SHORT.fullmatch(unit), _WORD.fullmatch(unit)
    if short is not None:
        prefix, bits = short.group(1), short.group(2) == "b"
    elif word is not None:
        prefix = word.group(1).lower()
        prefix = prefix[:1].upper() + prefix[1:]
        bits = word.group(2).lower().startswith("bit")
    else:
        return None
    factor, shown = (
        (Decimal(2) ** _BINARY_PREFIX[prefix], f"2^{_BINARY_PREFIX[prefix]}")
        if prefix in _BINARY_PREFIX
        else (Decimal(10) ** _DECIMAL_PREFIX[prefix], f"10^{_DECIMAL_PREFIX[prefix]}")
    )
    value = _EXACT.multiply(number, factor)
    steps = f"{_plain(number)} x {shown}" if factor != 1 else _plain(number)
    if bits:
        value, steps = _EXACT.divide(value, Decimal(8)), f"{steps} / 8"
    return value, f"{_plain(number)} {unit} = {steps} = {_plain(value)} B/s"


def _remark(unit: str) -> str:
    """Return a remark about programs that print this unit but mean another."""
    low = unit.lower()
    if "byte" in low and low[:1] in "kmg" and low[1:2] != "i":
        return (
            f"{unit} is taken as 10^3 steps; iperf3 and IMB before 2018 print it for 2^10 "
            "steps: in that case write MiB/s"
        )
    if unit in ("MB/sec", "GB/sec"):
        return (
            f"{unit} is taken as 10^3 steps; older perftest prints MB/sec for 2^20 bytes: in that "
            "case write MiB/s"
        )
    return ""


def _refusal(text: str, unit: str) -> str:
    if not unit:
        return f"{text!r} has no unit; allowed are {ALLOWED}"
    if re.fullmatch(r"[kmgt]?i?b(/s|/sec|ps)", unit.lower()):
        letter = unit[0].upper() if unit[0].lower() in "kmgt" else ""
        return (
            f"{unit!r} may mean bits or bytes, a factor of eight: write {letter}b/s for bits or "
            f"{letter}B/s for bytes (the prefix in capitals); allowed are {ALLOWED}"
        )
    if re.fullmatch(r"[kmgt]?ps", unit.lower()):
        return (
            f"{unit!r} does not show whether it means bits or bytes: write {unit[:-2]}b/s or "
            f"{unit[:-2]}B/s; allowed are {ALLOWED}"
        )
    for pattern, answer in _ELSEWHERE:
        if re.fullmatch(pattern, unit):
            return f"{text!r} is {answer}"
    if re.fullmatch(r"[kKMGT]?i?[bB]", unit):
        return f"{text!r} is an amount, not a rate: add /s ({text}/s) for a rate"
    return f"unit {unit[:24]!r} is unknown; allowed are {ALLOWED}"


_AMOUNTS = (
    ("kB", 3, "10^3"),
    ("MB", 6, "10^6"),
    ("GB", 9, "10^9"),
    ("KiB", 10, "2^10"),
    ("MiB", 20, "2^20"),
    ("GiB", 30, "2^30"),
)


def amounts(value: Decimal) -> list[ConvertedRow]:
    """Return bytes in kB to GB and KiB to GiB, from 0.001 of the unit on."""
    rows = []
    for label, power, shown in _AMOUNTS:
        divisor = Decimal(int(shown.partition("^")[0])) ** power
        if value * 1000 >= divisor:
            rows.append(_row(label, _EXACT.divide(value, divisor), f"{_plain(value)} B / {shown}"))
    return rows


_LADDER = (
    ("MB/s", 1, "10^6", Decimal(10) ** 6),
    ("MiB/s", 1, "2^20", Decimal(2) ** 20),
    ("GB/s", 1, "10^9", Decimal(10) ** 9),
    ("GiB/s", 1, "2^30", Decimal(2) ** 30),
    ("Gb/s", 8, "10^9", Decimal(10) ** 9),
)


def rates(bytes_per_s: Decimal | float | int) -> list[ConvertedRow]:
    """Return the same rate in MB/s, MiB/s, GB/s, GiB/s and Gb/s with the arithmetic.

    Raises PhysicsError (``exact``).
    """
    value = exact(bytes_per_s)
    rows = []
    for label, times_bits, shown, divisor in _LADDER:
        result = _EXACT.divide(_EXACT.multiply(value, Decimal(times_bits)), divisor)
        bits = f" x {times_bits}" if times_bits != 1 else ""
        rows.append(_row(label, result, f"{_plain(value)} B/s{bits} / {shown}"))
    return rows


def _row(label: str, result: Decimal, steps: str) -> ConvertedRow:
    text, whole = _shown(result)
    return ConvertedRow(
        label=label,
        value=float(result),
        text=f"{text} {label}",
        arithmetic=f"{steps} {'=' if whole else '~'} {text} {label}",
        exact=whole,
    )


def shares(bytes_per_s: Decimal | float | int, link: LinkClaim) -> list[ConvertedRow]:
    """Return per cent of the nominal (line) rate and of the attainable rate (less headers, PCIe).

    ``value`` 1 = all. An unknown rate of the link has no row. Raises PhysicsError (``exact``).
    """
    value = exact(bytes_per_s)
    nominal = None if link.line_rate is None else link.line_rate / 8
    attainable = limits(link, "stream", "stream", 0).attainable_bytes_per_s
    rows = []
    for label, most in (("nominal", nominal), ("attainable", attainable)):
        if not most:
            continue
        share = _EXACT.divide(value, exact(most))
        text = f"{float(100 * share):.2f} % of {label}"
        line = f"{_plain(_shift(value, -6))} MB/s / {most / 1e6:.6g} MB/s = {text}"
        rows.append(
            ConvertedRow(label=label, value=float(share), text=text, arithmetic=line, exact=False)
        )
    return rows


def times(seconds: Decimal) -> list[ConvertedRow]:
    """Return the same time in ns, us and ms."""
    return [
        _row(label, _shift(seconds, power), f"{_plain(seconds)} s x 10^{power}")
        for label, power in (("ns", 9), ("us", 6), ("ms", 3))
    ]


def goodput_of(quantity: Quantity, message_bytes: int | None) -> tuple[Decimal | None, str]:
    """Return bytes/s of a quantity and the arithmetic; None for a time or message rate without a
    size.

    A time is that of one message: half a round trip, or one put: size / time. A message rate:
    messages/s x size.
    """
    if quantity.kind == "rate":
        return quantity.value, ""
    if message_bytes is None or quantity.kind == "amount":
        return None, ""
    size = Decimal(message_bytes)
    if quantity.kind == "messages":
        value = exact(_EXACT.multiply(quantity.value, size))
        return (
            value,
            f"{_plain(quantity.value)} messages/s x {message_bytes} B = {_plain(value)} B/s",
        )
    value = exact(_EXACT.divide(size, quantity.value))
    shown, whole = _shown(value)
    return (
        value,
        f"{message_bytes} B / {_plain(quantity.value)} s {'=' if whole else '~'} {shown} B/s",
    )
