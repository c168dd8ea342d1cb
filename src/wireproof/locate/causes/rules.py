# pure
"""Load the causes of ``causes.toml``, and define those that follow from the kind of culprit.
``explain`` matches them. To add a cause, add an entry to that file.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Literal

import msgspec

from wireproof.locate.causes.signs import AnySign, Grows
from wireproof.model.located import Blame, BlameKind, Cause, Metric
from wireproof.model.setting import Setting
from wireproof.model.site import HEADS, of_site, packaged, site_texts
from wireproof.model.toml import check_braces, mistake, once, read_rows, read_toml

# --- Steps that bring a setting of a host in line with comparable hosts, in words.

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .,:@+/-]{0,120}", re.ASCII)
"""Text that a shell reads only as words."""


def in_line(setting: Setting, node: str, names: Mapping[str, str], usual: str = "") -> str:
    """Return the steps of the catalogue's entry, with the other hosts' value (``usual``) if known.
    ``names``: replacements for ``{nic}`` and similar placeholders. Values and names come from the
    hosts: unsafe text never appears in a command that a user may copy.
    """
    plain = all(_PLAIN.fullmatch(text) for text in (usual, *names.values()) if text)
    fix, value = setting.fix, (usual if plain else "") or "the value of the other nodes"
    if fix is None:
        return f"{node}: compare {setting.id} with the other nodes ({value})."
    if fix.by_hand and not fix.value:
        return f"{node}: {_filled(fix.by_hand, names)}."
    if fix.at_once and usual and plain:
        if fix.command:
            command = _filled(" ".join(fix.command), {**names, "value": usual})
            return f"{node}: {command}, as on the other nodes."
        if place := _place(setting, names):
            return f"{node}: write {usual} to {place}, as on the other nodes."
    return (
        f"{node}: set {setting.id} to {value}"
        f" (`wireproof explain {setting.id}` has the steps and the undo)."
    )


def _place(setting: Setting, names: Mapping[str, str]) -> str:
    """Return the file to write; "" if it is not a single file."""
    fix = setting.fix
    written = (fix.file,) if fix is not None and fix.file else ()
    read = (one.file for one in setting.reads if one.file.startswith("/"))
    path = _filled(next(iter([*written, *read]), ""), names)
    return "" if "*" in path or "{" in path else path


def _filled(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: names.get(match[1], match[0]), text)


_Certainty = Annotated[float, msgspec.Meta(gt=0, le=1)]
_NODE: frozenset[BlameKind] = frozenset({"node", "port", "switch"})
_BOTH: frozenset[Metric] = frozenset({"goodput", "hrt"})


class CauseRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One cause. All signs of ``when`` must hold. ``confidence`` is the cause's, 0 to 1, times the
    factor of the culprit's direction; if all signs of ``surer`` also hold, ``sure`` replaces it.

    ``setting``: the catalogue entry that the cause concerns; fix and undo come from there. If it
    concerns no setting, ``no_setting`` contains the reason and the rule has a ``fix``.
    """

    code: str
    when: tuple[AnySign, ...]
    confidence: _Certainty
    sentence: str
    fix: str = ""
    kinds: frozenset[BlameKind] = _NODE
    metrics: frozenset[Metric] = _BOTH
    directions: dict[Literal["both", "tx", "rx"], _Certainty] = msgspec.field(
        default_factory=lambda: {"both": 1.0, "tx": 1.0, "rx": 1.0}
    )
    surer: tuple[AnySign, ...] = ()
    sure: _Certainty = 0.95
    setting: str = ""
    no_setting: str = ""

    def __post_init__(self) -> None:
        if not self.when:
            raise ValueError("'when' has no sign, so the cause would always apply")
        if not self.setting and not (self.fix.strip() and self.no_setting.strip()):
            missing = "no_setting" if self.fix.strip() else "fix"
            raise ValueError(f"{missing!r} is needed by a cause without 'setting'")
        check_braces(self, ("sentence", "fix"), ("node", "nic"))

    def factor(self, blame: Blame) -> float:
        """Return a factor for the fit of the rule to a culprit's kind and direction; 0 if it does
        not fit."""
        if blame.kind not in self.kinds or blame.metric not in self.metrics:
            return 0.0
        return self.directions.get(blame.direction or "both", 0.0)

    def cause(
        self,
        *,
        node: str,
        nic: str,
        confidence: float,
        evidence: list[str],
        settings: Mapping[str, Setting],
    ) -> Cause:
        entry = settings.get(self.setting)
        return Cause(
            code=self.code,
            sentence=self.sentence.format(node=node, nic=nic),
            confidence=confidence,
            fix=self._fix(node, nic, entry),
            undo=entry.fix.undo if entry is not None and entry.fix else "",
            evidence=evidence,
            setting=self.setting,
            expected=entry.effect if entry is not None else None,
        )

    def _fix(self, node: str, nic: str, entry: Setting | None) -> str:
        """Return the steps of the entry; without a catalogue, where to find them."""
        if not self.setting:
            return self.fix.format(node=node, nic=nic)
        if entry is None:
            return f"`wireproof explain {self.setting}` shows how to fix it."
        return in_line(entry, node, {"nic": nic})


# --- Causes that follow from the kind of culprit alone, without counters.


def oversubscribed(blame: Blame, evidence: list[str]) -> Cause:
    """Return the cause of a link or switch that is slow only under load from other pairs."""
    return Cause(
        code="oversubscribed",
        confidence=0.8,
        sentence=f"{blame.subject} is slow only while many nodes use it at once",
        fix="Nothing to repair: add up-links, or place jobs below one switch.",
        evidence=evidence,
    )


def route_between(blame: Blame) -> Cause:
    """Return the cause of a pair whose ends are fast with other partners."""
    return Cause(
        code="route-between",
        confidence=0.5,
        sentence=f"neither end of {blame.subject} is slow with other partners, so the path between"
        " them is slow",
        fix="Trace the route between the two nodes (ibtracert, traceroute) and check the error "
        "counters of each port.",
        evidence=["slow in this pair only; both ends reach the expected rate with other partners"],
    )


_FILE = "causes.toml"


def rules_in(text: str, source: str, known: Collection[str] = ()) -> tuple[CauseRule, ...]:
    """Return the causes of one file, in order. Codes in ``known`` are taken. Raises ``BadInput``
    with ``source``, line and field.
    """
    words, taken, rules = _words_in(text, source), set(known), list[CauseRule]()

    def add(rule: CauseRule) -> None:
        once(taken, rule.code, "cause")
        when, surer = _spelled(rule.when, words), _spelled(rule.surer, words)
        rules.append(msgspec.structs.replace(rule, when=when, surer=surer))

    read_rows(text, source, "cause", CauseRule, HEADS, add)
    return tuple(rules)


_Words = dict[str, tuple[str, ...]]


def _words_in(text: str, source: str) -> _Words:
    try:
        return msgspec.convert(read_toml(text, source).get("words", {}), _Words)
    except msgspec.ValidationError as error:
        raise mistake(text, source, _Words, error, [("words", None)]) from error


def _spelled(signs: Sequence[AnySign], words: _Words) -> tuple[AnySign, ...]:
    """Return ``signs`` with every ``@NAME`` replaced by its words."""
    return tuple(
        msgspec.structs.replace(
            sign, words=tuple(word for name in sign.words for word in _meant(name, words))
        )
        if isinstance(sign, Grows)
        else sign
        for sign in signs
    )


def _meant(word: str, words: _Words) -> Sequence[str]:
    if not word.startswith("@"):
        return (word,)
    if word[1:] not in words:
        raise ValueError(f"'when': [words] has no {word[1:60]!r}")
    return words[word[1:]]


@of_site
def rules() -> tuple[CauseRule, ...]:
    """Return the built-in causes and the site's causes, which include the name of their file.
    Raises ``BadInput`` for a duplicate code.
    """
    ours = rules_in(packaged(__package__, _FILE), _FILE)
    codes, added = {rule.code for rule in ours}, list[CauseRule]()
    for text in site_texts():
        for rule in rules_in(text.text, text.name, codes):
            codes.add(rule.code)
            added.append(msgspec.structs.replace(rule, sentence=text.source(rule.sentence)))
    return (*ours, *added)
