"""Who reads the files that the pages show: each raises when it is none of them."""

import contextlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import jsonschema
import msgspec
from tests.archive.test_history import entry

from wireproof.atlas import sources_of
from wireproof.audit.job import catalogue
from wireproof.audit.site import site_of
from wireproof.experiment.study.catalogue import library_of
from wireproof.lab.topology_file import load_topology
from wireproof.logs.json import JudgementDocument
from wireproof.options.resolve import read_file, read_table
from wireproof.store.history import add_entry, entries
from wireproof.topology import read_topology
from wireproof.workflow.documents import schema_called

MANY = 201
"""Results in a history: more than stay in files of their own."""


def _as_file(name: str, read: Callable[[Path], object]) -> Callable[[str], object]:
    def reader(text: str) -> object:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_text(text, encoding="utf-8")
            return read(path)

    return reader


def _over_a_history(query: str) -> object:
    """Runs ``query`` in a history of so many results that some are in a packed file."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        root = Path(name)
        for day in range(MANY):
            add_entry(root, entry(day))
        entries(root)
        found = duckdb.connect().execute(query).fetchall()
    assert found, "the query finds nothing"
    return found


def _named_in_the_schema(text: str) -> None:
    """A document with parts left out: all that it names is there."""
    shown = json.loads(text)
    assert set(shown) <= set(JudgementDocument.__struct_fields__)
    schema = json.dumps(msgspec.json.schema(JudgementDocument))
    for part in [*shown["series"], *shown["series"][0]["reasons"]]:
        assert all(f'"{name}"' in schema for name in part)


def _valid(text: str) -> None:
    """A whole document of ``--json``."""
    shown = json.loads(text)
    jsonschema.Draft202012Validator(schema_called(shown["schema"])).validate(shown)


READERS: dict[str, Callable[[str], object]] = {
    "topology": lambda text: read_topology(text, "page"),
    "waivers": lambda text: site_of(text, "page", catalogue().entries),
    "atlas": lambda text: sources_of(text, "page"),
    "study": lambda text: library_of(text, "page"),
    "physics": _as_file("physics.toml", read_table),
    "lab": _as_file("lab.toml", load_topology),
    "history": _over_a_history,
    "document": _valid,
    "judgement": _named_in_the_schema,
    "settings": _as_file("wireproof.toml", read_file),
}
