"""The site's navigation: the lists of links on the pages named ``index.md``, by their headings."""

from __future__ import annotations

import posixpath

from markdown_it import MarkdownIt
from markdown_it.token import Token

__all__ = ["navigation"]


def navigation(text: str, page: str) -> dict[str, list[str]]:
    """The pages that the list items of ``text`` link to, in order, by the heading above; paths
    without suffix, from the folder that the path ``page`` starts in. Text below the first heading
    is under "".
    """
    found: dict[str, list[str]] = {"": []}
    heading, depth = "", 0
    tokens = MarkdownIt("commonmark").parse(text)
    for at, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            heading = tokens[at + 1].content
            found[heading] = []
        depth += {"list_item_open": 1, "list_item_close": -1}.get(token.type, 0)
        if depth and token.type == "inline":
            found[heading] += _linked(token, posixpath.dirname(page))
    return found


def _linked(token: Token, folder: str) -> list[str]:
    """The pages that a piece of text links to."""
    targets = [str(one.attrGet("href")) for one in token.children or () if one.type == "link_open"]
    pages = [one for one in targets if one.endswith(".md")]
    return [posixpath.normpath(posixpath.join(folder, one)).removesuffix(".md") for one in pages]
