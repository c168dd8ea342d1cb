"""What all pages of a history have: the frame and the policy."""

from __future__ import annotations

from typing import Any

from wireproof.report.figure.file import style
from wireproof.report.html.board.places import CLUSTER, NODES, RESULTS, STYLE, TRENDS
from wireproof.report.html.markup import trusted
from wireproof.report.html.shell import part, policy, script, template
from wireproof.report.names import clean
from wireproof.version import version

__all__ = ["framed", "stylesheet"]

_PAGES = (("Cluster", CLUSTER), ("Nodes", NODES), ("Results", RESULTS), ("Trends", TRENDS))


def stylesheet() -> str:
    """What the file ``STYLE`` beside the pages holds: the pages are many."""
    return part("style.css") + style() + part("board/board.css")


def framed(
    name: str, title: str, root: str, here: str, *, scripted: bool = True, **shown: Any
) -> str:
    """A page of the template ``name``. ``root``: the history; ``here``: its group of pages;
    ``scripted``: whether its tables can be sorted.
    """
    scripts = [script("page.js"), script("board/board.js")] if scripted else []
    html: str = template(f"board/{name}.html").render(
        title=clean(title),
        when=clean(root),
        here=here,
        pages=_PAGES,
        version=version(),
        policy=policy(*scripts, beside=True),
        style=STYLE,
        script=trusted("</script>\n<script>".join(scripts)),
        **shown,
    )
    return html
