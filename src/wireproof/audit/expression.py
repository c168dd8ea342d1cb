# pure
"""Parse and evaluate the conditions of settings, a small language; nothing runs as Python code.
Pure.

Examples: ``value >= 128 and host.virtual == false``, ``nic.driver in ["hfi1", "mlx5_core"]``,
``setting("cpu-governor") == "performance"``. Logic is three-valued (Kleene): an unreadable value is
``UNKNOWN``, and a condition that depends on it is unknown too, never false.

The syntax is a subset of Python expressions: ``or``, ``and``, ``not``, a single comparison at a
time, ``+ - * /``, lists, numbers (``128Ki``, ``2M``), strings, ``true``, ``false``, ``none``, names
with dots, and the functions of ``FUNCTIONS`` and ``_LOOKUPS``.
"""

from __future__ import annotations

import ast
import functools
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from wireproof.model.errors import BadInput

_DEEPEST = 40
_LONGEST = 4000
_NUMBER = re.compile(
    r"""(?P<kept> "[^"]*" | '[^']*' | [A-Za-z_][\w.]* | 0x[0-9a-f]+ )
      | (?P<number> \d+(?:\.\d+)? ) (?P<unit> [KMGT]i? ) (?![\w.])""",
    re.VERBOSE,
)
"""A number with a unit, and tokens that may contain text of that form."""
_UNITS: dict[str, int] = {
    **{unit: 1000 ** (at + 1) for at, unit in enumerate("KMGT")},
    **{unit + "i": 1024 ** (at + 1) for at, unit in enumerate("KMGT")},
}
_CONSTANTS: dict[str, Value] = {"true": True, "false": False, "none": None}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Value]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda part, whole: part in whole,
    ast.NotIn: lambda part, whole: part not in whole,
}
_STEPS: dict[type[ast.operator], Callable[[Any, Any], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_LOOKUPS = ("known", "setting", "exists")


@dataclass(frozen=True)
class Expression:
    """A parsed condition. ``names``: the names that it looks up, to check a catalogue."""

    text: str
    names: frozenset[str]
    _evaluate: Callable[[Lookup], Value]

    def value(self, lookup: Lookup | Mapping[str, Value]) -> Value:
        """Return the value of the condition; names that ``lookup`` does not know are UNKNOWN."""
        find = lookup if callable(lookup) else lambda name: lookup.get(name, UNKNOWN)
        return self._evaluate(find)

    def holds(self, lookup: Lookup | Mapping[str, Value]) -> bool | None:
        """Return whether the condition is true; None if that is unknown."""
        return _truth(self.value(lookup))


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Expression:
    """Parse a condition. Raise ``BadInput`` with the error and its position."""
    reader = _TreeReader(text)
    return Expression(text, frozenset(reader.names), reader.node)


class _TreeReader:
    """Translate the syntax tree that Python's parser returns; every construct not handled here is
    refused.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.names: set[str] = set()
        if len(text) > _LONGEST or "\\" in text:
            raise BadInput(f"{text[:60]!r}, character 1: it is too long, or has a backslash.")
        try:
            tree = ast.parse(_plain(text).strip(), mode="eval")
        except SyntaxError as error:
            raise self._wrong((error.offset or 1) - 1, error.msg) from error
        except (ValueError, MemoryError, RecursionError) as error:
            raise self._wrong(0, "it cannot be parsed") from error
        self.node = self._node(tree.body, 0)

    def _wrong(self, at: int, what: str) -> BadInput:
        """Return the error. ``at``: a position in the text with plain numbers."""
        start = len(self.text) - len(self.text.lstrip())
        position = next(
            (end for end in range(len(self.text)) if len(_plain(self.text[:end])) >= at + start),
            len(self.text),
        )
        return BadInput(f"{self.text!r}, character {position + 1}: {what}.")

    def _node(self, tree: ast.expr, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self._wrong(tree.col_offset, f"more than {_DEEPEST} levels")
        deeper = depth + 1
        match tree:
            case ast.BoolOp(op=op, values=values):
                nodes = [self._node(each, deeper) for each in values]
                return functools.reduce(either if isinstance(op, ast.Or) else both, nodes)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return negated(self._node(operand, deeper))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return calculated(operator.sub, constant(0), self._node(operand, deeper))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _STEPS:
                operands = self._node(left, deeper), self._node(right, deeper)
                return calculated(_STEPS[type(op)], *operands)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
                found = self._node(left, deeper), self._node(right, deeper)
                return strict(_COMPARISONS[type(op)], *found)
            case ast.List(elts=elements):
                return strict(_listed, *(self._node(each, deeper) for each in elements))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self._call(name, tree, arguments, deeper)
            case ast.Constant(value=int() | float() | str() as value) if not isinstance(
                value, bool
            ):
                return constant(value)
        return self._name(tree)

    def _name(self, tree: ast.expr) -> Node:
        name = self._dotted(tree)
        if name in _CONSTANTS:
            return constant(_CONSTANTS[name])
        self.names.add(name)
        return lambda lookup: lookup(name)

    def _dotted(self, tree: ast.expr) -> str:
        match tree:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=value, attr=attribute):
                return f"{self._dotted(value)}.{attribute}"
        raise self._wrong(tree.col_offset, f"{ast.unparse(tree)[:40]!r} is not expected")

    def _call(self, name: str, tree: ast.Call, arguments: list[ast.expr], depth: int) -> Node:
        if name in _LOOKUPS:
            return self._lookup_call(name, tree, arguments)
        if name not in FUNCTIONS:
            known = ", ".join(sorted([*FUNCTIONS, *_LOOKUPS]))
            raise self._wrong(tree.col_offset, f"no function {name!r}; there are {known}")
        wanted, function = FUNCTIONS[name]
        if len(arguments) != wanted:
            what = f"{name} takes {wanted} arguments, not {len(arguments)}"
            raise self._wrong(tree.col_offset, what)
        return strict(function, *(self._node(each, depth) for each in arguments))

    def _lookup_call(self, name: str, tree: ast.Call, arguments: list[ast.expr]) -> Node:
        """Translate ``setting("id")`` (the value of another setting), ``exists("path")`` or
        ``known(name)``.
        """
        if len(arguments) != 1:
            raise self._wrong(tree.col_offset, f"{name} takes one name")
        match arguments[0]:
            case ast.Constant(value=str() as wanted):
                pass
            case other:
                wanted = self._dotted(other)
        if name == "known":
            self.names.add(wanted)
            return lambda lookup: not isinstance(lookup(wanted), Unknown)
        key = f"{name}:{wanted}"
        self.names.add(key)
        return lambda lookup: lookup(key)


def _plain(text: str) -> str:
    """Return ``text`` with numbers like ``128Ki`` written as 131072."""
    return _NUMBER.sub(_in_units, text)


def _in_units(match: re.Match[str]) -> str:
    if match["kept"] is not None:
        return match["kept"]
    number = float(match["number"]) * _UNITS[match["unit"]]
    return f"{int(number)}" if number.is_integer() else repr(number)


class Unknown:
    """A value that could not be read, or depends on such a value."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()
Value = int | float | str | bool | None | list[Any] | Unknown
Lookup = Callable[[str], Value]

Node = Callable[[Lookup], Value]


def _matches(value: Value, patterns: Value) -> Value:
    """Return whether the whole text matches a pattern, or any of a list."""
    wanted = patterns if isinstance(patterns, list) else [patterns]
    return isinstance(value, str) and any(fnmatchcase(value, str(each)) for each in wanted)


_BETWEEN_WORDS = re.compile(r"[\s,;]+")


def _any_word(text: Value, patterns: Value) -> Value:
    """Return whether a word of the text, in lower case, matches a pattern."""
    words = _BETWEEN_WORDS.split(str(text).casefold())
    return any(_matches(word, patterns) for word in words)


def _argument(text: str, name: Value, absent: Value) -> Value:
    """Return the number in the last ``NAME=NUMBER`` of the text, with K, M, G or T in powers of
    1024; ``absent`` if there is none.
    """
    found = re.findall(
        rf"(?:^|\s){re.escape(str(name))}=(\d{{1,18}})([KMGT]?)", text, re.IGNORECASE
    )
    if not found:
        return absent
    number, unit = found[-1]
    return int(number) * (_UNITS[f"{unit.upper()}i"] if unit else 1)


def _contains(text: Value, part: Value) -> Value:
    return isinstance(text, (str, list)) and str(part) in text


def _version(text: str) -> Value:
    """Return ``4.18.0-553.el8`` as [4, 18, 0], to compare part by part."""
    match = re.match(r"\D{0,8}(\d{1,9}(?:\.\d{1,9}){0,4})", text)
    return [int(part) for part in match.group(1).split(".")] if match else UNKNOWN


def _extreme(choose: Callable[..., Value], values: Value) -> Value:
    """``choose``: min or max."""
    listed = values if isinstance(values, list) else [values]
    return choose((one for one in listed if isinstance(one, (int, float))), default=UNKNOWN)


def _first(values: Value) -> Value:
    return (values[0] if values else UNKNOWN) if isinstance(values, list) else values


def _common(first: Value, second: Value) -> Value:
    """Return the members of the first list that are in the second."""
    if not isinstance(first, list) or not isinstance(second, list):
        return UNKNOWN
    known = set(map(str, second))
    return [member for member in first if str(member) in known]


FUNCTIONS: dict[str, tuple[int, Callable[..., Value]]] = {
    "count": (1, len),
    "first": (1, _first),
    "matches": (2, _matches),
    "any_word": (2, _any_word),
    "argument": (3, _argument),
    "contains": (2, _contains),
    "version": (1, _version),
    "smallest": (1, functools.partial(_extreme, min)),
    "largest": (1, functools.partial(_extreme, max)),
    "common": (2, _common),
}
"""Map a name to its number of arguments and its function. ``known``, ``setting`` and ``exists`` are
handled separately because they look names up.
"""


def constant(value: Value) -> Node:
    return lambda _lookup: value


def strict(function: Callable[..., Value], *nodes: Node) -> Node:
    """Return a node for ``function`` of the values of ``nodes``: UNKNOWN if any of them is UNKNOWN,
    or does not fit, such as a word instead of a number.
    """

    def evaluate(lookup: Lookup) -> Value:
        values = [node(lookup) for node in nodes]
        if any(isinstance(value, Unknown) for value in values):
            return UNKNOWN
        try:
            return function(*values)
        except (TypeError, ArithmeticError):
            return UNKNOWN

    return evaluate


def _listed(*values: Value) -> Value:
    return list(values)


def calculated(step: Callable[[Any, Any], Value], left: Node, right: Node) -> Node:
    def of_numbers(first: Value, second: Value) -> Value:
        if not (isinstance(first, (int, float)) and isinstance(second, (int, float))):
            return UNKNOWN
        return step(first, second)

    return strict(of_numbers, left, right)


def _truth(value: Value) -> bool | None:
    return None if isinstance(value, Unknown) else bool(value)


def both(left: Node, right: Node) -> Node:
    def evaluate(lookup: Lookup) -> Value:
        first = _truth(left(lookup))
        if first is False:
            return False
        second = _truth(right(lookup))
        if second is False:
            return False
        return UNKNOWN if first is None or second is None else True

    return evaluate


def either(left: Node, right: Node) -> Node:
    return negated(both(negated(left), negated(right)))


def negated(node: Node) -> Node:
    return strict(operator.not_, node)
