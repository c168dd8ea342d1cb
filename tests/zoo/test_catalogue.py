"""The zoo and the catalogue were read from the drivers by two people: they must say the same of
every counter.
"""

import pytest
from tests.zoo.animals import ZOO
from tests.zoo.frames import nic_of
from tests.zoo.parts import Adapter, File, Port
from tests.zoo.situations import best_level

from wireproof.ledger.catalogue import CounterRow, family_of

_ORDER = ("stack", "function", "wire")
_KNOWN = [one for one in ZOO if one.known]


def _names(row: CounterRow, port: Port, way: str) -> list[str]:
    return [
        name.format(nic=port.nic, device=port.device, port=port.ib_port) for name in row.names(way)
    ]


def _row(port: Port, file: File) -> CounterRow | None:
    family = family_of(nic_of(port))
    if family is None:
        return None
    rows = family.rows_for(nic_of(port))
    return next((row for row in rows if port.spelled(file) in _names(row, port, file.way)), None)


def _pairs(one: Adapter) -> list[tuple[Port, File, CounterRow]]:
    """Without bonds and teams, whose statistics are their members' sum: the ledger asks these."""
    found = []
    for port in (port for port in one.ports if port.link_kind not in ("bond", "team")):
        for file in port.files:
            row = _row(port, file) if file.what == "bytes" and not file.stuck else None
            if row is not None:
                found.append((port, file, row))
    return found


@pytest.mark.parametrize("one", _KNOWN, ids=lambda one: one.key)
def test_units_agree_and_the_catalogue_claims_no_higher_level_and_no_earlier_refresh(one):
    for port, file, row in _pairs(one):
        name = port.spelled(file)
        assert row.unit == file.unit, name
        assert _ORDER.index(row.level) <= max(_ORDER.index(file.level), _ORDER.index("function")), (
            name
        )
        assert row.level != "wire" or file.level == "wire", name
        assert row.refresh_ms >= file.age_ms, name


@pytest.mark.parametrize("one", _KNOWN, ids=lambda one: one.key)
def test_what_moves_a_counter_is_what_the_catalogue_says(one):
    """All carriers that the zoo moves it by, and a row that says ``any`` is moved by all of the
    adapter's.
    """
    for port, file, row in _pairs(one):
        name = port.spelled(file)
        said = {"any": {"kernel", "rdma", "psm"}, "rdma": {"rdma", "psm"}}.get(
            row.carrier, {row.carrier}
        )
        assert set(file.counts) <= said, name
        if row.carrier == "any":
            together = {
                carrier
                for other in port.files
                if port.spelled(other) in _names(row, port, file.way)
                for carrier in other.counts
            }
            mine = {carrier for carrier, shares in one.shares.items() if port.name in shares}
            assert mine <= together, name


@pytest.mark.parametrize("one", _KNOWN, ids=lambda one: one.key)
def test_a_carrier_that_some_counter_shows_has_a_row_in_the_catalogue(one):
    for carrier in one.shares:
        if best_level(one, carrier) is None:
            continue
        shown = [
            row.carrier
            for port, file, row in _pairs(one)
            if carrier in file.counts and port.name in one.shares[carrier]
        ]
        assert shown, f"{one.key}: no row shows {carrier}"


@pytest.mark.parametrize("one", _KNOWN, ids=lambda one: one.key)
def test_a_counter_that_is_stuck_at_zero_is_not_believed(one):
    """The port registers of a virtual function and of InfiniBand are listed and never move.

    In a virtual machine the kernel does not say that the port is a virtual function: then the
    registers are a lower bound, which says something when it moves and nothing when it stands. Of a
    physical function it is the reading that tells (``test_zoo_matrix``), and so it is where the
    row names the setting that stops it (``test_standing_counters``)."""
    for port in one.ports:
        for file in port.files:
            row = _row(port, file) if file.stuck else None
            row = None if row is not None and row.stops else row
            known = ("unsaid", "lower-bound"), ("physical", "exact")
            assert row is None or (row.function, row.quality) in known, port.spelled(file)


def test_a_driver_that_nobody_knows_has_no_family():
    for one in ZOO:
        if not one.known:
            assert family_of(nic_of(one.port(one.claimed))) is None
