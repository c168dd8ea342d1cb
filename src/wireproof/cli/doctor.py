"""``wireproof doctor``: what works on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from wireproof.instrument.answers import Answer
    from wireproof.probes.machine import Capability

__all__ = ["command"]

_MARKS = {True: "ok     ", False: "MISSING", None: "unknown"}


def _capability(one: Capability) -> str:
    advice = f"; {one.advice}" if one.advice and one.works is not True else ""
    return f"  {_MARKS[one.works]} {one.name}: {one.detail}{advice}"


def _answer(one: Answer) -> str:
    if not one.works:
        return f"  FAILS   {one.name}: {one.problem}"
    abi = (
        f"standard ABI {one.abi_version}"
        if one.abi == "mpiabi"
        else f"{one.abi} ABI"
        if one.family
        else "no MPI"
    )
    engine = f", {one.engine}" if one.engine else ""
    return f"  ok      {one.name}: {abi}{engine}, answered in {one.seconds} s: {one.library or one.name}"


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="one JSON document on stdout.")
@click.option("--no-run", is_flag=True, help="look only: start no MPI.")
def command(as_json: bool, no_run: bool) -> int:
    """Say what works on this machine: MPIs and their ABI, counters, clock, namespaces, kernel
    features, tools.

    Each MPI that is found is started with two ranks for a moment. Exit status 0 when at least one
    transport works.
    """
    from wireproof.cli.console import say
    from wireproof.instrument.answers import try_mpis, try_transport
    from wireproof.probes.machine import look

    machine = look()
    answers: list[Answer] = []
    if not no_run:
        say("trying the transports and every MPI that is found; some seconds each")
        answers = [*(try_transport(kind) for kind in ("null", "tcp")), *try_mpis()]
    if as_json:
        from wireproof.report.json.encode import json_text

        click.echo(json_text({"machine": machine, "transports": answers}, indent=2))
    else:
        who = "root" if machine.root else "an ordinary user"
        click.echo(
            f"machine: Linux {machine.kernel}, {machine.architecture}, {machine.cores} cores, {who}"
        )
        click.echo("\n".join(map(_capability, machine.capabilities)))
        if answers:
            click.echo("transports and MPIs:\n" + "\n".join(map(_answer, answers)))
    return 0 if no_run or any(answer.works for answer in answers) else 4
