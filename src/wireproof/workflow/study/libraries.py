"""The catalogues of knobs that come with wireproof, and those of a site."""

from importlib.resources import files
from pathlib import Path

from wireproof.files.hostile import read_bounded
from wireproof.model.errors import LARGEST, BadInput, reading, suggestion
from wireproof.model.site import site_studies
from wireproof.model.study import Library
from wireproof.settings.knobs import FAMILIES, is_of_a_fabric
from wireproof.study.catalogue import library_of


def libraries() -> dict[str, str]:
    """Return the texts of wireproof's and the site's catalogues by name."""
    folder = files("wireproof.study").joinpath("knobs")
    ours = {
        file.name.removesuffix(".toml"): file.read_text(encoding="utf-8")
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".toml")
    }
    for text in site_studies():
        name = library_of(text.text, text.name).id
        if name in ours:
            raise BadInput(f"{text.name}: id: there is a study {name[:60]!r} already.")
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
        data = read_bounded(Path(name), LARGEST)
    try:
        library = library_of(data.decode(), name)
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not text in UTF-8.") from error
    _refuse_foreign(library, name)
    return library


def _refuse_foreign(library: Library, source: str) -> None:
    """Refuse commands, and variables that no MPI or fabric reads (PATH, LD_PRELOAD): a file must
    not start programs.
    """
    if library.looks:
        raise BadInput(f"{source}: looks: a file outside of wireproof must not start commands.")
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
