"""Files of the atlas: what is refused, and the sentence that says why."""

import pytest

from wireproof.atlas import sources_of
from wireproof.model.errors import BadInput

GOOD = """\
[[source]]
id = "somewhere"
title = "A test"
where = "a page"
date = "2024-05"
trust = "log"

[[source.series]]
link = "hdr200"
pattern = "pingpong"
formula = "half round trip"
unit = "us"
rows = [[8, 1.12], [4194304, 178.2]]

[[source.series]]
link = "hdr200"
pattern = "stream"
formula = "size x window / time"
unit = "MB/s"
rows = [[4194304, 24500]]
"""


def test_a_good_file_is_read() -> None:
    found = sources_of(GOOD, "site.toml")
    assert [one.id for one in found] == ["somewhere"]
    assert [len(one.rows) for one in found[0].series] == [2, 1]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('trust = "log"', 'trust = "rumour"', "6: source 1, trust: 'rumour' is not one of"),
        ("[8, 1.12]", '[8, "fast"]', "13: source 1, series 1, rows 1: expected a number, got text"),
        ("[8, 1.12]", "[8, -1.0]", "13: source 1, series 1, rows 1: expected"),
        ("[8, 1.12]", "[8, nan]", "13: source 1, series 1, rows 1: expected"),
        ("[8, 1.12]", "[8, 0.41]", "13: rows: 0.41 us at 8 B is faster than hdr200"),
        ("178.2", "12.0", "13: rows: 12 us at 4194304 B is faster than hdr200"),
        ("24500", "26500", "20: rows: 26500 MB/s at 4194304 B is more than the"),
        ('link = "hdr200"\npattern = "s', 'link = "hrd"\npattern = "s', "16: link: "),
        ('unit = "us"', 'unit = "usec"', "12: source 1, series 1, unit: 'usec' is not one of"),
        (
            'unit = "us"',
            'unit = "us"\nadaptor = "x"',
            "13: source 1, series 1: 'adaptor' is not known: did you mean adapter?",
        ),
        ('id = "somewhere"\n', "", "1: source 1: 'id' is missing"),
        ('unit = "us"', 'unit = "us"\nnodes = 1', "13: nodes: a single node"),
        ('unit = "us"', 'unit = "us"\npath = "efa"', "13: path: "),
        (GOOD, GOOD + GOOD, "22: id: 'somewhere' appears twice"),
        (GOOD, "[[source]\n", "site.toml, line 1: not TOML: "),
        (GOOD, "x = 1\n", "1: 'source' is missing"),
    ],
)
def test_a_bad_row_is_one_sentence_with_file_line_and_field(
    old: str, new: str, sentence: str
) -> None:
    assert old in GOOD
    with pytest.raises(BadInput) as error:
        sources_of(GOOD.replace(old, new, 1), "site.toml")
    assert str(error.value).startswith((f"site.toml, line {sentence}", sentence))
    assert "\n" not in str(error.value)
