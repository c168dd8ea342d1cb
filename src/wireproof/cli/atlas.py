"""``wireproof atlas``: shows what others have measured over a link."""

from functools import partial
from pathlib import Path
from typing import get_args

import click

from wireproof.cli.completion import links
from wireproof.cli.console import current_context, print_document, say
from wireproof.cli.declare import FORM, JSON, choice, file, text
from wireproof.model.atlas import Pattern

SITE = file(
    "--atlas site",
    "folder of a site's published numbers; default: ~/.config/wireproof/atlas.",
)
SITE.type = click.Path(file_okay=False, path_type=Path)
OPTIONS: list[click.Parameter] = [
    click.Argument(["named"], required=False, metavar="[LINK]", shell_complete=links),
    text("--link", "KIND[:GBPS]", "only this link: hdr, 100gbe, efa100 ...", shell_complete=links),
    choice("--pattern", get_args(Pattern), "only this pattern."),
    text(
        "--size", "SIZE", "show the values at this size; default: 8 B for times, 1 MiB for rates."
    ),
    file("--plot", "write the curves of --link as one SVG."),
    SITE,
    FORM,
    JSON,
]


@click.command("atlas", params=OPTIONS)
def command(
    named: str | None,
    link: str,
    pattern: str | None,
    size: str,
    plot: Path | None,
    site: Path | None,
) -> int:
    """Print what others have measured over such a link, with sources: is a number normal?

    Without LINK, list the links and the number of sources of each. A site can add sources:
    docs/atlas.md describes the format.
    """
    from wireproof.report.documents.atlas import atlas_document
    from wireproof.report.figure.file import standalone
    from wireproof.report.figure.series import atlas_chart
    from wireproof.settings.sizes import parse_sizes
    from wireproof.workflow.atlas import atlas_folder, atlas_view
    from wireproof.workflow.plan import write_text

    if named and link:
        raise click.UsageError("give one link: LINK or --link.")
    link = link or named or ""
    if plot is not None and not link:
        raise click.UsageError("--plot draws one link: name it with --link.")
    at = parse_sizes(size)[0] if size else None
    folder = atlas_folder(site, current_context().environment)
    found = atlas_view(link, pattern=pattern or "", size=at, folder=folder)
    if plot is not None:
        write_text(plot, standalone(atlas_chart(found)))
        say(f"{plot} written.")
    print_document(found, partial(atlas_document, found, listed=not link, at=at))
    return 0
