"""A ladder's answer, for people: a bar for each layer, the steps, the knobs."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

from wireproof.model import quantity
from wireproof.model.ladder import Ladder, LadderPlan, Number, Quantity
from wireproof.report.names import clean
from wireproof.report.text.look import Look

__all__ = ["ladder_text", "plan_text"]

_MOST = 600
_MOST_HINTS = 8
_WORDS = {"pass": "PASS", "fail": "FAIL", "inconclusive": "INCONCLUSIVE"}


def ladder_text(ladder: Ladder, look: Look) -> str:
    """The verdict and the answer, the layers with their bars, the steps, what to try."""
    return "\n".join(_lines(ladder, look))


def plan_text(plan: LadderPlan) -> str:
    """Lines for a shell: one launch of each layer."""
    lines = [
        (
            f"# {quantity.counted(plan.rounds, 'round')} in random order, seed {plan.seed}; of each"
            " the first launch:"
        )
    ]
    lines += [f"# {clean(note)}" for note in plan.notes]
    for one in plan.layers:
        lines += [f"# {one.title}", *one.commands]
    return "\n".join(lines)


def _lines(ladder: Ladder, look: Look) -> list[str]:
    lines = _wrapped(f"{_WORDS[ladder.verdict]}  {ladder.answer}", look, "  ")
    lines.append("")
    lines += _figure(ladder, look, "start", "o: time before the first byte, us", _us)
    lines += _figure(ladder, look, "rate", "R: rate of large messages, one by one, MB/s", _mb)
    lines += _figure(ladder, look, "windowed", "W: rate with many under way, MB/s", _mb)
    for step in ladder.steps:
        mark = {"loses": "!", "no-loss": " ", "undecided": "?"}[step.answer]
        lines += _wrapped(step.text, look, "    ", f"{mark} ")
    told = {step.text for step in ladder.steps}
    for one in ladder.findings:
        if one.message.partition("; but ")[0] not in told:
            lines += _wrapped(f"{one.message} [{one.code}]", look, "    ", "- ")
    lines += _hints(ladder, look)
    lines += _wrapped(_method(ladder), look, "")
    return lines


def _method(ladder: Ladder) -> str:
    hosts = " - ".join(ladder.hosts) or "a model"
    wire = ", ".join(filter(None, (ladder.nic, ladder.link)))
    return (
        f"{hosts}{f' ({wire})' if wire else ''}; {quantity.counted(ladder.rounds, 'round')} in"
        f" {quantity.duration(ladder.seconds)}, layers in random order, seed {ladder.seed};"
        f" t(s) = o + s/R; a loss is claimed above {ladder.smallest:.0%}, at"
        f" {ladder.alpha:.0%} for all steps together (Holm)"
    )


def _us(value: float) -> str:
    return quantity.microseconds(value)


def _mb(value: float) -> str:
    return quantity.megabytes(value)


def _figure(
    ladder: Ladder, look: Look, what: Quantity, title: str, shown: Callable[[float], str]
) -> list[str]:
    """A title, and one line for each layer: its number, its proof, a bar."""
    numbers = [getattr(one.line, what) for one in ladder.layers]
    if not any(numbers):
        return []
    titles = [look.say(one.title, 30) for one in ladder.layers]
    texts = [_number(one, shown) for one in numbers]
    most = max((one.value for one in numbers if one is not None), default=0.0)
    first, second = max(map(len, titles)), max(map(len, texts))
    room = max(8, min(40, look.width - first - second - 17))
    lines = [title]
    for name, text, number, layer in zip(titles, texts, numbers, ladder.layers, strict=True):
        bar = "#" * round(room * number.value / most) if number is not None else ""
        line = f"  {name:<{first}}  {text:<{second}}  {layer.proof or 'model':<10} {bar}"
        lines.append(line.rstrip())
    return [*lines, ""]


def _number(number: Number | None, shown: Callable[[float], str]) -> str:
    if number is None:
        return "-"
    if number.low is None or number.high is None:
        return shown(number.value)
    return f"{shown(number.value)} [{shown(number.low)}, {shown(number.high)}]"


def _hints(ladder: Ladder, look: Look) -> list[str]:
    if not ladder.hints:
        return []
    lines = ["", "what to try, the losing layer's knobs:"]
    for hint in ladder.hints[:_MOST_HINTS]:
        lines.append(f"  {look.say(hint.name)}: {look.say(hint.does)}")
        lines.append(f"    {look.say(hint.command, _MOST)}")
    if len(ladder.hints) > _MOST_HINTS:
        lines.append(f"  and {len(ladder.hints) - _MOST_HINTS} more: --json has them all")
    return [*lines, ""]


def _wrapped(text: str, look: Look, indent: str, first: str = "") -> list[str]:
    said = look.say(text, _MOST * 4)
    return textwrap.wrap(said, look.width, initial_indent=first, subsequent_indent=indent)
