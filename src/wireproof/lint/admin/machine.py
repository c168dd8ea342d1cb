# pure
"""Commands that configure a machine: the kernel (modprobe, sysctl, grubby, echo into /proc and
/sys) and the processor's clock (cpupower, tuned-adm).
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from wireproof.lint.admin.addresses import mtu
from wireproof.lint.files.kernel import WORD, judge_parameters, option, parameters
from wireproof.lint.files.sysctl import judge_setting, setting_of
from wireproof.lint.fragments import Part, WrittenLine
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.shell import Command, Edit, Word, broken
from wireproof.lint.tables import listed, nearest, spelled


def modprobe(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Check the module's parameters, as in modprobe.d."""
    names = [word for word in command.words[1:] if not word.text.startswith(("-", "–", "—"))]
    if len(names) < 2 or {"-r", "--remove", "-a", "--all"} & set(command.texts):
        return
    module = names[0].text.replace("-", "_")
    for word in names[1:]:
        line = WrittenLine(word.line, recipe.lines[word.line - 1])
        found = WORD.match(line.text, word.column - 1)
        if found is not None and found.group() == word.raw:
            yield from option(Part(line, found.start(), word.raw), word.text, module)


def sysctl(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Check the words of ``sysctl -w name=value``, then each setting as in sysctl.d."""
    words = [word for word in command.words[1:] if not word.text.startswith("-")]
    if {"-p", "-f", "--load", "--system", "-a"} & set(command.texts) or not words:
        return
    joined = _one_setting([word.text for word in words])
    if joined:
        quoted = f"'{joined}'" if " " in joined else joined
        edits = [(words[0], quoted), *((word, "") for word in words[1:])]
        yield broken("sysctl-command", recipe, command, words[0], command.text, edits)
        return
    for word in words:
        inside = word.raw.find(word.text)
        if "=" not in word.text or "$" in word.text or inside < 0:
            continue
        setting = setting_of(_cut(recipe, word, inside, inside + len(word.text)))
        if setting is not None:
            yield from judge_setting(setting)


def _one_setting(texts: list[str]) -> str:
    """Return ``name=value`` if the words are a single setting with spaces in it, else ""."""
    first, *rest = texts
    if rest and first.endswith("="):
        return f"{first}{' '.join(rest)}"
    if rest[:1] in (["="], ["=="]):
        return f"{first}={' '.join(rest[1:])}"
    numbers = rest and all(re.fullmatch(r"[0-9]{1,19}", text) for text in rest)
    return " ".join(texts) if "=" in first and numbers else ""


def _cut(recipe: Recipe, word: Word, begin: int, end: int) -> WrittenLine:
    """Return the part of a word from ``begin`` to ``end`` as a line of a file; a fix puts it back
    into the quotes.
    """
    line, start = recipe.lines[word.line - 1], word.column - 1
    before, after = line[: start + begin], line[start + end :]
    return WrittenLine(word.line, line[start + begin : start + end], before, after)


def grubby(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Check the parameters of --args."""
    words = command.words
    for at, word in enumerate(words):
        if word.text == "--args" or word.text.startswith("--args="):
            apart = word.text == "--args" and at + 1 < len(words)
            value = words[at + 1] if apart else word
            begin = 0 if apart else value.raw.find("=") + 1
            cut = _cut(recipe, value, begin, len(value.raw))
            yield from judge_parameters(parameters(cut, 0))


def echo(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Check ``echo VALUE > FILE`` below /sys and /proc."""
    values = [word for word in command.words[1:] if not word.text.startswith("-")]
    for redirect in command.redirects:
        target, path = redirect.target, redirect.target.text
        system = path.startswith(("/sys/", "/proc/", "/etc/"))
        if redirect.operator not in (">", ">>") or not system:
            continue
        if command.outer and command.outer[-1].text == "sudo":
            yield broken("echo-sudo", recipe, command, target, f"sudo echo … > {path[:100]}")
        if _has_pattern(target):
            yield broken("echo-many", recipe, command, target)
        if len(values) == 1 and "$" not in values[0].text:
            yield from _written(recipe, command, values[0], path)


def _has_pattern(target: Word) -> bool:
    """Return whether the shell would expand the target to several files."""
    # an array's [index] is not a pattern
    literal = re.sub(r"\$\{[^}]{0,200}\}", "", target.raw)
    return literal[:1] not in ("'", '"') and bool(re.search(r"[*?]|\[[^]]{1,40}\]", literal))


def _written(recipe: Recipe, command: Command, value: Word, path: str) -> Iterator[Broken]:
    if re.match(r"/sys/class/net/\w{1,15}/mode$", path):
        if value.text == "connected":
            yield broken("ipoib-connected-mode", recipe, command, value, path)
        yield from _chosen(recipe, command, value, path, frozenset(("connected", "datagram")))
    elif re.match(r"/sys/class/net/\w{1,15}/mtu$", path):
        yield from mtu(recipe, command, path.split("/")[4], value)
    elif path.endswith("/scaling_governor"):
        yield from _chosen(recipe, command, value, path, listed("governors"))
    elif path.startswith("/proc/sys/"):
        name = path.removeprefix("/proc/sys/").replace("/", ".")
        setting = setting_of(WrittenLine(value.line, f"{name}={value.text}"))
        for found in judge_setting(setting) if setting else ():
            yield Broken(found.code, value.line, value.column, found.seen)


def _chosen(
    recipe: Recipe, command: Command, value: Word, path: str, choices: frozenset[str]
) -> Iterator[Broken]:
    """Check a value that must be one of a few choices."""
    if value.text not in choices:
        meant = spelled(value.text.lower(), choices, 0.6)
        fix = [(value, meant)] if meant else None
        seen = f"{value.text} into {path[:100]}"
        yield broken("echo-value", recipe, command, value, seen, fix)


# --- The processor's clock.

FREQUENCY = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([kKmMgGtT]?)(?:[hH][zZ])?$")
SCALE = {"": 1.0, "k": 1.0, "m": 1e3, "g": 1e6, "t": 1e9}  # in kHz: the unit that cpupower assumes


def cpupower(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Check a cpupower command. A single fix contains all corrections of its options; typographic
    dashes alone have a separate rule.
    """
    rights = [(word, _option(word.text)) for word in command.words[1:]]
    edits: list[Edit] = [(word, right) for word, right in rights if right != word.text]
    governor, known = _governor(command), listed("governors")
    wrong = [word for word, _ in edits if word is not governor and word.text.startswith("-")]
    if governor is not None:
        meant = spelled(governor.text.lower(), known, 0.7)
        edits.append((governor, meant or governor.raw))
    if wrong:
        seen = " ".join(word.text for word in wrong)
        yield broken("cpupower-option", recipe, command, wrong[0], seen, edits)
    if governor is not None:
        fix = edits if edits[-1][1] in known else None
        yield broken("cpupower-governor", recipe, command, governor, "", fix)
    yield from _order(recipe, command)
    yield from _limits(recipe, command)


def _option(text: str) -> str:
    """Return an option in the form that cpupower needs: ``–min`` and ``-min`` become ``--min``,
    ``–c`` becomes ``-c``.
    """
    found = re.match(r"([-–—−]+)([A-Za-z][\w-]*)(=.*)?$", text)
    if found is None:
        return text
    dashes, name, value = found.groups("")
    if len(name) == 1:
        return f"-{name}{value}"
    long = name in listed("cpupower-options") or dashes[0] != "-"
    return f"--{name}{value}" if long else text


def _governor(command: Command) -> Word | None:
    """Return the word of the governor if no such governor exists."""
    for word, value in pairwise(command.words):
        if _option(word.text) in ("-g", "--governor"):
            known = value.text in listed("governors") or not re.match(r"[A-Za-z]+$", value.text)
            return None if known else value
    return None


def _order(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Find ``frequency-set -c all``, or the first word that resembles a subcommand, such as
    ``frequency_set``.
    """
    words, subcommands = command.words, listed("cpupower-subcommands")
    at = next((at for at, word in enumerate(words) if word.text in subcommands), None)
    if at is None:
        for word in words[1:]:
            meant = spelled(word.text.replace("_", "-"), subcommands, 0.85)
            if meant and not word.text.startswith("-"):
                yield broken("cpupower-option", recipe, command, word, "", [(word, meant)])
                return
    elif words[at].text.startswith("frequency"):
        for flag, cpus in pairwise(words[at + 1 :]):
            if _option(flag.text) in ("-c", "--cpu"):
                name = words[at].text
                edits = [(words[at], f"-c {cpus.raw} {name}"), (flag, ""), (cpus, "")]
                seen = f"{name} -c {cpus.text}"
                yield broken("cpupower-order", recipe, command, flag, seen, edits)
                return


def _limits(recipe: Recipe, command: Command) -> Iterator[Broken]:
    values: dict[str, Word] = {}
    for word, value in pairwise(command.words):
        name = {"-d": "--min", "-u": "--max"}.get(_option(word.text), _option(word.text))
        values.setdefault(name, value)
    if "--min" in values and "--max" in values:
        word, most = values["--min"], values["--max"]
        low, high = _kilohertz(word.text), _kilohertz(most.text)
        if low is not None and high is not None and low > high:
            seen = f"{word.text} > {most.text}"
            yield broken("cpupower-frequency", recipe, command, word, seen)


def _kilohertz(text: str) -> float | None:
    found = FREQUENCY.match(text)
    return float(found[1]) * SCALE[found[2].lower()] if found else None


def tuned(recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Check a tuned-adm command."""
    first, profiles = command.words[1:2], listed("tuned-profiles")
    if command.texts[1:2] == ("profile",):
        for word in command.words[2:]:
            text, meant = word.text, nearest(word.text, profiles, 0.85)
            # a word that begins with a known name, or is the beginning of one, may belong to a site
            if meant and "-" in meant and not (meant.startswith(text) or text.startswith(meant)):
                seen = f"{text}; nearest is {meant}"
                yield broken("tuned-profile", recipe, command, word, seen, [(word, meant)])
    elif first and first[0].text in profiles:
        edits = [(first[0], f"profile {first[0].raw}")]
        yield broken("tuned-profile", recipe, command, first[0], "", edits)


JUDGES = {
    "modprobe": modprobe,
    "sysctl": sysctl,
    "grubby": grubby,
    "echo": echo,
    "cpupower": cpupower,
    "tuned-adm": tuned,
}
