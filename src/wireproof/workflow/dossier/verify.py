"""A dossier verified by anybody, offline: is it what was sealed, and what do its records say?"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded
from wireproof.model.dossier import Dossier, Rejudgement, Verification
from wireproof.model.errors import BadInput
from wireproof.report.judged_run import JudgedRun
from wireproof.store.manifest import MANIFEST, digest_of, listed
from wireproof.store.result import DOSSIER, RESULT, read_dossier
from wireproof.version import version
from wireproof.workflow.dossier.evidence import contradictions
from wireproof.workflow.dossier.intact import told, unaltered
from wireproof.workflow.dossier.seal import (
    CRITERIA,
    DISCLOSURE,
    platform_name,
    program_digest,
    rules_digest,
)
from wireproof.workflow.dossier.signature import checked
from wireproof.workflow.report import Rejudged, judged_anew
from wireproof.workflow.result import PAGE
from wireproof.workflow.stored import stored_in

_PARTS = (DOSSIER, RESULT, CRITERIA, DISCLOSURE, PAGE)
_LARGEST_PAGE = 256 << 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class VerifySpecification:
    """``signers``: a file of those whose signature is demanded (OpenSSH's allowed_signers); None:
    none is.
    """

    folder: Path
    signers: Path | None = None


def verify(specification: VerifySpecification) -> Verification:
    """Whether the dossier is as it was sealed, who has signed it, and the verdict of its records by
    the rules of this version.

    Raises ``BadInput`` for one that was altered, naming each file, is of a newer version, or lacks
    a signature that is demanded; ``CouldNotMeasure`` when a tool that checks signatures is missing.
    What is judged is a copy of what was hashed. Nothing is written.
    """
    folder = specification.folder
    with unaltered(folder) as copy:
        found = _verified(copy, specification.signers)
    return msgspec.structs.replace(found, folder=str(folder))


def _verified(folder: Path, signers: Path | None) -> Verification:
    """Of a copy that nobody can exchange while it is judged."""
    names = listed(folder)
    if lacks := [name for name in _PARTS if name not in names]:
        raise BadInput(f"{folder} is no whole dossier: it lacks {', '.join(lacks)}.")
    dossier = read_dossier(folder)
    signatures = checked(folder, signers)
    again = judged_anew(folder)
    sections = [part.section for part in again.result.parts]
    same_rules = dossier.rules == rules_digest()
    found = contradictions(
        folder,
        dossier,
        stored_in(folder),
        sections,
        same_rules=same_rules,
        same_program=_same_program(dossier),
    )
    page = _same_page(folder, dossier, sections, again.title)
    if page is False:
        found.append(f"{PAGE} is not the page of these records")
    if found:
        raise BadInput(
            f"{folder} contradicts itself, although every file has its digest in {MANIFEST}:"
            f" {told(found)}. It was edited and sealed anew: no verdict is given."
        )
    return Verification(
        folder=folder.name,
        verdict=again.result.verdict,
        files=len(names),
        manifest=digest_of(folder / MANIFEST),
        dossier=dossier,
        judged=_rejudgement(again, same_rules=same_rules, page=page),
        signatures=signatures,
    )


def _rejudgement(again: Rejudged, *, same_rules: bool, page: bool | None) -> Rejudgement:
    assert again.before is not None  # noqa: S101  a dossier has a result.json
    return Rejudgement(
        verdict=again.result.verdict,
        before=again.before,
        same_rules=same_rules,
        page=page,
        gone=list(again.gone),
        new=list(again.new),
    )


def _same_program(dossier: Dossier) -> bool:
    """Also the version: it stands on the page, and is no part of the modules."""
    return (dossier.program, dossier.wireproof) == (program_digest(), version())


def _same_page(
    folder: Path, dossier: Dossier, sections: Sequence[JudgedRun], title: str
) -> bool | None:
    """Whether the page is the one of these records; None where it would be written otherwise."""
    if not _same_program(dossier) or dossier.platform != platform_name():
        return None
    from wireproof.workflow.export import page_of

    own = page_of(sections, title).encode("utf-8")
    return read_bounded(folder / PAGE, _LARGEST_PAGE, follow=False) == own
