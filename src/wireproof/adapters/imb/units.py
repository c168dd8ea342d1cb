"""What ``Mbytes/sec`` is in an IMB table: 2^20 bytes before IMB 2018, 10^6 since; the rows'
arithmetic knows best.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["MEBI", "MEGA", "Megabyte", "megabyte", "ratio"]

MEGA = 1e6
MEBI = 2.0**20

_AGREE = 0.012
_ROUNDING = 0.006
"""A row whose printed digits may hide more than this share says nothing: 10^6 and 2^20 are 4.9 %
apart.
"""


@dataclass(frozen=True, slots=True)
class Megabyte:
    """``bytes`` of one MB, None when nothing tells; ``doubt`` says what speaks against it ("" for
    nothing).

    ``by_version``: the program's version tells, so that it holds for rows that have too few digits
    to tell by themselves.
    """

    bytes: float | None
    doubt: str
    by_version: bool


def ratio(size: float, microseconds: float, mbytes: float, messages: int) -> float | None:
    """(printed bandwidth with MB = 10^6) x time / (messages x size): 1 for 10^6, 0.954 for 2^20.

    None when the printed digits are too few to tell.
    """
    if size <= 0 or microseconds <= 0 or mbytes <= 0 or messages <= 0:
        return None
    if 0.005 / microseconds + 0.005 / mbytes > _ROUNDING:
        return None
    return microseconds * mbytes / (messages * size)


def _votes(ratios: Iterable[float | None]) -> tuple[int, int, int]:
    """How many rows speak for 10^6, for 2^20, for neither."""
    mega = mebi = neither = 0
    for value in ratios:
        if value is None:
            continue
        if abs(value - 1.0) < _AGREE:
            mega += 1
        elif abs(value * MEBI / MEGA - 1.0) < _AGREE:
            mebi += 1
        else:
            neither += 1
    return mega, mebi, neither


def megabyte(version: tuple[int, int], ratios: Iterable[float | None]) -> Megabyte:
    """The bytes of a printed MB, from the program's version ((0, 0): not in the text) and the rows'
    arithmetic.
    """
    mega, mebi, neither = _votes(ratios)
    said = (MEBI if version[0] < 2018 else MEGA) if version[0] else None
    computed = None
    if mega + mebi > 2 * neither and max(mega, mebi) > 3 * min(mega, mebi):
        computed = MEGA if mega > mebi else MEBI
    if computed is None:
        if said is not None:
            return Megabyte(said, "", by_version=True)
        doubt = (
            "neither a version nor the rows' own arithmetic says whether MB is 10^6 or 2^20 bytes"
        )
        return Megabyte(MEGA if neither else None, doubt, by_version=False)
    if said is not None and said != computed:
        number = ".".join(map(str, version))
        return Megabyte(
            computed,
            f"IMB {number} counts MB = {'10^6' if said == MEGA else '2^20'} bytes, but size / "
            f"time of {max(mega, mebi)} rows says {'10^6' if computed == MEGA else '2^20'}",
            by_version=False,
        )
    return Megabyte(computed, "", by_version=said is not None)
