"""The atlas of published numbers: wireproof's files, and those of a site."""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from pathlib import Path

from wireproof.atlas import Atlas, Known, bounds_of_series, sources_of
from wireproof.catalogue import site_folder
from wireproof.files.hostile import read_bounded
from wireproof.model.atlas import RATE_UNITS, AtlasView, Publication, Quantity, Spread
from wireproof.model.errors import reading
from wireproof.model.site import of_site, site_texts
from wireproof.model.toml import read_toml
from wireproof.physics.claims import claim_from_text
from wireproof.physics.rails import claim_of_rails

VARIABLE = "WIREPROOF_ATLAS"
_LARGEST = 4 << 20
_MOST_FILES = 1000
_TELLING = 0.01  # fraction of the line rate below which a goodput has no relation to the line


def atlas_folder(given: Path | None, environment: Mapping[str, str]) -> Path | None:
    """Return the folder of a site's sources: the given folder, the folder that the variable names,
    or ``~/.config/wireproof/atlas`` if it exists. Raises ``BadInput`` if a named folder does not
    exist.
    """
    named = given or environment.get(VARIABLE)
    return site_folder("the atlas folder", named, "atlas", environment)


def atlas(folder: Path | None = None) -> Atlas:
    """Return wireproof's sources, read when a link of their protocol is requested, and those of
    ``folder``. Raises ``BadInput`` at once if the site's files contain a bad row.
    """
    theirs = _theirs(folder)
    return Atlas(partial(_sources, site=theirs)) if theirs else _own()


@cache
def _own() -> Atlas:
    """Return the atlas that all judgements of a process share."""
    return Atlas(_sources)


def _sources(
    protocol: str, site: Sequence[tuple[Publication, str]] = ()
) -> Iterable[tuple[Publication, str]]:
    return [*((source, "") for source in _ours(protocol)), *site]


@cache
def _protocols() -> dict[str, list[str]]:
    """Return the names of wireproof's files by protocol: ``infiniband.toml`` and
    ``infiniband-NAME.toml``.
    """
    names: dict[str, list[str]] = {}
    for file in sorted(files("wireproof.atlas").joinpath("published").iterdir(), key=str):
        if file.name.endswith(".toml"):
            protocol = file.name.removesuffix(".toml").partition("-")[0]
            names.setdefault(protocol, []).append(file.name)
    return names


@cache
def _ours(protocol: str) -> tuple[Publication, ...]:
    folder = files("wireproof.atlas").joinpath("published")
    return tuple(
        source
        for name in _protocols().get(protocol, ())
        for source in sources_of(folder.joinpath(name).read_text(encoding="utf-8"), name)
    )


def _theirs(folder: Path | None) -> tuple[tuple[Publication, str], ...]:
    """Return the sources of the site's catalogue and of the given folder."""
    return (*added_sources(), *(_site(folder) if folder else ()))


@of_site
def added_sources() -> tuple[tuple[Publication, str], ...]:
    """Return the sources of the site's catalogue, each with the name of its file.

    Raises ``BadInput``.
    """
    return tuple(
        (source, os.path.basename(text.name))
        for text in site_texts()
        if "source" in read_toml(text.text, text.name)
        for source in sources_of(text.text, text.name)
    )


def _site(folder: Path) -> tuple[tuple[Publication, str], ...]:
    with reading(f"the atlas folder {folder}"):
        names = sorted(path for path in folder.iterdir() if path.suffix == ".toml")[:_MOST_FILES]
    return tuple((source, path.name) for path in names for source in _read(path))


def _read(path: Path) -> list[Publication]:
    with reading(path):
        text = read_bounded(path, _LARGEST).decode("utf-8")
    return sources_of(text, str(path))


def atlas_view(
    link: str = "", *, pattern: str = "", size: int | None = None, folder: Path | None = None
) -> AtlasView:
    """Return the published series of ``link`` (of all links without it), of one pattern, with a
    number at ``size``. Raises ``BadInput`` for an unknown link.
    """
    found = atlas(folder)
    every = [series for protocol in _every(folder) for series in found.series(protocol)]
    links: dict[str, set[str]] = {}
    for series in every:
        links.setdefault(series.link.name, set()).add(series.source.id)
    chosen = [series for series in every if _wanted(series, link, pattern, size)]
    shown = [_spread(series) for series in chosen]
    return AtlasView(
        series=shown,
        sources=len({series.source.id for series in chosen}),
        rows=sum(len(series.rows) for series in shown),
        links={name: len(links[name]) for name in sorted(links)},
        files=sorted({series.file for series in every if series.file}),
    )


def _every(folder: Path | None) -> list[str]:
    """Return all protocols that have files."""
    site = {
        Known(source, series, claim_from_text(series.link)).link.protocol
        for source, _ in _theirs(folder)
        for series in source.series
    }
    return sorted({*_protocols(), *site})


def _wanted(known: Known, link: str, pattern: str, size: int | None) -> bool:
    if link:
        claim = claim_of_rails(link)
        kinds = {claim.kind} if claim.rate_bits_per_s is not None else set()
        family = claim.rate_bits_per_s is None and known.link.protocol == claim.protocol
        same = known.link.kind in kinds and known.link.rails == claim.rails
        if not (same or family):
            return False
    if pattern and known.series.pattern != pattern:
        return False
    return size is None or known.at(_quantity(known), size) is not None


def _quantity(known: Known) -> Quantity:
    times = known.series.pattern == "pingpong" or known.series.unit not in RATE_UNITS
    return "time" if times else "goodput"


def _spread(known: Known) -> Spread:
    source, series = known.source, known.series
    names = (
        *("pattern", "formula", "unit", "rows", "tool", "adapter", "pcie", "mpi", "path"),
        *("nodes", "ranks_per_node", "launches", "note"),
    )
    return Spread(
        source=source.id,
        title=source.title,
        where=source.where,
        date=source.date,
        trust=source.trust,
        link=known.link.name,
        quantity=_quantity(known),
        si=known.times if _quantity(known) == "time" else known.goodputs,
        judged=judged(known),
        file=known.file,
        **{name: getattr(series, name) for name in names},
    )


def judged(known: Known) -> str:
    """Compare a series with the limits of its link; return whether the wire can have carried it."""
    bounds = bounds_of_series(known.series)
    least = min((time for _, time in known.times), default=None)
    parts = []
    if least is not None and known.series.unit not in RATE_UNITS:
        parts.append(f"{least / bounds.floor:.3g} times the floor of {bounds.link.kind}")
    most = max((goodput for _, goodput in known.goodputs), default=0.0)
    if bounds.most is not None and most >= _TELLING * bounds.most:
        parts.append(f"reaches {most / bounds.most:.0%} of the line")
    return "; ".join(parts) or "no limit of its link is known"
