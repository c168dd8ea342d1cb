"""A profile of tuned: tuned.conf with the values; tuned itself brings the old ones back. Pure.

Sections after the plugins sysctl, sysfs and net of tuned's own documentation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from wireproof.audit.remedy import sysctl_name
from wireproof.model.change import Change
from wireproof.model.tuning import HostPlan
from wireproof.tune.export.comments import head, left_out

__all__ = ["tmpfiles", "tuned"]

_OPTIONS = {"-K": "features", "-C": "coalesce", "-A": "pause", "-G": "ring", "-L": "channels"}
"""ethtool's option to that of the plugin net."""


def tuned(plan: HostPlan, hosts: Sequence[str], profile: str) -> str:
    """The text for /etc/tuned/profiles/wireproof/tuned.conf."""
    changes = [one.change for one in plan.changes]
    others = [one for one in changes if _is_other(one)]
    lines = [head(hosts, profile), *left_out(plan, others)]
    lines += ["", "[main]", f"summary=Settings for {profile} by wireproof"]
    mine = [one for one in changes if one not in others]
    return "\n".join([*lines, *_sections(mine), ""])


def _is_other(one: Change) -> bool:
    """``${`` in a value: tuned would take it for a variable or a function, which can run
    commands.
    """
    return "${" in one.value or (one.kind != "file" and _net(one) is None)


def _sections(changes: Sequence[Change]) -> Iterator[str]:
    files = [one for one in changes if one.kind == "file"]
    for name, prefix in (("sysctl", "/proc/sys/"), ("sysfs", "/sys/")):
        mine = [one for one in files if one.path.startswith(prefix)]
        if mine:
            yield from ("", f"[{name}]")
        for one in mine:
            key = sysctl_name(one.path) if name == "sysctl" else one.path
            yield f"{key}={one.value}"
    yield from _nets(changes)


def _nets(changes: Sequence[Change]) -> Iterator[str]:
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in changes:
        net = _net(one)
        if net is not None:
            nic, option, words = net
            found[nic][option].append(words)
    for nic, options in found.items():
        yield from ("", f"[net_{nic}]", "type=net", f"devices={nic}")
        for option, parts in options.items():
            yield f"{option}={' '.join(parts)}"


def _net(one: Change) -> tuple[str, str, str] | None:
    """Interface, option of the plugin, its words."""
    if one.kind == "file" or one.write[:1] != ("ethtool",) or one.write[1] not in _OPTIONS:
        return None
    words = " ".join(word.replace("{value}", one.value) for word in one.write[3:])
    return one.write[2], _OPTIONS[one.write[1]], words


def tmpfiles(plan: HostPlan, hosts: Sequence[str], profile: str) -> str:
    """``w PATH - - - - VALUE``; a percent sign is doubled."""
    changes = [one.change for one in plan.changes]
    lines = [head(hosts, profile)]
    for one in changes:
        if one.kind == "file":
            lines.append(f"w {_escaped(one.path)} - - - - {_escaped(one.value)}")
    others = [one for one in changes if one.kind != "file"]
    return "\n".join([*lines, *left_out(plan, others), ""])


def _escaped(text: str) -> str:
    return text.replace("%", "%%").replace("\\", "\\\\")
