"""The site of these pages: ``make docs`` builds it from the folder that tools/pages.py lays out."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes

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
html_extra_path = ["site"]
html_static_path = ["search/search.js"]
templates_path = ["search"]
html_theme_options: dict[str, Any] = {"navigation_with_keys": True}
highlight_language = "none"

# How a section counts in the search: pages for users first, records of decisions and changes last.
_WEIGHTS = {
    "/adr/": 0.01,
    "CHANGELOG": 0.01,
    "reference/commands/": 0.8,
    "reference/formulas": 0.8,
    "reference/json": 0.8,
    "reference/": 0.4,
    "docs/lint": 0.6,
    "docs/explain": 0.8,
    "docs/": 1.0,
    "README": 0.8,
    "": 0.4,
}
_WORDS = tomllib.loads((Path(__file__).parent / "search/words.toml").read_text(encoding="utf-8"))
smartquotes = False  # "--hosts" must stay two dashes


def _with_tree(_app: object, docname: str, source: list[str]) -> None:
    """The lists of an index page are the navigation, too."""
    if docname.rpartition("/")[2] == "index":
        for heading, pages in navigation(source[0], f"{docname}.md").items():
            caption = f":caption: {heading}\n" if heading else ""
            lines = "\n".join(f"/{page}" for page in pages)
            if pages:
                source[0] += f"\n```{{toctree}}\n:hidden:\n{caption}\n{lines}\n```\n"


def _sections(app: Any, docname: str) -> Iterator[dict[str, str | float]]:
    """Yield each section of a page for the search."""
    doctree = app.env.get_doctree(docname)
    page = app.env.titles[docname].astext()
    place = app.builder.get_target_uri(docname)
    weight = next((weight for part, weight in _WEIGHTS.items() if part in docname), 1.0)
    words = _WORDS.get(docname, "")
    for section in doctree.findall(nodes.section):
        title, *parts = section.children
        own = [part.astext() for part in parts if not isinstance(part, nodes.section)]
        yield {
            "url": f"{place}#{section['ids'][0]}",
            "page": page,
            "title": title.astext(),
            "text": " ".join(" ".join(own).split()),
            "words": words,
            "weight": weight,
        }
        words = ""  # the first section stands for the page


def _write_sections(app: Any, failure: Exception | None) -> None:
    """Write what the search page looks through as a script, which a browser loads from a file."""
    if failure is None:
        found = [each for name in sorted(app.env.found_docs) for each in _sections(app, name)]
        target = Path(app.outdir) / "_static" / "sections.js"
        target.write_text(f"const SECTIONS = {json.dumps(found)};\n", encoding="utf-8")


def setup(app: Any) -> None:
    app.connect("source-read", _with_tree)
    app.connect("build-finished", _write_sections)
