"""What the page shows of what was located: the strip of nodes, the culprits by number, tiers and
contention.
"""

from __future__ import annotations

from dataclasses import dataclass

from wireproof.report.html.heat import MOST_HOSTS, HeatMap, heat_map
from wireproof.report.html.leaves import LeafMap, leaf_map
from wireproof.report.html.pairs import PairMap, pair_map
from wireproof.report.html.strip import Strip, strip_of
from wireproof.report.located import Culprit, Story, each, stories
from wireproof.report.rows import Table
from wireproof.report.section import Section

__all__ = ["Pictures", "WhoView", "pair_pictures", "who_views"]

MOST_CULPRITS = 40


@dataclass(frozen=True)
class WhoView:
    """``culprits`` are in the order of their numbers in the strip; ``left_out`` more are in the
    result file.
    """

    id: str
    story: Story
    strip: Strip | None
    culprits: list[Culprit]
    left_out: int


def who_views(section: Section, name: str) -> list[WhoView]:
    """One for each metric that was screened."""
    return [
        WhoView(
            id=f"{name}-who{number}",
            story=story,
            strip=strip_of(section, located, f"{name}-{number}"),
            culprits=each(located, MOST_CULPRITS),
            left_out=max(0, len(located.blames) - MOST_CULPRITS),
        )
        for number, (located, story) in enumerate(
            zip(section.located, stories(section.located), strict=True), 1
        )
    ]


@dataclass(frozen=True)
class Pictures:
    """Host by host as a table; leaf by leaf, and all pairs for the page's script to zoom into."""

    maps: list[HeatMap]
    leaves: list[LeafMap]
    pairs: list[PairMap]


def pair_pictures(section: Section, found: list[Table], name: str) -> Pictures:
    """Each table of rates as a picture: host by host, or leaf by leaf where there are more hosts
    than can be drawn.
    """
    whole = Pictures([], [], [])
    for number, table in enumerate(found):
        if table.unit == "ns":
            continue
        if len({host for row in table.rows for host in row.between}) > MOST_HOSTS:
            leaf = leaf_map(section, table, f"{name}-map{number}", section.located)
            whole.leaves.extend([leaf] if leaf is not None else [])
            pairs = pair_map(table, f"{name}-map{number}")
            whole.pairs.extend([pairs] if pairs is not None else [])
        else:
            drawn = heat_map(table, f"{name}-map{number}")
            whole.maps.extend([drawn] if drawn is not None else [])
    return whole
