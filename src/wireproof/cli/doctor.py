"""``wireproof doctor``: what works on this machine."""

from __future__ import annotations

import click

from wireproof.cli.console import Console, print_json
from wireproof.cli.context import current_context
from wireproof.cli.declare import flag

__all__ = ["command"]

OPTIONS: tuple[click.Parameter, ...] = (
    flag("--json as_json", "one JSON document on stdout."),
    flag("--no-run", "look only: start no MPI."),
    flag("--providers", "the libfabrics here, their providers, each MPI's choice."),
)


@click.command("doctor", params=[*OPTIONS])
def command(as_json: bool, no_run: bool, providers: bool) -> int:
    """Say what works on this machine: MPIs and their ABI, counters, clock, namespaces, kernel
    features, tools.

    Each MPI that is found is started with two ranks for a moment. Exit status 0 when at least one
    transport works, with --providers when a provider can be measured.
    """
    if providers:
        return _show_providers(as_json=as_json)
    from wireproof.workflow.doctor import diagnose

    found = diagnose(Console(), start=not no_run)
    if as_json:
        print_json(found)
    else:
        from wireproof.report.text.diagnosis import diagnosis_lines

        click.echo("\n".join(diagnosis_lines(found)))
    return 0 if no_run or found.works else 4


def _show_providers(*, as_json: bool) -> int:
    from wireproof.workflow.providers import providers

    found = providers(current_context().environment)
    if as_json:
        print_json(found)
    else:
        from wireproof.report.text.providers import provider_lines

        click.echo("\n".join(provider_lines(found)))
    return 0 if found.works else 4
