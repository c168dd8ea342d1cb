# pure
"""Boot parameters of the kernel: its command line (in /etc/default/grub, an entry of a boot loader,
or alone), and the options of the fabric's drivers in modprobe.d.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from wireproof.lint.fragments import Fragment, Part, WrittenLine, at, fragments, parts
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.tables import MOST_WORDS, Module, listed, modules, nearest

# --- The command line.

VARIABLE = re.compile(r"\s*(?:export\s+)?(GRUB_[A-Z_]+)\s*\+?=\s*(.*?)\s*$")
PARAMETER = re.compile(r"[A-Za-z_][\w.\-]*(?:=(?:\"[^\"]*\"|[^\s\"']*))?")
CONTINUED = re.compile(r"\s*[a-z][\w.\-]*=\S+(?:\s+[a-z][\w.\-]*(?:=\S+)?)*\s*$")
HUGE_PAGES = ("hugepages", "hugepagesz", "default_hugepagesz")


def command_line(recipe: Recipe) -> Iterator[Broken]:
    """Check the kernel's command lines in ``recipe``."""
    for fragment in fragments(recipe, "kernel-command-line"):
        for line in fragment.lines:
            if line.is_comment:
                continue
            variable = VARIABLE.match(line.text)
            if variable:
                yield from _variable(recipe, *parts(line, variable))
            elif fragment.quoted or re.match(
                r"\s*(?:options\s|linux|BOOT_IMAGE=|[\w.]+=\S+\s+\S)", line.text
            ):
                yield from judge_parameters(parameters(line, 0))


def _variable(recipe: Recipe, name: Part, value: Part) -> Iterator[Broken]:
    if name.text not in listed("grub"):
        meant = nearest(name.text, listed("grub"), 0.85)
        # distributions read more variables than are listed
        if meant and meant.startswith("GRUB_CMDLINE"):
            yield name.broken("grub-name", name.text, meant)
    elif name.text.startswith("GRUB_CMDLINE"):
        more = list(_following(recipe, name.line))
        if value.text[:1] not in ("'", '"'):
            yield from _unquoted(value, more)
        words = parameters(value.line, value.offset)
        yield from judge_parameters([*words, *(w for line in more for w in parameters(line, 0))])


def _unquoted(value: Part, more: list[WrittenLine]) -> Iterator[Broken]:
    """Find a value without quotes that has more than one word, here or on the lines to which a
    document wrapped it.
    """
    text = " ".join(filter(None, [value.text, *(line.text.strip() for line in more)]))
    if " " in text and not any(mark in text for mark in '$`#"'):
        fix = f'{value.line.text[: value.offset]}"{text}"'
        broken = at("grub-unquoted", value.line, value.offset, text, fix)
        yield replace(broken, last=more[-1].number if more else None)


def _following(recipe: Recipe, line: WrittenLine) -> Iterator[WrittenLine]:
    """Return the lines to which a document wrapped an unquoted value: only parameters, without a
    blank line between.
    """
    raw = line.text.partition("=")[2].strip()
    if raw[:1] in ("'", '"') or line.before or not raw:
        return
    for number in range(line.number + 1, min(line.number + 6, len(recipe.lines) + 1)):
        text = recipe.lines[number - 1]
        if not CONTINUED.match(text[:1000]) or len(text[:1000].split()) > 40:
            return
        yield WrittenLine(number, text)


def parameters(line: WrittenLine, start: int) -> list[Part]:
    """Return the words from offset ``start`` on."""
    found = islice(PARAMETER.finditer(line.text, start), MOST_WORDS)
    return [Part(line, word.start(), word.group()) for word in found]


def _name(word: Part) -> str:
    """Return the part before ``=``; the kernel treats ``-`` and ``_`` as equal."""
    return word.text.partition("=")[0].replace("-", "_")


def _value(word: Part) -> str:
    return word.text.partition("=")[2]


def _without(word: Part) -> str:
    """Return the line's text without the word and an adjacent space."""
    before, after = word.line.text[: word.offset], word.line.text[word.offset + len(word.text) :]
    return before.rstrip(" ") + after if before.endswith(" ") else before + after.lstrip(" ")


def judge_parameters(words: list[Part]) -> Iterator[Broken]:
    """Check the parameters of a command line, alone and together."""
    by_name: dict[str, Part] = {}
    once = listed("kernel-parameters-once")
    for word in words:
        yield from _parameter(word)
        name = _name(word)
        earlier = by_name.get(name)
        if name in once and earlier and _value(earlier) != _value(word):
            yield word.broken("kernel-parameter-twice", f"{earlier.text} and {word.text}")
        by_name[name] = word
    deep = by_name.get("intel_idle.max_cstate")
    # intel_idle is switched off, so the ACPI driver uses deeper states
    if deep and _value(deep) == "0" and not {"processor.max_cstate", "idle"} & by_name.keys():
        yield deep.broken("kernel-idle", deep.text, f"{deep.text} processor.max_cstate=1")
    yield from _huge_pages([word for word in words if _name(word) in HUGE_PAGES])


def _huge_pages(words: list[Part]) -> Iterator[Broken]:
    names = [_name(word) for word in words]
    if names[:2] != ["hugepages", "hugepagesz"] or names.count("hugepages") != 1:
        return
    count, size = words[:2]
    if count.line == size.line:
        seen = f"{count.text} {size.text}"
        swapped = _without(size).replace(count.text, f"{size.text} {count.text}", 1)
        yield at("kernel-hugepages-order", count.line, count.offset, seen, swapped)


def _parameter(word: Part) -> Iterator[Broken]:
    name, value, known = _name(word), _value(word), listed("kernel-parameters")
    if name == "intel_pstate" and value == "disable":
        fix = _without(word)
        yield at("kernel-pstate-disabled", word.line, word.offset, word.text, fix)
    elif name == "idle" and value == "poll":
        yield word.broken("kernel-idle", word.text)
    elif name == "intel_iommu" and value and not set(value.split(",")) <= listed("intel-iommu"):
        new = "intel_iommu=on iommu=pt" if value == "pt" else None
        yield word.broken("kernel-iommu", word.text, new)
    elif "=" in word.text and len(name) > 4:
        meant = nearest(name, known, 0.86) or ""
        if len(meant) > 4 and not _begins_so(name, meant):
            new = meant + word.text[len(name) :]
            yield word.broken("kernel-unknown-parameter", f"{name}; nearest is {meant}", new)


def _begins_so(name: str, meant: str) -> bool:
    """Return whether one of the names begins with the other, so that it is a different
    parameter.
    """
    begins = name.startswith(meant) or meant.startswith(name)
    return begins and abs(len(name) - len(meant)) > 1


# --- modprobe.d.

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
LANES_SET = re.compile(r"\bhfi1\b.*\bnum_vls\s*=\s*([1-8])\b")
LANES = 8  # hfi1's default of num_vls


def modprobe(fragment: Fragment) -> Iterator[Broken]:
    """Check a file of modprobe.d."""
    found = (LANES_SET.search(line.text.split("#", 1)[0]) for line in fragment.lines)
    lanes = next((int(match[1]) for match in found if match), LANES)
    continued = False
    for line in fragment.lines:
        words = line.words
        if words[:1] == ["options"]:
            if len(words) > 2:
                yield from _options(line, lanes)
        elif words and not continued:
            yield from _command(fragment, line, words)
        continued = line.text.rstrip().endswith("\\")
    yield from _twice(fragment)


def _command(fragment: Fragment, line: WrittenLine, words: Sequence[str]) -> Iterator[Broken]:
    """Check a line other than ``options``; in a document's prose, report only misspellings."""
    if words[0] in COMMANDS or (fragment.expanded and words[0].startswith("$")):
        return
    command = Part(line, line.text.index(words[0]), words[0])
    meant = nearest(words[0], COMMANDS, 0.7) if len(words) > 1 else None
    if meant or not fragment.quoted:
        yield command.broken("modprobe-unknown-command", words[0], meant)


def _words(line: WrittenLine) -> list[Part]:
    found = WORD.finditer(line.text.split("#", 1)[0])
    return [Part(line, word.start(), word.group()) for word in found]


def _options(line: WrittenLine, lanes: int) -> Iterator[Broken]:
    gap = SPACED.search(line.text) or LIST_GAP.search(line.text)
    if gap:
        fix = LIST_GAP.sub(",", SPACED.sub("=", line.text))
        yield at("modprobe-parameter-spaces", line, gap.start(), line.text.strip(), fix)
        return
    _, module, *rest = _words(line)
    for word in rest[: MOST_WORDS - 2]:
        yield from option(word, word.text, module.text.replace("-", "_"), lanes)


def option(word: Part, text: str, module: str, lanes: int = LANES) -> Iterator[Broken]:
    """Check a word after the name of a module; ``text`` is the word without the quotes
    of a shell.
    """
    name, equals, value = text.partition("=")
    if equals:
        yield from _known(word, module, name)
        yield from _range(word, module, name, value, lanes)
    else:
        yield from _bare(word, module)


def _module(name: str) -> Module:
    """Return the known facts of a module; a module that is not in the table has no parameters."""
    return modules().get(name) or Module(name=name, parameters="")


def _bare(word: Part, module: str) -> Iterator[Broken]:
    """Check a word without ``=``: the module's name again, or a number that has lost its name."""
    text, line = word.text, word.line.text
    start, end = line[: word.offset].rstrip(), line[word.offset + len(text) :]
    if text.replace("-", "_") == module:
        fix = f"{start} {end.lstrip()}".rstrip()
        yield at("modprobe-module-repeated", word.line, word.offset, text, fix)
    if text.isdigit() and start.split()[-1:] and start.split()[-1] in _module(module).known:
        fix = f"{start}={text}{end}"
        yield at("modprobe-parameter-spaces", word.line, word.offset, text, fix)


def _known(word: Part, module: str, name: str) -> Iterator[Broken]:
    """Find a name that resembles a parameter of the module. Other unknown names are accepted,
    because the lists grow with the drivers.
    """
    known = _module(module).known
    meant = nearest(name, known, 0.82)
    if not meant and module == "hfi1" and name not in known:
        meant = {"mtu": "max_mtu", "vls": "num_vls"}.get(name)
    if meant:
        written = Part(word.line, word.offset, word.line.text[word.offset :][: len(name)])
        seen = f"{module} {name}; nearest is {meant}"
        yield written.broken("modprobe-unknown-parameter", seen, meant)
    if (module, name) == ("hfi1", "loopback") and word.text != "loopback=0":
        line = word.line.text
        fix = (line[: word.offset].rstrip() + line[word.offset + len(word.text) :]).rstrip()
        rest = len(fix.split()) > 2
        yield at("modprobe-loopback", word.line, word.offset, word.text, fix if rest else None)


def _range(word: Part, module: str, name: str, value: str, lanes: int) -> Iterator[Broken]:
    """Check a value against the driver's limits, unless a script inserts it."""
    if "$" in value:
        return
    if (module, name) == ("hfi1", "krcvqs"):
        yield from _queues(word, value, lanes)
        return
    limit = next((limit for limit in _module(module).limit if limit.name == name), None)
    number = _integer(value)
    if limit and (number is None or not limit.holds(number)):
        yield word.broken("modprobe-value-range", f"{word.text}; {name} is {limit.words}")


def _queues(word: Part, value: str, lanes: int) -> Iterator[Broken]:
    """Check krcvqs: find too many values, or so many equal values that every lane was probably
    intended.

    Fewer values are legal (only the first lanes, such as krcvqs=5 or 0,0,0,5), so a short list
    counts as wrong only if it has values for more than half of the lanes and none of them is 0.
    """
    counts = value.strip("\"'").split(",", MOST_WORDS)[:MOST_WORDS]
    numbers = [_integer(count) for count in counts]
    if any(number is None or number < 0 for number in numbers):
        seen = f"{word.text}; krcvqs is a list of counts: 3,3,3"
        yield word.broken("modprobe-value-range", seen)
        return
    short = lanes / 2 < len(counts) < lanes and all(numbers)
    if len(counts) > lanes or short:
        right = (counts + counts[-1:] * lanes)[:lanes]
        seen = f"{len(counts)} values for {lanes} virtual lanes"
        yield word.broken("modprobe-queues-per-lane", seen, f"krcvqs={','.join(right)}")


def _twice(fragment: Fragment) -> Iterator[Broken]:
    """Find a parameter with two different values, on one line or on two."""
    seen: dict[tuple[str, str], str] = {}
    for line in fragment.lines:
        words = _words(line)
        if len(words) < 3 or words[0].text != "options":
            continue
        for word in words[2:MOST_WORDS]:
            name, equals, value = word.text.partition("=")
            key = (words[1].text, name)
            if equals and seen.setdefault(key, value) != value:
                yield word.broken("modprobe-parameter-twice", f"{name} is {seen[key]} and {value}")


def _integer(text: str) -> int | None:
    """Return a decimal or hexadecimal number as the kernel reads it, else None."""
    bare = text.strip("\"'")
    if re.fullmatch(r"-?(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})", bare):
        return int(bare, 16) if "x" in bare.lower() else int(bare)
    return None
