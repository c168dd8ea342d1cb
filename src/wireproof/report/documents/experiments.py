"""Experiments as documents: a study, a ladder of layers, and the gain from several rails."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from wireproof.model import gathered, quantity
from wireproof.model.experiment import GainRow, Interval, RailGain, RailNumber
from wireproof.model.finding import Finding
from wireproof.model.ladder import Ladder, LadderPlan, Layer, Quantity, StepAnswer
from wireproof.model.study import StudiedPattern, Study, StudyRun
from wireproof.report.document import (
    Bar,
    Document,
    Facts,
    Findings,
    Head,
    Item,
    Part,
    Raw,
    Row,
    Section,
    Span,
    Step,
    Steps,
    Table,
    Text,
    Tone,
    items_of,
)
from wireproof.report.document import Step as Try
from wireproof.report.names import clean, fold

_HEADS = (
    Head("value", 9, left=True),
    Head("effect, 95 %", 8),
    Head("", 7, left=True),
    Head("obeyed", 6, left=True),
    Head("", 5, left=True),
)
_FEW: tuple[str, Tone] = ("few runs", "note")
_ANSWERS: dict[str, tuple[str, Tone]] = {
    "helps": ("helps", "pass"),
    "hurts": ("hurts", "fail"),
    "no-effect": ("none", ""),
    "undecided": ("?", "note"),
}
_OBEYED = {"honoured": "yes", "by-effect": "yes", "unsaid": "?"}
"""Other states mean no; a finding gives details."""
_STOPPED = {
    "complete": "",
    "budget": "; the budget ended before all rounds",
    "interrupted": "; interrupted",
}


def study_document(study: Study) -> Document:
    """Return the study: recommended values first, then values that did not take effect or did not
    use the wire.
    """
    title = f"Study of {study.title} on {fold(study.hosts) or 'no host'}"
    open_paths = [part for part in _paths(study) if part.verdict]
    proven = [part for part in _paths(study) if not part.verdict]
    tables = [_pattern(study, pattern) for pattern in study.patterns]
    parts = (*_advice(study), *_findings(study), *open_paths, *tables, *proven)
    method = Text(f"{title}: {_method(study)}", "note")
    return Document(title, _answer(study), (*parts, method), study.verdict)


def _answer(study: Study) -> str:
    use = [advice.text for advice in study.advice if advice.kind == "use"]
    if use:
        return f"Use {use[0]}"
    if any(run.proof != "on-wire" for run in study.runs):
        return (
            f"No setting of {study.title} is recommended: some launches are not proven to use the "
            "wire, so nothing is concluded from them."
        )
    if study.verdict == "inconclusive":
        return (
            f"The effects of the settings of {study.title} are undecided here: give a larger "
            "--budget."
        )
    if study.advice:
        return f"No setting of {study.title} helps without a loss elsewhere."
    if left := sum(effect.answer == "undecided" for effect in study.effects):
        count = f"{left} of {quantity.counted(len(study.effects), 'effect')}"
        return f"No setting of {study.title} is known to help here; {count} are undecided."
    return f"No setting of {study.title} that took effect helps measurably here."


def _advice(study: Study) -> Iterator[Section]:
    for kind, title, first in (("use", "Also recommended", 1), ("trade", "Helps and hurts", 0)):
        steps = [Step(advice.text) for advice in study.advice if advice.kind == kind][first:]
        if steps:
            yield Section(title, (Steps(tuple(steps)),))


def _findings(study: Study) -> Iterator[Section]:
    ignored = [each for each in study.findings if each.code == "setting-not-honoured"]
    counters: list[Finding] = [each for each in study.findings if each not in ignored]
    alike = gathered((one.message.partition(" was requested, ")[2], one) for one in ignored)
    not_obeyed = [item for text, group in alike.items() for item in _ignored(text, group)]
    if not_obeyed:
        yield Section("Not obeyed, or not reported", (Findings(tuple(not_obeyed)),))
    if counters:
        yield Section(f"Counters of {study.title}", (Findings(items_of(counters)),))


def _ignored(text: str, group: Sequence[Finding]) -> Sequence[Item]:
    """Return several values with the same finding as one item."""
    if not text or len(group) == 1:
        return items_of(group)
    names = ", ".join(one.message.partition(": ")[0] for one in group)
    return [Item(group[0].severity, f"{names}: {text}", group[0].code)]


def _pattern(study: Study, pattern: StudiedPattern) -> Part:
    effects = [effect for effect in study.effects if effect.pattern == pattern.name]
    better = "more" if pattern.metric.better == "higher" else "less"
    title = f"{pattern.name}, {pattern.what} ({better} is better)"
    if not effects:
        return Text(f"{title}: nothing was measured", "inconclusive")
    obeyed = {each.configuration: _OBEYED.get(each.seen, "no") for each in study.honoured}
    rows: list[Row] = []
    for effect in effects:
        answer, tone = _ANSWERS[effect.answer] if effect.low is not None else _FEW
        cells = (
            study.configurations[effect.configuration].shown,
            quantity.change(effect.ratio, effect.low, effect.high),
            answer,
            obeyed.get(effect.configuration, ""),
            Span(effect.ratio, effect.low, effect.high),
        )
        rows.append(Row(cells, tone))
    base = quantity.amount(effects[0].base, pattern.metric.unit)
    return Table(_HEADS, tuple(rows), f"{title}: base {base}", most=len(rows))


def _paths(study: Study) -> Iterator[Section]:
    """Yield proof and shares of the ports, each with the values that share them."""
    alike: dict[str, list[str]] = defaultdict(list)
    for number, configuration in enumerate(study.configurations):
        runs = [run for run in study.runs if run.configuration == number]
        if runs:
            alike[_path(runs)].append(configuration.shown)
    if alike:
        rows = tuple((path, ", ".join(names)) for path, names in alike.items())
        proven = all(run.proof == "on-wire" for run in study.runs)
        title = f"Paths of the {quantity.counted(len(study.runs), 'launch', 'launches')}"
        yield Section(title, (Facts(rows),), "" if proven else "inconclusive")


def _path(runs: Sequence[StudyRun]) -> str:
    """Return ``on-wire 12 of 12, hsn0 50 %, hsn1 50 %``: the most frequent proof, and the median
    shares.
    """
    proof, count = Counter(run.proof for run in runs).most_common(1)[0]
    ports = sorted({name for run in runs for name in run.shares})
    shares = [(name, median(run.shares.get(name, 0.0) for run in runs)) for name in ports]
    words = "".join(f", {name} {100 * share:.0f} %" for name, share in shares if share)
    part = f" {count} of {len(runs)}" if count < len(runs) else ""
    return f"{proof or 'unproven'}{part}{words}"


def _method(study: Study) -> str:
    rails = f"; rails {', '.join(study.rails)}" if len(study.rails) > 1 else ""
    halves = ", ".join(f"{name} {100 * half:.1f} %" for name, half in study.precision.items())
    precision = f" Precision reached (median half interval): {halves}." if halves else ""
    return (
        f"{quantity.counted(len(study.configurations) - 1, 'value')},"
        f" {quantity.counted(study.rounds, 'round')}, {len(study.runs)} launches in"
        f" {quantity.duration(study.seconds)}{rails}{_STOPPED[study.stopped]}.{precision} Helps and"
        f" hurts: beyond {100 * study.smallest:g} %, all of them correct at the same time with"
        f" {100 * (1 - study.alpha):.0f} % confidence (Holm); each interval 95 %; seed {study.seed}"
    )


# --- A ladder as a document: a bar for each layer, the steps, and settings to try.

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


def plan_document(plan: LadderPlan) -> Document:
    """Return the first launch of each layer as shell commands."""
    rounds = quantity.counted(plan.rounds, "round")
    lines = [f"# {rounds} in random order, seed {plan.seed}; the first launch of each layer:"]
    lines += [f"# {clean(note)}" for note in plan.notes]
    for layer in plan.layers:
        lines += [f"# {layer.title}", *layer.commands]
    return Document("What the ladder would run", "", (Raw(tuple(lines)),))


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


# --- The gain from several rails as a document: a table for each pattern and size.

_RAIL_HEADS = (
    Head("rail", 9, left=True),
    Head("MB/s, 95 %", 8, left=True),
    Head("of its limit", 6),
    Head("path", 7, left=True),
    Head("", 3, left=True),
)


def gain_document(gain: RailGain) -> Document:
    """Return the answer, the findings, a table for each row, and the method."""
    findings = [Findings(items_of(gain.findings))] if gain.findings else []
    parts: list[Part] = [*findings, *map(_gain_table, gain.rows), Text(_gain_method(gain), "note")]
    return Document("Gain from several rails", gain.answer, tuple(parts), gain.verdict)


def _gain_method(gain: RailGain) -> str:
    variables = ", ".join(f"{name}={value}" for name, value in gain.told.items())
    return (
        f"{' - '.join(gain.hosts)}{f' ({gain.link})' if gain.link else ''};"
        f" {quantity.counted(gain.rounds, 'round')} in"
        f" {quantity.duration(gain.seconds)}, in random order, seed {gain.seed};"
        f" variables with all rails: {variables or 'none'}; 95 % intervals"
    )


def _gain_table(row: GainRow) -> Table:
    size = quantity.size(row.message_bytes)
    shares = f"; {row.striping}" if row.striping else ""
    waits = "; waits for each message" if row.pattern == "pingpong" else ""
    gain, share = row.gain.shown("{:.2f}".format), row.of_sum.shown("{:.0%}".format)
    gained = f"{gain} times the best rail alone, {share} of the sum"
    rows = tuple(_rail(number) for number in (*row.alone, row.together))
    title = f"{row.pattern} of {size}, {row.origin} -> {row.target}: {gained}"
    return Table(_RAIL_HEADS, rows, title + shares + waits)


def _rail(number: RailNumber) -> Row:
    share = f"{number.goodput.value / number.limit:.0%}" if number.limit else "unknown"
    rate = number.goodput.shown(quantity.megabytes)
    cells = (number.rail or "together", rate, share, number.proof)
    return Row((*cells, Bar(number.goodput.value)), "" if number.proof == "on-wire" else "warning")
