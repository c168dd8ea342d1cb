"""The fabric's own tools, and outputs that a recipe shows as proof: opainfo, ibstat, modinfo,
qcu64e, mlnx_qos.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.admin.by_program import is_commands, on
from wireproof.lint.files.fragments import LONGEST_LINE
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.shell import Command, Word, commands

__all__ = ["CHECKS"]

OFFLINE = re.compile(
    r"\s*(?:PhysicalState:\s*(?:Offline|Disabled|Polling|Training)"
    r"|PortState:\s*(?:Down|Init|Armed)|.{0,60}\bOfflineDisabledReason:)\b"
)
ENABLED_ONLY = re.compile(r"\s*LinkSpeed\s+En:\s*\S+\s+Sup:(?!.*\bAct:)")
IBSTAT = re.compile(r"\s*State:\s*(?:Initializing|Initialize|Down|Armed)\s*$")
PARAMETER = re.compile(r"\s*(?:parm:\s{0,30})?(hdrq_entsize|max_mtu)\s?:\s?\S")
REBOOTS = ("reboot", "shutdown", "rpower", "ipmitool", "init")
SOON = 3  # commands behind /SET within which the reboot must come


def outputs(recipe: Recipe) -> Iterator[Broken]:
    """Lines that tools printed."""
    if not is_commands(recipe):
        return
    seen_port = -10
    for number, long in enumerate(recipe.lines, start=1):
        text = long[:LONGEST_LINE]
        if not_active(recipe, number, text) and number - seen_port > 4:
            seen_port = number
            yield Broken(
                "port-not-active", number, len(text) - len(text.lstrip()) + 1, text.strip()[:120]
            )
        if "hdrq_entsize" in text or "max_mtu" in text:
            yield from listing(recipe, number, text)


def not_active(recipe: Recipe, number: int, text: str) -> bool:
    """Whether a line is of opainfo or ibstat and says that the port is not active."""
    if "LinkSpeed" in text:
        return ENABLED_ONLY.match(text) is not None
    if "State:" not in text and "Reason:" not in text:
        return False
    after = recipe.lines[number] if number < len(recipe.lines) else ""
    ibstat = IBSTAT.match(text) is not None and after.lstrip().startswith("Physical state:")
    return ibstat or OFFLINE.match(text) is not None


def listing(recipe: Recipe, number: int, text: str) -> Iterator[Broken]:
    """modinfo's description of two parameters; a document wraps it to the next line."""
    found = PARAMETER.match(text)
    if found is None:
        return
    after = recipe.lines[number][:LONGEST_LINE] if number < len(recipe.lines) else ""
    whole = text if "parm:" in after or not after.strip() else f"{text.rstrip()} {after.strip()}"
    old = {"hdrq_entsize": r"64B \(default\)", "max_mtu": r"default is 8192"}[found.group(1)]
    if re.search(old, whole):
        yield Broken("listing-old-default", number, found.start(1) + 1, whole.strip()[:120])


def tools(recipe: Recipe) -> Iterator[Broken]:
    """qcu64e."""
    if not is_commands(recipe):
        return
    everything = commands(recipe)
    folders: dict[str, Word] = {}
    for at, command in enumerate(everything):
        if re.match(r"qcu(?:64e|32)?$", command.program):
            yield from qcu(recipe, everything, at)
            yield from folder(recipe, command, folders)


def qcu(recipe: Recipe, everything: list[Command], at: int) -> Iterator[Broken]:
    """A change of mode without a reboot behind it."""
    command = everything[at]
    change = next((word for word in command.words if word.text.upper() == "/SET"), None)
    if change is None:
        return
    later = [text for other in everything[at + 1 : at + 1 + SOON] for text in other.texts]
    if not any(text.rsplit("/", 1)[-1] in REBOOTS for text in later):
        start = command.words[0].column - 1
        line = recipe.lines[command.line - 1]
        fix = (
            f"{line}\n{line[:start]}reboot"
            if command.line == command.last == command.words[0].line
            else None
        )
        yield Broken("qcu-reboot", change.line, change.column, command.text[:160], fix)


def folder(recipe: Recipe, command: Command, folders: dict[str, Word]) -> Iterator[Broken]:
    """A second relative folder for one program; the first one named is taken for right."""
    word = command.words[0]
    path = word.text
    if not path.startswith((".", "~")) and "/" not in path:
        return
    first = folders.setdefault(command.program, word)
    if path != first.text and not path.startswith("/") and not first.text.startswith("/"):
        yield on(
            "tool-two-folders",
            recipe,
            command,
            word,
            f"{path}, before {first.text}",
            [(word, first.text)],
        )


CHECKS = (outputs, tools)
