"""Writes a software bill of materials (CycloneDX 1.5, JSON) of what an installation holds:
wireproof and the tree of its dependencies, as they are installed beside this Python.

    tools/sbom.py [FILE]

wireproof's own needs are read from pyproject.toml, so that an environment which is older than the
checkout is refused and not described. Two runs in one environment write the same bytes: there is
no time in it, and the serial number is made from the contents. Nothing is fetched.
"""

from __future__ import annotations

import json
import sys
import tomllib
import uuid
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from project_version import WrongTag, project_version

__all__ = ["NotInstalled", "bill", "main"]

ROOT = Path(__file__).resolve().parents[1]
Find = Callable[[str], Distribution]
Tree = dict[str, tuple[Distribution, list[str]]]


class NotInstalled(Exception):
    """A dependency is missing, or is not the version that is asked for."""


def _needed(requirements: Iterable[str], extras: frozenset[str]) -> Iterator[Requirement]:
    """What counts here: its marker holds on this system, with these extras or without one."""
    for text in requirements:
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def _installed(requirement: Requirement, find: Find) -> Distribution:
    try:
        found = find(requirement.name)
    except PackageNotFoundError:
        raise NotInstalled(f"{requirement} is not installed: run `make sbom`") from None
    if not requirement.specifier.contains(found.version, prereleases=True):
        raise NotInstalled(f"{requirement} is asked for, {found.version} is installed")
    return found


def _tree(requirements: Iterable[str], find: Find) -> tuple[Tree, list[str]]:
    """All that is needed by name, each with what it needs itself; and the names needed first."""
    tree: Tree = {}
    seen: set[tuple[str, frozenset[str]]] = set()

    def visit(texts: Iterable[str], extras: frozenset[str]) -> list[str]:
        names = set()
        for requirement in _needed(texts, extras):
            name, wanted = canonicalize_name(requirement.name), frozenset(requirement.extras)
            names.add(name)
            found = _installed(requirement, find)
            if (name, wanted) not in seen:
                seen.add((name, wanted))
                below = visit(found.requires or [], wanted)
                known = tree[name][1] if name in tree else []
                tree[name] = (found, sorted({*known, *below}))
        return sorted(names)

    return tree, visit(requirements, frozenset())


def _licenses(found: Distribution) -> list[dict[str, Any]]:
    """The licence as the distribution states it: an SPDX expression, else its own words."""
    metadata = found.metadata
    if "License-Expression" in metadata:
        return [{"expression": metadata["License-Expression"]}]
    named = [
        text.rpartition(" :: ")[2]
        for text in metadata.get_all("Classifier") or []
        if text.startswith("License :: ")
    ]
    short = next(iter(metadata.get_all("License") or []), "")
    if not named and short and "\n" not in short:
        named = [short]
    return [{"license": {"name": name}} for name in sorted(set(named))]


def _component(name: str, found: Distribution) -> dict[str, Any]:
    purl = f"pkg:pypi/{name}@{found.version}"
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": found.version,
        "purl": purl,
    }
    if licenses := _licenses(found):
        component["licenses"] = licenses
    return component


def bill(project: dict[str, Any], own_version: str, find: Find) -> dict[str, Any]:
    """The document, for pyproject's table ``project``; raises ``NotInstalled``."""
    tree, first = _tree(project["dependencies"], find)
    own = f"pkg:pypi/{project['name']}@{own_version}"
    references = {name: f"pkg:pypi/{name}@{found.version}" for name, (found, _) in tree.items()}
    links = {own: first} | {references[name]: below for name, (_, below) in tree.items()}
    document: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": project["name"],
                "version": own_version,
                "description": project["description"],
                "licenses": [{"expression": project["license"]}],
                "purl": own,
            }
        },
        "components": [_component(name, tree[name][0]) for name in sorted(tree)],
        "dependencies": [
            {"ref": reference, "dependsOn": [references[name] for name in below]}
            for reference, below in sorted(links.items())
        ],
    }
    contents = json.dumps(document, sort_keys=True)
    return document | {"serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, contents)}"}


def main(arguments: list[str]) -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    try:
        distribution(project["name"])  # an installation is described, of this tree's version
        document = bill(project, project_version(), distribution)
    except (NotInstalled, PackageNotFoundError, WrongTag) as error:
        print(f"sbom: {error}", file=sys.stderr)
        return 2
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    if not arguments:
        sys.stdout.write(text)
        return 0
    target = Path(arguments[0])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    print(f"sbom: {target}, {len(document['components'])} components", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
