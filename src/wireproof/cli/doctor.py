"""``wireproof doctor``: what works on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from wireproof.instrument.answers import Answer
    from wireproof.probes.machine import Capability
    from wireproof.workflow.doctor import Diagnosis

__all__ = ["command"]

_MARKS = {True: "ok     ", False: "MISSING", None: "unknown"}


def _capability(one: Capability) -> str:
    advice = f"; {one.advice}" if one.advice and one.works is not True else ""
    return f"  {_MARKS[one.works]} {one.name}: {one.detail}{advice}"


def _answer(one: Answer) -> str:
    if not one.works:
        return f"  FAILS   {one.name}: {one.problem}"
    if one.abi == "mpiabi":
        abi = f"standard ABI {one.abi_version}"
    else:
        abi = f"{one.abi} ABI" if one.family else "no MPI"
    engine = f", {one.engine}" if one.engine else ""
    answered = f"answered in {one.seconds} s: {one.library or one.name}"
    return f"  ok      {one.name}: {abi}{engine}, {answered}"


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="one JSON document on stdout.")
@click.option("--no-run", is_flag=True, help="look only: start no MPI.")
def command(as_json: bool, no_run: bool) -> int:
    """Say what works on this machine: MPIs and their ABI, counters, clock, namespaces, kernel
    features, tools.

    Each MPI that is found is started with two ranks for a moment. Exit status 0 when at least one
    transport works.
    """
    from wireproof.cli.console import Console
    from wireproof.workflow.doctor import diagnose

    found = diagnose(Console(), start=not no_run)
    if as_json:
        from wireproof.report.json.encode import json_text

        click.echo(json_text(found, indent=2))
    else:
        click.echo("\n".join(_lines(found)))
    return 0 if no_run or found.works else 4


def _lines(found: Diagnosis) -> list[str]:
    machine = found.machine
    who = "root" if machine.root else "an ordinary user"
    lines = [
        f"machine: Linux {machine.kernel}, {machine.architecture}, {machine.cores} cores, {who}"
    ]
    lines += [_capability(one) for one in machine.capabilities]
    if found.transports:
        lines += ["transports and MPIs:", *(_answer(one) for one in found.transports)]
    return lines
