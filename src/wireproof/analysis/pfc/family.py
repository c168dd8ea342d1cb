"""The shape of the table of pause counters: which names one kind of adapter has for what."""

from __future__ import annotations

import msgspec

from wireproof.model.ledger import Direction

__all__ = ["Dropped", "Names", "PfcFamily"]

Names = tuple[str, ...]
"""Alternatives, the best first; each is counters to add up, divided by spaces. ``{p}``: the
priority; ``{nic}``, ``{device}``, ``{port}``: as the ledger's catalogue has them. Without a folder:
of ``ethtool -S``.
"""


class Dropped(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A counter of lost packets. ``proves``: at 0 it shows that nothing was lost in this direction
    for want of buffers; one that does not (a kernel's software queue) can only speak against it.
    """

    direction: Direction
    names: Names
    proves: bool = True

    @property
    def by_priority(self) -> bool:
        return any("{p}" in alternative for alternative in self.names)


class PfcFamily(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of adapter, by the driver of its interface (shell patterns, lower case).

    Pairs are (tx, rx). ``xoff``, ``xon``: pause frames that stop and that resume; ``frames``: both
    together, where the driver does not tell them apart. ``resumes``: how often a pause ended;
    ``toggles``: how often it began or ended. ``paused_us``: time. ``load``: traffic of a priority.
    ``total``: PFC frames without their priority. ``lost``: RDMA packets missed or sent again.
    ``link``: frames of link-level flow control. ``storms``: alarms of the adapter. ``marks``:
    congestion notifications sent and got, packets marked (ECN).

    ``shown_when_on``: pauses of a priority are listed only where its PFC is on; those of the link
    only where its flow control is. ``unison``: priorities of one traffic class count together.
    ``refresh_ms``: how old a value may be. ``source``: where the names are read; ``unchecked``:
    what of it nobody has read in the driver.
    """

    name: str
    drivers: tuple[str, ...]
    source: str
    xoff: tuple[Names, Names] = ((), ())
    xon: tuple[Names, Names] = ((), ())
    frames: tuple[Names, Names] = ((), ())
    resumes: tuple[Names, Names] = ((), ())
    toggles: tuple[Names, Names] = ((), ())
    paused_us: tuple[Names, Names] = ((), ())
    load: tuple[Names, Names] = ((), ())
    total: tuple[Names, ...] = ()
    drops: tuple[Dropped, ...] = ()
    lost: tuple[Names, ...] = ()
    link: tuple[Names, ...] = ()
    storms: tuple[Names, ...] = ()
    marks: tuple[Names, ...] = ()
    shown_when_on: bool = False
    unison: bool = False
    refresh_ms: float = 0.0
    unchecked: tuple[str, ...] = ()
    note: str = ""
