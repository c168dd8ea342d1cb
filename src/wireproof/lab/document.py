"""Virtual clusters as a document: networks, wire, nodes and planted faults."""

from collections.abc import Iterator, Sequence

from wireproof.model.quantity import counted
from wireproof.model.topology import LabStatus, fallen_behind
from wireproof.report.document import (
    Document,
    Facts,
    Section,
    Text,
)


def labs_document(found: Sequence[LabStatus]) -> Document:
    """Return a section for each lab; for a single lab, its state is the answer."""
    states = ", ".join(f"{one.name}: {one.state}" for one in found)
    if len(found) == 1:
        return Document("Virtual cluster", states, tuple(_parts(found[0])))
    answer = f"{counted(len(found), 'lab')}: {states}" if found else "no lab is up."
    sections = (Section(f"{one.name}: {one.state}", tuple(_parts(one))) for one in found)
    return Document("Virtual clusters", answer, tuple(sections))


def _parts(status: LabStatus) -> Iterator[Text | Facts]:
    behind = fallen_behind(None, status.wire) if _is_wired(status) else ""
    for note in (*status.notes, *([behind] if behind else [])):
        yield Text(f"NOTE: {note}", "warning")
    yield Facts(tuple(_rows(status)))


def _is_wired(status: LabStatus) -> bool:
    return status.topology is not None and status.topology.serialises


def _rows(status: LabStatus) -> Iterator[tuple[str, str]]:
    for network in status.topology.networks if status.topology else ():
        rate = network.rate or "not shaped"
        yield f"network {network.name}", f"{network.device}, {rate}, MTU {network.mtu}"
    if _is_wired(status):
        yield "wire", _wire(status)
    for node in status.nodes:
        where = ", ".join(f"{name} {address}" for name, address in node.addresses.items())
        yield node.name, f"{'up' if node.alive else 'DEAD'}, {where}"
    for fault in status.faults:
        what = f"{fault.direction} {fault.kind} {fault.value}".strip()
        yield "planted", f"{fault.node} {fault.network} {what}"


def _wire(status: LabStatus) -> str:
    """Return how the links limit their rates, and whether they met these limits."""
    topology, wire = status.topology, status.wire
    latency, loss = (topology.latency, topology.loss) if topology else ("", "")
    named = {"store-and-forward": True, f"latency {latency}": latency, f"loss {loss}": loss}
    words = [word for word, given in named.items() if given]
    if wire is None:
        return f"{', '.join(words)}; DEAD, no node can reach another"
    late = f"{wire.late + wire.starved} of them more than {wire.late_ns / 1e6:g} ms late"
    right = "" if wire.first else "; it has no priority over ordinary processes"
    return f"{', '.join(words)}; {wire.frames} frames, {late}{right}"
