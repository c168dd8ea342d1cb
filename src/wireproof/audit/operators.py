"""What the conditions of settings compute with: values, functions and operators, three-valued.
Pure.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

__all__ = [
    "FUNCTIONS",
    "UNKNOWN",
    "Lookup",
    "Node",
    "Unknown",
    "Value",
    "both",
    "calculated",
    "compared",
    "constant",
    "either",
    "listed",
    "negated",
]


class Unknown:
    """What could not be read, or follows from it."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()
Value = int | float | str | bool | None | list[Any] | Unknown
Lookup = Callable[[str], Value]

Node = Callable[[Lookup], Value]


def _length(value: Value) -> Value:
    return len(value) if isinstance(value, (list, str)) else UNKNOWN


def _matches(value: Value, pattern: Value) -> Value:
    if isinstance(value, str) and isinstance(pattern, str):
        return fnmatchcase(value, pattern)
    return UNKNOWN if isinstance(value, Unknown) else False


def _contains(text: Value, part: Value) -> Value:
    if isinstance(text, Unknown):
        return UNKNOWN
    return isinstance(text, (str, list)) and str(part) in text


def _version(text: Value) -> Value:
    """``4.18.0-553.el8`` as [4, 18, 0]: compared part by part."""
    if not isinstance(text, str):
        return UNKNOWN
    found = re.match(r"\D{0,8}(\d+(?:\.\d+){0,4})", text)
    return [int(part) for part in found.group(1).split(".")] if found else UNKNOWN


def _numbers(values: Value) -> list[int | float]:
    listed = values if isinstance(values, list) else [values]
    return [one for one in listed if isinstance(one, (int, float))]


def _smallest(values: Value) -> Value:
    return min(_numbers(values), default=UNKNOWN)


def _largest(values: Value) -> Value:
    return max(_numbers(values), default=UNKNOWN)


def _first(values: Value) -> Value:
    return (values[0] if values else UNKNOWN) if isinstance(values, list) else values


def _common(one: Value, other: Value) -> Value:
    """What is in both lists."""
    if not isinstance(one, list) or not isinstance(other, list):
        return UNKNOWN
    known = set(map(str, other))
    return [each for each in one if str(each) in known]


FUNCTIONS: dict[str, tuple[int, Callable[..., Value]]] = {
    "count": (1, _length),
    "first": (1, _first),
    "matches": (2, _matches),
    "contains": (2, _contains),
    "version": (1, _version),
    "smallest": (1, _smallest),
    "largest": (1, _largest),
    "common": (2, _common),
}
"""Name to number of arguments and function. ``known``, ``setting`` and ``exists`` are evaluated by
themselves: they look names up.
"""


def constant(value: Value) -> Node:
    return lambda _lookup: value


def listed(nodes: list[Node]) -> Node:
    def evaluate(lookup: Lookup) -> Value:
        values = [node(lookup) for node in nodes]
        return UNKNOWN if any(isinstance(one, Unknown) for one in values) else values

    return evaluate


def _truth(value: Value) -> bool | None:
    return None if isinstance(value, Unknown) else bool(value)


def both(left: Node, right: Node) -> Node:
    def evaluate(lookup: Lookup) -> Value:
        one = _truth(left(lookup))
        if one is False:
            return False
        other = _truth(right(lookup))
        if other is False:
            return False
        return UNKNOWN if one is None or other is None else True

    return evaluate


def either(left: Node, right: Node) -> Node:
    return negated(both(negated(left), negated(right)))


def negated(node: Node) -> Node:
    def evaluate(lookup: Lookup) -> Value:
        found = _truth(node(lookup))
        return UNKNOWN if found is None else not found

    return evaluate


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compared(sign: str, left: Node, right: Node) -> Node:
    def evaluate(lookup: Lookup) -> Value:
        one, other = left(lookup), right(lookup)
        if isinstance(one, Unknown) or isinstance(other, Unknown):
            return UNKNOWN
        try:
            return one in other if sign == "in" else _ORDERS[sign](one, other)  # type: ignore[operator]
        except TypeError:  # a word where a number is expected: not read as what it should be
            return UNKNOWN

    return evaluate


_STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def calculated(sign: str, left: Node, right: Node) -> Node:
    def evaluate(lookup: Lookup) -> Value:
        one, other = left(lookup), right(lookup)
        numbers = (int, float)
        if not (isinstance(one, numbers) and isinstance(other, numbers)):
            return UNKNOWN
        if sign == "/" and other == 0:
            return UNKNOWN
        result: Value = _STEPS[sign](one, other)
        return result

    return evaluate
