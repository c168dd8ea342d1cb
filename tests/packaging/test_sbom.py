"""The bill of materials: whole, the same twice, true to CycloneDX 1.5, and refused where what is
installed is not what is asked for.
"""

import json
import re
import sys
import tomllib
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import sbom
from wireproof.version import version

ROOT = Path(__file__).resolve().parents[2]
PROJECT = {
    "name": "wireproof",
    "description": "Proves.",
    "license": "BSD-3-Clause",
    "dependencies": ["Up_Per>=1.0", "there[more]", "elsewhere; sys_platform == 'win32'"],
}
LICENSES = {
    "type": "array",
    "items": {
        "oneOf": [
            {
                "type": "object",
                "required": ["expression"],
                "additionalProperties": False,
                "properties": {"expression": {"type": "string", "minLength": 1}},
            },
            {
                "type": "object",
                "required": ["license"],
                "additionalProperties": False,
                "properties": {
                    "license": {
                        "type": "object",
                        "required": ["name"],
                        "additionalProperties": False,
                        "properties": {"name": {"type": "string", "minLength": 1}},
                    }
                },
            },
        ]
    },
}
COMPONENT = {
    "type": "object",
    "required": ["type", "name", "bom-ref", "version", "purl"],
    "additionalProperties": False,
    "properties": {
        "type": {"enum": ["application", "library"]},
        "bom-ref": {"type": "string", "minLength": 1},
        "name": {"type": "string", "minLength": 1},
        "version": {"type": "string"},
        "description": {"type": "string"},
        "purl": {"type": "string", "pattern": "^pkg:pypi/[a-z0-9-]+@[^/@]+$"},
        "licenses": LICENSES,
    },
}
# The part of the specification's schema that the document uses; nothing else may be in it.
SCHEMA = {
    "type": "object",
    "required": ["bomFormat", "specVersion", "version"],
    "additionalProperties": False,
    "properties": {
        "bomFormat": {"const": "CycloneDX"},
        "specVersion": {"const": "1.5"},
        "version": {"type": "integer", "minimum": 1},
        "serialNumber": {
            "type": "string",
            "pattern": "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
        },
        "metadata": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"component": COMPONENT},
        },
        "components": {"type": "array", "uniqueItems": True, "items": COMPONENT},
        "dependencies": {
            "type": "array",
            "uniqueItems": True,
            "items": {
                "type": "object",
                "required": ["ref"],
                "additionalProperties": False,
                "properties": {
                    "ref": {"type": "string", "minLength": 1},
                    "dependsOn": {"type": "array", "uniqueItems": True},
                },
            },
        },
    },
}


def _install(folder: Path, name: str, version: str, *lines: str) -> None:
    place = folder / f"{name}-{version}.dist-info"
    place.mkdir()
    head = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}"]
    (place / "METADATA").write_text("\n".join([*head, *lines]) + "\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Distributions that need each other in a ring, by extras, and by markers that do not hold."""
    _install(tmp_path, "up_per", "1.5", "License-Expression: MIT", "Requires-Dist: there")
    _install(
        tmp_path,
        "there",
        "2.0",
        "Classifier: License :: OSI Approved :: BSD License",
        "Requires-Dist: Up.Per",
        "Requires-Dist: deep; extra == 'more'",
        "Requires-Dist: never; extra == 'other'",
    )
    _install(tmp_path, "deep", "0.1")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def _links(document: dict[str, Any]) -> dict[str, list[str]]:
    return {entry["ref"]: entry["dependsOn"] for entry in document["dependencies"]}


def _check(document: dict[str, Any]) -> None:
    jsonschema.validate(document, SCHEMA)
    references = {one["bom-ref"] for one in document["components"]}
    references.add(document["metadata"]["component"]["bom-ref"])
    assert len(references) == len(document["components"]) + 1
    links = _links(document)
    assert set(links) == references
    assert {below for names in links.values() for below in names} <= references


@pytest.mark.usefixtures("site")
def test_the_tree_is_followed_by_names_markers_and_extras() -> None:
    document = sbom.bill(PROJECT, "0.1.0", distribution)
    _check(document)
    assert _links(document) == {
        "pkg:pypi/wireproof@0.1.0": ["pkg:pypi/there@2.0", "pkg:pypi/up-per@1.5"],
        "pkg:pypi/up-per@1.5": ["pkg:pypi/there@2.0"],
        "pkg:pypi/there@2.0": ["pkg:pypi/deep@0.1", "pkg:pypi/up-per@1.5"],
        "pkg:pypi/deep@0.1": [],
    }
    licenses = {one["name"]: one.get("licenses") for one in document["components"]}
    assert licenses == {
        "up-per": [{"expression": "MIT"}],
        "there": [{"license": {"name": "BSD License"}}],
        "deep": None,
    }


@pytest.mark.parametrize(
    ("asked", "said"),
    [("absent>=1", "absent>=1 is not installed"), ("deep>=0.2", "0.1 is installed")],
)
@pytest.mark.usefixtures("site")
def test_what_is_not_as_asked_for_is_refused(asked: str, said: str) -> None:
    with pytest.raises(sbom.NotInstalled, match=re.escape(said)):
        sbom.bill(PROJECT | {"dependencies": [asked]}, "0.1.0", distribution)


@pytest.mark.usefixtures("site")
def test_another_version_is_another_serial_number() -> None:
    def serial(own: str) -> str:
        return str(sbom.bill(PROJECT, own, distribution)["serialNumber"])

    assert serial("0.1.0") == serial("0.1.0")
    assert serial("0.1.0") != serial("0.1.1")


def test_this_environment_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sbom.main([]) == 0
    printed = capsys.readouterr().out
    assert sbom.main([str(tmp_path / "dist" / "bill.json")]) == 0
    assert (tmp_path / "dist" / "bill.json").read_text() == printed
    document = json.loads(printed)
    _check(document)
    assert document["metadata"]["component"]["version"] == version()
    own = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {one["name"] for one in document["components"]}
    assert {canonicalize_name(Requirement(text).name) for text in own} <= names
    assert not {"pytest", "bokeh", "wireproof"} & names


def test_an_environment_without_wireproof_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(name: str) -> Distribution:
        raise sbom.PackageNotFoundError(name)

    monkeypatch.setattr(sbom, "distribution", absent)
    assert sbom.main([]) == 2
    said = capsys.readouterr()
    assert (said.out, len(said.err.splitlines())) == ("", 1)
    assert sys.modules["sbom"].ROOT == ROOT
