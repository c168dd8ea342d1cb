"""Every JSON document: its envelope (``schema``, ``version``, ``verdict`` and ``errors`` first,
then the content), and its text.
"""

import functools
import inspect
import re
from collections.abc import Sequence
from pkgutil import resolve_name
from typing import Any, Literal, NamedTuple

import msgspec

from wireproof.model.errors import Problem
from wireproof.model.finding import Verdict
from wireproof.model.site import site_studies, site_texts

HEADER = ("schema", "version", "verdict", "errors")
"""The members at the beginning of every document."""


class Kind(NamedTuple):
    """One kind of document. ``schema``: its name; ``type``: ``module:Struct`` of its members,
    imported when such a document is printed; ``command``: the command that prints it.
    """

    schema: str
    version: int
    type: str
    command: str


def enveloped(kind: Kind, value: object, problems: Sequence[Problem] = ()) -> msgspec.Struct:
    """Return ``value`` as a document.

    Its ``verdict`` and ``errors`` are used; ``problems`` are appended to the errors. A value
    without a verdict gets null, since it judges nothing.
    """
    whole = _whole(kind)
    return whole(
        schema=kind.schema,
        version=kind.version,
        verdict=getattr(value, "verdict", None),
        errors=[*getattr(value, "errors", ()), *problems],
        catalogue=site_names(),
        **{name: getattr(value, name) for name in whole.__struct_fields__[len(HEADER) : -1]},
    )


def site_names() -> list[str] | msgspec.UnsetType:
    """Return the files of the site's catalogue in use; unset, and so omitted, if there are none."""
    return [text.name for text in (*site_texts(), *site_studies())] or msgspec.UNSET


def json_schema(kind: Kind) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of such a document. Every number may also be null, which
    means unknown.
    """
    return schema_of(_whole(kind), kind.schema, kind.version)


def schema_of(whole: type[msgspec.Struct], name: str, version: int) -> dict[str, Any]:
    """Return the JSON Schema of a struct that already has the header."""
    found = msgspec.json.schema(whole, schema_hook=_as_text)
    found["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    found["title"] = f"{name} version {version}"
    return {key: _nullable(value) for key, value in found.items()}


@functools.cache
def _whole(kind: Kind) -> type[msgspec.Struct]:
    """The struct of the whole document: the header, then the fields of the kind's type."""
    own: type[msgspec.Struct] = resolve_name(kind.type)
    fields = msgspec.structs.fields(own)
    of = {field.name: field.type for field in fields}
    header: list[tuple[str, Any]] = [
        ("schema", Literal[kind.schema]),
        ("version", Literal[kind.version]),
        ("verdict", of.get("verdict", Verdict | None if hasattr(own, "verdict") else None)),
        ("errors", list[Problem]),
    ]
    return msgspec.defstruct(
        own.__name__,
        [
            *header,
            *(_again(field) for field in fields if field.name not in HEADER),
            ("catalogue", list[str] | msgspec.UnsetType, msgspec.UNSET),
        ],
        frozen=True,
        kw_only=True,
        module=own.__module__,
        namespace={"__doc__": own.__doc__},
    )


def _again(field: msgspec.structs.FieldInfo) -> tuple[str, Any, Any]:
    """Return a field with its default, for :func:`msgspec.defstruct`."""
    name = field.encode_name
    if field.default_factory is not msgspec.NODEFAULT:
        again = msgspec.field(default_factory=field.default_factory, name=name)
    elif field.default is not msgspec.NODEFAULT:
        again = msgspec.field(default=field.default, name=name)
    else:
        again = msgspec.field(name=name)
    return field.name, field.type, again


def _as_text(_type: type) -> dict[str, Any]:
    """Return the schema of paths and similar types, which are printed as text."""
    return {"type": "string"}


def _nullable(node: Any) -> Any:
    """Return the same schema with ``number or null`` in place of ``number``, and descriptions
    without the indentation of docstrings, which Python 3.13 removes.
    """
    if isinstance(node, dict):
        out = {key: _nullable(item) for key, item in node.items()}
        if isinstance(described := out.get("description"), str):
            out["description"] = inspect.cleandoc(described)
        if out.get("type") == "number":
            out["type"] = ["number", "null"]
            if out.get("default", 0) is None:
                del out["default"]
        return out
    if isinstance(node, list):
        return [_nullable(item) for item in node]
    return node


# --- JSON output in ASCII only, so that a name from a host or a file cannot mislead a terminal.

_BEYOND = re.compile(r"[^\n -~]")


def json_text(value: object, *, indent: int = 0) -> str:
    """Return one JSON value as text. Values that are not finite become null; bytes that are not
    UTF-8 (in a file name) are escaped.
    """
    try:
        data = msgspec.json.encode(value, enc_hook=_number_or_text)
    except UnicodeEncodeError:
        data = msgspec.json.encode(_encodable(msgspec.to_builtins(value, enc_hook=_number_or_text)))
    return escaped((msgspec.json.format(data, indent=indent) if indent else data).decode())


def escaped(text: str) -> str:
    r"""Return JSON with every character beyond printable ASCII as ``\uXXXX``; such characters occur
    only inside strings.
    """
    return text if text.isascii() and "\x7f" not in text else _BEYOND.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    units = found.group().encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _encodable(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case list() | tuple():
            return [_encodable(one) for one in value]
        case dict():
            return {_encodable(key): _encodable(one) for key, one in value.items()}
    return value


def _number_or_text(value: Any) -> Any:
    """Return a sequence as a list, a numpy scalar as its number, and other types, such as paths, as
    text.
    """
    if isinstance(value, Sequence):
        return list(value)
    return value.item() if callable(getattr(value, "item", None)) else str(value)


def plain(value: Any) -> Any:
    """Return a struct as plain JSON types: dictionaries, lists and finite numbers."""
    return msgspec.json.decode(json_text(value))
