"""A history written as pages: what they show, how they are linked, and what is written again."""

import os
import re
import time
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.archive.test_history import entry
from tests.made_history import EVIL, fill, written

from wireproof.archive.apart import apart
from wireproof.archive.board_document import compared_document, file_of, framed
from wireproof.archive.pages import STATE
from wireproof.cli.history import command
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.history import Comparison, Difference, Ratio, Side, Source
from wireproof.store.history import add_entry, remove_entries


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("history")
    fill(root)
    return written(root, runs=4)


def page(pages: Path, name: str) -> str:
    return (pages / name).read_text()


def stamps(pages: Path) -> dict[str, int]:
    return {one.name: one.stat().st_ino for one in pages.iterdir()}


def test_the_first_page_names_what_does_not_pass(pages: Path) -> None:
    text = page(pages, "index.html")
    assert "304 nodes, in blocks of neighbours by name" in text
    assert "n007 sends at 297 Mb/s" in text
    assert "never measured" in text
    assert "not compared with earlier results" in text


def test_every_link_leads_to_a_page_that_is_there(pages: Path) -> None:
    names = {one.name for one in pages.iterdir()}
    for one in pages.glob("*.html"):
        for place in re.findall(r'href="([^"#]+)', one.read_text()):
            assert unescape(place) in names, (one.name, place)


def test_nodes_are_listed_by_name_by_verdict_and_by_group(pages: Path) -> None:
    text = page(pages, "nodes.html")
    assert text.index("node-n007.html") < text.index("node-n008.html") < text.index("node-n300")
    assert "304 in all" in text
    assert "node-n007.html" in page(pages, "nodes-fail.html")
    assert "node-n008.html" not in page(pages, "nodes-fail.html")
    assert "There is no such node" in page(pages, "nodes-never.html")
    assert "node-n065.html" in page(pages, "group-1.html")


def test_a_long_list_has_several_pages(tmp_path: Path) -> None:
    nodes = {f"n{at}": "pass" for at in range(1, 502)}
    add_entry(tmp_path, entry(1, nodes=nodes))
    place = written(tmp_path, runs=0)
    assert "1 to 500 of 501" in page(place, "nodes.html")
    assert 'href="nodes-2.html">next' in page(place, "nodes.html")
    assert "node-n501.html" in page(place, "nodes-2.html")


def test_a_node_has_its_results(pages: Path) -> None:
    text = page(pages, "node-n007.html")
    assert "n007 sends at 297 Mb/s" in text
    assert "r00039" in text


def test_a_run_is_judged_and_shown_with_a_way_back(pages: Path) -> None:
    text = page(pages, "run-again.html")
    assert "Back to the history" in text
    assert "Did it use the wire?" in text


def test_results_without_records_and_beyond_the_newest_have_no_report(pages: Path) -> None:
    assert "no longer contains the records of evil41" in page(pages, "run-evil41.html")
    assert not (pages / "run-r00005.html").exists()
    assert "<td" in page(pages, "results.html").partition("r00005")[2]
    assert "run-r00005" not in page(pages, "results.html")


def test_a_result_is_compared_with_the_one_before_it(pages: Path) -> None:
    (place,) = pages.glob("compare-undated*")  # its records are those of `again`, before it
    text = place.read_text()
    assert "Nothing is compared" in text  # its path is not proven
    assert "Not compared" in text
    assert "No recorded condition differs" in text
    assert place.name in page(pages, "results.html")
    assert page(pages, place.name.replace("compare", "run"))


def test_a_comparison_says_what_is_worse_and_what_differs() -> None:
    side = Source(name="/x/a", hosts="n[1-2]", measured="2026-01-01", verdict="pass")
    worse = Ratio(
        name="stream",
        pattern="stream",
        message_bytes=1 << 20,
        unit="bytes_per_s",
        conclusion="worse",
        a=Side(value=1e10, results=2),
        b=Side(value=9e9, results=2),
        ratio=0.9,
        low=0.88,
        high=0.92,
        launches=3,
    )
    found = Comparison(
        a=side,
        b=side,
        practical=0.03,
        rows=[worse],
        differ=[Difference(name="driver", a="5.0", b=EVIL)],
    )
    text = framed(compared_document("one", "two", found, {"run-two.html"}), "/x")
    for words in ("-10.0 %", "-12.0", "-8.0", "B is worse", "10000 MB/s", "run-two.html"):
        assert words in text
    assert "run-one.html" not in text
    assert "<img" not in text
    assert "\u202e" not in text


def test_trends_name_a_change_and_what_changed_there(pages: Path) -> None:
    assert "set-f.html" in page(pages, "trends.html")
    text = page(pages, "set-f.html")
    assert "% worse" in text
    assert "driver: 5.0 -&gt; 5.1" in text
    assert 'class="s0 band"' in text
    assert "stream 1 MiB" in text


def test_only_what_has_changed_is_written_again(tmp_path: Path) -> None:
    add_entry(tmp_path, entry(1, nodes={"n1": "pass", "n2": "pass"}))
    place = written(tmp_path)
    before = stamps(place)
    assert "1 node" not in page(place, "index.html")
    add_entry(tmp_path, entry(2, nodes={"n1": "fail"}))
    written(tmp_path)
    after = stamps(place)
    for same in ("node-n2.html", "run-r00001.html"):
        assert after[same] == before[same], same
    for new in ("node-n1.html", "index.html", "set-f.html"):
        assert after[new] != before[new], new
    assert "run-r00002.html" in after


def test_pages_of_what_is_gone_are_removed(tmp_path: Path) -> None:
    add_entry(tmp_path, entry(1, nodes={"n1": "pass"}))
    add_entry(tmp_path, entry(2, nodes={"n2": "pass"}))
    place = written(tmp_path)
    (place / "mine.html").write_text("mine")
    remove_entries(tmp_path, ["r00001"])
    written(tmp_path)
    names = {one.name for one in place.iterdir()}
    assert "node-n2.html" in names
    assert not {"node-n1.html", "run-r00001.html"} & names
    assert "mine.html" in names


def test_a_damaged_entry_is_named_and_the_rest_is_shown(tmp_path: Path) -> None:
    add_entry(tmp_path, entry(1, nodes={"n1": "pass"}))
    (tmp_path / "index" / "half.json").write_text("{")
    done = CliRunner().invoke(command, ["pages", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "half.json is damaged" in done.output
    text = page(tmp_path / "pages", "index.html")
    assert "Not everything could be read" in text
    assert "1 node, in blocks" in text


def test_what_is_no_history_is_refused_and_nothing_is_made(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["pages", str(tmp_path)])
    assert isinstance(done.exception, BadInput)
    assert "is not a history" in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_list_of_pages_costs_time_alone(tmp_path: Path) -> None:
    add_entry(tmp_path, entry(1, nodes={"n1": "pass"}))
    place = written(tmp_path)
    (place / STATE).write_text("{")
    written(tmp_path)
    assert "node-n1.html" in page(place, "nodes.html")


def test_names_that_are_no_plain_ones_have_pages_of_their_own() -> None:
    names = ["n1", "N1", "..", "../n1", "a/b", "", "n1\0", EVIL, "_n1", "x" * 300]
    files = [file_of("node", name) for name in names]
    assert len(set(files)) == len(names)
    assert all(re.fullmatch(r"node-[a-z0-9_][a-z0-9._-]{0,79}\.html", one) for one in files)


def test_work_apart_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # the error keeps its traceback there
    assert apart(bytes, 3, seconds=60) == b"\0\0\0"
    begun = time.monotonic()
    with pytest.raises(CouldNotMeasure, match="did not finish"):
        apart(time.sleep, 60, seconds=0.2)
    with pytest.raises(CouldNotMeasure, match="was killed"):
        apart(os._exit, 9, seconds=60)
    with pytest.raises(CouldNotMeasure, match="an error of wireproof itself"):
        apart(bytes, -1, seconds=60)
    assert time.monotonic() - begun < 50
