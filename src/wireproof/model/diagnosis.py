"""What works on this machine, as ``wireproof doctor`` finds it."""

from __future__ import annotations

import msgspec

__all__ = ["Capability", "Diagnosis", "ThisMachine", "TransportTried"]


class Capability(msgspec.Struct, frozen=True, kw_only=True):
    """``works`` None: not known. ``detail`` is what was seen; ``advice`` what to do when it
    does not work.
    """

    name: str
    works: bool | None
    detail: str
    advice: str = ""


class ThisMachine(msgspec.Struct, frozen=True, kw_only=True):
    """Kernel, processor and clock of this machine, and what it can do."""

    kernel: str
    architecture: str
    cores: int
    clock_source: str
    root: bool
    capabilities: list[Capability]


class TransportTried(msgspec.Struct, frozen=True, kw_only=True):
    """One MPI (or transport) tried. ``library`` is what really answered; ``problem`` is empty when
    it works.
    """

    name: str
    family: str
    launcher: str
    version: str
    abi: str
    abi_version: str
    engine: str
    works: bool
    library: str = ""
    problem: str = ""
    seconds: float | None = None


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof doctor --json`` prints. ``transports`` is empty when nothing was started."""

    machine: ThisMachine
    transports: list[TransportTried]

    @property
    def works(self) -> bool:
        """At least one transport answered."""
        return any(answer.works for answer in self.transports)
