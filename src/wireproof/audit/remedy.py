# pure
"""Compute the fix of a setting on a host: the value for the profile, where to write it, and the
line that persists it. Pure.

Names of interfaces and files come from the host: if the syntax of a drop-in file cannot represent
them unchanged, it gets no line.
"""

import re
import shlex
from dataclasses import dataclass

from wireproof.audit.catalogue import ParsedSetting
from wireproof.audit.expression import Lookup, Value
from wireproof.audit.machine import Instance
from wireproof.model.setting import PROFILES, Fix, Profile, Setting

_PLAIN = re.compile(r"[A-Za-z0-9_./:*@+\- ]+", re.ASCII)
"""Text that every drop-in syntax accepts unchanged."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./:@+\- ]*", re.ASCII)
"""Names of a host that are neither patterns nor options."""
TAKES = {
    "link-down": "the link goes down for a moment",
    "reload": "when the driver is loaded again",
    "session": "for new sessions",
    "reboot": "after a reboot",
    "firmware": "in the firmware's set-up, then a reboot",
    "hands": "by hand",
}


@dataclass(frozen=True)
class Remedy:
    """A fix for one instance. ``value``: "" if unknown. ``file``: the file to write at once, a
    pattern if it contains ``*``. ``line``: for the drop-in ``fix.persist``, "" if impossible.
    """

    fix: Fix
    value: str = ""
    file: str = ""
    command: tuple[str, ...] = ()
    coupled: tuple[str, ...] = ()
    line: str = ""
    by_hand: str = ""


def filled(text: str, instance: Instance, value: str = "{value}") -> str:
    """Return ``text`` with the instance's names and the value filled in."""
    names = {**instance.places, "label": instance.label, "value": value}
    return re.sub(r"\{(\w+)\}", lambda match: names.get(match[1], match[0]), text)


def remedy_of(
    entry: ParsedSetting, instance: Instance, place: str, profile: Profile, names: Lookup
) -> Remedy | None:
    """Return the fix; None if nothing fixes the setting. ``place``: the file or command that was
    read.
    """
    fix = entry.setting.fix
    if fix is None:
        return None
    return remedy_with(fix, instance, place, _value(entry, fix, profile, names))


def remedy_with(fix: Fix, instance: Instance, place: str, value: str) -> Remedy:
    """Return the fix with a given value."""
    file = "" if fix.command else filled(fix.file, instance) or place
    argv = tuple(filled(word, instance) for word in fix.command)
    return Remedy(
        fix=fix,
        value=value,
        file=file if fix.value and file.startswith("/") else "",
        command=argv,
        coupled=tuple(filled(path, instance) for path in fix.coupled),
        line=_line(fix, instance, file, value),
        by_hand=filled(fix.by_hand, instance, value),
    )


def _value(entry: ParsedSetting, fix: Fix, profile: Profile, names: Lookup) -> str:
    chosen = profile if profile in fix.value else "any"
    if chosen in entry.values:
        return _text(entry.values[chosen].value(names))
    return fix.value.get(chosen, "")


def _text(value: Value) -> str:
    """Return a number or word as written; "" for other values."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return ""
    return f"{value:.0f}" if isinstance(value, float) else str(value)


def is_plain(instance: Instance) -> bool:
    """Return whether the names of the instance are safe in commands and drop-ins. A pattern comes
    from the catalogue, with the label filled in.
    """
    given = [name for kind, name in instance.places.items() if kind != "pattern"]
    names = [name.lstrip("/") for name in (instance.label, *given) if name]
    return all(map(_NAME.fullmatch, names))


def _line(fix: Fix, instance: Instance, file: str, value: str) -> str:
    """Return the line or lines of the drop-in; "" if there is no drop-in or no value."""
    if not fix.persist or (fix.value and not value) or not is_plain(instance):
        return ""
    if fix.line:
        return filled(fix.line, instance, value)
    command = tuple(filled(word, instance, value) for word in fix.command)
    return line_of(fix.persist, file, command, value)


def line_of(persist: str, file: str, command: tuple[str, ...], value: str) -> str:
    """Return the line that makes a drop-in in the folder of ``persist`` set ``file`` to ``value``
    or run ``command``; "" if that folder has no such line or cannot represent a name.
    """
    folder = persist.split("/")[2]
    if not all(_PLAIN.fullmatch(text) for text in (file or "-", value, *command)):
        return ""
    if command:
        return _udev_command(command) if folder == "udev" else ""
    match folder:
        case "sysctl.d" if file.startswith("/proc/sys/"):
            return f"{sysctl_name(file)} = {value}"
        case "tmpfiles.d":
            return f"w {file} - - - - {value}"
        case "modprobe.d":
            parts = re.fullmatch(r"/sys/module/(\w+)/parameters/(\w+)", file)
            return f"options {parts[1]} {parts[2]}={value}" if parts else ""
        case "udev":
            parts = re.fullmatch(r"/sys/class/net/([^/]+)/(.+)", file)
            return f'{_udev_match(parts[1])}, ATTR{{{parts[2]}}}="{value}"' if parts else ""
    return ""


def sysctl_name(file: str) -> str:
    """Return the sysctl.d name of a file below /proc/sys: with slashes if a part contains a dot."""
    name = file.removeprefix("/proc/sys/")
    return name if "." in name else name.replace("/", ".")


def _udev_match(nic: str) -> str:
    """Return the match part of a udev rule; ``move`` means that the interface was renamed."""
    return f'ACTION=="add|move", SUBSYSTEM=="net", KERNEL=="{nic}"'


def _udev_command(command: tuple[str, ...]) -> str:
    """Return a udev rule that runs ethtool: the interface follows the option, and udev needs an
    absolute path.
    """
    return f'{_udev_match(command[2])}, RUN+="/sbin/{" ".join(command)}"'


def by_hand_of(setting: Setting) -> str:
    """Return the manual steps if wireproof cannot write the setting; "" if a value or a kernel
    argument fixes it, because that need not be the value of other hosts.
    """
    fix = setting.fix
    if fix is None or fix.value or fix.kernel or fix.line or "{" in fix.by_hand:
        return ""
    return f"{fix.by_hand} ({TAKES[fix.takes]})" if fix.by_hand and fix.takes else fix.by_hand


def tuned_by(setting: Setting, remedy: Remedy, profile: Profile) -> str:
    """Return the wireproof command that fixes the setting; "" if only a person can."""
    if not remedy.line and not (remedy.fix.at_once and remedy.value):
        return ""
    more = _permission(remedy.fix)
    if profile != PROFILES[0] and {*setting.good, *remedy.fix.value} - {"any"}:
        more += f" --profile {profile}"
    return f"wireproof tune apply {setting.id}{more}"


def tuned_to(setting: Setting, value: str) -> str:
    """Return the wireproof command that writes ``value``; "" if it cannot write the setting."""
    if setting.fix is None or not setting.fix.at_once or not value:
        return ""
    chosen = shlex.quote(f"{setting.id}={value}")
    return f"`wireproof tune apply {chosen}{_permission(setting.fix)}`"


def _permission(fix: Fix) -> str:
    return " --allow-link-down" if fix.takes == "link-down" else ""


def fix_text(remedy: Remedy) -> str:
    """Describe the fix: the command or write, and what it requires."""
    fix, steps = remedy.fix, []
    if fix.at_once and remedy.value:
        command = " ".join(remedy.command).replace("{value}", remedy.value)
        steps.append(command or f"write {remedy.value} to {remedy.file}")
    if remedy.line:
        steps.append(f"permanently: {'; '.join(remedy.line.splitlines())} in {fix.persist}")
    if fix.kernel:
        steps.append(f"kernel argument {fix.kernel}")
    if remedy.by_hand:
        steps.append(remedy.by_hand)
    text = "; ".join(steps)
    return f"{text} ({TAKES[fix.takes]})" if text and fix.takes else text
