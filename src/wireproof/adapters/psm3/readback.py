"""Which settings of PSM3 were actually in force, from the library's output. A setting that the
output does not mention is "not said"; defaults are not assumed.

What the library did outranks the value that it reports as parsed, and that outranks the text of the
variable: ``PSM3_MTU=abc`` is in a statistics file as it was set, although the library parsed it as
hexadecimal 2748.
"""

import re
from collections.abc import Iterator, Sequence

from wireproof.adapters.psm3.identify import StatisticsLine, identities_of, kept, settings_of
from wireproof.model.psm3 import NOT_SAID, Identity, Kind, Rail, Seen

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


class _Text:
    """One text, reduced to the lines that may be read."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.lines = list(kept(text.split("\n")))
        self.by_number = {line.number: line.text for line in self.lines}

    def seen(self, setting: str, value: str, kind: Kind, number: int, who: str) -> Seen:
        return Seen(
            setting=setting,
            value=value,
            kind=kind,
            line=self.by_number.get(number, "").strip()[:300],
            number=number,
            source=self.source,
            who=who,
        )


def _flavour(rail: Rail, hal: str, compiled: str) -> str:
    """Return the value of ``PSM3_SOCKETS``: 0 is TCP, 1 UDP. In TCP mode an endpoint has a
    listening TCP port; in UDP mode it has only a UDP port.
    """
    if hal != "sockets":
        return ""
    if "TCP" in rail.ports:
        return "0"
    return "1" if "UDP" in rail.ports else "0" if compiled == "TCP Sockets" else ""


def _of_identity(text: _Text, one: Identity) -> Iterator[Seen]:
    at = one.lines.get("hal", 0)
    if one.hal:
        yield text.seen("PSM3_HAL", one.hal, "observed", at, one.label)
    if one.hal == "sockets":  # the only HAL that reads PSM3_RDMA is verbs
        yield text.seen("PSM3_RDMA", "0", "observed", at, one.label)
    for number in one.warnings:
        yield text.seen("PSM3_RDMA", "0", "observed", number, "")
    if one.path:
        yield text.seen("PSM3_DEVICES", one.path, "observed", one.lines.get("path", 0), one.label)
    yield from _of_rails(text, one)


def _of_rails(text: _Text, one: Identity) -> Iterator[Seen]:
    if not one.rails:
        return
    first = one.rails[0].line
    names = ",".join(dict.fromkeys(rail.name for rail in one.rails))
    yield text.seen("PSM3_NIC", names, "observed", first, one.label)
    several = len({(rail.name, rail.address) for rail in one.rails}) > 1
    if several:
        yield text.seen("PSM3_MULTIRAIL_MAP", names, "observed", one.rails[-1].line, one.label)
    else:  # PSM3_MULTIRAIL=0 uses one NIC, and so does any other value if there is no second NIC
        yield text.seen("rails", "1", "observed", first, one.label)
    if several:
        yield text.seen("rails", str(len(one.rails)), "observed", one.rails[-1].line, one.label)
    for rail in one.rails[:1]:
        flavour = _flavour(rail, one.hal, one.flavour)
        if flavour:
            yield text.seen("PSM3_SOCKETS", flavour, "observed", rail.line, one.label)
    if any(rail.srq for rail in one.rails):
        yield text.seen("PSM3_RDMA", "3", "observed", first, one.label)


def _of_sections(lines: Sequence[StatisticsLine], text: _Text, label: str) -> Iterator[Seen]:
    """Yield the RDMA mode that counters show. Any mode above 0 has RDMA counters; only those of rv
    identify the mode.
    """
    groups = {line.text.split()[0]: line.number for line in lines if line.shape == "heading"}
    masks = [line.text for line in lines if line.text.startswith(_MASK)]
    if _RV in groups:
        yield text.seen("PSM3_RDMA", "1", "observed", groups[_RV], label)
    elif _LOW_LEVEL in groups and _RDMA not in groups and all(map(_shows_rdma, masks)):
        yield text.seen("PSM3_RDMA", "0", "observed", groups[_LOW_LEVEL], label)


def _shows_rdma(mask: str) -> bool:
    digits = mask.removeprefix(_MASK)
    return _HEX.fullmatch(digits) is not None and bool(int(digits, 16) & 0x400)


def _of_text(text: _Text) -> Iterator[Seen]:
    found = identities_of(text.lines)
    label = found[0].label if len(found) == 1 else ""
    for identity in found:
        yield from _of_identity(text, identity)
    for one in settings_of(text.lines):
        yield text.seen(one.name, one.value, one.kind, one.line, one.who or label)
    yield from _of_sections(text.lines, text, label)


def readback(identify_text: str, statistics_texts: Sequence[str]) -> list[Seen]:
    """Return (setting, value, line) of each process, with the most reliable kind of evidence only.

    ``identify_text``: what the ranks printed (``PSM3_IDENTIFY=1``, preferably with
    ``PSM3_VERBOSE_ENV=1``). A setting of ``SETTINGS`` that no text mentions is returned once with
    the value ``not said``. Values that differ between processes are all returned, equal ones once.
    A ``given`` value is only the text of the variable, no evidence that the library used it.
    """
    texts = [_Text(identify_text, "identify")]
    texts += [_Text(one, f"statistics {i}") for i, one in enumerate(statistics_texts, 1)]
    best: dict[tuple[str, str], Seen] = {}
    for text in texts:
        for seen in _of_text(text):
            key = (seen.setting, seen.who)
            # of equal kinds the later line holds: an endpoint that opens later parses again
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
