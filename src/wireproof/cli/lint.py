"""``wireproof lint FILE...``: what is wrong in a recipe before it is run."""

from __future__ import annotations

import sys

import click

from wireproof.model.errors import BadInput

__all__ = ["command"]


@click.command("lint")
@click.argument("files", nargs=-1, type=click.Path(path_type=str))
@click.option("--json", "as_json", is_flag=True, help="one JSON document on stdout.")
@click.option("--kind", help="do not detect what the file is: script, modprobe, sysctl, ifcfg …")
@click.option(
    "--severity",
    type=click.Choice(["warning", "error"]),
    default="warning",
    help="leave out what is less.",
)
@click.option("--diff", is_flag=True, help="show the safe fixes as a difference; write nothing.")
@click.option("--fix", is_flag=True, help="show the difference, ask, then write the safe fixes.")
@click.option("--yes", is_flag=True, help="with --fix: do not ask.")
@click.option("--rules", is_flag=True, help="list all rules.")
def command(
    files: tuple[str, ...],
    as_json: bool,
    kind: str | None,
    severity: str,
    diff: bool,
    fix: bool,
    yes: bool,
    rules: bool,
) -> int:
    """Find what is wrong in job scripts, command lines and configuration FILEs; - is stdin.

    Exit status: 0 nothing found, 1 findings, 2 a file cannot be read.
    """
    if rules:
        return _list_rules(as_json)
    if not files:
        raise BadInput(
            "lint needs a file, or - for stdin; 'wireproof lint --rules' lists what it looks for."
        )
    if fix and "-" in files:
        raise BadInput("--fix cannot write to stdin: give a file, or --diff.")
    from wireproof.workflow.lint import Asked, lint_files

    return lint_files(
        list(files),
        Asked(as_json, known_kind(kind), severity == "error", diff, fix, yes),
        sys.stdin.buffer,
    )


def known_kind(kind: str | None) -> str | None:
    """``kind`` if there is such a kind. Raises BadInput with the nearest."""
    from difflib import get_close_matches

    from wireproof.lint.kinds import KINDS

    if kind is None or kind in KINDS:
        return kind
    near = get_close_matches(kind, KINDS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(KINDS)}."
    raise BadInput(f"no kind of recipe is called {click.unstyle(kind)!r}; {hint}")


def _list_rules(as_json: bool) -> int:
    from wireproof.lint.catalogue import RULES

    if as_json:
        from wireproof.report.json.encode import json_text

        click.echo(json_text({"rules": list(RULES.values())}, indent=2))
        return 0
    width = max(len(code) for code in RULES)
    for code, rule in sorted(RULES.items()):
        click.echo(f"{code:{width}}  {rule.sentence}")
    return 0
