"""Catalogues of knobs: those that come with wireproof, and those of a site."""

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from msgspec.structs import replace

from wireproof.experiment.study import Library
from wireproof.experiment.study.catalogue import library_of
from wireproof.files.hostile import read_bounded
from wireproof.model.errors import BadInput, reading, suggestion
from wireproof.model.site import CatalogueFile, packaged, site_studies
from wireproof.model.toml import LARGEST, Place, at_field, line_at
from wireproof.options.knobs import FAMILIES

_STARTING = re.compile(
    r"(?:LD|DYLD|BASH|ENV|GLIBC|GCONV|PATH|PERL|PYTHON|SHELL)"
    r"|.*_(?:(?:AGENT|COMMAND|DIR|LIBRARY|PATH)$|EXEC|GTOOL)",
    re.IGNORECASE,
)
"""Variables that make a loader, an interpreter or an MPI start other code, such as
``OMPI_MCA_plm_rsh_agent`` and ``FI_PROVIDER_PATH``.
"""


def libraries() -> dict[str, CatalogueFile]:
    """Return the files of wireproof's and the site's catalogues by name."""

    folder = files("wireproof.experiment.study").joinpath("knobs")
    ours = {
        file.name.removesuffix(".toml"): CatalogueFile(
            packaged("wireproof.experiment.study", f"knobs/{file.name}"), file.name
        )
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".toml")
    }
    for text in site_studies():
        library = library_of(text.text, text.name)
        if library.id in ours:
            reason = f"'id': the study {library.id!r} already exists"
            raise at_field(text.text, text.name, ValueError(reason))
        _refuse_foreign(library, text, library.prefixes)
        ours[library.id] = text
    return ours


def library_called(name: str) -> Library:
    """Return a known library, or that of the file ``name`` (with ``.toml``). Raises
    ``BadInput``.
    """

    ours = libraries()
    if name in ours:
        library = library_of(ours[name].text, ours[name].name)
        return replace(library, title=ours[name].source(library.title))
    if not name.endswith(".toml"):
        raise BadInput(
            f"there is no study {name[:60]!r}; {suggestion(name, ours)} A file of a site ends in"
            " .toml."
        )
    with reading(name):
        text = CatalogueFile(read_bounded(Path(name), LARGEST).decode(), name)
    library = library_of(text.text, name)
    _refuse_foreign(library, text)
    return library


def _refuse_foreign(library: Library, text: CatalogueFile, prefixes: tuple[str, ...] = ()) -> None:
    """Refuse commands, variables that no MPI or fabric reads (PATH, LD_PRELOAD), and variables
    that name a program or a folder with code: a file must not start programs. ``prefixes``: of a
    library in the site's catalogue.
    """
    if library.looks:
        reason = "'looks': a file from outside wireproof must not start commands"
        raise at_field(text.text, text.name, ValueError(reason))
    usable = (*FAMILIES, *prefixes)
    for name, path in _variables(library):
        if not name.startswith(usable) or _STARTING.match(name):
            raise BadInput(
                f"{text.name}, line {line_at(text.text, path)}: {name[:60]!r} is refused: a study"
                f" sets only variables of an MPI or its fabric ({', '.join(usable)[:400]}) that"
                " start no program."
            )


def _variables(library: Library) -> Iterator[tuple[str, list[Place]]]:
    """Yield the names of all variables that a run gets, with their places in the file."""
    for table in ("base", "asks", "counts"):
        for name in getattr(library, table):
            yield name, [(table, None), (name, None)]
    for number, knob in enumerate(library.knob):
        yield knob.name, [("knob", number), ("name", None)]
        for name in knob.alongside:
            yield name, [("knob", number), ("alongside", None)]
