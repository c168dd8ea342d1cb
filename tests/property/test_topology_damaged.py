"""Whatever is done to a topology's text, a reader gives a Fabric or one sentence; and a tree comes
back as it was.
"""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from wireproof.model.errors import BadInput
from wireproof.model.located import Fabric
from wireproof.topology import read_topology

TEXTS = [
    path.read_text(encoding="utf-8")
    for path in sorted((Path(__file__).parent.parent / "golden/topology").iterdir())
]
HOSTILE = [
    "[",
    "]",
    "=",
    "\0",
    "\x1b[2J",
    "n[1-99999999]",
    "é" * 300,
    "\n",
    '"',
    "0x",
    "<->",
    "[[switch]]",
    "SwitchName=",
    ": ",
]


def read_or_sentence(text: str) -> Fabric | str:
    try:
        return read_topology(text, "damaged")
    except BadInput as error:
        return str(error)


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(TEXTS), st.data())
def test_a_damaged_text_is_read_or_refused(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 40)))
        text = text[:start] + data.draw(st.sampled_from(["", *HOSTILE, *TEXTS[:2]])) + text[end:]
    fabric = read_or_sentence(text)
    if isinstance(fabric, str):
        assert "damaged" in fabric
        assert fabric.isprintable()
        assert len(fabric) < 600
    else:
        assert fabric.attachments
        assert {each.switch for each in fabric.attachments} <= set(fabric.levels)
        assert all(
            each.one in fabric.levels and each.other in fabric.levels for each in fabric.cables
        )
        assert all(level >= 1 for level in fabric.levels.values())


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_read_or_refused(text: str) -> None:
    fabric = read_or_sentence(text)
    assert fabric.isprintable() if isinstance(fabric, str) else fabric.attachments


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.integers(1, 5))
def test_a_tree_comes_back(sizes: list[int], spines: int) -> None:
    lines: list[str] = []
    expected: dict[str, str] = {}
    first = 1
    for leaf, size in enumerate(sizes):
        lines.append(f"SwitchName=leaf{leaf} Nodes=n[{first}-{first + size - 1}]")
        expected |= {f"n{node}": f"leaf{leaf}" for node in range(first, first + size)}
        first += size
    lines += [
        f"SwitchName=spine{spine} Switches=leaf[0-{len(sizes) - 1}]" for spine in range(spines)
    ]
    fabric = read_topology("\n".join(lines), "tree")
    assert {each.node: each.switch for each in fabric.attachments} == expected
    assert len(fabric.cables) == len(sizes) * spines
