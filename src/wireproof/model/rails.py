"""Rails: NICs of one host that carry the payload together, written as one claim: ``hsn0,hsn1``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["first_rail", "is_several", "joined", "rails_of"]

_BETWEEN = ","


def rails_of(nic: str) -> tuple[str, ...]:
    """The NICs of a claim in their order; none of "" (nothing is claimed)."""
    return tuple(nic.split(_BETWEEN)) if nic else ()


def is_several(nic: str) -> bool:
    """Whether the claim names rails, and not one NIC or none."""
    return _BETWEEN in nic


def joined(names: Sequence[str]) -> str:
    """The claim of these NICs together."""
    return _BETWEEN.join(names)


def first_rail(nic: str) -> str:
    """The NIC that speaks for a host where only one can; "" of no claim."""
    return nic.partition(_BETWEEN)[0]
