"""``wireproof convert VALUE``: a rate in every unit, held against what a link can carry, with the
arithmetic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.console import print_json
from wireproof.cli.declare import flag, text
from wireproof.cli.options import link_claim

if TYPE_CHECKING:
    from wireproof.model.claim import LinkClaim

__all__ = ["command"]

OPTIONS: list[click.Parameter] = [
    click.Argument(["value"], nargs=-1),
    *link_claim("also in per cent of this link: 10gbe, edr, opa100, ethernet:25."),
    text("--path", "tcp|rdma|...", "what carries the bytes over the link."),
    text(
        "--size",
        "SIZE",
        "message size: turns a time or a message rate into a goodput.",
        default=None,
    ),
    flag("--links", "list the links that --link knows, with their rates."),
    flag("--json as_json", "one JSON document on stdout."),
]


@click.command("convert", params=OPTIONS)
def command(value: tuple[str, ...], links: bool, as_json: bool, **options: Any) -> int:
    """Convert VALUE, such as 4986.11MB/s, 39.9Gb/s, 1.24us or 160Mmsg/s, and show the arithmetic.

    MB is 10^6 bytes and MiB is 2^20; b is a bit and B is a byte. A time is that of one message
    (half a round trip). With --link the rate is held against the line rate and against what headers
    leave of it.
    """
    from wireproof.workflow.convert import convert, known_links

    if links:
        return _list(known_links(), as_json)
    if not value:
        raise click.UsageError("give a rate, a time or a message rate, such as 12.4GB/s.")
    # As pasted from a log the number and its unit are two words.
    found = convert(" ".join(value), **options)
    if as_json:
        print_json(found)
    else:
        from wireproof.report.text.conversion import conversion_lines

        click.echo("\n".join(conversion_lines(found)))
    return 0


def _list(links: list[LinkClaim], as_json: bool) -> int:
    if as_json:
        from wireproof.workflow.documents.lists import Links

        print_json(Links(links=links))
        return 0
    for one in links:
        rate = f"{one.rate_bits_per_s / 1e9:g} Gb/s" if one.rate_bits_per_s else "no rate"
        click.echo(f"{one.kind:<18} {rate:<12} {one.protocol}")
    return 0
