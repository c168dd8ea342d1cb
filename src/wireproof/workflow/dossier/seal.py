"""Makes a dossier of a kept result: criteria, disclosure, versions, and the manifest of it all."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from wireproof import __version__
from wireproof.files.hostile import replace_file
from wireproof.model.criteria import Agreed
from wireproof.model.dossier import AgreedFile, Dossier
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.store.dossier import DOSSIER, write_dossier
from wireproof.store.manifest import MANIFEST, is_sealed, signatures_of, write_manifest
from wireproof.workflow.dossier.criteria import criteria_of, criteria_toml
from wireproof.workflow.dossier.program import platform_name, program_digest, rules_digest
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.result import Result
from wireproof.workflow.stored import stored_in

__all__ = ["CRITERIA", "DISCLOSURE", "seal", "unseal"]

CRITERIA, DISCLOSURE = "criteria.toml", "disclosure.json"


def seal(result: Result, profile: str, agreed: Agreed | None, reporter: Reporter) -> None:
    """Make a dossier of the result's folder; an incomplete one is left open, and said.

    Raises ``CouldNotMeasure`` when it cannot be written: what was measured stays.
    """
    folder = result.folder
    if folder is None:
        return
    if result.ended("interrupted") or result.ended("disk-full"):
        reporter.warn(f"{folder} is no dossier yet: `wireproof resume {folder}` goes on.")
        return
    if result.page is None:
        reporter.warn(f"{folder} is no dossier: there is no report of it.")
        return
    try:
        _remove_drafts(folder)
        _write(folder, result, profile, agreed)
        count = write_manifest(folder)
    except BadInput as error:
        raise CouldNotMeasure(
            f"{error} Then `wireproof resume {folder}` makes it a dossier."
        ) from error
    except OSError as error:
        raise CouldNotMeasure(
            f"{folder} could not be made a dossier ({error.strerror}); what was measured is there:"
            f" `wireproof report {folder}`."
        ) from error
    reporter.say(f"dossier: {count} files, {folder / MANIFEST}")


def _remove_drafts(folder: Path) -> None:
    """What a wireproof left that was killed while it wrote."""
    for path in folder.rglob(".*"):
        if path.name == ".reserve" or path.suffix == ".new":
            path.unlink()


def _write(folder: Path, result: Result, profile: str, agreed: Agreed | None) -> None:
    criteria = criteria_of(stored_in(folder).parts, agreed)
    disclosures = [part.section.disclosure for part in result.parts]
    text = msgspec.json.format(msgspec.json.encode(disclosures), indent=1)
    replace_file(folder / DISCLOSURE, text + b"\n")
    replace_file(folder / CRITERIA, criteria_toml(criteria).encode("utf-8"))
    dossier = Dossier(
        wireproof=__version__,
        rules=rules_digest(),
        program=program_digest(),
        platform=platform_name(),
        sealed=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        profile=profile,
        verdict=result.verdict,
        criteria=criteria,
        agreed=AgreedFile(agreed.source, agreed.sha256) if agreed else None,
    )
    write_dossier(folder, dossier)


def unseal(folder: Path, reporter: Reporter) -> None:
    """What is resumed is no dossier until it ends again, and its signatures are of what it was."""
    if not is_sealed(folder):
        return
    gone = [folder / MANIFEST, folder / DOSSIER, *signatures_of(folder)]
    for path in gone:
        path.unlink(missing_ok=True)
    reporter.warn(
        f"{folder} was a dossier; it is measured on, and sealed again at the end"
        + (": its signatures are removed." if len(gone) > 2 else ".")
    )
