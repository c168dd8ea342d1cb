# pure
"""Compare a real run with the formula, and infer the number of communicating pairs. Pure. A count
of QPs alone does not show which ranks communicated: several assumptions may explain it. Each is
reported as a possible reading.
"""

import re
from collections import Counter
from typing import Any

import msgspec
from msgspec.structs import replace

from wireproof.model.errors import BadInput, decode_json
from wireproof.plan import Bounds, Footprint, FootprintPart, Observed, QpReading

# --- Parse the output of ``rdma resource show`` on one node, as text or JSON. Pure.
#
# ``rdma resource show qp`` has a line ``link mlx5_0/1 lqpn 87 type RC state RTS ... pid 4711 comm
# osu`` per QP, ``rdma resource show mr`` one with ``mrlen`` per memory region, ``rdma resource
# show`` alone ``0: mlx5_0: pd 3 cq 5 qp 4 ...``. One file may contain several outputs.

_KERNEL_QPS = {"SMI", "GSI"}
_LINE = re.compile(r"^(?:\S+\s+)?(?:link|dev)\s+(\S+)\s+(.*)$", re.ASCII)
_SUMMARY = re.compile(r"^\s*[0-9]+:\s+(\S+?):\s+(.*\bqp\s+[0-9]{1,9}\b.*)$", re.ASCII)
_KIND = re.compile(r"[A-Z_]{1,20}", re.ASCII)
_MOST_LINES = 5_000_000


def resources_of(text: str) -> Observed:
    """Parse the output, to be compared by ``of_node``. ``by_kind`` has the QPs of each type without
    subnet management (SMI, GSI), ``processes`` their owners (None if no owner is printed),
    ``registered_bytes`` the memory regions (None if none is listed).

    Raises BadInput if it lists no QP and no memory region.
    """
    rows = _json_rows(text) if text.lstrip()[:1] in "[{" else _text_rows(text)
    kinds: Counter[str] = Counter()
    owners: set[str] = set()
    registered: int | None = None
    summary: Counter[str] = Counter()
    for row in rows:
        if "lqpn" in row:
            kind = str(row.get("type", "")).upper()
            kind = kind if _KIND.fullmatch(kind) else "UNKNOWN"
            if kind not in _KERNEL_QPS:
                kinds[kind] += 1
                owners |= {str(row["pid"])} if "pid" in row else set()
        elif "mrlen" in row:
            registered = (registered or 0) + _number(row["mrlen"])
        elif "qp" in row:
            summary["any"] += _number(row["qp"])
    found = kinds or summary
    if not found and registered is None:
        raise BadInput(
            "the observed output lists no QP: give the output of 'rdma resource show qp' on"
            " one "
            "node while the job runs."
        )
    return replace(
        _observed("rdma resource of one node", found.total(), inside=False, sentences=[]),
        by_kind=dict(sorted(found.items())),
        processes=len(owners) or None,
        registered_bytes=registered,
    )


def _number(value: object) -> int:
    text = str(value)
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BadInput(f"{text[:40]!r} in the observed output is not a number of QPs or bytes.")
    return int(text)


def _json_rows(text: str) -> list[dict[str, Any]]:
    try:
        found = decode_json(text, object)
    except msgspec.DecodeError as error:
        raise BadInput(f"the observed output is not JSON of rdma -j: {error}.") from None
    rows = found if isinstance(found, list) else [found]
    return [row for row in rows if isinstance(row, dict)]


def _text_rows(text: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for line in text.splitlines()[:_MOST_LINES]:
        if found := _LINE.match(line.strip()) or _SUMMARY.match(line):
            words = found.group(2).split()
            rows.append(dict(zip(words[::2], words[1::2], strict=False)))
    return rows


_CONNECTIONS = (1, 2, 4, 8, 16)
"""Values of rv's num_conn (QPs per connected pair of nodes); each value that fits leads to a
reading."""
_CLOSE = 0.01


def of_job(found: Footprint, qps: int) -> Observed:
    """Compare the QPs of a whole job with the bounds, and infer the number of pairs."""
    _not_negative("--seen-qps", qps)
    inside = found.qps.job.low <= qps <= found.qps.job.high
    readings = _readings(found, qps) if inside else []
    sentences = [_place(qps, found.qps.job, "QPs of the job"), *(one.sentence for one in readings)]
    if len(readings) > 1:
        sentences.append("the count alone does not distinguish these readings")
    seen = _observed("the job's QPs", qps, inside=inside, sentences=sentences)
    return replace(seen, readings=readings, job_qps=float(qps))


def of_memory(found: Footprint, seen_bytes: int) -> Observed:
    """Compare the memory of a whole job with the transport's part; the rest belongs to other
    users.
    """
    _not_negative("--seen-memory", seen_bytes)
    job = found.bytes.job
    inside = job.low <= seen_bytes <= job.high
    formula = f"{job.low / 1e9:,.1f} to {job.high / 1e9:,.1f} GB"
    sentences = [
        f"{seen_bytes / 1e9:,.1f} GB for the job; the formula has {formula} for the transport"
    ]
    if seen_bytes > job.high:
        share = Bounds(job.low / seen_bytes, job.high / seen_bytes)
        sentences.append(
            f"that is {100 * share.low:.0f} to {100 * share.high:.0f} %; at least"
            f" {(seen_bytes - job.high) / 1e9:,.1f} GB are the application's, the system's or"
            " something that the formula lacks"
        )
    return _observed("the job's memory", 0, inside=inside, sentences=sentences)


def of_node(found: Footprint, seen: Observed) -> Observed:
    """Compare the output of ``rdma resource`` on one node with the formula, and extrapolate to the
    job."""
    inside = found.qps.node.low <= seen.qps <= found.qps.node.high
    sentences = [_place(seen.qps, found.qps.node, "QPs of this node")]
    if seen.processes not in (None, found.ppn):
        sentences.append(
            f"{seen.processes} processes own QPs, but --ppn is {found.ppn}: another job, or ranks"
            " without an endpoint"
        )
    fixed = sum(part.qps.high for part in found.parts if part.per == "rank") * found.ppn
    job: float | None = None
    readings: list[QpReading] = []
    if seen.qps >= fixed:
        job = fixed * found.nodes + (seen.qps - fixed) * found.nodes
        sentences.append(f"if every node had as many, the job would have {job:,.0f} QPs")
        readings = [_node_reading(found, part, seen.qps - fixed) for part in _of_peers(found)]
        sentences += [reading.sentence for reading in readings]
    if seen.registered_bytes is not None:
        node = found.bytes.node.times(1e-6)
        sentences.append(
            f"{seen.registered_bytes / 1e6:,.1f} MB are registered on this node; the formula has"
            f" {node.low:,.1f} to {node.high:,.1f} MB of buffers and queues, and the application's"
            " registered memory adds to that"
        )
    return replace(seen, inside=inside, sentences=sentences, readings=readings, job_qps=job)


def _of_peers(found: Footprint) -> list[FootprintPart]:
    """Return the parts with QPs for each remote rank or node."""
    return [part for part in found.parts if part.per != "rank" and part.qps.high]


def _observed(what: str, qps: int, *, inside: bool, sentences: list[str]) -> Observed:
    return Observed(
        what=what,
        qps=qps,
        by_kind={},
        processes=None,
        registered_bytes=None,
        inside=inside,
        sentences=sentences,
        readings=[],
        job_qps=None,
    )


def _not_negative(name: str, value: int) -> None:
    if not 0 <= value <= 10**18:
        raise BadInput(f"{name} is out of range: give the observed number, 0 to 10^18.")


def _place(seen: float, bounds: Bounds, what: str) -> str:
    number = f"{seen:,.0f}"
    if bounds.known and abs(seen - bounds.low) <= _CLOSE * bounds.low:
        return f"{number} {what}: this is the formula's number"
    limits = f"{bounds.low:,.0f} and {bounds.high:,.0f}"
    if bounds.low <= seen <= bounds.high:
        return f"{number} {what} lie between the bounds, {limits}"
    side = "fewer" if seen < bounds.low else "more"
    return (
        f"{number} {what} are {side} than the bounds allow ({limits}): another mode, other "
        "settings or another job"
    )


def _readings(found: Footprint, qps: int) -> list[QpReading]:
    """Return the numbers of pairs that explain ``qps`` by the formula: first with the configured
    QPs per pair of nodes, then with other values that lead to a whole number of pairs.
    """
    rest = qps - found.qps.job.low
    peers = _of_peers(found)
    if not peers:
        return []
    part = peers[0]
    most = found.peers.most_pairs * (found.ppn**2 if part.per == "peer rank" else 1)
    own = int(part.qps.high)
    counts = [c * found.rails for c in _CONNECTIONS] if part.per == "peer node" else []
    others = [_reading(found, part, count, rest, most) for count in counts if count != own]
    likely = [one for one in others if one.whole and one.pairs <= most]
    return [_reading(found, part, own, rest, most), *likely]


def _reading(found: Footprint, part: FootprintPart, own: int, rest: float, most: int) -> QpReading:
    pairs = rest / (2 * own)
    whole = pairs == int(pairs)
    what = "pairs of nodes" if part.per == "peer node" else "pairs of ranks"
    share = pairs / most if most else 0.0
    mean = ""
    if part.per == "peer node" and found.nodes:
        mean = f", {2 * pairs / found.nodes:.6g} peer nodes per node on average"
    number = f"{pairs:,.0f}" if whole else f"{pairs:,.2f}"
    sentence = (
        f"with {own} QP{'s' if own > 1 else ''} per connection it corresponds to {number} connected"
        f" {what} of {most:,} ({100 * share:.1f} %){mean}"
    )
    if not whole:
        sentence += ": not a whole number, so this reading is not exact"
    return QpReading(connection=own, pairs=pairs, share=share, whole=whole, sentence=sentence)


def _node_reading(found: Footprint, part: FootprintPart, rest: float) -> QpReading:
    per_node = part.per == "peer node"
    each = part.qps.high * (1 if per_node else found.ppn)
    peers = rest / each
    most = (found.nodes - 1) * (1 if per_node else found.ppn)
    what = "remote nodes of this node" if per_node else "remote ranks of a rank, on average"
    return QpReading(
        connection=int(part.qps.high),
        pairs=peers,
        share=peers / most if most else 0.0,
        whole=peers == int(peers),
        sentence=f"{rest:,.0f} QPs of {part.name} are {peers:,.4g} {what}, of {most:,}",
    )
