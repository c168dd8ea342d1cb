"""``wireproof judge FILE...``: the same judgement for what other benchmarks have printed."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import click

from wireproof.cli.console import Console
from wireproof.cli.declare import file, flag, number, text
from wireproof.cli.options import link_claim
from wireproof.cli.outcome import status_of
from wireproof.model.claim import LinkClaim
from wireproof.model.severity import worst
from wireproof.report.json.judgement import VERSION, FileError, encoded
from wireproof.report.text.judgement import long_text, short_text, totals
from wireproof.report.text.look import Look
from wireproof.workflow.bug import BUG
from wireproof.workflow.judge import JudgedFile, files_of, judge_files, standard

__all__ = ["command"]

_BRIEF_FROM = 20
OPTIONS: list[click.Parameter] = [
    click.Argument(["files"], nargs=-1, required=True, metavar="FILE|-..."),
    *link_claim("the link that was measured: 10gbe, ethernet:40, edr, roce:100, opa100, ..."),
    text("--path", "tcp|rdma|psm2|psm3|...", "what carried the messages over that link."),
    file("--physics", "TOML file that overrides constants of the limits.", must_exist=True),
    flag("--all everything", "say everything even for many files."),
    flag("--json as_json", 'one JSON object on stdout: {"series": [...]}.'),
    number("--jobs", 1, 256, "processes; default: one per core."),
]


class _Counted:
    """Verdicts, errors and bugs of the files that have been shown so far."""

    def __init__(self) -> None:
        self.verdicts: Counter[str] = Counter()
        self.errors: list[FileError] = []
        self.bugs = 0

    def add(self, result: JudgedFile[Any]) -> None:
        self.verdicts.update(result.verdicts)
        self.bugs += result.bug
        if result.error:
            self.errors.append(FileError(file=result.file, message=result.error))
            click.echo(f"wireproof: {result.error}", err=True)

    def status(self) -> int:
        if self.bugs:
            return BUG
        return 2 if self.errors else status_of(worst(self.verdicts))  # type: ignore[arg-type]


def _print_text(results: Iterator[JudgedFile[str]], files: int, counted: _Counted) -> None:
    """Text for people on stdout, files that could not be judged on stderr."""
    for result in results:
        sys.stdout.write("".join(result.series))
        counted.add(result)
    if files > 1 or counted.errors:
        click.echo(totals(counted.verdicts, files, len(counted.errors)))


def _print_json(
    results: Iterator[JudgedFile[bytes]], link: LinkClaim | None, counted: _Counted
) -> None:
    """One JSON object on stdout, written as the files are judged."""
    out = sys.stdout.buffer
    out.write(
        b'{"schema": "wireproof.judgement", "version": %d, "link": %s, "series": ['
        % (VERSION, encoded(link) if link is not None else b"null")
    )
    separator = b"\n"
    for result in results:
        for item in result.series:
            out.write(separator + item)
            separator = b",\n"
        counted.add(result)
    out.write(b'\n], "errors": [' + b",\n".join(map(encoded, counted.errors)) + b"]}\n")
    out.flush()


@click.command("judge", params=OPTIONS)
def command(
    files: tuple[str, ...], everything: bool, as_json: bool, jobs: int | None, **claim: Any
) -> int:
    """Judge logs of OSU, IMB, HPCC, perftest, qperf, iperf3, sockperf, fi_pingpong, fabtests,
    mpiGraph, ucx_perftest and nccl-tests: could these numbers have come over that link?

    FILE may be a Slurm log with several results in it, a folder, or - for standard input.
    """
    names = files_of(files)
    against = standard(**claim)
    counted = _Counted()
    judged = partial(
        judge_files, names, against, stdin=sys.stdin.buffer, jobs=jobs, reporter=Console()
    )
    if as_json:
        _print_json(judged(encoded), against.link, counted)
    else:
        show = short_text if len(names) >= _BRIEF_FROM and not everything else long_text
        look = Look.of(sys.stdout, os.environ)
        _print_text(judged(partial(show, look=look)), len(names), counted)
    return counted.status()
