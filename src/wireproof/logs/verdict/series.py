# pure
"""``judge_series(series, link) -> SeriesVerdict``: judge the results of another program. Pure."""

import msgspec

from wireproof.atlas import Atlas
from wireproof.logs.verdict.curve import MEBI, OF_SEVERAL, Case, curve_of, explanations, neighbours
from wireproof.logs.verdict.declared import (
    as_stream,
    bypass,
    carrier,
    far_too_slow,
    judge_declared,
    path_mtu,
)
from wireproof.logs.verdict.expectation import judge_expectation, judge_middle, judge_start
from wireproof.logs.verdict.floor import judge_physics
from wireproof.logs.verdict.published import idle_beside, judge_published
from wireproof.logs.verdict.rates import judge_pairs
from wireproof.logs.verdict.shape import judge_shape
from wireproof.logs.verdict.soundness import judge_soundness, tell_formula
from wireproof.model.claim import Criteria, LinkClaim
from wireproof.model.finding import Proof, rank, verdict_of
from wireproof.model.quantity import first_few, short_time, throughput
from wireproof.model.series import Series, SeriesVerdict
from wireproof.physics.bounds import CurveBounds, bounds_of
from wireproof.physics.claims import carried_by
from wireproof.physics.framing import ROCE_ROOM, over_fabric
from wireproof.physics.table import Table

_VERBS_PATHS = ("rdma", "verbs", "roce", "rocev2", "rc", "ud")
_OPEN_PATHS = ("", "ucx", "ofi", "mpi", "any")
_NAMED = 6


def judge_series(
    series: Series,
    link: LinkClaim | None,
    *,
    path: str = "",
    criteria: Criteria | None = None,
    table: Table | None = None,
    atlas: Atlas | None = None,
    counted: bool = False,
) -> SeriesVerdict:
    """Judge one series against the claimed link; without a claim, against the limits of any NIC.

    ``path`` is the transport of the bytes according to the user. If it leaves the choice open, an
    Ethernet link is judged as kernel TCP, unless the series itself names RDMA, or its start
    excludes TCP and RoCE explains the whole curve. ``criteria`` and ``table`` override thresholds
    and constants. ``atlas`` contains published numbers: a result that is usual there is not a
    shortfall. ``counted``: counters have shown the bytes on the wire. Never raises for any series;
    raises PhysicsError for an impossible claim.
    """
    series = as_stream(series)
    case = Case(
        series, curve_of(series), criteria or Criteria(), table, counted=counted, atlas=atlas
    )
    if link is not None:
        case.bounds = _chosen(case, link, path.strip().lower(), table)
    judge_soundness(case)
    judge_declared(case)
    judge_physics(case)
    judge_shape(case)
    judge_pairs(case)
    tell_formula(case)
    attainable, derivation = _expect(case)
    judge_published(case)
    _unit_doubt(case, attainable)
    if case.off:
        case.reasons = [reason for reason in case.reasons if reason.code != "no-limit-known"]
    return _verdict(case, attainable, derivation)


def _chosen(case: Case, link: LinkClaim, path: str, table: Table | None) -> CurveBounds:
    """Return the bounds of the link as the series uses it.

    Verbs programs are judged against RDMA and socket programs against TCP, whatever was claimed;
    all others against the claim, or against RoCE if only that explains the numbers of an Ethernet
    link.
    """
    verbs, way = case.series.protocol == "rdma", carrier(case.series)
    if way == "rdma":
        link = _with_path_mtu(case.series, link)
        if link.protocol == "tcp" and not over_fabric(link):
            rdma = _with_path_mtu(case.series, carried_by(link, "rdma"))
            bounds = bounds_of(rdma, table, verbs=verbs)
            return _instead(case, bounds, "judged-as-rdma", "RDMA", path)
        return bounds_of(link, table, verbs=verbs)
    past = bypass(case.series, path)
    if past or (way == "tcp" and path in _VERBS_PATHS):
        return _past_the_kernel(case, link, past or f"path {path}", table)
    if way == "tcp" and link.protocol not in ("tcp", "shm", "loopback"):
        bounds = bounds_of(carried_by(link, "tcp"), table)
        return _instead(case, bounds, "judged-as-tcp", "kernel TCP or UDP", path)
    bounds = bounds_of(link, table, verbs=verbs)
    if link.protocol != "tcp" or over_fabric(link) or path not in _OPEN_PATHS or way == "tcp":
        return bounds
    return _roce_if_only_that_explains(case, bounds, table)


def _roce_if_only_that_explains(
    case: Case, bounds: CurveBounds, table: Table | None
) -> CurveBounds:
    """For an Ethernet link without a stated transport: RoCE, if the start excludes TCP and RoCE
    explains the curve.
    """
    start = case.start_ns
    if start is None or start >= bounds.hard:
        return bounds
    roce = bounds_of(carried_by(bounds.link, "rdma"), table)
    if start < roce.doubt or not _explains(case, roce):
        return bounds
    case.guessed = True
    case.add(
        "judged-as-rdma",
        "note",
        f"a start of {short_time(start)} excludes kernel TCP ({short_time(bounds.floor)} at least) "
        f"and RoCE explains the whole curve: judged as {roce.link.name}; give --path tcp if "
        "TCP was used",
        {"start_ns": start, "tcp_floor_ns": bounds.floor},
    )
    return roce


def _past_the_kernel(case: Case, link: LinkClaim, past: str, table: Table | None) -> CurveBounds:
    """Judge sockets in user space: framed as TCP, but as fast as the adapter."""
    if link.protocol not in ("tcp", "shm", "loopback"):
        link = carried_by(link, "tcp")
    bounds = bounds_of(link, table, bypass=True)
    text = (
        f"{past}: sockets that bypass the kernel, judged as {bounds.link.name} without the"
        " kernel's floor"
    )
    case.add("judged-past-kernel", "note", f"{text} ({short_time(bounds.floor)} instead)")
    return bounds


def _with_path_mtu(series: Series, link: LinkClaim) -> LinkClaim:
    """Use the path MTU that the program prints, whatever MTU the interface has."""
    mtu = path_mtu(series)
    if mtu is None or link.protocol not in ("rocev2", "infiniband", "omnipath"):
        return link
    if mtu > 4096 and link.protocol != "omnipath":
        return link  # not a valid path MTU
    # The MTU of a RoCE interface includes the headers: this value leaves exactly ``mtu``.
    return msgspec.structs.replace(link, mtu=mtu + ROCE_ROOM if link.protocol == "rocev2" else mtu)


def _instead(case: Case, bounds: CurveBounds, code: str, what: str, path: str) -> CurveBounds:
    contradiction = f", although path {path} was given" if path not in _OPEN_PATHS else ""
    text = f"{case.series.benchmark} uses {what}: judged as {bounds.link.name}{contradiction}"
    agrees = (code == "judged-as-tcp") == (path in ("tcp", "udp", "sockets"))
    case.add(code, "note" if not contradiction or agrees else "warning", text[:400])
    return bounds


def _explains(case: Case, bounds: CurveBounds) -> bool:
    """Return whether nothing excludes the bounds.

    A cache-shaped curve is allowed only if the start is too slow for memory; the series keeps that
    doubt.
    """
    trial = Case(case.series, case.curve, case.criteria, case.table, bounds)
    judge_physics(trial)
    judge_shape(trial)
    late = (case.start_ns or 0.0) >= case.constant("typical.shm")
    allowed = {"cache-shaped"} if late else set()
    return not any(
        r.severity in ("fail", "inconclusive") and r.code not in allowed for r in trial.reasons
    )


def _expect(case: Case) -> tuple[float | None, list[str]]:
    """Return the attainable goodput with its derivation, and add reasons for results that are too
    slow."""
    bounds = case.bounds
    if bounds is None:
        case.add("no-limit-known", "inconclusive", _without_link(case))
        return None, []
    if not bounds.wire:
        case.add(
            "no-wire-claimed",
            "inconclusive",
            f"{case.kind} was claimed, so no network is judged",
        )
        return None, []
    fastest = case.fastest
    attainable, lines = bounds.expected(case.held_goodput(fastest) if fastest is not None else None)
    floor = (
        f"floor {short_time(bounds.floor)}, usual up to {short_time(bounds.slow)} for half a "
        "round trip of a small message"
    )
    if case.off or case.mixed:
        return attainable, [*lines, floor]
    case.rate_known = judge_expectation(case, bounds, attainable)
    judge_start(case, bounds)
    if not case.rate_known:
        judge_middle(case, bounds, attainable)
    _held_by(case, attainable)
    return attainable, [*lines, floor]


def _without_link(case: Case) -> str:
    start, best = case.start_ns, case.curve.best
    observed = [f"starts at {short_time(start)}"] if start is not None else []
    observed += [f"reaches {throughput(best.goodput)}"] if best is not None else []
    shown = (
        f"the series {' and '.join(observed)}"
        if observed
        else "the series has no number for a single path"
    )
    return f"no link is claimed, so there is no limit: {shown}; name the link with --link"


def _held_by(case: Case, attainable: float | None) -> None:
    """Add a reason for what could not be checked against the link, so that nothing passes without
    evidence."""
    series = case.series
    if case.guessed and not case.rate_known and case.held:
        text = (
            "RDMA was inferred from the start-up time alone, and no size shows the rate; "
            "give --path rdma or tcp"
        )
        case.add("sizes-too-small", "inconclusive", text)
    if series.traffic == "other":
        case.held = False
        text = f"{series.benchmark} is not judged by a link's limits"
        case.add("not-a-link-test", "inconclusive", text)
    elif (
        series.traffic in ("collective", "ring")
        or case.chain
        or (case.fenced and not case.rate_known)
    ):
        _held_collective(case)
    elif not case.rate_known:
        _held_small(case, attainable)


def _held_small(case: Case, attainable: float | None) -> None:
    """Judge a series in which no size shows the rate: only the start can be compared with its
    floor."""
    curve = case.curve
    if not case.held and curve.rows:
        what = (
            "no rate is claimed"
            if attainable is None
            else "the sizes are too small to show the rate of the link"
        )
        text = f"{what}, and the series has no start to compare with a floor"
        case.add("sizes-too-small", "inconclusive", text)
    elif attainable is None and curve.best is not None and curve.start is None:
        case.held = False
        text = f"{case.kind} without a rate has only a floor; write {case.kind}:GBPS"
        case.add("no-limit-known", "inconclusive", text)


def _held_collective(case: Case) -> None:
    """Report that a collective or ring never passes: within one node it can take as long as over a
    fast wire. So can an operation with a fence whose rate the link does not limit.
    """
    case.held = False
    if far_too_slow(case):
        return
    beside = ", and ranks may be neighbours on one node" if neighbours(case.series) else ""
    case.add(
        "only-a-floor",
        "inconclusive",
        f"{case.series.benchmark} is compared with the floor only, because a link's goodput does "
        f"not limit it{beside}",
    )


def _unit_doubt(case: Case, attainable: float | None) -> None:
    """Report a doubtful unit; it is serious only if a factor of 1.0486 would change the verdict."""
    doubt, best = case.series.unit_doubt, case.curve.best
    if not doubt:
        return
    share = case.criteria.min_efficiency
    near = False
    if attainable and best is not None and not best.wait_ns:
        reached = best.goodput / attainable
        near = any(
            (reached >= limit) != (reached * f >= limit)
            for limit in (share, 1.02)
            for f in (MEBI, 1 / MEBI)
        )
    change = (
        "; the other unit would change the verdict" if near else "; the verdict is the same in both"
    )
    case.add("unit-doubt", "inconclusive" if near else "note", f"{doubt}{change}"[:400])


def _verdict(case: Case, attainable: float | None, derivation: list[str]) -> SeriesVerdict:
    best = case.curve.best
    verdict = verdict_of(reason.severity for reason in case.reasons)
    if verdict == "pass" and not case.held:
        verdict = "inconclusive"
    proof: Proof = "mixed" if case.mixed else "off-wire" if case.off else "unproven"
    explained = [] if verdict == "pass" else _explained(case)
    if case.off and idle_beside(case.series):
        case.add("explained-by", "note", _NEIGHBOURS)
    if proof == "unproven" and (case.bounds is None or case.bounds.wire):
        case.add("log-without-counters", "note", _NO_COUNTERS)
    return SeriesVerdict(
        proof=proof,
        verdict=verdict,
        efficiency=_efficiency(case, attainable) if proof == "unproven" else None,
        attainable_bytes_per_s=attainable,
        best_bytes_per_s=best.goodput if best is not None else None,
        start_ns=case.start_ns,
        reasons=sorted(case.reasons, key=lambda reason: rank(reason.severity)),
        explained_by=explained,
        places=case.places,
        derivation=derivation,
    )


def _efficiency(case: Case, attainable: float | None) -> float | None:
    """Return the share of attainable that the fastest row reached; None if no size shows the
    rate.
    """
    best, fastest = case.curve.best, case.fastest
    if best is None or not attainable or not case.rate_known:
        return None
    return (best.goodput if fastest is None else case.held_goodput(fastest)) / attainable


def _explained(case: Case) -> list[str]:
    """Return the names of the links that would explain the curve, and add a note about them."""
    series = case.series
    if series.traffic in OF_SEVERAL or case.chain:
        return []
    names = explanations(
        case.curve,
        verbs=series.protocol == "rdma",
        way=carrier(series),
        fills=_FILLS // case.in_flight,
    )
    _name(case, names)
    return names


_FILLS = 65_536
_NEIGHBOURS = (
    "other processes of the job waited: the first ranks often share a host, so judge the link by "
    "the table of all processes, or start one process per host"
)
_NO_COUNTERS = "a log contains no port counters: the numbers neither contradict nor prove the wire"


def _name(case: Case, explained: list[str]) -> None:
    """Add a note with the links that explain the numbers, if there is no claim or the claim does
    not explain them.
    """
    if not case.curve.rows or (case.bounds is not None and (not case.off or not explained)):
        return
    text = "no known link explains the numbers"
    if explained:
        text = f"the numbers are consistent with {first_few(explained, _NAMED)}"
    case.add("explained-by", "note", text, {"links": explained})
