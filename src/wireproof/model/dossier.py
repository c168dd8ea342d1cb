"""The acceptance dossier: ``dossier.json``, and what its verification finds."""

from __future__ import annotations

from typing import Literal

import msgspec

from wireproof.model.criteria import Criterion
from wireproof.model.finding import Verdict
from wireproof.model.stored import Conclusion

__all__ = ["KIND", "SCHEMA", "AgreedFile", "Dossier", "Rejudgement", "Signature", "Verification"]

KIND = "wireproof-dossier"
SCHEMA = 1


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
    kind: str = KIND
    schema: int = SCHEMA


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
