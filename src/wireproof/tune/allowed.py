"""What a change may never touch, by the rows from which the node's guard is built too
(``allowed.def``): a plan refuses what ``apply`` would refuse, with the same words. Pure.

The guard, ``engine/node/tune/allowed.cpp``, decides in the end: it also follows links.
"""

import re
from collections.abc import Sequence
from functools import cache

from wireproof.model import gathered
from wireproof.model.site import packaged
from wireproof.model.tuning import Change

_ROW = re.compile(r'TUNE_(\w+)\((?:(\w+), )?"((?:[^"\\]|\\.)+)"\)', re.ASCII)
_IPV6 = "/proc/sys/net/ipv6/conf/"
_LEAST_MTU = 1280
_PTRACE, _LOCKED = "/proc/sys/kernel/yama/ptrace_scope", 3
"""Yama locks its largest value (Documentation/admin-guide/LSM/Yama.rst)."""
_NUMBER = re.compile(r"\s*\+?(0[xX][0-9a-fA-F]{1,16}|0[0-7]{0,21}|[1-9]\d{0,18})", re.ASCII)
_WORD = re.compile(r"[!-~]{1,200}", re.ASCII)
_DEVICE = re.compile(r"[!-~]{1,15}", re.ASCII)


@cache
def _rows() -> dict[str, tuple[str, ...]]:
    """Return the words of each list."""
    found = (_ROW.fullmatch(line) for line in packaged(__package__, "allowed.def").splitlines())
    rows = gathered((row[1], row[3]) for row in found if row and not row[2])
    return {name: tuple(words) for name, words in rows.items()}


@cache
def _why(name: str) -> str:
    """Return the sentence, to follow a path or a command."""
    found = map(_ROW.fullmatch, packaged(__package__, "allowed.def").splitlines())
    return next(row[3].replace('\\"', '"') for row in found if row and row[2] == name)


def wrong_target(path: str) -> str:
    """Return why nothing is ever written to ``path``, in words that follow it; "" if it may be."""
    if not path.startswith(("/proc/sys/", "/sys/")):
        return _why("not_below")
    for never in _rows()["NEVER"]:
        if path == never or (never.endswith("/") and path.startswith(never)):
            return _why("no_setting")
    named = path.startswith("/sys/") and path.rpartition("/")[2] in _rows()["NEVER_NAMED"]
    return _why("takes_device") if named else ""


def lossy(path: str, value: str) -> str:
    """Return why ``value`` in ``path`` could not be undone in full, in words that follow the path;
    "" if it could.
    """
    if path in _rows()["OF_ALL"]:
        return _why("of_all")
    if path == _PTRACE and _number(value) >= _LOCKED:
        return _why("locks")
    folder, _, name = path.rpartition("/")
    sleeps = path.startswith("/sys/") and folder.endswith("/power") and name in ("control", "level")
    if sleeps and value != "on":
        return _why("may_sleep")
    if path.startswith(_IPV6) and not path.startswith(f"{_IPV6}default/"):
        if name == "addr_gen_mode":
            return _why("adds_ipv6")
        if name in ("disable_ipv6", "forwarding") and value != "0":
            return _why("removes_ipv6")
    return _low_mtu(value) if name == "mtu" else ""


def _low_mtu(value: str) -> str:
    return _why("low_mtu") if 0 <= _number(value) < _LEAST_MTU else ""


def _number(value: str) -> int:
    """Return the number that ``value`` begins with, in any base, as the guard reads it; -1 if it is
    none.
    """
    found = _NUMBER.match(value)
    if found is None:
        return -1
    digits, octal = found[1], re.fullmatch("0[0-7]+", found[1])
    return int(digits, 8 if octal else 0)


def refused(path: str, value: str) -> str:
    """Return the sentence with which ``apply`` refuses to write ``value`` to ``path``; "" if it
    writes it.
    """
    why = wrong_target(path) or lossy(path, value)
    return f'"{path[:200]}" {why}' if why else ""


def refused_command(change: Change) -> str:
    """Return the sentence with which ``apply`` refuses a change by commands; "" if it runs them."""
    if not _shows(change.read):
        return f'"{" ".join(change.read)[:200]}" {_why("no_show")}'
    line = f'"{" ".join(change.write)[:200]}"'
    if not _sets(change.write):
        return f"{line} {_why('no_set')}"
    if not any("{value}" in word for word in change.write):
        return f"{line} {_why('no_value')}"
    return refused_value(change.write, change.value)


def refused_value(argv: Sequence[str], value: str) -> str:
    """Return the sentence with which ``apply`` refuses the value of a command; "" if it takes
    it.
    """
    low = argv[0] == "ip" and argv[-2] == "mtu" and _low_mtu(value)
    return f'"{" ".join(argv)[:200]}" {low}' if low else ""


def _shows(argv: Sequence[str]) -> bool:
    match argv:
        case ("ethtool", option, device):
            return option in _rows()["ETHTOOL_SHOWS"] and _are_words((device,))
        case ("ip", *words):
            while words and words[0] in ("-d", "-o"):
                words = words[1:]
            return words[:2] == ["link", "show"] and _after_device(words[2:]) == []
        case ("tc", "-d", *words) | ("tc", *words):
            return words[1:2] == ["show"] and _is_queue(words)
    return False


def _sets(argv: Sequence[str]) -> bool:
    match argv:
        case ("ethtool", option, _, *_):
            known = option in _rows()["ETHTOOL_SETS"] and len(argv) >= 4
            return known and _are_words(argv[2:])
        case ("ip", "link", "set", *words):
            rest = _after_device(words) or []
            return len(rest) == 2 and rest[0] in _rows()["LINK_ATTRIBUTE"] and rest[1] == "{value}"
        case ("tc", *words):
            return len(words) > 1 and words[1] in _rows()["TC_VERB"] and _is_queue(words)
    return False


def _is_queue(words: Sequence[str]) -> bool:
    """Return whether the words are ``qdisc VERB dev DEVICE ...``, or of a class."""
    known = len(words) > 3 and words[0] in ("qdisc", "class") and words[2] == "dev"
    return known and _is_device(words[3]) and _are_words(words[4:])


def _after_device(words: Sequence[str]) -> list[str] | None:
    rest = list(words[1:] if words[:1] == ["dev"] else words)
    return rest[1:] if rest and _is_device(rest[0]) else None


def _is_device(word: str) -> bool:
    return word[:1] != "-" and _DEVICE.fullmatch(word) is not None


def _are_words(words: Sequence[str]) -> bool:
    """Return whether no word is an option: ``-batch`` reads more commands from a file."""
    return all(_WORD.fullmatch(word) and word[0] != "-" for word in words)
