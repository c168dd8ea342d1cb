"""``wireproof judge FILE...``: applies the same judgement to the output of other benchmarks."""

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from wireproof.cli.atlas import SITE
from wireproof.cli.console import (
    Console,
    chosen_form,
    current_context,
    look_of,
    print_document,
    say,
)
from wireproof.cli.declare import FORM, file, flag, json_as, link_claim, number, text
from wireproof.cli.outcome import status_of
from wireproof.model.errors import BadInput
from wireproof.report.document import Part
from wireproof.report.documents.judgement import (
    brief_part,
    judgement_document,
    series_section,
    statistics_section,
)
from wireproof.report.json.judgement import JudgedSeries, document_pieces, encoded
from wireproof.report.text.document import part_text
from wireproof.workflow.atlas import atlas_folder
from wireproof.workflow.judge import (
    JudgedFile,
    Tally,
    advice,
    files_of,
    itself,
    judge_files,
    standard,
)
from wireproof.workflow.reporter import BUG

_BRIEF_FROM = 20
Rendered = TypeVar("Rendered")
OPTIONS: list[click.Parameter] = [
    click.Argument(["files"], nargs=-1, required=True, metavar="FILE|-..."),
    *link_claim("the link that was measured: 10gbe, ethernet:40, edr, roce:100, opa100, ..."),
    text("--path", "tcp|rdma|psm2|psm3|...", "what carried the messages over that link."),
    file("--physics", "TOML file that overrides constants of the limits.", must_exist=True),
    SITE,
    flag("--all everything", "show everything even for many files."),
    FORM,
    json_as('one JSON object on stdout: {"series": [...]}.'),
    number("--jobs", 1, 256, "processes; default: one per core."),
]


def _series(results: Iterable[JudgedFile[Rendered]], tally: Tally) -> Iterator[Rendered]:
    """Yield the series of each file as soon as it is judged; print why a file is not judged."""
    for result in results:
        yield from result.series
        tally.add(result)
        reason = "" if result.file in tally.skipped else result.error or result.passed_over
        if reason:
            say(reason)


@click.command("judge", params=OPTIONS)
def command(
    files: tuple[str, ...],
    everything: bool,
    jobs: int | None,
    site: Path | None,
    **claim: Any,
) -> int:
    """Judge logs of OSU, IMB, HPCC, perftest, qperf, iperf3, sockperf, fi_pingpong, fabtests,
    mpiGraph, ucx_perftest, nccl-tests, netperf and ibv_rc_pingpong, and bare tables: could these
    numbers have come over that link?

    FILE may be a Slurm log with several results in it, a folder, or - for standard input; or PSM3's
    statistics (PSM3_PRINT_STATS), whose files of one job are judged together.
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
        pieces = document_pieces(series, against.link, partial(tally.ending, against.link))
        current_context().answer.given = True
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()
    elif form == "text":
        look = look_of()
        show: Callable[[JudgedSeries], Part] = brief_part if brief else series_section
        for part in _series(judged(show), tally):
            sys.stdout.write(part_text(part, look))
        for job in tally.jobs(against.link):
            sys.stdout.write(part_text(statistics_section(job), look))
        if len(names) > 1 or tally.errors:
            click.echo(tally.total(len(names)))
    else:
        found = tally.document(_series(judged(itself), tally), against.link)
        answer = tally.total(len(names)) if len(names) > 1 else ""
        build = partial(judgement_document, found, answer, brief=brief, advice=advice(found))
        print_document(found, build)
    return _status(tally)


def _status(tally: Tally) -> int:
    if tally.bugs:
        return BUG
    if tally.skipped and not tally.verdicts:
        say("no file in the folder is a log of a benchmark: nothing was judged.")
        return BadInput.exit_status
    return 2 if tally.errors else status_of(tally.worst)
