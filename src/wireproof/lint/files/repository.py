"""dnf's and yum's .repo files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wireproof.lint.files.fragments import Fragment, WrittenLine, at, fragments
from wireproof.lint.files.nearest import nearest
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.tables import listed

__all__ = ["check"]


URL = re.compile(
    r"(?:https?|ftp|file)://[^\s<>\"']+$|/\S*$|(?:https?|ftp|file)://\$\S+$|\$\S+$|media:\S+$"
    r"|cdrom:\S+$"
)
PROPERTY = re.compile(r"\s*([A-Za-z_]+)\s*=\s*(.*?)\s*$")
KEY = re.compile(r"\.(?:PUB|pub|asc|gpg|key)$|GPG-PUB-KEY|RPM-GPG-KEY")


@dataclass(slots=True)
class RepositorySection:
    """``[name]`` and the names of its options."""

    head: WrittenLine
    names: set[str] = field(default_factory=set)


def check(recipe: Recipe) -> Iterator[Broken]:
    """All that is wrong in the repositories of ``recipe``."""
    for fragment in fragments(recipe, "repository"):
        sections: dict[str, RepositorySection] = {}
        yield from each_line(fragment, sections)
        for name, section in sections.items() if not fragment.quoted else ():
            if name != "main" and section.names.isdisjoint(SOURCES):
                yield at("repository-section", section.head, 0, f"[{name}] has no baseurl")


SOURCES = ("baseurl", "mirrorlist", "metalink")


def each_line(fragment: Fragment, sections: dict[str, RepositorySection]) -> Iterator[Broken]:
    """The lines one by one; fills ``sections``."""
    current: RepositorySection | None = None
    for line in fragment.lines:
        text = line.text.strip()
        head = re.fullmatch(r"\[([^\]]{1,200})\]", text)
        if head:
            name = head.group(1)
            if name in sections and not fragment.quoted:
                yield at("repository-section", line, 0, f"[{name}] stands twice")
            current = sections.setdefault(name, RepositorySection(line))
            current.head = line
            continue
        found = PROPERTY.match(line.text)
        if found and not text.startswith(("#", ";")):
            yield from option(line, found, fragment.quoted)
            if current is not None:
                current.names.add(found.group(1))


def option(line: WrittenLine, found: re.Match[str], quoted: bool) -> Iterator[Broken]:
    """One ``name=value``; beside other text (``quoted``) it may be of another file, so its name is
    not judged.
    """
    name, value = found.groups()
    if name in listed("repository"):
        if value and name in (*SOURCES, "gpgkey"):
            yield from addresses(line, found.start(2), name, value)
        return
    lower = name.lower()
    known = listed("repository")
    meant = nearest(lower, known, 0.8) or (lower if lower in known else None)
    if meant and not quoted:
        fix = line.text.replace(name, meant, 1)
        yield at("repository-option", line, found.start(1), name, fix)


def addresses(line: WrittenLine, position: int, name: str, value: str) -> Iterator[Broken]:
    """Addresses that are none, and a key where a repository belongs."""
    wrong = any(not URL.match(address) for address in re.split(r"[\s,]+", value))
    placeholder = "<" in value and "href" not in value and "</" not in value
    if wrong and not placeholder:
        markup = re.search(r"(?:https?|ftp)://[^\s<>\"']+", value) if "<" in value else None
        fix = f"{line.text[:position]}{markup.group()}" if markup else None
        yield at("repository-address", line, position, value[:160], fix)
    elif name == "baseurl" and KEY.search(value):
        seen = f"{value[:160]} is a key, not a repository"
        yield at("repository-address", line, position, seen)
