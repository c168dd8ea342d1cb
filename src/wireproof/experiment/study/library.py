"""Catalogues of knobs: those that come with wireproof, and those of a site."""

from importlib.resources import files
from pathlib import Path

from wireproof.experiment.study import Library
from wireproof.experiment.study.catalogue import library_of
from wireproof.files.hostile import read_bounded
from wireproof.model.errors import BadInput, reading, suggestion
from wireproof.model.site import packaged, site_studies
from wireproof.model.toml import LARGEST
from wireproof.options.knobs import FAMILIES, is_of_a_fabric


def libraries() -> dict[str, str]:
    """Return the texts of wireproof's and the site's catalogues by name."""

    folder = files("wireproof.experiment.study").joinpath("knobs")
    ours = {
        file.name.removesuffix(".toml"): packaged(
            "wireproof.experiment.study", f"knobs/{file.name}"
        )
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".toml")
    }
    for text in site_studies():
        name = library_of(text.text, text.name).id
        if name in ours:
            raise BadInput(f"{text.name}: id: a study {name[:60]!r} already exists.")
        ours[name] = text.text
    return ours


def library_called(name: str) -> Library:
    """Return a known library, or that of the file ``name`` (with ``.toml``). Raises
    ``BadInput``.
    """

    ours = libraries()
    if name in ours:
        return library_of(ours[name], f"{name}.toml")
    if not name.endswith(".toml"):
        raise BadInput(
            f"there is no study {name[:60]!r}; {suggestion(name, ours)} A file of a site ends in"
            " .toml."
        )
    with reading(name):
        text = read_bounded(Path(name), LARGEST).decode()
    library = library_of(text, name)
    _refuse_foreign(library, name)
    return library


def _refuse_foreign(library: Library, source: str) -> None:
    """Refuse commands, and variables that no MPI or fabric reads (PATH, LD_PRELOAD): a file must
    not start programs.
    """

    if library.looks:
        raise BadInput(f"{source}: looks: a file from outside wireproof must not start commands.")
    tables = (
        library.base,
        library.asks,
        library.counts,
        *(knob.alongside for knob in library.knob),
    )
    names = [knob.name for knob in library.knob] + [name for table in tables for name in table]
    wrong = next((name for name in names if not is_of_a_fabric(name)), None)
    if wrong is not None:
        raise BadInput(
            f"{source}: {wrong[:60]!r} is not a variable that an MPI or its fabric reads"
            f" ({', '.join(FAMILIES)})."
        )
