"""Names and quantities as words: harmless, in the right unit, with the right number of digits."""

import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.model import quantity
from wireproof.report.names import clean, fold, natural


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("n1", "n1"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\r\n\tc", "a b c"),
        ("a\u202eb", "a\\u202eb"),
        ("a\x00b\x7f", "a\\x00b\\x7f"),
        ("a\u2028b", "a\\u2028b"),
        ("x\u0301\u0301\u0301\u0301", "x\u0301\u0301"),
        ("\x9b2J", "\\x9b2J"),
        ("", ""),
    ],
)
def test_clean_shows_controls_instead_of_obeying_them(given_text: str, shown: str) -> None:
    assert clean(given_text) == shown


def test_clean_cuts_long_text_and_says_so() -> None:
    assert clean("a" * 1000, 10) == "a" * 9 + "…"
    assert len(clean("\x1b" * 10_000, 50)) == 50


@given(st.text())
def test_clean_never_lets_a_control_or_format_character_through(text: str) -> None:
    shown = clean(text)
    assert all(
        unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
        for char in shown
    )
    assert len(shown) <= 400


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        (["n1", "n2", "n3", "n4"], "n[1-4]"),
        (["n1", "n2", "n4"], "n[1-2,4]"),
        (["node1.site", "node2.site"], "node[1-2].site"),
        (["n1"], "n1"),
        ([], ""),
        (["n1", "@all"], "@all, n1"),
        (["n1", "n[1-9999999]"], "n1, n[1-9999999]"),
        (["n1", "n\x1b2"], "n1, n\\x1b2"),
    ],
)
def test_fold(names: list[str], folded: str) -> None:
    assert fold(names) == folded


def test_natural_order_is_how_people_count() -> None:
    assert sorted(["n10", "n2", "n1", "m3", "n2b"], key=natural) == ["m3", "n1", "n2", "n2b", "n10"]


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (117.44, 3, "117"),
        (9.401, 3, "9.40"),
        (9.996, 3, "10.0"),
        (0.999963, 3, "1.00"),
        (0.28571, 3, "0.286"),
        (4986.2, 3, "4986"),
        (0, 3, "0"),
        (-12.345, 3, "-12.3"),
        (None, 3, "-"),
        (math.nan, 3, "-"),
        (math.inf, 3, "-"),
    ],
)
def test_significant(value: float | None, digits: int, shown: str) -> None:
    assert quantity.significant(value, digits) == shown


@given(st.floats(min_value=1e-6, max_value=1e12))
def test_significant_is_within_half_a_unit_of_its_third_digit(value: float) -> None:
    assert float(quantity.significant(value)) == pytest.approx(value, rel=0.00501)


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (8, "8 B"),
        (1500, "1500 B"),
        (1024, "1 KiB"),
        (65536, "64 KiB"),
        (1 << 20, "1 MiB"),
        (3 << 30, "3 GiB"),
    ],
)
def test_sizes_are_binary(count: int, shown: str) -> None:
    assert quantity.size(count) == shown


def test_amounts_are_decimal_and_bits_are_for_rates() -> None:
    assert quantity.volume(412_000_000) == "412 MB"
    assert quantity.volume(0) == "0 B"
    assert quantity.volume(999_999_999) == "1.00 GB"
    shown = [quantity.volume(one) for one in (999, 1500, 184e6, 2.5e12)]
    assert shown == ["999 B", "1.50 kB", "184 MB", "2.50 TB"]
    assert quantity.megabytes(117.7e6) == "117.7"
    assert quantity.gigabits(117.7e6) == "0.942"
    assert quantity.line_rate(1e9) == "1 Gb/s"
    assert quantity.line_rate(297.4e6) == "297 Mb/s"
    assert quantity.line_rate(96_969_697_000) == "97.0 Gb/s"
    assert quantity.line_rate(None) == "-"


def test_a_link_is_said_in_both_units_and_a_benchmark_in_its_own() -> None:
    assert quantity.goodput(37.1e6) == "297 Mb/s (37.1 MB/s)"
    assert quantity.goodput(11.7e9) == "93.6 Gb/s (11700.0 MB/s)"
    assert quantity.goodput(250e3) == "2 Mb/s (0.2 MB/s)"
    assert quantity.throughput(1.1774e9) == "1.177 GB/s"
    assert quantity.throughput(12.5e3) == "12.5 kB/s"
    assert quantity.throughput(7) == "7 B/s"


def test_a_rate_of_an_arithmetic_and_of_messages() -> None:
    assert quantity.rate(119.5e6) == "119.5 MB/s"
    assert quantity.rate(12_375.5e6) == "12375.5 MB/s"
    assert quantity.in_every_unit(119.5e6) == "119.50 MB/s = 113.96 MiB/s = 0.956 Gb/s"
    assert [quantity.messages(n) for n in (1.234e9, 1.234e6, 5e3, 12.0)] == [
        "1.23 G",
        "1.23 M",
        "5.00 k",
        "12.0",
    ]


def test_times_have_the_unit_that_suits_them() -> None:
    shown = [quantity.short_time(ns) for ns in (203.4, 1204.0, 1_204_300, 2e9)]
    assert shown == ["0.203 us", "1.204 us", "1.204 ms", "2 s"]


def test_shares_do_not_round_to_nothing() -> None:
    assert quantity.percent(0.31) == "31 %"
    assert quantity.percent(0.0007) == "<1 %"
    assert quantity.percent(0.0) == "0 %"
    assert quantity.percent(None) == "-"
    assert quantity.plus_minus(0.004) == "±0.4 %"
    assert quantity.plus_minus(0.0001) == "±<0.1 %"
    assert quantity.plus_minus(0.34) == "±34 %"
    assert quantity.plus_minus(math.inf) == "±?"


def test_durations() -> None:
    assert [quantity.duration(s) for s in (0.84, 42.4, 185, 7800, -3)] == [
        "0.8 s",
        "42 s",
        "3 min 05 s",
        "2 h 10 min",
        "0.0 s",
    ]
