"""Which layers there are between the hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from wireproof.analysis.relations import port_called
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.ladder import LayerName
from wireproof.model.record import Host, Nic
from wireproof.workflow.ladder.commanded import LONGEST_S, CommandedLayer, application
from wireproof.workflow.ladder.launched import LaunchedLayer
from wireproof.workflow.ladder.specification import LadderSpecification
from wireproof.workflow.target.target import Target

__all__ = ["AnyLayer", "layers_of_hosts", "rdma_device", "where_of"]

AnyLayer = LaunchedLayer | CommandedLayer


def layers_of_hosts(
    wanted: LadderSpecification, folder: Path, environment: Mapping[str, str]
) -> list[AnyLayer]:
    """The layers from the wire up, with nothing started. Raises ``BadInput``."""
    if "application" in wanted.names and not (wanted.pattern or wanted.command):
        raise BadInput("--layers: the application is a --pattern, or a command behind --: give it.")
    launched = [name for name in wanted.names if name != "verbs" and not _own(wanted, name)]
    layers: list[AnyLayer] = [LaunchedLayer(one, wanted, folder, environment) for one in launched]
    if not layers:
        raise BadInput("--layers: besides verbs and a command, name a layer of our own: tcp, mpi.")
    target = layers[0].target
    check_hosts(target, played=wanted.mpi.plays_hosts)
    if wanted.command:
        if wanted.mpi.plays_hosts:
            raise BadInput("a command does not run in the model: leave it or the model out.")
        own = application(
            wanted.command,
            target,
            sizes=wanted.sizes,
            number=wanted.number,
            environment=environment,
            folder=folder if wanted.storage.kept else None,
            longest_s=wanted.mpi.deadline_s or LONGEST_S,
        )
        layers.append(own)
    return layers


def _own(wanted: LadderSpecification, name: LayerName) -> bool:
    return name == "application" and bool(wanted.command)


def check_hosts(target: Target, *, played: bool) -> None:
    """Two hosts; the settings see to it that they differ. Raises ``BadInput``."""
    if not target.hosts and played:
        return
    count = len(target.hosts)
    if count != 2:
        given = f"{count} were given" if count else "none was"
        raise BadInput(f"a ladder stands between two hosts, and {given}: give --hosts A,B.")


def where_of(target: Target) -> str:
    """The options that choose these hosts again."""
    lab = [f"--lab {target.lab.name}"] if target.lab is not None else []
    nic = [f"--nic {target.nics[0]}"] if target.nics and target.nics[0] else []
    return " ".join([*lab, f"--hosts {','.join(target.hosts) or 'A,B'}", *nic])


def rdma_device(layers: Sequence[AnyLayer], target: Target) -> tuple[str, str]:
    """The RDMA device of the claimed NIC, as both hosts have it, and the second host's address on
    it ("" without one). Raises ``CouldNotMeasure`` where there is none.
    """
    claimed = target.nics[0] if target.nics else ""
    hosts = next((one.hosts for one in layers if isinstance(one, LaunchedLayer) and one.hosts), [])
    nics = [one for host in hosts for one in [_claimed(host, claimed)] if one is not None]
    if not nics or len(nics) < len(hosts):
        nic = claimed or "no active port"
        raise CouldNotMeasure(f"raw verbs: {nic} is not an RDMA device of both hosts.")
    devices = {one.rdma.device for one in nics if one.rdma is not None}
    if len(devices) > 1:
        names = ", ".join(sorted(devices))
        raise CouldNotMeasure(
            f"raw verbs: the hosts' RDMA devices have different names ({names}), and perftest is"
            " given one: leave verbs out with --layers."
        )
    addresses = [one.partition("/")[0] for one in nics[-1].address]
    return min(devices), next(iter(addresses), "")


def _claimed(host: Host, name: str) -> Nic | None:
    """The claimed NIC of a host, when it is an RDMA device; without a claim the first that is
    up.
    """
    if name:
        found = port_called(host.nics, name)
        return found if found is not None and found.rdma is not None else None
    devices = ((one, one.rdma) for one in host.nics)
    return next((one for one, rdma in devices if rdma and "ACTIVE" in rdma.state.upper()), None)
