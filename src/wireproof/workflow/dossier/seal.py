"""Makes a dossier of a kept result: criteria, disclosure, versions, and the manifest of it all."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from wireproof.files.hostile import replace_file
from wireproof.model.dossier import Agreed, AgreedFile, Dossier
from wireproof.model.errors import BadInput
from wireproof.store.dossier import DOSSIER, write_dossier
from wireproof.store.manifest import MANIFEST, is_sealed, signatures_of, write_manifest
from wireproof.store.result import RESULT
from wireproof.version import version
from wireproof.workflow.dossier.criteria import criteria_of, criteria_toml
from wireproof.workflow.dossier.program import platform_name, program_digest, rules_digest
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.result import PAGE, Result
from wireproof.workflow.stored import stored_in

__all__ = ["CRITERIA", "DISCLOSURE", "seal", "unseal"]

CRITERIA, DISCLOSURE = "criteria.toml", "disclosure.json"


def seal(result: Result, profile: str, agreed: Agreed | None, reporter: Reporter) -> Result:
    """Make a dossier of the result's folder, where one is kept. What cannot be made one stays as it
    is; why is said, and is the result's ``left_open``.
    """
    folder = result.folder
    if folder is None:
        return result
    if why := _left_open(result, folder) or _sealed(result, folder, profile, agreed, reporter):
        reporter.warn(why)
    return dataclasses.replace(result, left_open=why)


def _left_open(result: Result, folder: Path) -> str:
    """Why the result is none yet; "" when it is whole."""
    if result.ended("interrupted") or result.ended("disk-full"):
        return f"{folder} is no dossier yet: `wireproof resume {folder}` goes on."
    lacks = [name for name in (RESULT, PAGE) if not (folder / name).is_file()]
    if result.page is None or lacks:
        return (
            f"{folder} is no dossier: it has no {' and no '.join(lacks) or 'new report'}. When that"
            f" can be written, `wireproof resume {folder}` makes it one."
        )
    return ""


def _sealed(
    result: Result, folder: Path, profile: str, agreed: Agreed | None, reporter: Reporter
) -> str:
    """Why it could not be sealed; "" when it is."""
    again = f"`wireproof resume {folder}` makes it a dossier."
    try:
        _remove_drafts(folder)
        _write(folder, result, profile, agreed)
        count = write_manifest(folder)
    except BadInput as error:
        return f"{error} Then {again}"
    except OSError as error:
        return f"{folder} is no dossier: {error.strerror}. When it can be written, {again}"
    reporter.say(f"dossier: {count} files, {folder / MANIFEST}")
    return ""


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
        wireproof=version(),
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
