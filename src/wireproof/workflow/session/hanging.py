"""Detects an MTU black hole after two deadlines: small messages pass and all larger ones hang."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import msgspec

from wireproof.model.plan import Point
from wireproof.model.quantity import size
from wireproof.model.record import EngineError, Nic
from wireproof.model.run import Run

_MOST_NAMED = 4


class LargeHang(NamedTuple):
    """``from_bytes``: the smallest size that hangs; larger sizes are not worth a deadline."""

    from_bytes: int
    error: EngineError


def large_messages_hang(
    points: Sequence[Point], sealed: Collection[int], late: Collection[int], runs: Sequence[Run]
) -> LargeHang | None:
    """Conclude which sizes hang from the points that ended (``sealed``) and those that hit their
    deadline (``late``). None unless two sizes hang and all that pass are smaller.
    """
    passed = {point.message_bytes for point in points if point.id in sealed}
    hung = sorted({point.message_bytes for point in points if point.id in late})
    if not passed or len(hung) < 2 or max(passed) >= hung[0]:
        return None
    text = (
        f"messages up to {size(max(passed))} pass, but those of {size(hung[0])} and"
        f" {size(hung[1])} hang: the path may drop large frames ({_mtus(runs)})"
    )
    return LargeHang(hung[0], EngineError(code="large-messages-hang", message=text))


def smallest_first(points: Iterable[Point]) -> tuple[Point, ...]:
    """Return the order after a deadline: small messages explain best why a large message hangs."""
    return tuple(sorted(points, key=lambda point: point.message_bytes))


def with_error(run: Run, error: EngineError) -> Run:
    """Return ``run`` with one more error."""
    return msgspec.structs.replace(run, errors=[*run.errors, error])


def _mtus(runs: Sequence[Run]) -> str:
    """Return the MTU of each host's claimed port, or of every port with a carrier."""
    by_host: dict[str, str] = {}
    for run in runs:
        claimed = {host.rank: host.nic for host in run.claim.hosts}
        for host in run.hosts:
            ports = [
                f"{nic.name} {nic.mtu}"
                for nic in host.nics
                if nic.mtu and _carries(nic, claimed.get(host.rank, ""))
            ]
            if ports:
                by_host[host.hostname] = f"{host.hostname} {', '.join(ports[:_MOST_NAMED])}"
    return "MTU: " + "; ".join(list(by_host.values())[:_MOST_NAMED]) if by_host else "MTU unknown"


def _carries(nic: Nic, claimed: str) -> bool:
    if claimed:
        return nic.name == claimed
    return nic.kind != "loopback" and nic.carrier is not False
