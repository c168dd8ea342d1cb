"""Runs the prepared steps between two witness readings and judges what the tool printed by what crossed the ports."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from wireproof.cli.delivery import say
from wireproof.cli.outcome import status_of
from wireproof.cli.proving import Companion, Proved, run_proved
from wireproof.cli.recipes import Asked, Prepared, Step, prepare_run
from wireproof.cli.run import path_of, recipe_document, recipe_lines, title_of
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import Verdict

if TYPE_CHECKING:
    from wireproof.cli.place import Place
    from wireproof.launch.recipe import Recipe
    from wireproof.model.series import Series
    from wireproof.report.judged import JudgedSeries

__all__ = ["overall", "run_prepared"]

_LARGEST_RESULT = 16 << 20
_LAST_LINES = 12


@contextlib.contextmanager
def _work_folder(recipe: Recipe, prepared_files: bool) -> Iterator[str]:
    """A private folder in the working directory, which on a cluster is the one that other hosts see too."""
    if not prepared_files:
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


def _without(unset: Sequence[str], argv: Sequence[str]) -> list[str]:
    return ["env", *(word for name in unset for word in ("-u", name)), *argv] if unset else list(argv)


def _is_here(host: str) -> bool:
    own = socket.gethostname()
    return host in ("", "localhost", own, own.split(".", 1)[0])


def _on(host: str, argv: Sequence[str], place: Place) -> str:
    from wireproof.launch.program_host import ask, remote_argv

    return ask(argv if _is_here(host) else remote_argv(host, argv, place.agent))


def informed(recipe: Recipe, asked: Asked, place: Place) -> Asked:
    """With a core of the NIC's socket and the server's address on the NIC, where the user has said neither.

    In a lab the addresses are known, and no virtual NIC is near any core.
    """
    from wireproof.launch.program_host import address_argv, address_in, core_near, cpulist_argv

    if not place.hosts or not place.nics or place.lab is not None:
        return asked
    client, server = place.hosts[0], place.hosts[1]
    if asked.cpu is None and (asked.pairs or recipe.pairs) == 1:
        core = core_near(_on(client, cpulist_argv(place.nics[0]), place))
        if core is not None:
            say(f"core {core} of {client} is on the socket of {place.nics[0]}: pinned to it")
            asked = dataclasses.replace(asked, cpu=core)
    if recipe.shape == "pair" and not asked.address:
        address = address_in(_on(server, address_argv(place.nics[1]), place))
        if address:
            say(f"{place.nics[1]} of {server} has the address {address}")
            asked = dataclasses.replace(asked, address=address)
    return asked


def main_argv(step: Step, place: Place) -> list[str]:
    """The step that is proven, as it is started from here: a client on another host by ssh."""
    argv = _without(step.unset, step.argv)
    if place.lab is not None or _is_here(step.host):
        return argv
    from wireproof.launch.program_host import remote_argv

    return remote_argv(step.host, argv, place.agent)


def _prove(prepared: Prepared, place: Place, *, echo: bool) -> Proved:
    servers = tuple(Companion(step.host, step.argv) for step in prepared.steps if step.role == "server")
    main = next(step for step in prepared.steps if step.role != "server")
    return run_proved(main_argv(main, place), place, environment=main.environment, companions=servers, echo=echo)


def _series(prepared: Prepared, folder: str, proved: Proved) -> list[Series]:
    """What the tool has printed, or written into its file."""
    if not prepared.recipe.result_file:
        return list(proved.series)
    from wireproof.adapters import read

    try:
        with open(Path(folder) / prepared.recipe.result_file, "rb") as file:
            return read(file.read(_LARGEST_RESULT), prepared.recipe.result_file)
    except (OSError, BadInput):
        return []


def overall(proof: Verdict, verdicts: Sequence[Verdict]) -> Verdict:
    """Fail when the path or any number fails; pass only when the path is proven and every number passes."""
    every = [proof, *verdicts]
    if "fail" in every:
        return "fail"
    return "pass" if verdicts and all(one == "pass" for one in every) else "inconclusive"


def _last_lines(output: bytes) -> str:
    from wireproof.report.names import clean

    lines = [line for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
    return "\n".join(f"  {clean(line)[:200]}" for line in lines[-_LAST_LINES:])


def _could_not_run(prepared: Prepared, proved: Proved, echoed: bool) -> int:
    """Exit status 4: the tool's own words are the best explanation that there is."""
    if not echoed and (text := _last_lines(proved.output)):
        click.echo(text, err=True)
    what = prepared.recipe.program
    how = f"ended with status {proved.exit_status}" if proved.exit_status else "printed no result that is understood"
    click.echo(f"wireproof: {what} {how}: its last lines above say why.", err=True)
    return CouldNotMeasure.exit_status


def _judged(series: list[Series], place: Place, path: str) -> list[JudgedSeries]:
    from wireproof.report.judged import joined
    from wireproof.verdict.foreign import judge_series

    return [joined(one, judge_series(one, place.link, path=path), place.link) for one in series]


def _tell(proved: Proved, judged: list[JudgedSeries], verdict: Verdict) -> None:
    from wireproof.report.judged_text import long_text
    from wireproof.report.text import Look

    look = Look.of(sys.stdout, os.environ)
    click.echo("")
    for one in judged:
        click.echo(long_text(one, look), nl=False)
    found = proved.judgement
    crossed = "" if found.crossed_bytes is None else f", {found.crossed_bytes / 1e6:.1f} MB crossed {found.port}"
    click.echo(f"path: {found.proof}{crossed}")
    for reason in found.reasons:
        click.echo(f"  {reason.severity:<12} {reason.code}: {look.say(reason.message, 600)}")
    click.echo(f"{verdict.upper()}")


def run_prepared(recipe: Recipe, asked: Asked, place: Place, options: dict[str, Any]) -> int:
    """Print the steps, run them with the proof, judge. The status is the verdict's, 4 when there was no result."""
    as_json = bool(options["as_json"])
    for line in place.said:
        say(line)
    with _work_folder(recipe, bool(recipe.input_file)) as folder:
        prepared = prepare_run(recipe, informed(recipe, asked, place), place, folder)
        for name, text in prepared.files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        title = title_of(recipe, prepared, options)
        click.echo("\n".join(recipe_lines(prepared, title)), err=True)
        proved = _prove(prepared, place, echo=not as_json)
        series = _series(prepared, folder, proved)
    if proved.exit_status or not series:
        return _could_not_run(prepared, proved, echoed=not as_json)
    judged = _judged(series, place, path_of(asked.fabric, recipe))
    verdict = overall(proved.judgement.verdict, [one.verdict for one in judged])
    if as_json:
        document = {
            "recipe": recipe_document(prepared, title),
            "verdict": verdict,
            "proof": proved.judgement.proof,
            "path": proved.judgement,
            "traffic": proved.traffic,
            "series": judged,
            "seconds": proved.seconds,
        }
        click.echo(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
    else:
        _tell(proved, judged, verdict)
    return status_of(verdict)
