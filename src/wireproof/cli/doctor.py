"""``wireproof doctor``: what works on this machine."""

from functools import partial

import click

from wireproof.cli.console import Console, current_context, print_document
from wireproof.cli.declare import FORM, JSON, flag

OPTIONS: tuple[click.Parameter, ...] = (
    FORM,
    JSON,
    flag("--no-run", "do not start any MPI."),
    flag("--providers", "show the libfabrics here, their providers, and each MPI's choice."),
)


@click.command("doctor", params=[*OPTIONS])
def command(no_run: bool, providers: bool) -> int:
    """Show what works on this machine: MPIs and their ABI, counters, clock, namespaces, kernel
    features, tools.

    Each MPI that is found is started briefly with two ranks. Exit status 0 if at least one
    transport works, with --providers if a provider can be measured.
    """
    from wireproof.report.documents.doctor import diagnosis_document, provider_document
    from wireproof.workflow import doctor

    if providers:
        offers = doctor.providers(current_context().environment)
        print_document(offers, partial(provider_document, offers))
        return 0 if offers.works else 4
    found = doctor.diagnose(Console(), start=not no_run)
    print_document(found, partial(diagnosis_document, found))
    return 0 if no_run or found.works else 4
