"""``wireproof explain CODE``: what a finding means and what to do next."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("explain")
@click.argument("code", required=False)
@click.option("--json", "as_json", is_flag=True, help="one JSON document on stdout.")
def command(code: str | None, as_json: bool) -> int:
    """Say what a finding's CODE means, how it is found and what to do next; without CODE, list them all."""
    from wireproof.verdict.catalogue import CATALOGUE, explain

    entries = [explain(code)] if code else list(CATALOGUE.values())
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(entries), indent=2).decode())
        return 0
    if code is None:
        width = max(len(entry.code) for entry in entries)
        for entry in entries:
            click.echo(f"{entry.code:{width}}  {entry.title}")
        return 0
    entry = entries[0]
    click.echo(f"{entry.code}: {entry.title}\n")
    for name, text in (("Means", entry.meaning), ("Found by", entry.detection), ("Do next", entry.next_action)):
        click.echo(click.wrap_text(text, 88, f"{name + ':':10}", " " * 10) + "\n")
    return 0
