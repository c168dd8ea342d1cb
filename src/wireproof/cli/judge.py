"""``wireproof judge FILE...``: the same judgement for what other benchmarks have printed."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from wireproof.cli.outcome import status_of
from wireproof.model.errors import BadInput
from wireproof.model.finding import Verdict
from wireproof.report.json.judgement import VERSION, FileError, encoded
from wireproof.report.text.judgement import totals
from wireproof.report.text.look import Look
from wireproof.workflow.bug import BUG
from wireproof.workflow.judge import Case, Judged, judged_files

__all__ = ["command"]

_BRIEF_FROM = 20


def _inside(folder: str) -> Iterator[str]:
    """Files in and below a folder, hidden ones left out; as deep as paths go, which a recursion
    would not.
    """
    waiting = [folder]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:  # not ours to read, or deeper than a path can be
            continue
        waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        yield from (
            entry.path
            for entry in entries
            if not entry.name.startswith(".") and not entry.is_dir(follow_symlinks=False)
        )


def _files(names: tuple[str, ...]) -> list[str]:
    """The files named; a folder stands for the files in it. Raises BadInput for a folder without
    any.
    """
    found: list[str] = []
    for name in names:
        if name != "-" and os.path.isdir(name):
            inside = sorted(_inside(name))
            if not inside:
                raise BadInput(f"{name}: the folder has no file in it.")
            found += inside
        else:
            found.append(name)
    if found.count("-") > 1:
        raise BadInput("standard input (-) can be read once only.")
    return found


def _said(results: Iterator[Judged], files: int, counts: Counter[str]) -> int:
    """Text for people on stdout, files that could not be judged on stderr; returns how many those
    were.
    """
    errors = 0
    for result in results:
        sys.stdout.write(result.text)
        counts.update(result.verdicts)
        counts["bug"] += result.bugs
        for error in result.errors:
            errors += 1
            click.echo(f"wireproof: {error}", err=True)
    if files > 1 or errors:
        click.echo(totals(counts, files, errors))
    return errors


def _document(results: Iterator[Judged], case: Case, counts: Counter[str]) -> int:
    """One JSON object on stdout, written as the files are judged."""
    out = sys.stdout.buffer
    link = encoded(case.link) if case.link is not None else b"null"
    out.write(
        b'{"schema": "wireproof.judgement", "version": %d, "link": %s, "series": ['
        % (VERSION, link)
    )
    separator, errors = b"\n", list[bytes]()
    for result in results:
        for item in result.documents:
            out.write(separator + item)
            separator = b",\n"
        counts.update(result.verdicts)
        counts["bug"] += result.bugs
        for file, message in zip(result.files, result.errors, strict=True):
            errors.append(encoded(FileError(file=file, message=message)))
            click.echo(f"wireproof: {message}", err=True)
    out.write(b'\n], "errors": [' + b",\n".join(errors) + b"]}\n")
    out.flush()
    return len(errors)


def _verdict(counts: Counter[str]) -> Verdict:
    if counts["fail"]:
        return "fail"
    return "inconclusive" if counts["inconclusive"] or not counts["pass"] else "pass"


def _case(options: dict[str, Any], files: int) -> Case:
    from wireproof.physics import claim_from_text
    from wireproof.settings.physics_table import read_table

    link = None
    if options["link"]:
        link = claim_from_text(
            options["link"], path=options["path"], mtu=options["mtu"], pcie=options["pcie"]
        )
    elif options["mtu"] or options["pcie"] or options["path"]:
        raise BadInput(
            "--mtu, --pcie and --path say more about a link: name it with --link, such as --link 10gbe."
        )
    return Case(
        link=link,
        path=options["path"],
        table=read_table(options["physics"]),
        look=Look.of(sys.stdout, os.environ),
        brief=files >= _BRIEF_FROM and not options["all"],
        as_json=options["as_json"],
    )


@click.command("judge")
@click.argument("files", nargs=-1, required=True, metavar="FILE|-...")
@click.option(
    "--link",
    metavar="[Nx]KIND[:GBPS]",
    default="",
    help="the link that was measured: 10gbe, ethernet:40, edr, roce:100, opa100, ...",
)
@click.option(
    "--path",
    metavar="tcp|rdma|psm2|psm3|...",
    default="",
    help="what carried the messages over that link.",
)
@click.option("--mtu", type=click.IntRange(68, 65535), metavar="BYTES", help="MTU of the link.")
@click.option("--pcie", metavar="GENxLANES", default="", help="slot of the NIC, such as gen3x16.")
@click.option(
    "--physics",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="TOML file that overrides constants of the limits.",
)
@click.option("--all", is_flag=True, help="say everything even for many files.")
@click.option(
    "--json", "as_json", is_flag=True, help='one JSON object on stdout: {"series": [...]}.'
)
@click.option(
    "--jobs", type=click.IntRange(1, 256), metavar="N", help="processes; default: one per core."
)
def command(files: tuple[str, ...], **options: Any) -> int:
    """Judge logs of OSU, IMB, HPCC, perftest, qperf, iperf3, sockperf, fi_pingpong, fabtests,
    mpiGraph, ucx_perftest and nccl-tests: could these numbers have come over that link?

    FILE may be a Slurm log with several results in it, a folder, or - for standard input.
    """
    names = _files(files)
    case = _case(options, len(names))
    counts: Counter[str] = Counter()
    results = judged_files(names, case, options["jobs"])
    errors = (
        _document(results, case, counts) if case.as_json else _said(results, len(names), counts)
    )
    if counts["bug"]:
        return BUG
    return 2 if errors else status_of(_verdict(counts))
