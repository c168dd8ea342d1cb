"""PCI devices from the text of ``lspci -nnvv``. Pure. The text is hostile: what is not understood
is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.model.pci import PciDevice

__all__ = ["devices_of_lspci"]

_HEAD = re.compile(r"^((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (.*)$", re.MULTILINE)
_CLASS = re.compile(r"\[([0-9a-f]{4})\]:")
_TYPES = {
    "Root Port": 4,
    "Upstream Port": 5,
    "Downstream Port": 6,
    "Legacy Endpoint": 1,
    "Endpoint": 0,
}
_GENERATIONS = {"2.5": 1, "5": 2, "8": 3, "16": 4, "32": 5, "64": 6}
_ACS_BITS = ("SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl",
             "DirectTrans")  # fmt: skip
_LINK = r":\s.*?Speed (\d+(?:\.\d)?)GT/s[^,]*, Width x(\d{1,2})"


def devices_of_lspci(text: str) -> Iterator[PciDevice]:
    """A device for each paragraph that begins with an address, of domain 0000 where none stands."""
    heads = list(_HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=False):  # without a device there is one end more
        body = text[head.end() : end]
        address = head.group(1)
        kind = _CLASS.search(head.group(2))
        yield PciDevice(
            address=address if address.count(":") == 2 else f"0000:{address}",
            device_class=f"{kind.group(1)}00" if kind else "",
            driver=_first(r"^[ \t]*Kernel driver in use: (\S+)$", body) or "",
            numa=_number(r"^[ \t]*NUMA node: (\d{1,4})$", body),
            secondary=_number(r"\bsecondary=([0-9a-f]{2})\b", body, 16),
            closed="Capabilities: <access denied>" in body,
            **_express(body),  # type: ignore[arg-type]
        )


def _express(body: str) -> dict[str, object]:
    """The registers that are printed."""
    control = _first(r"^[ \t]*DevCtl:(.*?)(?=^[ \t]*DevSta:|^[ \t]*Capabilities:|\Z)", body) or ""
    relaxed = _first(r"RlxdOrd([+-])", control)
    kind = _first(r"\bExpress (?:\(v\d\) )?([A-Z][\w -]*?)(?: \(|,|$)", body)
    width, speed = _link("LnkSta", body)
    width_most, speed_most = _link("LnkCap", body)
    return {
        "type": _TYPES.get(kind or ""),
        "payload": _number(r"MaxPayload (\d{3,4}) bytes", control),
        "payload_most": _number(r"^[ \t]*DevCap:\s*MaxPayload (\d{3,4}) bytes", body),
        "read_request": _number(r"MaxReadReq (\d{3,4}) bytes", control),
        "relaxed": None if relaxed is None else relaxed == "+",
        "width": width,
        "speed": speed,
        "width_most": width_most,
        "speed_most": speed_most,
        "acs": _acs(body),
    }


def _link(register: str, body: str) -> tuple[int | None, int | None]:
    """Lanes and generation."""
    found = re.search(rf"^[ \t]*{register}{_LINK}", body, re.MULTILINE)
    if found is None:
        return None, None
    return int(found.group(2)), _GENERATIONS.get(found.group(1))


def _acs(body: str) -> int | None:
    words = _first(r"^[ \t]*ACSCtl:(.*)$", body)
    if words is None:
        return None
    return sum(1 << bit for bit, word in enumerate(_ACS_BITS) if f"{word}+" in words)


def _first(pattern: str, text: str) -> str | None:
    flags = re.MULTILINE | (re.DOTALL if r"\Z" in pattern else 0)
    found = re.search(pattern, text, flags)
    return found.group(1) if found else None


def _number(pattern: str, text: str, base: int = 10) -> int | None:
    found = _first(pattern, text)
    return int(found, base) if found else None
