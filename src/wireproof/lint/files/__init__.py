# pure
"""Rules for configuration files: modprobe.d, sysctl.d, limits.d, interfaces, irqbalance, the
kernel's command line, package repositories, mounts, host names, Open MPI and OpenSM. They also
apply to such lines in scripts (here-documents, echoes) and in documents.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from wireproof.lint.files.interfaces import ifcfg, is_address, keyfile
from wireproof.lint.files.kernel import command_line, modprobe
from wireproof.lint.files.sysctl import sysctl
from wireproof.lint.files.system import irqbalance, limits, repository
from wireproof.lint.fragments import (
    Fragment,
    Part,
    WrittenLine,
    at,
    extracted,
    files_written,
    fragments,
    is_document,
    misspelt,
)
from wireproof.lint.rule import CONFIGURATION_FILES, Broken, Check, Kind, Recipe
from wireproof.lint.script.variables import nearest as nearest_variable
from wireproof.lint.tables import listed, nearest

# --- fstab and exports: shared folders from which programs are started.

EXPORT = re.compile(r"\s*(/\S*)\s+(?=\*|[^#(]*\([a-z_])")
CLIENT = re.compile(r"([^\s()]*)\(([^)]*)\)")


def mounts(fragment: Fragment) -> Iterator[Broken]:
    """Check the mounts and exports of a file."""
    exports: list[WrittenLine] = []
    for line in fragment.lines:
        if EXPORT.match(line.text) and " nfs" not in line.text:
            exports.append(line)
        elif not line.is_comment:
            yield from _mount(line)
    for line in exports:
        yield from _export(line)
    yield from _fsids(exports)


def _mount(line: WrittenLine) -> Iterator[Broken]:
    columns = line.words
    if len(columns) < 2 or not columns[1].startswith(("/", "none", "swap")):
        return  # not a line of fstab
    seen = f"{len(columns)} columns: {line.text.strip()[:80]}"
    tail = 2 if len(columns) > 4 and all(word.isdigit() for word in columns[-2:]) else 0
    if len(columns) == 2 or columns[2:] == ["nfs"]:
        yield at("fstab-columns", line, 0, seen)
    elif len(columns) > 6 or (len(columns) == 6 and not tail):
        yield at("fstab-columns", line, 0, seen, _joined(columns, tail))
    elif columns[2] in ("nfs", "nfs4"):
        yield from _nfs(line, columns)


def _joined(columns: list[str], tail: int) -> str | None:
    """Return the line with its options in a single column if spaces after commas split them."""
    end = len(columns) - tail
    joined = " ".join([*columns[:3], "".join(columns[3:end]), *columns[end:]])
    return joined if columns[3].endswith(",") else None


def _nfs(line: WrittenLine, columns: list[str]) -> Iterator[Broken]:
    source = Part(line, line.text.index(columns[0]), columns[0])
    if ":" not in source.text and "$" not in source.text:
        host = re.match(r"([\w.-]+)(/\S+)$", source.text)
        yield source.broken("fstab-nfs", source.text, f"{host[1]}:{host[2]}" if host else None)
    for option in columns[3].split(","):
        name = Part(line, line.text.index(option), option.partition("=")[0])
        if not name.text.startswith("x-"):
            yield from misspelt("fstab-nfs", name, listed("nfs"), 0.75)


def _export(line: WrittenLine) -> Iterator[Broken]:
    gap = re.search(r"(?<=[\w*\].])(\s+)\((?=[a-z_]+[,)=])", line.text)
    folder = EXPORT.match(line.text)
    if gap and folder and gap.start() > folder.end(1):
        yield Part(line, gap.start(), gap[1]).broken("exports-space", line.text.strip()[:80], "")
    for client in CLIENT.finditer(line.text):
        position = client.start(2)
        for option in client[2].split(","):
            name = option.strip().partition("=")[0]
            word = Part(line, position + option.index(name), name)
            yield from misspelt("exports-option", word, listed("exports"), 0.75)
            position += len(option) + 1


def _fsids(exports: list[WrittenLine]) -> Iterator[Broken]:
    seen: dict[str, str] = {}
    for line in exports:
        folder = line.text.split()[0]
        for found in re.finditer(r"\bfsid=([\w-]{1,64})", line.text):
            if seen.setdefault(found[1], folder) != folder:
                text = f"fsid={found[1]} of {seen[found[1]]} and {folder}"
                yield at("exports-fsid-twice", line, found.start(), text)
                break


# --- /etc/hosts: names by which the nodes of a job find each other.

LOCAL = re.compile(r"(?:localhost|loopback|ip6-)|localdomain$", re.IGNORECASE)
NAME = re.compile(r"[A-Za-z0-9_](?:[\w.-]{0,252})$")


def hosts(fragment: Fragment) -> Iterator[Broken]:
    """Check the host names of a file."""
    entries = []
    for line in fragment.lines:
        words = line.words
        if len(words) < 2 or not is_address(words[0]):
            yield from _no_entry(fragment, line, words)
            continue
        entries.append((line, words))
        yield from _loopback(line, words)
    # a document shows several files
    yield from _two_addresses([] if fragment.quoted else entries)


def _no_entry(fragment: Fragment, line: WrittenLine, words: list[str]) -> Iterator[Broken]:
    """Report a line that is not an entry; the fix swaps NAME ADDRESS."""
    if not words or fragment.quoted or any(mark in line.text for mark in "${<"):
        return
    turned = len(words) == 2 and is_address(words[1]) and NAME.match(words[0])
    fix = f"{words[1]} {words[0]}" if turned else None
    if turned or len(words) == 1 or re.match(r"[0-9.:]+$", words[0]):
        yield at("hosts-line", line, line.text.index(words[0]), line.text.strip()[:80], fix)


def _loopback(line: WrittenLine, words: list[str]) -> Iterator[Broken]:
    """Find the name of a node on 127.x or ::1. Debian's installers write 127.0.1.1."""
    address, *names = words
    local = [name for name in names if LOCAL.search(name)]
    others = [name for name in names if name not in local]
    if others and (address.startswith("127.") or address == "::1"):
        position = line.text.index(others[0], len(address))
        fix = " ".join([address, *local]) if local else None
        yield at("hosts-loopback-name", line, position, f"{others[0]} is {address}", fix)


def _two_addresses(entries: list[tuple[WrittenLine, list[str]]]) -> Iterator[Broken]:
    seen: dict[tuple[bool, str], str] = {}
    for line, (address, *names) in entries:
        for name in names if not address.startswith("127.") else ():
            first = seen.setdefault((":" in address, name.lower()), address)
            if first != address and not LOCAL.search(name):
                position = line.text.index(name, len(address))
                yield at("hosts-two-addresses", line, position, f"{name} is {first} and {address}")


SETTING = re.compile(r"\s*(\w{2,80})(?=\s*=|\s+\S)")


def settings(fragment: Fragment) -> Iterator[Broken]:
    """Find a misspelt name of a parameter."""
    for line in fragment.lines:
        found = None if line.is_comment else SETTING.match(line.text)
        if found:
            name = Part(line, found.start(1), found[1])
            near = nearest(name.text, listed("opensm"))
            if fragment.kind == "openmpi":
                near = (nearest_variable(f"OMPI_MCA_{name.text}") or "").removeprefix("OMPI_MCA_")
            if near:
                yield name.broken("name-misspelt", f"{name.text}; nearest is {near}", near)


JUDGES: dict[Kind, Callable[[Fragment], Iterator[Broken]]] = {
    "modprobe": modprobe,
    "sysctl": sysctl,
    "limits": limits,
    "keyfile": keyfile,
    "irqbalance": irqbalance,
    "repository": repository,
    "fstab": mounts,
    "hosts": hosts,
    "openmpi": settings,
    "opensm": settings,
}
"""The check of the fragments of each kind."""


def by_fragment(kind: Kind, judge: Callable[[Fragment], Iterator[Broken]]) -> Check:
    """Return a check of a recipe that passes each fragment of a kind to ``judge``."""

    def check(recipe: Recipe) -> Iterator[Broken]:
        for fragment in fragments(recipe, kind):
            yield from judge(fragment)

    return check


# --- Mistakes in any configuration file: its name, and characters from a word processor.

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
    """Check the file name, and the characters of a file or of a file that a script writes."""
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
    """Find characters from a word processor. Names for people (``name=Fabric – production``) may
    contain any.
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
