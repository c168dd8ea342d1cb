"""The pages of a history that holds hostile words, in folders that someone else has prepared."""

import re
from pathlib import Path

import msgspec
import pytest
from tests.archive.test_history import entry
from tests.made_history import EVIL, fill, written

from wireproof.archive.board_document import file_of
from wireproof.archive.pages import STATE
from wireproof.model.errors import BadInput
from wireproof.store.history import add_entry


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("history")
    fill(root)
    return written(root, runs=2)


def test_every_page_has_a_policy_that_allows_nothing_but_itself(pages: Path) -> None:
    for page in pages.glob("*.html"):
        text = page.read_text()
        policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', text)
        assert policy is not None, page.name
        assert "default-src &#39;none&#39;" in policy[1] or "default-src 'none'" in policy[1]
        assert "unsafe-eval" not in policy[1]
        assert "connect-src &#39;none&#39;" in policy[1] or "connect-src 'none'" in policy[1]
        assert "form-action &#39;none&#39;" in policy[1] or "form-action 'none'" in policy[1]


def test_hostile_words_stay_words_on_every_page(pages: Path) -> None:
    seen = 0
    for page in pages.glob("*.html"):
        text = page.read_text()
        assert "<img" not in text, page.name
        assert "\u202e" not in text, page.name
        seen += "onerror=alert(1)" in text
    assert seen >= 6
    assert (pages / file_of("node", EVIL)).is_file()
    assert (pages / file_of("set", EVIL)).is_file()


@pytest.mark.parametrize("name", ["../../outside", "/etc/outside", "..", "a/../../outside", "a\0b"])
def test_no_name_of_a_node_or_set_becomes_a_path(tmp_path: Path, name: str) -> None:
    """`history pages` opens no port. No name in a history becomes a path, and a folder that holds
    anything but its pages is refused.
    """
    root = tmp_path / "deep" / "history"
    one = entry(1, nodes={name: "pass"})
    add_entry(root, msgspec.structs.replace(one, fingerprint=name))
    place = written(root, runs=0)
    assert (place / file_of("node", name)).parent == place
    assert {one.name for one in tmp_path.iterdir()} == {"deep"}
    assert {one.name for one in (tmp_path / "deep").iterdir()} == {"history"}
    assert all(one.is_file() for one in place.iterdir())


def test_a_folder_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    add_entry(tmp_path / "h", entry(1))
    place = tmp_path / "home"
    place.mkdir()
    (place / "index.html").write_text("mine")
    with pytest.raises(BadInput, match=r"contains 'index\.html', which is not a page of a history"):
        written(tmp_path / "h", folder=place)
    assert (place / "index.html").read_text() == "mine"


def test_a_link_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    add_entry(tmp_path / "h", entry(1))
    (tmp_path / "else").mkdir()
    (tmp_path / "h" / "pages").symlink_to(tmp_path / "else")
    with pytest.raises(BadInput, match="cannot be written"):
        written(tmp_path / "h")
    assert list((tmp_path / "else").iterdir()) == []


def test_a_link_in_place_of_a_page_is_replaced_and_never_followed(tmp_path: Path) -> None:
    add_entry(tmp_path / "h", entry(1, nodes={"n1": "pass"}))
    place = written(tmp_path / "h", runs=0)
    mine = tmp_path / "mine"
    mine.write_text("mine")
    for name in ("index.html", "node-n1.html"):
        (place / name).unlink()
        (place / name).symlink_to(mine)
    add_entry(tmp_path / "h", entry(2, nodes={"n1": "fail"}))
    written(tmp_path / "h", runs=0)
    assert mine.read_text() == "mine"
    assert not (place / "index.html").is_symlink()


def test_a_list_of_pages_removes_nothing_elsewhere(tmp_path: Path) -> None:
    add_entry(tmp_path / "h", entry(1, nodes={"n1": "pass"}))
    place = written(tmp_path / "h", runs=0)
    outside = tmp_path / "h" / "victim.html"
    outside.write_text("mine")
    (place / "keys.txt").write_text("mine")
    listed = {"../victim.html": "x", str(outside): "x", "keys.txt": "x", "index": "x"}
    (place / STATE).write_bytes(msgspec.json.encode({"pages": listed}))
    written(tmp_path / "h", runs=0)
    assert outside.read_text() == "mine"
    assert (place / "keys.txt").read_text() == "mine"
