"""How a setting is mended on one host: the value for the profile, where it is written, and the line
that keeps it. Pure.

Names of interfaces and files are the host's: what a drop-in's syntax could not carry as it stands
gets no line.
"""

import re
from dataclasses import dataclass

from wireproof.audit.catalogue import ParsedSetting
from wireproof.audit.expression import Lookup, Value
from wireproof.audit.machine import Instance
from wireproof.model.setting import PROFILES, Fix, Profile, Setting

_PLAIN = re.compile(r"[A-Za-z0-9_./:*@+\- ]+", re.ASCII)
"""What every drop-in's syntax carries as it stands."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./:@+\- ]*", re.ASCII)
"""Names of a host that are no pattern and no option."""
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
    """A fix for one instance. ``value``: "" where none is known. ``file``: written at once, a
    pattern where it has ``*``. ``line``: for the drop-in ``fix.persist``, "" where none can be.
    """

    fix: Fix
    value: str = ""
    file: str = ""
    command: tuple[str, ...] = ()
    coupled: tuple[str, ...] = ()
    line: str = ""
    by_hand: str = ""


def filled(text: str, instance: Instance, value: str = "{value}") -> str:
    """``text`` with the instance's names and the value in their places."""
    names = {**instance.places, "label": instance.label, "value": value}
    return re.sub(r"\{(\w+)\}", lambda found: names.get(found[1], found[0]), text)


def remedy_of(
    entry: ParsedSetting, instance: Instance, place: str, profile: Profile, names: Lookup
) -> Remedy | None:
    """``place``: the file or command that was read. None where nothing mends the setting."""
    fix = entry.setting.fix
    if fix is None:
        return None
    value = _value(entry, fix, profile, names)
    return remedy_with(fix, instance, place, value)


def remedy_with(fix: Fix, instance: Instance, place: str, value: str) -> Remedy:
    """The fix with a value that is given."""
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
    """A number or a word as it is written; "" for what is not known or neither."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return ""
    return f"{value:.0f}" if isinstance(value, float) else str(value)


def is_plain(instance: Instance) -> bool:
    """Whether the names of the instance can stand in commands and drop-ins as they are; a pattern
    is the catalogue's with the label in it.
    """
    given = [name for kind, name in instance.places.items() if kind != "pattern"]
    names = [name.lstrip("/") for name in (instance.label, *given) if name]
    return all(map(_NAME.fullmatch, names))


def _line(fix: Fix, instance: Instance, file: str, value: str) -> str:
    """The drop-in's line or lines; "" where there is no drop-in or no value for it."""
    if not fix.persist or (fix.value and not value) or not is_plain(instance):
        return ""
    if fix.line:
        return filled(fix.line, instance, value)
    command = tuple(filled(word, instance, value) for word in fix.command)
    return line_of(fix.persist, file, command, value)


def line_of(persist: str, file: str, command: tuple[str, ...], value: str) -> str:
    """The line of a drop-in in the folder of ``persist`` that sets ``file`` to ``value`` or runs
    ``command``; "" where that folder has no such line or a name is none that it can carry.
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
            found = re.fullmatch(r"/sys/module/(\w+)/parameters/(\w+)", file)
            return f"options {found[1]} {found[2]}={value}" if found else ""
        case "udev":
            found = re.fullmatch(r"/sys/class/net/([^/]+)/(.+)", file)
            return f'{_udev_match(found[1])}, ATTR{{{found[2]}}}="{value}"' if found else ""
    return ""


def sysctl_name(file: str) -> str:
    """A file below /proc/sys as sysctl.d names it: with slashes where a part has a dot."""
    name = file.removeprefix("/proc/sys/")
    return name if "." in name else name.replace("/", ".")


def _udev_match(nic: str) -> str:
    """``move``: the interface has got its name."""
    return f'ACTION=="add|move", SUBSYSTEM=="net", KERNEL=="{nic}"'


def _udev_command(command: tuple[str, ...]) -> str:
    """ethtool names the interface behind its option; udev wants a whole path."""
    return f'{_udev_match(command[2])}, RUN+="/sbin/{" ".join(command)}"'


def by_hand_of(setting: Setting) -> str:
    """What a person does where nothing of ours can write it; "" where a value or an argument of
    the kernel mends it, which is not the value of the others.
    """
    fix = setting.fix
    if fix is None or fix.value or fix.kernel or fix.line or "{" in fix.by_hand:
        return ""
    return f"{fix.by_hand} ({TAKES[fix.takes]})" if fix.by_hand and fix.takes else fix.by_hand


def tuned_by(setting: Setting, one: Remedy, profile: Profile) -> str:
    """The command of ours that mends the setting; "" where a person has to."""
    if not one.line and not (one.fix.at_once and one.value):
        return ""
    more = " --allow-link-down" if one.fix.takes == "link-down" else ""
    if profile != PROFILES[0] and {*setting.good, *one.fix.value} - {"any"}:
        more += f" --profile {profile}"
    return f"wireproof tune apply {setting.id}{more}"


def fix_text(one: Remedy) -> str:
    """For people: the command or the write that mends it, and what it takes."""
    fix, steps = one.fix, []
    if fix.at_once and one.value:
        command = " ".join(one.command).replace("{value}", one.value)
        steps.append(command or f"write {one.value} to {one.file}")
    if one.line:
        steps.append(f"for good: {'; '.join(one.line.splitlines())} in {fix.persist}")
    if fix.kernel:
        steps.append(f"kernel argument {fix.kernel}")
    if one.by_hand:
        steps.append(one.by_hand)
    text = "; ".join(steps)
    return f"{text} ({TAKES[fix.takes]})" if text and fix.takes else text
