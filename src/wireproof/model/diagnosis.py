"""What works on this machine, as ``wireproof doctor`` finds it, and its libfabric providers."""

from typing import Literal

import msgspec


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


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """One endpoint that a provider offers, as libfabric names it. ``bits_per_s``: of the NIC, 0 or
    None where the provider does not know.
    """

    provider: str
    provider_version: str = ""
    domain: str = ""
    fabric: str = ""
    endpoint: Literal["rdm", "msg", "dgram", "other"] = "other"
    capabilities: list[str] = msgspec.field(default_factory=list)
    nic: str = ""
    driver: str = ""
    bits_per_s: int | None = None

    @property
    def measurable(self) -> bool:
        """What the transport ``ofi``, and MPIs, need: tagged messages, reliable datagrams."""
        return self.endpoint == "rdm" and "tagged" in self.capabilities


class Registered(msgspec.Struct, frozen=True, kw_only=True):
    provider: str
    provider_version: str = ""


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof-engine providers`` prints; ``offers`` in libfabric's order, best first."""

    version: str
    path: str
    offers: list[Offer]
    registered: list[Registered]


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """``state``: ``usable`` by MPIs and the transport ``ofi``; ``other-endpoints`` only (no tagged
    reliable datagrams); ``missing``: in the library and offering nothing here, or not in it.
    ``names``: as offered, with layers. ``reason``: of what is missing. ``warnings``: what it
    said while it was asked.
    """

    name: str
    state: Literal["usable", "other-endpoints", "missing"]
    names: list[str] = msgspec.field(default_factory=list)
    version: str = ""
    domains: list[str] = msgspec.field(default_factory=list)
    reason: str = ""
    warnings: list[str] = msgspec.field(default_factory=list)


class LibfabricFound(msgspec.Struct, frozen=True, kw_only=True):
    """One library. ``origin``: why it was looked at. ``problem``: one sentence when it cannot be
    used. ``warnings``: what libfabric itself said.
    """

    path: str
    origin: str
    version: str = ""
    problem: str = ""
    providers: list[Provider] = msgspec.field(default_factory=list)
    warnings: list[str] = msgspec.field(default_factory=list)


class ProviderChoice(msgspec.Struct, frozen=True, kw_only=True):
    """Which provider an MPI would take here, between hosts. ``provider`` "": none; ``why`` says
    step by step how it comes to that.
    """

    mpi: str
    library: str = ""
    provider: str = ""
    why: list[str] = msgspec.field(default_factory=list)


class ProviderReport(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof doctor --providers --json`` prints."""

    libfabrics: list[LibfabricFound]
    choices: list[ProviderChoice]

    @property
    def works(self) -> bool:
        """Some provider of some library can be measured."""
        return any(one.state == "usable" for it in self.libfabrics for one in it.providers)
