"""One host's stored files: a tree as the engine reads it (sys, ethtool), a sosreport's folder, or
only the output of ``ethtool``.
"""

import dataclasses
import re
import subprocess
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from wireproof.audit.expression import Unknown, Value
from wireproof.audit.job import settings_by_id
from wireproof.audit.values import part_of, typed
from wireproof.files.hostile import text_in
from wireproof.files.programs import by_path
from wireproof.instrument.watch import Follower, watch_argv
from wireproof.launch.engines import find_engine
from wireproof.model.plan import FactRequest
from wireproof.model.record import Nic
from wireproof.model.setting import Read
from wireproof.model.traffic import WatchStart
from wireproof.pfc import PfcSettings

_COMMAND = re.compile(
    r"(?:.{0,80}[#$>] *)?((?:ethtool|dcb|mlnx_qos|lldptool)(?: [\w.@:-]{1,64}){1,6})", re.ASCII
)
_SPEED = re.compile(r"^[ \t]*Speed:[ \t]*(\d{1,9})Mb/s", re.MULTILINE | re.ASCII)
_DRIVER = re.compile(r"^driver:[ \t]*([\w.-]{1,32})", re.MULTILINE | re.ASCII)
_LONGEST = 200
_LONGEST_NAME = 64
_MOST_DIGITS = 20


def split(text: str) -> dict[str, str]:
    """Split a recorded terminal session into its commands (``$ ethtool -S eth0 | grep prio``) with
    their output; a text without commands is stored under "".
    """
    lines_of: dict[str, list[str]] = {"": []}
    lines = lines_of[""]
    for line in text.splitlines():
        if (command := _command(line)) is not None:
            lines = lines_of.setdefault(command, [])
        else:
            lines.append(line)
    parts = {command: "\n".join(output) for command, output in lines_of.items()}
    return parts if len(parts) == 1 else {name: part for name, part in parts.items() if name}


def _command(line: str) -> str | None:
    """Return the words of a command typed in this line, without the pipe after it."""
    if len(line) > _LONGEST:
        return None
    match = _COMMAND.fullmatch(line.partition("|")[0].strip())
    return " ".join(match.group(1).split()) if match else None


def counters_of(text: str, nic: str) -> dict[str, int]:
    """Return the statistics of one interface under the engine's names; if a name occurs twice, the
    first value is used.
    """
    counters: dict[str, int] = {}
    for line in text.splitlines():
        name, colon, value = line[:_LONGEST].rpartition(":")
        name, digits = name.strip(), value.strip()
        if not colon or not 0 < len(name) <= _LONGEST_NAME or len(digits) > _MOST_DIGITS:
            continue
        if digits.isascii() and digits.isdigit() and int(digits) < 1 << 64:
            counters.setdefault(f"ethtool/{nic}/{name}", int(digits))
    return counters


def nic_of(name: str, texts: Mapping[str, str]) -> Nic:
    """Return an interface as far as the texts describe it."""
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
    """One reading of one host.

    ``texts``: the output of the commands that show settings, by their words. ``error``: one
    sentence if nothing could be read.
    """

    about: WatchStart | None = None
    counters: dict[str, int] = dataclasses.field(default_factory=dict)
    texts: dict[str, str] = dataclasses.field(default_factory=dict)
    uptime_s: float | None = None
    error: str = ""


def hosts_in(folder: Path, name: str) -> dict[str, Path]:
    """Return the folder or text of each host.

    If the folder itself belongs to a host, the host's name comes from its files, or else is
    ``name``.
    """
    if _is_host(folder):
        files = ("etc/hostname", "proc/sys/kernel/hostname")
        words = [word for file in files for word in _text(folder / file).split()[:1]]
        return {next(iter(words), name): folder}
    hosts: dict[str, Path] = {}
    for path in sorted(folder.iterdir())[:_MOST_HOSTS]:
        if path.is_dir() and _is_host(path):
            hosts[path.name] = path
        elif path.is_file():
            hosts[path.name.removesuffix(".txt")] = path
    return hosts


def _is_host(folder: Path) -> bool:
    if any((folder / name).is_dir() for name in (*_ROOTS, "sos_commands")):
        return True
    return any(folder.glob(f"{_STATISTICS}*"))


def printed_of(paths: Iterable[Path]) -> dict[Path, bytes]:
    """Return the engine's output for each tree, a few in parallel.

    Threads only run processes: msgspec builds its decoder for a type on first use, and crashes if
    two threads do so at once.
    """
    trees = [path for path in paths if any((path / name).is_dir() for name in ("sys", "ethtool"))]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return dict(zip(trees, pool.map(_printed, trees), strict=True))


def read_host(path: Path, nic: str, printed: Mapping[Path, bytes]) -> Stored:
    """Read one host.

    ``nic``: the interface of a text that does not state it. ``printed``: the engine's output for
    trees.
    """
    if path.is_file():
        return _of_text(path, nic)
    return _of_tree(path, printed[path]) if path in printed else _of_texts(path)


def _of_text(path: Path, nic: str) -> Stored:
    """Read a recorded terminal session, or the output of ``ethtool -S`` alone."""
    text = _text(path)
    parts = split(text)
    names = [name.split()[2] for name in parts if name.startswith("ethtool -S ")]
    if not names:
        names, parts = [nic or "port"], {f"ethtool -S {nic or 'port'}": text}
    return _of_commands(names, parts)


def _of_texts(folder: Path) -> Stored:
    """Read files named as in sosreports: ``ethtool_-S_eth0``."""
    known = ("ethtool", "dcb", "mlnx_qos", "lldptool")
    paths = (path for path in sorted(folder.rglob("*")) if path.name.startswith(known))
    kept = {path.name: path for path in paths if path.is_file()}
    names = _listed(kept)
    return _of_commands(names, _printed_about([Nic(name=name) for name in names], kept))


def _listed(kept: Iterable[str]) -> list[str]:
    """Return the interfaces that have a file with the output of ``ethtool -S``."""
    files = (file for file in kept if file.startswith(_STATISTICS))
    return [file.removeprefix(_STATISTICS).removesuffix(".txt") for file in files]


def _printed_about(nics: Iterable[Nic], kept: Mapping[str, Path]) -> dict[str, str]:
    """Return the texts that describe the ports, by the words of their commands. ``kept``: files
    named by these words, joined by ``_``.
    """
    texts: dict[str, str] = {}
    for nic in nics:
        asked = [f"ethtool -S {nic.name}", f"ethtool -i {nic.name}", f"ethtool {nic.name}"]
        asked += [" ".join(request.argv) for request in commands_of(nic) if request.argv]
        for words in asked:
            file = words.replace("/", ".").replace(" ", "_")
            path = kept.get(f"{file}.txt") or kept.get(file)
            texts |= {words: _text(path)} if path else {}
    return texts


def _of_commands(names: list[str], parts: dict[str, str]) -> Stored:
    counters: dict[str, int] = {}
    for name in names:
        counters |= counters_of(parts.get(f"ethtool -S {name}", ""), name)
    if not counters:
        return Stored(error="its texts have no statistics of `ethtool -S`")
    about = WatchStart(
        schema=1, hostname="", interval_ms=0, nics=[nic_of(name, parts) for name in names]
    )
    return Stored(about=about, counters=counters, texts=parts)


def _printed(folder: Path) -> bytes:
    """Return the engine's output about the ports, as for a live host; b"" if it takes too long."""
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
        return Stored(error=follower.error or "its files contain no counters")
    counters = dict(follower.marks[-1].counters)
    kept = {path.name: path for path in sorted(folder.glob("sos_commands/*/*"))}
    about = _with_texts(follower.about, kept)
    texts = _printed_about(about.nics, kept)
    for nic in about.nics:
        if not any(name.startswith(f"ethtool/{nic.name}/") for name in counters):
            counters |= counters_of(texts.get(f"ethtool -S {nic.name}", ""), nic.name)
        texts |= _files(folder, nic)
    return Stored(about, counters, texts, _uptime(folder))


def _with_texts(about: WatchStart, kept: Mapping[str, Path]) -> WatchStart:
    """Add the interfaces that occur in a sosreport's texts but not in its /sys."""
    known = {nic.name for nic in about.nics}
    more = [Nic(name=name) for name in _listed(kept) if name not in known]
    texts = _printed_about(more, kept)
    return replace(about, nics=[*about.nics, *(nic_of(nic.name, texts) for nic in more)])


def _files(folder: Path, nic: Nic) -> dict[str, str]:
    """Return the files that show a setting."""
    paths = [request.path for request in commands_of(nic) if request.path]
    texts = {path: _text(folder / path.lstrip("/")) for path in paths}
    return {path: text for path, text in texts.items() if text}


def _uptime(folder: Path) -> float | None:
    words = _text(folder / "proc/uptime").split()
    try:
        return float(words[0]) if words and len(words[0]) < 20 else None
    except ValueError:
        return None


def _text(path: Path) -> str:
    """Return the text of a file, or "" if it cannot be read."""
    return text_in(path, _LARGEST)


# --- The configuration of a port, from the texts of the commands that show it. Nothing is changed.
# Settings that the audit reads too (link flow control, PFC by ``dcb``, the traffic class) are read
# as in its catalogue; ``mlnx_qos`` and ``lldptool`` are read in addition.

_IDS = ("flow-control-rx", "flow-control-tx", "pfc-enabled")
_MLNX_ON = re.compile(r"^[ \t]*enabled((?:[ \t]+[01]){8})[ \t]*$", re.MULTILINE)
_MLNX_TRUST = re.compile(r"^[ \t]*Priority trust state:[ \t]*(\w{1,16})", re.MULTILINE)
_LLDP_ON = re.compile(r"^[ \t]*PFC enabled:[ \t]*([0-7][0-7 ,\t]*|none)", re.MULTILINE)
_LLDP_WILLING = re.compile(r"^[ \t]*Willing:[ \t]*(yes|no)", re.MULTILINE)
_DCB_ON = re.compile(r"\b([0-7]):on\b")


def commands_of(nic: Nic) -> list[FactRequest]:
    """Return the requests about one port."""
    argvs = [
        *(read.command for setting in _IDS for read in _reads(setting, nic)),
        ("mlnx_qos", "-i", nic.name),
        ("lldptool", "-ti", nic.name, "-V", "PFC"),
    ]
    files = [read.file for read in _reads("roce-traffic-class", nic) if read.file]
    unique = dict.fromkeys(tuple(argv) for argv in argvs if argv)
    return [
        *(FactRequest(kind="command", argv=argv) for argv in unique),
        *(FactRequest(kind="file", path=path) for path in files),
    ]


def _reads(setting: str, nic: Nic) -> list[Read]:
    """Return the files and commands that show a setting of the audit for this port."""
    device, port = ("", 0) if nic.rdma is None else (nic.rdma.device, nic.rdma.port)
    values = {"nic": nic.name, "device": device, "port": port}
    return [
        Read(
            file=read.file.format(**values),
            command=tuple(word.format(**values) for word in read.command),
            key=read.key,
            section=read.section,
        )
        for read in settings_by_id()[setting].reads
        if device or "{device}" not in read.file
    ]


def settings_of(host: str, nic: Nic, texts: Mapping[str, str]) -> PfcSettings:
    """Return the configuration of a port.

    ``texts``: the text of each file or command; commands by their words. The texts are untrusted: a
    value that cannot be parsed is unknown.
    """
    lossless, source = _lossless(nic, texts)
    trust = _MLNX_TRUST.search(texts.get(f"mlnx_qos -i {nic.name}", ""))
    willing = _LLDP_WILLING.search(texts.get(f"lldptool -ti {nic.name} -V PFC", ""))
    link_rx, link_tx = (_value(f"flow-control-{way}", nic, texts, "flag") for way in ("rx", "tx"))
    traffic_class = _value("roce-traffic-class", nic, texts, "number")
    return PfcSettings(
        host=host,
        nic=nic.name,
        lossless=lossless,
        link_rx=link_rx if isinstance(link_rx, bool) else None,
        link_tx=link_tx if isinstance(link_tx, bool) else None,
        traffic_class=traffic_class if isinstance(traffic_class, int) else None,
        trust=trust.group(1) if trust else "",
        willing=None if willing is None else willing.group(1) == "yes",
        sources=[source] if source else [],
    )


def _lossless(nic: Nic, texts: Mapping[str, str]) -> tuple[list[int] | None, str]:
    """Return the priorities with PFC enabled, and the source."""
    for read in _reads("pfc-enabled", nic):
        part = part_of(texts.get(" ".join(read.command), ""), read)
        if part and "0:" in part:
            return sorted({int(priority) for priority in _DCB_ON.findall(part)}), "dcb pfc show"
    if found := _MLNX_ON.search(texts.get(f"mlnx_qos -i {nic.name}", "")):
        flags = found.group(1).split()
        return [number for number, flag in enumerate(flags) if flag == "1"], "mlnx_qos"
    if found := _LLDP_ON.search(texts.get(f"lldptool -ti {nic.name} -V PFC", "")):
        return sorted(map(int, set(re.findall("[0-7]", found.group(1))))), "lldptool"
    return None, ""


def _value(
    setting: str, nic: Nic, texts: Mapping[str, str], form: Literal["number", "flag"]
) -> Value | None:
    for read in _reads(setting, nic):
        text = texts.get(" ".join(read.command) or read.file, "")
        part = part_of(text, read) if text else None
        if part is not None:
            found = typed(part, form)
            return None if isinstance(found, Unknown) else found
    return None
