"""/etc/hosts: names by which the nodes of a job find each other."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.files.fragments import Fragment, WrittenLine, at, fragments
from wireproof.lint.files.interfaces.interface import is_address
from wireproof.lint.rule import Broken, Recipe

__all__ = ["check"]


LOCAL = re.compile(r"(?:localhost|loopback|ip6-)|localdomain$", re.IGNORECASE)
NAME = re.compile(r"[A-Za-z0-9_](?:[\w.-]{0,252})$")


def check(recipe: Recipe) -> Iterator[Broken]:
    """All that is wrong in the host names of ``recipe``."""
    for fragment in fragments(recipe, "hosts"):
        entries = []
        for line in fragment.lines:
            words = line.text.split("#", 1)[0].split()
            if len(words) < 2 or not is_address(words[0]):
                yield from no_entry(fragment, line, words)
                continue
            entries.append((line, words[0], words[1:]))
            yield from loopback(line, words)
        if not fragment.quoted:  # a document shows several files
            yield from two(entries)


def no_entry(fragment: Fragment, line: WrittenLine, words: list[str]) -> Iterator[Broken]:
    """A line that is no entry; the fix turns NAME ADDRESS round."""
    if not words or fragment.quoted or any(mark in line.text for mark in "${<"):
        return
    turned = len(words) == 2 and is_address(words[1]) and NAME.match(words[0])
    fix = f"{words[1]} {words[0]}" if turned else None
    if turned or len(words) == 1 or re.match(r"[0-9.:]+$", words[0]):
        yield at("hosts-line", line, line.text.index(words[0]), line.text.strip()[:80], fix)


def loopback(line: WrittenLine, words: list[str]) -> Iterator[Broken]:
    """A node's name on 127.x or ::1. 127.0.1.1 is what installers of Debian write."""
    if not words[0].startswith("127.") and words[0] != "::1":
        return
    names = [name for name in words[1:] if not LOCAL.search(name)]
    if names:
        position = line.text.index(names[0], len(words[0]))
        local = [name for name in words[1:] if LOCAL.search(name)]
        fix = " ".join([words[0], *local]) if local else None
        yield at("hosts-loopback-name", line, position, f"{names[0]} is {words[0]}", fix)


def two(entries: list[tuple[WrittenLine, str, list[str]]]) -> Iterator[Broken]:
    """One name with two addresses of one family."""
    seen: dict[tuple[bool, str], str] = {}
    for line, address, names in entries:
        for name in names:
            if LOCAL.search(name) or address.startswith("127."):
                continue
            first = seen.setdefault((":" in address, name.lower()), address)
            if first != address:
                position = line.text.index(name, len(address))
                yield at("hosts-two-addresses", line, position, f"{name} is {first} and {address}")
