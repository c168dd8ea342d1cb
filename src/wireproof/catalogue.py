"""Add a site's rows to the catalogues: the files of one folder, all checked before any row takes
effect.

The catalogues cover NIC families, pauses, causes, findings, links, rows of the atlas, rules of lint
with their rows, and studies of knobs; ``docs/catalogue.md`` describes each.
"""

import errno
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from wireproof.files.bounded import ends_within
from wireproof.files.held import held_folder, within, written_by_others
from wireproof.files.hostile import read_bounded
from wireproof.model.errors import BadInput, reading
from wireproof.model.site import HEADS, CatalogueFile, use_site
from wireproof.model.toml import line_at, read_toml

if TYPE_CHECKING:
    pass

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
        if "knob" in tree:
            studies.append(text)
        elif unknown := sorted(tree.keys() - set(HEADS)):
            raise BadInput(
                f"{text.name}: {unknown[0][:60]!r} is not a kind of row: there are"
                f" {', '.join(HEADS)}."
            )
        else:
            texts.append(text)
        for head, entries in tree.items():
            if head not in READERS and head != "knob":
                continue
            if not isinstance(entries, list):
                raise BadInput(f"{text.name}: {head!r} is a list of tables: write [[{head}]].")
            rows[head] = rows.get(head, 0) + len(entries)
            _refuse_controls(text, head, entries)
            _refuse_unknown_settings(text, head, entries)
    _use(tuple(texts), tuple(studies), rows)
    return rows


def _refuse_controls(text: CatalogueFile, head: str, entries: list[object]) -> None:
    """Refuse control characters, because rows are printed and a terminal would obey them."""
    for number, entry in enumerate(entries):
        bad = {sign for sign in _strings(entry) if not sign.isprintable()} - {"\n", "\t"}
        if bad:
            line = line_at(text.text, [(head, number)])
            raise BadInput(
                f"{text.name}, line {line}: [[{head}]] contains the control character {min(bad)!r}."
            )


def _refuse_unknown_settings(text: CatalogueFile, head: str, entries: list[object]) -> None:
    """Refuse a cause or a rule of lint that refers to an unknown setting."""
    named = {
        number: entry["setting"]
        for number, entry in enumerate(entries)
        if isinstance(entry, dict) and isinstance(entry.get("setting"), str) and entry["setting"]
    }
    if not named:
        return
    from wireproof.audit.job import catalogue

    for number, setting in named.items():
        if setting not in catalogue().entries:
            line = line_at(text.text, [(head, number), ("setting", None)])
            raise BadInput(
                f"{text.name}, line {line}: 'setting' is {setting[:60]!r}, which is not in"
                " the catalogue of settings (`wireproof audit --list`)."
            )


def refuse_slow_patterns(match: Callable[[], object], text: str, files: str) -> None:
    """Run ``match``, which applies patterns of ``files`` to ``text``, in a separate process.

    Raises ``BadInput`` if it takes too long.
    """
    if not ends_within(match, LONGEST_S):
        raise BadInput(
            f"{text} takes more than {LONGEST_S:g} s with the rows of {files}: look there for a"
            " pattern that repeats a repetition, such as (a+)+."
        )


def _strings(entry: object) -> str:
    """Return all texts of an entry, concatenated."""
    if isinstance(entry, dict):
        return "".join(_strings(part) for pair in entry.items() for part in pair)
    if isinstance(entry, list):
        return "".join(map(_strings, entry))
    return entry if isinstance(entry, str) else ""


def _use(
    texts: tuple[CatalogueFile, ...], studies: tuple[CatalogueFile, ...], rows: Mapping[str, int]
) -> None:
    use_site(texts, studies)
    try:
        for reader in dict.fromkeys(READERS[head] for head in rows if head in READERS):
            resolve_name(reader)()
        if studies:
            resolve_name(_LIBRARIES)()
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
