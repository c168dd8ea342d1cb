"""Read a plan file that ``tune plan -o`` wrote; its contents are not trusted. Pure."""

import re

import msgspec

from wireproof.model.errors import BadInput
from wireproof.model.json_reader import decode_json
from wireproof.model.tuning import Change, HostPlan, Keep, TunePlan
from wireproof.tune.settings_files import is_text

_ID = re.compile(r"[!-~]{1,200}", re.ASCII)
_VALUE = re.compile(r"[ -~]{1,4096}", re.ASCII)
_WORD = re.compile(r"[!-~]{1,200}", re.ASCII)
_FILE = re.compile(r"/(?:proc/sys|sys)(?:/(?!\.{1,2}(?:/|\Z))[!-.0-~]+)+", re.ASCII)
_DROP_IN = re.compile(
    r"/etc/(?:sysctl\.d|modprobe\.d|tmpfiles\.d|udev/rules\.d|security/limits\.d|systemd/system)/"
    r"(?!\.)[A-Za-z0-9._@-]*wireproof[A-Za-z0-9._@-]*",
    re.ASCII,
)
_PROGRAMS = ("ethtool", "ip", "tc")


def wrong_in(host: HostPlan) -> str:
    """Return a sentence for the first thing that wireproof's plans never contain; "" if there is
    none.
    """
    for planned in host.changes:
        if wrong := _wrong_change(planned.change):
            return f"{planned.change.id[:100]!r} of {host.host!r} {wrong}"
    for kept in host.keeps:
        if wrong := _wrong_keep(kept.keep):
            return f"{kept.keep.path[:100]!r} of {host.host!r} {wrong}"
    return ""


def _wrong_change(change: Change) -> str:
    if not _ID.fullmatch(change.id):
        return "has an id with blanks or control characters"
    if not _VALUE.fullmatch(change.value):
        return "has a value that is not 1 to 4096 printable characters"
    return _wrong_file(change) if change.kind == "file" else _wrong_command(change)


def _wrong_file(change: Change) -> str:
    are_settings = all(_FILE.fullmatch(path) for path in (change.path, *change.coupled))
    return "" if are_settings else "is not the file of a setting"


def _wrong_command(change: Change) -> str:
    if not (change.read and change.write and change.key):
        return "has an incomplete command"
    known = change.read[0] in _PROGRAMS and change.write[0] in _PROGRAMS
    words = (*change.read, *change.write, change.value)
    if not known or not all(map(_WORD.fullmatch, words)):
        return "is not a command of ethtool, ip or tc"
    return "" if change.value[0] != "-" else "has a value that could be an option"


def _wrong_keep(drop_in: Keep) -> str:
    if not _DROP_IN.fullmatch(drop_in.path):
        return "is not a drop-in file with wireproof's name"
    return "" if is_text(drop_in.text) else "has a text that is too long or has control characters"


_SCHEMA = TunePlan().schema
_VERSION = TunePlan().version


def read_plan(data: bytes, name: str) -> TunePlan:
    """Parse a plan. Raise ``BadInput`` with the mistake. The host checks again what it may be asked
    for.
    """
    try:
        plan = decode_json(data, TunePlan)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{name} is not a plan of `wireproof tune plan -o`: {error}.") from error
    if plan.schema != _SCHEMA or plan.version != _VERSION:
        raise BadInput(
            f"{name} is {plan.schema[:60]} version {plan.version}; {_SCHEMA} version"
            f" {_VERSION} is required: make the plan again."
        )
    names = [host.host for host in plan.hosts]
    if len(set(names)) < len(names):
        raise BadInput(f"{name} has a host twice: make the plan again.")
    for host in plan.hosts:
        if wrong := wrong_in(host):
            raise BadInput(f"{name}: {wrong}: make the plan again.")
    return plan
