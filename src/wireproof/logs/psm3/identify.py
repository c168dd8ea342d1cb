# pure
"""The lines of PSM3 output that may be read, and the information in ``PSM3_IDENTIFY`` and
``PSM3_VERBOSE_ENV``: the library that a process loaded, the NICs of its endpoints, and the settings
in force. Lines of several ranks may be mixed.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from wireproof.model.psm3 import NOT_SAID, Identity, Kind, LibrarySetting, Rail, Seen
from wireproof.model.secrets import MASK, masked

# --- The lines that may be read. A statistics file begins with the command line and the whole
# environment of its process, and none of these lines is passed on.


Shape = Literal[
    "setting", "environment", "identify", "warning", "time", "heading", "counter", "odd"
]
_DASHES = "-" * 79
"""The line that ends the environment (psm_stats.c prints 79 dashes)."""
_LABEL = r"(?:^|\s)[^\s:]{1,255}(?::[^\s:]{1,64})?"
_SETTING = re.compile(
    r"^(?:FI_)?PSM[23]_[A-Z0-9_]{1,64}=|^HFI_[A-Z0-9_]{1,64}=|^FI_PROVIDER=", re.A
)
_ENVIRONMENT = re.compile(rf"{_LABEL}: env [ *]?(?:Invalid value for )?(?:FI_)?PSM[23]_[A-Z]", re.A)
_IDENTIFY = re.compile(rf"{_LABEL} PSM[23]_IDENTIFY ", re.A)
_WARNING = re.compile(r"WARNING: PSM built without ")
_TIME = re.compile(r"^Time Delta [0-9]{1,12} seconds ", re.A)
_HEADING = re.compile(
    r" [A-Za-z][\w./-]{2,79}(?: id \S{1,200}(?: \S{1,80})?)?(?: tid -?\d+)?$", re.A
)
_HEADING_INFO = re.compile(r" [A-Z][\w./-]{2,79} \S{1,80}$", re.A)
_COUNTER = re.compile(r"    [A-Za-z]", re.A)
_LONGEST = 4096
_JOB = "FI_PSM3_UUID="
_PRIVATE = re.compile(r"(FI_PSM3_UUID\s{0,40}=>? ?).*$", re.A)
"""The job's key: whoever knows it can connect to the job's endpoints."""


class StatisticsLine(NamedTuple):
    """One line; ``number`` counts from 1."""

    number: int
    shape: Shape
    text: str


def shape_of(text: str) -> Shape:
    """Return the kind of a line; ``odd`` if it is not PSM3's."""
    if text.startswith("    "):
        return "counter" if _COUNTER.match(text) else "odd"
    if text.startswith(" "):
        return "heading" if _HEADING.match(text) or _HEADING_INFO.match(text) else "odd"
    shapes: tuple[tuple[Shape, re.Pattern[str]], ...] = (
        ("time", _TIME),
        ("setting", _SETTING),
        ("identify", _IDENTIFY),
        ("environment", _ENVIRONMENT),
        ("warning", _WARNING),
    )
    return next((name for name, form in shapes if form.search(text[:_LONGEST])), "odd")


def _begin(lines: list[str]) -> int:
    """Return the index of the first line after the environment; 0 if the text has none.

    A variable may contain a line of dashes, so the last such line before the first block counts.
    Without a line of dashes the file ends within the environment, and nothing may be shown.
    """
    if not lines or not lines[0].startswith("cmdline:"):
        return 0
    end = next((i for i, line in enumerate(lines) if _TIME.match(line)), len(lines))
    dashes = [i for i in range(end) if lines[i] == _DASHES]
    return dashes[-1] + 1 if dashes else len(lines)


def kept(lines: list[str]) -> Iterator[StatisticsLine]:
    """Yield the lines after the environment that are not empty; values of settings are masked."""
    for index in range(_begin(lines), len(lines)):
        text = lines[index].rstrip("\r")
        if text.strip():
            shape = shape_of(text)
            shown = masked_setting(text) if shape in ("setting", "environment") else text
            yield StatisticsLine(index + 1, shape, shown)


def masked_setting(text: str) -> str:
    """Return the line with ``***`` for anything that looks secret, and for the job's key."""
    hidden = _PRIVATE.sub(rf"\1{MASK}", text)
    return hidden if hidden != text else masked(text)


def job_of(lines: list[str]) -> str:
    """Return a digest of the job's key, "" if there is none. It identifies files that belong
    together, but does not give access to the job.
    """
    for line in lines[_begin(lines) :]:
        if line.startswith(_JOB):
            key = line.removeprefix(_JOB).strip().encode("utf-8", "replace")
            return hashlib.sha256(key).hexdigest()[:12]
    return ""


# --- Their content.

_TAGGED = re.compile(r"(?:^|\s)(?P<label>\S{1,320}) PSM[23]_IDENTIFY (?P<rest>.*)$", re.A)
_VERSION = re.compile(
    r"PSM[23]? v(?P<version>[\w.-]{1,40})(?: built for (?P<build>.{1,100}))?", re.A
)
_HAL = re.compile(r"HAL: (?P<hal>\w{1,40})(?: \((?P<flavour>[^)]{1,80})\))?", re.A)
_RANK = re.compile(
    r"Global Rank (?P<rank>-?\d{1,9}) \((?P<ranks>-?\d{1,9}) total\)"
    r" Local Rank (?P<local_rank>-?\d{1,9}) \((?P<local_ranks>-?\d{1,9}) total\)",
    re.A,
)
_PID = re.compile(r"CPU Core -?\d+ NUMA -?\d+ PID (?P<pid>\d{1,10})", re.A)
_RAIL = re.compile(
    r"NIC (?P<unit>\d{1,6}) \((?P<name>[^)\s]{1,80})\) Port (?P<port>\d{1,6})"
    r" (?P<mbps>\d{1,9}) Mbps NUMA (?P<numa>-?\d{1,6})(?P<rest>.*)$",
    re.A,
)
_PORT = re.compile(r"\b(TCP|UDP|QP|UDQP|PID)=(\d{1,10})", re.A)
_ADDRESS = re.compile(r"\b(?:IP|GID)=(\S{1,120})", re.A)
_VERBOSE = re.compile(
    r"(?:^|\s)(?P<label>\S{1,320}): env (?P<star>[ *]?)(?P<name>[A-Z0-9_]{1,80})\s+=> "
    r"(?P<value>.*?)"
    r"(?: \(default was (?P<default>.*)\))?$",
    re.A,
)
_INVALID = re.compile(
    r"(?:(?:^|\s)(?P<label>\S{1,320}): env Invalid value for (?P<name>[A-Z0-9_]{1,80})"
    r"|^(?P<plain>[A-Z0-9_]{1,80})=Invalid value) "
    r"?\('(?P<refused>.{0,200}?)'\).{0,80}? Using: (?P<value>.*)$",
    re.A,
)
_MOST_RAILS = 64


def _whole(text: str) -> int | None:
    """Return a rank; None for -1, which the library prints if it does not know the rank."""
    value = int(text)
    return value if value >= 0 else None


def _rail(rest: str, number: int) -> Rail | None:
    found = _RAIL.match(rest)
    if found is None:
        return None
    tail = found["rest"]
    address = _ADDRESS.search(tail)
    words = tail.split()
    return Rail(
        unit=int(found["unit"]),
        name=found["name"],
        port=int(found["port"]),
        mbps=int(found["mbps"]),
        numa_node=int(found["numa"]),
        address=address[1] if address else "",
        ports={name: int(value) for name, value in _PORT.findall(tail)},
        line=number,
        loopback="loopback" in words,
        srq="SRQ" in words,
    )


def _of_rank(rest: str) -> dict[str, Any]:
    found = _RANK.match(rest)
    return {} if found is None else {name: _whole(text) for name, text in found.groupdict().items()}


def _facts(rest: str) -> dict[str, Any]:
    """Return the fields of Identity that one line contains."""
    if rest.startswith("location "):
        return {"location": rest[9:].strip()}
    if found := _VERSION.match(rest):
        return {"version": found["version"], "build": (found["build"] or "").strip()}
    if found := _HAL.match(rest):
        return {"hal": found["hal"], "flavour": found["flavour"] or ""}
    if found := _PID.match(rest):
        return {"pid": int(found["pid"])}
    if rest.startswith("EP: "):
        return {"path": rest[4:].strip()[:20]}
    return _of_rank(rest)


def identities_of(lines: Iterable[StatisticsLine]) -> list[Identity]:
    """Return an Identity for each process that identifies itself, in the order of first lines."""
    facts: dict[str, dict[str, Any]] = {}
    warnings: dict[int, str] = {}
    for line in lines:
        if line.shape == "warning":
            warnings[line.number] = line.text[line.text.index("WARNING:") :][:200]
        found = _TAGGED.search(line.text) if line.shape == "identify" else None
        if found is None:
            continue
        one = facts.setdefault(found["label"], {"rails": [], "lines": {}})
        rail = _rail(found["rest"], line.number)
        if rail is not None:
            if len(one["rails"]) < _MOST_RAILS:
                one["rails"].append(rail)
            continue
        new = _facts(found["rest"])
        one.update(new)
        one["lines"].update(dict.fromkeys(new, line.number))
    return [
        Identity(label=label, host=label.partition(":")[0], warnings=warnings, **one)
        for label, one in facts.items()
    ]


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] == "'" else text


def _setting(line: StatisticsLine) -> LibrarySetting | None:
    if found := _INVALID.search(line.text):
        return LibrarySetting(
            name=found["name"] or found["plain"],
            value=_unquoted(found["value"]),
            kind="taken",
            line=line.number,
            refused=found["refused"] or "(empty)",
            who=found["label"] or "",
        )
    if line.shape == "environment":
        return _verbose(line)
    name, _, value = line.text.partition("=")
    return LibrarySetting(name=name, value=_unquoted(value), kind="given", line=line.number)


def _verbose(line: StatisticsLine) -> LibrarySetting | None:
    found = _VERBOSE.search(line.text)
    if found is None:
        return None
    default = found["default"]
    return LibrarySetting(
        name=found["name"],
        value=_unquoted(found["value"]),
        kind="taken",
        line=line.number,
        default=None if default is None else _unquoted(default),
        forced=found["star"] == "*",
        who=found["label"],
    )


def settings_of(lines: Iterable[StatisticsLine]) -> Iterator[LibrarySetting]:
    """Yield every setting that a line states; each endpoint may state it again."""
    for line in lines:
        if line.shape in ("setting", "environment"):
            found = _setting(line)
            if found is not None:
                yield found


# --- The settings that were in force, from the output. A setting that the output does not mention
# is "not said"; defaults are not assumed. The library's actions outrank the value that it reports
# as parsed, which outranks the text of the variable: a statistics file contains ``PSM3_MTU=abc`` as
# it was set, although the library parsed it as hexadecimal 2748.

SETTINGS = (
    "PSM3_HAL",
    "PSM3_SOCKETS",
    "PSM3_RDMA",
    "PSM3_MTU",
    "PSM3_NIC",
    "PSM3_MULTIRAIL",
    "PSM3_MULTIRAIL_MAP",
    "PSM3_MQ_RNDV_NIC_THRESH",
    "PSM3_RNDV_NIC_WINDOW",
    "PSM3_FLOW_CREDITS",
    "PSM3_DEVICES",
)
_RANKS: tuple[Kind, ...] = ("observed", "taken", "given", "not said")
_RV = "RV_Shared_Conn_RDMA_Statistics"
_RDMA = "TID_Flow_Statistics"
"""Every RDMA mode registers it (compared on soft-RoCE with modes 0 to 3)."""
_LOW_LEVEL = "PSM_low-level_protocol_stats"
_MASK = "PSM3_PRINT_STATSMASK=0x"
_HEX = re.compile(r"[0-9a-f]{1,8}", re.ASCII)


Tell = Callable[[str, str, int, str], Seen]
"""Returns a setting and its value as observed, with the line's number and the process."""


def _flavour(rail: Rail, hal: str, compiled: str) -> str:
    """Return the value of ``PSM3_SOCKETS``: 0 is TCP, 1 UDP. In TCP mode an endpoint has a
    listening TCP port; in UDP mode it has only a UDP port.
    """
    if hal != "sockets":
        return ""
    if "TCP" in rail.ports:
        return "0"
    return "1" if "UDP" in rail.ports else "0" if compiled == "TCP Sockets" else ""


def _of_identity(tell: Tell, one: Identity) -> Iterator[Seen]:
    at = one.lines.get("hal", 0)
    if one.hal:
        yield tell("PSM3_HAL", one.hal, at, one.label)
    if one.hal == "sockets":  # the only HAL that reads PSM3_RDMA is verbs
        yield tell("PSM3_RDMA", "0", at, one.label)
    for number in one.warnings:
        yield tell("PSM3_RDMA", "0", number, "")
    if one.path:
        yield tell("PSM3_DEVICES", one.path, one.lines.get("path", 0), one.label)
    yield from _of_rails(tell, one)


def _of_rails(tell: Tell, one: Identity) -> Iterator[Seen]:
    if not one.rails:
        return
    first = one.rails[0].line
    names = ",".join(dict.fromkeys(rail.name for rail in one.rails))
    yield tell("PSM3_NIC", names, first, one.label)
    if len({(rail.name, rail.address) for rail in one.rails}) > 1:
        last = one.rails[-1].line
        yield tell("PSM3_MULTIRAIL_MAP", names, last, one.label)
        yield tell("rails", str(len(one.rails)), last, one.label)
    else:  # PSM3_MULTIRAIL=0 uses one NIC, as does any other value if there is no second NIC
        yield tell("rails", "1", first, one.label)
    if flavour := _flavour(one.rails[0], one.hal, one.flavour):
        yield tell("PSM3_SOCKETS", flavour, first, one.label)
    if any(rail.srq for rail in one.rails):
        yield tell("PSM3_RDMA", "3", first, one.label)


def _of_sections(lines: Sequence[StatisticsLine], tell: Tell, label: str) -> Iterator[Seen]:
    """Yield the RDMA mode that counters show. Any mode above 0 has RDMA counters; only those of rv
    identify the mode.
    """
    groups = {line.text.split()[0]: line.number for line in lines if line.shape == "heading"}
    masks = [line.text for line in lines if line.text.startswith(_MASK)]
    if _RV in groups:
        yield tell("PSM3_RDMA", "1", groups[_RV], label)
    elif _LOW_LEVEL in groups and _RDMA not in groups and all(map(_shows_rdma, masks)):
        yield tell("PSM3_RDMA", "0", groups[_LOW_LEVEL], label)


def _shows_rdma(mask: str) -> bool:
    digits = mask.removeprefix(_MASK)
    return _HEX.fullmatch(digits) is not None and bool(int(digits, 16) & 0x400)


def _of_text(text: str, source: str) -> Iterator[Seen]:
    """Yield what the lines that may be read show."""
    lines = list(kept(text.split("\n")))
    texts = {line.number: line.text.strip()[:300] for line in lines}

    def tell(setting: str, value: str, number: int, who: str, kind: Kind = "observed") -> Seen:
        return Seen(
            setting=setting,
            value=value,
            kind=kind,
            line=texts.get(number, ""),
            number=number,
            source=source,
            who=who,
        )

    found = identities_of(lines)
    label = found[0].label if len(found) == 1 else ""
    for identity in found:
        yield from _of_identity(tell, identity)
    for one in settings_of(lines):
        yield tell(one.name, one.value, one.line, one.who or label, one.kind)
    yield from _of_sections(lines, tell, label)


def readback(identify_text: str, statistics_texts: Sequence[str]) -> list[Seen]:
    """Return (setting, value, line) of each process, only with the most reliable kind of evidence.

    ``identify_text``: the ranks' output (``PSM3_IDENTIFY=1``, preferably with
    ``PSM3_VERBOSE_ENV=1``). A setting of ``SETTINGS`` that no text mentions is returned once with
    the value ``not said``. Values that differ between processes are all returned, equal ones once.
    A ``given`` value is only the text of the variable, no evidence that the library used it.
    """
    texts = [("identify", identify_text)]
    texts += [(f"statistics {i}", one) for i, one in enumerate(statistics_texts, 1)]
    best: dict[tuple[str, str], Seen] = {}
    for source, text in texts:
        for seen in _of_text(text, source):
            key = (seen.setting, seen.who)
            # among equal kinds the later line counts: an endpoint that opens later parses again
            known = best.setdefault(key, seen)
            best[key] = min(seen, known, key=lambda each: _RANKS.index(each.kind))
    surest: dict[str, int] = {}
    for seen in best.values():
        rank = _RANKS.index(seen.kind)
        surest[seen.setting] = min(rank, surest.get(seen.setting, rank))
    unique = {
        (seen.setting, seen.value): seen
        for seen in reversed(best.values())
        if _RANKS.index(seen.kind) == surest[seen.setting]
    }
    silent = [Seen(setting=one, value=NOT_SAID, kind="not said") for one in SETTINGS]
    return [*reversed(unique.values()), *(one for one in silent if one.setting not in surest)]
