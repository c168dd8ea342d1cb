"""``wireproof explain CODE``: what a finding means and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from wireproof.lint.rule import Rule
    from wireproof.verdict.catalogue import Entry

__all__ = ["command"]


@click.command("explain")
@click.argument("code", required=False)
@click.option("--json", "as_json", is_flag=True, help="one JSON document on stdout.")
def command(code: str | None, as_json: bool) -> int:
    """Say what a finding's CODE means, how it is found and what to do next; without CODE, list them
    all.

    The codes of 'wireproof lint' and the settings of 'wireproof audit' are known too; 'wireproof
    lint --rules' and 'wireproof audit --list' list them.
    """
    from wireproof.verdict.catalogue import CATALOGUE

    if code is not None and not as_json and (setting := _setting(code)):
        click.echo(setting)
        return 0
    entries = [_find(code)] if code else list(CATALOGUE.values())
    if as_json:
        from wireproof.report.json.encode import json_text

        click.echo(json_text(entries, indent=2))
        return 0
    if code is None:
        width = max(len(name) for name in CATALOGUE)
        for name, listed in CATALOGUE.items():
            click.echo(f"{name:{width}}  {listed.title}")
        return 0
    title, parts = _parts(entries[0])
    click.echo(f"{title}\n")
    for name, text in parts:
        click.echo(click.wrap_text(text, 88, f"{name + ':':10}", " " * 10) + "\n")
    return 0


def _setting(code: str) -> str:
    """What the catalogue of settings knows of a setting of that name; "" when there is none."""
    from wireproof.report.text.audit import explained
    from wireproof.workflow.audit import catalogue

    entry = catalogue().entries.get(code.strip().lower())
    return "" if entry is None else "\n".join(explained(entry.setting))


def _find(code: str) -> Entry | Rule:
    """The entry of a verdict's code, else the rule of lint. Raises BadInput that suggests near
    codes of both.
    """
    from difflib import get_close_matches

    from wireproof.lint import catalogue as lint
    from wireproof.verdict import catalogue as verdict

    key = code.strip().lower().replace("_", "-")
    if key in verdict.causes():
        return verdict.explain(code)
    near = get_close_matches(key, [*verdict.CATALOGUE, *lint.RULES], n=1, cutoff=0.4)
    if near and near[0] in lint.RULES:
        return lint.explain(code)
    return verdict.explain(code)


def _parts(entry: Entry | Rule) -> tuple[str, list[tuple[str, str]]]:
    from wireproof.lint.rule import Rule

    if isinstance(entry, Rule):
        parts = [("Means", entry.why), ("Right", entry.right), ("Source", entry.source)]
        return f"{entry.code}: {entry.sentence}", parts
    parts = [
        ("Means", entry.meaning),
        ("Found by", entry.detection),
        ("Do next", entry.next_action),
    ]
    return f"{entry.code}: {entry.title}", parts
