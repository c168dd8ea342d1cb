"""Detect the kind of a recipe by its path, else by the form of its lines."""

import re
from collections.abc import Iterator
from typing import get_args

from wireproof.lint.rule import Kind, Recipe

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
    (r"(^|/)fstab$|/exports$|/exports\.d/[^/]*$", "fstab"),
    (r"(^|/)etc/hosts$|^hosts$", "hosts"),
    (
        r"(^|/)(hostfile|machinefile|hosts?file[^/]*|machines?)(\.txt)?$|\.(hostfile|machinefile)$",
        "hostfile",
    ),
    (r"\.toml$", "toml"),
    (
        (
            r"\.(sh|bash|zsh|ksh|csh|sbatch|slurm|job|batch|pbs|lsf|qsub|cmd)$|(^|/)\.?bash(rc"
            r"|_profile)$"
        ),
        "script",
    ),
)
_BY_NAME = tuple((re.compile(pattern), kind) for pattern, kind in _NAMES)

_IFCFG = (
    r"(ONBOOT|NM_CONTROLLED|MTU|CONNECTED_MODE|BOOTPROTO|IPADDR\d?|NETMASK\d?|PREFIX\d?|DEVICE"
    r"|HWADDR|GATEWAY|"
    r"TYPE|NAME|UUID|USERCTL|PEERDNS|DEFROUTE|BONDING_OPTS|ETHTOOL_OPTS|BROADCAST|NETWORK)="
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
    (_IFCFG, "ifcfg"),
    (r"(baseurl|gpgkey|gpgcheck|mirrorlist|metalink|repo_gpgcheck)\s*=", "repository"),
    (
        r"\S+\s+/\S*\s+(nfs4?|lustre|ext[34]|xfs|tmpfs|beegfs|btrfs|vfat)\s+\S+(\s+\d\s+\d)?\s*$",
        "fstab",
    ),
    (r"(\d{1,3}\.){3}\d{1,3}\s+[A-Za-z][\w.-]*(\s+[\w.-]+)*\s*$", "hosts"),
)
_BY_LINE = tuple((re.compile(r"\s{0,200}(?:" + pattern + ")"), kind) for pattern, kind in _LINES)
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
    return next((kind for pattern, kind in _BY_NAME if pattern.search(path)), None)


def kind_of_line(line: str) -> Kind | None:
    """Return the kind of configuration file that a line may come from."""
    head = line[:LONGEST]
    return next((kind for pattern, kind in _BY_LINE if pattern.match(head)), None)


def detected(name: str, lines: tuple[str, ...]) -> Kind:
    """Return the kind of a file. ``unknown`` means a document, whose lines are tried one by one
    (``views``).
    """
    kind = kind_of_name(name)
    if kind is not None:
        return kind
    if _begins_as_script(lines):
        return "unknown" if any(line.startswith("```") for line in lines) else "script"
    content = [line for line in lines if line.strip() and not line.lstrip().startswith(("#", ";"))]
    kind = _kind_of_sections(content)
    if kind is not None:
        return kind
    kinds = {kind_of_line(line) for line in content}
    only = next(iter(kinds), None)
    return only if len(kinds) == 1 and only is not None else "unknown"


def _begins_as_script(lines: tuple[str, ...]) -> bool:
    first = next((line for line in lines if line.strip()), "")
    return first.lstrip("\ufeff").startswith("#!") or any(
        line.startswith("#SBATCH") for line in lines
    )


def _kind_of_sections(content: list[str]) -> Kind | None:
    """Return the kind by the ``[section]`` lines and the lines below them."""
    sections = {line.strip() for line in content if _SECTION.match(line)}
    if sections and any(_SOURCE.match(line[:200]) for line in content):
        return "repository"
    return "keyfile" if sections & {"[connection]", "[ipv4]"} else None


def views(recipe: Recipe) -> Iterator[Recipe]:
    """Return the recipe as each kind that it contains. A document is read as a script, and its
    lines that look like lines of a configuration file are such a file; the other lines are blank
    there, so that line numbers stay the same.
    """
    if recipe.kind != "unknown":
        yield recipe
        return
    yield Recipe(recipe.name, "script", recipe.lines)
    groups: dict[Kind, list[tuple[int, str]]] = {}
    for at, line in enumerate(recipe.lines):
        kind = kind_of_line(line)
        if kind is not None:
            groups.setdefault(kind, []).append((at, line))
    for kind, members in groups.items():
        lines = [""] * len(recipe.lines)
        for at, line in members:
            lines[at] = line
        yield Recipe(recipe.name, kind, tuple(lines))
