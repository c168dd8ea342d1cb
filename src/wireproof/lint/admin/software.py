"""Commands that install and start software: dnf, yum, rpm, systemctl, service, ulimit,
irqbalance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.admin.by_program import by_program, is_commands, on
from wireproof.lint.files import irqbalance as irqbalance_file
from wireproof.lint.files.fragments import LONGEST_LINE, WrittenLine
from wireproof.lint.files.nearest import nearest
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.shell import Command, Word, commands
from wireproof.lint.tables import listed

__all__ = ["CHECKS"]

MEANT = {
    "openfm": "opafm",
    "opa-fm": "opafm",
    "opafmd": "opafm",
    "irqbalanced": "irqbalance",
    "tunedd": "tuned",
}
VERBS = (
    "enable",
    "start",
    "restart",
    "disable",
    "stop",
    "reenable",
    "reload",
    "try-restart",
    "mask",
    "unmask",
)
ADD_REPO = re.compile(r"\b(?:yum-)?config-manager\s+--add-repo(?:=|\s+)(\S.*)$")
ADDRESS = re.compile(r"(?:https?|ftp|file)://[^\s<>\"'`)]+")
KEY = re.compile(r"\.(?:PUB|pub|asc|gpg|key)$|GPG-PUB-KEY|RPM-GPG-KEY")


def repositories(recipe: Recipe) -> Iterator[Broken]:
    """``dnf config-manager --add-repo``, read from the line: markup in it is no shell."""
    if not is_commands(recipe):
        return
    for number, long in enumerate(recipe.lines, start=1):
        text = long[:LONGEST_LINE]
        found = ADD_REPO.search(text) if "config-manager" in text and "add" in text else None
        if found is not None:
            yield from repository(number, text, found)


def repository(number: int, text: str, found: re.Match[str]) -> Iterator[Broken]:
    """Markup in the address, or the address of a key."""
    said = found.group(1).rstrip()
    addresses = list(dict.fromkeys(ADDRESS.findall(said)))
    keys = [address for address in addresses if KEY.search(address)]
    markup = "<" in said and ">" in said and "href" in said
    if markup or keys:
        place = next((address for address in addresses if address not in keys), None)
        fix = two_commands(text[: found.start(1)], place, keys[:1]) if place else None
        yield Broken("repository-command", number, found.start(1) + 1, said[:160], fix)


def two_commands(head: str, place: str, keys: list[str]) -> str:
    """The repository is added; its key is imported by a command of its own."""
    begin = re.match(r"(.*?)(?:sudo\s+)?(?:dnf|yum)\b", head)
    indent = begin.group(1) if begin else ""
    return "\n".join([head + place, *(f"{indent}rpm --import {key}" for key in keys)])


def systemctl(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Names of units."""
    verb = next((at for at, text in enumerate(command.texts) if text in VERBS), None)
    if verb is None or "mask" in command.texts[verb]:
        return
    for word in command.words[verb + 1 :]:
        yield from unit(recipe, command, word.text, verb)


def service(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """``service NAME start``."""
    if len(command.words) > 2:
        yield from unit(recipe, command, command.texts[1], 0)


def unit(recipe: Recipe, command: Command, text: str, verb: int) -> Iterator[Broken]:
    """One unit's name."""
    name = text.removesuffix(".service")
    if text.startswith("-") or not re.fullmatch(r"[\w-]{3,40}", name) or name in listed("services"):
        return
    meant = MEANT.get(name) or nearest(name, listed("services"), 0.88)
    other = meant not in (name + "d", name.removesuffix("d"), name + "s")
    if meant and (other or name in MEANT):
        word = next(word for word in command.words[verb + 1 :] if word.text == text)
        seen = f"{name}; nearest is {meant}" if other else ""
        edits = [(word, word.raw.replace(name, meant, 1))]
        yield on("service-name", recipe, command, word, seen, edits)


def opaconfig(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """``opaconfig -E opafm``."""
    if "-E" in command.texts and "opafm" in command.texts and not elsewhere(recipe, command):
        edits = [
            (command.words[0], "systemctl enable --now opafm"),
            *((word, "") for word in command.words[1:]),
        ]
        yield on("fabric-manager-place", recipe, command, command.words[0], command.text, edits)


def elsewhere(recipe: Recipe, command: Command) -> bool:
    """Whether a wrapper (pdsh, ssh) runs it on named nodes, or the text starts opafm on nodes."""
    wrapped = {"pdsh", "ssh", "clush", "xdsh", "psh"}
    if wrapped & {word.text for word in command.outer}:
        return True
    return any(
        "opafm" in other.texts and other.program == "systemctl" and other.outer
        for other in commands(recipe)
    )


CHROOT = re.compile(r"\$(?:CHROOT\b|\{CHROOT\})")
ROOT = re.compile(r"CHROOT=[\"']?/install/netboot/([^/\s]+)/([^/\s]+)/([^/\s]+)/rootimg")
IMAGE = re.compile(r"([a-z]+[\d.]+)-([a-z0-9_]+)-(?:netboot|statelite)-([\w.-]+)$")


def images(recipe: Recipe) -> Iterator[Broken]:
    """The folder of a diskless image: set before it is used, and of the image that is packed."""
    if not is_commands(recipe):
        return
    every = commands(recipe)
    sets = [(at, word) for at, command in enumerate(every) if (word := root_of(command))]
    used = next(filter(None, map(first_use, every[: sets[0][0]])), None) if sets else None
    if used is not None and not is_set(recipe, used.line):
        yield used
    for at, word in sets:
        yield from other_root(recipe, every[at], word)


def root_of(command: Command) -> Word | None:
    """The word that gives CHROOT its value."""
    words = (*command.assignments, *command.words)
    return next((word for word in words if word.text.startswith("CHROOT=")), None)


def is_set(recipe: Recipe, line: int) -> bool:
    """Whether CHROOT gets a value above the line, in whatever form."""
    return any("CHROOT=" in text[:LONGEST_LINE] for text in recipe.lines[: line - 1])


def first_use(command: Command) -> Broken | None:
    """A command that names files below CHROOT."""
    for word in (*command.words, *(redirect.target for redirect in command.redirects)):
        if CHROOT.search(word.text):
            return Broken("chroot-before-set", word.line, word.column, word.text[:160])
    return None


def other_root(recipe: Recipe, command: Command, word: Word) -> Iterator[Broken]:
    """The images that are packed, of which none lies in the folder."""
    root = ROOT.match(word.text)
    names = [
        name
        for other in commands(recipe)
        if other.program in ("packimage", "genimage")
        for name in other.texts[1:]
    ]
    packed = {name: found.groups() for name in names if (found := IMAGE.match(name))}
    if root is not None and packed and root.groups() not in packed.values():
        seen = f"{word.text[:160]}, {next(iter(packed))}"
        yield on("image-other-root", recipe, command, word, seen)


PROMPT = re.compile(r"\s\\?\$>\s+(?=[a-z./])")


def prompts(recipe: Recipe) -> Iterator[Broken]:
    """``$> one $> two``, as a document's lines are joined."""
    if not is_commands(recipe):
        return
    for number, long in enumerate(recipe.lines, start=1):
        text = long[:LONGEST_LINE]
        first = text.find("$> ")
        if first < 0 or text[:first].strip(" \t\\-*•0123456789.)"):
            continue
        inside = PROMPT.search(text, first + 3)
        if inside is not None:
            fix = PROMPT.sub("\n" + text[: first + 3].replace("\\", "\\\\"), text)
            yield Broken("prompt-inside-line", number, inside.start() + 2, "", fix)


def irqbalance(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """The daemon's options given by hand."""
    if len(command.words) > 1 and command.last == command.line:
        line = WrittenLine(command.line, recipe.lines[command.line - 1])
        for option in irqbalance_file.OPTION.finditer(line.text, command.words[1].column - 1):
            yield from irqbalance_file.argument(line, option)


CHECKS = (
    repositories,
    images,
    prompts,
    by_program(
        {
            "systemctl": systemctl,
            "service": service,
            "opaconfig": opaconfig,
            "irqbalance": irqbalance,
        }
    ),
)
