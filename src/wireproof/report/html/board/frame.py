"""What all pages of the board have: the frame, the policy, and a sentence where there is no more
to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wireproof.report.figure.file import style
from wireproof.report.html.markup import trusted
from wireproof.report.html.shell import part, policy, script, template
from wireproof.report.names import clean
from wireproof.version import version

__all__ = ["Page", "framed", "report_policy", "said"]

_PAGES = (("Cluster", "./"), ("Nodes", "nodes"), ("Results", "results"), ("Trends", "trends"))


@dataclass(frozen=True)
class Page:
    """The text, and the policy that its server sends with it."""

    html: str
    policy: str


def framed(name: str, title: str, root: str, here: str, **shown: Any) -> Page:
    """A page of the template ``name``. ``root``: the history; "" for who may not know it. ``here``:
    which of the pages it is.
    """
    scripts = [script("page.js"), script("board/board.js")] if root else []
    rules = policy(*scripts, forms=bool(root))
    html: str = template(f"board/{name}.html").render(
        title=clean(title),
        root=clean(root),
        here=here,
        pages=_PAGES,
        version=version(),
        policy=rules,
        style=trusted(part("style.css") + style() + part("board/board.css")),
        script=trusted("</script>\n<script>".join(scripts)),
        **shown,
    )
    return Page(html, rules)


def said(title: str, sentence: str, root: str = "") -> Page:
    """One sentence as a page."""
    return framed("said", title, root, "", sentence=clean(sentence, 2000))


def report_policy() -> str:
    """That of a report that is shown by a server: its script alone."""
    return policy(script("page.js"))
