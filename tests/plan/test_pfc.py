"""Headroom of PFC: the sum by hand, monotonicity, the slides' two numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.model.errors import BadInput
from wireproof.plan import Bounds
from wireproof.plan.headroom import SPEEDS, in_cells
from wireproof.plan.job import plan_pfc as pfc

SPEED = st.sampled_from(sorted(SPEEDS))
MTU = st.integers(68, 10_000)
CABLE = st.floats(0, 2000, allow_nan=False)


@pytest.mark.parametrize(
    ("speed", "cable", "mtu", "low", "high"),
    [
        (10, 3, 1500, 7_046, 9_094),
        (10, 300, 9000, 25_758, 27_806),
        (25, 100, 9000, 26_413, 27_949),
        (40, 100, 1500, 15_720, 21_864),
        (100, 3, 1500, 28_759, 59_479),
        (100, 100, 9000, 55_884, 86_604),
        (200, 3, 9000, 76_838, 76_838),
        (400, 300, 9000, 226_088, 226_088),
    ],
)
def test_headroom_is_the_sum_by_hand(
    speed: float, cable: float, mtu: int, low: int, high: int
) -> None:
    """2 F + 672 + 2 x 5 ns/m x cable x speed + 512 quanta, without and with both interfaces."""
    assert pfc(speed, mtu, cable, 1).headroom_bytes == Bounds(low, high)


def test_the_slides_first_number_is_lossless_at_100_gbps_with_no_cable() -> None:
    """18,560 B: below the response time alone; it suits 40 Gb/s with packets of 4 KiB."""
    configured = pfc(100, 9000, 3, 32, headroom=18_560).configured
    assert configured.enough is False
    longest = {(fit.speed_gbps, fit.mtu_bytes): fit.longest_m for fit in configured.fits}
    assert {longest[100, mtu] for mtu in (1500, 4096, 9000, 9216)} == {None}
    assert longest[40, 4096] == pytest.approx(52.96)
    text = " ".join(configured.sentences)
    assert "25,216 B" in text
    assert "232 x 80 B" in text
    assert "8 x 2300 + 160" in text


def test_the_slides_second_number_covers_40_m_at_100_gbps_and_mtu_9216() -> None:
    configured = pfc(100, 9216, 30, 32, headroom=48_800).configured
    longest = {(fit.speed_gbps, fit.mtu_bytes): fit for fit in configured.fits}
    assert longest[100, 9216].longest_m == pytest.approx(39.872)
    assert longest[100, 9216].worst_m is None
    assert longest[100, 1500].longest_m == pytest.approx(163.328)
    assert configured.enough is None  # enough for fast interfaces only
    assert "610 x 80 B" in " ".join(configured.sentences)


def test_a_cable_of_the_longest_length_gives_the_configured_number() -> None:
    configured = pfc(100, 9000, 1, 1, headroom=48_800).configured
    for fit in configured.fits:
        if fit.longest_m is not None:
            need = pfc(fit.speed_gbps, fit.mtu_bytes, fit.longest_m, 1).headroom_bytes
            assert need.low == pytest.approx(48_800, abs=1)


@given(speed=SPEED, mtu=MTU, cable=CABLE, more=st.floats(0, 500), ports=st.integers(1, 512))
def test_headroom_grows_with_cable_mtu_and_ports(
    speed: float, mtu: int, cable: float, more: float, ports: int
) -> None:
    found = pfc(speed, mtu, cable, ports)
    assert found.headroom_bytes.low <= found.headroom_bytes.high
    assert pfc(speed, mtu, cable + more, ports).headroom_bytes.low >= found.headroom_bytes.low
    assert pfc(speed, mtu + 1, cable, ports).headroom_bytes.low > found.headroom_bytes.low
    assert pfc(speed, mtu, cable, ports + 1).total_buffer_bytes > found.total_buffer_bytes
    assert 0 < found.xon_bytes < found.xoff_bytes < found.buffer_bytes
    assert found.buffer_bytes - found.xoff_bytes >= found.headroom_bytes.high


@given(need=st.integers(1, 10**6), cell=st.integers(1, 512))
def test_cells_hold_at_least_the_bytes(need: int, cell: int) -> None:
    cells = in_cells(Bounds(need, need), cell)
    assert need <= cells.low <= cells.high
    assert cells.low % cell == cells.high % cell == 0
    assert cells.high <= 2.1 * need + 2 * cell + 64


def test_the_larger_class_delays_the_pfc_frame() -> None:
    small = pfc(100, 4200, 10, 1).headroom_bytes.low
    assert pfc(100, 4200, 10, 1, other_mtu=9216).headroom_bytes.low == small + 9216 - 4200


def test_a_speed_without_a_source_needs_a_response_time() -> None:
    with pytest.raises(BadInput, match="no response time is known for 800"):
        pfc(800, 9000, 3, 32)
    assert pfc(800, 9000, 3, 32, response_quanta=905).headroom_bytes.low > 58_000


def test_a_budget_is_compared() -> None:
    assert pfc(100, 9000, 100, 32, budget=1 << 20).fits_budget is False
    assert pfc(100, 9000, 100, 32, budget=1 << 24).fits_budget is True


def test_every_delay_has_its_source_and_formula() -> None:
    found = pfc(100, 9000, 30, 32, headroom=18_560, cell=80)
    assert all(delay.source and delay.formula for delay in found.delays)
