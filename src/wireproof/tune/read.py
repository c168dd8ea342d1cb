"""A plan as a file: written by ``tune plan -o``, believed by nobody who reads it. Pure."""

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
    """One sentence for the first thing that no plan of ours has; "" when there is none."""
    for one in host.changes:
        if wrong := _wrong_change(one.change):
            return f"{one.change.id[:100]!r} of {host.host!r} {wrong}"
    for each in host.keeps:
        if wrong := _wrong_keep(each.keep):
            return f"{each.keep.path[:100]!r} of {host.host!r} {wrong}"
    return ""


def _wrong_change(one: Change) -> str:
    if not _ID.fullmatch(one.id):
        return "has an id with blanks or control characters"
    if not _VALUE.fullmatch(one.value):
        return "has a value that is not 1 to 4096 printable characters"
    return _wrong_file(one) if one.kind == "file" else _wrong_command(one)


def _wrong_file(one: Change) -> str:
    good = all(_FILE.fullmatch(path) for path in (one.path, *one.coupled))
    return "" if good else "is no file of a setting"


def _wrong_command(one: Change) -> str:
    if not (one.read and one.write and one.key):
        return "has no whole command"
    known = one.read[0] in _PROGRAMS and one.write[0] in _PROGRAMS
    words = (*one.read, *one.write, one.value)
    if not known or not all(map(_WORD.fullmatch, words)):
        return "is no command of ethtool, ip or tc"
    return "" if one.value[0] != "-" else "has a value that could be an option"


def _wrong_keep(one: Keep) -> str:
    if not _DROP_IN.fullmatch(one.path):
        return "is no drop-in file of our own name"
    return "" if is_text(one.text) else "has a text with control characters, or a long one"


_SCHEMA = TunePlan().schema
_VERSION = TunePlan().version


def read_plan(data: bytes, name: str) -> TunePlan:
    """Raises ``BadInput`` with what is wrong. What a host may be asked for is decided there,
    too.
    """
    try:
        found = decode_json(data, TunePlan)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{name} is no plan of `wireproof tune plan -o`: {error}.") from error
    if found.schema != _SCHEMA or found.version != _VERSION:
        raise BadInput(
            f"{name} is {found.schema[:60]} version {found.version}; {_SCHEMA} version"
            f" {_VERSION} is wanted: make the plan again."
        )
    names = [host.host for host in found.hosts]
    if len(set(names)) < len(names):
        raise BadInput(f"{name} has a host twice: make the plan again.")
    for host in found.hosts:
        if wrong := wrong_in(host):
            raise BadInput(f"{name}: {wrong}: make the plan again.")
    return found
