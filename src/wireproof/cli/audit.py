"""``wireproof audit``: the settings that a fabric depends on, on every host."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.context import current_context
from wireproof.cli.options import place_options, settings_of, target_specification

if TYPE_CHECKING:
    from wireproof.model.setting import Audit, Setting

__all__ = ["command"]

_PROFILES = ("throughput", "latency", "repeatability", "power")


@click.command("audit")
@click.argument("settings", nargs=-1, metavar="[SETTING]...")
@click.option(
    "--profile",
    type=click.Choice(_PROFILES),
    default="throughput",
    show_default=True,
    help="what the machines are for; where authorities disagree, it decides.",
)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="a snapshot, a folder with a host's /proc, /sys and /etc, or a sosreport; not hosts.",
)
@click.option(
    "--snapshot",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="keep all that was read in one file, to be judged again with --from.",
)
@click.option("--explain", metavar="SETTING", help="all that is known of a setting, or of a group.")
@click.option("--list", "as_list", is_flag=True, help="name all settings.")
@click.option("--all", "everything", is_flag=True, help="show what passes and what is n/a, too.")
@click.option("--json", "as_json", is_flag=True, help="one JSON document on stdout.")
@place_options
def command(
    settings: tuple[str, ...],
    profile: str,
    source: Path | None,
    snapshot: Path | None,
    explain: str | None,
    as_list: bool,
    everything: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Say which settings of the hosts are wrong for their fabric, why it matters, how sure that is,
    and what mends it.

    SETTING: only these, by name. Without --hosts: this machine. Nothing is changed. Exit status: 0
    all pass, 1 something fails, 3 nothing fails and something could not be read.
    """
    if as_list:
        return _list(as_json)
    if explain:
        return _explain(explain)
    found = _audited(settings, profile, source, {**options, "snapshot": snapshot})
    if as_json:
        from wireproof.report.json.encode import json_text

        click.echo(json_text(found, indent=1))
    else:
        from wireproof.report.text.audit import audit_lines
        from wireproof.report.text.look import Look

        look = Look.of(sys.stdout, os.environ)
        click.echo("\n".join(audit_lines(found, look, everything=everything)))
    statuses = {result.status for result in found.results}
    return 1 if "fail" in statuses else 3 if "unknown" in statuses else 0


def _audited(
    settings: tuple[str, ...], profile: str, source: Path | None, options: dict[str, Any]
) -> Audit:
    from wireproof.cli.console import Console
    from wireproof.workflow.audit import AuditSpecification, audit

    specification = AuditSpecification(
        target=target_specification(settings_of(options), {"mtu": None, "pcie": "", **options}),
        profile=profile,  # type: ignore[arg-type]
        source=source,
        snapshot=options["snapshot"],
        only=settings,
    )
    return audit(specification, Console(), current_context().environment)


def _list(as_json: bool) -> int:
    from wireproof.workflow.audit import catalogue

    found = [entry.setting for entry in catalogue().entries.values()]
    if as_json:
        from wireproof.report.json.encode import json_text

        click.echo(json_text({"settings": found}, indent=1))
        return 0
    width = max(len(one.id) for one in found)
    for one in found:
        click.echo(f"{one.id:{width}}  {one.group:8} {one.title}")
    return 0


def _explain(name: str) -> int:
    from wireproof.workflow.audit import catalogue

    known = catalogue()
    group = [one.setting for one in known.entries.values() if one.setting.group == name]
    for one in group or [known.get(name).setting]:
        click.echo("\n".join(_explained(one)) + "\n")
    return 0


def _explained(one: Setting) -> list[str]:
    from wireproof.report.text.audit import effect_text

    places = [read.file or " ".join(read.command) for read in one.reads]
    wanted = [f"{profile}: {text}" for profile, text in (one.wanted or one.good).items()]
    said = {
        "": one.meaning,
        "read from": ", ".join(places) or "by hand",
        "default": one.default,
        "range": one.range,
        "counts where": "" if one.applies == "true" else one.applies,
        "should be": "; ".join(wanted),
        "why": one.why,
        "expected effect": effect_text(one.effect),
        "since": one.since,
        "until": one.until,
        "source": one.source,
    }
    lines = [f"{one.id}: {one.title}"]
    return lines + [f"  {name}{': ' if name else ''}{text}" for name, text in said.items() if text]
