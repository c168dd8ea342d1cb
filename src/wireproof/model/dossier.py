"""The acceptance dossier: the criteria that two parties agree on, ``dossier.json``, and the results
of its verification.
"""

from typing import Literal

import msgspec

from wireproof.model.claim import Criteria
from wireproof.model.finding import Verdict
from wireproof.model.stored import Conclusion

DEFAULT_SOURCE = "default of wireproof"


class Threshold(msgspec.Struct, frozen=True):
    """A field of ``Criteria``: the values that it can have, from ``least`` to ``most``, its unit
    ("1" is a share), and what it decides.
    """

    name: str
    least: float
    most: float
    unit: str
    about: str


KNOWN: tuple[Threshold, ...] = (
    Threshold("min_efficiency", 0.01, 1.0, "1", "least goodput, of what the link can carry"),
    Threshold(
        "direction_ratio", 0.01, 1.0, "1", "least goodput of the slower direction, of the other"
    ),
    Threshold("peer_ratio", 0.01, 1.0, "1", "least goodput of a node or pair, of its peers"),
    Threshold(
        "max_half_width", 0.001, 0.5, "1", "widest half of the 95 % interval, of the number itself"
    ),
    Threshold("ceiling_tolerance", 0.0, 0.5, "1", "most by which the ceiling may be exceeded"),
    Threshold("floor_tolerance", 0.0, 0.5, "1", "most by which the latency floor may be missed"),
    Threshold("on_wire_min", 0.5, 1.0, "1", "least bytes seen on the claimed NICs, of the payload"),
    Threshold("on_wire_max", 1.0, 4.0, "1", "most bytes seen on the claimed NICs, of the payload"),
    Threshold("stray_share", 0.0, 0.5, "1", "most bytes seen on any other NIC, of the payload"),
    Threshold("rail_tolerance", 0.0, 1.0, "1", "most by which a rail's share may be off"),
    Threshold(
        "min_payload_bytes", 1, 1 << 30, "B", "least payload that stands out from other traffic"
    ),
)
"""In the order in which people read them."""


def beyond(criteria: Criteria) -> str:
    """The first criterion that is not within its bounds, with these; "" if all are. A least
    efficiency of 0 or a tolerance of 1000 would let everything pass.
    """
    for one in KNOWN:
        value = getattr(criteria, one.name)
        if not one.least <= value <= one.most:
            return f"{one.name} is {value:g}, not {one.least:g} to {one.most:g}"
    return ""


class Criterion(msgspec.Struct, frozen=True, kw_only=True):
    """One criterion of a result. ``chosen``: somebody has set it, and ``source`` says who."""

    name: str
    value: float | str
    unit: str
    about: str
    chosen: bool = False
    source: str = DEFAULT_SOURCE


class Agreed(msgspec.Struct, frozen=True, kw_only=True):
    """Criteria that were given. ``chosen``: the names that the file sets; ``source``: its name;
    ``sha256``: of its bytes.
    """

    criteria: Criteria
    chosen: tuple[str, ...]
    source: str
    sha256: str


def threshold_criteria(criteria: Criteria, agreed: Agreed | None) -> list[Criterion]:
    """Every threshold with its value and where that comes from."""
    return [
        Criterion(
            name=one.name,
            value=getattr(criteria, one.name),
            unit=one.unit,
            about=one.about,
            chosen=agreed is not None and one.name in agreed.chosen,
            source=agreed.source
            if agreed is not None and one.name in agreed.chosen
            else DEFAULT_SOURCE,
        )
        for one in KNOWN
    ]


DOSSIER_KIND = "wireproof-dossier"
DOSSIER_SCHEMA = 1


class AgreedFile(msgspec.Struct, frozen=True):
    """The file of criteria that was given: its name, and the SHA-256 of its bytes."""

    name: str
    sha256: str


class Dossier(msgspec.Struct, frozen=True, kw_only=True):
    """``dossier.json``. ``wireproof``: the version that judged; ``rules``: SHA-256 of the modules
    that judge; ``program``: of all modules; ``platform``: by which numbers are computed and shown.
    ``sealed``: when, UTC, by the clock of that machine. ``verdict``: that of the day.
    """

    wireproof: str
    rules: str
    program: str
    platform: str
    sealed: str
    profile: str
    verdict: Verdict
    criteria: list[Criterion]
    agreed: AgreedFile | None = None
    kind: str = DOSSIER_KIND
    schema: int = DOSSIER_SCHEMA


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """A detached signature of the manifest. ``vouched``: by somebody whom the file of signers
    names; ``valid``: it is of this manifest, by the key that ``said`` names; ``unchecked``: it
    was not looked at, and ``said`` says why.
    """

    file: str
    state: Literal["vouched", "valid", "unchecked"]
    said: str


class Rejudgement(msgspec.Struct, frozen=True, kw_only=True):
    """What today's rules say of the records. ``same_rules``: they are those of the day, so that
    nothing may differ. ``page``: whether the page is the one that follows from the records; None
    where another version or platform would write it otherwise.
    """

    verdict: Verdict
    before: Verdict
    same_rules: bool
    page: bool | None = None
    gone: list[Conclusion] = msgspec.field(default_factory=list)
    new: list[Conclusion] = msgspec.field(default_factory=list)


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """A dossier that is as it was sealed, and judged again. ``verdict``: by today's rules, of the
    raw records. ``manifest``: SHA-256 of its manifest, which stands for the whole.
    """

    folder: str
    verdict: Verdict
    files: int
    manifest: str
    dossier: Dossier
    judged: Rejudgement
    signatures: list[Signature] = msgspec.field(default_factory=list)
