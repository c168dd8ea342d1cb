# pure
"""Points of a sweep, shuffled with a recorded seed."""

import math
import random
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Literal

import msgspec

from wireproof.model import quantity
from wireproof.model.errors import BadInput
from wireproof.model.pattern import CATALOGUE, Form, GroupPattern, Pattern, answers, fits
from wireproof.model.plan import Formula, ModelWorld, Point, Policy
from wireproof.physics.framing import LEAST_HEADER

SIZES: tuple[int, ...] = (0, *(1 << power for power in range(23)))
"""0 B and the powers of two to 4 MiB, as in OSU and IMB."""


def sweep(
    pattern: Pattern,
    sizes: Iterable[int],
    pairs: Sequence[tuple[int, int]],
    *,
    form: Form | None = None,
    window: int = 64,
    formula: Formula = "robust",
    budget_ms: int | None = None,
) -> list[Point]:
    """Return one point per size with all ``pairs`` at once; ``numbered`` assigns the ids."""
    implied: Form = "stream" if "stream" in CATALOGUE[pattern].forms else "latency"
    return [
        Point(
            id=0,
            pattern=pattern,
            message_bytes=size,
            pairs=tuple(pairs),
            form=form or implied,
            window=window,
            formula=formula,
            budget_ms=budget_ms,
        )
        for size in sizes
        if fits(pattern, size)
    ]


def numbered(points: Sequence[Point], *, seed: int, repeats: int = 1) -> tuple[Point, ...]:
    """Shuffle (so that drift does not look like a dependence on size), repeat, and number in run
    order.
    """
    order = random.Random(seed)
    ids = count()
    result: list[Point] = []
    for repeat in range(repeats):
        batch = list(points)
        order.shuffle(batch)
        result += [msgspec.structs.replace(point, id=next(ids), repeat=repeat) for point in batch]
    return tuple(result)


# --- Points that a group of ranks measures together.

HPCC_SIZES = (8, 2_000_000)
"""HPCC's sizes: 8 B for latency, two million bytes (not 2 MiB) for bandwidth."""
_MOST_BYTES_OF_ALL = 16 << 20


def default_sizes(pattern: Pattern, members: int, formula: Formula = "robust") -> tuple[int, ...]:
    """Return the default sizes of a sweep: 8 B to 1 MiB, or less if every member needs buffers for
    all others.
    """
    if pattern == "barrier":
        return (0,)
    if pattern == "congestion":
        return (8,)
    if formula == "hpcc":
        return HPCC_SIZES
    most = 1 << 20
    if CATALOGUE[pattern].room_for_all:
        most = _MOST_BYTES_OF_ALL // max(1, members)
    return tuple(size for size in SIZES if 8 <= size <= most)


def group_sweep(
    pattern: GroupPattern,
    sizes: Iterable[int],
    members: Sequence[int],
    *,
    order: Literal["natural", "random"] = "natural",
    window: int = 64,
    formula: Formula = "robust",
    budget_ms: int | None = None,
) -> list[Point]:
    """Return one point per size. Raises ``BadInput`` for a group that does not fit the pattern."""
    if len(members) < 2:
        raise BadInput(f"{pattern} needs two ranks or more: give more hosts, or --ppn.")
    if pattern == "message_rate" and len(members) % 2:
        raise BadInput(
            f"message_rate pairs one half of the ranks with the other, but {len(members)} is odd."
        )
    points = [
        Point(
            id=0,
            pattern=pattern,
            message_bytes=size,
            members=tuple(members),
            form="stream",
            order=order,
            window=window,
            formula=formula,
            budget_ms=budget_ms,
        )
        for size in sizes
        if fits(pattern, size)
    ]
    if not points:
        raise BadInput(
            f"{pattern} cannot be measured at these sizes: allreduce adds numbers of "
            f"{CATALOGUE['allreduce'].unit_bytes} B."
        )
    return points


def congestion(size: int, ranks: Sequence[int]) -> Point:
    """Return a point that measures the half round trip between the first and the middle rank.

    The measurement is made both without load and while all others stream to each other. ``ranks``:
    in the hosts' order; fewer than four raise BadInput.
    """
    if len(ranks) < 4:
        raise BadInput(
            "congestion needs four ranks or more: two that are observed and two that disturb them."
        )
    half = len(ranks) // 2
    rest = [rank for index, rank in enumerate(ranks) if index not in (0, half)]
    way = len(rest) // 2
    return Point(
        id=0,
        pattern="congestion",
        message_bytes=size,
        form="latency",
        pairs=((ranks[0], ranks[half]),),
        load=tuple(zip(rest[:way], rest[way : 2 * way], strict=True)),
    )


def saturation_ranks(ppn: int) -> list[int]:
    """Return 1, 2, 4 ... and ``ppn`` itself."""
    return [*(1 << power for power in range(ppn.bit_length()) if 1 << power < ppn), ppn]


def saturation(sizes: Iterable[int], ppn: int, *, window: int = 64) -> list[Point]:
    """Return message_rate points between two hosts for growing numbers of ranks and sizes.

    They show the size from which the link is full. Each host has ``ppn`` ranks (0 to ppn - 1, and
    ppn to 2 ppn - 1).
    """
    points: list[Point] = []
    chosen = [size for size in sizes if size > 0]
    for busy in saturation_ranks(ppn):
        members = [*range(busy), *range(ppn, ppn + busy)]
        points += group_sweep("message_rate", chosen, members, window=window)
    return points


# --- The duration of points at the claimed rate, computed before anything is sent. On a slow link,
# a message of 4 MiB takes longer than a point's whole budget, so smaller messages are sent there
# instead of taking more time. If the user chooses the sizes, the budget follows them. A suite's
# counts get the time that they need.


_FILLING = 65_536  # smallest size that must fill a link
_LARGEST_MS = 90.0  # one message; twelve messages make up the six windows that an interval needs
_IN_FLIGHT_MS = 32.0
_LEAST_IN_FLIGHT = 65_536
# budget in windows: six windows may take twice the budget, after two warm-up windows
_WINDOWS = 5.0
_SLOWER = 3.0  # deadlines allow rates below the claimed rate by this factor
_SPARE_MS = 10_000
_OSU_LARGE = 8192
_MIB = 1 << 20
_MOST_HALF = 32


def _message_ms(size: int, rate_bits_per_s: float) -> float:
    return size * 8e3 / rate_bits_per_s


def affordable(
    sizes: Sequence[int], rate_bits_per_s: float | None, largest_ms: float = _LARGEST_MS
) -> tuple[int, ...]:
    """Return the sizes whose messages take at most ``largest_ms`` on the link.

    A point can then be measured well within its budget. The smallest size that fills a link is
    always kept.
    """
    if not rate_bits_per_s:
        return tuple(sizes)
    enough = min((size for size in sizes if size >= _FILLING), default=max(sizes, default=0))
    return tuple(
        size for size in sizes if size <= enough or _message_ms(size, rate_bits_per_s) <= largest_ms
    )


def paced(
    policy: Policy, rate_bits_per_s: float | None, in_flight_ms: float = _IN_FLIGHT_MS
) -> Policy:
    """Limit the bytes in flight to ``in_flight_ms`` of the link's time.

    If a window lasts seconds, there is no time for a second one.
    """
    if not rate_bits_per_s:
        return policy
    most = max(_LEAST_IN_FLIGHT, round(rate_bits_per_s / 8e3 * in_flight_ms))
    return msgspec.structs.replace(policy, in_flight_bytes=min(policy.in_flight_bytes, most))


def covering(world: ModelWorld, size: int) -> int:
    """Return the number of messages of ``size`` bytes in flight that keep the simulated link full.
    One half of them takes as long as the acknowledgement of the other half.
    """
    latency_ns = world.latency_ns + world.overhead_ns
    occupancy_ns = max(world.gap_ns_per_byte * size, world.overhead_ns, 1.0)
    return 2 * min(_MOST_HALF, max(2, math.ceil(2 * latency_ns / occupancy_ns)))


def formula_messages(point: Point) -> int:
    """Return the number of consecutive messages in one direction by the suite's count, including
    warm-up.
    """
    size = max(1, point.message_bytes)
    round_trip = point.form == "latency" or point.pattern == "pingpong"
    window = 1 if round_trip else point.window
    if point.iterations:
        return point.iterations + max(1, point.iterations // 10)
    if point.formula == "osu":
        large = size > _OSU_LARGE
        if point.pattern == "message_rate":
            return 110 * window
        if round_trip:
            return 1010 if large else 10_100
        return (22 if large else 110) * window
    if point.formula == "imb-mpi1":
        count = min(1000, max(1, 40 * _MIB // size))
        return (2 * count + max(10, count // 10)) * window
    count = min(100_000, max(1, 800 * _MIB // size))
    return (count + count // 10) * window


def _window_ms(point: Point, policy: Policy, rate_bits_per_s: float) -> float:
    """Return the time in ms of one batch (a window or one exchange), if all threads or members
    share the link.
    """
    sharing = max(point.threads, len(point.members), 1)
    ways = 2 if answers(point.pattern, point.form) else 1
    window = 1
    if point.form == "stream":
        window = max(2, min(point.window, policy.in_flight_bytes // max(1, point.message_bytes)))
    return _message_ms(point.message_bytes, rate_bits_per_s) * window * sharing * ways


def _formula_ms(point: Point, rate_bits_per_s: float) -> float:
    ways = 2 if answers(point.pattern, point.form) else 1
    return (
        _message_ms(point.message_bytes, rate_bits_per_s)
        * formula_messages(point)
        * ways
        * max(1, point.threads)
    )


def provable(points: Iterable[Point], least_bytes: int) -> tuple[Point, ...]:
    """Return the points with enough operations to move ``least_bytes`` in one direction.

    Fewer bytes cannot be distinguished from other traffic, and the path would stay unproven. Over a
    wire of 40 us, an 8 B ping-pong is precise after only 6 kB. A point's budget still ends it.
    Counts of a suite or of the user are kept.
    """
    return tuple(
        point
        if point.formula != "robust" or point.iterations
        else msgspec.structs.replace(point, least_operations=_operations(point, least_bytes))
        for point in points
    )


def _operations(point: Point, least_bytes: int) -> int:
    header = LEAST_HEADER if answers(point.pattern, point.form) else 0
    each = point.message_bytes + header
    return -(-least_bytes // each) if each else 0


def _budgeted(
    point: Point, policy: Policy, rate_bits_per_s: float, *, budget_given: bool
) -> tuple[Point, float]:
    """Return the point with a budget for its six windows, and its time in ms at the claimed
    rate."""
    if point.formula != "robust":
        return point, _formula_ms(point, rate_bits_per_s)
    budget = point.budget_ms or policy.point_budget_ms
    wanted = round(_WINDOWS * _window_ms(point, policy, rate_bits_per_s))
    if point.iterations == 0 and not budget_given and wanted > budget:
        return msgspec.structs.replace(point, budget_ms=wanted), 2.0 * wanted
    return point, 2.0 * budget


def with_time(
    points: Iterable[Point],
    policy: Policy,
    rate_bits_per_s: float | None,
    *,
    budget_given: bool = False,
) -> tuple[list[Point], Policy]:
    """Return the points with budgets for six windows each (unless the user set one), and the policy
    with deadlines that all of them meet.

    Raises ``BadInput`` with the arithmetic if one point of a suite's formula takes longer than the
    whole run may.
    """
    if not rate_bits_per_s:
        return list(points), policy
    found: list[Point] = []
    longest = float(policy.point_deadline_ms)
    whole = 0.0
    for given in points:
        point, needed = _budgeted(given, policy, rate_bits_per_s, budget_given=budget_given)
        if needed > policy.run_deadline_ms:
            raise BadInput(_too_long(point, needed, rate_bits_per_s, policy))
        found.append(point)
        longest = max(longest, _SLOWER * needed + _SPARE_MS)
        whole += needed
    run = max(policy.run_deadline_ms, round(_SLOWER * whole))
    return found, msgspec.structs.replace(
        policy, point_deadline_ms=round(longest), run_deadline_ms=run
    )


def _too_long(point: Point, needed_ms: float, rate_bits_per_s: float, policy: Policy) -> str:
    count = (
        ""
        if point.formula == "robust"
        else f" ({formula_messages(point)} messages by {point.formula}'s count)"
    )
    return (
        f"{point.pattern} of {quantity.size(point.message_bytes)}{count} takes "
        f"{needed_ms / 1e3:.0f} s at {rate_bits_per_s / 1e6:.0f} Mb/s, but the run may take "
        f"only {policy.run_deadline_ms / 1e3:.0f} s: give smaller --sizes, or a longer "
        "--deadline."
    )
