"""The capabilities of this machine and its libfabric providers as documents."""

from wireproof.model.diagnosis import (
    Capability,
    Diagnosis,
    LibfabricFound,
    Provider,
    ProviderChoice,
    ProviderReport,
    TransportTried,
)
from wireproof.model.quantity import counted
from wireproof.report.document import (
    Document,
    Findings,
    Item,
    Part,
    Section,
    Text,
    Tone,
)

_CAPABLE: dict[bool | None, tuple[Tone, str]] = {
    True: ("pass", "ok"),
    False: ("fail", "MISSING"),
    None: ("inconclusive", "unknown"),
}
_STATES: dict[str, tuple[Tone, str]] = {
    "usable": ("pass", "ok"),
    "other-endpoints": ("inconclusive", "partly"),
    "missing": ("note", "missing"),
}


def diagnosis_document(found: Diagnosis) -> Document:
    """Return the machine, its capabilities, and each transport that was tried."""
    machine = found.machine
    who = "root" if machine.root else "an ordinary user"
    where = f"Linux {machine.kernel}, {machine.architecture}, {machine.cores} cores, {who}"
    working = sum(answer.works for answer in found.transports)
    answer = (
        f"{working} of {counted(len(found.transports), 'transport')} work here"
        if found.transports
        else "no transport was tried"
    )
    able = Findings(tuple(_capability(each) for each in machine.capabilities))
    parts: list[Part] = [Text(where), Section("This machine", (able,))]
    if found.transports:
        tried = Findings(tuple(_answer(each) for each in found.transports))
        parts.append(Section("Transports and MPIs", (tried,)))
    return Document("What works on this machine", answer, tuple(parts))


def _capability(capability: Capability) -> Item:
    tone, word = _CAPABLE[capability.works]
    wanted = capability.advice and capability.works is not True
    details = (("next", capability.advice),) if wanted else ()
    return Item(tone, f"{capability.name}: {capability.detail}", details=details, word=word)


def _answer(answer: TransportTried) -> Item:
    if not answer.works:
        return Item("fail", f"{answer.name}: {answer.problem}", word="FAILS")
    if answer.abi == "mpiabi":
        abi = f"standard ABI {answer.abi_version}"
    else:
        abi = f"{answer.abi} ABI" if answer.family else "no MPI"
    engine = f", {answer.engine}" if answer.engine else ""
    replied = f"answered in {answer.seconds} s: {answer.library or answer.name}"
    return Item("pass", f"{answer.name}: {abi}{engine}, {replied}", word="ok")


def provider_document(found: ProviderReport) -> Document:
    """Return each library with its providers, then each MPI with the steps that lead to its
    choice.
    """
    usable = [
        provider.name
        for library in found.libfabrics
        for provider in library.providers
        if provider.state == "usable"
    ]
    names = ", ".join(dict.fromkeys(usable)) or "none"
    parts = [_library(library) for library in found.libfabrics]
    if found.choices:
        steps = tuple(_choice(choice) for choice in found.choices)
        parts.append(Section("What each MPI uses between hosts", (Findings(steps),)))
    return Document("libfabric providers", f"providers that can be measured: {names}", tuple(parts))


def _library(library: LibfabricFound) -> Section:
    where = f"{library.path} ({library.origin})"
    if library.problem:
        return Section(where, (Findings((Item("fail", f"cannot be used: {library.problem}"),)),))
    items = [_provider(provider) for provider in library.providers]
    items += [Item("warning", warning) for warning in library.warnings]
    return Section(f"libfabric {library.version}: {where}", (Findings(tuple(items)),))


def _provider(provider: Provider) -> Item:
    tone, word = _STATES[provider.state]
    layered = [name for name in provider.names if name != provider.name]
    names = f" (as {', '.join(layered)})" if layered else ""
    domains = f" on {', '.join(provider.domains)}" if provider.domains else ""
    reason = f": {provider.reason}" if provider.reason else ""
    details = tuple(("warns", warning) for warning in provider.warnings)
    return Item(tone, f"{provider.name}{names}{domains}{reason}", details=details, word=word)


def _choice(choice: ProviderChoice) -> Item:
    text = f"{choice.mpi}: {choice.provider or 'no provider of libfabric'}"
    return Item("", text, details=tuple(("because", step) for step in choice.why))
