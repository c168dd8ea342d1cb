"""``wireproof convert VALUE``: a rate in every unit, held against what a link can carry, with the
arithmetic.
"""

from functools import partial
from typing import Any

import click

from wireproof.cli.console import listed, print_document
from wireproof.cli.declare import FORM, JSON, flag, text
from wireproof.cli.options import link_claim

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
    FORM,
    JSON,
]


@click.command("convert", params=OPTIONS)
def command(value: tuple[str, ...], links: bool, **options: Any) -> int:
    """Convert VALUE, such as 4986.11MB/s, 39.9Gb/s, 1.24us or 160Mmsg/s, and show the arithmetic.

    MB is 10^6 bytes and MiB is 2^20; b is a bit and B is a byte. A time is that of one message
    (half a round trip). With --link the rate is held against the line rate and against what headers
    leave of it.
    """
    from wireproof.report.documents.convert import conversion_document, links_document
    from wireproof.workflow.convert import convert, known_links

    if links:
        known = known_links()
        print_document(listed("Links", links=known), partial(links_document, known))
        return 0
    if not value:
        raise click.UsageError("give a rate, a time or a message rate, such as 12.4GB/s.")
    # As pasted from a log the number and its unit are two words.
    found = convert(" ".join(value), **options)
    print_document(found, partial(conversion_document, found))
    return 0
