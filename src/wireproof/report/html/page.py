"""The report page: one self-contained HTML file that needs no network and allows none."""

from __future__ import annotations

from pathlib import Path

from wireproof.files.hostile import replace_file
from wireproof.model.finding import worst
from wireproof.report.figure.file import style
from wireproof.report.html.markup import trusted
from wireproof.report.html.shell import part, policy, script, template
from wireproof.report.html.views import view
from wireproof.report.judged_run import JudgedRun, label
from wireproof.report.names import clean
from wireproof.version import version

__all__ = ["render", "write"]


def render(sections: list[JudgedRun], title: str, home: str = "") -> str:
    """One page for several runs in the order given. ``home``: what a link back goes to, if the page
    is one of several. Raises ValueError without a run.
    """
    if not sections:
        raise ValueError("a report needs at least one run")
    views = [view(section, i) for i, section in enumerate(sections, 1)]
    scripts = [script("page.js")] if any(one.interactive for one in views) else []
    page: str = template("page.html").render(
        title=clean(title),
        verdict=worst([section.judgement.verdict for section in sections]),
        when=_when(sections),
        version=version(),
        style=trusted(part("style.css") + style()),
        policy=policy(*scripts),
        sections=views,
        script=trusted("".join(scripts)),
        home=home,
    )
    return page


def write(path: Path, html: str) -> Path:
    """Write ``html`` to ``path`` atomically, for us alone; returns it.

    OSError leaves the old file, or none, and no leftover.
    """
    replace_file(path, html.encode("utf-8"))
    return path


def _when(sections: list[JudgedRun]) -> str:
    started = sorted(
        {
            clean(section.run.provenance.started, 40)
            for section in sections
            if section.run.provenance.started
        }
    )
    hosts = list(dict.fromkeys(label(section) for section in sections))
    return ". ".join(part for part in (started[0] if started else "", "; ".join(hosts)) if part)
