"""Files of the atlas: what is refused, and the sentence that says why."""

from __future__ import annotations

import pytest

from wireproof.atlas.read import sources_of
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
        ('trust = "log"', 'trust = "rumour"', "site.toml:6: trust: Invalid enum value 'rumour'"),
        ("[8, 1.12]", '[8, "fast"]', "site.toml:13: rows (row 1): Expected `float`, got `str`"),
        ("[8, 1.12]", "[8, -1.0]", "site.toml:13: rows (row 1): "),
        ("[8, 1.12]", "[8, nan]", "site.toml:13: rows (row 1): "),
        ("[8, 1.12]", "[8, 0.41]", "site.toml:13: rows: 0.41 us at 8 B is faster than hdr200"),
        ("178.2", "12.0", "site.toml:13: rows: 12 us at 4194304 B is faster than hdr200"),
        ("24500", "26500", "site.toml:20: rows: 26500 MB/s at 4194304 B is more than the"),
        ('link = "hdr200"\npattern = "s', 'link = "hrd"\npattern = "s', "site.toml:16: link: "),
        ('unit = "us"', 'unit = "usec"', "site.toml:12: unit: Invalid enum value 'usec'"),
        ('unit = "us"', 'unit = "us"\nadaptor = "x"', "site.toml:13: adaptor: "),
        ('id = "somewhere"\n', "", "site.toml:1: source: Object missing required field `id`"),
        ('unit = "us"', 'unit = "us"\nnodes = 1', "site.toml:13: nodes: a single node"),
        ('unit = "us"', 'unit = "us"\npath = "efa"', "site.toml:13: path: "),
        (GOOD, GOOD + GOOD, "site.toml:22: id: 'somewhere' appears twice"),
        (GOOD, "[[source]\n", "site.toml: not TOML: "),
        (GOOD, "x = 1\n", "site.toml: Object missing required field `source`"),
    ],
)
def test_a_bad_row_is_one_sentence_with_file_line_and_field(
    old: str, new: str, sentence: str
) -> None:
    assert old in GOOD
    with pytest.raises(BadInput) as error:
        sources_of(GOOD.replace(old, new, 1), "site.toml")
    assert str(error.value).startswith(sentence)
    assert "\n" not in str(error.value)
