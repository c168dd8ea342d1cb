"""Commands that set the kernel: modprobe, sysctl, grubby, grub2-mkconfig, dracut, and echo into
/proc and /sys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.admin import reach
from wireproof.lint.admin.by_program import by_program, on
from wireproof.lint.files.fragments import WrittenLine
from wireproof.lint.files.kernel import command_line as kernel_line
from wireproof.lint.files.kernel import modprobe as modprobe_file
from wireproof.lint.files.kernel import sysctl as sysctl_file
from wireproof.lint.files.nearest import nearest
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.shell import Command, Word
from wireproof.lint.tables import listed

__all__ = ["CHECKS"]

MODES = ("connected", "datagram")


def modprobe(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """The module's parameters, as in modprobe.d."""
    names = [word for word in command.words[1:] if not word.text.startswith(("-", "–", "—"))]
    if len(names) < 2 or {"-r", "--remove", "-a", "--all"} & set(command.texts):
        return
    module = names[0].text.replace("-", "_")
    for word in names[1:]:
        line = line_of(recipe, word)
        found = modprobe_file.WORD.match(line.text, word.column - 1)
        name, equals, value = word.text.partition("=")
        if found is None or found.group() != word.raw:
            continue
        if equals:
            yield from modprobe_file.parameter(line, found, module, name)
            yield from modprobe_file.values(line, found, (module, name), value, modprobe_file.LANES)
        else:
            yield from modprobe_file.bare(line, found, module)


def line_of(recipe: Recipe, word: Word) -> WrittenLine:
    """The line of a word."""
    return WrittenLine(word.line, recipe.lines[word.line - 1])


def sysctl(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """``sysctl -w name=value``: the words, then each setting as in sysctl.d."""
    words = [word for word in command.words[1:] if not word.text.startswith("-")]
    if {"-p", "-f", "--load", "--system", "-a"} & set(command.texts) or not words:
        return
    joined = one_setting([word.text for word in words])
    if joined:
        quoted = f"'{joined}'" if " " in joined else joined
        edits = [(words[0], quoted), *((word, "") for word in words[1:])]
        yield on("sysctl-command", recipe, command, words[0], command.text, edits)
        return
    for word in words:
        if "=" in word.text and "$" not in word.text:
            yield from setting(recipe, word, word.text)


def one_setting(texts: list[str]) -> str:
    """``name=value`` where the words are one that blanks have parted, else ""."""
    first, rest = texts[0], texts[1:]
    if not rest:
        return ""
    if first.endswith("="):
        return f"{first}{' '.join(rest)}"
    if rest[0] in ("=", "=="):
        return f"{first}={' '.join(rest[1:])}"
    numbers = all(re.fullmatch(r"[0-9]{1,19}", text) for text in rest)
    return f"{first} {' '.join(rest)}" if "=" in first and numbers else ""


def setting(recipe: Recipe, word: Word, text: str) -> Iterator[Broken]:
    """One ``name=value`` word judged as a line of sysctl.d; the fix puts it back into its
    quotes.
    """
    line = recipe.lines[word.line - 1]
    inside = word.raw.find(text)
    if inside < 0:
        return
    begin = word.column - 1 + inside
    parsed = sysctl_file.setting_of(
        WrittenLine(word.line, text, line[:begin], line[begin + len(text) :])
    )
    if parsed is not None:
        yield from sysctl_file.judge_setting(parsed)


def grubby(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """The parameters of --args."""
    for at, word in enumerate(command.words):
        value = (
            command.words[at + 1] if word.text == "--args" and at + 1 < len(command.words) else word
        )
        if word.text == "--args" or word.text.startswith("--args="):
            line = line_of(recipe, value)
            begin = value.column - 1 + (value.raw.find("=") + 1 if value is word else 0)
            end = value.column - 1 + len(value.raw)
            cut = WrittenLine(value.line, line.text[begin:end], line.text[:begin], line.text[end:])
            yield from kernel_line.judge_parameters(kernel_line.parameters(cut, 0))


def echo(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """``echo VALUE > FILE`` below /sys and /proc."""
    values = [word for word in command.words[1:] if not word.text.startswith("-")]
    for redirect in command.redirects:
        target, path = redirect.target, redirect.target.text
        system = path.startswith(("/sys/", "/proc/", "/etc/"))
        if redirect.operator not in (">", ">>") or not system:
            continue
        if command.outer and command.outer[-1].text == "sudo":
            yield on("echo-sudo", recipe, command, target, f"sudo echo … > {path[:100]}")
        if has_pattern(target):
            yield on("echo-many", recipe, command, target)
        if len(values) == 1 and "$" not in values[0].text:
            yield from written(recipe, command, values[0], path)


def has_pattern(target: Word) -> bool:
    """Whether the shell would look for several files."""
    # an array's [index] is no pattern
    literal = re.sub(r"\$\{[^}]{0,200}\}", "", target.raw)
    return literal[:1] not in ("'", '"') and bool(re.search(r"[*?]|\[[^]]{1,40}\]", literal))


def written(recipe: Recipe, command: Command, value: Word, path: str) -> Iterator[Broken]:
    """The value against the file."""
    if re.match(r"/sys/class/net/\w{1,15}/mode$", path):
        if value.text == "connected":
            yield on("ipoib-connected-mode", recipe, command, value, path, [(value, "datagram")])
        yield from chosen(recipe, command, value, path, frozenset(MODES))
    elif re.match(r"/sys/class/net/\w{1,15}/mtu$", path):
        yield from reach.mtu(recipe, command, path.split("/")[4], value)
    elif path.endswith("/scaling_governor"):
        yield from chosen(recipe, command, value, path, listed("governors"))
    elif path.startswith("/proc/sys/"):
        name = path.removeprefix("/proc/sys/").replace("/", ".")
        parsed = sysctl_file.setting_of(WrittenLine(value.line, f"{name}={value.text}"))
        for broken in sysctl_file.judge_setting(parsed) if parsed else ():
            yield Broken(broken.code, value.line, value.column, broken.seen)


def chosen(
    recipe: Recipe, command: Command, value: Word, path: str, choices: frozenset[str]
) -> Iterator[Broken]:
    """A value of which there are few."""
    if value.text not in choices:
        lower = value.text.lower()
        meant = lower if lower in choices else nearest(lower, choices, 0.6)
        fix = [(value, meant)] if meant else None
        yield on("echo-value", recipe, command, value, f"{value.text} into {path[:100]}", fix)


CHECKS = (
    by_program(
        {
            "modprobe": modprobe,
            "sysctl": sysctl,
            "grubby": grubby,
            "echo": echo,
        }
    ),
)
