"""A ladder as a document: a bar for each layer, the steps, and settings to try."""

from collections.abc import Callable

from wireproof.experiment.ladder import Ladder, Layer, Quantity, StepAnswer
from wireproof.model import quantity
from wireproof.model.experiment import Interval
from wireproof.report.document import (
    Bar,
    Document,
    Findings,
    Head,
    Item,
    Part,
    Row,
    Section,
    Steps,
    Table,
    Text,
    Tone,
    items_of,
)
from wireproof.report.document import Step as Try

_MOST_HINTS = 8
_QUANTITIES: dict[Quantity, tuple[str, str, Callable[[float], str]]] = {
    "start": ("Time before the first byte (o)", "o, us", quantity.microseconds),
    "rate": ("Rate of large messages, one at a time (R)", "R, MB/s", quantity.megabytes),
    "windowed": ("Rate with many messages in flight (W)", "W, MB/s", quantity.megabytes),
}
_LAYER_HEADS = (Head("layer", 9, left=True), Head("", 7), Head("path", 6, left=True))
_FIGURE = Head("", 5, left=True)
_STEP_TONES: dict[StepAnswer, Tone] = {
    "loses": "fail",
    "no-loss": "pass",
    "undecided": "inconclusive",
}
_STEP_ANSWERS = {"loses": "loses", "no-loss": "no loss", "undecided": "undecided"}


def ladder_document(ladder: Ladder) -> Document:
    """Return the answer, the layers with their bars, the steps, and settings to try."""
    of, hosts = ("between", " - ".join(ladder.hosts)) if ladder.hosts else ("of", "a model")
    wire = ", ".join(filter(None, (ladder.nic, ladder.link)))
    where = f"{hosts} ({wire})" if wire else hosts
    tables = [table for each in _QUANTITIES if (table := _layer_table(ladder, each))]
    parts: list[Part] = [*tables]
    if ladder.steps:
        steps = tuple(
            Item(_STEP_TONES[step.answer], step.text, word=f"{_STEP_ANSWERS[step.answer]}:")
            for step in ladder.steps
        )
        parts.append(Section("From each layer to the next", (Findings(steps),)))
    step_texts = {step.text for step in ladder.steps}
    others = [
        finding
        for finding in ladder.findings
        if finding.message.partition("; but ")[0] not in step_texts
    ]
    if others:
        parts.append(Section("Findings", (Findings(items_of(others)),)))
    if ladder.hints:
        hints = tuple(Try(f"{hint.name}: {hint.does}", hint.command) for hint in ladder.hints)
        title = "What to try: knobs of the layer with the loss"
        parts.append(Section(title, (Steps(hints, most=_MOST_HINTS),)))
    method = (
        f"{where}; {quantity.counted(ladder.rounds, 'round')} in"
        f" {quantity.duration(ladder.seconds)}, layers in random order, seed {ladder.seed};"
        f" t(s) = o + s/R; a loss is reported above {ladder.smallest:.0%}, with an error rate of"
        f" {ladder.alpha:.0%} for all steps together (Holm)"
    )
    parts.append(Text(method, "note"))
    return Document(f"Layers {of} {where}", ladder.answer, tuple(parts), ladder.verdict)


def _layer_table(ladder: Ladder, what: Quantity) -> Table | None:
    """Return the layers in one quantity, from the wire up; None if no layer has it."""
    title, unit, shown = _QUANTITIES[what]
    numbers: list[Interval | None] = [getattr(layer.line, what) for layer in ladder.layers]
    if not any(numbers):
        return None
    name, value, path = _LAYER_HEADS
    heads = (name, value._replace(title=unit), path, _FIGURE)
    rows = [
        _layer_row(layer, number, shown)
        for layer, number in zip(ladder.layers, numbers, strict=True)
    ]
    return Table(heads, tuple(rows), title)


def _layer_row(layer: Layer, number: Interval | None, shown: Callable[[float], str]) -> Row:
    bar = Bar(None if number is None else number.value)
    value = "-" if number is None else number.shown(shown)
    return Row((layer.title, value, layer.proof or "model", bar))
