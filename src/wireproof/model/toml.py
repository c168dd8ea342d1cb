# pure
"""Read TOML from untrusted sources. Every error names the file, the line and the field. Pure.

The size and the depth are checked before the text is parsed: the standard library's parser recurses
into nested values and takes quadratic time for a long dotted key.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from wireproof.model.errors import BadInput, suggestion

Row = TypeVar("Row")
Place = tuple[str, int | None]
"""A key, and the index of one of its values if that is a list."""

LARGEST = 1 << 20
"""Characters. Settings, limits, labs and worlds are shorter than this. The topology of a large
fabric may be longer (``largest``).
"""
_MARK = "\ufeff"
DEEPEST = 32
"""Nested brackets, and parts of one dotted key."""

_TOKEN = re.compile(
    r"""
      ["]{3} (?: [^"\\] | \\. | ["](?!["]{2}) )*+ ["]{3,5}
    | [']{3} (?: [^']   |       ['](?![']{2}) )*+ [']{3,5}
    | ["] (?: [^"\\\n] | \\. )*+ ["]  |  ['] [^'\n]*+ [']  |  \#[^\n]*+
    | [][{}.,=\n]
    | ["']  # an unterminated string: the parser also stops there
    """,
    re.DOTALL | re.VERBOSE,
)
_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "date": "a date",
}


def read_toml(text: str, source: str, *, largest: int = LARGEST) -> dict[str, Any]:
    """Return the document in ``text``. ``BadInput`` names ``source`` and says what is wrong.

    It refuses text that is not TOML, is longer than ``largest`` characters, or is nested deeper
    than ``DEEPEST``. A byte order mark, which editors of other systems write, is ignored.
    """
    text = text.removeprefix(_MARK)
    if len(text) > largest:
        raise BadInput(
            f"{source}: more than {largest / 1e6:.3g} million characters, which is too large."
        )
    if line := _too_deep(text):
        raise BadInput(
            f"{source}, line {line}: nested or dotted more than {DEEPEST} levels deep, "
            "which no file for wireproof needs."
        )
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _not_toml(text, source, str(error)) from error
    except ValueError as error:  # a number with more digits than Python reads
        raise BadInput(f"{source}: a value cannot be read: {str(error)[:200]}.") from error


_WHAT_IS_WRONG = {
    "Cannot overwrite a value": "'{key}' is given twice",
    "Illegal character '\\n'": "the quote of '{key}' is not closed",
    "Unterminated string": "the quote of '{key}' is not closed",
    "Invalid value": "'{key}' has no valid value: write text in quotes",
}
"""Messages of the standard library's parser, each with a description of the usual mistake."""


def _not_toml(text: str, source: str, error: str) -> BadInput:
    """Return the error for a text that the parser refuses, with the line and its key."""
    what, _, place = error.rpartition(" (at ")
    lines = text.rstrip().split("\n")
    line = int(at[1]) if (at := re.match(r"line (\d+)", place)) else len(lines)
    key = re.match(r"\s*([\w.\"'-]{1,60})\s*=", lines[min(line, len(lines)) - 1])
    if key and what in _WHAT_IS_WRONG:
        what = _WHAT_IS_WRONG[what].format(key=key[1])
    elif table := re.fullmatch(r"Cannot declare \('(.+)',?\) twice", what):
        what = "the table [{}] is given twice".format(table[1].replace("', '", "."))
    return BadInput(f"{source}, line {line}: not TOML: {(what or error)[:200]}.")


def read_struct(text: str, source: str, kind: type[Row], *, largest: int = LARGEST) -> Row:
    """Return the document in ``text`` as ``kind``, a struct or a dataclass. Raises ``BadInput``."""
    tree = read_toml(text, source, largest=largest)
    try:
        found = msgspec.convert(tree, kind)
    except msgspec.ValidationError as error:
        raise mistake(text, source, kind, error) from error
    _refuse_blank(text, source, found)
    return found


def mistake(
    text: str, source: str, kind: Any, error: Exception, entry: Sequence[Place] = ()
) -> BadInput:
    """Return the error that says where and how ``text`` differs from ``kind``.

    ``entry``: the place of the converted value, if it is not the whole document.
    """
    what, _, path = str(error).partition(" - at `$")
    places = _places(path)
    line = (*entry, *places)
    if missing := re.fullmatch(r"Object missing required field `(.+)`", what):
        what = f"'{missing[1]}' is missing"
    elif unknown := re.fullmatch(r"Object contains unknown field `(.+)`", what):
        fields = getattr(_type_at(kind, places), "fields", ())
        names = [field.encode_name for field in fields]
        what = f"'{unknown[1][:60]}' is not known: {suggestion(unknown[1], names)}"
        line = (*line, (unknown[1], None))
    elif value := re.fullmatch(r"Invalid enum value (.+)", what):
        values = getattr(_type_at(kind, places), "values", ())
        what = f"{value[1][:60]} is not one of {', '.join(map(str, values))}"
    else:
        what = re.sub(r"`([^`]*)`", lambda types: _in_words(types[1]), what)
        what = what[:1].lower() + what[1:]
        line = (*line, *_quoted(what))
    place = _named(places)
    end = "" if what.endswith((".", "?")) else "."
    return BadInput(f"{source}, line {line_at(text, line)}: {place}{what[:600]}{end}")


def _named(places: Sequence[Place]) -> str:
    """Return ``counters 1, of: ``, the place as the beginning of a sentence."""
    named = ", ".join(key if at is None else f"{key} {at + 1}" for key, at in places)
    return f"{named}: " if named else ""


def _places(path: str) -> list[Place]:
    """Parse msgspec's path of a value, such as ``.source[0].link``."""
    return [
        (key, int(index) if index else None)
        for key, index in re.findall(r"\.([\w-]+)(?:\[(\d+)\])?", path)
    ]


def _quoted(reason: str) -> list[Place]:
    """Return the field that an error sentence quotes."""
    return [(name, None) for name in re.findall(r"'(\w+)'", reason)[:1]]


def _in_words(types: str) -> str:
    """Return msgspec's names of types, such as ``int | null``, in words."""
    return " or ".join(_TYPES.get(name, name) for name in types.split(" | ") if name != "null")


def _type_at(kind: Any, places: Sequence[Place]) -> Any:
    """Return msgspec's description of the struct or the enumeration at a place in ``kind``; None if
    there is none, because a key of the file may look like part of a path.
    """
    import msgspec.inspect

    found = _core(msgspec.inspect.type_info(kind))
    for key, _ in places:
        types = {field.encode_name: field.type for field in getattr(found, "fields", ())}
        found = _core(types.get(key))
    return found


def _core(found: Any) -> Any:
    """Return the struct or the enumeration inside a list, a dictionary or an optional value."""
    if hasattr(found, "fields") or hasattr(found, "values"):
        return found
    inner = [getattr(found, name, None) for name in ("item_type", "value_type")]
    parts = [part for part in (*getattr(found, "types", ()), *inner) if part is not None]
    return next((core for part in parts if (core := _core(part)) is not None), None)


def once(known: set[str], name: str, what: str) -> None:
    """Add a name of ``what`` to the known names. Raises ValueError if the name is already known."""
    if name in known:
        raise ValueError(f"the {what} {name!r} already exists")
    known.add(name)


def check_braces(row: object, fields: Iterable[str], words: Sequence[str]) -> None:
    """Raise ValueError with the field whose texts have other words in braces than ``words``."""
    known = re.compile(rf"\{{(?:{'|'.join(words)})\}}")
    for field in fields:
        if {"{", "}"} & set(known.sub("", str(getattr(row, field)))):
            usable = ", ".join(f"{{{word}}}" for word in words)
            raise ValueError(f"{field!r} may use only {usable} in braces")


def read_rows(
    text: str,
    source: str,
    name: str,
    kind: type[Row],
    beside: Collection[str] = (),
    check: Callable[[Row], object] = lambda _: None,
) -> list[Row]:
    """Return the entries ``[[name]]`` of a file that may also have entries called ``beside``.

    ``BadInput`` names ``source``, the line and the field of a wrong entry. ``check`` raises
    ValueError for errors that the type does not reveal.
    """
    tree = read_toml(text, source)
    if others := sorted(tree.keys() - {name, *beside}):
        raise BadInput(f"{source}: {others[0][:60]!r} is not known here: entries are [[{name}]].")
    entries = tree.get(name, [])
    rows = []
    for number, entry in enumerate(entries if isinstance(entries, list) else [entries]):
        try:
            row = msgspec.convert(entry, kind)
            _refuse_blank(text, source, row, [(name, number)])
            if not _CODE.fullmatch(code := getattr(row, "code", "none")):
                raise ValueError(f"'code' is {code[:40]!r}: {_SPELLING}")
            check(row)
            rows.append(row)
        except msgspec.ValidationError as error:
            raise mistake(text, source, kind, error, [(name, number)]) from error
        except ValueError as error:
            raise at_field(text, source, error, [(name, number)]) from error
    return rows


def at_field(text: str, source: str, error: ValueError, entry: Sequence[Place] = ()) -> BadInput:
    """Return the error with the line of the field that it quotes first."""
    reason = str(error)[:400].removesuffix(".")
    line = line_at(text, [*entry, *_quoted(reason)])
    return BadInput(f"{source}, line {line}: {reason}.")


_CODE = re.compile(r"(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*")
_SPELLING = "use at most 64 lower-case letters, digits, and - between them"


def _refuse_blank(text: str, source: str, found: Any, entry: Sequence[Place] = ()) -> None:
    """Raise ``BadInput`` with the field if a text of a struct, or of a struct in it, is blank."""
    if path := _blank(found):
        line = line_at(text, [*entry, *path])
        raise BadInput(f"{source}, line {line}: {_named(path[:-1])}{path[-1][0]!r} is blank.")


def _blank(found: Any) -> list[Place]:
    """Return the place of the first blank text; empty if there is none. A text that is not required
    may be empty.
    """
    for field in msgspec.structs.fields(found) if isinstance(found, msgspec.Struct) else ():
        value = getattr(found, field.name)
        several = isinstance(value, (list, tuple))
        if _is_blank(value) and (field.required or value):
            return [(field.encode_name, None)]
        for number, part in enumerate(value if several else (value,)):
            if inner := _blank(part):
                return [(field.encode_name, number if several else None), *inner]
    return []


def _is_blank(value: Any) -> bool:
    """Return whether a text, or a text in a list, is blank."""
    if isinstance(value, (list, tuple)):
        return any(map(_is_blank, value))
    return isinstance(value, str) and not value.strip()


def line_at(text: str, path: Sequence[Place]) -> int:
    """Return the line of the value at ``path``, or of the innermost table around it that exists."""
    lines = text.removeprefix(_MARK).split("\n")
    at, table = -1, ""
    for key, index in path:
        table = f"{table}.{key}".lstrip(".")
        later = range(at + 1, len(lines))
        head = re.compile(rf"\s*\[\[?\s*{re.escape(table)}\s*\]")
        heads = [line for line in later if head.match(lines[line])]
        if (index or 0) < len(heads):
            at = heads[index or 0]
            continue
        value = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=")
        end = next((line for line in later if lines[line].lstrip()[:1] == "["), len(lines))
        at = next((line for line in range(at + 1, end) if value.match(lines[line])), at)
    return max(at, 0) + 1


def _too_deep(text: str) -> int:
    """Return the first line that is nested too deeply; 0 if there is none. Brackets in strings and
    comments do not count.
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
