# pure
"""Judge a run of wireproof's engine: ``judge(run, criteria) -> Judgement`` calls the steps, which
are in the other modules. Pure: equal inputs lead to equal verdicts, at any time and place.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

import msgspec

from wireproof.atlas import Atlas
from wireproof.ledger.measured import Measured, measure
from wireproof.ledger.traffic import rises
from wireproof.model import quantity
from wireproof.model.claim import Criteria, LinkClaim
from wireproof.model.finding import (
    Finding,
    GroupVerdict,
    Judgement,
    PairVerdict,
    Verdict,
    Whole,
    verdict_of,
    worst_proof,
)
from wireproof.model.pattern import one_way
from wireproof.model.record import PairResult, PointRecord
from wireproof.model.run import Run
from wireproof.physics import Table
from wireproof.verdict.context import Context, context, with_link
from wireproof.verdict.issue import Issue, merge, overall
from wireproof.verdict.path.alongside import Others
from wireproof.verdict.path.late import summed
from wireproof.verdict.path.proof import PairProof, Witnessed, prove
from wireproof.verdict.path.sentences import observed_link, path_issues
from wireproof.verdict.path.settle import settle
from wireproof.verdict.run.completeness import run_issues
from wireproof.verdict.run.directions import Stream, direction_issues
from wireproof.verdict.run.group import judge_group
from wireproof.verdict.run.loss import Loss
from wireproof.verdict.run.plateau import LongStreams, fills_link
from wireproof.verdict.run.plausible import Held, hold
from wireproof.verdict.run.quality import (
    arithmetic_issues,
    decides,
    disturbance,
    down_between_points,
    precision_issues,
    sentinel_issues,
    status_issues,
    trouble_issues,
    waited_share,
)
from wireproof.verdict.run.shape import (
    CurveSample,
    Variant,
    cache_issues,
    launch_issues,
    places_of,
    switch_issues,
    trailing,
)
from wireproof.verdict.run.striping import Striping, down_issues, rail_issues

OF_A_LIBRARY = frozenset(
    {
        "library-mismatch",
        "mixed-paths",
        "nolocal-shm",
        "off-wire",
        "one-host",
        "one-rail",
        "port-uncounted",
        "rdma-instead-of-tcp",
        "slow-start",
        "striped",
        "tcp-instead-of-rdma",
        "traffic-off-wire",
        "traffic-wrong-path",
        "unequal-rails",
        "wrong-path",
    }
)
"""Codes whose advice refers to an MPI library's variables."""
_ADVICE = {
    "tcp": (
        "These are wireproof's sockets, bound to the claimed NIC's address: check the routes of "
        "both hosts (ip route get PEER from ADDRESS, ip rule) and claim the NIC that you want to "
        "measure (--nic)."
    ),
    "ofi": (
        "No MPI is involved: the record contains libfabric's provider, domain and NIC; give "
        "--provider and --nic as `wireproof doctor --providers` lists them, and check the routes "
        "of both hosts (ip route get PEER from ADDRESS) if the provider uses the kernel's "
        "sockets."
    ),
}


def for_own_sockets(ctx: Context, findings: Iterable[Finding]) -> list[Finding]:
    """Replace advice about MPI libraries in ``findings`` if the transport uses none."""
    advice = _ADVICE.get(ctx.run.open.transport if ctx.run.open else "")
    return [
        msgspec.structs.replace(one, advice=advice) if advice and one.code in OF_A_LIBRARY else one
        for one in findings
    ]


_SMALL = 1024  # largest ping-pong that shows the start-up latency, bytes


def judge(
    run: Run,
    criteria: Criteria | None = None,
    *,
    link: LinkClaim | None = None,
    table: Table | None = None,
    atlas: Atlas | None = None,
) -> Judgement:
    """Judge a run by its claim.

    ``link`` and ``table`` override the claimed link and the constants of physics. ``atlas``
    contains published numbers.
    """
    ctx = context(run, criteria or Criteria(), link, table, atlas)
    points = sorted(run.points, key=lambda p: (p.id, p.repeat))
    witnessed = [prove(ctx, point) for point in points]
    pairs = [(point, pair) for point in points for pair in point.pairs]
    proofs = summed(ctx, points, witnessed)
    settled = settle(
        [
            ((ctx.name(pair.origin), ctx.name(pair.target)), point.message_bytes, proof)
            for (point, pair), proof in zip(pairs, proofs, strict=True)
        ]
    )
    ctx = with_link(ctx, observed_link(ctx, settled))
    proven = zip(pairs, (proof.proof for proof in settled), strict=True)
    bench = _Bench(ctx, Striping(ctx, pairs, settled), LongStreams(ctx, proven))
    rest = iter(settled)
    for point, seen in zip(points, witnessed, strict=True):
        bench.point(point, seen, [next(rest) for _ in point.pairs])
    return bench.judgement()


class _Bench:
    """Collects issues and verdicts point by point, and then adds issues that only the whole run
    shows."""

    def __init__(self, ctx: Context, striping: Striping, streams: LongStreams) -> None:
        self.ctx, self.striping, self.filling = ctx, striping, streams
        self.issues: list[Issue] = [*run_issues(ctx), *_link_issues(ctx), *down_issues(ctx)]
        self.pairs: list[PairVerdict] = []
        self.groups: list[GroupVerdict] = []
        self.streams: list[Stream] = []
        self.curves: dict[Variant, dict[int, CurveSample]] = defaultdict(dict)
        self.launches: dict[tuple[Variant, int], list[Measured]] = defaultdict(list)
        self.curved = _curved(ctx.run)
        self.starts = _starts(ctx)
        self.others = Others(ctx)
        self.loss = Loss(ctx)

    def point(self, point: PointRecord, seen: Witnessed, proofs: list[PairProof]) -> None:
        own = {
            reading.rank: rises(reading) for reading in point.witness if reading.shared_with is None
        }
        self.issues += trouble_issues(self.ctx, point.id, own)
        self.others.look(point, seen)
        self.loss.look(point, own)
        for pair, proof in zip(point.pairs, proofs, strict=True):
            self._pair(point, pair, proof)
        if point.group is not None:
            judged, issues = judge_group(self.ctx, point, seen.ledgers)
            self.issues += issues
            self.groups += [judged] if judged else []

    def _pair(self, point: PointRecord, pair: PairResult, proof: PairProof) -> None:
        ctx = self.ctx
        who = ctx.route(pair)
        where = f"{who}, {point.pattern} of {quantity.size(point.message_bytes)}"
        own = [*status_issues(ctx, point, who, where, pair), *path_issues(ctx, point, pair, proof)]
        number = measure(point, pair)
        if number is None:
            self.issues += own
            return
        held = Held(None, None, [], decides(number.time))
        if ctx.run.claim.wire:
            start_ns = self.starts.get((pair.origin, pair.target))
            link = self.striping.link(point, pair)
            beside = ctx if link is ctx.link else replace(ctx, link=link)
            held = hold(beside, point, pair, number, proof, start_ns, self.filling)
        own += held.issues
        own += precision_issues(ctx, point, who, where, number.time, held.decides)
        own += arithmetic_issues(ctx, point, pair, where, number)
        own += sentinel_issues(ctx, point, pair)
        self.issues += own
        self._remember(point, pair, proof, number)
        verdict = _pair_verdict(ctx, point, pair, proof, number, held, own)
        if (stripe := self.striping.of(point, pair)) is not None:
            rails = list(stripe.rails)
            verdict = msgspec.structs.replace(verdict, striping=stripe.state, rails=rails)
        self.pairs.append(verdict)

    def _remember(
        self, point: PointRecord, pair: PairResult, proof: PairProof, number: Measured
    ) -> None:
        kind_of_point = (
            f"{point.form} {point.window} {point.window_kind} {point.threads} {point.partitions}"
        )
        variant = Variant.of(self.ctx.route(pair), point, pair)
        sure, disturbed = decides(number.time), disturbance(pair)
        if point.formula == "robust" and sure:
            self.launches[variant, point.message_bytes].append(number)
        if point.message_bytes > 0 and sure and point.pattern in self.curved:
            sample = CurveSample.of(point.message_bytes, number.time, proof.proof, disturbed)
            self.curves[variant][point.message_bytes] = sample
        if one_way(point.pattern, point.form) and fills_link(self.ctx.link, point.message_bytes):
            kind = (point.pattern, kind_of_point, point.message_bytes, point.formula)
            ends = self.ctx.name(pair.origin), self.ctx.name(pair.target)
            route = pair.origin, pair.target
            self.streams.append(
                Stream(
                    *ends,
                    kind,
                    number.value,
                    number.low,
                    number.high,
                    points=(point.id,),
                    sure=sure,
                    disturbed=disturbed,
                    waited=waited_share(pair),
                    capped=self.filling.capped(route),
                    pool=self.filling.pool(route, point.message_bytes),
                )
            )

    def judgement(self) -> Judgement:
        self.issues, self.pairs = self.others.eased(self.issues, self.pairs)
        if self.ctx.run.claim.wire:
            self._compare_directions()
            self.issues += self.others.eased([*cache_issues(self.curves)], self.pairs)[0]
            self.issues += rail_issues(self.ctx, self.striping)
        self.issues += trouble_issues(self.ctx, None, down_between_points(self.ctx))
        self.issues += switch_issues(self.ctx, self.curves)
        self.issues += launch_issues(self.launches)
        if not self.pairs and not self.groups:
            self.issues.append(
                Issue(
                    "nothing-measured",
                    "inconclusive",
                    Whole(),
                    "no pair of any point has a number",
                )
            )
        named = self.others.named(self.pairs)
        places = places_of(self.ctx, self.pairs)
        self.issues += trailing(places)
        findings = for_own_sockets(
            self.ctx,
            merge([*self.issues, *named, *self.loss.issues([*self.issues, *named])]),
        )
        pairs = sorted(self.pairs, key=lambda p: (p.point, p.origin, p.target))
        groups = sorted(self.groups, key=lambda g: (g.point, g.repeat))
        return Judgement(
            verdict=overall(findings, pairs, groups),
            proof=worst_proof([*(pair.proof for pair in pairs), *(one.proof for one in groups)]),
            findings=findings,
            pairs=pairs,
            groups=groups,
            places=places,
        )

    def _compare_directions(self) -> None:
        """Report a slow direction of a node once instead of for each pair; the pairs keep their
        verdicts.
        """
        found, explained = direction_issues(self.ctx, self.streams)
        self.issues = [
            issue
            for issue in self.issues
            if issue.code != "below-expectation" or issue.subject not in explained
        ]
        self.issues += self.others.eased(found, self.pairs)[0]


def _link_issues(ctx: Context) -> list[Issue]:
    """Report the link that the limits are taken from if the user claimed none."""
    if ctx.claimed_link is not None or ctx.link is None:
        return []
    text = f"no link was claimed: the limits are those of {ctx.link.name} ({ctx.link.source})"
    if ctx.link.rates:
        text += "; the rails have different speeds: a stripe of equal shares waits for the slowest"
    return [Issue("link-from-port", "note", Whole(), text)]


def _curved(run: Run) -> set[str]:
    """Return the patterns with several sizes. A single size has no curve, and for many nodes its
    samples would fill memory.
    """
    sizes: dict[str, set[int]] = defaultdict(set)
    for point in run.points:
        sizes[point.pattern].add(point.message_bytes)
    return {pattern for pattern, found in sizes.items() if len(found) > 1}


def _starts(ctx: Context) -> dict[tuple[int, int], float]:
    """Return (origin, target) -> shortest measured half round trip of small messages in ns, in both
    orders.
    """
    found: dict[tuple[int, int], float] = {}
    for point in ctx.run.points:
        if point.pattern != "pingpong" or point.message_bytes > _SMALL:
            continue
        for pair in point.pairs:
            number = measure(point, pair)
            if number is not None:
                for key in ((pair.origin, pair.target), (pair.target, pair.origin)):
                    found[key] = min(found.get(key, number.value), number.value)
    return found


def _pair_verdict(
    ctx: Context,
    point: PointRecord,
    pair: PairResult,
    proof: PairProof,
    number: Measured,
    held: Held,
    issues: list[Issue],
) -> PairVerdict:
    verdict, codes = _concluded(ctx, proof, held, issues)
    return PairVerdict(
        point=point.id,
        pattern=point.pattern,
        form=point.form,
        message_bytes=point.message_bytes,
        origin=pair.origin,
        target=pair.target,
        origin_host=ctx.name(pair.origin),
        target_host=ctx.name(pair.target),
        unit=number.unit,
        value=number.value,
        low=number.low,
        high=number.high,
        half_width=number.time.half_width,
        label=number.time.label,
        proof=proof.proof,
        verdict=verdict,
        limit=held.limit,
        efficiency=held.efficiency,
        codes=codes,
        expected_bytes=proof.expected,
        seen_bytes=proof.seen,
        formula=point.formula,
        repeat=point.repeat,
        level=proof.level or "",
        quality=proof.quality or "",
    )


def _concluded(
    ctx: Context, proof: PairProof, held: Held, issues: list[Issue]
) -> tuple[Verdict, list[str]]:
    """Return verdict and codes of one pair: without a proof or a limit it does not pass."""
    verdict = verdict_of(issue.severity for issue in issues)
    codes = {issue.code for issue in issues}
    if proof.proof == "off-wire":
        codes |= {proof.code, "off-wire"}
    if not ctx.run.claim.wire:
        codes.add("no-wire-claimed")
    elif ctx.moves_nothing:
        codes.add(proof.code)
    if verdict == "pass" and (proof.proof != "on-wire" or held.limit is None):
        verdict = "inconclusive"
        if held.limit is None and ctx.run.claim.wire:
            codes.add("no-limit-known")
    return verdict, sorted(codes)
