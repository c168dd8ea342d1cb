"""``wireproof explain CODE|NAME|RATE|LINK``: the meaning of a finding or a name, and the next step;
a rate, a time or an amount in every unit, compared with the limits of a link.
"""

import re
from functools import partial
from typing import Any

import click

from wireproof.cli.completion import codes
from wireproof.cli.console import listed, print_result
from wireproof.cli.declare import FORM, JSON, flag, link_claim, text

_NUMBER = re.compile(r"[+-]?\.?[0-9]")


@click.command(
    "explain",
    params=[
        click.Argument(["words"], nargs=-1, metavar="[CODE|NAME|RATE|LINK]", shell_complete=codes),
        *link_claim("link to compare a rate or a time with: 10gbe, edr, opa100, ethernet:25."),
        text("--path", "tcp|rdma|...", "protocol or fabric that carries the bytes over the link."),
        text(
            "--size",
            "SIZE",
            "message size, which turns a time or a message rate into a goodput.",
            default=None,
        ),
        flag("--links", "list the links that --link knows, with their rates."),
        FORM,
        JSON,
    ],
)
def command(words: tuple[str, ...], links: bool, **options: Any) -> int:
    """Explain CODE (a finding, a cause, a rule of lint, a setting): its meaning, its detection and
    the next step; without CODE, list all findings. NAME is the name of a variable, a module
    parameter, an entry of a BIOS menu, a program, an adapter or a technical term.

    A RATE (4986.11MB/s, 39.9Gb/s), a time (1.24us), a message rate (160Mmsg/s) or an amount (495GB)
    is converted into every unit, with the arithmetic. MB is 10^6 bytes and MiB is 2^20; b is a bit
    and B is a byte. A time is the time of one message (half a round trip). With --link it is
    compared with the line rate and with the rate that remains after headers; 97.6% is then a share
    of the line rate. For a LINK (edr, 25gbe), its limits are shown.

    'wireproof lint --rules' and 'wireproof audit --list' list the other codes.
    """
    from wireproof.verdict.catalogue import findings

    # A value pasted from a log has its number and its unit as two words.
    asked = " ".join(words).lstrip("~ ") or options["link"] or ""
    if words and not asked:
        raise click.UsageError("give a code, a link, or a rate or time such as 12.4GB/s.")
    if links:
        return _list_links()
    if asked in findings() and not any(options.values()):
        return _say_meaning(asked)
    return _say_other(asked, options)


def _list_links() -> int:
    from wireproof.workflow.convert import known_links

    known = known_links()
    return print_result(listed("Links", links=known), known, document="report.known.links_document")


def _say_other(asked: str, options: dict[str, Any]) -> int:
    """Explain a code, name, rate or link that is not a finding."""
    from wireproof.verdict.catalogue import as_key, known_names
    from wireproof.workflow.convert import attainable_rate

    of_link = {name: options[name] for name in ("path", "mtu", "pcie")}
    known = as_key(asked) in known_names()
    if not known and (rate := attainable_rate(asked, **of_link)):
        return _say_units(rate, {**options, "link": asked})
    if any(options.values()) or (_NUMBER.match(asked) and not known):
        return _say_units(asked, options)
    return _say_meaning(asked)


def _say_units(rate: str, options: dict[str, Any]) -> int:
    from wireproof.workflow.convert import convert

    return print_result(convert(rate, **options), document="report.known.conversion_document")


def _say_meaning(code: str) -> int:
    from wireproof.verdict.catalogue import groups
    from wireproof.workflow.explain import explain, explanations

    found = explain(code) if code else []
    shown = partial(explanations, found)
    if found:
        entries = [(explanation.title, explanation.paragraphs) for explanation in found]
        return print_result(shown, entries, document="report.known.explanation_document")
    return print_result(
        shown,
        *("Findings", "wireproof explain CODE", groups()),
        document="report.known.titles_document",
    )
