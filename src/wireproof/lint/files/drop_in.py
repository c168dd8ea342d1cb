"""What goes wrong in any configuration file: its name, and characters that a word processor put
in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from wireproof.lint.files.fragments import WrittenLine, at, extracted, is_document
from wireproof.lint.rule import CONFIGURATION_FILES, Broken, Kind, Recipe
from wireproof.lint.written import written

__all__ = ["check"]

ASCII = {
    "–": "-",
    "—": "-",
    "−": "-",
    "“": '"',
    "”": '"',
    "„": '"',
    "‘": "'",
    "’": "'",
    "\u00a0": " ",
    "\u2011": "-",
}
TYPOGRAPHIC = re.compile("[" + "".join(ASCII) + "]")
DROP_IN = re.compile(r"/(?:modprobe|sysctl|limits)\.d/[^/]+$")


def check(recipe: Recipe) -> Iterator[Broken]:
    """What is wrong in the file as a whole, or in the characters of a file that a script writes."""
    if recipe.kind == "script":
        for file in written(recipe):
            if file.kind in CONFIGURATION_FILES:
                yield from typography(file.kind, file.lines)
    elif recipe.kind in CONFIGURATION_FILES and not (is_document(recipe) or extracted(recipe)):
        name = recipe.name.rsplit("/", 1)[-1]
        if DROP_IN.search(recipe.name) and "." not in name:
            yield Broken("drop-in-name", 1, 1, recipe.name[-120:])
        yield from typography(
            recipe.kind,
            (WrittenLine(number, text) for number, text in enumerate(recipe.lines, start=1)),
        )


def typography(kind: Kind, lines: Iterable[WrittenLine]) -> Iterator[Broken]:
    """Characters that a word processor put in."""
    for line in lines:
        text = line.text
        if text.isascii() or text.lstrip().startswith(("#", ";")):
            continue
        code = text if kind == "keyfile" else text.split(" #", 1)[0]
        found = TYPOGRAPHIC.search(code)
        if found and readable(kind, text):
            fixed = TYPOGRAPHIC.sub(lambda sign: ASCII[sign.group()], code) + text[len(code) :]
            yield at("file-typography", line, found.start(), text.strip()[:80], fixed)


def readable(kind: Kind, text: str) -> bool:
    """Names that people read (``name=Fabric – production``) may hold any character."""
    return not (
        kind in ("repository", "keyfile", "ifcfg") and re.match(r"\s*(?:name|id|NAME)\s*=", text)
    )
