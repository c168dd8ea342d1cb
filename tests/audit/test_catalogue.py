"""The catalogue is whole; a mistake in an entry costs that entry alone."""

import re
from pathlib import Path

import pytest

from wireproof.audit.catalogue import catalogue_of
from wireproof.audit.job import catalogue
from wireproof.model.errors import BadInput
from wireproof.model.setting import PROFILES
from wireproof.model.site import CatalogueFile

ENTRIES = list(catalogue().entries.values())
GOOD = """[[setting]]
id = "a-b"
title = "T"
group = "cpu"
meaning = "m"
why = "w"
reads = [{ file = "/x" }]
"""


def test_nothing_is_left_out():
    assert not catalogue().skipped
    assert len(ENTRIES) >= 140


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.setting.id)
def test_each_entry_says_what_people_need(entry):
    one = entry.setting
    assert one.title
    assert one.meaning.endswith(".")
    assert one.why.endswith(".")
    assert one.source, "where it is known from"
    assert one.good
    assert one.wanted
    conditions = {one.condition(profile) for profile in PROFILES}
    if conditions - {"true"}:
        assert one.effect.on != "none" or one.group == "environment", "what a wrong value costs"
    if one.effect.high:
        assert 0 <= one.effect.low < one.effect.high <= 1


def test_every_parameter_of_the_document_is_there():
    """The appendix of the tuning document lists them by modinfo."""
    from tests.audit.trees import HFI1_2015

    read = {place.file.rpartition("/")[2] for entry in ENTRIES for place in entry.setting.reads}
    assert set(HFI1_2015) <= read


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("title", "titel"), "did you mean title"),
        (('id = "a-b"', 'id = "A b"'), "lower case"),
        (("why", 'good = { any = "vlaue > 1" }\nwhy'), "did you mean value"),
        (("why", 'good = { any = "value >" }\nwhy'), "character"),
        (("why", 'good = { fast = "true" }\nwhy'), "no profile"),
        (('file = "/x"', 'file = "/x/{nic}"'), "{nic} is not known"),
        (('file = "/x"', 'file = "/x", command = ["y"]'), "a file or a command"),
        (("why", 'applies = "setting(\\"none\\") == 1"\nwhy'), "does not exist"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_the_others_run(change, said):
    broken = GOOD.replace(*change)
    found = catalogue_of([CatalogueFile(broken + "\n" + GOOD.replace("a-b", "c-d"), "x.toml")])
    assert list(found.entries) == ["c-d"]
    (sentence,) = found.skipped
    assert said in sentence
    assert "x.toml, line " in sentence


def test_two_of_one_name_and_a_text_that_is_no_toml():
    found = catalogue_of([CatalogueFile(GOOD + GOOD, "x.toml"), CatalogueFile("][", "y.toml")])
    assert len(found.entries) == 1
    assert len(found.skipped) == 2


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(BadInput, match="did you mean cpu-governor"):
        catalogue().get("cpu-governer")


def test_every_drop_in_has_our_own_name():
    for entry in ENTRIES:
        fix = entry.setting.fix
        if fix is not None and fix.persist.startswith("/etc/") and "sysconfig" not in fix.persist:
            assert re.search(r"wireproof", Path(fix.persist).name), entry.setting.id
