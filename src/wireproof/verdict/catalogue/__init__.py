# pure
"""The closed catalogue of findings: what each code means, how it is detected, what to do next."""

import re

import msgspec

from wireproof.model.finding import Severity
from wireproof.model.site import HEADS, packaged, site_texts

__all__ = ["CATALOGUE", "ENGINE", "CatalogueEntry", "KnownName", "as_key", "code_of"]
__all__ += ["entries_of", "findings", "groups", "known_names", "severity_of"]


# --- The finding that each error code of a run becomes. A contract test compares this table with
# the codes of the engine and of the head node.

ENGINE: dict[str, str] = {
    "bad-plan": "engine-error",
    "cannot-begin": "engine-error",
    "deadline": "deadline",
    "interrupted": "interrupted",
    "library-mismatch": "library-mismatch",
    "model-counter": "engine-error",
    "no-group": "engine-error",
    "no-memory": "engine-error",
    "no-partitions": "engine-error",
    "no-pattern": "engine-error",
    "no-threads": "engine-error",
    "no-window": "engine-error",
    "ofi-address": "engine-error",
    "ofi-depth": "engine-error",
    "ofi-disagree": "engine-error",
    "ofi-exchange": "engine-error",
    "ofi-garbled": "engine-error",
    "ofi-library": "engine-error",
    "ofi-lost": "rank-lost",
    "ofi-open": "engine-error",
    "ofi-provider": "engine-error",
    "ofi-size": "engine-error",
    "output": "engine-error",
    "peer-gone": "rank-lost",
    "tcp-absent": "engine-error",
    "tcp-bind": "engine-error",
    "tcp-connect": "engine-error",
    "tcp-garbled": "engine-error",
    "tcp-handshake": "engine-error",
    "tcp-listen": "engine-error",
    "tcp-lost": "rank-lost",
    "tcp-no-address": "engine-error",
    "tcp-no-nic": "nic-unknown",
    "tcp-refused": "engine-error",
    "tcp-socket": "engine-error",
    "tcp-stalled": "engine-error",
    "tcp-twice": "engine-error",
    "tcp-unreachable": "engine-error",
    "unsupported": "engine-error",
    # From the head node: errors seen by the launcher, the lab and a check of many nodes.
    "broken-off": "engine-error",
    "large-messages-hang": "large-messages-hang",
    "placement-changed": "engine-error",
    "rank-lost": "rank-lost",
    "wire-late": "wire-late",
}
_SEVERITIES: dict[str, Severity] = {
    "library-mismatch": "fail",
    "large-messages-hang": "fail",
    "wire-late": "warning",
}


def code_of(error: str) -> str:
    """Return the finding code for an engine's error code; ``engine-error`` if it is unknown."""
    return ENGINE.get(error, "engine-error")


def severity_of(code: str) -> Severity:
    """Return the severity of an error that is reported under this finding code."""
    return _SEVERITIES.get(code, "inconclusive")


class CatalogueEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One finding code. ``next_action`` is printed with every finding of this code."""

    code: str
    title: str
    meaning: str
    detection: str
    next_action: str


class KnownName(CatalogueEntry, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A name that users look up. ``source``: the manual or source code that defines it."""

    source: str


_FINDINGS = "findings.md"
_NAMES = "names.toml"
_MARKS = re.compile(r"[®™*~]|\((?:r|tm)\)")
_ENTRY = re.compile(
    r"### `(?P<code>[a-z]+(?:-[a-z]+)*)`: (?P<title>.+)\n\n"
    r"(?P<meaning>(?:.+\n)+)\n"
    r"\*Detected by:\* (?P<detection>(?:.+\n)+)\n"
    r"\*What to do:\* (?P<next_action>(?:.+\n)+)"
)


def entries_of(text: str) -> dict[str, CatalogueEntry]:
    """Parse the entries of findings.md and return them by code.

    Raise ``ValueError`` with the line of any heading whose parts are incomplete or whose code is
    already defined.
    """
    entries: dict[str, CatalogueEntry] = {}
    for start in re.finditer("^### ", text, re.MULTILINE):
        entry = _ENTRY.match(text, start.start())
        if entry is None or entry["code"] in entries:
            line = text.count("\n", 0, start.start()) + 1
            raise ValueError(
                f"{_FINDINGS}:{line}: give a new `code`, a title, its meaning,"
                " '*Detected by:*' and '*What to do:*'"
            )
        parts = {name: " ".join(part.split()) for name, part in entry.groupdict().items()}
        entries[entry["code"]] = CatalogueEntry(**parts)
    return entries


CATALOGUE: dict[str, CatalogueEntry] = entries_of(packaged(__name__, _FINDINGS))


def findings() -> dict[str, CatalogueEntry]:
    """Return wireproof's catalogue and the findings that the site defines for its checks, each with
    the name of its file.

    Raise BadInput if a code is defined twice.
    """
    from wireproof.model.toml import once, read_rows

    entries = dict(CATALOGUE)
    codes = set(entries)

    def new(entry: CatalogueEntry) -> None:
        once(codes, entry.code, "finding")

    for text in site_texts():
        for entry in read_rows(text.text, text.name, "finding", CatalogueEntry, HEADS, new):
            entries[entry.code] = msgspec.structs.replace(entry, title=text.source(entry.title))
    return entries


def groups() -> dict[str, dict[str, str]]:
    """Return the titles of all findings by code, in the groups of the catalogue."""
    texts = re.split(r"^## (.+)", packaged(__name__, _FINDINGS), flags=re.MULTILINE)
    left = {code: entry.title for code, entry in findings().items()}
    return {
        name: {code: left.pop(code) for code in entries_of(text)}
        for name, text in zip(texts[1::2], texts[2::2], strict=True)
    } | ({"Of the site": left} if left else {})


def known_names() -> dict[str, KnownName]:
    """Return names that people look up but that are not findings, settings or rules, by
    spelling.
    """
    from wireproof.model.toml import read_toml

    rows = msgspec.convert(read_toml(packaged(__name__, _NAMES), _NAMES)["name"], list[KnownName])
    return {
        as_key(spelling): msgspec.structs.replace(row, code=spelling)
        for row in rows
        for spelling in row.code.split("|")
    }


def as_key(name: str) -> str:
    """Return a code or a name as the catalogues list it, without marks (Intel(R), Tofino™)."""
    return "-".join(_MARKS.sub(" ", name.lower()).replace("_", "-").split())
