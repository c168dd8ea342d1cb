"""The work of ``wireproof pfc``: a record, taken or stored, and its judgement."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict, Unpack

from wireproof.model.errors import BadInput
from wireproof.model.pfc import PfcReport
from wireproof.settings.durations import parse_duration
from wireproof.settings.hosts import check_nic
from wireproof.workflow.pfc.judged import judged
from wireproof.workflow.pfc.stored import record_of, write_snapshot

__all__ = ["PfcOptions", "pfc_report"]


class PfcOptions(TypedDict, total=False):
    """As the options of ``wireproof pfc`` are written; ``source``: of --from."""

    nic: str
    priority: int | None
    duration: str
    source: Path | None
    snapshot: Path | None
    cable_m: float | None


def pfc_report(**options: Unpack[PfcOptions]) -> PfcReport:
    """Raises ``BadInput``."""
    source, nic = options.get("source"), options.get("nic", "")
    duration = options.get("duration", "")
    seconds = parse_duration(duration) if duration else None
    if nic:
        check_nic(nic)
    if source is None:
        raise BadInput("give --from FOLDER with the readings before and after the load.")
    record = record_of(source, nic=nic, seconds=seconds)
    if snapshot := options.get("snapshot"):
        write_snapshot(snapshot, record)
    return judged(record, options.get("priority"), options.get("cable_m"))
