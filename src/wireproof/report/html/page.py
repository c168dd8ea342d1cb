"""The report page: one self-contained HTML file that needs no network and allows none.

The page's content security policy forbids every connection and runs only the scripts whose hashes
it lists, so that nothing from a node can become code, even if escaping had a hole.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from wireproof import __version__
from wireproof.files.hostile import replace_file
from wireproof.model.severity import worst
from wireproof.report.html.views import SectionView, view
from wireproof.report.names import clean, harmless
from wireproof.report.section import Section, label

__all__ = ["render", "write"]


def render(sections: list[Section], title: str) -> str:
    """One page for several runs, each a :class:`Section`, in the order given. Raises ValueError
    without a section.
    """
    if not sections:
        raise ValueError("a report needs at least one run")
    views = [view(section, i) for i, section in enumerate(sections, 1)]
    plots = [_harmless_inside(item) for one in views for item in one.items]
    scripts = _scripts() if plots else []
    page: str = _template().render(
        title=clean(title),
        verdict=worst([section.judgement.verdict for section in sections]),
        when=_when(sections),
        version=__version__,
        style=_safe(_part("style.css")),
        policy=_policy(scripts),
        sections=[_with_safe_raw(one) for one in views],
        plots=_safe(_script_safe(json.dumps(plots, separators=(",", ":"), allow_nan=False)))
        if plots
        else "",
        scripts=[_safe(script) for script in scripts],
    )
    return page


def _harmless_inside(value: Any) -> Any:
    """Labels and tooltips of the plots: the same characters could fool a reader there."""
    match value:
        case str():
            return harmless(value)
        case list() | tuple():
            return [_harmless_inside(one) for one in value]
        case dict():
            return {_harmless_inside(key): _harmless_inside(one) for key, one in value.items()}
    return value


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
    return environment.get_template("page.html")


def _part(name: str) -> str:
    return (Path(__file__).parent / "template" / name).read_text(encoding="utf-8")


@cache
def _scripts() -> list[str]:
    """BokehJS (its plotting part only) and our own start-up script. Loaded late: Bokeh is slow to
    import.
    """
    from bokeh.resources import Resources

    bundle = next(
        text for text in Resources(mode="inline", components=["bokeh"]).js_raw if len(text) > 10_000
    )
    scripts = [bundle, _part("boot.js")]
    for script in scripts:
        if "</script" in script.lower() or "<!--" in script or "\r" in script:
            raise ValueError(
                "a script of the report cannot be put inline: it holds a closing tag, comment or CR"
            )
    return scripts


def _policy(scripts: list[str]) -> str:
    """No connection of any kind; only scripts with these hashes; styles and data images inline."""
    hashes = [
        "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"
        for script in scripts
    ]
    allowed = " ".join(hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "connect-src 'none'; font-src 'none'; frame-src 'none'; base-uri 'none'; form-action 'none'"
    )


def _with_safe_raw(one: SectionView) -> SectionView:
    from dataclasses import replace

    return replace(one, raw=_safe(_script_safe(one.raw)))


def _script_safe(text: str) -> str:
    """JSON that cannot leave its script element: no ``<``, ``>``, ``&`` or line separators, as JSON
    escapes instead.
    """
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _safe(text: str) -> Any:
    """Our own text, or text made safe above, which the template must not escape again."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704
