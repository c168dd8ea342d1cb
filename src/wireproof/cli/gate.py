"""``wireproof gate``: the verdict of a stored result for schedulers, monitors and CI."""

import time
from pathlib import Path

import click

from wireproof.cli.completion import dialects
from wireproof.cli.console import chosen_form, current_context, print_text
from wireproof.cli.declare import file, json_as, text

_READ_BY_PEOPLE = ("text", "json")
_MOST_S = 50.0

OPTIONS: tuple[click.Parameter, ...] = (
    click.Argument(["source"], type=click.Path(path_type=Path), metavar="RESULT"),
    text(
        "--node nodes",
        "NODES",
        "only these: n3, n[1-4]; `here`: this host. Default: all.",
        default=None,
    ),
    text(
        "--dialect",
        "nagios|nhc|slurm|...",
        "who reads the verdict; see below.",
        default="text",
        shell_complete=dialects,
    ),
    text("--max-age", "TIME", "largest age of the result: 12h, 7d.", default="24h"),
    text("--within", "TIME", "the longest time to the answer.", default="50s"),
    file("--out page", "replace this file as a whole, instead of printing to stdout."),
    json_as("the same as --dialect json."),
)


@click.command("gate", params=[*OPTIONS])
def command(
    source: Path,
    nodes: str | None,
    dialect: str,
    max_age: str,
    within: str,
    page: Path | None,
) -> int:
    """Tell whether nodes are proven healthy, in the form that schedulers, monitors and CI need.

    RESULT is the --out folder of a check, a folder of such folders, or a history: the newest
    counts. Nothing is measured, drained or changed. Only a pass is healthy: a missing or old
    result, a node that took no part, or a late answer is not.

    \b
    Exit status by dialect (pass, fail, undecided):
      text, json, junit, ctrf, sarif  0, 1, 3
      nagios (Nagios, Icinga)         0, 2, 3
      nhc, slurm                      0, 1, 1
      npd (Node Problem Detector)     0, 1, 2
      openmetrics                     0: the file holds the verdict
    """
    from wireproof.model.errors import BadInput
    from wireproof.report.gate import dialect as dialect_called
    from wireproof.settings.sizes import parse_duration
    from wireproof.workflow.gate import GateSpecification, gate, put_verdict, undecided

    name = "json" if chosen_form() == "json" else dialect
    chosen = dialect_called(name)
    until = time.monotonic() + _MOST_S
    try:
        within_s = parse_duration(within)
        until = time.monotonic() + within_s
        asked = GateSpecification(
            source=source, nodes=nodes, max_age_s=parse_duration(max_age), within_s=within_s
        )
        found = gate(asked)
    except BadInput as error:
        if name in _READ_BY_PEOPLE:
            raise
        # Status 2 is a verdict for some callers, and a file of --out must not keep saying "pass".
        found = undecided(str(error))
    if page is None:
        print_text(chosen.text(found))
    else:
        put_verdict(page, chosen.text(found), max(until - time.monotonic(), 1.0))
        current_context().answer.given = True
    return chosen.status[found.verdict]
