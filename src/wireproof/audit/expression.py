"""The small language of the settings' conditions, parsed here and never evaluated as code. Pure.

``value >= 128 and host.virtual == false``, ``nic.driver in ["hfi1", "mlx5_core"]``,
``setting("cpu-governor") == "performance"``. Three-valued: what could not be read is ``UNKNOWN``,
and a condition that depends on it is unknown too (Kleene's logic), never false.

    or: and ("or" and)*            and: not ("and" not)*            not: "not" not | comparison
    comparison: sum (("==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not" "in") sum)?
    sum: product (("+" | "-") product)*        product: atom (("*" | "/") atom)*
    atom: number | string | "true" | "false" | "none" | name | name "(" arguments ")"
          | "[" arguments "]" | "(" or ")" | "-" atom
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from wireproof.audit.operators import (
    FUNCTIONS,
    UNKNOWN,
    Lookup,
    Node,
    Unknown,
    Value,
    both,
    calculated,
    compared,
    constant,
    either,
    listed,
    negated,
)
from wireproof.model.errors import BadInput

__all__ = ["FUNCTIONS", "UNKNOWN", "Expression", "Unknown", "Value", "parse"]


_DEEPEST = 40
_TOKEN = re.compile(
    r"""\s*(?: (?P<number>0x[0-9a-f]+|\d+(?:\.\d+)?)(?P<unit>[KMGT]i?)? (?![\w.])
      | (?P<string>"[^"\\]*" | '[^'\\]*')
      | (?P<name>[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)*)
      | (?P<sign>==|!=|<=|>=|[-+*/<>()\[\],]) )""",
    re.VERBOSE,
)
_UNITS: dict[str, int] = {
    **{unit: 1000 ** (at + 1) for at, unit in enumerate("KMGT")},
    **{unit + "i": 1024 ** (at + 1) for at, unit in enumerate("KMGT")},
}
_CONSTANTS: dict[str, Value] = {"true": True, "false": False, "none": None}
_KEYWORDS = {"and", "or", "not", "in"}


_LOOKUPS = ("known", "setting", "exists")


@dataclass(frozen=True)
class Expression:
    """A parsed condition. ``names``: what it looks up, so that a catalogue can be checked."""

    text: str
    names: frozenset[str]
    _evaluate: Callable[[Lookup], Value]

    def value(self, lookup: Lookup | Mapping[str, Value]) -> Value:
        """The value for the names that ``lookup`` knows; a name that it lacks is UNKNOWN."""
        find = lookup if callable(lookup) else _of_mapping(lookup)
        return self._evaluate(find)

    def holds(self, lookup: Lookup | Mapping[str, Value]) -> bool | None:
        """True, False, or None: not known."""
        found = self.value(lookup)
        return None if isinstance(found, Unknown) else bool(found)


def _of_mapping(values: Mapping[str, Value]) -> Lookup:
    return lambda name: values.get(name, UNKNOWN)


def parse(text: str) -> Expression:
    """``BadInput`` says what is wrong at which character."""
    return _Parser(text).expression()


class _Parser:
    """Recursive descent over the tokens."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_tokens(text))
        self.at = 0
        self.depth = 0
        self.names: set[str] = set()

    def expression(self) -> Expression:
        node = self._or()
        if self.at < len(self.tokens):
            raise self._wrong(f"{self._peek()!r} is not expected")
        return Expression(self.text, frozenset(self.names), node)

    def _wrong(self, what: str) -> BadInput:
        at = self.tokens[self.at][2] + 1 if self.at < len(self.tokens) else len(self.text) + 1
        return BadInput(f"{self.text!r}, character {at}: {what}.")

    def _peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def _take(self, *wanted: str) -> str:
        """The next token if it is one of ``wanted``, else ""."""
        if self.at < len(self.tokens) and self.tokens[self.at][0] in ("sign", "keyword"):
            found = self._peek()
            if found in wanted:
                self.at += 1
                return found
        return ""

    def _need(self, sign: str) -> None:
        if not self._take(sign):
            raise self._wrong(f"{sign!r} is expected")

    def _or(self) -> Node:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._wrong(f"more than {_DEEPEST} levels")
        node = self._and()
        while self._take("or"):
            node = either(node, self._and())
        self.depth -= 1
        return node

    def _and(self) -> Node:
        node = self._not()
        while self._take("and"):
            node = both(node, self._not())
        return node

    def _not(self) -> Node:
        negations = 0
        while self._take("not"):
            negations += 1
        node = self._comparison()
        return negated(node) if negations % 2 else node

    def _comparison(self) -> Node:
        left = self._sum()
        sign = self._take("==", "!=", "<", "<=", ">", ">=", "in", "not")
        if not sign:
            return left
        if sign == "not":
            self._need("in")
            return negated(compared("in", left, self._sum()))
        return compared(sign, left, self._sum())

    def _sum(self) -> Node:
        node = self._product()
        while sign := self._take("+", "-"):
            node = calculated(sign, node, self._product())
        return node

    def _product(self) -> Node:
        node = self._atom()
        while sign := self._take("*", "/"):
            node = calculated(sign, node, self._atom())
        return node

    def _atom(self) -> Node:
        if self._take("-"):
            return calculated("-", constant(0), self._atom())
        if self._take("("):
            node = self._or()
            self._need(")")
            return node
        if self._take("["):
            return listed(self._arguments("]"))
        if self.at >= len(self.tokens):
            raise self._wrong("a value is expected")
        kind, text, _ = self.tokens[self.at]
        if kind in ("sign", "keyword"):
            raise self._wrong(f"{text!r} is not expected")
        self.at += 1
        if kind == "name":
            return self._name(text)
        return constant(_number(text) if kind == "number" else text[1:-1])

    def _name(self, name: str) -> Node:
        if self._take("("):
            return self._call(name)
        if name in _CONSTANTS:
            return constant(_CONSTANTS[name])
        self.names.add(name)
        return lambda lookup: lookup(name)

    def _call(self, name: str) -> Node:
        if name in _LOOKUPS:
            return self._lookup_call(name)
        arguments = self._arguments(")")
        if name not in FUNCTIONS:
            known = ", ".join(sorted([*FUNCTIONS, *_LOOKUPS]))
            raise self._wrong(f"no function {name!r}; there are {known}")
        wanted, function = FUNCTIONS[name]
        if len(arguments) != wanted:
            raise self._wrong(f"{name} takes {wanted} arguments, not {len(arguments)}")
        return lambda lookup: function(*(argument(lookup) for argument in arguments))

    def _lookup_call(self, name: str) -> Node:
        """``setting("id")``: another setting's value; ``exists("path")``; ``known(name)``."""
        if self.at >= len(self.tokens) or self.tokens[self.at][0] in ("sign", "number"):
            raise self._wrong(f"{name} takes one name")
        kind, text, _ = self.tokens[self.at]
        self.at += 1
        self._need(")")
        wanted = text[1:-1] if kind == "string" else text
        if name == "known":
            self.names.add(wanted)
            return lambda lookup: not isinstance(lookup(wanted), Unknown)
        key = f"{name}:{wanted}"
        self.names.add(key)
        return lambda lookup: lookup(key)

    def _arguments(self, end: str) -> list[Node]:
        found: list[Node] = []
        while not self._take(end):
            if found:
                self._need(",")
            found.append(self._or())
        return found


def _tokens(text: str) -> list[tuple[str, str, int]]:
    """(kind, text, place) of each token."""
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise BadInput(
                f"{text!r}, character {at + 1}: {text[at : at + 8]!r} is not understood."
            )
        kind = next(
            name for name in ("number", "string", "name", "sign") if token.group(name) is not None
        )
        word = token.group(kind) + (token.group("unit") or "" if kind == "number" else "")
        start = token.start(kind)
        found.append(("keyword" if word in _KEYWORDS else kind, word, start))
        at = token.end()
    return found


def _number(text: str) -> int | float:
    if text.startswith("0x"):
        return int(text, 16)
    digits = text.rstrip("KMGTi")
    value: int | float = float(digits) if "." in digits else int(digits)
    return value * _UNITS.get(text[len(digits) :], 1)
