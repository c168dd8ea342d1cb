"""fstab and exports: shared folders that programs are started from."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.files.fragments import WrittenLine, at, fragments
from wireproof.lint.files.nearest import nearest
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.tables import listed

__all__ = ["check"]


EXPORT = re.compile(r"\s*(/\S*)\s+(?=\*|[^#(]*\([a-z_])")
CLIENT = re.compile(r"([^\s()]*)\(([^)]*)\)")


def check(recipe: Recipe) -> Iterator[Broken]:
    """All that is wrong in the mounts and exports of ``recipe``."""
    for fragment in fragments(recipe, "fstab"):
        exports = [
            line for line in fragment.lines if EXPORT.match(line.text) and " nfs" not in line.text
        ]
        for line in fragment.lines:
            text = line.text.strip()
            if not text or text.startswith("#") or line in exports:
                continue
            yield from mount(line)
        for line in exports:
            yield from export(line)
        yield from fsids(exports)


def mount(line: WrittenLine) -> Iterator[Broken]:
    """One line of fstab."""
    columns = line.text.split("#", 1)[0].split()
    if len(columns) < 2 or not columns[1].startswith(("/", "none", "swap")):
        return  # no line of fstab at all
    seen = f"{len(columns)} columns: {line.text.strip()[:80]}"
    tail = 2 if len(columns) > 4 and all(word.isdigit() for word in columns[-2:]) else 0
    if len(columns) == 2 or columns[2:] == ["nfs"]:
        yield at("fstab-columns", line, 0, seen)
    elif len(columns) > 6 or (len(columns) == 6 and not tail):
        yield at("fstab-columns", line, 0, seen, joined(columns, tail))
    elif columns[2] in ("nfs", "nfs4"):
        yield from nfs(line, columns)


def joined(columns: list[str], tail: int) -> str | None:
    """The line with options in one column, where blanks behind commas parted them."""
    end = len(columns) - tail
    options = "".join(columns[3:end])
    if "," not in options or not columns[3].endswith(","):
        return None
    return " ".join([*columns[:3], options, *columns[end:]])


def nfs(line: WrittenLine, columns: list[str]) -> Iterator[Broken]:
    """The source and the options of an NFS mount."""
    source = columns[0]
    if ":" not in source and "$" not in source:
        host = re.match(r"([\w.-]+)(/\S+)$", source)
        fix = line.text.replace(source, f"{host[1]}:{host[2]}", 1) if host else None
        yield at("fstab-nfs", line, line.text.index(source), source, fix)
    for option in columns[3].split(","):
        name = option.partition("=")[0]
        meant = (
            None
            if name in listed("nfs") or name.startswith("x-")
            else nearest(name, listed("nfs"), 0.75)
        )
        if meant:
            position = line.text.index(option)
            fix = line.text[:position] + meant + line.text[position + len(name) :]
            yield at("fstab-nfs", line, position, f"{name}; nearest is {meant}", fix)


def export(line: WrittenLine) -> Iterator[Broken]:
    """One line of exports."""
    gap = re.search(r"(?<=[\w*\].])(\s+)\((?=[a-z_]+[,)=])", line.text)
    folder = EXPORT.match(line.text)
    if gap and folder and gap.start() > folder.end(1):
        fix = line.text[: gap.start(1)] + line.text[gap.end(1) :]
        yield at("exports-space", line, gap.start(), line.text.strip()[:80], fix)
    for client in CLIENT.finditer(line.text):
        position = client.start(2)
        for option in client.group(2).split(","):
            name = option.strip().partition("=")[0]
            meant = None if name in listed("exports") else nearest(name, listed("exports"), 0.75)
            if meant:
                start = position + option.index(name)
                fix = line.text[:start] + meant + line.text[start + len(name) :]
                yield at("exports-option", line, start, f"{name}; nearest is {meant}", fix)
            position += len(option) + 1


def fsids(exports: list[WrittenLine]) -> Iterator[Broken]:
    """One fsid for two folders."""
    seen: dict[str, str] = {}
    for line in exports:
        folder = line.text.split()[0]
        for found in re.finditer(r"\bfsid=([\w-]{1,64})", line.text):
            if seen.setdefault(found.group(1), folder) != folder:
                text = f"fsid={found.group(1)} of {seen[found.group(1)]} and {folder}"
                yield at("exports-fsid-twice", line, found.start(), text)
                break
