"""The kernel's command line: in /etc/default/grub, a loader's entry, or alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from wireproof.lint.files.fragments import Fragment, WrittenLine, at, fragments
from wireproof.lint.files.nearest import MOST_WORDS, nearest
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.tables import listed

__all__ = ["KernelParameter", "check", "judge_parameters", "parameters"]

VARIABLE = re.compile(r"(\s*(?:export\s+)?)(GRUB_[A-Z_]+)\s*(\+?=)\s*(.*?)\s*$")
WORD = re.compile(r"[A-Za-z_][\w.\-]*(?:=(?:\"[^\"]*\"|[^\s\"']*))?")
CONTINUED = re.compile(r"\s*[a-z][\w.\-]*=\S+(?:\s+[a-z][\w.\-]*(?:=\S+)?)*\s*$")


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """One word of the command line at ``offset`` of ``line``."""

    line: WrittenLine
    offset: int
    text: str

    @property
    def name(self) -> str:
        """Left of ``=``; the kernel takes ``-`` and ``_`` for the same."""
        return self.text.partition("=")[0].replace("-", "_")

    @property
    def value(self) -> str:
        """Right of ``=``."""
        return self.text.partition("=")[2]

    def replaced(self, text: str) -> str:
        """The line's text with another word; "" takes the word and one blank away."""
        before, after = (
            self.line.text[: self.offset],
            self.line.text[self.offset + len(self.text) :],
        )
        if text:
            return before + text + after
        return before.rstrip(" ") + after if before.endswith(" ") else before + after.lstrip(" ")


def check(recipe: Recipe) -> Iterator[Broken]:
    """All that is wrong in the kernel's command lines of ``recipe``."""
    for fragment in fragments(recipe, "kernel-command-line"):
        for line in fragment.lines:
            if line.text.lstrip().startswith("#"):
                continue
            variable = VARIABLE.match(line.text)
            if variable:
                yield from variable_of(recipe, fragment, line, variable)
            elif fragment.quoted or re.match(
                r"\s*(?:options\s|linux|BOOT_IMAGE=|[\w.]+=\S+\s+\S)", line.text
            ):
                yield from judge_parameters(parameters(line, 0))


def variable_of(
    recipe: Recipe, fragment: Fragment, line: WrittenLine, found: re.Match[str]
) -> Iterator[Broken]:
    """One ``GRUB_…=`` line."""
    name, raw = found.group(2), found.group(4)
    if name not in listed("grub"):
        meant = nearest(name, listed("grub"), 0.85)
        # distributions read more of the other ones than are listed
        if meant and meant.startswith("GRUB_CMDLINE"):
            yield at("grub-name", line, found.start(2), name, line.text.replace(name, meant, 1))
        return
    if not name.startswith("GRUB_CMDLINE"):
        return
    if raw[:1] not in ("'", '"'):
        yield from unquoted(recipe, line, found)
    words = parameters(line, found.start(4))
    for number in following(recipe, line):
        words += parameters(WrittenLine(number, recipe.lines[number - 1]), 0)
    yield from judge_parameters(words)


def unquoted(recipe: Recipe, line: WrittenLine, found: re.Match[str]) -> Iterator[Broken]:
    """A value without quotes that has more than one word, here or on the lines that a document
    wrapped it to.
    """
    more = list(following(recipe, line))
    words = [found.group(4), *(recipe.lines[number - 1].strip() for number in more)]
    value = " ".join(word for word in words if word)
    if " " not in value or "$" in value or "`" in value or "#" in value or '"' in value:
        return
    fixed = f'{line.text[: found.start(4)]}"{value}"'
    broken = at("grub-unquoted", line, found.start(4), value, fixed)
    yield Broken(
        broken.code, broken.line, broken.column, broken.seen, broken.fix, more[-1] if more else None
    )


def following(recipe: Recipe, line: WrittenLine) -> Iterator[int]:
    """The lines to which a document wrapped an unquoted value: nothing but parameters, no blank
    line between.
    """
    raw = line.text.partition("=")[2].strip()
    if raw[:1] in ("'", '"') or line.before or not raw:
        return
    for number in range(line.number + 1, min(line.number + 6, len(recipe.lines) + 1)):
        text = recipe.lines[number - 1][:1000]
        if not CONTINUED.match(text) or len(text.split()) > 40:
            return
        yield number


def parameters(line: WrittenLine, start: int) -> list[KernelParameter]:
    """The words from offset ``start`` on."""
    found = islice(WORD.finditer(line.text, start), MOST_WORDS)
    return [KernelParameter(line, word.start(), word.group()) for word in found]


def judge_parameters(words: list[KernelParameter]) -> Iterator[Broken]:
    """A command line's parameters, alone and together."""
    by_name: dict[str, KernelParameter] = {}
    once = listed("kernel-parameters-once")
    for word in words:
        yield from judge_parameter(word)
        earlier = by_name.get(word.name)
        if word.name in once and earlier and earlier.value != word.value:
            seen = f"{earlier.text} and {word.text}"
            yield at("kernel-parameter-twice", word.line, word.offset, seen)
        by_name[word.name] = word
    yield from idle_states(by_name)
    yield from huge_pages([word for word in words if word.name in HUGE_PAGES])


HUGE_PAGES = ("hugepages", "hugepagesz", "default_hugepagesz")


def idle_states(by_name: dict[str, KernelParameter]) -> Iterator[Broken]:
    """intel_idle switched off, so that the ACPI driver goes to deeper states."""
    deep = by_name.get("intel_idle.max_cstate")
    if deep is None or deep.value != "0":
        return
    if "processor.max_cstate" not in by_name and "idle" not in by_name:
        fix = deep.replaced(f"{deep.text} processor.max_cstate=1")
        yield at("kernel-idle", deep.line, deep.offset, deep.text, fix)


def huge_pages(words: list[KernelParameter]) -> Iterator[Broken]:
    """A number of pages before their size."""
    names = [word.name for word in words]
    if names[:2] != ["hugepages", "hugepagesz"] or names.count("hugepages") != 1:
        return
    count, size = words[:2]
    if count.line == size.line:
        seen = f"{count.text} {size.text}"
        swapped = size.replaced("").replace(count.text, f"{size.text} {count.text}", 1)
        yield at("kernel-hugepages-order", count.line, count.offset, seen, swapped)


def judge_parameter(word: KernelParameter) -> Iterator[Broken]:
    """One parameter."""
    name, value = word.name, word.value
    if name == "intel_pstate" and value == "disable":
        fixed = word.replaced("")
        yield at("kernel-pstate-disabled", word.line, word.offset, word.text, fixed)
    elif name == "idle" and value == "poll":
        yield at("kernel-idle", word.line, word.offset, word.text)
    elif name == "intel_iommu" and value and not set(value.split(",")) <= listed("intel-iommu"):
        fix = word.replaced("intel_iommu=on iommu=pt") if value == "pt" else None
        yield at("kernel-iommu", word.line, word.offset, word.text, fix)
    elif "=" in word.text and name not in listed("kernel-parameters") and len(name) > 4:
        yield from unknown(word)


def unknown(word: KernelParameter) -> Iterator[Broken]:
    """A name that resembles a known one, but is not another that begins so."""
    name = word.name
    meant = nearest(name, listed("kernel-parameters"), 0.86)
    if meant is None or len(meant) <= 4:
        return
    begins = name.startswith(meant) or meant.startswith(name)
    if not begins or abs(len(name) - len(meant)) <= 1:
        seen = f"{name}; nearest is {meant}"
        fixed = word.replaced(meant + word.text[len(name) :])
        yield at("kernel-unknown-parameter", word.line, word.offset, seen, fixed)
