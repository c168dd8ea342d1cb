"""Common elements of all pages: templates that escape, styles and scripts, and the policy that
forbids everything else.

A page's content security policy allows no connection and runs only the scripts whose hashes it
lists, so text from a node cannot become code even if escaping failed.
"""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

from wireproof.report.figure.drawing import dash, symbol
from wireproof.report.names import harmless


def trusted(text: str) -> Any:
    """Mark markup that wireproof created, or text that is already safe, so that the template does
    not escape it again.
    """
    from markupsafe import Markup

    return Markup(text)  # noqa: S704


def in_script(text: str) -> str:
    """Return JSON that cannot leave its script element: ``<``, ``>``, ``&`` and line separators
    become JSON escapes.
    """
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


_LONGEST = 20_000
"""Maximum length of a text: no name from outside makes a page endless."""


def _harmless(value: Any) -> Any:
    """Make a text safe before a template shows it, in case its builder did not; wireproof's markup
    stays unchanged.
    """
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return harmless(value[:_LONGEST])


@cache
def _environment() -> Any:
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
    environment.filters["slug"] = _slug
    return environment


@cache
def template(name: str) -> Any:
    """Return a compiled template."""
    return _environment().get_template(name)


def _key(number: int) -> Any:
    """Return the line style and mark of line ``number`` of a figure, for its legend."""
    path = f'<path class="line" d="M0 6h26" stroke-dasharray="{dash(number)}"/>'
    mark = f'<path class="dot" d="{symbol(number, 13, 6)}"/>'
    return trusted(f'<g class="s{number}">{path}{mark}</g>')


def _slug(text: str) -> str:
    """Return the name of the file that a table is saved as."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40] or "table"


@cache
def part(name: str) -> str:
    """Return the text of a file beside the templates."""
    return (Path(__file__).parent / "template" / name).read_text(encoding="utf-8")


@cache
def script(name: str) -> str:
    """Return a script; raise ValueError if it cannot be embedded in a page."""
    text = part(name)
    if "</script" in text.lower() or "<!--" in text or "\r" in text:
        raise ValueError(f"the script {name} holds a closing tag, a comment of HTML or a CR")
    return text


def policy(*scripts: str, beside: bool = False) -> str:
    """Return a policy that allows no connections, only these scripts (by hash), and inline styles;
    with ``beside``, also styles from a file beside the page.
    """
    allowed = " ".join(f"'sha256-{_digest(one)}'" for one in scripts) or "'none'"
    styles = " 'self' file:" if beside else ""
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'{styles}; "
        "connect-src 'none'; font-src 'none'; frame-src 'none'; base-uri 'none'; "
        "form-action 'none'"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
