"""The pages lead to each other, and the site that is built of them needs no network."""

import importlib.util
import posixpath
import re
import sys
from pathlib import Path

import pytest
from tests.docs.markdown import ROOT, TEXTS, anchors, links, pages
from tests.processes import ran

from navigation import navigation
from pages import lay_out

OUTSIDE = ("http:", "https:", "mailto:")
_LOADED = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?https?:|<link[^>]*\shref=["']?https?:"""
)


@pytest.mark.parametrize("page", sorted(TEXTS))
def test_links_lead_somewhere(page: str) -> None:
    for link in links(page):
        if link.startswith(OUTSIDE):
            continue
        path, _, anchor = link.partition("#")
        place = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
        assert place in TEXTS or (ROOT / place).is_file(), f"{page}: {link} leads to no file"
        if anchor:
            assert anchor in anchors(place), f"{page}: {link}: there is no such heading"


def test_every_page_is_reached_from_the_navigation() -> None:
    reached, open_ends = set(), ["docs/index"]
    while open_ends:
        page = open_ends.pop()
        reached.add(f"{page}.md")
        if page.endswith("index"):
            found = [
                one
                for group in navigation(TEXTS[f"{page}.md"], f"{page}.md").values()
                for one in group
            ]
            assert len(found) == len(set(found)), f"{page} names a page twice"
            open_ends += found
    assert reached == TEXTS.keys()


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("sphinx") is None, reason="Sphinx is missing: `tools/setup docs`"
)
def test_the_site_is_built_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    source, site = tmp_path / "pages", tmp_path / "site"
    lay_out(source)
    built = ran(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", source, site],
        cwd=ROOT,
        timeout=170,
    )
    assert built.returncode == 0, built.stderr
    for page in pages():
        text = (site / page).with_suffix(".html").read_text(encoding="utf-8")
        assert not _LOADED.search(text), page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?https?:|@import", style.read_text(encoding="utf-8")), (
            style
        )
    options = (site / "docs/reference/commands/check.html").read_text(encoding="utf-8")
    assert "With --hosts, in an allocation" in options
    assert "docs/index.html" in (site / "index.html").read_text(encoding="utf-8")
    assert "tutorial" in (site / "searchindex.js").read_text(encoding="utf-8")
