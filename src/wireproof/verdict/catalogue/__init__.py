"""The closed catalogue of findings: what each code means, how it is detected, what to do next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from wireproof.model.finding import Severity
from wireproof.model.site import packaged

if TYPE_CHECKING:
    from wireproof.locate.causes.rules import CauseRule

__all__ = ["CATALOGUE", "ENGINE", "CatalogueEntry", "causes", "code_of", "entries_of"]
__all__ += ["findings", "severity_of"]


# --- What each error code of a run means as a finding. A contract test holds the engine's and the
# head node's codes together with this table.

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
    # From the head node: what the launcher, the lab and a check of many nodes saw.
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
    """Our code for an error's; ``engine-error`` for one that is not known here."""
    return ENGINE.get(error, "engine-error")


def severity_of(code: str) -> Severity:
    """How grave an error of that finding's code is."""
    return _SEVERITIES.get(code, "inconclusive")


class CatalogueEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One code. ``next_action`` is printed with every finding of this code."""

    code: str
    title: str
    meaning: str
    detection: str
    next_action: str


_FINDINGS = "findings.md"
_ENTRY = re.compile(
    r"### `(?P<code>[a-z]+(?:-[a-z]+)*)`: (?P<title>.+)\n\n"
    r"(?P<meaning>(?:.+\n)+)\n"
    r"\*Detected by:\* (?P<detection>(?:.+\n)+)\n"
    r"\*What to do:\* (?P<next_action>(?:.+\n)+)"
)


def entries_of(text: str) -> dict[str, CatalogueEntry]:
    """The entries of findings.md by their codes. Raises ``ValueError`` with the line of a heading
    below which a part is missing, or whose code was there before.
    """
    found: dict[str, CatalogueEntry] = {}
    for start in re.finditer("^### ", text, re.MULTILINE):
        entry = _ENTRY.match(text, start.start())
        if entry is None or entry["code"] in found:
            line = text.count("\n", 0, start.start()) + 1
            raise ValueError(
                f"{_FINDINGS}:{line}: give a new `code`, a title, what it means,"
                " '*Detected by:*' and '*What to do:*'"
            )
        parts = {name: " ".join(part.split()) for name, part in entry.groupdict().items()}
        found[entry["code"]] = CatalogueEntry(**parts)
    return found


CATALOGUE: dict[str, CatalogueEntry] = entries_of(packaged(__name__, _FINDINGS))


def findings() -> dict[str, CatalogueEntry]:
    """Ours, and what the site explains of its checks, which names its file. Raises BadInput for a
    code that is there twice.
    """
    from wireproof.model.site import HEADS, site_texts
    from wireproof.model.toml import read_rows

    entries = dict(CATALOGUE)
    codes = set(entries)

    def new(entry: CatalogueEntry) -> None:
        if entry.code in codes:
            raise ValueError(f"there is a finding {entry.code!r} already")
        codes.add(entry.code)

    for text in site_texts():
        for entry in read_rows(text.text, text.name, "finding", CatalogueEntry, HEADS, new):
            title = text.source(entry.title)
            entries[entry.code] = msgspec.structs.replace(entry, title=title)
    return entries


def causes() -> dict[str, CatalogueEntry]:
    """The causes that a culprit may have, as entries; they are no findings and never stand
    alone.
    """
    from wireproof.locate.causes.rules import rules

    names = {"node": "NODE", "nic": "NIC"}
    return {
        rule.code: CatalogueEntry(
            code=rule.code,
            title=f"Cause: {rule.sentence.format(**names)}",
            meaning=_said_of(rule),
            detection=_seen_when(rule),
            next_action=rule.fix.format(**names) or _of_setting(rule),
        )
        for rule in rules()
    }


def _of_setting(rule: CauseRule) -> str:
    return (
        f"It is the setting `{rule.setting}`: `wireproof explain {rule.setting}` prints what it"
        " should be, its fix and its undo."
    )


def _said_of(rule: CauseRule) -> str:
    kinds = ", ".join(sorted(rule.kinds))
    best = f" (at best {rule.sure:g})" if rule.surer else ""
    return f"Said of a {kinds} that was found slow, with a confidence of {rule.confidence:g}{best}."


def _seen_when(rule: CauseRule) -> str:
    surer = "; ".join(sign.means() for sign in rule.surer)
    more = f". Surer when {surer}" if surer else ""
    return f"{'; '.join(sign.means() for sign in rule.when)}{more}."
