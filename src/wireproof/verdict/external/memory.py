"""Whether copies in memory explain a rate as well as the claimed wire does.

A table of rates has no start that a floor would exclude. Through memory, one pair moves from 4.5 to
more than 20 GB/s, which includes the rates of 50 to 200 Gb/s links. Only its shape differs: a full
line is as quick at each large size, copies are not.
"""

from collections.abc import Callable, Sequence

import msgspec

from wireproof.model.finding import Evidence
from wireproof.model.quantity import size, throughput
from wireproof.model.series import Reason, Series, SeriesVerdict
from wireproof.physics.table import Table, default_table
from wireproof.verdict.external.curve import curve_of
from wireproof.verdict.external.declared import carrier
from wireproof.verdict.external.published import idle_beside

_LARGE = 65_536  # bytes; smaller messages do not fill a line
_LARGEST = 4  # sizes of a table that show whether the line is full
_FEWEST = 3
_FULL = 0.95  # of attainable, at each of them
_FLAT = 0.015  # their largest difference; copies differ by 1.4 to 50 %
_RATES = ("stream", "exchange", "put", "get")
_WIRE = "log-without-counters"  # the reason that each series over a claimed wire has
_DOUBTFUL = ("below-floor", "below-any-nic", "one-host", "mixed-paths", "outruns-published")


def doubt_rates(
    series: Sequence[Series],
    verdicts: Sequence[SeriesVerdict],
    table: Table | None,
    same_run: Callable[[Series, Series], bool],
) -> list[SeriesVerdict]:
    """Make passed tables of rates inconclusive if memory explains them and nothing in the log
    shows a wire.

    A start of the same run that is no quicker than the link shows it, and so do two host names and
    a full line. ``same_run``: whether two series had the same processes.
    """
    least = (table or default_table())["rate.memory"].value
    both = list(zip(series, verdicts, strict=True))
    wires = [one for one, judged in both if _starts_as_a_wire(one, judged) or _full(one, judged)]
    return [
        judged
        if not _like_memory(one, judged, least) or any(same_run(one, wire) for wire in wires)
        else _doubted(one, judged)
        for one, judged in both
    ]


def _like_memory(series: Series, judged: SeriesVerdict, least: float) -> bool:
    named = len({name.rpartition(":")[0] or name for name in series.hosts}) > 1
    return (
        judged.verdict == "pass"
        and judged.start_ns is None
        and series.traffic in _RATES
        and series.pairs == 1  # several pairs of one host outrun the links of that range
        and not named
        and not carrier(series)
        and (judged.attainable_bytes_per_s or 0.0) >= least
        and any(reason.code == _WIRE for reason in judged.reasons)
    )


def _starts_as_a_wire(series: Series, judged: SeriesVerdict) -> bool:
    quick = any(reason.code in _DOUBTFUL for reason in judged.reasons)
    alone = judged.start_ns is not None and not idle_beside(series)
    return alone and judged.proof == "unproven" and not quick


def _large(series: Series) -> list[tuple[int, float]]:
    """Return (size, goodput of one direction) of the largest sizes."""
    moved = [(row.size, row.goodput) for row in curve_of(series).moved if row.size >= _LARGE]
    return moved[-_LARGEST:]


def _full(series: Series, judged: SeriesVerdict) -> bool:
    """Return whether the largest sizes have one rate, and it is the link's."""
    rates, most = [rate for _, rate in _large(series)], judged.attainable_bytes_per_s
    if series.traffic not in _RATES or judged.proof != "unproven" or not most:
        return False
    least = min(rates, default=0.0)
    even = len(rates) >= _FEWEST and 1 - least / max(rates) <= _FLAT
    return even and least >= _FULL * most


def _doubted(series: Series, judged: SeriesVerdict) -> SeriesVerdict:
    large, most = _large(series), judged.attainable_bytes_per_s or 0.0
    best = judged.best_bytes_per_s or 0.0
    rates = [rate for _, rate in large]
    evidence: Evidence = {"goodput_bytes_per_s": best, "attainable_bytes_per_s": most}
    if len(rates) < _FEWEST:
        shape = f"fewer than {_FEWEST} sizes from {size(_LARGE)} on show whether a line is full"
    else:
        spread = 1 - min(rates) / max(rates)
        evidence["spread"] = spread
        shape = (
            f"from {size(large[0][0])} on it reaches {min(rates) / most:.0%} to"
            f" {max(rates) / most:.0%} of attainable, a full line {_FULL:.0%} with differences"
            f" up to {_FLAT:.1%}"
        )
    text = (
        f"copies in memory reach {throughput(best)}, too: {shape}; no latency and no two host"
        " names in this log tell them apart"
    )
    reason = Reason(
        code="rate-like-memory", severity="inconclusive", message=text, evidence=evidence
    )
    return msgspec.structs.replace(
        judged, verdict="inconclusive", reasons=[reason, *judged.reasons]
    )
