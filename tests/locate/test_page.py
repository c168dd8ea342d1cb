"""The page of what was located: culprits by number and mark, small at any size, without scripts,
hostile names dead.
"""

import json
import re
from dataclasses import replace

import msgspec
from tests.locate.test_causes import TABLES
from tests.locate.test_document import blame, hostile, located, section
from tests.report.test_html import Reader
from tests.report.test_worlds import four_nodes

from wireproof.measure.export import page_of
from wireproof.model.located import Attachment, Fabric
from wireproof.report.figure.heat import GROUPS_WITHOUT_FABRIC, leaf_map
from wireproof.report.figure.strip import MOST_COLUMNS, strip_of
from wireproof.report.judged_run import JudgedRun
from wireproof.report.rows import tables

set_ = msgspec.structs.replace


def many(nodes: int, partners: int = 4, slow: range = range(77, 78)) -> JudgedRun:
    """A section of ``nodes`` that stream to a few partners; the run itself holds two of them."""
    plain = four_nodes(2, slow=None)
    pair = next(
        one
        for one in plain.judgement.pairs
        if one.pattern == "stream" and one.message_bytes == 1 << 20
    )
    pairs = [
        set_(
            pair,
            origin=a,
            target=(a + step) % nodes,
            origin_host=f"n{a + 1}",
            target_host=f"n{(a + step) % nodes + 1}",
            value=36e6 if a in slow else 118e6,
        )
        for a in range(nodes)
        for step in range(1, partners + 1)
    ]
    one = located(
        nodes=nodes, measured=nodes, missing={}, blames=[blame(subject="n78", nodes=["n78"])]
    )
    return replace(plain, judgement=set_(plain.judgement, pairs=pairs), located=(one,))


def fabric(nodes: int, each: int = 32) -> Fabric:
    return Fabric(
        attachments=tuple(
            Attachment(node=f"n{i + 1}", switch=f"leaf{i // each + 1}") for i in range(nodes)
        ),
        levels={},
    )


def test_the_page_tells_the_culprit_by_number_mark_and_words() -> None:
    page = page_of([section(located())], "who")
    shown = Reader(page).shown
    for words in TABLES["shown_on_the_page"]:
        assert words in shown, words
    labels = [a["aria-label"] or "" for _, a in Reader(page).elements if a.get("role") == "img"]
    assert any("Culprits: n3 sends" in label for label in labels)


def test_all_tables_have_captions_and_nothing_is_loaded() -> None:
    page = Reader(page_of([section(located())], "who"))
    tags = [tag for tag, _ in page.elements]
    assert tags.count("table") == tags.count("caption")
    assert not {"img", "image", "link", "iframe", "object"} & set(tags)
    identities = [a["id"] for _, a in page.elements if "id" in a]
    assert len(identities) == len(set(identities))


def test_that_no_node_stands_out_is_said() -> None:
    shown = Reader(page_of([section(located(blames=[]))], "who")).shown
    assert "no node stands out" in shown


def test_a_run_without_located_has_no_such_part() -> None:
    assert "Who is slow" not in page_of([four_nodes()], "plain")


def test_the_strip_of_very_many_nodes_is_small_and_keeps_the_culprit() -> None:
    whole = many(5000, partners=2)
    strip = strip_of(whole, whole.located[0])
    good = re.findall('class="good" d="([^"]*)"', strip.markup)
    bad = re.findall('class="bad" d="([^"]*)"', strip.markup)
    assert good[0].count("M") <= MOST_COLUMNS
    assert len(good[0]) < 60_000
    assert re.findall(">([0-9/]+)▾</b>", strip.markup) == ["1"]
    assert [one.count("M") for one in bad] == [1, 0]
    assert "slowest of 5 neighbours" in strip.note
    first = strip.markup.split("<tbody>")[1]
    assert first.index("n78") < first.index("sends") < first.index("</tr>")
    assert "lane-names" not in strip.markup
    few = many(8, partners=2)
    small = strip_of(few, few.located[0])
    names = re.findall('<span title="([^"]*)"', small.markup)
    assert names == sorted(names)
    assert len(names) == 8


def test_above_64_hosts_leaves_are_drawn_and_not_hosts() -> None:
    whole = replace(many(200), fabric=fabric(200))
    page = page_of([whole], "many")
    shown = Reader(page).shown
    assert "Every leaf switch to every other: stream at 1 MiB" in shown
    assert 'class="heat' not in page
    assert "leaf3 ▸" in shown
    assert "leaf3 → leaf3: 118.0 MB/s" not in shown.split("The slowest:")[0]


def test_without_a_fabric_neighbours_stand_for_leaves() -> None:
    whole = many(1000)
    found = leaf_map(whole, next(t for t in tables(whole) if t.unit != "ns"))
    assert found.leaves <= GROUPS_WITHOUT_FABRIC
    assert found.what == "group of neighbours by name"
    assert any(guilty for _, _, guilty in found.ticks)


def test_many_leaves_stay_small() -> None:
    nodes = 2504
    whole = replace(many(nodes, partners=40, slow=range(72, 80)), fabric=fabric(nodes, each=8))
    found = leaf_map(whole, next(t for t in tables(whole) if t.unit != "ns"))
    assert found.leaves == 313
    assert sum(len(path) for _, path in found.strokes) < 300_000
    assert "leaf10 →" in found.slowest[0]


def test_what_is_embedded_stays_within_its_budget() -> None:
    whole = many(4000)
    hosts = [set_(whole.run.hosts[0], rank=i) for i in range(4000)]
    page = Reader(page_of([replace(whole, run=set_(whole.run, hosts=hosts))], "many"))
    text = next(text for attributes, text in page.scripts if attributes.get("id") == "run1-data")
    held = json.loads(text)
    assert len(text) < 700_000
    assert held["left_out"][:2] == ["samples", "results"]
    assert "hosts" in held["left_out"]
    assert held["document"]["located"][0]["blames"][0]["subject"] == "n78"


def test_hostile_names_are_text() -> None:
    page = page_of([section(hostile())], "hostile")
    assert "<script>alert" not in page
    assert "\u202e" not in page
    tags = {tag for tag, _ in Reader(page).elements}
    assert not tags & {"img", "b0", "iframe", "marquee"}
