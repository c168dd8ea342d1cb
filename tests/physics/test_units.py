"""Units: what people write, converted exactly; what could mean two things is refused."""

import contextlib
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.physics.tables import TABLES

from wireproof.physics import claim_from_text
from wireproof.physics.table import PhysicsError
from wireproof.physics.units import Quantity, exact, goodput_of, parse_quantity, rates, shares


@pytest.mark.parametrize(("text", "bytes_per_s"), TABLES["rates"])
def test_rates_as_people_write_them(text: str, bytes_per_s: str) -> None:
    found = parse_quantity(text)
    assert found.kind == "rate"
    assert found.value == Decimal(bytes_per_s)
    assert found.arithmetic.endswith(f"= {bytes_per_s} B/s")


def test_the_documents_number_in_every_unit() -> None:
    assert [row.text for row in rates(4986110000)] == [
        "4986.11 MB/s",
        "4755.125046 MiB/s",
        "4.98611 GB/s",
        "4.643677 GiB/s",
        "39.88888 Gb/s",
    ]
    rounded = {row.label for row in rates(4986110000) if not row.exact}
    assert rounded == {"MiB/s", "GiB/s"}
    assert rates(4986110000)[4].arithmetic == "4986110000 B/s x 8 / 10^9 = 39.88888 Gb/s"


def test_shares_of_a_link() -> None:
    link = claim_from_text("1gbe", mtu=1500)
    rows = [*rates(116960000), *shares(116960000, link)]
    assert [row.label for row in rows[-2:]] == ["nominal", "attainable"]
    assert [row.text for row in rows[-2:]] == ["93.57 % of nominal", "99.38 % of attainable"]
    assert rows[-1].arithmetic == "116.96 MB/s / 117.685 MB/s = 99.38 % of attainable"
    assert shares(1, claim_from_text("ethernet")) == []


@pytest.mark.parametrize(("text", "seconds"), TABLES["times"])
def test_a_time_needs_a_size_to_become_a_rate(text: str, seconds: str) -> None:
    found = parse_quantity(text)
    assert (found.kind, found.value) == ("time", Decimal(seconds))
    assert goodput_of(found, None) == (None, "")
    rate, line = goodput_of(found, 1000)
    assert float(rate) == pytest.approx(1000 / float(seconds))
    assert line.startswith("1000 B / ")


def test_a_message_rate_times_its_size() -> None:
    found = parse_quantity("160Mmsg/s")
    assert found.kind == "messages"
    assert goodput_of(found, 8)[0] == 1280000000
    assert parse_quantity("25 Msg/sec").value == 25


@pytest.mark.parametrize("text", ["5mb/s", "5MB/S", "5gb/s", "5mbps", "5 kib/s", "5KB/S"])
def test_a_unit_in_the_wrong_case_is_not_guessed(text: str) -> None:
    with pytest.raises(PhysicsError, match="bits or"):
        parse_quantity(text)


NO_VALUES = (
    *("", "MB/s", "100", "5Gps", "nanMB/s", "inf MB/s", "-5MB/s", "1e30MB/s", "1e999MB/s", "5/s"),
    *("5,3MB/s", "1_000MB/s", "0us", "5 parsec", "0x10MB/s", "1.2.3MB/s", "9" * 81 + "MB/s"),
    *("1MB/s 2MB/s", "\x1b[31m5MB/s", "５MB/s"),
)


@pytest.mark.parametrize("text", NO_VALUES)
def test_what_is_no_value_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(PhysicsError) as caught:
        parse_quantity(text)
    message = str(caught.value)
    assert "\n" not in message
    assert "\x1b" not in message


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -1.0, -1, 1e18, 10**18, Decimal("NaN")]
)
def test_numbers_that_are_no_rate(value: float) -> None:
    with pytest.raises(PhysicsError):
        rates(value)


def test_units_that_programs_print_for_another_are_remarked() -> None:
    assert "MiB/s" in parse_quantity("112 MBytes/sec").remark
    assert "perftest" in parse_quantity("112 MB/sec").remark
    assert not parse_quantity("112 MB/s").remark


@given(
    st.decimals(min_value="0.001", max_value="100000", places=3),
    st.sampled_from(["MB/s", "MiB/s", "GB/s", "Gb/s"]),
)
def test_a_row_read_back_is_the_same_rate(number: Decimal, unit: str) -> None:
    start = parse_quantity(f"{number}{unit}").value
    for row in rates(start):
        back = parse_quantity(row.text).value
        assert abs(back - start) <= start * Decimal("1e-5")
        if row.exact:
            assert back == start


@given(st.text(max_size=60))
def test_any_text_is_a_quantity_or_one_sentence(text: str) -> None:
    found: Quantity | None = None
    with contextlib.suppress(PhysicsError):
        found = parse_quantity(text)
    if found is not None:
        assert exact(found.value) >= 0
        assert re.search(r"[0-9]", text)
