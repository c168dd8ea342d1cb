"""Facts of the firmware of many hosts, each from its own BMC."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from wireproof.bmc.bios import find_bios
from wireproof.bmc.errors import BmcFailed
from wireproof.bmc.session import Session
from wireproof.bmc.talk import Limits
from wireproof.bmc.texts import texts_of
from wireproof.model.bmc import Bmc
from wireproof.model.record import FactFrame

__all__ = ["collect_firmware"]

_FANOUT = 32


def collect_firmware(
    bmcs: Sequence[Bmc], limits: Limits | None = None
) -> dict[str, list[FactFrame]]:
    """Facts by host. A BMC that fails is one fact that says why."""
    with ThreadPoolExecutor(min(_FANOUT, max(1, len(bmcs)))) as pool:
        found = pool.map(lambda bmc: _facts(bmc, limits), bmcs)
        return {bmc.host: facts for bmc, facts in zip(bmcs, found, strict=True)}


def _facts(bmc: Bmc, limits: Limits | None) -> list[FactFrame]:
    try:
        with Session(bmc, limits) as session:
            texts = texts_of(find_bios(session), bmc.password)
    except BmcFailed as error:
        reason = f"could not be read: {error}"
        return [FactFrame(rank=0, kind="file", status="failed", path="bios", reason=reason)]
    facts = [
        FactFrame(rank=0, kind="file", status="ok", path=path, text=text)
        for path, text in texts.items()
    ]
    if bmc.insecure:
        note = "not checked (--bmc-insecure)"
        facts.append(
            FactFrame(rank=0, kind="file", status="ok", path="bios/certificate", text=note)
        )
    return facts
