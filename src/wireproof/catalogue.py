"""Add a site's rows to the catalogues: the files of one folder, all checked before any row takes
effect.

The catalogues cover NIC families, pauses, causes, findings, links, rows of the atlas, rules of lint
with their rows, and studies of knobs; ``docs/catalogue.md`` describes each.
"""

import errno
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from pkgutil import resolve_name

from wireproof.files.bounded import ends_within
from wireproof.files.held import held_folder, within, written_by_others
from wireproof.files.hostile import read_bounded
from wireproof.model.errors import BadInput, reading
from wireproof.model.site import HEADS, CatalogueFile, use_site
from wireproof.model.toml import Place, line_at, read_toml

_LIBRARIES = "wireproof.experiment.study.library:libraries"
VARIABLE = "WIREPROOF_CATALOGUE"
_LARGEST, _LARGEST_OF_ALL = 1 << 20, 8 << 20
_MOST_FILES = 200
LONGEST_S = 20.0
"""Time limit in seconds for a site's patterns on one text, because a pattern can take unbounded
time.
"""
READERS = {
    "family": "wireproof.ledger.catalogue.read:families",
    "pauses": "wireproof.pfc.counters:pausing",
    "cause": "wireproof.locate.causes.rules:rules",
    "finding": "wireproof.verdict.catalogue:findings",
    "link": "wireproof.physics.table:link_names",
    "source": "wireproof.atlas.job:added_sources",
    "setting": "wireproof.audit.job:catalogue",
    "folder": "wireproof.lint.tables:folders",
    "sysctl": "wireproof.lint.tables:sysctls",
    "list": "wireproof.lint.tables:lists",
    "library": "wireproof.lint.tables:libraries",
    "module": "wireproof.lint.tables:modules",
    **dict.fromkeys(("rule", "line", "variable", "command"), "wireproof.lint.rules:rules"),
}
"""The reader of each kind of row, which refuses a wrong row with file, line and field."""


def catalogue_folder(given: str | None, environment: Mapping[str, str]) -> Path | None:
    """Return the folder of a site's rows; see ``site_folder``."""
    return site_folder(
        "the catalogue", given or environment.get(VARIABLE), "catalogue", environment
    )


def site_folder(
    title: str, named: str | Path | None, usual: str, environment: Mapping[str, str]
) -> Path | None:
    """Return the named folder, else ``~/.config/wireproof/USUAL`` if it exists. Raises ``BadInput``
    if the named folder does not exist.
    """
    if named:
        if not os.path.isdir(named):
            raise BadInput(f"{title} {named} is not a folder: create it, or leave it out.")
        return Path(named)
    home = environment.get("XDG_CONFIG_HOME") or os.path.join(
        environment.get("HOME", ""), ".config"
    )
    folder = Path(home, "wireproof", usual)
    return folder if folder.is_absolute() and folder.is_dir() else None


def use_catalogue(folder: Path) -> dict[str, int]:
    """Add the rows of the folder's ``*.toml`` files to wireproof's catalogues from now on.

    Return the number of rows of each kind. Raises ``BadInput`` with file, line and field; in that
    case no row takes effect.
    """
    rows: dict[str, int] = {}
    texts, studies = [], []
    for text in _texts(folder):
        tree = read_toml(text.text, text.name)
        _refuse_controls(text, tree)
        if "knob" in tree:
            studies.append(text)
        elif unknown := sorted(tree.keys() - set(HEADS)):
            raise BadInput(
                f"{_line(text, (unknown[0], None))}: {unknown[0][:60]!r} is not a kind of row:"
                f" there are {', '.join(HEADS)}, knob."
            )
        else:
            texts.append(text)
        for head, entries in tree.items():
            if head not in READERS and head != "knob":
                continue
            if not isinstance(entries, list):
                raise BadInput(
                    f"{_line(text, (head, None))}: {head!r} is a list of tables: write [[{head}]]."
                )
            rows[head] = rows.get(head, 0) + len(entries)
    _use(tuple(texts), tuple(studies), rows)
    return rows


def _line(text: CatalogueFile, *path: Place) -> str:
    """Return the file and the line of a value, as errors begin."""
    return f"{text.name}, line {line_at(text.text, path)}"


def _refuse_controls(text: CatalogueFile, tree: object) -> None:
    """Refuse control characters, because rows are printed and a terminal would obey them."""
    for string, path in _strings(tree, ()):
        bad = {sign for sign in string if not sign.isprintable()} - {"\n", "\t"}
        if bad:
            key = path[-1][0] if path else "a key"
            raise BadInput(
                f"{_line(text, *path)}: {key[:60]!r} contains the control character {min(bad)!r}."
            )


def _refuse_unknown_settings(text: CatalogueFile) -> None:
    """Refuse a cause or a rule of lint that refers to an unknown setting."""
    named = {
        (head, number): entry["setting"]
        for head in ("cause", "rule")
        for number, entry in enumerate(read_toml(text.text, text.name).get(head, ()))
        if entry.get("setting")
    }
    if not named:
        return
    from wireproof.audit.job import catalogue

    for place, setting in named.items():
        if setting not in catalogue().entries:
            raise BadInput(
                f"{_line(text, place, ('setting', None))}: 'setting' is {setting[:60]!r}, which is"
                " not in the catalogue of settings (`wireproof audit --list`)."
            )


def _refuse_shared_codes(text: CatalogueFile) -> None:
    """Refuse a finding with the code of a cause, rule or setting, and the reverse, because
    ``explain`` would hide the latter.
    """
    keys = {"finding": "code", "cause": "code", "rule": "code", "setting": "id"}
    tree = read_toml(text.text, text.name)
    for head, key in keys.items() if keys.keys() & tree.keys() else ():
        others = _codes_of_others() if head == "finding" else resolve_name(READERS["finding"])()
        for number, entry in enumerate(tree.get(head, ())):
            if entry[key] in others:
                raise BadInput(
                    f"{_line(text, (head, number), (key, None))}: {key!r} is {entry[key][:60]!r},"
                    " which `wireproof explain` shows as another kind of entry: give a new one."
                )


def _codes_of_others() -> set[str]:
    """Return the codes of all causes, rules and settings."""
    from wireproof.audit.job import settings_by_id

    causes, rules = (resolve_name(READERS[head])() for head in ("cause", "rule"))
    return {*(cause.code for cause in causes), *rules, *settings_by_id()}


def refuse_slow_patterns(match: Callable[[], object], text: str, files: str) -> None:
    """Run ``match``, which applies patterns of ``files`` to ``text``, in a separate process.

    Raises ``BadInput`` if it takes too long.
    """
    if not ends_within(match, LONGEST_S):
        raise BadInput(
            f"{text} takes more than {LONGEST_S:g} s with the rows of {files}: look there for a"
            " pattern that repeats a repetition, such as (a+)+."
        )


def _strings(entry: object, path: tuple[Place, ...]) -> Iterator[tuple[str, tuple[Place, ...]]]:
    """Yield all texts below ``path``, keys included, with their places."""
    if isinstance(entry, dict):
        for key, part in entry.items():
            yield key, path
            yield from _strings(part, (*path, (key, None)))
    elif isinstance(entry, list):
        for number, part in enumerate(entry):
            yield from _strings(part, (*path[:-1], (path[-1][0], number)))
    elif isinstance(entry, str):
        yield entry, path


def _use(
    texts: tuple[CatalogueFile, ...], studies: tuple[CatalogueFile, ...], rows: Mapping[str, int]
) -> None:
    use_site(texts, studies)
    try:
        for reader in dict.fromkeys(READERS[head] for head in rows if head in READERS):
            resolve_name(reader)()
        if studies:
            resolve_name(_LIBRARIES)()
        for text in texts:
            _refuse_unknown_settings(text)
            _refuse_shared_codes(text)
    except BaseException:
        use_site(())
        raise


def _texts(folder: Path) -> list[CatalogueFile]:
    with reading(f"the catalogue {folder}"), held_folder(folder) as held:
        _refuse_others(os.stat(folder) if held is None else os.fstat(held), str(folder))
        names = sorted(name for name in os.listdir(folder) if name.endswith(".toml"))
        if len(names) > _MOST_FILES:
            raise BadInput(f"the catalogue {folder} has more than {_MOST_FILES} files.")
        texts = [_text(folder / name, held) for name in names]
    if sum(len(text.text) for text in texts) > _LARGEST_OF_ALL:
        raise BadInput(
            f"the files of the catalogue {folder} are larger than {_LARGEST_OF_ALL >> 20} MiB in "
            "total."
        )
    return texts


def _refuse_others(found: os.stat_result, path: str) -> None:
    """Refuse a folder or file that others can write to, because judgements depend on the rows."""
    if why := written_by_others(found):
        raise OSError(errno.EPERM, f"it {why}: chown it, or `chmod go-w`", path)


def _text(path: Path, held: int | None) -> CatalogueFile:
    with reading(path):
        data = read_bounded(within(held, path), _LARGEST, follow=False, folder=held)
        _refuse_others(os.stat(within(held, path), dir_fd=held, follow_symlinks=False), str(path))
        return CatalogueFile(data.decode(), str(path), by_site=True)
