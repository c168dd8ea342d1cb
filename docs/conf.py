"""The site of these pages: ``make docs`` builds it from the folder that tools/pages.py lays out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tools")]

import wireproof  # noqa: E402
from navigation import navigation  # noqa: E402

project = "wireproof"
author = "The wireproof authors"
version = release = wireproof.__version__
extensions = ["myst_parser"]
root_doc = "docs/index"

myst_heading_anchors = 4
myst_links_external_new_tab = False
suppress_warnings = ["myst.header"]  # a page that begins below its first heading

html_theme = "furo"
html_title = "wireproof"
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it is fetched, which no browser does from a file
html_extra_path = ["site"]
html_theme_options: dict[str, Any] = {"navigation_with_keys": True}
highlight_language = "none"
smartquotes = False  # "--hosts" must stay two dashes


def _with_tree(_app: object, docname: str, source: list[str]) -> None:
    """The lists of an index page are the navigation, too."""
    if docname.rpartition("/")[2] == "index":
        for heading, pages in navigation(source[0], f"{docname}.md").items():
            caption = f":caption: {heading}\n" if heading else ""
            lines = "\n".join(f"/{page}" for page in pages)
            if pages:
                source[0] += f"\n```{{toctree}}\n:hidden:\n{caption}\n{lines}\n```\n"


def setup(app: Any) -> None:
    app.connect("source-read", _with_tree)
