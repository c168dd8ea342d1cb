"""``wireproof doctor``: what works on this machine."""

from __future__ import annotations

from functools import partial

import click

from wireproof.cli.console import Console, print_document
from wireproof.cli.context import current_context
from wireproof.cli.declare import FORM, flag

__all__ = ["command"]

OPTIONS: tuple[click.Parameter, ...] = (
    FORM,
    flag("--json as_json", "one JSON document on stdout."),
    flag("--no-run", "look only: start no MPI."),
    flag("--providers", "the libfabrics here, their providers, each MPI's choice."),
)


@click.command("doctor", params=[*OPTIONS])
def command(form: str | None, as_json: bool, no_run: bool, providers: bool) -> int:
    """Say what works on this machine: MPIs and their ABI, counters, clock, namespaces, kernel
    features, tools.

    Each MPI that is found is started with two ranks for a moment. Exit status 0 when at least one
    transport works, with --providers when a provider can be measured.
    """
    if providers:
        return _show_providers(form, as_json=as_json)
    from wireproof.report.documents.doctor import diagnosis_document
    from wireproof.workflow.doctor import diagnose

    found = diagnose(Console(), start=not no_run)
    print_document(found, partial(diagnosis_document, found), form, as_json=as_json)
    return 0 if no_run or found.works else 4


def _show_providers(form: str | None, *, as_json: bool) -> int:
    from wireproof.report.documents.doctor import provider_document
    from wireproof.workflow.doctor import providers

    found = providers(current_context().environment)
    print_document(found, partial(provider_document, found), form, as_json=as_json)
    return 0 if found.works else 4
