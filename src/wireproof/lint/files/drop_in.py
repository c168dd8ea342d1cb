"""What goes wrong in any configuration file: its name, and characters that a word processor put
in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.files.pieces import extracted, is_document
from wireproof.lint.rule import Broken, Kind, Recipe
from wireproof.lint.rules.system import CONFIGURATION_FILES

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
    """What is wrong in the file as a whole."""
    if recipe.kind not in CONFIGURATION_FILES or is_document(recipe) or extracted(recipe):
        return
    if (
        DROP_IN.search(recipe.name)
        and not recipe.name.endswith(".conf")
        and "." not in recipe.name.rsplit("/", 1)[-1]
    ):
        yield Broken("drop-in-name", 1, 1, recipe.name[-120:])
    for number, text in enumerate(recipe.lines, start=1):
        if text.isascii() or text.lstrip().startswith(("#", ";")):
            continue
        code = text if recipe.kind == "keyfile" else text.split(" #", 1)[0]
        found = TYPOGRAPHIC.search(code)
        if found and readable(recipe.kind, text):
            fixed = TYPOGRAPHIC.sub(lambda sign: ASCII[sign.group()], code) + text[len(code) :]
            yield Broken("file-typography", number, found.start() + 1, text.strip()[:80], fixed)


def readable(kind: Kind, text: str) -> bool:
    """Names that people read (``name=Fabric – production``) may hold any character."""
    return not (
        kind in ("repository", "keyfile", "ifcfg") and re.match(r"\s*(?:name|id|NAME)\s*=", text)
    )
