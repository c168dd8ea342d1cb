# pure
"""The observations of a launch: the settings that the library reports in its output, and the rails
that carried the payload. Pure.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from wireproof.experiment.study import Configuration, Knob, Library, Readback, ReadRule
from wireproof.ledger.crossed import everywhere
from wireproof.ledger.relations import port_called
from wireproof.ledger.traffic import ports_of, watch
from wireproof.model.claim import Criteria
from wireproof.model.errors import BadInput
from wireproof.model.finding import Judgement, Proof, worst_proof
from wireproof.model.record import Host, Nic
from wireproof.model.run import Run
from wireproof.model.secrets import MASK, masked

LONGEST_LINE = 1000
LONGEST_VALUE = 200

Said = Mapping[str, Sequence[tuple[str, str, str]]]
"""By kind of line: (rank, name, value) in the order of the text; "" if a line lacks it."""


def said_in(text: str, library: Library) -> Said:
    """Return every line of a kind in the library's catalogue; a line may list several settings."""
    compiled = {kind: re.compile(pattern) for kind, pattern in library.says.items()}
    ranked = re.compile(library.rank or "(?!)")
    found: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for whole in text.splitlines():
        line = whole[:LONGEST_LINE]
        for kind, pattern in compiled.items():
            for match in pattern.finditer(line):
                rank = ranked.search(line)
                found[kind].append(_entry(match, rank["rank"] if rank else ""))
    return found


def _entry(match: re.Match[str], rank: str) -> tuple[str, str, str]:
    """Return rank, name (``owner/name`` if the line has both) and value."""
    groups = match.groupdict(default="")
    name = "/".join(part for part in (groups.get("owner", ""), groups.get("name", "")) if part)
    value = groups["value"].strip()[:LONGEST_VALUE]
    return groups.get("rank", "") or rank, name, _kept(name, value)


def _kept(name: str, value: str) -> str:
    """Return the value, masked if it or its name looks like a secret."""
    whole = f"{name or 'value'}={value}"
    return value if masked(whole) == whole else MASK


_FAILURE = r"(?i)^(?!\s*help:)(?P<value>.*\b(?:error|fatal|fail\w*|abort\w*|cannot|unable)\b.*)"
"""Excludes lines that begin with "Help:", in which libraries explain their variables."""


def complaint(text: str, library: Library) -> str:
    """Return the line in which the library reports why it does not start, or "".

    By the catalogue's kinds, the most specific first; otherwise a line that mentions a failure.
    """
    lines = [line[:LONGEST_LINE] for line in text.splitlines()]
    for pattern in (*library.complaints, _FAILURE):
        match = next((found for line in lines if (found := re.search(pattern, line))), None)
        if match is not None:
            return masked((match.groupdict().get("value") or match[0]).strip()[:LONGEST_VALUE])
    return ""


def readbacks(said: Said, knob: Knob, asked: Configuration | None) -> list[Readback]:
    """Return what every rank reports about ``knob``, requested in this run or not (None).

    The last report of a rank counts: a library may change a value while it starts.
    """
    value = asked.value if asked is not None else None
    found: list[Readback] = []
    for reading in knob.read:
        for rank, seen in _by_rank(said, reading, reading.name or knob.name).items():
            found.append(
                Readback(
                    setting=knob.name,
                    asked=value,
                    seen=seen,
                    source=reading.of,
                    rank=rank,
                    agrees=None if value is None else _agrees(reading, value, seen),
                )
            )
    return found


def _by_rank(said: Said, reading: ReadRule, name: str) -> dict[str, str]:
    """Return the last value of each rank; lines of one rank that belong to no setting are
    joined.
    """
    found: dict[str, str] = {}
    joined: dict[str, list[str]] = defaultdict(list)
    for rank, of, value in said.get(reading.of, ()):
        if of == name:
            found[rank] = value
        elif not of and value not in joined[rank]:
            joined[rank].append(value)
    return found or {rank: ",".join(sorted(values)) for rank, values in joined.items() if values}


def _agrees(reading: ReadRule, asked: str, seen: str) -> bool | None:
    """Return whether the report fits the request; None if that is unclear."""
    expected = reading.expect.get(asked, reading.expect.get("*"))
    if expected is not None:
        wanted = expected.replace("{value}", re.escape(asked))
        return re.search(wanted, seen) is not None
    return _plain(asked) == _plain(seen) if reading.itself else None


_WORDS = {
    "yes": "1",
    "no": "0",
    "true": "1",
    "false": "0",
    "on": "1",
    "off": "0",
    "y": "1",
    "n": "0",
}
_SIZE = re.compile(r"([0-9]{1,18})([kmg])i?b?", re.ASCII)
_POWER = {"k": 10, "m": 20, "g": 30}


def _plain(text: str) -> str:
    """Return a value in one spelling: 1 for YES and 0x1, 65536 for 64k; quotes are removed."""
    text = text.strip().strip("'\"").lower()
    text = _WORDS.get(text, text)
    if (size := _SIZE.fullmatch(text)) is not None:
        return str(int(size[1]) << _POWER[size[2]])
    if re.fullmatch(r"0x[0-9a-f]{1,32}", text):
        return str(int(text, 16))
    return str(int(text)) if re.fullmatch(r"[0-9]{1,32}", text) else text


# --- Find which rails carried the payload of a launch if a library may use several. Pure.


def path_of(run: Run, judgement: Judgement, rails: Sequence[str]) -> tuple[Proof, dict[str, float]]:
    """Return the path of the launch if ``rails`` may share the payload, and each port's share of
    sent bytes.

    ``judgement``: that of the single claimed port. If there are points of large messages between
    pairs, only these are used: the ports can distinguish them.
    """
    proof = _claimed_path(judgement)
    sent, payload = _sent(run)
    whole = sum(sent.values())
    shares = {name: count / whole for name, count in sent.items() if count > 0.01 * whole}
    if proof not in ("mixed", "wrong-path") or len(rails) < 2 or not payload:
        return proof, shares
    criteria = Criteria()
    on_rails = sum(count for name, count in sent.items() if name in rails)
    if whole - on_rails > criteria.stray_share * payload:
        return proof, shares
    if criteria.on_wire_min * payload <= on_rails <= criteria.on_wire_max * payload:
        return "on-wire", shares
    return proof, shares


def _claimed_path(judgement: Judgement) -> Proof:
    """Return the worst path of the points with enough bytes."""
    large = Criteria().min_payload_bytes
    found = [pair.proof for pair in judgement.pairs if pair.message_bytes >= large]
    return worst_proof(found) if found else judgement.proof


def _sent(run: Run) -> tuple[dict[str, float], float]:
    """Return the bytes that left all hosts, by port, and the payload that had to leave them."""
    ports = ports_of({host.rank: host for host in run.hosts})
    idle = {one.rank: one for one in run.idle}
    sent: dict[str, float] = defaultdict(float)
    payload = 0.0
    for point in run.points:
        if not point.pairs or point.message_bytes < Criteria().min_payload_bytes:
            continue
        payload += sum(
            pair.payload_forward_bytes + pair.payload_backward_bytes for pair in point.pairs
        )
        for ledger in watch(point, ports, idle).values():
            for name, crossed in everywhere(ledger, "tx").items():
                sent[name] += crossed.bytes or 0.0
    return dict(sent), payload


def rails_of(host: Host, claimed: str) -> list[Nic]:
    """Return the claimed NIC first, then NICs like it; empty if it does not exist.

    They have its kind and stated speed, a carrier and an address.
    """
    own = port_called(host.nics, claimed)
    if own is None:
        return []
    like = [nic for nic in host.nics if nic.name != own.name and _is_like(nic, own)]
    return [own, *sorted(like, key=lambda nic: nic.name)]


def _is_like(nic: Nic, own: Nic) -> bool:
    return (
        nic.kind != "loopback"
        and (nic.kind, nic.link_kind) == (own.kind, own.link_kind)
        and nic.speed_mbps == own.speed_mbps
        and nic.carrier is not False
        and not nic.lower
        and bool(nic.address)
    )


# --- Which NICs may share the library's payload, the same on all hosts.


def agreed_rails(hosts: Sequence[Host], asked: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the claimed NICs if there are several, else the claimed NIC and those like it on every
    host.

    Also return a remark about them. Raises ``BadInput`` for a rail that does not exist, has no
    address, or differs in speed from another.
    """
    if len(asked) > 1:
        for host in hosts:
            _check(host, asked)
        return tuple(asked), []
    claimed = asked[0].partition(":")[0] if asked else ""
    lists = [[nic.name for nic in rails_of(host, claimed)] for host in hosts]
    shared = [name for name in (lists[0] if lists else []) if all(name in one for one in lists)]
    if len(shared) < 2:
        return tuple(shared), []
    return tuple(shared), [
        f"rails: {', '.join(shared)} (of equal speed on all hosts); --nic NIC,NIC selects others"
    ]


def _check(host: Host, asked: Sequence[str]) -> None:
    where = host.host or host.hostname
    found: list[Nic] = []
    for name in asked:
        nic = next((one for one in host.nics if one.name == name), None)
        if nic is None:
            there = ", ".join(one.name for one in host.nics if one.kind != "loopback")
            raise BadInput(f"--nic: {where} has no NIC {name[:40]!r}; it has {there[:200]}.")
        if not nic.address:
            raise BadInput(f"--nic: {name} of {where} has no address.")
        found.append(nic)
    if len({one.speed_mbps for one in found}) > 1:
        speeds = ", ".join(f"{one.name} {one.speed_mbps or '?'} Mb/s" for one in found)
        raise BadInput(
            f"--nic: the rails of {where} differ in speed ({speeds}), and the slowest would "
            "slow down all: name rails of equal speed."
        )
