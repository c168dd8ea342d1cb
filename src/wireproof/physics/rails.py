# pure
"""Parse ``--link`` for several rails, and compute their combined rate: one kind for all rails, or
one per rail (``hsn0=10gbe,hsn1=1gbe``).
"""

import re
from collections.abc import Sequence

import msgspec

from wireproof.model.claim import LinkClaim, rails_of
from wireproof.physics.claims import claim_from_text
from wireproof.physics.table import PhysicsError

_NAMED = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._@:-]{0,67})\s*=\s*(\S.*?)\s*")
_SHOWN = 60


def claim_of_rails(
    text: str,
    nics: str = "",
    *,
    path: str = "",
    mtu: int | None = None,
    pcie: str = "",
    source: str = "",
) -> LinkClaim:
    """Return the claim of ``--link`` for the rails ``nics`` (``hsn0,hsn1``; one NIC or none: a
    single link).

    Raises PhysicsError, in one sentence, like ``claim_from_text``, and if rails and links do not
    match.
    """
    given = {"path": path, "pcie": pcie, "source": source}
    if "=" not in text:
        return _of_rails(claim_from_text(text, mtu=mtu, **given), rails_of(nics))
    named = _named(text)
    names = rails_of(nics) or tuple(named)
    _same_names(named, names, text)
    return links_together([claim_from_text(named[name], mtu=mtu, **given) for name in names])


def _of_rails(link: LinkClaim, names: Sequence[str]) -> LinkClaim:
    """Apply the link of each rail to all of them; ``4xndr400`` already includes the number."""
    if len(names) < 2:
        return link
    if link.rails not in (1, len(names)):
        raise PhysicsError(
            f"the link has {link.rails} rails, but --nic lists {len(names)} ({', '.join(names)}):"
            " give the link of one rail"
        )
    return msgspec.structs.replace(link, rails=len(names), stripes="all")


def links_together(each: Sequence[LinkClaim]) -> LinkClaim:
    """Merge the links of all rails, in their order, into one claim with the smallest MTU.

    Raises PhysicsError for links of different protocols, which have no common limit.
    """
    if len(each) == 1:
        return each[0]
    known = _rates_of(each)
    fastest = max(each, key=lambda link: link.rate_bits_per_s or 0.0)
    differ = len(set(known)) > 1
    return msgspec.structs.replace(
        fastest,
        rails=len(each),
        rates=known if differ else (),
        kinds=tuple(link.kind for link in each) if differ else (),
        mtu=min((link.mtu for link in each if link.mtu is not None), default=None),
        stripes="all",
    )


def _rates_of(each: Sequence[LinkClaim]) -> tuple[float, ...]:
    """Return the line rate of each; () if none has a rate.

    Raises PhysicsError for links that cannot carry traffic together.
    """
    protocols = sorted({link.protocol for link in each})
    if len(protocols) > 1:
        raise PhysicsError(
            f"rails of {' and '.join(protocols)} cannot carry messages together: give links "
            "of one kind"
        )
    several = next((link for link in each if link.rails > 1), None)
    if several is not None:
        raise PhysicsError(
            f"a rail of {several.name} is not a single link: give each rail one link"
        )
    known = tuple(link.rate_bits_per_s for link in each if link.rate_bits_per_s is not None)
    if 0 < len(known) < len(each):
        raise PhysicsError("some rails have a rate and others have none: give each rail its rate")
    return known


def one_rail(link: LinkClaim, number: int) -> LinkClaim:
    """Return the link of one rail, by its position in the claim."""
    return msgspec.structs.replace(
        link,
        rails=1,
        rate_bits_per_s=link.rates[number] if link.rates else link.rate_bits_per_s,
        kind=link.kinds[number] if link.kinds else link.kind,
        rates=(),
        kinds=(),
        stripes="",
    )


def _named(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in text.split(","):
        match = _NAMED.fullmatch(part)
        if match is None:
            raise PhysicsError(
                f"link {text[:_SHOWN]!r}: {part[:_SHOWN]!r} does not contain a rail; write"
                " hsn0=10gbe,hsn1=1gbe"
            )
        name, kind = match.groups()
        if name in found:
            raise PhysicsError(f"link {text[:_SHOWN]!r}: rail {name} has two links; give it one")
        found[name] = kind
    return found


def _same_names(named: dict[str, str], names: Sequence[str], text: str) -> None:
    stranger = next((name for name in named if name not in names), "")
    if stranger:
        raise PhysicsError(
            f"link {text[:_SHOWN]!r}: {stranger} is not a rail of --nic {','.join(names)}"
        )
    lacking = next((name for name in names if name not in named), "")
    if lacking:
        raise PhysicsError(f"link {text[:_SHOWN]!r}: the rail {lacking} has no link; give it one")
