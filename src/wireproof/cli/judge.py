"""``wireproof judge FILE...``: the same judgement for what other benchmarks have printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from wireproof.cli.atlas import SITE
from wireproof.cli.console import Console, say
from wireproof.cli.context import current_context
from wireproof.cli.declare import file, flag, number, text
from wireproof.cli.options import link_claim
from wireproof.cli.outcome import status_of
from wireproof.model.errors import BadInput
from wireproof.report.json.judgement import document_pieces, encoded
from wireproof.report.text.judgement import long_text, short_text, totals
from wireproof.report.text.look import Look
from wireproof.report.text.psm3 import job_text
from wireproof.workflow.atlas import site_folder
from wireproof.workflow.bug import BUG
from wireproof.workflow.judge import JudgedFile, Tally, files_of, judge_files, standard

__all__ = ["command"]

_BRIEF_FROM = 20
Rendered = TypeVar("Rendered")
OPTIONS: list[click.Parameter] = [
    click.Argument(["files"], nargs=-1, required=True, metavar="FILE|-..."),
    *link_claim("the link that was measured: 10gbe, ethernet:40, edr, roce:100, opa100, ..."),
    text("--path", "tcp|rdma|psm2|psm3|...", "what carried the messages over that link."),
    file("--physics", "TOML file that overrides constants of the limits.", must_exist=True),
    SITE,
    flag("--all everything", "say everything even for many files."),
    flag("--json as_json", 'one JSON object on stdout: {"series": [...]}.'),
    number("--jobs", 1, 256, "processes; default: one per core."),
]


def _series(results: Iterable[JudgedFile[Rendered]], tally: Tally) -> Iterator[Rendered]:
    """The series of each file as soon as it is judged; a file that could not be is named on
    stderr.
    """
    for result in results:
        yield from result.series
        tally.add(result)
        said = "" if result.file in tally.skipped else result.error or result.passed_over
        if said:
            say(said)


@click.command("judge", params=OPTIONS)
def command(
    files: tuple[str, ...],
    everything: bool,
    as_json: bool,
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
    against = standard(**claim, site=site_folder(site, current_context().environment))
    tally = Tally(named=frozenset(files))
    judged = partial(
        judge_files, names, against, stdin=sys.stdin.buffer, jobs=jobs, reporter=Console()
    )
    if as_json:
        series = _series(judged(encoded), tally)
        pieces = document_pieces(series, against.link, partial(tally.ending, against.link))
        current_context().answer.given = True
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()
    else:
        show = short_text if len(names) >= _BRIEF_FROM and not everything else long_text
        look = Look.of(sys.stdout, os.environ)
        sys.stdout.writelines(_series(judged(partial(show, look=look)), tally))
        sys.stdout.writelines(map(partial(job_text, look=look), tally.jobs(against.link)))
        if len(names) > 1 or tally.errors:
            what = "series or jobs" if tally.statistics else "series"
            skipped = len(tally.skipped)
            click.echo(totals(tally.verdicts, len(names), len(tally.errors), what, skipped=skipped))
    if tally.bugs:
        return BUG
    if tally.skipped and not tally.verdicts:
        say("no file of the folder is a log of a benchmark: nothing was judged.")
        return BadInput.exit_status
    return 2 if tally.errors else status_of(tally.worst)
