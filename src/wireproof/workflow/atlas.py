"""The atlas of published numbers: wireproof's own files, and a site's."""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from pathlib import Path

from wireproof.atlas.known import Atlas, Known
from wireproof.atlas.read import bounds_of_series, sources_of
from wireproof.files.hostile import read_bounded
from wireproof.model.atlas import RATE_UNITS, AtlasView, Publication, Quantity, Spread
from wireproof.model.errors import BadInput
from wireproof.model.site import of_site, site_texts
from wireproof.model.toml import read_toml
from wireproof.physics.claims import claim_from_text
from wireproof.physics.rails import claim_of_rails

VARIABLE = "WIREPROOF_ATLAS"
_LARGEST = 4 << 20
_MOST_FILES = 1000
_TELLING = 0.01  # of the line: a time of a small message tells nothing of it


def site_folder(given: Path | None, environment: Mapping[str, str]) -> Path | None:
    """The folder of a site's own sources: the one given, that of the variable, or
    ``~/.config/wireproof/atlas`` where that exists. Raises BadInput for one that is named and is
    no folder.
    """
    named = given or (Path(environment[VARIABLE]) if environment.get(VARIABLE) else None)
    if named is not None:
        if not named.is_dir():
            raise BadInput(f"the atlas folder {named} is no folder: make it, or leave it out.")
        return named
    home = environment.get("XDG_CONFIG_HOME") or os.path.join(
        environment.get("HOME", ""), ".config"
    )
    usual = Path(home, "wireproof", "atlas")
    return usual if usual.is_absolute() and usual.is_dir() else None


def atlas(folder: Path | None = None) -> Atlas:
    """Ours, and the files of ``folder``, read when a link of their protocol is asked for. Raises
    BadInput for a bad row of the site's now.
    """
    theirs = _theirs(folder)
    return Atlas(partial(_sources, site=theirs)) if theirs else _own()


@cache
def _own() -> Atlas:
    """One for all judgements of a process."""
    return Atlas(_sources)


def _sources(
    protocol: str, site: Sequence[tuple[Publication, str]] = ()
) -> Iterable[tuple[Publication, str]]:
    return [*((source, "") for source in _ours(protocol)), *site]


@cache
def _protocols() -> dict[str, list[str]]:
    """Names of our files by protocol: ``infiniband.toml`` and ``infiniband-NAME.toml``."""
    found: dict[str, list[str]] = {}
    for each in sorted(files("wireproof.atlas").joinpath("published").iterdir(), key=str):
        if each.name.endswith(".toml"):
            protocol = each.name.removesuffix(".toml").partition("-")[0]
            found.setdefault(protocol, []).append(each.name)
    return found


@cache
def _ours(protocol: str) -> tuple[Publication, ...]:
    folder = files("wireproof.atlas").joinpath("published")
    return tuple(
        source
        for name in _protocols().get(protocol, ())
        for source in sources_of(folder.joinpath(name).read_text(encoding="utf-8"), name)
    )


def _theirs(folder: Path | None) -> tuple[tuple[Publication, str], ...]:
    """Sources of the site's catalogue, and of the folder that was given."""
    return (*added_sources(), *(_site(folder) if folder else ()))


@of_site
def added_sources() -> tuple[tuple[Publication, str], ...]:
    """Sources of the site's catalogue, each with the name of its file. Raises ``BadInput``."""
    return tuple(
        (source, os.path.basename(text.name))
        for text in site_texts()
        if "source" in read_toml(text.text, text.name)
        for source in sources_of(text.text, text.name)
    )


def _site(folder: Path) -> tuple[tuple[Publication, str], ...]:
    try:
        names = sorted(one for one in folder.iterdir() if one.suffix == ".toml")[:_MOST_FILES]
    except OSError as error:
        raise BadInput(f"the atlas folder {folder} cannot be read: {error.strerror}.") from error
    return tuple((source, path.name) for path in names for source in _read(path))


def _read(path: Path) -> list[Publication]:
    try:
        text = read_bounded(path, _LARGEST).decode("utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is no text in UTF-8.") from error
    return sources_of(text, str(path))


def atlas_view(
    link: str = "", *, pattern: str = "", size: int | None = None, folder: Path | None = None
) -> AtlasView:
    """The published series of ``link`` (all without), of one pattern, with a number at ``size``.
    Raises BadInput for a link that there is not.
    """
    found = atlas(folder)
    every = [one for protocol in _every(folder) for one in found.series(protocol)]
    links: dict[str, set[str]] = {}
    for one in every:
        links.setdefault(one.link.name, set()).add(one.source.id)
    chosen = [one for one in every if _wanted(one, link, pattern, size)]
    shown = [_spread(one) for one in chosen]
    return AtlasView(
        series=shown,
        sources=len({one.source.id for one in chosen}),
        rows=sum(len(one.rows) for one in shown),
        links={name: len(links[name]) for name in sorted(links)},
        files=sorted({one.file for one in every if one.file}),
    )


def _every(folder: Path | None) -> list[str]:
    """All protocols that there are files for."""
    own = {
        Known(source, series, claim_from_text(series.link)).link.protocol
        for source, _ in _theirs(folder)
        for series in source.series
    }
    return sorted({*_protocols(), *own})


def _wanted(one: Known, link: str, pattern: str, size: int | None) -> bool:
    if link:
        claim = claim_of_rails(link)
        kinds = {claim.kind} if claim.rate_bits_per_s is not None else set()
        family = claim.rate_bits_per_s is None and one.link.protocol == claim.protocol
        same = one.link.kind in kinds and one.link.rails == claim.rails
        if not (same or family):
            return False
    if pattern and one.series.pattern != pattern:
        return False
    return size is None or one.at(_quantity(one), size) is not None


def _quantity(one: Known) -> Quantity:
    times = one.series.pattern == "pingpong" or one.series.unit not in RATE_UNITS
    return "time" if times else "goodput"


def _spread(one: Known) -> Spread:
    source, series = one.source, one.series
    kept: tuple[str, ...] = (
        "pattern",
        "formula",
        "unit",
        "rows",
        "tool",
        "adapter",
        "pcie",
        "mpi",
        "path",
    )
    kept += ("nodes", "ranks_per_node", "launches", "note")
    return Spread(
        source=source.id,
        title=source.title,
        where=source.where,
        date=source.date,
        trust=source.trust,
        link=one.link.name,
        quantity=_quantity(one),
        si=one.times if _quantity(one) == "time" else one.goodputs,
        judged=judged(one),
        file=one.file,
        **{name: getattr(series, name) for name in kept},
    )


def judged(one: Known) -> str:
    """What the limits of its link say of a series: that the wire can have carried it."""
    bounds = bounds_of_series(one.series)
    least = min((time for _, time in one.times), default=None)
    parts = []
    if least is not None and one.series.unit not in RATE_UNITS:
        parts.append(f"{least / bounds.floor:.3g} times the floor of {bounds.link.kind}")
    most = max((goodput for _, goodput in one.goodputs), default=0.0)
    if bounds.most is not None and most >= _TELLING * bounds.most:
        parts.append(f"reaches {most / bounds.most:.0%} of the line")
    return "; ".join(parts) or "no limit of its link is known"
