# pure
"""Rules and their rows as data, and the checks that find where a rule is broken."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Annotated, ClassVar, Literal, get_args

import msgspec

from wireproof.model import gathered

Kind = Literal[
    "script",  # shell and batch scripts, command lines
    "modprobe",
    "sysctl",
    "limits",
    "ifcfg",
    "keyfile",
    "irqbalance",
    "kernel-command-line",
    "repository",
    "fstab",
    "hosts",
    "hostfile",
    "openmpi",
    "opensm",
    "partitions",
    "slurm",
    "udev",
    "toml",
    "unknown",
]
CONFIGURATION_FILES: tuple[Kind, ...] = (
    *("modprobe", "sysctl", "limits", "ifcfg", "keyfile", "irqbalance"),
    *("kernel-command-line", "repository", "fstab", "hosts"),
    *("hostfile", "openmpi", "opensm", "partitions", "slurm", "udev"),
)


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A rule. ``sentence`` describes the mistake, ``why`` its consequence, ``right`` the correct
    form, ``source`` the documentation. ``safe``: ``--fix`` may write the corrected line.
    ``severity`` ``warning``: the line may be intended. ``setting``: the entry of the catalogue of
    settings that the rule is about, if any.
    """

    code: str
    sentence: str
    why: str
    right: str
    source: str
    kinds: tuple[Kind, ...] = ("script",)
    severity: Literal["error", "warning"] = "error"
    safe: bool = False
    setting: str = ""


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the compiled pattern of a row."""
    return re.compile(pattern, re.DOTALL)


def filled(template: str, **values: str) -> str:
    """Return ``template`` with the names in braces replaced by their values."""
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A way to break the rule ``code``. ``change`` replaces the text that the row's pattern
    matches, with the groups of the pattern as ``\\1``; without it a person must decide. ``seen`` is
    added to the message, with the names in braces filled in. The row applies only to recipes with a
    line that matches ``beside`` and without a line that matches ``elsewhere``; ``{device}`` in
    ``beside`` is the second argument of the command.
    """

    FILLED: ClassVar[tuple[str, ...]] = ()
    PATTERNS: ClassVar[tuple[str, ...]] = ()
    """The fields that are regular expressions; the field whose match is changed comes first."""
    code: str
    change: str | None = None
    seen: str = ""
    beside: str = ""
    elsewhere: str = ""

    def fits(self, recipe: "Recipe", device: str = "") -> bool:
        """Return whether the row applies to a recipe."""
        beside = not self.beside or _is_anywhere(
            recipe, filled(self.beside, device=re.escape(device))
        )
        return beside and not (self.elsewhere and _is_anywhere(recipe, self.elsewhere))

    def __post_init__(self) -> None:
        """Raise ValueError with the name of the field if it is not a regular expression, or if
        ``change`` or ``seen`` uses a group that the pattern lacks.
        """
        for name in (*self.PATTERNS, "beside", "elsewhere"):
            try:
                pattern = compiled(getattr(self, name))
            except (re.error, RecursionError, OverflowError) as error:
                raise ValueError(f"{name!r} is not a regular expression: {error}") from error
            if name == self.PATTERNS[0]:
                self._check_groups(pattern)

    def _check_groups(self, pattern: re.Pattern[str]) -> None:
        for name in ("change", "seen"):
            try:
                pattern.sub(getattr(self, name) or "", "")
            except (re.error, IndexError) as error:
                raise ValueError(f"{name!r} does not fit the pattern: {error}") from error
        unknown = set(re.findall(r"\{(\w*)\}", self.seen)) - set(self.FILLED)
        if unknown:
            known = ", ".join(f"{{{name}}}" for name in self.FILLED)
            raise ValueError(f"'seen' has {{{min(unknown)}}}: it knows {known}")


class LineRow(_Row, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Every match of ``match`` in a line, unless the line also matches ``unless``. ``seen`` may
    contain ``{match}``.
    """

    FILLED = ("match",)
    PATTERNS = ("match", "unless")
    match: str
    unless: str = ""


class VariableRow(_Row, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A variable whose whole name matches ``name``. It is wrong if its value matches ``value``, or
    does not match ``allowed``; without both it is always wrong. A row about values applies only to
    variables that are set by the method ``how`` (``export``; "": any), and not to jobs whose text
    matches ``unless``; its ``change`` replaces the value. ``right`` replaces that of the rule.
    ``seen``, ``right`` and ``change`` may contain ``{name}`` and ``{value}``.
    """

    FILLED = ("name", "value")
    PATTERNS = ("name", "value", "allowed", "unless")
    name: str
    value: str = ""
    allowed: str = ""
    how: str = ""
    unless: str = ""
    right: str = ""

    def forbids(self, name: str) -> bool:
        """Return whether a variable breaks the rule with any value."""
        whole = not self.value and not self.allowed
        return whole and compiled(self.name).fullmatch(name) is not None

    def hits(self, name: str, value: str) -> bool:
        """Return whether a variable breaks the rule with this value."""
        if not (self.value or self.allowed) or not compiled(self.name).fullmatch(name):
            return False
        wrong = not self.value or compiled(self.value).fullmatch(value)
        return bool(wrong) and not (self.allowed and compiled(self.allowed).fullmatch(value))


_Number = Annotated[int, msgspec.Meta(ge=0)]


class CommandRow(_Row, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A command whose program matches ``program`` and whose text matches ``where``, but not
    ``unless``, below a line that matches ``after``. The checked words are the values of ``option``,
    or the word at ``place``, or, with ``word``, all words, else the program. A word is wrong if it
    matches ``word``, but not ``allowed`` or one of ``choices``, and, with ``below``, if it is a
    number below it. The most similar of ``choices`` replaces it, or the word from ``meant``.
    ``seen`` may contain ``{word}``, ``{command}``, ``{program}`` and ``{values}``, the number of
    values between commas.
    """

    FILLED = ("word", "command", "program", "values")
    PATTERNS = ("word", "program", "where", "unless", "after", "allowed")
    program: str
    where: str = ""
    unless: str = ""
    after: str = ""
    option: tuple[str, ...] = ()
    place: _Number = 0
    word: str = ""
    allowed: str = ""
    choices: tuple[str, ...] = ()
    meant: dict[str, str] = {}
    likeness: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.6
    below: _Number = 0

    def hit(self, raw: str, text: str) -> re.Match[str] | None:
        """Return the match of the pattern in a wrong word, as written (``raw``) if the pattern
        matches that. The value of a variable is unknown.
        """
        judged = bool(self.allowed or self.choices)
        if judged and ("$" in text or text in self.choices):
            return None
        if self.allowed and compiled(self.allowed).fullmatch(text):
            return None
        if self.below and not (text.isascii() and text.isdigit() and int(text[:18]) < self.below):
            return None
        pattern = compiled(self.word or ".*")
        return pattern.fullmatch(raw) or pattern.fullmatch(text)


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """A file. ``lines`` are without line endings, as they are in the file; ``kind`` is as detected.

    Recipes are compared by identity: data cached for a recipe is looked up for each of its
    commands, and a hash of all lines would take quadratic time.
    """

    name: str
    kind: Kind
    lines: tuple[str, ...]


@lru_cache(maxsize=256)
def _is_anywhere(recipe: Recipe, pattern: str) -> bool:
    """Return whether any line matches. Cached, because every command repeats this for the same
    recipe.
    """
    search = compiled(pattern).search
    return any(search(line[:LONGEST]) for line in recipe.lines)


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that is broken at ``line`` and ``column`` (from 1). ``seen`` is part of the message.
    ``fix`` is the corrected line (several are joined by newlines), None if a person must decide;
    ``last`` is the last line that the fix replaces if it replaces more than ``line``. ``right``
    replaces that of the rule if the right form depends on the text.
    """

    code: str
    line: int
    column: int
    seen: str = ""
    fix: str | None = None
    last: int | None = None
    right: str = ""


Check = Callable[[Recipe], Iterator[Broken]]
"""A pure function that reads a recipe of the kinds that its rules list, and yields the broken
rules.
"""


# --- The kind of a recipe, by its path, else by the form of its lines.


KINDS: tuple[Kind, ...] = get_args(Kind)

_NAMES: tuple[tuple[str, Kind], ...] = (
    (r"modprobe\.d/[^/]*$|(^|/)modprobe\.conf$", "modprobe"),
    (r"sysctl\.d/[^/]*$|(^|/)sysctl\.conf$", "sysctl"),
    (r"limits\.d/[^/]*$|(^|/)limits\.conf$", "limits"),
    (r"(^|/)(ifcfg|route)-[^/]+$", "ifcfg"),
    (r"\.nmconnection$|system-connections/[^/]*$", "keyfile"),
    (r"(sysconfig|default)/irqbalance$|(^|/)irqbalance(\.conf|\.env)?$", "irqbalance"),
    (
        r"default/grub$|grub\.d/[^/]*\.cfg$|(^|/)(kernel/|proc/)cmdline$|loader/entries/[^/]*$",
        "kernel-command-line",
    ),
    (r"\.repo$", "repository"),
    (r"(^|/)(fstab|exports)$|/exports\.d/[^/]*$", "fstab"),
    (r"(^|/)etc/hosts$|^hosts$", "hosts"),
    (
        r"(^|/)(hostfile|machinefile|hosts?file[^/]*|machines?)(\.txt)?$|\.(hostfile|machinefile)$",
        "hostfile",
    ),
    (r"(^|/)(openmpi|prte|pmix)-mca-params\.conf$|/mca-params\.conf$", "openmpi"),
    (r"(^|/)opensm\.(conf|opts)$", "opensm"),
    (r"(^|/)partitions\.conf$", "partitions"),
    (r"(^|/)slurm\.conf$", "slurm"),
    (r"rules\.d/[^/]*\.rules$", "udev"),
    (r"(^|/)ucx\.conf$", "script"),
    (r"\.toml$", "toml"),
    (
        (
            r"\.(sh|bash|zsh|ksh|csh|sbatch|slurm|job|batch|pbs|lsf|qsub|cmd)$|(^|/)\.?bash(rc"
            r"|_profile)$"
        ),
        "script",
    ),
)

# The form of a line of each kind, for texts whose name gives no hint. The first match counts.
_LINES: tuple[tuple[str, Kind], ...] = (
    (
        (
            r"(options|blacklist|install|remove|alias|softdep)\s+[\w-]+(\s+\S*=|\s*$|\s+/|\s+(pre"
            r"|post):)"
        ),
        "modprobe",
    ),
    (r"-?(net|kernel|vm|fs|dev|sunrpc)[./][\w./*-]+\s*=", "sysctl"),
    (
        (
            r"(\*|@?[\w.-]+)\s+(soft|hard|-)\s+(memlock|nofile|stack|nproc|core|as|rss|rtprio"
            r"|priority|data|cpu)\b"
        ),
        "limits",
    ),
    (r"(IRQBALANCE_[A-Z_]+|OPTIONS)=.*(--?\w|$)|IRQBALANCE_[A-Z_]+=", "irqbalance"),
    (r"GRUB_[A-Z_]+=", "kernel-command-line"),
    (r"(BOOT_IMAGE=\S+|options root=|linux(16|efi)?\s+/\S+)\s", "kernel-command-line"),
    (
        (
            r"(ONBOOT|NM_CONTROLLED|MTU|CONNECTED_MODE|BOOTPROTO|IPADDR\d?|NETMASK\d?|PREFIX\d?"
            r"|DEVICE|HWADDR|GATEWAY|TYPE|NAME|UUID|USERCTL|PEERDNS|DEFROUTE|BONDING_OPTS"
            r"|ETHTOOL_OPTS|BROADCAST|NETWORK)="
        ),
        "ifcfg",
    ),
    (r"(baseurl|gpgkey|gpgcheck|mirrorlist|metalink|repo_gpgcheck)\s*=", "repository"),
    (
        r"\S+\s+/\S*\s+(nfs4?|lustre|ext[34]|xfs|tmpfs|beegfs|btrfs|vfat)\s+\S+(\s+\d\s+\d)?\s*$",
        "fstab",
    ),
    (r"(\d{1,3}\.){3}\d{1,3}\s+[A-Za-z][\w.-]*(\s+[\w.-]+)*\s*$", "hosts"),
)
_BY_LINE = tuple((re.compile(r"\s{0,200}(?:" + pattern + ")"), kind) for pattern, kind in _LINES)
_CONTENT: dict[Kind, str] = {
    "modprobe": r"(options|blacklist|install|remove|alias|softdep)\s+\S",
    "sysctl": r"-?[\w./*-]+\s*=|-[\w./*-]+\s*$",
    "limits": r"\S+\s+(soft|hard|-)\s+\S",
    "ifcfg": r"(export\s+)?[A-Z]\w*=|\S+\s+(via|dev)\s|(default|[\da-f.:]+/\d+)\s",
    "keyfile": r"\[[\w .-]+\]\s*$|[\w.-]+\s*=",
    "irqbalance": r"(export\s+)?[A-Z]\w*=",
    "kernel-command-line": r"[^=]*[\w.]=|.*\b(ro|rw|quiet|nosmt)\b",
    "repository": r"\[[\w .-]+\]\s*$|\w+\s*=",
    "fstab": r"\S+\s+(/|none\s|swap\s|\S*\()|/\S*\s+\*",
    "hostfile": r"[\w.-]+(:\d+)?(\s+[\w-]+\s*[=: ]\s*\d+)*\s*(#.*)?$",
    "openmpi": r"\w+\s*=",
    "opensm": r"(\w+_\w+|guid|lmc|qos|daemon)\s+\S",
    "partitions": r"[^#]*[:=]",
    "slurm": r"\w+\s*=",
    "udev": r"[A-Z]+[\w{}]*\s*[=!:+]=?",
    "hosts": r"(\d{1,3}(\.\d{1,3}){3}|[\da-fA-F]*:[\da-fA-F:.]+)\s+\S",
}
"""The form of a line that the checks of a kind read; it is more tolerant than the form that
identifies the kind.
"""
_SOURCE = re.compile(r"\s*(baseurl|mirrorlist|metalink)\s*=")
_SECTION = re.compile(r"\s*\[[\w .-]{1,64}\]\s*$")
LONGEST = 4000
"""No line of a configuration file is longer; longer lines are read up to this length."""


def kind_of_name(name: str) -> Kind | None:
    """Return the kind by the path; None if it gives no hint. ``name`` may be a URL or have a suffix
    ``.bak``, ``.orig``.
    """
    path = name[-1000:].replace("\\", "/")
    path = re.sub(r"\.(bak|orig|old|rpmnew|rpmsave|template|in|j2)$", "", path)
    return next((kind for pattern, kind in _NAMES if compiled(pattern).search(path)), None)


def kind_of_line(line: str) -> Kind | None:
    """Return the kind of configuration file that a line may come from."""
    head = line[:LONGEST]
    return next((kind for pattern, kind in _BY_LINE if pattern.match(head)), None)


def has_content(kind: Kind, lines: tuple[str, ...]) -> bool:
    """Return whether a line is of a configuration file of this kind. Also True if no form of lines
    is known for the kind.
    """
    form = _CONTENT.get(kind)
    content = (line[:LONGEST] for line in lines if not line.lstrip().startswith(("#", ";")))
    return form is None or any(re.match(rf"\s{{0,200}}(?:{form})", line) for line in content)


def detected(name: str, lines: tuple[str, ...]) -> Kind:
    """Return the kind of a file. ``unknown`` means a document, whose lines are tried one by one
    (``views``).
    """
    if kind := kind_of_name(name):
        return kind
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip("\ufeff").startswith("#!") or any(each.startswith("#SBATCH") for each in lines):
        return "unknown" if any(line.startswith("```") for line in lines) else "script"
    return _kind_of_content(
        [line for line in lines if line.strip() and not line.lstrip().startswith(("#", ";"))]
    )


def _kind_of_content(content: list[str]) -> Kind:
    """Return the kind by ``[section]`` lines and the lines below them, or the form of all lines."""
    sections = {line.strip() for line in content if _SECTION.match(line)}
    if sections and any(_SOURCE.match(line[:200]) for line in content):
        return "repository"
    if sections & {"[connection]", "[ipv4]"}:
        return "keyfile"
    kinds = {kind_of_line(line) for line in content}
    return (kinds.pop() if len(kinds) == 1 else None) or "unknown"


def views(recipe: Recipe) -> Iterator[Recipe]:
    """Return the recipe as each kind that it contains. A document is read as a script, and its
    lines that look like lines of a configuration file are also read as such a file; the other lines
    are blank there, so that line numbers stay the same.
    """
    if recipe.kind != "unknown":
        yield recipe
        return
    yield Recipe(recipe.name, "script", recipe.lines)
    groups = gathered(
        (kind, (at, line))
        for at, line in enumerate(recipe.lines)
        if (kind := kind_of_line(line)) is not None
    )
    for kind, members in groups.items():
        lines = [""] * len(recipe.lines)
        for at, line in members:
            lines[at] = line
        yield Recipe(recipe.name, kind, tuple(lines))
