# pure
"""The abilities of this machine: the results of ``wireproof doctor``, with libfabric providers."""

from typing import Literal

import msgspec


class Capability(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the machine can or cannot do. ``works``: null if unknown; ``detail``: the
    observation; ``advice``: the next step if it does not work.
    """

    name: str
    works: bool | None
    detail: str
    advice: str = ""


class ThisMachine(msgspec.Struct, frozen=True, kw_only=True):
    """Kernel, processor and clock of this machine, and its capabilities."""

    kernel: str
    architecture: str
    cores: int
    clock_source: str
    root: bool
    capabilities: list[Capability]


class TransportTried(msgspec.Struct, frozen=True, kw_only=True):
    """One MPI or other transport that was tried. ``library``: the library that actually answered;
    ``problem``: "" if it works.
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
    """The output of ``wireproof doctor --json``. ``transports`` is empty if no transport was
    started.
    """

    machine: ThisMachine
    transports: list[TransportTried]

    @property
    def works(self) -> bool:
        """True if at least one transport answered."""
        return any(answer.works for answer in self.transports)


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """One endpoint that a provider offers, with libfabric's names. ``bits_per_s``: rate of the NIC,
    0 or null if the provider does not know it.
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
        """True for reliable datagrams with tagged messages, which MPIs and the ``ofi`` transport
        need.
        """
        return self.endpoint == "rdm" and "tagged" in self.capabilities


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """The output of ``wireproof-engine providers``. ``offers`` are in libfabric's order, best
    first.
    """

    version: str
    path: str
    offers: list[Offer]
    registered: list[Offer]


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """One libfabric provider.

    ``state``: ``usable`` by MPIs and the ``ofi`` transport; ``other-endpoints`` if it offers no
    tagged reliable datagrams; ``missing`` if it is not in the library or offers nothing on this
    machine. ``names``: the names that it is offered under, with layers. ``reason``: the reason if
    it is missing. ``warnings``: its output while it was queried.
    """

    name: str
    state: Literal["usable", "other-endpoints", "missing"]
    names: list[str] = msgspec.field(default_factory=list)
    version: str = ""
    domains: list[str] = msgspec.field(default_factory=list)
    reason: str = ""
    warnings: list[str] = msgspec.field(default_factory=list)


class LibfabricFound(msgspec.Struct, frozen=True, kw_only=True):
    """One libfabric library. ``origin``: the reason for examining it; ``problem``: one sentence if
    it cannot be used; ``warnings``: the warnings that libfabric printed.
    """

    path: str
    origin: str
    version: str = ""
    problem: str = ""
    providers: list[Provider] = msgspec.field(default_factory=list)
    warnings: list[str] = msgspec.field(default_factory=list)


class ProviderChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The provider that an MPI would choose on this machine for traffic between hosts.
    ``provider``: "" if none; ``why``: the steps that lead to the choice.
    """

    mpi: str
    library: str = ""
    provider: str = ""
    why: list[str] = msgspec.field(default_factory=list)


class ProviderReport(msgspec.Struct, frozen=True, kw_only=True):
    """The output of ``wireproof doctor --providers --json``."""

    libfabrics: list[LibfabricFound]
    choices: list[ProviderChoice]

    @property
    def works(self) -> bool:
        """True if at least one provider can be measured."""
        return any(one.state == "usable" for it in self.libfabrics for one in it.providers)
