"""The arguments of the irqbalance daemon."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.files.fragments import Fragment, WrittenLine, at, fragments
from wireproof.lint.files.nearest import nearest
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.tables import listed

__all__ = ["check"]


POLICIES = ("exact", "subset", "ignore")
ASSIGNMENT = re.compile(r"(\s*)([A-Za-z_]+)(\s*=\s*)(.*?)\s*$")
OPTION = re.compile(r"(?<![\w–—-])([-–—]{1,2})([A-Za-z][A-Za-z_-]+)(?:(?:=|\s+)([\w-]+))?")


def check(recipe: Recipe) -> Iterator[Broken]:
    """All that is wrong in irqbalance's settings."""
    for fragment in fragments(recipe, "irqbalance"):
        for line in fragment.lines:
            found = ASSIGNMENT.match(line.text)
            if found and not line.text.lstrip().startswith("#"):
                yield from assignment(line, found)
        yield from commented(fragment)


def assignment(line: WrittenLine, found: re.Match[str]) -> Iterator[Broken]:
    """One active line."""
    name = found.group(2)
    if name not in listed("irqbalance-variables"):
        upper, known = name.upper(), listed("irqbalance-variables")
        meant = upper if upper in known else nearest(upper, known, 0.75)
        if meant:
            fixed = line.text.replace(name, meant, 1)
            yield at("irqbalance-name", line, found.start(2), name, fixed)
        return
    if name not in ("IRQBALANCE_ARGS", "OPTIONS"):
        return
    for option in OPTION.finditer(line.text, found.start(4)):
        yield from argument(line, option)


def argument(line: WrittenLine, option: re.Match[str]) -> Iterator[Broken]:
    """One long option; short ones (-h) have one letter and are not matched."""
    dashes, name, value = option.groups()
    meant = known_option(name)
    if meant is None:
        return
    if meant != name or dashes != "--":
        fixed = line.text[: option.start()] + "--" + meant + line.text[option.end(2) :]
        yield at("irqbalance-option", line, option.start(), dashes + name, fixed)
    if meant == "hintpolicy" and value not in POLICIES and "$" not in line.text:
        yield from policy(line, option, value)
    elif meant == "hintpolicy":
        yield at("irqbalance-hintpolicy", line, option.start())


def known_option(name: str) -> str | None:
    """The option that is written or meant."""
    bare = name.replace("-", "").replace("_", "").lower()
    known = listed("irqbalance-options")
    return next((each for each in (name, bare) if each in known), nearest(bare, known, 0.8))


def policy(line: WrittenLine, option: re.Match[str], value: str | None) -> Iterator[Broken]:
    """The word behind ``--hintpolicy``, which is none of the three."""
    if not value:
        yield at("irqbalance-policy", line, option.start(), "no word follows")
    elif "script" not in value:
        likely = nearest(value.lower(), POLICIES, 0.6)
        position = option.start(3)
        fix = line.text[:position] + likely + line.text[option.end(3) :] if likely else None
        yield at("irqbalance-policy", line, position, value, fix)


def commented(fragment: Fragment) -> Iterator[Broken]:
    """``#IRQBALANCE_ARGS=--hintpolicy=exact`` and nothing active. The packaged file's empty comment
    is left.
    """
    active = any(
        "hintpolicy" in line.text and not line.text.lstrip().startswith("#")
        for line in fragment.lines
    )
    if active or fragment.quoted:
        return
    for line in fragment.lines:
        found = re.match(r"\s*#+\s*(IRQBALANCE_ARGS\s*=.*hintpolicy.*)$", line.text)
        if found:
            yield at("irqbalance-commented", line, 0, line.text.strip(), found.group(1))
            return
