"""Files of /sys from what programs printed, as archives keep it: ethtool, ibstat, dmidecode, ip.
Pure. The texts are hostile: what is not understood is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.audit.facts import HostFacts
from wireproof.audit.ib_text import files_of_ib
from wireproof.audit.interfaces import listed_nics
from wireproof.audit.ip_text import IP_ADDRESS, link_files
from wireproof.model.record import FactFrame

__all__ = ["DMIDECODE", "printed_files", "printed_of"]

DMIDECODE = ("dmidecode",)
_DMI = {
    ("BIOS Information", "Vendor"): "bios_vendor",
    ("BIOS Information", "Version"): "bios_version",
    ("BIOS Information", "Release Date"): "bios_date",
    ("System Information", "Manufacturer"): "sys_vendor",
    ("System Information", "Product Name"): "product_name",
}


def printed_of(nic: str) -> tuple[tuple[str, ...], ...]:
    """What an archive is asked for of an interface; on a live host /sys has it."""
    return (("ethtool", nic), ("ethtool", "-i", nic))


def printed_files(facts: HostFacts) -> dict[str, FactFrame]:
    """By path, what the host's files of /sys would say."""
    texts = dict(
        [
            *_of_ip(facts),
            *_of_ethtool(facts),
            *files_of_ib(facts, listed_nics(facts)),
            *_of_dmidecode(facts),
        ]
    )
    return {
        path: FactFrame(rank=0, kind="file", status="ok", path=path, text=text)
        for path, text in texts.items()
    }


def _of_ip(facts: HostFacts) -> Iterator[tuple[str, str]]:
    if facts.command(IP_ADDRESS).text is None:
        return
    for one in listed_nics(facts):
        for name, text in (("mtu", str(one.mtu or "")), ("operstate", one.operstate)):
            if text:
                yield f"/sys/class/net/{one.name}/{name}", text
    yield from link_files(facts.command(IP_ADDRESS).text or "")


def _of_ethtool(facts: HostFacts) -> Iterator[tuple[str, str]]:
    for argv, frame in facts.commands.items():
        if len(argv) == 2 and argv[0] == "ethtool" and frame.status == "ok":
            speed = re.search(r"^[ \t]*Speed: (\d{1,7})Mb/s$", frame.text, re.MULTILINE)
            duplex = re.search(r"^[ \t]*Duplex: (Full|Half)$", frame.text, re.MULTILINE)
            if speed or re.search(r"^[ \t]*Speed: Unknown!", frame.text, re.MULTILINE):
                yield f"/sys/class/net/{argv[1]}/speed", speed[1] if speed else "-1"
            if duplex:
                yield f"/sys/class/net/{argv[1]}/duplex", duplex[1].lower()


def _of_dmidecode(facts: HostFacts) -> Iterator[tuple[str, str]]:
    """The first structure of each kind."""
    text = facts.command(DMIDECODE).text or ""
    seen: set[str] = set()
    for title, body in re.findall(r"^(\w[\w ]+)\n((?:\t.*\n?)+)", text, re.MULTILINE):
        if title in seen:
            continue
        seen.add(title)
        for key, value in re.findall(r"^\t([\w ]+): (.+?)\s*$", body, re.MULTILINE):
            if name := _DMI.get((title, key)):
                yield f"/sys/class/dmi/id/{name}", value
