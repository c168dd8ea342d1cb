# pure
"""Files of the system that affect the fabric: limits.d, irqbalance's arguments, repositories of dnf
and yum.
"""

import re
from collections.abc import Iterator

from wireproof.lint.fragments import Fragment, Part, WrittenLine, at, parts
from wireproof.lint.rule import Broken
from wireproof.lint.tables import listed, nearest, spelled

# --- limits.d: the amount of memory that a user may lock; RDMA needs it to register buffers.

TYPES = ("soft", "hard", "-")
UNLIMITED = ("unlimited", "infinity", "-1")
NO_COUNT = ("nice", "priority", "chroot", "nonewprivs", "rtprio")
IN_KIB = ("memlock", "stack", "data", "rss", "as")
# 1 GiB: a round number well above the pinned memory of a rank's endpoint (about 50 MiB with PSM3)
ENOUGH_KIB = 1 << 20


def limits(fragment: Fragment) -> Iterator[Broken]:
    """Check a file of limits."""
    memlock: dict[str, dict[str, tuple[WrittenLine, str]]] = {}
    for line in fragment.lines:
        columns = [] if "$" in line.text else line.words
        if len(columns) == 2 and columns[1] == "-":
            continue  # "user -" lifts all limits
        if len(columns) == 4:
            domain, kind, item, value = columns
            if item == "memlock":
                memlock.setdefault(domain, {})[kind] = (line, value)
                yield from _low(line, value)
            for wrong, right in _replacements(kind, item, value):
                word = Part(line, line.text.index(wrong), wrong)
                yield word.broken("limits-word", wrong, right or None)
        elif columns:
            yield from _columns(line, columns)
    if not fragment.quoted:  # lines quoted alone say nothing about the rest
        yield from _half(memlock)


def _columns(line: WrittenLine, columns: list[str]) -> Iterator[Broken]:
    """Report too few or too many columns; the fix adds a column if it can only have one value."""
    fixed = None
    if len(columns) == 3 and columns[1] in listed("limits"):
        fixed = f"{columns[0]} - {columns[1]} {columns[2]}"
    elif len(columns) == 3 and columns[0] in TYPES[:2]:
        fixed = f"* {' '.join(columns)}"
    yield at("limits-columns", line, 0, f"{len(columns)} columns: {' '.join(columns)[:80]}", fixed)


def _replacements(kind: str, item: str, value: str) -> Iterator[tuple[str, str]]:
    """Return (wrong word, right word) for each column; the right word is "" if the intention is
    unclear.
    """
    if kind not in TYPES:
        yield kind, nearest(kind.lower(), TYPES, 0.6) or ""
    if item not in listed("limits"):
        yield item, spelled(item.lower().replace("_", ""), listed("limits"), 0.7) or ""
    counted = value not in UNLIMITED and item not in NO_COUNT
    if counted and not re.fullmatch(r"-?[0-9]{1,18}", value):
        yield value, nearest(value.lower(), UNLIMITED, 0.7) or _kibibytes(item, value)


def _kibibytes(item: str, value: str) -> str:
    """Return a value such as ``64G`` for an item that is counted in KiB."""
    size = re.fullmatch(r"([0-9]{1,9})([kKmMgG])[iI]?[bB]?", value)
    if not size or item not in IN_KIB:
        return ""
    return str(int(size[1]) * {"k": 1, "m": 1 << 10, "g": 1 << 20}[size[2].lower()])


def _low(line: WrittenLine, value: str) -> Iterator[Broken]:
    if value.isascii() and value.isdigit() and int(value[:18]) < ENOUGH_KIB:
        place = line.text.index(value, line.text.index("memlock"))
        yield Part(line, place, value).broken("limits-memlock-low", f"{value} KiB", "unlimited")


def _half(memlock: dict[str, dict[str, tuple[WrittenLine, str]]]) -> Iterator[Broken]:
    general = memlock.get("*", {})
    for domain, given in memlock.items():
        (kind, (line, value)), *more = given.items()
        other = "hard" if kind == "soft" else "soft"
        if more or kind not in TYPES[:2] or "-" in general or other in general:
            continue
        fix = f"{line.text}\n{domain} {other} memlock {value}"
        yield at("limits-memlock-half", line, 0, f"{domain}: {kind} without {other}", fix)


# --- irqbalance.

POLICIES = ("exact", "subset", "ignore")
ARGUMENTS = re.compile(r"\s*([A-Za-z_]+)\s*=\s*(.*?)\s*$")
OPTION = re.compile(r"(?<![\w–—-])([-–—]{1,2})([A-Za-z][A-Za-z_-]+)(?:(?:=|\s+)([\w-]+))?")
COMMENTED = re.compile(r"\s*#+\s*(IRQBALANCE_ARGS\s*=.*hintpolicy.*)$")


def irqbalance(fragment: Fragment) -> Iterator[Broken]:
    """Check irqbalance's settings."""
    for line in fragment.lines:
        found = ARGUMENTS.match(line.text)
        if found and not line.is_comment:
            yield from _assignment(*parts(line, found))
    active = any("hintpolicy" in line.text and not line.is_comment for line in fragment.lines)
    # ``#IRQBALANCE_ARGS=--hintpolicy=exact``; the empty comment of the packaged file is ignored
    pairs = ((line, COMMENTED.match(line.text)) for line in fragment.lines)
    commented = [(line, found[1]) for line, found in pairs if found]
    if commented and not active and not fragment.quoted:
        line, fix = commented[0]
        yield at("irqbalance-commented", line, 0, line.text.strip(), fix)


def _assignment(name: Part, value: Part) -> Iterator[Broken]:
    known = listed("irqbalance-variables")
    if name.text not in known:
        meant = spelled(name.text.upper(), known, 0.75)
        if meant:
            yield name.broken("irqbalance-name", name.text, meant)
    elif name.text in ("IRQBALANCE_ARGS", "OPTIONS"):
        for option in OPTION.finditer(name.line.text, value.offset):
            yield from argument(name.line, option)


def argument(line: WrittenLine, option: re.Match[str]) -> Iterator[Broken]:
    """Check a long option; short options (-h) have a single letter and are not matched."""
    dashes, name, value = option.groups()
    bare, known = name.replace("-", "").replace("_", "").lower(), listed("irqbalance-options")
    meant = name if name in known else spelled(bare, known, 0.8)
    if meant is None:
        return
    written = Part(line, option.start(), dashes + name)
    if meant != name or dashes != "--":
        yield written.broken("irqbalance-option", written.text, f"--{meant}")
    if meant != "hintpolicy":
        return
    if value in POLICIES or "$" in line.text:
        yield at("irqbalance-hintpolicy", line, option.start())
    elif not value:
        yield at("irqbalance-policy", line, option.start(), "no word follows")
    elif "script" not in value:
        word = Part(line, option.start(3), value)
        yield word.broken("irqbalance-policy", value, nearest(value.lower(), POLICIES, 0.6))


# --- dnf's and yum's .repo files.

URL = re.compile(
    r"(?:https?|ftp|file)://[^\s<>\"']+$|/\S*$|(?:https?|ftp|file)://\$\S+$|\$\S+$|media:\S+$"
    r"|cdrom:\S+$"
)
PROPERTY = re.compile(r"\s*([A-Za-z_]+)\s*=\s*(.*?)\s*$")
KEY = re.compile(r"\.(?:PUB|pub|asc|gpg|key)$|GPG-PUB-KEY|RPM-GPG-KEY")
SOURCES = ("baseurl", "mirrorlist", "metalink")


def repository(fragment: Fragment) -> Iterator[Broken]:
    """Check a file of repositories."""
    heads: dict[str, WrittenLine] = {}
    names: dict[str, set[str]] = {"": set()}
    section = ""
    for line in fragment.lines:
        text = line.text.strip()
        head, found = re.fullmatch(r"\[([^\]]{1,200})\]", text), PROPERTY.match(line.text)
        if head:
            section = head[1]
            if section in heads and not fragment.quoted:
                yield at("repository-section", line, 0, f"[{section}] occurs twice")
            heads[section] = line
            names.setdefault(section, set())
        elif found and not text.startswith(("#", ";")):
            yield from _option(line, found, fragment.quoted)
            names[section].add(found[1])
    for name, line in heads.items() if not fragment.quoted else ():
        if name != "main" and names[name].isdisjoint(SOURCES):
            yield at("repository-section", line, 0, f"[{name}] has no baseurl")


def _option(line: WrittenLine, found: re.Match[str], quoted: bool) -> Iterator[Broken]:
    """Check a line ``name=value``. Among other text (``quoted``) it may belong to another file, so
    its name is not checked.
    """
    (name, value), known = parts(line, found), listed("repository")
    if name.text in known:
        if value.text and name.text in (*SOURCES, "gpgkey"):
            yield from _addresses(name.text, value)
        return
    meant = spelled(name.text.lower(), known, 0.8)
    if meant and not quoted:
        yield name.broken("repository-option", name.text, meant)


def _addresses(name: str, value: Part) -> Iterator[Broken]:
    """Find values that are not addresses, and a key in the place of a repository."""
    text = value.text
    wrong = any(not URL.match(address) for address in re.split(r"[\s,]+", text))
    placeholder = "<" in text and "href" not in text and "</" not in text
    if wrong and not placeholder:
        markup = re.search(r"(?:https?|ftp)://[^\s<>\"']+", text) if "<" in text else None
        fix = f"{value.line.text[: value.offset]}{markup.group()}" if markup else None
        yield at("repository-address", value.line, value.offset, text[:160], fix)
    elif name == "baseurl" and KEY.search(text):
        yield value.broken("repository-address", f"{text[:160]} is a key, not a repository")
