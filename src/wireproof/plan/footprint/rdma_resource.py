"""What ``rdma resource show`` printed on one node, as text or JSON. Pure.

``rdma resource show qp`` has a line ``link mlx5_0/1 lqpn 87 type RC state RTS ... pid 4711 comm
osu`` per QP, ``rdma resource show mr`` one with ``mrlen`` per memory region, ``rdma resource show``
alone ``0: mlx5_0: pd 3 cq 5 qp 4 ...``. Several outputs may follow each other in one file.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import msgspec

from wireproof.model.errors import BadInput
from wireproof.model.json_reader import decode_json

__all__ = ["Resources", "resources_of"]

_KERNEL_QPS = {"SMI", "GSI"}
_LINE = re.compile(r"^(?:\S+\s+)?(?:link|dev)\s+(\S+)\s+(.*)$", re.ASCII)
_SUMMARY = re.compile(r"^\s*[0-9]+:\s+(\S+?):\s+(.*\bqp\s+[0-9]{1,9}\b.*)$", re.ASCII)
_KIND = re.compile(r"[A-Z_]{1,20}", re.ASCII)
_MOST_LINES = 5_000_000


class Resources(msgspec.Struct, frozen=True, kw_only=True):
    """``by_kind``: QPs of each type, without those of the subnet (SMI, GSI). ``processes``: that
    own one of them, None where no owner is printed. ``registered_bytes``: of memory regions, None
    where none is listed.
    """

    by_kind: dict[str, int]
    processes: int | None
    registered_bytes: int | None

    @property
    def qps(self) -> int:
        return sum(self.by_kind.values())


def resources_of(text: str) -> Resources:
    """Raises BadInput where no QP and no memory region is listed."""
    rows = _json_rows(text) if text.lstrip()[:1] in "[{" else _text_rows(text)
    kinds: Counter[str] = Counter()
    owners: set[str] = set()
    registered: int | None = None
    summary: Counter[str] = Counter()
    for row in rows:
        if "lqpn" in row:
            kind = str(row.get("type", "")).upper()
            kind = kind if _KIND.fullmatch(kind) else "UNKNOWN"
            if kind not in _KERNEL_QPS:
                kinds[kind] += 1
                owners |= {str(row["pid"])} if "pid" in row else set()
        elif "mrlen" in row:
            registered = (registered or 0) + _number(row["mrlen"])
        elif "qp" in row:
            summary["any"] += _number(row["qp"])
    found = kinds or summary
    if not found and registered is None:
        raise BadInput(
            "no QP is listed in what was observed: give the output of 'rdma resource show qp' of"
            " one node, taken while the job ran."
        )
    return Resources(
        by_kind=dict(sorted(found.items())),
        processes=len(owners) or None,
        registered_bytes=registered,
    )


def _number(value: object) -> int:
    text = str(value)
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BadInput(f"{text[:40]!r} is no number of QPs or bytes in what was observed.")
    return int(text)


def _json_rows(text: str) -> list[dict[str, Any]]:
    try:
        found = decode_json(text, object)
    except msgspec.DecodeError as error:
        raise BadInput(f"what was observed is no JSON of rdma -j: {error}.") from None
    rows = found if isinstance(found, list) else [found]
    return [row for row in rows if isinstance(row, dict)]


def _text_rows(text: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for line in text.splitlines()[:_MOST_LINES]:
        listed = _LINE.match(line.strip())
        summary = None if listed else _SUMMARY.match(line)
        found = listed or summary
        if found is not None:
            words = found.group(2).split()
            rows.append(dict(zip(words[::2], words[1::2], strict=False)))
    return rows
