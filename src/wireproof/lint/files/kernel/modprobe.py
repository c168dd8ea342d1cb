"""modprobe.d: options of the fabric's drivers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.files.fragments import Fragment, WrittenLine, at, fragments
from wireproof.lint.files.nearest import MOST_WORDS, nearest
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.tables import NumberRange, modules

__all__ = ["check"]


COMMANDS = (
    "options",
    "blacklist",
    "alias",
    "install",
    "remove",
    "softdep",
    "weakdep",
    "include",
    "config",
)
WORD = re.compile(r"\S+")
SPACED = re.compile(r"(?<=[\w])(?:[ \t]+=[ \t]*|=[ \t]+)(?=[-\w])")
LIST_GAP = re.compile(r"(?<=\d)(?:[ \t]+,[ \t]*|,[ \t]+)(?=\d)")
LANES = 8  # hfi1's default of num_vls


def check(recipe: Recipe) -> Iterator[Broken]:
    """All that is wrong in the ``options`` lines of ``recipe``."""
    for fragment in fragments(recipe, "modprobe"):
        lanes = lanes_of(fragment)
        for line in fragment.lines:
            words = line.text.split("#", 1)[0].split()
            if not words:
                continue
            if words[0] == "options" and len(words) > 2:
                yield from options(line, lanes)
            elif words[0] not in COMMANDS:
                meant = nearest(words[0], COMMANDS, 0.7)
                if meant and len(words) > 1:
                    fixed = line.text.replace(words[0], meant, 1)
                    yield at(
                        "modprobe-unknown-command", line, line.text.index(words[0]), words[0], fixed
                    )
        yield from twice(fragment)


def options(line: WrittenLine, lanes: int) -> Iterator[Broken]:
    """One ``options MODULE …`` line."""
    gap = SPACED.search(line.text) or LIST_GAP.search(line.text)
    if gap:
        fixed = LIST_GAP.sub(",", SPACED.sub("=", line.text))
        yield at("modprobe-parameter-spaces", line, gap.start(), line.text.strip(), fixed)
        return
    words = list(WORD.finditer(line.text.split("#", 1)[0]))
    if len(words) < 2:  # "options ," names no module
        return
    module = words[1].group().replace("-", "_")
    for word in words[2:MOST_WORDS]:
        name, equals, value = word.group().partition("=")
        if not equals:
            yield from bare(line, word, module)
            continue
        yield from parameter(line, word, module, name)
        yield from values(line, word, (module, name), value, lanes)


def bare(line: WrittenLine, word: re.Match[str], module: str) -> Iterator[Broken]:
    """A word without ``=``: the module's name again, or a number that has lost its name."""
    text = word.group()
    if text.replace("-", "_") == module:
        fixed = (
            line.text[: word.start()].rstrip() + " " + line.text[word.end() :].lstrip()
        ).rstrip()
        yield at("modprobe-module-repeated", line, word.start(), text, fixed)
    before = next(reversed(line.text[: word.start()].split()), "")
    if text.isdigit() and before in parameters(module):
        start = line.text[: word.start()].rstrip()
        yield at(
            "modprobe-parameter-spaces",
            line,
            word.start(),
            text,
            f"{start}={line.text[word.start() :]}",
        )


def parameters(module: str) -> frozenset[str]:
    """The names that a module knows; none of a module that is not in the table."""
    return modules()[module].known if module in modules() else frozenset()


def limit_of(module: str, name: str) -> NumberRange | None:
    """What the values of a parameter may be."""
    limits = modules()[module].limit if module in modules() else ()
    return next((limit for limit in limits if limit.name == name), None)


def parameter(line: WrittenLine, word: re.Match[str], module: str, name: str) -> Iterator[Broken]:
    """A name that resembles one that the module knows: the lists grow with the drivers, so strange
    ones are left.
    """
    known = parameters(module)
    meant = nearest(name, known, 0.82)
    if not meant and module == "hfi1" and name not in known:
        meant = next(
            (full for full in ("max_mtu", "num_vls") if name and full.endswith("_" + name)), None
        )
    if meant:
        fixed = line.text[: word.start()] + meant + line.text[word.start() + len(name) :]
        yield at(
            "modprobe-unknown-parameter",
            line,
            word.start(),
            f"{module} {name}; nearest is {meant}",
            fixed,
        )
    if (module, name) == ("hfi1", "loopback") and word.group() != "loopback=0":
        fixed = (line.text[: word.start()].rstrip() + line.text[word.end() :]).rstrip()
        rest = len(fixed.split()) > 2
        yield at("modprobe-loopback", line, word.start(), word.group(), fixed if rest else None)


def values(
    line: WrittenLine, word: re.Match[str], name: tuple[str, str], value: str, lanes: int
) -> Iterator[Broken]:
    """One value against the driver's limits."""
    if name == ("hfi1", "krcvqs"):
        yield from queues(line, word, value, lanes)
        return
    limit = None if "$" in value else limit_of(*name)
    number = integer(value)
    if limit and (number is None or not limit.holds(number)):
        yield at(
            "modprobe-value-range",
            line,
            word.start(),
            f"{word.group()}; {name[1]} is {limit.words}",
        )


def queues(line: WrittenLine, word: re.Match[str], value: str, lanes: int) -> Iterator[Broken]:
    """krcvqs: too many values, or so many equal ones that every lane was meant.

    Fewer values are legal (the first lanes only, as krcvqs=5 or 0,0,0,5), so a short list counts as
    wrong only when it names more than half of the lanes and none with 0.
    """
    if "$" in value:
        return  # the script fills it in
    parts = value.strip("\"'").split(",", MOST_WORDS)[:MOST_WORDS]
    numbers = [integer(part) for part in parts]
    if any(number is None or number < 0 for number in numbers):
        yield at(
            "modprobe-value-range",
            line,
            word.start(),
            f"{word.group()}; krcvqs is a list of counts: 3,3,3",
        )
        return
    short = lanes / 2 < len(parts) < lanes and all(numbers)
    if len(parts) > lanes or short:
        right = (parts + parts[-1:] * lanes)[:lanes]
        fixed = f"{line.text[: word.start()]}krcvqs={','.join(right)}{line.text[word.end() :]}"
        seen = f"{len(parts)} values for {lanes} virtual lanes"
        yield at("modprobe-queues-per-lane", line, word.start(), seen, fixed)


def lanes_of(fragment: Fragment) -> int:
    """num_vls that the fragment sets for hfi1, else the driver's default."""
    for line in fragment.lines:
        found = re.search(r"\bhfi1\b.*\bnum_vls\s*=\s*([1-8])\b", line.text.split("#", 1)[0])
        if found:
            return int(found.group(1))
    return LANES


def twice(fragment: Fragment) -> Iterator[Broken]:
    """A parameter with two different values, on one line or on two."""
    seen: dict[tuple[str, str], str] = {}
    for line in fragment.lines:
        words = list(WORD.finditer(line.text.split("#", 1)[0]))
        if len(words) < 3 or words[0].group() != "options":
            continue
        for word in words[2:MOST_WORDS]:
            name, equals, value = word.group().partition("=")
            key = (words[1].group(), name)
            if equals and seen.setdefault(key, value) != value:
                yield at(
                    "modprobe-parameter-twice",
                    line,
                    word.start(),
                    f"{name} is {seen[key]} and {value}",
                )


def integer(text: str) -> int | None:
    """A decimal or hexadecimal number as the kernel reads it, None otherwise."""
    bare = text.strip("\"'")
    if re.fullmatch(r"-?(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})", bare):
        return int(bare, 16) if "x" in bare.lower() else int(bare)
    return None
