"""``wireproof judge FILE...``, ``atlas`` and ``gate``: judge the output of other benchmarks, show
published results, return the verdict of a stored result.
"""

import sys
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from wireproof.atlas.job import atlas_folder, atlas_view
from wireproof.cli.completion import dialects, links
from wireproof.cli.console import (
    Console,
    chosen_form,
    current_context,
    look_of,
    print_document,
    print_result,
    print_text,
    say,
    status_of,
)
from wireproof.cli.declare import (
    FORM,
    JSON,
    PathName,
    Verb,
    choice,
    file,
    flag,
    json_as,
    link_claim,
    number,
    text,
)
from wireproof.logs.document import (
    WORST_FIRST,
    brief_part,
    judgement_document,
    statistics_section,
)
from wireproof.logs.job import (
    JudgedFile,
    Tally,
    advice,
    files_of,
    itself,
    judge_files,
    standard,
)
from wireproof.logs.json import JudgedSeries, document_pieces, encoded
from wireproof.model.atlas import Pattern
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput
from wireproof.model.finding import Verdict
from wireproof.report.document import Findings, Item, Part
from wireproof.report.reporter import BUG
from wireproof.report.text import part_text

SITE = file(
    "--atlas site",
    "folder of a site's published numbers; default: ~/.config/wireproof/atlas.",
)
SITE.type = PathName(file_okay=False, path_type=Path)


@click.command(
    "atlas",
    cls=Verb,
    document="report.known.atlas_document",
    params=[
        click.Argument(["named"], required=False, metavar="[LINK]", shell_complete=links),
        text(
            "--link", "KIND[:GBPS]", "only this link: hdr, 100gbe, efa100 ...", shell_complete=links
        ),
        choice("--pattern", get_args(Pattern), "only this pattern."),
        text(
            "--size",
            "SIZE",
            "show the values at this size; default: 8 B for times, 1 MiB for rates.",
        ),
        file("--plot", "write the curves of --link as one SVG."),
        SITE,
        FORM,
        JSON,
    ],
)
def atlas(
    named: str | None,
    link: str,
    pattern: str | None,
    size: str,
    plot: Path | None,
    site: Path | None,
) -> int:
    """Print published results for a link, with sources: is a number normal?

    Without LINK, list the links and the number of sources of each. A site can add sources:
    docs/atlas.md describes the format.
    """
    from wireproof.options.sizes import parse_sizes
    from wireproof.plan.job import write_text
    from wireproof.report.figure.file import standalone
    from wireproof.report.figure.series import atlas_chart

    if named and link:
        raise click.UsageError("give one link: either LINK or --link.")
    link = link or named or ""
    if plot is not None and not link:
        raise click.UsageError("--plot draws one link: give it with --link.")
    at = parse_sizes(size)[0] if size else None
    folder = atlas_folder(site, current_context().environment)
    found = atlas_view(link, pattern=pattern or "", size=at, folder=folder)
    if plot is not None:
        write_text(plot, standalone(atlas_chart(found)))
        say(f"{plot} written.")
    return print_result(found, listed=not link, at=at)


# --- ``wireproof judge``.


_BRIEF_FROM = 20
Rendered = TypeVar("Rendered")


def _series(results: Iterable[JudgedFile[Rendered]], tally: Tally) -> Iterator[Rendered]:
    """Yield each file's series as soon as it is judged; print the reason if it is not judged."""
    for result in results:
        yield from result.series
        tally.add(result)
        reason = "" if result.file in tally.skipped else result.error or result.passed_over
        if reason:
            say(reason)


@click.command(
    "judge",
    params=[
        click.Argument(["files"], nargs=-1, required=True, metavar="FILE|-..."),
        *link_claim("the link that was measured: 10gbe, ethernet:40, edr, roce:100, opa100, ..."),
        text("--path", "tcp|rdma|psm2|psm3|...", "protocol or fabric of the messages."),
        file("--physics", "TOML file that overrides constants of the limits.", must_exist=True),
        SITE,
        flag("--all everything", "show all details even for many files."),
        FORM,
        json_as('one JSON object on stdout: {"series": [...]}.'),
        number("--jobs", 1, 256, "number of processes; default: one per core."),
    ],
)
def command(
    files: tuple[str, ...],
    everything: bool,
    jobs: int | None,
    site: Path | None,
    **claim: Any,
) -> int:
    """Judge logs of OSU, IMB, HPCC, perftest, qperf, iperf3, sockperf, fi_pingpong, fabtests,
    mpiGraph, ucx_perftest, ucc_perftest, nccl-tests, netperf, NetPIPE and ibv_rc_pingpong, and bare
    tables: could these numbers have come over that link?

    FILE may be a Slurm log with several results, a folder, - for standard input, or a file of
    PSM3's statistics (PSM3_PRINT_STATS); the statistics files of one job are judged together.
    """
    names = files_of(files)
    against = standard(**claim, site=atlas_folder(site, current_context().environment))
    tally = Tally(named=frozenset(files))
    judged = partial(
        judge_files, names, against, stdin=sys.stdin.buffer, jobs=jobs, reporter=Console()
    )
    brief = len(names) >= _BRIEF_FROM and not everything
    form = chosen_form()
    if form == "json":
        series = _series(judged(encoded), tally)
        pieces = document_pieces(series, against.link, partial(tally.document, (), against.link))
        current_context().answer.given = True
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()
    elif form == "text" and brief:
        _print_brief(_series(judged(_brief_line), tally), tally, len(names), against.link)
    else:
        found = tally.document(_series(judged(itself), tally), against.link)
        if form == "text" and not (found.series or found.statistics):
            return _status(tally)  # the reason is on stderr
        answer = tally.total(len(names)) if len(names) > 1 else ""
        build = partial(judgement_document, found, answer, brief=brief, advice=advice(found))
        print_document(found, build)
    return _status(tally)


def _brief_line(judged: JudgedSeries) -> tuple[Verdict, Part]:
    return judged.verdict, brief_part(judged)


def _print_brief(
    series: Iterable[tuple[Verdict, Part]], tally: Tally, files: int, link: LinkClaim | None
) -> None:
    """Print the total over all files, then a line for each series, the worst first."""
    look = look_of()
    lines = sorted(series, key=lambda line: WORST_FIRST.index(line[0]))
    sections = [statistics_section(job) for job in tally.jobs(link)]
    answer = Findings((Item(tally.worst, tally.total(files)),), whole=True)
    for part in (answer, *(line for _, line in lines), *sections):
        sys.stdout.write(part_text(part, look))


def _status(tally: Tally) -> int:
    if tally.bugs:
        return BUG
    if tally.skipped and not tally.verdicts:
        say(
            "no file in the folder is a log of a benchmark, so nothing was judged; `wireproof"
            " report` reads the --out folder of a check or measurement."
        )
        return BadInput.exit_status
    return 2 if tally.errors else status_of(tally.worst)


# --- ``wireproof gate``.


_READ_BY_PEOPLE = ("text", "json")
_MOST_S = 50.0


@click.command(
    "gate",
    params=[
        click.Argument(["source"], type=PathName(path_type=Path), metavar="RESULT"),
        text(
            "--node nodes",
            "NODES",
            "only these nodes: n3, n[1-4]; `here`: this host. Default: all.",
            default=None,
        ),
        text(
            "--dialect",
            "nagios|nhc|slurm|...",
            "form of the verdict for its reader; see below.",
            default="text",
            shell_complete=dialects,
        ),
        text("--max-age", "TIME", "maximum age of the result: 12h, 7d.", default="24h"),
        text("--within", "TIME", "time limit for the answer.", default="50s"),
        file("--out page", "replace this file atomically, instead of printing to stdout."),
        json_as("the same as --dialect json."),
    ],
)
def gate(
    source: Path,
    nodes: str | None,
    dialect: str,
    max_age: str,
    within: str,
    page: Path | None,
) -> int:
    """Report whether nodes are proven healthy, in the form that schedulers, monitors and CI need.

    RESULT is the --out folder of a check, a folder of such folders, or a history, of which the
    newest result is used. Nothing is measured, drained or changed. Only a pass is healthy: a
    missing or old result, a node that took no part, or a late answer is not.

    \b
    Exit status by dialect (pass, fail, undecided):
      text, json, junit, ctrf, sarif  0, 1, 3
      nagios (Nagios, Icinga)         0, 2, 3
      nhc, slurm                      0, 1, 1
      npd (Node Problem Detector)     0, 1, 2
      openmetrics                     0: the file holds the verdict
    """
    from wireproof.archive.gate import gate, put_verdict, undecided
    from wireproof.options.sizes import parse_duration
    from wireproof.report.gate import dialect as dialect_called

    name = "json" if chosen_form() == "json" else dialect
    chosen = dialect_called(name)
    until = time.monotonic() + _MOST_S
    try:
        within_s = parse_duration(within)
        until = time.monotonic() + within_s
        found = gate(source, nodes, max_age_s=parse_duration(max_age), within_s=within_s)
    except BadInput as error:
        if name in _READ_BY_PEOPLE:
            raise
        # Status 2 is a verdict for some callers, and an old file of --out must not continue to say
        # "pass".
        found = undecided(str(error))
    if page is None:
        print_text(chosen.text(found))
    else:
        put_verdict(page, chosen.text(found), max(until - time.monotonic(), 1.0))
        current_context().answer.given = True
    return chosen.status[found.verdict]
