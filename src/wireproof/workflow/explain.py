"""What a code means, of a verdict, of lint or of audit, and what to do next."""

from __future__ import annotations

import dataclasses
from difflib import get_close_matches

from wireproof.lint import catalogue as lint
from wireproof.lint.rule import Rule
from wireproof.verdict import catalogue as verdict
from wireproof.verdict.catalogue import Entry

__all__ = ["Explanation", "explain", "setting_lines"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Explanation:
    """``entry``: as the catalogue has it; ``paragraphs``: (heading, text) of it, in order."""

    entry: Entry | Rule
    title: str
    paragraphs: tuple[tuple[str, str], ...]


def explain(code: str) -> Explanation:
    """The verdict's entry of ``code``, else lint's rule. Raises ``BadInput`` that suggests near
    codes of both.
    """
    entry = _entry(code)
    if isinstance(entry, Rule):
        texts = {"Means": entry.why, "Right": entry.right, "Source": entry.source}
        title = f"{entry.code}: {entry.sentence}"
    else:
        texts = {"Means": entry.meaning, "Found by": entry.detection, "Do next": entry.next_action}
        title = f"{entry.code}: {entry.title}"
    return Explanation(entry=entry, title=title, paragraphs=tuple(texts.items()))


def setting_lines(name: str) -> list[str]:
    """What the catalogue of settings knows of the setting of that name; empty without one."""
    from wireproof.report.text.audit import explained
    from wireproof.workflow.audit import catalogue

    entry = catalogue().entries.get(name.strip().lower())
    return [] if entry is None else list(explained(entry.setting))


def _entry(code: str) -> Entry | Rule:
    key = code.strip().lower().replace("_", "-")
    if key in verdict.causes():
        return verdict.explain(code)
    near = get_close_matches(key, [*verdict.CATALOGUE, *lint.RULES], n=1, cutoff=0.4)
    return lint.explain(code) if near and near[0] in lint.RULES else verdict.explain(code)
