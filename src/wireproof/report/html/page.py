"""The report page: one self-contained HTML file that needs no network and allows none.

The page's content security policy forbids every connection and runs only the scripts whose hashes
it lists, so that nothing from a node can become code, even if escaping had a hole.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from wireproof.files.hostile import replace_file
from wireproof.model.severity import worst
from wireproof.report.figure.drawing import dash, symbol
from wireproof.report.figure.file import style
from wireproof.report.html.markup import trusted
from wireproof.report.html.views import view
from wireproof.report.names import clean, harmless
from wireproof.report.section import Section, label
from wireproof.version import version

__all__ = ["render", "write"]


def render(sections: list[Section], title: str) -> str:
    """One page for several runs, each a :class:`Section`, in the order given. Raises ValueError
    without a section.
    """
    if not sections:
        raise ValueError("a report needs at least one run")
    views = [view(section, i) for i, section in enumerate(sections, 1)]
    script = _script() if any(one.interactive for one in views) else ""
    page: str = _template().render(
        title=clean(title),
        verdict=worst([section.judgement.verdict for section in sections]),
        when=_when(sections),
        version=version(),
        style=trusted(_part("style.css") + style()),
        policy=_policy(script),
        sections=views,
        script=trusted(script),
    )
    return page


def write(path: Path, html: str) -> Path:
    """Write ``html`` to ``path`` atomically, for us alone; returns it.

    OSError leaves the old file, or none, and no leftover.
    """
    replace_file(path, html.encode("utf-8"))
    return path


def _when(sections: list[Section]) -> str:
    started = sorted(
        {
            clean(section.run.provenance.started, 40)
            for section in sections
            if section.run.provenance.started
        }
    )
    hosts = list(dict.fromkeys(label(section) for section in sections))
    return ". ".join(part for part in (started[0] if started else "", "; ".join(hosts)) if part)


def _harmless(value: Any) -> Any:
    """Every text that a template shows, whoever forgot to clean it; our own markup is left as it
    is.
    """
    return harmless(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("wireproof.report.html", "template"),
        autoescape=True,
        finalize=_harmless,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["key"] = _key
    return environment.get_template("page.html")


def _key(number: int) -> Any:
    """How line ``number`` of a figure looks, for its legend."""
    path = f'<path class="line" d="M0 6h26" stroke-dasharray="{dash(number)}"/>'
    mark = f'<path class="dot" d="{symbol(number, 13, 6)}"/>'
    return trusted(f'<g class="s{number}">{path}{mark}</g>')


def _part(name: str) -> str:
    return (Path(__file__).parent / "template" / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """Ours; raises ValueError where it cannot be put inline."""
    script = _part("page.js")
    if "</script" in script.lower() or "<!--" in script or "\r" in script:
        raise ValueError("the page's script holds a closing tag, a comment of HTML or a CR")
    return script


def _policy(script: str) -> str:
    """No connection of any kind; only the script with this hash; styles inline."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"'sha256-{digest}'" if script else "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "connect-src 'none'; font-src 'none'; frame-src 'none'; base-uri 'none'; form-action 'none'"
    )
