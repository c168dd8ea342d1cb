"""TOML from untrusted sources: its size and depth are checked before it is parsed. Pure.

The standard library's parser recurses into nested values and takes quadratic time for a long dotted
key.
"""

import re
import tomllib
from collections.abc import Callable, Collection
from typing import Any, TypeVar

import msgspec

from wireproof.model.errors import BadInput

Row = TypeVar("Row")

LARGEST = 1 << 20
"""Characters. No settings, limits, lab or world are longer. The topology of a large fabric may be
(``largest``).
"""
DEEPEST = 32
"""Nested brackets, and parts of one dotted key."""

_TOKEN = re.compile(
    r"""
      ["]{3} (?: [^"\\] | \\. | ["](?!["]{2}) )*+ ["]{3,5}
    | [']{3} (?: [^']   |       ['](?![']{2}) )*+ [']{3,5}
    | ["] (?: [^"\\\n] | \\. )*+ ["]  |  ['] [^'\n]*+ [']  |  \#[^\n]*+
    | [][{}.,=\n]
    | ["']  # one that never ends: the parser, too, gets no farther
    """,
    re.DOTALL | re.VERBOSE,
)


def read_toml(text: str, source: str, *, largest: int = LARGEST) -> dict[str, Any]:
    """Return the document in ``text``. ``BadInput`` names ``source`` and says what is wrong.

    It refuses text that is not TOML, is longer than ``largest`` characters, or is nested deeper
    than ``DEEPEST``.
    """
    if len(text) > largest:
        raise BadInput(
            f"{source}: more than {largest / 1e6:.3g} million characters, which is too large."
        )
    if line := _too_deep(text):
        raise BadInput(
            f"{source}: line {line} is nested or dotted more than {DEEPEST} levels deep,"
            " which wireproof's files never are."
        )
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(f"{source}: not TOML: {str(error)[:200]}.") from error
    except ValueError as error:  # a number with more digits than Python reads
        raise BadInput(f"{source}: a value cannot be read: {str(error)[:200]}.") from error


def read_rows(
    text: str,
    source: str,
    name: str,
    kind: type[Row],
    beside: Collection[str] = (),
    check: Callable[[Row], object] = lambda _: None,
) -> list[Row]:
    """Return the entries ``[[name]]`` of a file that may also have entries called ``beside``.

    ``BadInput`` names ``source``, the first line of a wrong entry, and its field. ``check`` raises
    ValueError for errors that the type alone does not show.
    """
    tree = read_toml(text, source)
    if others := sorted(tree.keys() - {name, *beside}):
        raise BadInput(f"{source}: {others[0][:60]!r} is not known here: entries are [[{name}]].")
    entries = tree.get(name, [])
    rows = []
    for number, entry in enumerate(entries if isinstance(entries, list) else [entries]):
        try:
            row = msgspec.convert(entry, kind)
            _refuse_blank(row)
            check(row)
            rows.append(row)
        except ValueError as error:
            reason = str(error).replace("`", "'").replace("$.", "")[:400].removesuffix(".")
            line = line_of_field(text, name, number, reason)
            raise BadInput(f"{source}, line {line}: {reason[:1].lower()}{reason[1:]}.") from error
    return rows


_CODE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def _refuse_blank(row: Any) -> None:
    """Raise ValueError, with the field, if a required text is blank or a code cannot be typed as a
    name.
    """
    for field in msgspec.structs.fields(row):
        value = getattr(row, field.name)
        texts = value if isinstance(value, tuple) else (value,)
        if field.required and any(isinstance(text, str) and not text.strip() for text in texts):
            raise ValueError(f"'{field.encode_name}' is blank")
        if field.name == "code" and not _CODE.fullmatch(value):
            raise ValueError(f"'code' is {value[:40]!r}: small letters, digits and - between them")


def line_of(text: str, name: str, number: int) -> int:
    """Return the line at which entry ``number`` of ``[[name]]`` begins."""
    heads = re.finditer(rf"^[ \t]*\[\[\s*{re.escape(name)}\s*\]\]", text, re.MULTILINE)
    start = next((each.start() for at, each in enumerate(heads) if at == number), 0)
    return text.count("\n", 0, start) + 1


def line_of_field(text: str, name: str, number: int, message: str) -> int:
    """Return the line of a field in entry ``number`` of ``[[name]]``; the entry's first line if the
    field is absent.

    ``message`` quotes the field, or ends with ``- at 'FIELD'``.
    """
    lines = text.split("\n")
    first = line_of(text, name, number) - 1
    path = re.search(r"- at '([^']*)'$", message)
    keys = re.findall(r"([\w-]+)(?:\[(\d+)\])?", path[1] if path else "")
    quoted = re.search(r"'(\w+)'", message[: path.start() if path else None])
    at, below = first, name
    for key, index in [*keys, *([(quoted[1], "")] if quoted else [])]:
        head = re.compile(rf"\s*\[\[\s*{re.escape(below)}\.{re.escape(key)}\s*\]\]")
        value = re.compile(rf"\s*{re.escape(key)}\s*=")
        later = range(at + 1, len(lines))
        tables = [line for line in later if index and head.match(lines[line])]
        if int(index or 0) < len(tables):
            at, below = tables[int(index or 0)], f"{below}.{key}"
        else:
            end = next((line for line in later if lines[line].lstrip()[:1] == "["), len(lines))
            at = next((line for line in later[: end - at - 1] if value.match(lines[line])), at)
    return at + 1


def _too_deep(text: str) -> int:
    """Return the first line that is nested too deeply; 0 if there is none. Strings and comments do
    not count.
    """
    depth = dots = 0
    for found in _TOKEN.finditer(text):
        match found.group():
            case "[" | "{":
                depth, dots = depth + 1, 0
            case "]" | "}":
                depth, dots = max(0, depth - 1), 0
            case ".":
                dots += 1
            case "\n" | "," | "=":
                dots = 0
            case '"' | "'":
                return 0
        if depth > DEEPEST or dots > DEEPEST:
            return text.count("\n", 0, found.start()) + 1
    return 0
