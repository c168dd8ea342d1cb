"""The page of the formulas: what they compute, from what, and who says so."""

from __future__ import annotations

from collections.abc import Iterator

import wireproof
from wireproof.physics.limits import limits
from wireproof.physics.table import link_from_name, link_names
from wireproof.plan.footprint.modes import MODES, VARIABLES, Mode, PlannedJob

__all__ = ["formulas"]

_LIMITS = """## Limits

`wireproof explain RATE --link LINK` shows the same for any link, MTU and slot. Here each link with
the MTU that is taken when it is not known, and the half round trip of an empty message, the floor.

| link | attainable goodput, floor | sources |
|---|---|---|
"""
_SYMBOLS = """r: rails, q: `PSM3_QP_PER_NIC`, c: QPs per connection, M: payload of a packet, S, R:
entries of the send and receive queue, D: RDMA requests under way; SQE, RQE, CQE: bytes of an entry
of a send, receive and completion queue. A basis *source* is a number that the library's source
has, *assumed* one between those of adapters in use.
"""


def formulas() -> str:
    """What follows the prose of docs/reference/formulas.md."""
    return _LIMITS + "\n".join([*_limits(), *_pauses(), *_footprints()]).rstrip() + "\n"


def _limits() -> Iterator[str]:
    for name in link_names():
        found = limits(link_from_name(name), "pingpong", "latency", 0)
        derived = [one for one in found.derivation if not one.startswith("attainable")]
        yield f"| `{name}` | {_cell(derived)} | {_cell(found.sources)} |"


def _pauses() -> Iterator[str]:
    found = wireproof.plan_pfc(100, 9000, 100, 32)
    yield "\n## Buffers of priority flow control\n\nAt 100 Gb/s, MTU 9000 and 100 m of cable"
    yield "(`wireproof plan pfc --speed 100 --mtu 9000 --cable 100 --ports 32`), in bit times:\n"
    yield "| what | formula | bit times | source |\n|---|---|--:|---|"
    for one in found.delays:
        bits = f"{one.bits.low:,.0f}"
        bits += f" to {one.bits.high:,.0f}" if one.bits.high != one.bits.low else ""
        yield f"| {one.name} | {one.formula} | {bits} | {one.source} |"
    yield (
        "\nThe headroom of a port and priority is their sum / 8. " + "; ".join(found.sources) + "."
    )


def _footprints() -> Iterator[str]:
    yield f"\n## QPs and memory\n\n{_SYMBOLS}"
    for mode in MODES.values():
        yield from _footprint(mode)


def _footprint(mode: Mode) -> Iterator[str]:
    """With the defaults of its variables, between 64 nodes of 28 ranks."""
    variables = [VARIABLES[name] for name in mode.variables]
    defaults = {one.name: one.default for one in variables}
    world = PlannedJob(nodes=64, ppn=28, settings=defaults)
    yield f"### {mode.name}\n\n{mode.title}.\n\n| variable | default | meaning |\n|---|--:|---|"
    yield from (f"| `{one.name}` | {one.default} | {one.meaning} |" for one in variables)
    yield "\n| what | for each | formula | basis |\n|---|---|---|---|"
    for part in mode.parts(world):
        yield f"| {part.name} | {part.per} | {part.formula} | {part.basis} |"
    yield "\nSources: " + "; ".join(mode.sources) + ".\n"
    yield "Valid: " + "; ".join(mode.validity) + ".\n"


def _cell(sentences: list[str]) -> str:
    return "; ".join(sentences).replace("|", "\\|")
