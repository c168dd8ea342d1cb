"""The gain from several rails as a document: a table for each pattern and size."""

from collections.abc import Sequence

from wireproof.model import quantity
from wireproof.model.experiment import GainRow, RailGain, RailNumber
from wireproof.report.document import (
    Bar,
    Document,
    Findings,
    Head,
    Part,
    Row,
    Span,
    Table,
    Text,
    items_of,
)

_RAIL_HEADS = (
    Head("rail", 9, left=True),
    Head("MB/s, 95 %", 8, left=True),
    Head("of its limit", 6),
    Head("path", 7, left=True),
    Head("", 3, left=True),
)


_GAIN_HEADS = (
    Head("", 9, left=True),
    Head("times, 95 %", 8, left=True),
    Head("of the sum", 6, left=True),
    Head("", 3, left=True),
)


def gain_document(gain: RailGain) -> Document:
    """Return the answer, the findings, a table for each row, and the method."""
    findings = [Findings(items_of(gain.findings))] if gain.findings else []
    every = [_forest(gain.rows)] if gain.rows else []
    parts: list[Part] = [
        *findings,
        *every,
        *map(_rails_table, gain.rows),
        Text(_gain_method(gain), "note"),
    ]
    return Document("Gain from several rails", gain.answer, tuple(parts), gain.verdict)


def _gain_method(gain: RailGain) -> str:
    variables = ", ".join(f"{name}={value}" for name, value in gain.told.items())
    return (
        f"{' - '.join(gain.hosts)}{f' ({gain.link})' if gain.link else ''};"
        f" {quantity.counted(gain.rounds, 'round')} in"
        f" {quantity.duration(gain.seconds)}, in random order, seed {gain.seed};"
        f" variables with all rails: {variables or 'none'}; 95 % intervals"
    )


def _forest(rows: Sequence[GainRow]) -> Table:
    """Return all gains: times the best rail alone, and the share of the sum."""
    return Table(
        _GAIN_HEADS,
        tuple(
            Row(
                (
                    _title(row),
                    row.gain.shown("{:.2f}".format),
                    row.of_sum.shown("{:.0%}".format),
                    Span(row.gain.value, row.gain.low, row.gain.high),
                )
            )
            for row in rows
        ),
        "All rails together, compared with the best rail alone",
    )


def _title(row: GainRow) -> str:
    size = quantity.size(row.message_bytes)
    return f"{row.pattern} of {size}, {row.origin} -> {row.target}"


def _rails_table(row: GainRow) -> Table:
    shares = f"; {row.striping}" if row.striping else ""
    waits = "; waits for each message" if row.pattern == "pingpong" else ""
    rows = tuple(_rail(number) for number in (*row.alone, row.together))
    return Table(_RAIL_HEADS, rows, _title(row) + shares + waits)


def _rail(number: RailNumber) -> Row:
    share = f"{number.goodput.value / number.limit:.0%}" if number.limit else "unknown"
    rate = number.goodput.shown(quantity.megabytes)
    cells = (number.rail or "together", rate, share, number.proof)
    return Row((*cells, Bar(number.goodput.value)), "" if number.proof == "on-wire" else "warning")
