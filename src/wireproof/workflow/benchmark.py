"""Runs the prepared steps between two witness readings and judges what the tool printed by what
crossed the ports.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from wireproof.cli.console import say
from wireproof.cli.outcome import INTERRUPTED, status_of
from wireproof.cli.run import path_of, recipe_document, recipe_lines, title_of
from wireproof.files.hostile import read_bounded
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import Verdict
from wireproof.report.json.encode import json_text
from wireproof.workflow.benchmark_steps import Asked, Prepared, Step, prepare_run
from wireproof.workflow.prove import Companion, ProofSpecification, ProvedCommand, prove_command
from wireproof.workflow.target.reach import guarded, reach

if TYPE_CHECKING:
    from wireproof.launch.programs.recipe import Recipe
    from wireproof.model.traffic import TrafficVerdict
    from wireproof.report.json.judgement import JudgedSeries
    from wireproof.workflow.target.target import Target

__all__ = ["informed", "main_argv", "overall", "run_prepared"]

_LARGEST_RESULT = 16 << 20
SCHEMA = 1


@contextlib.contextmanager
def _work_folder(recipe: Recipe) -> Iterator[str]:
    """A private folder in the working directory, which on a cluster is the one that other hosts see
    too.
    """
    if not recipe.input_file:
        yield ""
        return
    try:
        folder = tempfile.mkdtemp(prefix=f"wireproof-{recipe.tool}-", dir=Path.cwd())
    except OSError as error:
        raise CouldNotMeasure(
            f"no folder for {recipe.input_file} can be made in {Path.cwd()} ({error.strerror}): run in a folder that"
            " can be written and that all hosts see."
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _enclosed(step: Step) -> list[str]:
    """The step with its environment in its own words: neither ssh nor a companion takes one
    along.
    """
    words = [word for name in step.unset for word in ("-u", name)]
    words += [f"{name}={value}" for name, value in sorted(step.environment.items())]
    return ["env", *words, *step.argv] if words else list(step.argv)


def _on(host: str, argv: Sequence[str], place: Target) -> str:
    from wireproof.launch.hosts.nic import ask

    return ask(reach(place, host, argv))


def informed(recipe: Recipe, asked: Asked, place: Target) -> Asked:
    """With a core of the NIC's socket and the server's address on the NIC, where the user has said
    neither.

    In a lab the addresses are known, and no virtual NIC is near any core.
    """
    from wireproof.launch.hosts.nic import (
        address_argv,
        address_in,
        core_near,
        cpulist_argv,
        is_nic,
        netdevs_argv,
    )

    if not place.hosts or not place.nics or place.lab is not None:
        return asked
    client, server = place.hosts[0], place.hosts[1]
    if asked.cpu is None and (asked.pairs or recipe.pairs) == 1:
        core = core_near(_on(client, cpulist_argv(place.nics[0]), place))
        if core is not None:
            say(f"core {core} of {client} is on the socket of {place.nics[0]}: pinned to it")
            asked = dataclasses.replace(asked, cpu=core)
    if recipe.shape == "pair" and not asked.address:
        # perftest's connection manager wants the address of the netdev that belongs to the RDMA
        # device.
        netdevs = _on(server, netdevs_argv(place.nics[1]), place).split()
        netdev = netdevs[0] if netdevs and is_nic(netdevs[0]) else place.nics[1]
        address = address_in(_on(server, address_argv(netdev), place))
        if address:
            say(f"{netdev} of {server} has the address {address}")
            asked = dataclasses.replace(asked, address=address)
    return asked


def main_argv(step: Step, place: Target) -> list[str]:
    """The step that is proven, as it is started from here: a client on another host by ssh or the
    agent.
    """
    argv = _enclosed(step)
    # In a lab the proof itself enters the first node.
    return argv if place.lab is not None or not step.host else guarded(place, step.host, argv)


def _prove(prepared: Prepared, place: Target, *, as_json: bool) -> ProvedCommand:
    servers = tuple(
        Companion(step.host, tuple(_enclosed(step)))
        for step in prepared.steps
        if step.role == "server"
    )
    main = next(step for step in prepared.steps if step.role != "server")
    from wireproof.cli.console import Console
    from wireproof.cli.open_files import allow_files, descriptor

    allow_files(place)
    sys.stdout.flush()
    errors = descriptor(sys.stderr)
    return prove_command(
        ProofSpecification(
            argv=tuple(main_argv(main, place)),
            target=place,
            companions=servers,
            name=prepared.recipe.program,
            hold_stdin=bool(main.host),
        ),
        environment=os.environ,
        sinks=(errors if as_json else descriptor(sys.stdout), errors),
        reporter=Console(),
    )


def _read_result(
    prepared: Prepared, folder: str, place: Target, proved: ProvedCommand
) -> ProvedCommand:
    """With the numbers of a tool that writes a file, and its path judged by them."""
    name = prepared.recipe.result_file
    if not name:
        return proved
    from wireproof.adapters import read
    from wireproof.verdict.external.watched import judge_traffic

    try:
        series = read(read_bounded(Path(folder) / name, _LARGEST_RESULT, follow=False), name)
    except (OSError, BadInput):
        return proved
    judgement = judge_traffic(proved.traffic, series, place.claim())
    return dataclasses.replace(proved, series=series, judgement=judgement)


def without_claim(found: TrafficVerdict) -> TrafficVerdict:
    """On one plain machine nobody has claimed a wire: memory and loopback are what is expected, and
    prove nothing.
    """
    reasons = [
        msgspec.structs.replace(one, severity="note") if one.severity == "fail" else one
        for one in found.reasons
    ]
    return msgspec.structs.replace(found, verdict="inconclusive", reasons=reasons)


def overall(path: Verdict, judged: Sequence[JudgedSeries]) -> Verdict:
    """Fail when the path or a number fails; pass when the path is proven and every number that has
    a limit passes.

    A number without a limit of its own (a collective, a ring) is told; alone it is no ground to
    pass.
    """
    if path == "fail" or any(one.verdict == "fail" for one in judged):
        return "fail"
    limited = [one for one in judged if not _has_no_limit(one)]
    return (
        "pass"
        if path == "pass" and limited and all(one.verdict == "pass" for one in limited)
        else "inconclusive"
    )


def _has_no_limit(one: JudgedSeries) -> bool:
    doubts = {reason.code for reason in one.reasons if reason.severity in ("fail", "inconclusive")}
    return one.verdict == "inconclusive" and doubts == {"only-a-floor"}


def _judged(proved: ProvedCommand, place: Target, path: str) -> list[JudgedSeries]:
    """Each series with its verdict; what a log alone cannot prove, the counters have proven or
    disproven here.
    """
    from wireproof.report.json.judgement import joined
    from wireproof.verdict.external import judge_log

    found = judge_log(proved.series, place.link, path=path)
    judged = [
        joined(one, verdict, place.link) for one, verdict in zip(proved.series, found, strict=True)
    ]
    proof = proved.judgement.proof
    if proof == "unproven":
        return judged
    return [
        msgspec.structs.replace(
            one,
            proof=proof if one.proof == "unproven" else one.proof,
            reasons=[reason for reason in one.reasons if reason.code != "log-without-counters"],
        )
        for one in judged
    ]


def _could_not_run(prepared: Prepared, proved: ProvedCommand) -> int:
    """The tool's own words are the best explanation that there is."""
    if proved.exit_status == INTERRUPTED:
        from wireproof.report.text.watched import lines

        for line in lines(proved.exit_status, proved.traffic, proved.judgement):
            say(line)
        say(
            f"{prepared.recipe.program} was interrupted; what it had printed is above, and nothing is kept."
        )
        return INTERRUPTED
    how = (
        f"ended with status {proved.exit_status}"
        if proved.exit_status
        else "printed no result that is understood"
    )
    raise CouldNotMeasure(f"{prepared.recipe.program} {how}: its last lines, above, say why.")


def _tell(proved: ProvedCommand, judged: list[JudgedSeries], verdict: Verdict) -> None:
    from wireproof.report.text.judgement import long_text
    from wireproof.report.text.look import Look
    from wireproof.report.text.watched import lines

    look = Look.of(sys.stdout, os.environ)
    click.echo("")
    for one in judged:
        click.echo(long_text(one, look), nl=False)
    click.echo("\n".join(lines(proved.exit_status, proved.traffic, proved.judgement)))
    click.echo(verdict.upper())


def _document(
    prepared: Prepared,
    title: str,
    proved: ProvedCommand,
    judged: list[JudgedSeries],
    verdict: Verdict,
) -> str:
    document = {
        "schema": SCHEMA,
        "verdict": verdict,
        "proof": proved.judgement.proof,
        "recipe": recipe_document(prepared, title),
        "seconds": proved.seconds,
        "path": proved.judgement,
        "traffic": proved.traffic,
        "series": judged,
    }
    return json_text(document, indent=2)


def run_prepared(recipe: Recipe, asked: Asked, place: Target, options: dict[str, Any]) -> int:
    """Print the steps, run them with the proof, judge. The status is the verdict's.

    Raises CouldNotMeasure when the tool did not run to its end, or printed nothing that is
    understood.
    """
    as_json = bool(options["as_json"])
    with _work_folder(recipe) as folder:
        prepared = prepare_run(recipe, informed(recipe, asked, place), place, folder)
        for name, text in prepared.files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        title = title_of(recipe, prepared, options)
        click.echo("\n".join(recipe_lines(prepared, title)), err=True)
        proved = _read_result(prepared, folder, place, _prove(prepared, place, as_json=as_json))
    if not place.wire:
        proved = dataclasses.replace(proved, judgement=without_claim(proved.judgement))
    if proved.exit_status or not any(one.points for one in proved.series):
        return _could_not_run(prepared, proved)
    judged = _judged(proved, place, path_of(asked.fabric, recipe))
    verdict = overall(proved.judgement.verdict, judged)
    if as_json:
        click.echo(_document(prepared, title, proved, judged, verdict))
    else:
        _tell(proved, judged, verdict)
    return status_of(verdict)
