"""``wireproof explain CODE|NAME|RATE|LINK``: what a finding or a name means and what to do next; a
rate, a time or an amount in every unit, compared with what a link can carry.
"""

import string
from functools import partial
from typing import Any

import click

from wireproof.cli.completion import codes
from wireproof.cli.console import listed, print_document
from wireproof.cli.declare import FORM, JSON, flag, link_claim, text

_NUMBERS = ("+", "-", ".", *string.digits)
OPTIONS: list[click.Parameter] = [
    click.Argument(["words"], nargs=-1, metavar="[CODE|NAME|RATE|LINK]", shell_complete=codes),
    *link_claim("show a rate or a time in per cent of this link: 10gbe, edr, opa100, ethernet:25."),
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


@click.command("explain", params=OPTIONS)
def command(words: tuple[str, ...], links: bool, **options: Any) -> int:
    """Say what CODE means, how it is found and what to do next: a finding, a cause, a rule of lint,
    a setting; without CODE, list all findings. A NAME is that of a variable, a parameter of a
    module, an entry of a BIOS menu, a program, an adapter or a word of the field.

    Of a RATE (4986.11MB/s, 39.9Gb/s), a time (1.24us), a message rate (160Mmsg/s) or an amount
    (495GB): the same in every unit, with the arithmetic. MB is 10^6 bytes and MiB is 2^20; b is a
    bit and B is a byte. A time is that of one message (half a round trip). With --link it is
    compared with the line rate and with what remains after headers; 97.6% is then a share of the
    line rate. Of a LINK (edr, 25gbe): what it can carry.

    'wireproof lint --rules' and 'wireproof audit --list' list the other codes.
    """
    from wireproof.verdict.catalogue import findings

    # As pasted from a log the number and its unit are two words.
    asked = " ".join(words) or options["link"] or ""
    if words and not asked:
        raise click.UsageError("give a code, a link, or a rate or time such as 12.4GB/s.")
    if links:
        _list_links()
    elif asked in findings() and not any(options.values()):
        _say_meaning(asked)
    else:
        _say_other(asked, options)
    return 0


def _list_links() -> None:
    from wireproof.report.documents.known import links_document
    from wireproof.workflow.convert import known_links

    known = known_links()
    print_document(listed("Links", links=known), partial(links_document, known))


def _say_other(asked: str, options: dict[str, Any]) -> None:
    """Explain anything that is not a finding."""
    from wireproof.verdict.catalogue import as_key, known_names
    from wireproof.workflow.convert import attainable_rate

    of_link = {name: options[name] for name in ("path", "mtu", "pcie")}
    if rate := attainable_rate(asked, **of_link):
        _say_units(rate, {**options, "link": asked})
    elif any(options.values()) or (
        asked.startswith(_NUMBERS) and as_key(asked) not in known_names()
    ):
        _say_units(asked, options)
    else:
        _say_meaning(asked)


def _say_units(rate: str, options: dict[str, Any]) -> None:
    from wireproof.report.documents.known import conversion_document
    from wireproof.workflow.convert import convert

    found = convert(rate, **options)
    print_document(found, partial(conversion_document, found))


def _say_meaning(code: str) -> None:
    from wireproof.report.document import Document
    from wireproof.report.documents.known import explanation_document, titles_document
    from wireproof.verdict.catalogue import findings
    from wireproof.workflow.explain import explain, explanations

    found = explain(code) if code else []

    def document() -> Document:
        if found:
            return explanation_document(
                [(explanation.title, explanation.paragraphs) for explanation in found]
            )
        titles = {name: entry.title for name, entry in findings().items()}
        return titles_document("Findings", titles)

    print_document(partial(explanations, found), document)
