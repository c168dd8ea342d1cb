"""The catalogues of knobs that come with wireproof, and a site's own."""

from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

from wireproof.files.hostile import read_bounded
from wireproof.model.errors import BadInput
from wireproof.model.site import site_studies
from wireproof.model.study import Library
from wireproof.model.toml import LARGEST
from wireproof.settings.knobs import FAMILIES, is_of_a_fabric
from wireproof.study.catalogue import library_of


def libraries() -> dict[str, str]:
    """The texts of our own catalogues and of the site's by their names."""
    folder = files("wireproof.study").joinpath("knobs")
    ours = {
        each.name.removesuffix(".toml"): each.read_text(encoding="utf-8")
        for each in sorted(folder.iterdir(), key=lambda one: one.name)
        if each.name.endswith(".toml")
    }
    for text in site_studies():
        name = library_of(text.text, text.name).id
        if name in ours:
            raise BadInput(f"{text.name}: id: there is a study {name[:60]!r} already.")
        ours[name] = text.text
    return ours


def library_called(name: str) -> Library:
    """One of ours, or that of the file ``name`` (with ``.toml``). Raises ``BadInput``."""
    ours = libraries()
    if name in ours:
        return library_of(ours[name], f"{name}.toml")
    if not name.endswith(".toml"):
        near = get_close_matches(name, ours, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(ours)}."
        raise BadInput(f"there is no study {name[:60]!r}; {hint} A site's own ends in .toml.")
    try:
        data = read_bounded(Path(name), LARGEST)
    except OSError as error:
        raise BadInput(f"{name} cannot be read: {error.strerror}.") from error
    try:
        found = library_of(data.decode(), name)
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is no text in UTF-8.") from error
    _refuse_foreign(found, name)
    return found


def _refuse_foreign(library: Library, source: str) -> None:
    """A file starts no program: by no command, and by no variable that no MPI or fabric reads
    (PATH, LD_PRELOAD).
    """
    if library.looks:
        raise BadInput(f"{source}: looks: a file of your own starts no commands.")
    texts = (library.base, library.asks, library.counts, *(one.alongside for one in library.knob))
    names = [one.name for one in library.knob] + [name for each in texts for name in each]
    wrong = next((name for name in names if not is_of_a_fabric(name)), None)
    if wrong is not None:
        raise BadInput(
            f"{source}: {wrong[:60]!r} is no variable that an MPI or its fabric reads"
            f" ({', '.join(FAMILIES)})."
        )
