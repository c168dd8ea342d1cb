"""How claimed rails shared what a watched command moved. It decides nothing: whether a command is
to use them all, only its author knows. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from wireproof.analysis.crossed import at_rails, crossed_at
from wireproof.model.claim import Criteria, LinkClaim
from wireproof.model.finding import Severity
from wireproof.model.ledger import Direction
from wireproof.model.quantity import volume
from wireproof.model.rails import is_several
from wireproof.model.series import Reason
from wireproof.model.traffic import HostTraffic
from wireproof.verdict.external.watched.ports import START_UP_BYTES, Ports
from wireproof.verdict.external.watched.reasons import reason
from wireproof.verdict.path.shares import due_shares, state_of

__all__ = ["rail_reasons"]

_DIRECTIONS: tuple[Direction, Direction] = ("tx", "rx")
_BUSY = 0.5  # of the busier direction: the way back has acknowledgements only


def rail_reasons(ports: Ports, link: LinkClaim | None, criteria: Criteria) -> list[Reason]:
    """One for each host with rails, of its busier direction (of both, where both are busy)."""
    return [
        found
        for host in ports.hosts
        if is_several(ports.claimed_name(host))
        for found in _of_host(ports, host, link, criteria)
    ]


def _of_host(
    ports: Ports, host: HostTraffic, link: LinkClaim | None, criteria: Criteria
) -> Iterator[Reason]:
    ledger, name = ports.ledger(host), ports.claimed_name(host)
    if name not in ledger.ports:
        return
    rails = ledger.ports[name].nic.lower
    seen = {way: at_rails(ledger, rails, way) for way in _DIRECTIONS}
    totals = {way: crossed_at(ledger, name, way).bytes or 0.0 for way in _DIRECTIONS}
    for way, each in seen.items():
        if totals[way] > max(START_UP_BYTES, _BUSY * max(totals.values())):
            yield _reason(host.host, way, each, link, criteria)


def _reason(
    host: str,
    way: Direction,
    seen: dict[str, float | None],
    link: LinkClaim | None,
    criteria: Criteria,
) -> Reason:
    whole = sum(one or 0.0 for one in seen.values())
    due = due_shares(link, len(seen))
    shares = [one / whole if one is not None and whole else None for one in seen.values()]
    state = state_of(shares, due, criteria)
    listed = ", ".join(
        f"{rail} unknown"
        if share is None
        else f"{rail} {volume(share * whole)} ({share:.0%} of {wanted:.0%} due)"
        for rail, share, wanted in zip(seen, shares, due, strict=True)
    )
    code = {"one-rail": "one-rail", "unequal": "unequal-rails"}.get(state, "rails-shared")
    severity: Severity = "note" if code == "rails-shared" else "warning"
    said = {
        "striped": "each rail carried its share",
        "one-rail": "one rail carried all of it",
        "unequal": "the rails did not carry their shares",
    }.get(state, "what each rail carried is not known")
    evidence = {"host": host, "direction": way, "striping": state}
    return reason(code, f"{host} {way}: {said}: {listed}.", evidence, severity)
