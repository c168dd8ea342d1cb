"""``wireproof explain``: as a user does."""

import pytest
from tests.cli.verb import document, wireproof

from wireproof.physics import link_names


def test_the_documents_forty_gigabit_number_is_more_than_the_link_leaves() -> None:
    done = wireproof("explain", "4986.11MB/s", "--link", "40gbe", "--mtu", "1500")
    assert done.returncode == 0, done.stderr
    for text in (
        "4755.125046 MiB/s",
        "39.88888 Gb/s",
        "99.72 % of nominal",
        "105.92 % of attainable",
        "WARNING",
    ):
        assert text in done.stdout
    assert "1448/1538" in done.stdout


def test_a_good_number_gets_no_warning() -> None:
    found = document(
        wireproof("explain", "116.96 MB/s", "--link", "1gbe", "--mtu", "1500", "--json")
    )
    assert found["bytes_per_s"] == 116960000
    assert found["link"]["share_of_nominal"] == pytest.approx(0.93568)
    assert found["link"]["share_of_attainable"] == pytest.approx(0.9938, abs=1e-4)
    assert found["link"]["warnings"] == []
    assert {row["label"] for row in found["rows"]} == {"MB/s", "MiB/s", "GB/s", "GiB/s", "Gb/s"}


def test_without_an_mtu_both_usual_ones_are_shown() -> None:
    done = wireproof("explain", "116.96MB/s", "--link", "1gbe")
    assert "MTU unknown: 9000 assumed" in done.stdout
    assert "99.38 % of attainable at MTU 1500" in done.stdout
    assert "at MTU 1500" not in wireproof("explain", "12GB/s", "--link", "edr").stdout
    assert "at MTU 1500" not in wireproof("explain", "3.9GB/s", "--link", "ipofabric-opa100").stdout


def test_number_and_unit_may_be_two_words() -> None:
    done = wireproof("explain", "941", "Mbits/sec")
    assert "117.625 MB/s" in done.stdout


def test_a_latency_below_the_links_floor_is_said() -> None:
    done = wireproof("explain", "0.20us", "--size", "8", "--link", "opa100")
    assert done.returncode == 0
    assert "shorter than the shortest half round trip over opa100" in done.stdout


def test_a_time_alone_asks_for_a_size() -> None:
    assert "--size" in wireproof("explain", "1.24us").stdout


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("495GB", ("495000000000 B", "461.004674 GiB", "if 2^10 is meant, write GiB")),
        ("48,800", ("48.8 kB", "no unit: assumed to be bytes")),
        ("18,560 bytes", ("18.56 kB",)),
        ("25Gb", ("3.125 GB", "a rate needs /s")),
        ("12,300 MB/s", ("98.4 Gb/s",)),
        ("2,288,056 msg/s", ("2288056 messages/s",)),
    ],
)
def test_amounts_and_thousands_are_read_as_documents_write_them(
    typed: str, words: tuple[str, ...]
) -> None:
    done = wireproof("explain", typed)
    assert done.returncode == 0, done.stderr
    assert not [one for one in words if one not in done.stdout]


def test_an_amount_over_a_link_takes_its_time() -> None:
    found = document(wireproof("explain", "495GB", "--link", "opa100", "--size", "8", "--json"))
    assert (found["kind"], found["bytes_per_s"]) == ("amount", None)
    assert found["link"]["arithmetic"] == ["495000000000 B / 12391.1 MB/s = 39.95 s"]


def test_a_share_is_that_of_the_line_rate() -> None:
    found = document(wireproof("explain", "97.6%", "--link", "opa100", "--json"))
    assert found["bytes_per_s"] == 12_200_000_000
    assert found["link"]["share_of_nominal"] == pytest.approx(0.976)


def test_a_link_is_explained_by_what_it_can_carry() -> None:
    done = wireproof("explain", "EDR")
    assert done.returncode == 0
    assert "12409.1 MB/s (MTU unknown: 4096 assumed)" in done.stdout
    assert "= 100.00 % of attainable" in done.stdout
    assert "WARNING" not in done.stdout
    assert wireproof("explain", "--link", "edr").stdout == done.stdout


@pytest.mark.parametrize("name", [name for name in link_names() if "." in name])
def test_a_link_whose_name_begins_with_a_number_is_no_rate(name: str) -> None:
    assert f"{name} can carry " in wireproof("explain", name).stdout


def test_the_former_name_gives_the_same_and_says_the_new_name() -> None:
    asked = ("12GB/s", "--link", "edr")
    new, former = wireproof("explain", *asked), wireproof("convert", *asked)
    assert (former.returncode, former.stdout) == (new.returncode, new.stdout)
    assert "'wireproof explain'" in former.stderr
