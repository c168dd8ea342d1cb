"""The claimed port carried a watched command's bytes; was it by the claimed protocol? Pure."""

from __future__ import annotations

from collections.abc import Iterator

from wireproof.analysis.crossed import Crossed, crossed_at, everywhere
from wireproof.model.claim import LinkClaim
from wireproof.model.ledger import Direction
from wireproof.model.quantity import volume
from wireproof.model.series import Reason
from wireproof.verdict.external.watched.ports import Ports
from wireproof.verdict.external.watched.reasons import reason
from wireproof.verdict.path.carrier import RDMA_PROTOCOLS, mostly

__all__ = ["other_protocol"]

_DIRECTIONS: tuple[Direction, Direction] = ("tx", "rx")


def other_protocol(ports: Ports, link: LinkClaim | None, wanted: float) -> Reason | None:
    """Another protocol than that of ``link`` carried the ``wanted`` bytes; None where it was it, or
    nothing tells.
    """
    busiest = max(_seen(ports), key=lambda one: one[2].bytes or 0.0, default=None)
    if link is None or busiest is None:
        return None
    host, port, crossed = busiest
    by = dict(crossed.by)
    carrier = mostly(by, wanted)
    where = f"{link.kind} was claimed, and on {port} of {host}"
    rdma, kernel = volume(by.get("rdma", by.get("psm", 0.0))), volume(by.get("kernel", 0.0))
    evidence: dict[str, str | float | None] = {
        "host": host,
        "nic": port,
        **{str(name): count for name, count in by.items()},
    }
    if carrier == "kernel" and link.protocol in RDMA_PROTOCOLS:
        text = f"{where} the kernel's sockets carried {kernel} and RDMA {rdma}."
        return reason("tcp-instead-of-rdma", text, evidence, "fail")
    if carrier in ("rdma", "psm") and link.protocol == "tcp":
        text = f"{where} RDMA carried {rdma} and the kernel's sockets {kernel}."
        return reason("rdma-instead-of-tcp", text, evidence, "warning")
    return None


def _seen(ports: Ports) -> Iterator[tuple[str, str, Crossed]]:
    """(host, port, what crossed it) in each direction, of the claimed port, or of all where none is
    claimed.
    """
    for host in ports.hosts:
        ledger, name = ports.ledger(host), ports.claimed_name(host)
        for direction in _DIRECTIONS:
            found = (
                {name: crossed_at(ledger, name, direction)}
                if name
                else everywhere(ledger, direction)
            )
            yield from ((host.host, one, crossed) for one, crossed in found.items())
