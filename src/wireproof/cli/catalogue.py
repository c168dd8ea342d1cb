"""``wireproof --catalogue DIR``: the site's own rows for the catalogues."""

from __future__ import annotations

import os

from wireproof.cli.console import remark
from wireproof.workflow.catalogue import catalogue_folder, use_catalogue

__all__ = ["add_catalogue"]


def add_catalogue(given: str | None) -> None:
    """Add the rows of the folder, and name them. Raises BadInput."""
    folder = catalogue_folder(given, os.environ)
    rows = use_catalogue(folder) if folder is not None else {}
    if rows:
        counts = ", ".join(f"{number} [[{head}]]" for head, number in rows.items())
        remark(f"the catalogue {folder} adds {counts}.")
