"""The four documents that wireproof starts from, line by line: each thing that their reader does or
learns is a row of ``tests/docs/walk``, with the command that answers it and what it must say, or
the sentence of the docs that says why it is out of scope.
"""

import os
from pathlib import Path

import msgspec
import pytest
from tests.audit.trees import MACHINES, lay_out
from tests.docs.markdown import ROOT

from wireproof.cli import main

WALK = sorted((Path(__file__).parent / "walk").glob("*.toml"))
NAMELESS = {place: None for place in MACHINES["haswell-hfi1"] if place.endswith("device/uevent")}
SEVEN = {"sys/module/hfi1/parameters/krcvqs": "3,3,3,3,3,3,3"}


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing. ``at``: section of the document; ``what``: it, in our words; ``run``: arguments of
    wireproof, whose output has all of ``says`` and none of ``never``; or ``sentence`` of ``page``.
    """

    id: str
    at: str
    what: str
    run: tuple[str, ...] = ()
    status: int = 0
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    page: str = ""
    sentence: str = ""


class Walk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One document. ``files``: its commands, settings and tables, by name."""

    document: str
    files: dict[str, str]
    row: tuple[Row, ...]


WALKS = {path.stem: msgspec.toml.decode(path.read_bytes(), type=Walk) for path in WALK}
ROWS = [
    pytest.param(stem, row, id=f"{row.id} {row.what}", marks=_marks)
    for stem, walk in WALKS.items()
    for row in walk.row
    for _marks in [[pytest.mark.engine] if "--from" in row.run else []]
]


@pytest.fixture(scope="module")
def desks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each document, with its files, tests/golden and two hosts."""
    folders = {}
    for stem, walk in WALKS.items():
        folders[stem] = folder = tmp_path_factory.mktemp(stem)
        (folder / "golden").symlink_to(ROOT / "tests" / "golden")
        lay_out(folder / "haswell-hfi1", "haswell-hfi1", {})
        lay_out(folder / "haswell-seven", "haswell-hfi1", SEVEN)
        lay_out(folder / "haswell-nameless", "haswell-hfi1", NAMELESS)
        for name, text in walk.files.items():
            (folder / name).write_text(text.removeprefix("\n"), "utf-8")
    return folders


@pytest.fixture(scope="module")
def printed() -> dict[tuple[str, ...], tuple[int, str]]:
    """Exit status and output of what has run."""
    return {}


@pytest.mark.parametrize(("stem", "row"), ROWS)
def test_each_thing_of_a_document_is_answered(
    stem: str,
    row: Row,
    desks: dict[str, Path],
    printed: dict[tuple[str, ...], tuple[int, str]],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not row.run:
        assert row.sentence in " ".join((ROOT / row.page).read_text("utf-8").split())
        return
    call = (stem, *row.run)
    if call not in printed:
        for name in [name for name in os.environ if name.startswith("WIREPROOF_")]:
            monkeypatch.delenv(name)
        monkeypatch.chdir(desks[stem])
        status = main(list(row.run))
        printed[call] = status, " ".join("".join(capfd.readouterr()).split())
    status, text = printed[call]
    missing = [words for words in row.says if words not in text]
    wrong = [words for words in row.never if words in text]
    assert (status, missing, wrong) == (row.status, [], []), text


def test_every_row_has_an_answer_and_an_id_of_its_own() -> None:
    rows = [row for walk in WALKS.values() for row in walk.row]
    assert len({row.id for row in rows}) == len(rows)
    assert all(bool(row.run) != bool(row.sentence) for row in rows)
