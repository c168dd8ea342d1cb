"""Common elements of all pages: templates that escape, styles and scripts, the policy that
forbids everything else, and the result as JSON inside the page.

A page's content security policy allows no connection and runs only the scripts whose hashes it
lists, so text from a node cannot become code even if escaping failed.
"""

import base64
import dataclasses
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from wireproof.report.figure.drawing import dash, hue, symbol
from wireproof.report.flows import NicTraffic
from wireproof.report.json import plain, result
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import harmless


def trusted(text: str) -> Any:
    """Return markup that wireproof created, or text that is already safe, marked so that the
    template does not escape it again.
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


_BACKTICKS = re.compile(r"`([^`\n]{1,300})`")
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
def compiled_page() -> Any:
    """Return the template of all pages; compiled at the first call."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("wireproof.report.html", "template"),
        autoescape=True,
        finalize=_harmless,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["coded"] = _coded
    environment.filters["key"] = _key
    environment.filters["slug"] = _slug
    return environment.get_template("document.html")


def _coded(text: Any) -> Any:
    """Return a text with the words between backticks as code; markup stays unchanged."""
    from markupsafe import escape

    if not isinstance(text, str) or hasattr(text, "__html__"):
        return text
    pieces = [str(escape(piece)) for piece in _BACKTICKS.split(_harmless(text))]
    pieces[1::2] = [f"<code>{piece}</code>" for piece in pieces[1::2]]
    return trusted("".join(pieces))


def _key(number: int) -> Any:
    """Return the line style and mark of line ``number`` of a figure, for its legend."""
    path = f'<path class="line" d="M0 6h26" stroke-dasharray="{dash(number)}"/>'
    mark = f'<path class="dot" d="{symbol(number, 13, 6)}"/>'
    return trusted(f'<g class="{hue(number)}">{path}{mark}</g>')


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
        raise ValueError(f"the script {name} contains a closing tag, an HTML comment or a CR")
    return text


def policy(*scripts: str, beside: bool = False) -> str:
    """Return a policy that allows no connections, only these scripts (by hash), and inline styles;
    with ``beside``, also styles from a file beside the page.
    """
    digests = (base64.b64encode(hashlib.sha256(one.encode()).digest()) for one in scripts)
    allowed = " ".join(f"'sha256-{digest.decode()}'" for digest in digests) or "'none'"
    styles = " 'self' file:" if beside else ""
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'{styles}; "
        "connect-src 'none'; font-src 'none'; frame-src 'none'; base-uri 'none'; "
        "form-action 'none'"
    )


# --- The result as JSON inside the page, limited in size: parts that do not fit are omitted and
# named.

BUDGET = 500_000
"""Characters of JSON in a page."""

# Parts are omitted in this order: first parts that other tables of the page contain, or that only
# programs need.
_ORDER = (
    "samples",
    "groups",
    "results",
    "traffic",
    "hosts",
    "claim.hosts",
    "group_results",
    "errors",
    "missing",
    "located.missing",
    "findings",
    "disclosure.items",
)
_LEAST_BYTES = {"samples": 300, "results": 250}
_FINDINGS = 100


def embedded(run: JudgedRun, seen: Sequence[NicTraffic], name: str) -> str:
    """Return the element ``name``-data with the object, and a sentence that lists omitted parts."""
    pairs = max(len(run.judgement.pairs), sum(len(point.pairs) for point in run.run.points))
    left_out = [part for part, each in _LEAST_BYTES.items() if each * pairs > BUDGET]
    kept = _whole(run, seen, left_out)
    sizes = {key: len(_text(value)) for key, value in kept.items()}
    total = sum(sizes.values())
    for part in _ORDER:
        if total <= BUDGET:
            break
        if part not in left_out and (before := _size_of(kept, part)):
            _drop(kept, part)
            left_out.append(part)
            total -= before - _size_of(kept, part)
    text = in_script(_text({"document": kept, "left_out": left_out}))
    missing = f" Too long for this page and left out: {', '.join(left_out)}." if left_out else ""
    return (
        '<p class="muted given">This page also contains the numbers as JSON (wireproof.result,'
        f" version {result.VERSION}).{missing}</p>"
        f'<script type="application/json" id="{name}-data">{text}</script>'
    )


def _whole(run: JudgedRun, seen: Sequence[NicTraffic], left_out: Sequence[str]) -> dict[str, Any]:
    pairs = [] if "results" in left_out else run.judgement.pairs
    judgement = msgspec.structs.replace(run.judgement, pairs=pairs)
    shown = dataclasses.replace(run, judgement=judgement, settings=None, standing=None)
    samples = "samples" not in left_out
    found: dict[str, Any] = plain(result.document_of(shown, seen=seen, samples=samples))
    return found


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _places(kept: dict[str, Any], name: str) -> list[tuple[dict[str, Any], str]]:
    """Return where a part is: ``claim.hosts`` is in the claim, ``located.missing`` in each entry of
    ``located``.
    """
    outer, _, inner = name.rpartition(".")
    if not outer:
        return [(kept, inner)]
    holder = kept[outer] or []
    return [(one, inner) for one in (holder if isinstance(holder, list) else [holder])]


def _size_of(kept: dict[str, Any], name: str) -> int:
    return sum(len(_text(holder[key])) for holder, key in _places(kept, name))


def _drop(kept: dict[str, Any], name: str) -> None:
    """Empty a part; the first findings stay, without their lists of names."""
    for holder, key in _places(kept, name):
        if name == "findings":
            holder[key] = [
                one | {"evidence": _short(one["evidence"])} for one in holder[key][:_FINDINGS]
            ]
        else:
            holder[key] = type(holder[key])()


def _short(evidence: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value[:20] if isinstance(value, list) else value for key, value in evidence.items()
    }
