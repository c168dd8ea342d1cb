# pure
"""The acceptance dossier: the criteria that two parties agree on, ``dossier.json``, and the result
of verifying it.
"""

from typing import Literal

import msgspec

from wireproof.model.claim import Criteria
from wireproof.model.finding import Verdict
from wireproof.model.run import Conclusion

DEFAULT_SOURCE = "default of wireproof"


class Threshold(msgspec.Struct, frozen=True):
    """Bounds of a field of ``Criteria``: its value lies between ``least`` and ``most``. ``unit``:
    "1" for a share; ``about``: the effect of the field.
    """

    name: str
    least: float
    most: float
    unit: str
    about: str


KNOWN: tuple[Threshold, ...] = (
    Threshold(
        "min_efficiency", 0.01, 1.0, "1", "lowest goodput, as a share of what the link can carry"
    ),
    Threshold(
        "direction_ratio",
        0.01,
        1.0,
        "1",
        "lowest goodput of the slower direction, as a share of the faster direction",
    ),
    Threshold(
        "peer_ratio", 0.01, 1.0, "1", "lowest goodput of a node or pair, as a share of its peers'"
    ),
    Threshold(
        "max_half_width",
        0.001,
        0.5,
        "1",
        "largest half-width of the 95 % interval, as a share of the number",
    ),
    Threshold(
        "ceiling_tolerance", 0.0, 0.5, "1", "largest share by which the ceiling may be exceeded"
    ),
    Threshold(
        "floor_tolerance", 0.0, 0.5, "1", "largest share by which the latency floor may be undercut"
    ),
    Threshold(
        "on_wire_min",
        0.5,
        1.0,
        "1",
        "fewest bytes seen on the claimed NICs, as a share of the payload",
    ),
    Threshold(
        "on_wire_max",
        1.0,
        4.0,
        "1",
        "most bytes seen on the claimed NICs, as a share of the payload",
    ),
    Threshold(
        "stray_share", 0.0, 0.5, "1", "most bytes seen on any other NIC, as a share of the payload"
    ),
    Threshold("rail_tolerance", 0.0, 1.0, "1", "largest deviation of a rail's share"),
    Threshold(
        "min_payload_bytes", 1, 1 << 30, "B", "minimum payload that stands out from other traffic"
    ),
)
"""The fields are in the order in which reports list them."""


def beyond(criteria: Criteria) -> str:
    """Return the first criterion outside its bounds, with these bounds; "" if there is none.

    Without bounds, a minimum efficiency of 0 or a tolerance of 1000 would let everything pass.
    """
    for one in KNOWN:
        value = getattr(criteria, one.name)
        if not one.least <= value <= one.most:
            return f"{one.name} is {value:g}, not {one.least:g} to {one.most:g}"
    return ""


class Criterion(msgspec.Struct, frozen=True, kw_only=True):
    """One criterion of a result. ``chosen``: a file of criteria sets it, and ``source`` names that
    file.
    """

    name: str
    value: float | str
    unit: str
    about: str
    chosen: bool = False
    source: str = DEFAULT_SOURCE


class Agreed(msgspec.Struct, frozen=True, kw_only=True):
    """The criteria of a given file. ``chosen``: the criteria that the file sets; ``source``: its
    name; ``sha256``: of its bytes.
    """

    criteria: Criteria
    chosen: tuple[str, ...]
    source: str
    sha256: str


def threshold_criteria(criteria: Criteria, agreed: Agreed | None) -> list[Criterion]:
    """Return every threshold with its value and the source of that value."""
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
    """The file of criteria that was given, with the SHA-256 of its bytes."""

    name: str
    sha256: str


class Dossier(msgspec.Struct, frozen=True, kw_only=True):
    """``dossier.json``.

    ``wireproof``: the version that judged; ``rules``: SHA-256 of the modules that judge;
    ``program``: SHA-256 of all modules; ``platform``: the software that computes and prints the
    numbers. ``sealed``: UTC, by the clock of the machine that sealed it. ``verdict``: the verdict
    at that time.
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
    """A detached signature of the manifest. ``vouched``: made by a signer in the file of signers;
    ``valid``: it matches this manifest and the key that ``said`` names; ``unchecked``: it was not
    checked, for the reason in ``said``.
    """

    file: str
    state: Literal["vouched", "valid", "unchecked"]
    said: str


class Rejudgement(msgspec.Struct, frozen=True, kw_only=True):
    """The conclusions that the current rules draw from the records. ``same_rules``: the rules are
    those of the dossier, so nothing may differ. ``page``: true if the page matches the records;
    null if another version or platform would write it differently.
    """

    verdict: Verdict
    before: Verdict
    same_rules: bool
    page: bool | None = None
    gone: list[Conclusion] = msgspec.field(default_factory=list)
    new: list[Conclusion] = msgspec.field(default_factory=list)


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """A dossier that has not changed since it was sealed, judged again. ``verdict``: that of the
    current rules, from the raw records. ``manifest``: SHA-256 of its manifest, which covers all
    files.
    """

    folder: str
    verdict: Verdict
    files: int
    manifest: str
    dossier: Dossier
    judged: Rejudgement
    signatures: list[Signature] = msgspec.field(default_factory=list)
