"""What is configured on a port, from the texts of the commands that show it. Nothing is changed.

What the audit reads too (link flow control, PFC by ``dcb``, the traffic class) is asked for and
cut out as its catalogue says; ``mlnx_qos`` and ``lldptool`` are read beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from wireproof.audit.expression import Unknown, Value
from wireproof.audit.values import part_of, typed
from wireproof.model.pfc import PfcSettings
from wireproof.model.plan import FactRequest
from wireproof.model.record import Nic
from wireproof.model.setting import Read
from wireproof.workflow.audit import settings_by_id

__all__ = ["commands_of", "settings_of"]

_IDS = ("flow-control-rx", "flow-control-tx", "pfc-enabled")
_MLNX_ON = re.compile(r"^[ \t]*enabled((?:[ \t]+[01]){8})[ \t]*$", re.MULTILINE)
_MLNX_TRUST = re.compile(r"^[ \t]*Priority trust state:[ \t]*(\w{1,16})", re.MULTILINE)
_LLDP_ON = re.compile(r"^[ \t]*PFC enabled:[ \t]*([0-7][0-7 ,\t]*|none)", re.MULTILINE)
_LLDP_WILLING = re.compile(r"^[ \t]*Willing:[ \t]*(yes|no)", re.MULTILINE)
_DCB_ON = re.compile(r"\b([0-7]):on\b")


def commands_of(nic: Nic) -> list[FactRequest]:
    """What is asked for about one port."""
    argvs = [
        *(read.command for one in _IDS for read in _reads(one, nic)),
        *_others(nic.name),
    ]
    files = [read.file for read in _reads("roce-traffic-class", nic) if read.file]
    unique = dict.fromkeys(tuple(argv) for argv in argvs if argv)
    return [
        *(FactRequest(kind="command", argv=argv) for argv in unique),
        *(FactRequest(kind="file", path=path) for path in files),
    ]


def _others(nic: str) -> Iterable[Sequence[str]]:
    return (("mlnx_qos", "-i", nic), ("lldptool", "-ti", nic, "-V", "PFC"))


def _reads(setting: str, nic: Nic) -> list[Read]:
    """The places of a setting of the audit, for this port."""
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
    """``texts``: what stood at each place; commands by their words. Hostile: what is not understood
    is unknown.
    """
    lossless, source = _lossless(nic, texts)
    lldp = texts.get(" ".join(("lldptool", "-ti", nic.name, "-V", "PFC")), "")
    trust = _MLNX_TRUST.search(texts.get(f"mlnx_qos -i {nic.name}", ""))
    willing = _LLDP_WILLING.search(lldp)
    traffic_class = _value("roce-traffic-class", nic, texts, "number")
    return PfcSettings(
        host=host,
        nic=nic.name,
        lossless=lossless,
        link_rx=_on(_value("flow-control-rx", nic, texts, "flag")),
        link_tx=_on(_value("flow-control-tx", nic, texts, "flag")),
        traffic_class=traffic_class if isinstance(traffic_class, int) else None,
        trust=trust.group(1) if trust else "",
        willing=None if willing is None else willing.group(1) == "yes",
        sources=[source] if source else [],
    )


def _lossless(nic: Nic, texts: Mapping[str, str]) -> tuple[list[int] | None, str]:
    """The priorities that PFC is on for, and who says so."""
    for read in _reads("pfc-enabled", nic):
        part = part_of(texts.get(" ".join(read.command), ""), read)
        if part and "0:" in part:
            return sorted({int(one) for one in _DCB_ON.findall(part)}), "dcb pfc show"
    if found := _MLNX_ON.search(texts.get(f"mlnx_qos -i {nic.name}", "")):
        flags = found.group(1).split()
        return [number for number, flag in enumerate(flags) if flag == "1"], "mlnx_qos"
    if found := _LLDP_ON.search(texts.get(f"lldptool -ti {nic.name} -V PFC", "")):
        return sorted({int(one) for one in re.findall("[0-7]", found.group(1))}), "lldptool"
    return None, ""


def _value(setting: str, nic: Nic, texts: Mapping[str, str], form: str) -> Value | None:
    for read in _reads(setting, nic):
        text = texts.get(" ".join(read.command) or read.file, "")
        part = part_of(text, read) if text else None
        if part is not None:
            found = typed(part, "number" if form == "number" else "flag")
            return None if isinstance(found, Unknown) else found
    return None


def _on(value: Value | None) -> bool | None:
    return value if isinstance(value, bool) else None
