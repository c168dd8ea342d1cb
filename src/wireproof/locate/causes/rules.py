"""The causes of ``causes.toml``, and those that the culprit's own shape shows. ``explain`` matches
them. A new cause is one entry there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from wireproof.locate.causes.rule import Rule, Shape
from wireproof.locate.causes.signs import AnySign, Grows
from wireproof.model.errors import BadInput
from wireproof.model.packaged import packaged
from wireproof.model.toml import read_rows, read_toml

__all__ = ["OVERSUBSCRIBED", "ROUTE_BETWEEN", "RULES", "Rule", "rules_in"]

OVERSUBSCRIBED = Shape(
    "oversubscribed",
    0.8,
    "{subject} is slow only while many use it at once",
    "Nothing to repair: more up-links, or jobs placed below one switch.",
)
ROUTE_BETWEEN = Shape(
    "route-between",
    0.5,
    "neither end of {subject} is slow with others: what lies between them is",
    "Trace the route between the two (ibtracert, traceroute) and look at the errors of each port.",
    "slow in this pair only; both ends reach what is expected with their other partners",
)
_FILE = "causes.toml"


def rules_in(text: str, source: str) -> tuple[Rule, ...]:
    """The causes of one file, in its order. Raises ``BadInput`` with ``source``, line and field."""
    words = read_toml(text, source).get("words", {})
    return tuple(
        msgspec.structs.replace(
            rule, when=_spelled(rule.when, words, source), surer=_spelled(rule.surer, words, source)
        )
        for rule in read_rows(text, source, "cause", Rule, beside=("words",))
    )


def _spelled(
    signs: Sequence[AnySign], words: Mapping[str, Sequence[str]], source: str
) -> tuple[AnySign, ...]:
    """``signs`` with the words that ``@NAME`` stands for."""
    return tuple(
        msgspec.structs.replace(
            sign, words=tuple(word for name in sign.words for word in _meant(name, words, source))
        )
        if isinstance(sign, Grows)
        else sign
        for sign in signs
    )


def _meant(word: str, words: Mapping[str, Sequence[str]], source: str) -> Sequence[str]:
    if not word.startswith("@"):
        return (word,)
    if word[1:] not in words:
        raise BadInput(f"{source}: [words] has no {word[1:60]!r}.")
    return words[word[1:]]


RULES = rules_in(packaged(__package__, _FILE), _FILE)
