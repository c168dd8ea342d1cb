# pure
"""Judge the points of a route together: certain points decide the uncertain ones. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from wireproof.verdict.path.proof import CONTROL_BYTES, PairProof
from wireproof.verdict.path.sight import STRAY_BYTES

_HEADERS_RULE = 512  # bytes of a message
_SMALLEST = 64  # bytes: a library sends all smaller messages in the same way
_NEARLY = 0.9
_BLURRED = ("background-traffic", "counters-late")

OnRoute = tuple[tuple[str, str], int, PairProof]
"""Names of the two hosts, message size and proof."""


@dataclass
class _TwoHosts:
    """The combined result of all points of two hosts. ``crossed``: sizes that crossed. ``lost``:
    the largest number of bytes due at a point whose bytes did not cross; ``vanished``: at a point
    that no port carried; ``elsewhere``: at a point that another port carried. ``disagree``: the
    ends of some point disagree. ``blurred``: the largest number of bytes due at a point whose bytes
    could not be distinguished from other traffic, with the reason ``why``.
    """

    crossed: list[int] = field(default_factory=list)
    lost: int = -1
    vanished: int = -1
    elsewhere: int = -1
    disagree: bool = False
    blurred: int = -1
    why: str = ""

    def add(self, size: int, proof: PairProof) -> None:
        if proof.proof == "on-wire":
            self.crossed.append(max(size, _SMALLEST))
        if proof.proof in ("off-wire", "wrong-path", "mixed") or proof.code == "port-uncounted":
            self.lost = max(self.lost, proof.expected or 0)
        if proof.proof == "off-wire":
            self.vanished = max(self.vanished, proof.expected or 0)
        if proof.proof == "wrong-path" or proof.code == "striped":
            self.elsewhere = max(self.elsewhere, proof.expected or 0)
        self.disagree |= proof.code == "ends-disagree"
        if proof.code in _BLURRED and (proof.expected or 0) > self.blurred:
            self.blurred, self.why = proof.expected or 0, proof.code


def settle(proofs: Sequence[OnRoute]) -> list[PairProof]:
    """Let the certain points of a route decide the uncertain ones.

    A launcher's megabyte on the management port looks like the payload of a short ping-pong. If no
    port carried the route's largest point, a short point used the same path. A point that another
    port could have carried used the claimed port if its neighbours did: a point of the same or a
    smaller size, and a point of the same or a larger size. If a larger point between the same hosts
    did not cross, a smaller point is not proven either.
    """
    largest: dict[tuple[str, str], PairProof] = {}
    hosts: dict[frozenset[str], _TwoHosts] = {}
    for route, size, proof in proofs:
        if (proof.expected or 0) > (largest[route].expected or 0 if route in largest else -1):
            largest[route] = proof
        hosts.setdefault(frozenset(route), _TwoHosts()).add(size, proof)
    return [
        _held_back(
            _like(_between(proof, size, hosts[frozenset(route)]), size, largest[route]),
            hosts[frozenset(route)],
        )
        for route, size, proof in proofs
    ]


def _held_back(proof: PairProof, hosts: _TwoHosts) -> PairProof:
    """Withdraw a proof that other points of the same hosts contradict.

    Other traffic may replace bytes missing on the claimed port, but not at every point. If another
    port carried a larger point but shows nothing for this point, the bytes of this point have not
    vanished.
    """
    crossed, elsewhere = proof.proof == "on-wire", proof.proof == "wrong-path"
    due = proof.expected or 0
    unseen = proof.proof == "off-wire" and due <= hosts.elsewhere
    if unseen or (crossed and due <= hosts.lost) or (elsewhere and due <= hosts.vanished):
        return replace(proof, proof="unproven", code="points-disagree")
    if proof.proof == "mixed" and hosts.blurred >= 0:  # the missing bytes may be counted there
        nearly = (proof.seen or 0) >= _NEARLY * due
        if nearly or hosts.blurred >= due:
            return replace(proof, proof="unproven", code=hosts.why)
    if proof.code == "inside-adapter" and hosts.disagree:
        return replace(proof, proof="unproven", code="ends-disagree")
    return proof


def _between(proof: PairProof, size: int, hosts: _TwoHosts) -> PairProof:
    """Prove a point between smaller and larger sizes that cross, because a library chooses the path
    by size.
    """
    if proof.code != "rival-port" or hosts.lost >= 0 or not hosts.crossed:
        return proof
    inside = min(hosts.crossed) <= max(size, _SMALLEST) <= max(hosts.crossed)
    return replace(proof, proof="on-wire", code="") if inside else proof


def _like(proof: PairProof, size: int, largest: PairProof) -> PairProof:
    if proof.proof == "wrong-path":
        return _like_elsewhere(proof, size, largest)
    # wireproof's result frames may look like a few kB of payload that took another path.
    few = (proof.expected or 0) < CONTROL_BYTES
    # Short messages are mostly headers of unknown size, so half of the messages may look like all
    # of them.
    headers = size < _HEADERS_RULE and any(one.packets is None for one in proof.sightings)
    lost = largest.proof in ("off-wire", "wrong-path", "mixed")
    if proof.proof == "on-wire" and ((few and largest.proof != "on-wire") or (headers and lost)):
        return replace(proof, proof="unproven", code="unproven-too-few-bytes")
    return proof


def _like_elsewhere(proof: PairProof, size: int, largest: PairProof) -> PairProof:
    """Judge a point whose bytes another port seems to have carried."""
    quiet = all(sum(sighting.others.values()) < STRAY_BYTES for sighting in proof.sightings)
    if quiet and largest.proof in ("off-wire", "unproven"):
        return replace(proof, proof=largest.proof, code=largest.code)
    if size < _HEADERS_RULE and largest.proof == "off-wire":
        return replace(proof, proof="unproven", code="unproven-too-few-bytes")
    return proof
