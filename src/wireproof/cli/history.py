"""``wireproof history``: results over time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.completion import results
from wireproof.cli.console import Console, listed, print_path, print_result, say, status_of
from wireproof.cli.declare import FORM, JSON, PathName, Verb, file, flag, link_claim, number, text
from wireproof.model.quantity import counted, first_few
from wireproof.report.names import clean

if TYPE_CHECKING:
    from wireproof.model.history import Entry


ROOT = click.Argument(["root"], type=PathName(path_type=Path), metavar="HISTORY")
HOSTS = text("--hosts", "NODES", "only results in which at least one of these hosts took part.")
LAST = number("--last", 1, 100_000, "show only this number of the newest results.")


@click.group("history")
def command() -> None:
    """Results over time: list, show, trend, nodes, pages, add, prune.

    HISTORY is the folder in which `check --history HISTORY` keeps results; many hosts may share it.
    """


@command.command(
    "list",
    cls=Verb,
    document="archive.history_document.entries_document",
    params=[ROOT, HOSTS, LAST, FORM, JSON],
)
def list_(root: Path, hosts: str, last: int | None) -> int:
    """Show one line for each result, oldest first: the newest 40, or the number given by --last."""
    entries = _found(root, hosts)
    shown = entries[-last:] if last else entries
    return print_result(listed("HistoryResults", results=shown), shown, *([last] if last else []))


@command.command(
    "show",
    cls=Verb,
    document="archive.history_document.log_document",
    params=[ROOT, click.Argument(["result"], shell_complete=results), FORM, JSON],
)
def show(root: Path, result: str) -> int:
    """Show a result, judged by the rules of this version. RESULT: its name in `list`, or `last`."""
    from wireproof.archive.history import entry_called
    from wireproof.archive.logs import judged_again
    from wireproof.cli.options import deliver
    from wireproof.logs.job import advice
    from wireproof.measure.report import report
    from wireproof.store.history import RESULTS

    entry = entry_called(root, result)
    if entry.imported is not None:
        judged = judged_again(root, entry, entry.imported)
        return print_result(judged, entry, judged, advice(judged))
    (again,) = report([root / RESULTS / entry.id], Console(), pages=False)
    return deliver(again)


@command.command(
    "trend",
    cls=Verb,
    document="archive.history_document.trend_document",
    params=[
        ROOT,
        HOSTS,
        text("--number name", "NAME", "only this pattern: pingpong, stream, natural ring, ..."),
        text("--size", "SIZE", "only this message size: 8, 1MiB."),
        FORM,
        JSON,
    ],
)
def trend(root: Path, hosts: str, name: str, size: str) -> int:
    """Show each number over time, its changes with the conditions that changed at the same time,
    and whether the newest result is worse than the good results before it (exit status 1; 3: there
    was nothing to compare it with, or a number fell earlier and has stayed low).

    A change needs four results, two on each side; the newest result is compared with at least three
    good results. False alarms: about 1 in 100 series without a change.
    """
    from wireproof.archive.history import (
        good_before,
        newest_of,
        regressions,
        since_good,
        standing,
        trends,
    )
    from wireproof.archive.history_document import drift_lines, regression_lines
    from wireproof.options.sizes import parse_sizes

    entries = _found(root, hosts)
    found = trends(entries, name, parse_sizes(size)[0] if size else None)
    worse = regressions(entries)
    newest = newest_of(entries)
    lines = regression_lines(newest.id if newest else "no result", worse, len(good_before(entries)))
    good, changed = since_good(entries)
    lines += drift_lines(good, changed)
    verdict = standing(entries, found, worse)
    shown = listed("HistoryTrend", trends=found, regressions=worse, changed=changed)
    return print_result(shown, found, lines, verdict, status=status_of(verdict))


@command.command(
    "pages",
    params=[
        ROOT,
        click.Option(
            ["--out", "folder"],
            type=PathName(path_type=Path),
            metavar="DIR",
            help="folder of the pages; default: HISTORY/pages.",
        ),
        file("--topology", "topology for the map, instead of the topology in the results."),
        number("--runs", 0, 100_000, "number of newest results with a report.", default=50),
    ],
)
def pages(root: Path, folder: Path | None, topology: Path | None, runs: int) -> int:
    """Write the history as linked pages: cluster map, nodes, runs, trends, comparisons.

    Any web server can show them, or a browser alone: open index.html. Run the command again to
    update the pages. They can be read without scripts and load nothing from the network.
    """
    from wireproof.archive.pages import write_pages

    index, written, kept = write_pages(root, Console(), folder=folder, topology=topology, runs=runs)
    say(f"{counted(written, 'page')} written, {kept} unchanged.")
    print_path(index)
    return 0


@command.command(
    "nodes",
    cls=Verb,
    document="archive.history_document.age_document",
    params=[
        ROOT,
        HOSTS,
        flag("--links by_link", "list each NIC and link of a node separately."),
        FORM,
        JSON,
    ],
)
def nodes(root: Path, hosts: str, by_link: bool) -> int:
    """Show when each node was last proven, longest ago first."""
    from wireproof.archive.history import ages
    from wireproof.options.hosts import parse_hosts

    found = ages(_found(root, ""), parse_hosts(hosts) if hosts else (), by_link=by_link)
    return print_result(listed("HistoryNodes", nodes=found), found)


@command.command(
    "add",
    params=[
        ROOT,
        click.Argument(
            ["sources"],
            type=PathName(path_type=Path),
            nargs=-1,
            required=True,
            metavar="FOLDER|LOG...",
        ),
        *link_claim("the link with which the logs are compared: 40gbe, edr, opa100, ..."),
        text("--path", "tcp|rdma|psm2|psm3|...", "protocol or fabric of the messages."),
        text("--hosts", "NODES", "hosts of the logs; default: the hosts in the logs."),
        text("--measured", "DATE", "date in UTC: 2019-03-04 or 2019-03-04T12:00."),
    ],
)
def add(root: Path, sources: tuple[Path, ...], **claims: Any) -> int:
    """Copy existing results into the history, as well as logs that `judge` reads: OSU, IMB,
    perftest, ...

    The numbers of a log are claims: they are listed and judged, but prove no node. Without
    --measured, the date of a log is the date in it or of its file.
    """
    from wireproof.archive.history_document import added_line
    from wireproof.archive.logs import LogClaims, add_all

    for path, entry in zip(
        sources, add_all(root, sources, LogClaims(**claims), Console()), strict=True
    ):
        click.echo(f"{clean(path)}: {added_line(entry)}")
    return 0


@command.command(
    "prune",
    params=[
        ROOT,
        text("--older-than", "TIME", "results older than this: 90d.", default="90d"),
        flag("--logs", "also remove imported logs; without this option they are kept."),
        flag("--yes", "remove the results; without this option they are only listed."),
    ],
)
def prune(root: Path, older_than: str, logs: bool, yes: bool) -> int:
    """Remove old results, but never the last good results of each set of hosts, nor the last proof
    of any node.
    """
    from wireproof.archive import history
    from wireproof.options.sizes import parse_days

    known, days = _found(root, ""), parse_days(older_than)
    chosen = history.prunable(known, days=days, now=time.time(), logs=logs)
    for entry in chosen:
        click.echo(f"{entry.id} {entry.verdict} {clean(entry.measured, 40)}")
    stay = history.prune(root, chosen) if yes else []
    for sentence in stay:
        click.echo(f"wireproof: {clean(sentence, 400)}", err=True)
    verb = "removed" if yes else "would be removed (--yes removes them)"
    click.echo(f"{counted(len(chosen) - len(stay), 'result')} {verb}", err=True)
    return 4 if stay else 0


def _found(root: Path, hosts: str) -> list[Entry]:
    from wireproof.archive.history import dated_ahead, found

    known = found(root, hosts)
    if ahead := dated_ahead(known):
        results = f"{counted(len(ahead), 'result')} with a date in the future"
        say(
            f"{results} ({first_few(ahead, 3)}): a clock is wrong, here or where they were"
            " measured (timedatectl); they prove nothing until then."
        )
    return known
