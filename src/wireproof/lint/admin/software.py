# pure
"""Commands that install and start software (dnf, yum, systemctl, service, irqbalance, qcu64e), and
outputs that a recipe shows as proof (opainfo, ibstat, modinfo).
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain

from wireproof.lint.files.system import KEY, OPTION, argument
from wireproof.lint.fragments import LONGEST_LINE, WrittenLine
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.shell import Command, Word, at_word, broken, commands
from wireproof.lint.tables import listed, nearest

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

# --- Lines that are checked as written, because markup in them is not shell.

ADD_REPO = re.compile(r"\b(?:yum-)?config-manager\s+--add-repo(?:=|\s+)(\S.*)$")
ADDRESS = re.compile(r"(?:https?|ftp|file)://[^\s<>\"'`)]+")
PROMPT = re.compile(r"\s\\?\$>\s+(?=[a-z./])")
PROMPTED = listed("programs") | {"cd", "echo", "make", "tar", "wget"}
OFFLINE = re.compile(
    r"\s*(?:PhysicalState:\s*(?:Offline|Disabled|Polling|Training)"
    r"|PortState:\s*(?:Down|Init|Armed)|.{0,60}\bOfflineDisabledReason:)\b"
)
ENABLED_ONLY = re.compile(r"\s*LinkSpeed\s+En:\s*\S+\s+Sup:(?!.*\bAct:)")
IBSTAT = re.compile(r"\s*State:\s*(?:Initializing|Initialize|Down|Armed)\s*$")
PARAMETER = re.compile(r"\s*(?:parm:\s{0,30})?(hdrq_entsize|max_mtu)\s?:\s?\S")
OLD_DEFAULTS = {"hdrq_entsize": r"64B \(default\)", "max_mtu": r"default is 8192"}
# lines between two findings about ports: a listing contains several lines with the same mistake
APART = 4


def lines(recipe: Recipe) -> Iterator[Broken]:
    """Find commands with markup, several prompts in a line, and quoted output of tools."""
    seen_port = -10
    for number, long in enumerate(recipe.lines, start=1):
        text = long[:LONGEST_LINE]
        following = recipe.lines[number][:LONGEST_LINE] if number < len(recipe.lines) else ""
        found = ADD_REPO.search(text) if "config-manager" in text and "add" in text else None
        if found is not None:
            yield from repository(number, text, found)
        if _not_active(text, following) and number - seen_port > APART:
            seen_port, indent = number, len(text) - len(text.lstrip())
            yield Broken("port-not-active", number, indent + 1, text.strip()[:120])
        if "hdrq_entsize" in text or "max_mtu" in text:
            yield from _listing(number, text, following)
        if "$> " in text:
            yield from _prompts(number, text)


def _not_active(text: str, following: str) -> bool:
    """Return whether a line of opainfo or ibstat says that the port is not active."""
    if "LinkSpeed" in text:
        return ENABLED_ONLY.match(text) is not None
    if "State:" not in text and "Reason:" not in text:
        return False
    ibstat = IBSTAT.match(text) is not None and following.lstrip().startswith("Physical state:")
    return ibstat or OFFLINE.match(text) is not None


def _listing(number: int, text: str, following: str) -> Iterator[Broken]:
    """Find modinfo's description of two parameters; a document may wrap it to the next line."""
    found = PARAMETER.match(text)
    if found is None:
        return
    alone = "parm:" in following or not following.strip()
    whole = text if alone else f"{text.rstrip()} {following.strip()}"
    if re.search(OLD_DEFAULTS[found[1]], whole):
        yield Broken("listing-old-default", number, found.start(1) + 1, whole.strip()[:120])


def _prompts(number: int, text: str) -> Iterator[Broken]:
    """Find ``$> one $> two``: lines of a document that were joined."""
    first = text.find("$> ")
    bare = text.split()[0] in PROMPTED  # the first prompt was removed
    inside = PROMPT.search(text, 0 if bare else first + 3)
    if inside is not None and (bare or not text[:first].strip(" \t\\-*•0123456789.)")):
        head = "" if bare else text[: first + 3].replace("\\", "\\\\")
        fix = PROMPT.sub("\n" + head, text)
        yield Broken("prompt-inside-line", number, inside.start() + 2, "", fix)


def repository(number: int, text: str, found: re.Match[str]) -> Iterator[Broken]:
    """Find markup in the address of a repository, or the address of a key."""
    said = found.group(1).rstrip()
    addresses = list(dict.fromkeys(ADDRESS.findall(said)))
    keys = [address for address in addresses if KEY.search(address)]
    markup = "<" in said and ">" in said and "href" in said
    if markup or keys:
        place = next((address for address in addresses if address not in keys), None)
        fix = two_commands(text[: found.start(1)], place, keys[:1]) if place else None
        yield Broken("repository-command", number, found.start(1) + 1, said[:160], fix)


def two_commands(head: str, place: str, keys: list[str]) -> str:
    """Return the two commands: one adds the repository, a separate one imports its key."""
    begin = re.match(r"(.*?)(?:sudo\s+)?(?:dnf|yum)\b", head)
    indent = begin.group(1) if begin else ""
    return "\n".join([head + place, *(f"{indent}rpm --import {key}" for key in keys)])


# --- Services.


def systemctl(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Check the names of units."""
    verb = next((at for at, text in enumerate(command.texts) if text in VERBS), None)
    if verb is None or "mask" in command.texts[verb]:
        return
    for word in command.words[verb + 1 :]:
        yield from _unit(recipe, command, word)


def service(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Check ``service NAME start``."""
    if len(command.words) > 2:
        yield from _unit(recipe, command, command.words[1])


def _unit(recipe: Recipe, command: Command, word: Word) -> Iterator[Broken]:
    text, services = word.text, listed("services")
    name = text.removesuffix(".service")
    if text.startswith("-") or not re.fullmatch(r"[\w-]{3,40}", name) or name in services:
        return
    meant = MEANT.get(name) or nearest(name, services, 0.88)
    other = meant not in (name + "d", name.removesuffix("d"), name + "s")
    if meant and (other or name in MEANT):
        seen = f"{name}; nearest is {meant}" if other else ""
        edits = [(word, word.raw.replace(name, meant, 1))]
        yield broken("service-name", recipe, command, word, seen, edits)


def opaconfig(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Find ``opaconfig -E opafm``, unless a wrapper runs it on named nodes, or the text starts
    opafm on nodes.
    """
    wrapped = {"pdsh", "ssh", "clush", "xdsh", "psh"} & {word.text for word in command.outer}
    if {"-E", "opafm"} <= set(command.texts) and not wrapped and not _starts_opafm(recipe):
        first, *more = command.words
        edits = [(first, "systemctl enable --now opafm"), *((word, "") for word in more)]
        yield broken("fabric-manager-place", recipe, command, first, command.text, edits)


@lru_cache(maxsize=4)
def _starts_opafm(recipe: Recipe) -> bool:
    return any(
        "opafm" in command.texts and command.program == "systemctl" and command.outer
        for command in commands(recipe)
    )


CHROOT = re.compile(r"\$(?:CHROOT\b|\{CHROOT\})")
ROOT = re.compile(r"CHROOT=[\"']?/install/netboot/([^/\s]+)/([^/\s]+)/([^/\s]+)/rootimg")
IMAGE = re.compile(r"([a-z]+[\d.]+)-([a-z0-9_]+)-(?:netboot|statelite)-([\w.-]+)$")


def images(recipe: Recipe) -> Iterator[Broken]:
    """Check the folder of a diskless image: it must be set before its first use, and must be that
    of the packed image.
    """
    every = commands(recipe)
    sets = [(at, word) for at, command in enumerate(every) if (word := root_of(command))]
    words = chain.from_iterable(map(_named, every[: sets[0][0]] if sets else ()))
    used = next((word for word in words if CHROOT.search(word.text)), None)
    above = recipe.lines[: used.line - 1] if used else ()
    if used and not any("CHROOT=" in text[:LONGEST_LINE] for text in above):
        yield at_word("chroot-before-set", used, used.text[:160])
    packed = _packed(every) if sets else {}
    for at, word in sets:
        root = ROOT.match(word.text)
        if root is not None and packed and root.groups() not in packed.values():
            seen = f"{word.text[:160]}, {next(iter(packed))}"
            yield broken("image-other-root", recipe, every[at], word, seen)


def root_of(command: Command) -> Word | None:
    """Return the word that sets CHROOT."""
    words = (*command.assignments, *command.words)
    return next((word for word in words if word.text.startswith("CHROOT=")), None)


def _packed(every: Iterable[Command]) -> dict[str, tuple[str, ...]]:
    """Return the names of the images that the commands pack, with their parts."""
    packers = (command for command in every if command.program in ("packimage", "genimage"))
    names = (name for command in packers for name in command.texts[1:])
    return {name: found.groups() for name in names if (found := IMAGE.match(name))}


def _named(command: Command) -> tuple[Word, ...]:
    return (*command.words, *(redirect.target for redirect in command.redirects))


REBOOTS = ("reboot", "shutdown", "rpower", "ipmitool", "init")
QCU = re.compile(r"(?i)qcu(?:64e|32|w64e|w32)?(?:\.exe)?")
SET = re.compile(r"(?i)[/-]set(?:$|[=:\d])")
SOON = 3  # the reboot must follow /SET within this number of commands


def tools(recipe: Recipe) -> Iterator[Broken]:
    """Check qcu64e: find a change of mode without a reboot after it, and two folders for the same
    program.
    """
    everything = commands(recipe)
    uses: dict[str, Command] = {}
    for at, command in enumerate(everything):
        if QCU.fullmatch(command.program):
            nodes = _nodes(command, uses.get(command.program, command))
            later = [text for other in everything[at + 1 : at + 1 + SOON] for text in other.texts]
            if not any(text.rsplit("/", 1)[-1] in REBOOTS for text in later):
                yield from _no_reboot(recipe, command, nodes)
            yield from _folder(recipe, command, uses, nodes)


def _nodes(command: Command, earlier: Command) -> str:
    """Return the wrapper of the earlier use (``pdsh -w c[1-2] ``) if this use has none: it would
    change, and reboot, the head node.
    """
    return "" if command.outer else "".join(f"{word.raw} " for word in earlier.outer)


def _no_reboot(recipe: Recipe, command: Command, nodes: str) -> Iterator[Broken]:
    change = next((word for word in command.words if SET.match(word.text)), None)
    if change is None:
        return
    line, first = recipe.lines[command.line - 1], command.words[0]
    fix = None
    if command.line == command.last == first.line:
        head = line[: first.column - 1] + nodes
        fix = f"{head}{line[first.column - 1 :]}\n{head}reboot"
    yield Broken("qcu-reboot", change.line, change.column, command.text[:160], fix)


def _folder(
    recipe: Recipe, command: Command, uses: dict[str, Command], nodes: str
) -> Iterator[Broken]:
    """Find a second relative folder for a program; the first folder is assumed to be right."""
    word = command.words[0]
    path = word.text
    if not path.startswith((".", "~")) and "/" not in path:
        return
    first = uses.setdefault(command.program, command).words[0].text
    if path != first and not path.startswith("/") and not first.startswith("/"):
        seen, edits = f"{path}, before {first}", [(word, nodes + first)]
        yield broken("tool-two-folders", recipe, command, word, seen, edits)


def irqbalance(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Check options of the daemon on a command line."""
    if len(command.words) > 1 and command.last == command.line:
        line = WrittenLine(command.line, recipe.lines[command.line - 1])
        for option in OPTION.finditer(line.text, command.words[1].column - 1):
            yield from argument(line, option)


JUDGES = {
    "systemctl": systemctl,
    "service": service,
    "opaconfig": opaconfig,
    "irqbalance": irqbalance,
}
CHECKS = (lines, images, tools)
