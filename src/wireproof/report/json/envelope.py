"""The envelope of every JSON document: ``schema``, ``version``, ``verdict`` and ``errors`` first,
then the content.
"""

import functools
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
    members = {name: getattr(value, name) for name in _members(whole)}
    return whole(
        schema=kind.schema,
        version=kind.version,
        verdict=getattr(value, "verdict", None),
        errors=[*getattr(value, "errors", ()), *problems],
        catalogue=site_names(),
        **members,
    )


def site_names() -> list[str] | msgspec.UnsetType:
    """Return the files of the site's catalogue in use; unset, and so omitted, if there are none."""
    files = [text.name for text in (*site_texts(), *site_studies())]
    return files or msgspec.UNSET


def json_schema(kind: Kind) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of such a document. Every number may also be null, which
    means unknown.
    """
    return schema_of(_whole(kind), kind.schema, kind.version)


def schema_of(whole: type[msgspec.Struct], name: str, version: int) -> dict[str, Any]:
    """The same of a struct that has the header itself."""
    found = msgspec.json.schema(whole, schema_hook=_as_text)
    found["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    found["title"] = f"{name} version {version}"
    return {key: _nullable(value) for key, value in found.items()}


def _members(whole: type[msgspec.Struct]) -> tuple[str, ...]:
    return whole.__struct_fields__[len(HEADER) : -1]


@functools.cache
def _whole(kind: Kind) -> type[msgspec.Struct]:
    """The struct of the whole document: the header, then the fields of the kind's type."""
    own: type[msgspec.Struct] = resolve_name(kind.type)
    fields = msgspec.structs.fields(own)
    of = {field.name: field.type for field in fields}
    verdict = of.get("verdict", Verdict | None if hasattr(own, "verdict") else None)
    header: list[tuple[str, Any]] = [
        ("schema", Literal[kind.schema]),
        ("version", Literal[kind.version]),
        ("verdict", verdict),
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
    """Return the same schema with ``number or null`` in place of ``number``."""
    if isinstance(node, dict):
        out = {key: _nullable(item) for key, item in node.items()}
        if out.get("type") == "number":
            out["type"] = ["number", "null"]
            if out.get("default", 0) is None:
                del out["default"]
        return out
    if isinstance(node, list):
        return [_nullable(item) for item in node]
    return node
