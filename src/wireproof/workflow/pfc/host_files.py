"""One host's stored files: a tree as the engine reads it (sys, ethtool), a sosreport's folder, or
texts of ``ethtool`` alone.
"""

from __future__ import annotations

import dataclasses
import re
import subprocess
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded
from wireproof.files.programs import by_path
from wireproof.instrument.watch import Follower, watch_argv
from wireproof.launch.engines import find_engine
from wireproof.model.record import Nic
from wireproof.model.traffic import WatchStart
from wireproof.workflow.pfc.configured import commands_of

__all__ = ["Stored", "counters_of", "hosts_in", "printed_of", "read_host", "split"]

_COMMAND = re.compile(
    r"(?:.{0,80}[#$>] *)?((?:ethtool|dcb|mlnx_qos|lldptool)(?: [\w.@:-]{1,64}){1,6})", re.ASCII
)
_SPEED = re.compile(r"^[ \t]*Speed:[ \t]*(\d{1,9})Mb/s", re.MULTILINE | re.ASCII)
_DRIVER = re.compile(r"^driver:[ \t]*([\w.-]{1,32})", re.MULTILINE | re.ASCII)
_LONGEST = 200
_LONGEST_NAME = 64
_MOST_DIGITS = 20


def split(text: str) -> dict[str, str]:
    """A recorded terminal: each command (``$ ethtool -S eth0 | grep prio``) with what follows it;
    a text without one is all under "".
    """
    found: dict[str, list[str]] = {"": []}
    lines = found[""]
    for line in text.splitlines():
        if (command := _command(line)) is not None:
            lines = found.setdefault(command, [])
        else:
            lines.append(line)
    parts = {command: "\n".join(several) for command, several in found.items()}
    return parts if len(parts) == 1 else {name: part for name, part in parts.items() if name}


def _command(line: str) -> str | None:
    """The words of a command that is typed in this line; what a pipe does to its output is no
    matter.
    """
    if len(line) > _LONGEST:
        return None
    found = _COMMAND.fullmatch(line.partition("|")[0].strip())
    return " ".join(found.group(1).split()) if found else None


def counters_of(text: str, nic: str) -> dict[str, int]:
    """Statistics of one interface in the engine's spelling; the first of equal names counts."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        name, colon, value = line[:_LONGEST].rpartition(":")
        name, digits = name.strip(), value.strip()
        if not colon or not 0 < len(name) <= _LONGEST_NAME or len(digits) > _MOST_DIGITS:
            continue
        if digits.isascii() and digits.isdigit() and int(digits) < 1 << 64:
            found.setdefault(f"ethtool/{nic}/{name}", int(digits))
    return found


def nic_of(name: str, texts: Mapping[str, str]) -> Nic:
    """An interface of which texts are all that is known."""
    driver = _DRIVER.search(texts.get(f"ethtool -i {name}", ""))
    speed = _SPEED.search(texts.get(f"ethtool {name}", ""))
    return Nic(
        name=name,
        driver=driver.group(1) if driver else "",
        speed_mbps=int(speed.group(1)) if speed else None,
    )


_LARGEST = 8 << 20
_PATIENCE_S = 30.0
_AT_ONCE = 4
_MOST_HOSTS = 100_000
_STATISTICS = "ethtool_-S_"
_ROOTS = ("sys", "proc", "ethtool")


@dataclasses.dataclass(frozen=True)
class Stored:
    """What one reading of one host holds. ``texts``: of the commands that show settings, by their
    words. ``error``: one sentence where nothing could be read.
    """

    about: WatchStart | None = None
    counters: dict[str, int] = dataclasses.field(default_factory=dict)
    texts: dict[str, str] = dataclasses.field(default_factory=dict)
    uptime_s: float | None = None
    error: str = ""


def hosts_in(folder: Path, name: str) -> dict[str, Path]:
    """Host to its folder or text. A folder that is itself a host's is called as its files say,
    else ``name``.
    """
    if _is_host(folder):
        return {_hostname(folder) or name: folder}
    found: dict[str, Path] = {}
    for each in sorted(folder.iterdir())[:_MOST_HOSTS]:
        if each.is_dir() and _is_host(each):
            found[each.name] = each
        elif each.is_file():
            found[each.name.removesuffix(".txt")] = each
    return found


def _is_host(folder: Path) -> bool:
    if any((folder / name).is_dir() for name in (*_ROOTS, "sos_commands")):
        return True
    return any(folder.glob(f"{_STATISTICS}*"))


def _hostname(folder: Path) -> str:
    for place in ("etc/hostname", "proc/sys/kernel/hostname"):
        words = _text(folder / place).split()
        if words:
            return words[0]
    return ""


def printed_of(paths: Iterable[Path]) -> dict[Path, bytes]:
    """What the engine says of each tree among them, some at a time. Nothing but processes runs in
    threads: msgspec learns a type when it is first used, and two threads at it end in a crash.
    """
    trees = [path for path in paths if _is_tree(path)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return dict(zip(trees, pool.map(_printed, trees), strict=True))


def _is_tree(path: Path) -> bool:
    return any((path / name).is_dir() for name in ("sys", "ethtool"))


def read_host(path: Path, nic: str, printed: Mapping[Path, bytes]) -> Stored:
    """``nic``: how a text that names none is taken. ``printed``: of the trees."""
    if path.is_file():
        return _of_text(path, nic)
    return _of_tree(path, printed[path]) if path in printed else _of_texts(path)


def _of_text(path: Path, nic: str) -> Stored:
    """A recorded terminal, or the output of ``ethtool -S`` alone."""
    text = _text(path)
    parts = split(text)
    names = [name.split()[2] for name in parts if name.startswith("ethtool -S ")]
    if not names:
        names, parts = [nic or "port"], {f"ethtool -S {nic or 'port'}": text}
    return _of_commands(names, parts)


def _of_texts(folder: Path) -> Stored:
    """Files named as sosreports name them: ``ethtool_-S_eth0``."""
    places = {each.name: each for each in sorted(folder.rglob("*")) if _is_text(each)}
    names = [
        place.removeprefix(_STATISTICS).removesuffix(".txt")
        for place in places
        if place.startswith(_STATISTICS)
    ]
    parts = {
        words: _text(places[file])
        for name in names
        for words in _asked(Nic(name=name))
        for file in (_file_name(words), f"{_file_name(words)}.txt")
        if file in places
    }
    return _of_commands(names, parts)


def _is_text(path: Path) -> bool:
    known = ("ethtool", "dcb", "mlnx_qos", "lldptool")
    return path.name.startswith(known) and path.is_file()


def _asked(nic: Nic) -> list[str]:
    """The commands whose texts count for one port, by their words."""
    name = nic.name
    own = [f"ethtool -S {name}", f"ethtool -i {name}", f"ethtool {name}"]
    return own + [" ".join(one.argv) for one in commands_of(nic) if one.argv]


def _file_name(words: str) -> str:
    return "_".join(word.replace("/", ".") for word in words.split())


def _of_commands(names: list[str], parts: dict[str, str]) -> Stored:
    counters: dict[str, int] = {}
    for name in names:
        counters |= counters_of(parts.get(f"ethtool -S {name}", ""), name)
    if not counters:
        return Stored(error="its texts have no statistic of `ethtool -S`")
    about = WatchStart(
        schema=1, hostname="", interval_ms=0, nics=[nic_of(name, parts) for name in names]
    )
    return Stored(about=about, counters=counters, texts=parts)


def _printed(folder: Path) -> bytes:
    """The engine says what the ports are, as of a live host; nothing where that takes too long."""
    argv = watch_argv(find_engine("nompi"), 1.0, root=str(folder.absolute()))
    try:
        done = subprocess.run(
            **by_path(argv),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return b""
    return done.stdout


def _of_tree(folder: Path, printed: bytes) -> Stored:
    follower = Follower(folder.name)
    follower.feed(printed)
    if not printed:
        return Stored(error="its files could not be read within 30 s")
    if follower.error or follower.about is None or not follower.marks:
        return Stored(error=follower.error or "its files hold no counter")
    counters = dict(follower.marks[-1].counters)
    texts: dict[str, str] = {}
    kept = {each.name: each for each in sorted(folder.glob("sos_commands/*/*"))}
    about = _with_texts(follower.about, kept)
    for nic in about.nics:
        for words in _asked(nic):
            if _file_name(words) in kept:
                texts[words] = _text(kept[_file_name(words)])
        if not any(name.startswith(f"ethtool/{nic.name}/") for name in counters):
            counters |= counters_of(texts.get(f"ethtool -S {nic.name}", ""), nic.name)
        texts |= _files(folder, nic)
    return Stored(about, counters, texts, _uptime(folder))


def _with_texts(about: WatchStart, kept: Mapping[str, Path]) -> WatchStart:
    """With the interfaces that a sosreport's texts name and its /sys does not have."""
    known = {nic.name for nic in about.nics}
    named = [place.removeprefix(_STATISTICS) for place in kept if place.startswith(_STATISTICS)]
    more = [name for name in named if name not in known]
    texts = {
        words: _text(kept[_file_name(words)])
        for name in more
        for words in _asked(Nic(name=name))
        if _file_name(words) in kept
    }
    nics = [*about.nics, *(nic_of(name, texts) for name in more)]
    return msgspec.structs.replace(about, nics=nics)


def _files(folder: Path, nic: Nic) -> dict[str, str]:
    """Files that show a setting."""
    paths = [one.path for one in commands_of(nic) if one.path]
    texts = {path: _text(folder / path.lstrip("/")) for path in paths}
    return {path: text for path, text in texts.items() if text}


def _uptime(folder: Path) -> float | None:
    words = _text(folder / "proc/uptime").split()
    try:
        return float(words[0]) if words and len(words[0]) < 20 else None
    except ValueError:
        return None


def _text(path: Path) -> str:
    """What stands in a file; nothing where it cannot be read."""
    try:
        return read_bounded(path, _LARGEST, follow=False).decode("utf-8", "replace")
    except OSError:
        return ""
