"""Rules for configuration files: modprobe.d, sysctl.d, limits.d, interfaces, irqbalance, the
kernel's command line, package repositories, mounts and host names. They also find such lines in
scripts (here-documents, echoes) and in documents.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from wireproof.lint.files.interfaces import ifcfg, keyfile
from wireproof.lint.files.kernel import command_line, modprobe
from wireproof.lint.files.shared import hosts, mounts
from wireproof.lint.files.sysctl import sysctl
from wireproof.lint.files.system import irqbalance, limits, repository
from wireproof.lint.fragments import (
    Fragment,
    WrittenLine,
    at,
    extracted,
    files_written,
    fragments,
    is_document,
)
from wireproof.lint.rule import CONFIGURATION_FILES, Broken, Check, Kind, Recipe

__all__ = ["CHECKS"]

JUDGES: dict[Kind, Callable[[Fragment], Iterator[Broken]]] = {
    "modprobe": modprobe,
    "sysctl": sysctl,
    "limits": limits,
    "keyfile": keyfile,
    "irqbalance": irqbalance,
    "repository": repository,
    "fstab": mounts,
    "hosts": hosts,
}
"""What looks at each fragment of a kind."""


def by_fragment(kind: Kind, judge: Callable[[Fragment], Iterator[Broken]]) -> Check:
    """A check that hands each fragment of a kind to its judge."""

    def check(recipe: Recipe) -> Iterator[Broken]:
        for fragment in fragments(recipe, kind):
            yield from judge(fragment)

    return check


# --- What goes wrong in any configuration file: its name, and characters that a word processor put
# in.

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
NAMES = re.compile(r"\s*(?:name|id|NAME)\s*=")


def drop_in(recipe: Recipe) -> Iterator[Broken]:
    """What is wrong in the file as a whole, or in the characters of a file that a script writes."""
    if recipe.kind == "script":
        for file in files_written(recipe):
            if file.kind in CONFIGURATION_FILES:
                yield from typography(file.kind, file.lines)
    elif recipe.kind in CONFIGURATION_FILES and not (is_document(recipe) or extracted(recipe)):
        name = recipe.name.rsplit("/", 1)[-1]
        if DROP_IN.search(recipe.name) and "." not in name:
            yield Broken("drop-in-name", 1, 1, recipe.name[-120:])
        lines = (WrittenLine(number, text) for number, text in enumerate(recipe.lines, start=1))
        yield from typography(recipe.kind, lines)


def typography(kind: Kind, lines: Iterable[WrittenLine]) -> Iterator[Broken]:
    """Characters that a word processor put in. Names that people read (``name=Fabric –
    production``) may hold any.
    """
    for line in lines:
        text = line.text
        if text.isascii() or text.lstrip().startswith(("#", ";")):
            continue
        code = text if kind == "keyfile" else text.split(" #", 1)[0]
        found = TYPOGRAPHIC.search(code)
        if found and not (kind in ("repository", "keyfile", "ifcfg") and NAMES.match(text)):
            fix = TYPOGRAPHIC.sub(lambda sign: ASCII[sign.group()], code) + text[len(code) :]
            yield at("file-typography", line, found.start(), text.strip()[:80], fix)


CHECKS: tuple[Check, ...] = (
    *(by_fragment(kind, judge) for kind, judge in JUDGES.items()),
    *(ifcfg, command_line, drop_in),
)
