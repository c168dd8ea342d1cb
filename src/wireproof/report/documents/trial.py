"""A trial as a document: the answer for each value, its guards, and the method."""

from collections import Counter

from wireproof.model import quantity
from wireproof.model.experiment import Answer, Guard, TryResult, ValueEffect
from wireproof.report.document import Document, Head, Row, Span, Table, Text, Tone

_HEADS = (
    Head("value", 9, left=True),
    Head("base", 4),
    Head("with it", 6),
    Head("change", 8),
    Head("answer", 7, left=True),
    Head("", 5, left=True),
)
_TONES: dict[str, Tone] = {
    "helps": "pass",
    "hurts": "fail",
    "undecided": "inconclusive",
    "worse": "fail",
    "unclear": "note",
}


def trial_document(trial: TryResult) -> Document:
    """The value that helps most is the answer; otherwise the document tells what is known of each
    value.
    """
    title = f"{trial.knob.name}, tried on {trial.workload}"
    others = [each for each in trial.comparisons if each is not _first(trial)]
    parts = [
        *(Text(each.text, _TONES.get(each.answer, "")) for each in others),
        *((Text(_slow(trial), "warning"),) if trial.stopping.reason == "too-slow" else ()),
        _values(trial),
        *(_guards(trial, each) for each in trial.comparisons if each.guards),
        *(Text(note, "note") for note in trial.notes),
        Text(f"{title}; {_method(trial)}", "note"),
    ]
    return Document(title, _first(trial).text, tuple(parts), trial.verdict)


def _first(trial: TryResult) -> ValueEffect:
    order: tuple[Answer, ...] = ("undecided", "hurts", "no-effect", "helps")
    return trial.best or min(trial.comparisons, key=lambda each: order.index(each.answer))


def _values(trial: TryResult) -> Table:
    rows = tuple(
        Row(
            (
                trial.knob.shown(each.value),
                quantity.amount(each.base, trial.metric.unit),
                quantity.amount(each.other, trial.metric.unit),
                quantity.change(each.ratio, each.low, each.high),
                each.answer.replace("-", " "),
                Span(each.ratio, each.low, each.high),
            ),
            _TONES.get(each.answer, ""),
        )
        for each in trial.comparisons
    )
    better = "more" if trial.metric.better == "higher" else "less"
    title = f"{trial.metric.name} ({better} is better); base: {trial.knob.shown(0)}"
    return Table(_HEADS, rows, title, most=len(rows))


def _guards(trial: TryResult, comparison: ValueEffect) -> Table:
    heads = (Head("guard", 9, left=True), *_HEADS[1:5])
    rows = []
    for guard in comparison.guards:
        answer = _guard_answer(guard, trial.smallest)
        cells = (guard.name, f"{guard.base:.4g}", f"{guard.value:.4g}", _change(guard), answer)
        rows.append(Row(cells, _TONES.get(answer, "")))
    title = f"What must not become worse with {trial.knob.shown(comparison.value)}"
    return Table(heads, tuple(rows), title)


def _change(guard: Guard) -> str:
    if guard.kind == "ratio":
        low, high = (None if end is None else 1 + end for end in (guard.low, guard.high))
        return quantity.change(1 + guard.change, low, high)
    known = guard.low is not None and (guard.low or guard.high)
    interval = f" [{guard.low:+.3g}, {guard.high:+.3g}]" if known else ""
    return f"{guard.change:+.3g} per run{interval}"


def _guard_answer(guard: Guard, smallest: float) -> str:
    """``unclear``: neither shown to be worse nor shown to be no worse."""
    if guard.worse:
        return "worse"
    most = 0.0 if guard.kind == "count" else smallest
    return "not worse" if guard.high is not None and guard.high <= most else "unclear"


def _slow(trial: TryResult) -> str:
    return (
        f"Too few runs fit into {quantity.duration(trial.stopping.budget_s)} for any answer: give a"
        " larger --budget-s or a shorter command."
    )


def _method(trial: TryResult) -> str:
    proofs = Counter(run.proof for run in trial.runs if run.proof).most_common()
    paths = ", ".join(f"{proof} {count}" for proof, count in proofs)
    return (
        f"{quantity.counted(len(trial.runs), 'run')} in {quantity.duration(trial.seconds)}"
        f"{f' (paths: {paths})' if paths else ''}; blocks:"
        f" {max(each.blocks for each in trial.comparisons)}, looks: {len(trial.stopping.looks)};"
        f" all intervals hold together with {100 * (1 - trial.stopping.alpha):.0f} %;"
        f" seed {trial.seed}"
    )
