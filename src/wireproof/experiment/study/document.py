"""A study of settings as a document."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from wireproof.experiment.study import StudiedPattern, Study, StudyRun
from wireproof.model import gathered, quantity
from wireproof.model.finding import Finding
from wireproof.report.document import (
    Document,
    Facts,
    Findings,
    Head,
    Item,
    Part,
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
from wireproof.report.names import fold

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
    if why := next((effect.busy for effect in study.effects if effect.busy), ""):
        return f"No setting of {study.title} is recommended: {why}, so their effects are undecided."
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
