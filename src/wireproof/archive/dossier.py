"""Make a dossier of a stored result: criteria, disclosure, versions, and a manifest of all
files.
"""

import dataclasses
import functools
import hashlib
import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import msgspec

from wireproof.files.hostile import replace_file
from wireproof.locate.significance import LocateCriteria
from wireproof.measure.result import PAGE, Result, stored_in
from wireproof.model.claim import LinkClaim
from wireproof.model.dossier import (
    DEFAULT_SOURCE,
    KNOWN,
    Agreed,
    AgreedFile,
    Criterion,
    Dossier,
    threshold_criteria,
)
from wireproof.model.errors import BadInput
from wireproof.model.run import StoredPart
from wireproof.physics.table import default_table
from wireproof.report.names import clean
from wireproof.report.reporter import Reporter
from wireproof.store.manifest import MANIFEST, is_sealed, signatures_of, write_manifest
from wireproof.store.result import DOSSIER, RESULT, write_dossier
from wireproof.version import version

CRITERIA, DISCLOSURE = "criteria.toml", "disclosure.json"


def seal(result: Result, profile: str, agreed: Agreed | None, reporter: Reporter) -> Result:
    """Make a dossier of the result's folder, if the result is stored.

    If that fails, the folder stays unchanged, and the reason is reported and stored as
    ``left_open`` in the result.
    """
    folder = result.folder
    if folder is None:
        return result
    if why := _left_open(result, folder) or _sealed(result, folder, profile, agreed, reporter):
        reporter.warn(why)
    return dataclasses.replace(result, left_open=why)


def _left_open(result: Result, folder: Path) -> str:
    """Return why the result is not complete enough to seal, or ""."""
    if result.ended("interrupted") or result.ended("disk-full"):
        return f"{folder} is not a dossier yet: `wireproof resume {folder}` continues it."
    lacks = [name for name in (RESULT, PAGE) if not (folder / name).is_file()]
    if result.page is None or lacks:
        return (
            f"{folder} is not a dossier: it has no {' and no '.join(lacks) or 'new report'}. Once"
            f" that can be written, `wireproof resume {folder}` makes it a dossier."
        )
    return ""


def _sealed(
    result: Result, folder: Path, profile: str, agreed: Agreed | None, reporter: Reporter
) -> str:
    """Seal the folder; return why that failed, or ""."""
    again = f"`wireproof resume {folder}` makes it a dossier."
    try:
        _remove_drafts(folder)
        _write(folder, result, profile, agreed)
        count = write_manifest(folder)
    except BadInput as error:
        return f"{error} Then {again}"
    except OSError as error:
        return (
            f"{folder} is not a dossier: {error.strerror}. Once the folder can be written to,"
            f" {again}"
        )
    reporter.say(f"dossier: {count} files, {folder / MANIFEST}")
    return ""


def _remove_drafts(folder: Path) -> None:
    """Remove drafts of a process that was killed while it wrote."""
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
    """Turn a dossier back into a plain result, because resuming changes it: its manifest and
    signatures no longer apply.
    """
    if not is_sealed(folder):
        return
    gone = [folder / MANIFEST, folder / DOSSIER, *signatures_of(folder)]
    for path in gone:
        path.unlink(missing_ok=True)
    reporter.warn(
        f"{folder} was a dossier: the measurement continues, and it is sealed again at the end"
        + (": its signatures are removed." if len(gone) > 2 else ".")
    )


_LOCATE = {
    "alpha": "probability that a sweep of healthy nodes blames one",
    "practical_goodput": "smallest loss of goodput that counts as slow",
    "practical_latency": "smallest added time that counts as slow",
    "floor": "spread of healthy ports that is never taken as a difference",
}


def criteria_of(parts: Sequence[StoredPart], agreed: Agreed | None) -> list[Criterion]:
    """Return the criteria of a result with ``parts``, which share them: the thresholds, the
    certainty required of a culprit, the claimed link, and the constants of the link's limits that
    were set.
    """
    first = parts[0]
    links = {part.run.claim.link for part in parts if part.run.claim.wire}
    return [
        *threshold_criteria(first.criteria, agreed),
        *_located(),
        *(criterion for link in sorted(links, key=str) if link for criterion in _link(link)),
        *_constants(first.constants),
    ]


def _located() -> Iterator[Criterion]:
    values = dataclasses.asdict(LocateCriteria())
    for name, about in _LOCATE.items():
        yield Criterion(name=f"locate.{name}", value=values[name], unit="1", about=about)


def _link(link: LinkClaim) -> Iterator[Criterion]:
    chosen, source = link.source.startswith("--"), link.source or DEFAULT_SOURCE
    yield Criterion(
        name="link",
        value=link.name,
        unit="",
        about="the link that the limits belong to",
        chosen=chosen,
        source=source,
    )
    if link.line_rate is not None:
        yield Criterion(
            name="link.rate",
            value=link.line_rate,
            unit="bit/s",
            about="its line rate",
            chosen=chosen,
            source=source,
        )


def _constants(values: Mapping[str, float]) -> Iterator[Criterion]:
    table = default_table()
    for name, value in values.items():
        default = table[name]
        yield Criterion(
            name=f"constant.{name}",
            value=value,
            unit=default.unit,
            about=f"constant of the limits; the default is {default.value:g}",
            chosen=True,
            source="--physics",
        )


def criteria_toml(criteria: Sequence[Criterion]) -> str:
    """Return the thresholds as a file that ``check --criteria`` reads; other criteria as
    comments.
    """
    settable = {known.name for known in KNOWN}
    lines = ["# Criteria of this result. `wireproof check --criteria FILE` reads this file."]
    for criterion in criteria:
        source = clean(f"{criterion.source}" if criterion.chosen else DEFAULT_SOURCE, 200)
        lines += ["", f"# {clean(criterion.about, 200)} ({source})"]
        line = f"{criterion.name} = {_toml(criterion.value)}"
        lines.append(line if criterion.name in settable else f"# {line}")
    return "\n".join([*lines, ""])


def _toml(value: float | str) -> str:
    if isinstance(value, str):
        return f'"{clean(value, 100)}"'
    return repr(int(value)) if float(value).is_integer() else repr(value)


_RULES = ("model", "physics", "stats", "ledger", "topology", "locate", "verdict")
"""The packages that judge records; they are pure."""
_SUFFIXES = (".py", ".toml", ".html", ".css", ".js")


@functools.cache
def rules_digest() -> str:
    """Return the SHA-256 of the modules that judge.

    Modules with equal digests reach equal conclusions from equal records.
    """
    return _digest(_RULES)


@functools.cache
def program_digest() -> str:
    """Return the SHA-256 of all modules. Modules with equal digests also write identical pages on
    the same platform.
    """
    return _digest(())


@functools.cache
def platform_name() -> str:
    """Return the versions that can affect the last digit of a number and the page's text."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    libraries = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "jinja2"))
    return f"{python}, {libraries}, {platform.system()} {platform.machine()}"


def _digest(packages: tuple[str, ...]) -> str:
    root = files("wireproof")
    places = [(name, root / name) for name in packages] or [("", root)]
    digest = hashlib.sha256()
    for name, data in sorted(source for place in places for source in _sources(*place)):
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()


def _sources(name: str, place: Traversable) -> Iterator[tuple[str, bytes]]:
    for entry in place.iterdir():
        inside = f"{name}/{entry.name}"
        if entry.is_dir():
            yield from _sources(inside, entry)
        elif entry.name.endswith(_SUFFIXES):
            yield inside, entry.read_bytes()
