# pure
"""Check that the series is sound: complete and consistent, with enough iterations and a known unit
and formula.
"""

from collections.abc import Iterable
from statistics import median

from wireproof.logs.verdict.curve import MEBI, OF_SEVERAL, Case, CurveRow
from wireproof.model.quantity import counted, size, throughput

_FEW_SMALL = 100
_SMALL = 8192
_FEW_LARGE = 3
_FEW_STREAMED = 20
_STREAMED = 65_536
_ODD = 0.05  # beyond rounding: some columns use the mean of the ranks' times, some the longest time
_NOISY = 0.3
_CLEAR = 0.25  # numbers are not compared if rounding hides more than this share
_SHARP = 0.005
_UNIT_OFF = 0.04
# (bytes from messages / bytes from bandwidth, explanation)
_UNITS = (
    (125e6 / (1 << 20), "the column is in Gb/s under a heading of MB/s or MiB/s"),
    (125.0, "the column is in Gb/s under a heading of MB/s"),
    ((1 << 20) / 125e6, "the column is in MB/s under a heading of Gb/s"),
    (1e6 / 125e6, "the column is in MB/s under a heading of Gb/s"),
    (MEBI, "MB and MiB are mixed up"),
    (1 / MEBI, "MB and MiB are mixed up"),
    (8.0, "bytes under a heading of bits"),
    (1 / 8, "bits under a heading of bytes"),
    (1000.0, "GB under a heading of MB"),
    (1 / 1000, "MB under a heading of GB"),
)
_ROWS = 3
_SHOWN = 5


def judge_soundness(case: Case) -> None:
    """Add the reasons that do not depend on a link."""
    series, curve = case.series, case.curve
    if curve.bad:
        text = (
            f"{counted(len(curve.bad), 'row')} without a measured number: "
            f"{'; '.join(curve.bad[:_SHOWN])}"
        )
        case.add("bad-number", "inconclusive", text, {"rows": len(curve.bad)})
    if not curve.rows:
        case.add("nothing-measured", "inconclusive", "the series has no row that can be judged")
    if not series.complete:
        text = (
            f"the table is cut short ({series.incomplete or 'it has no end'}): the rest is unknown"
        )
        case.add("incomplete-table", "inconclusive", text, {"rows": len(curve.rows)})
    wrong = [row.size for row in curve.rows if row.point.valid is False]
    if wrong:
        text = (
            "the program's own check of contents failed at "
            f"{', '.join(size(s) for s in wrong[:_SHOWN])}"
        )
        case.add("payload-corrupt", "fail", text, {"sizes": len(wrong)})
    _arithmetic(case)
    _iterations(case)


_Product = tuple[int, float, float]
"""Size, product of columns that should be constant in all rows, share that rounding may hide."""
_MOVED, _TURNED, _SHARED = (
    "time x goodput / size",
    "time x message rate",
    "message rate x size / goodput",
)


def _products(case: Case) -> dict[str, list[_Product]]:
    """Return each product that is compared, with its value in every row that has the columns."""
    products: dict[str, list[_Product]] = {_MOVED: [], _TURNED: [], _SHARED: []}
    for point in (row.point for row in case.curve.rows):
        at, t, g, r = (
            point.message_bytes,
            point.time_max_ns or point.time_ns if point.hrt_ns is None else point.hrt_ns,
            point.goodput_bytes_per_s,
            point.messages_per_s,
        )
        hidden_t = point.time_step_ns / 2 / t if t else 1.0
        hidden_g = point.goodput_step / 2 / g if g else 1.0
        if t and g and at:
            products[_MOVED].append((at, g * t / 1e9 / at, hidden_t + hidden_g))
        if t and r:
            products[_TURNED].append((at, r * t / 1e9, hidden_t + 0.5 / r))
        if g and r and at:
            products[_SHARED].append((at, r * at / g, hidden_g + 0.5 / r))
    return products


def _arithmetic(case: Case) -> None:
    """Report rows whose columns contradict each other, unlike in other rows. A constant factor is
    only a matter of definition.
    """
    series = case.series
    # IMB-MT computes its columns from different threads' times.
    if series.traffic in OF_SEVERAL or series.benchmark.endswith("MT"):
        return
    # With more than two ranks, the time is their mean but the goodput uses the longest: there is no
    # constant factor.
    several = (series.processes or 0) > 2 or series.pairs > 1
    for what, products in _products(case).items():
        clear = [product for product in products if product[2] < _CLEAR]
        if clear and not (several and what != _SHARED):
            _compare(case, what, clear)


def _compare(case: Case, what: str, clear: list[_Product]) -> None:
    """Report rows that differ from the usual value; if none does, judge the constant itself."""
    usual = median(value for _, value, _ in clear)
    # IMB-P2P prints the mean of the ranks' times, but rates from the longest time: they differ by
    # noise in one direction.
    below = _NOISY if case.series.tool == "imb" and what != _SHARED else _ODD
    odd = [product for product in clear if _is_odd(product, usual, below)]
    if odd:
        shown = ", ".join(f"{size(at)}: {value:.4g}" for at, value, _ in odd[:_SHOWN])
        case.add(
            "row-arithmetic",
            "inconclusive",
            f"{what} is {usual:.4g} in most rows but not in {len(odd)} of {len(clear)}: {shown}",
            {"usual": usual, "rows": len(odd)},
        )
    elif what == _SHARED:
        _unit(case, usual, min(hidden for _, _, hidden in clear))
    elif what == _MOVED:
        sharp = [value for _, value, hidden in clear if hidden < _SHARP]
        if len(sharp) >= _ROWS:
            _factor(case, median(sharp))


def _is_odd(product: _Product, usual: float, below: float) -> bool:
    _, value, hidden = product
    return usual <= 0 or not -below - 2 * hidden <= value / usual - 1 <= _ODD + 2 * hidden


def _near(value: float, targets: Iterable[float], tolerance: float) -> bool:
    return any(abs(value / target - 1) <= tolerance for target in targets)


def _factor(case: Case, usual: float) -> None:
    """Judge the constant: 1 message per half round trip, or as many as directions and pairs
    allow.
    """
    series = case.series
    known = {float(d * p) for d in (1, series.directions) for p in (1, series.pairs)}
    if series.traffic == "exchange":
        known |= {2.0, 4.0}  # with one neighbour, and with two (IMB Exchange)
    if _near(usual, known, 0.03):
        return
    if any(_near(usual * factor, known, 0.01) for factor in (MEBI, 1 / MEBI)):
        text = f"{_MOVED} is {usual:.4g}: MB and MiB are mixed up, a factor of 1.0486"
        case.add("unit-doubt", "inconclusive", text, {"factor": usual})
    elif any(_near(usual * factor, known, 0.03) for factor in (2.0, 0.5)):
        text = (
            f"{_MOVED} is {usual:.3g}: only one of the two columns refers to a full round trip or "
            f"to both directions ({series.formula})"
        )
        case.add("wrong-formula", "warning", text, {"factor": usual})


def _unit(case: Case, usual: float, hidden: float) -> None:
    """Compare messages x size with the printed bandwidth: they are equal unless a unit is wrong.
    ``hidden``: the share that rounding may hide.
    """
    series = case.series
    ends = (1, series.pairs, series.processes or 1)
    known = {float(d * p) for d in (1, series.directions) for p in ends} - {0.0}
    known |= {1 / k for k in known} | {0.5, 2.0}
    if usual <= 0 or _near(usual, known, _UNIT_OFF + hidden):
        return
    fits = next((text for factor, text in _UNITS if _near(usual, (factor,), _UNIT_OFF)), "")
    text = f"message rate x size is {usual:.4g} times the printed bandwidth"
    text += f": {fits}" if fits else ""
    case.unit_wrong = True
    case.add(
        "unit-doubt", "inconclusive", f"{text}; its heading or its unit is wrong", {"factor": usual}
    )


def _iterations(case: Case) -> None:
    if case.series.traffic in OF_SEVERAL:
        return
    few = [shortage for row in case.curve.rows if (shortage := _too_few(case, row)) is not None]
    if few:
        at, count, least = few[0]
        case.add(
            "too-few-iterations",
            "inconclusive",
            (
                f"{count} iterations at {size(at)} ({counted(len(few), 'size')} in all), at least "
                f"{least} are needed: the mean includes first touches and the resolution of the "
                "clock"
            ),
            {"size": at, "iterations": count, "sizes": len(few)},
        )


def _too_few(case: Case, row: CurveRow) -> tuple[int, int, int] | None:
    """Return (size, iterations, required iterations) of a row with too few, else None."""
    count, waited = row.point.iterations, bool(row.wait_ns)
    if count is None:
        return None
    # IMB itself sends ten messages of 4 MiB, which is enough for long messages.
    least = _FEW_LARGE
    if row.size <= (_SMALL if waited else _STREAMED):
        least = _FEW_SMALL if waited else _FEW_STREAMED
    messages = count if waited else count * max(1, case.series.window or 1)
    return (row.size, count, least) if messages < least else None


def tell_formula(case: Case) -> None:
    """Add a note on the results that a number may be compared with, since tools differ."""
    series = case.series
    name = series.benchmark.lower()
    if series.traffic in ("put", "get", "atomic") and series.protocol != "rdma":
        text = (
            "one-sided: compare it only with other one-sided results, not with two-sided "
            "ping-pongs or streams"
        )
        if series.waits:
            text += "; its time is the whole operation, not half a round trip"
    elif "pingping" in name:
        text = "PingPing: both ranks send at once and the time is not halved, unlike in a PingPong"
    elif series.directions > 1:
        best = case.curve.best
        each = f": {throughput(best.goodput)} each" if best is not None else ""
        text = (
            f"the printed goodput is the sum of {series.directions} directions{each}; one "
            "direction is judged"
        )
    elif series.traffic == "exchange":
        text = "both directions are loaded at once: do not compare this with a one-way stream"
    elif series.tool == "table":
        text = (
            "the table does not name its benchmark: for a full round trip or a collective, the "
            "verdict would differ"
        )
    else:
        return
    case.add("formula-differs", "note", f"{text} ({series.formula})"[:400])
