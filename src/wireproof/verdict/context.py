# pure
"""The lookups that every step of the judgement needs: hosts of ranks, claimed NICs and limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import msgspec

from wireproof.atlas import Atlas
from wireproof.ledger.ledger import HostPorts
from wireproof.ledger.relations import claimed_nic, with_rails
from wireproof.ledger.traffic import moved_in, ports_of
from wireproof.model.claim import Criteria, HostClaim, LinkClaim
from wireproof.model.finding import Node, Route
from wireproof.model.record import Host, Idle, Nic, PairResult
from wireproof.model.run import Run
from wireproof.physics import Table, default_table, is_shaped
from wireproof.physics.framing import possible_mtu
from wireproof.verdict.path import adapters_of


@dataclass(frozen=True)
class Context:
    """A run, indexed by rank.

    ``link``: the link that numbers are judged against: the claim (``claimed_link``), completed with
    the MTU of the claimed NICs if the claim does not give it, and with the path that was observed
    to carry the bytes.
    """

    run: Run
    criteria: Criteria
    table: Table
    link: LinkClaim | None
    claimed_link: LinkClaim | None
    virtual: bool
    hosts: Mapping[int, Host]
    claims: Mapping[int, HostClaim]
    idle: Mapping[int, Idle]
    atlas: Atlas | None = None
    ports: Mapping[int, HostPorts] = field(default_factory=dict, repr=False)
    nics: Mapping[int, Nic] = field(default_factory=dict, repr=False)

    def name(self, rank: int) -> str:
        """Return the host's name as the user gave it."""
        claim = self.claims.get(rank)
        host = self.hosts.get(rank)
        return (
            (claim.host if claim else "")
            or (host.host or host.hostname if host else "")
            or f"rank {rank}"
        )

    def route(self, pair: PairResult) -> Route:
        """Return the subject of findings about one pair."""
        return Route(self.name(pair.origin), self.name(pair.target))

    def node(self, rank: int) -> Node:
        """Return the subject of findings about one host."""
        return Node(self.name(rank))

    def claimed_nic(self, rank: int) -> Nic | None:
        """Return the NIC that the rank is claimed to use, or None if it is not found.

        Without a claim, return the host's only NIC.
        """
        return self.nics.get(rank)

    def claims_a_nic(self, rank: int) -> bool:
        """Return whether the user named the NIC of this rank."""
        claim = self.claims.get(rank)
        return claim is not None and bool(claim.nic)

    @property
    def moves_nothing(self) -> bool:
        """True for the null transport and for a model without counters: no byte moves."""
        opened = self.run.open
        if opened is None or opened.transport not in ("null", "model"):
            return False
        return opened.transport == "null" or not self.run.claim.played

    def idle_of(self, reader_of: Mapping[int, int]) -> dict[int, Idle]:
        """Return the idle reading of each reader, or of a rank that shares its namespace."""
        covered = sorted(reader_of.items(), reverse=True)
        own = ((rank, rank) for rank in set(reader_of.values()))
        return {reader: self.idle[rank] for rank, reader in (*covered, *own) if rank in self.idle}

    def adapter_of(self, rank: int, name: str) -> set[tuple[str, str]]:
        """Return all identities reported by the adapters behind and below a port; empty if none is
        known.
        """
        host = self.hosts.get(rank)
        return set() if host is None else adapters_of(host.nics, name)

    def hostnames_differ(self, a: int, b: int) -> bool:
        """Return whether both hosts report a name and the names differ."""
        first, second = self.hosts.get(a), self.hosts.get(b)
        return (
            first is not None
            and second is not None
            and bool(first.hostname and second.hostname)
            and (first.hostname != second.hostname)
        )

    def same_machine(self, a: int, b: int) -> bool | None:
        """Compare two hosts by boot id, never by name alone.

        Two network namespaces of one kernel are two hosts in a virtual lab. Anywhere else only the
        counters can tell, so the answer is None, as it is if nothing identifies the hosts.
        """
        first, second = self.hosts.get(a), self.hosts.get(b)
        if first is None or second is None:
            return None
        if first.boot_id and second.boot_id:
            if first.boot_id != second.boot_id:
                return False
            apart = bool(first.netns and second.netns and first.netns != second.netns)
            return (False if self.virtual else None) if apart else True
        if first.machine_id and second.machine_id and first.machine_id != second.machine_id:
            return False
        return None


def context(
    run: Run,
    criteria: Criteria,
    link: LinkClaim | None,
    table: Table | None,
    atlas: Atlas | None = None,
) -> Context:
    """Index a run. ``link`` overrides the link of the claim."""
    claims = {claim.rank: claim for claim in run.claim.hosts}
    nics = {rank: claim.nic for rank, claim in claims.items()}
    hosts = {host.rank: with_rails(host, nics.get(host.rank, "")) for host in run.hosts}
    link = link or run.claim.link
    virtual = run.claim.virtual or (link is not None and is_shaped(link))
    readings = [reading for point in run.points for reading in point.witness]
    hidden = {reading.rank: True for reading in readings if reading.foreign_sysfs}
    ctx = Context(
        run=run,
        criteria=criteria,
        table=table or default_table(),
        link=link,
        claimed_link=link,
        virtual=virtual,
        hosts=hosts,
        claims=claims,
        idle={idle.rank: idle for idle in run.idle},
        atlas=atlas,
        ports=ports_of(hosts, hidden, moved_in(run)),
        nics={
            rank: nic
            for rank, host in hosts.items()
            if (nic := claimed_nic(host.nics, nics.get(rank, ""))) is not None
        },
    )
    return with_link(ctx, link)


def with_link(ctx: Context, link: LinkClaim | None) -> Context:
    """Return the context with ``link`` as the link to judge against."""
    return replace(ctx, link=None if link is None else _with_mtu(ctx, link))


def _with_mtu(ctx: Context, link: LinkClaim) -> LinkClaim:
    """Fill an unclaimed MTU with the smallest of the NICs.

    Only for Ethernet does the MTU determine the packet size.
    """
    if link.mtu is not None or link.protocol not in ("tcp", "rocev2"):
        return link
    nics = [ctx.claimed_nic(rank) for rank in ctx.claims]
    sizes = [nic.mtu for nic in nics if nic is not None and nic.mtu and possible_mtu(nic.mtu)]
    return (
        msgspec.structs.replace(link, mtu=min(sizes)) if sizes and len(sizes) == len(nics) else link
    )
