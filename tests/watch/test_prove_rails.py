"""A watched command with rails: how they shared what it moved, and what is no rail's."""

import pytest
from tests.watch.test_prove_verdict import MB, claim, codes, host, port, stream, traffic, way

from wireproof.model.traffic import Traffic, TrafficVerdict
from wireproof.physics.rails import claim_of_rails
from wireproof.watch.verdict import judge_traffic

BOTH = "hsn0,hsn1"
QUIET = way(1000, 0)


def over(first: float | None, second: float | None, other: float = 0.0) -> Traffic:
    """n1 sends so many bytes over each rail, and over eth0; n2 receives them."""
    moved = {"hsn0": first, "hsn1": second, "eth0": other}
    return traffic(
        host("n1", *(port(nic, way(count), QUIET) for nic, count in moved.items())),
        host("n2", *(port(nic, QUIET, way(count)) for nic, count in moved.items())),
    )


def proved(seen: Traffic, nics: str = BOTH) -> TrafficVerdict:
    return judge_traffic(
        seen, [stream(rate=110e6)], claim(nics, claim_of_rails("1gbe", nics, mtu=1500))
    )


def told(found: TrafficVerdict, code: str) -> list[str]:
    return [one.message for one in found.reasons if one.code == code]


def test_what_both_rails_carried_is_the_commands() -> None:
    found = proved(over(510 * MB, 510 * MB))
    assert (found.proof, found.verdict, found.port) == ("on-wire", "pass", BOTH)
    shared = told(found, "rails-shared")
    assert len(shared) == 2
    assert shared[0].startswith(
        "n1 tx: each rail carried its share: hsn0 510 MB (50%; expected 50%)"
    )


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [(1020 * MB, 1000, "one-rail"), (816 * MB, 204 * MB, "unequal-rails")],
)
def test_shares_that_are_not_due_warn_and_prove_the_path_all_the_same(
    first: float, second: float, code: str
) -> None:
    found = proved(over(first, second))
    assert (found.proof, found.verdict) == ("on-wire", "pass")
    assert {one.severity for one in found.reasons if one.code == code} == {"warning"}
    assert len(told(found, code)) == 2


def test_bytes_of_a_port_that_is_no_rail_are_not_theirs() -> None:
    assert proved(over(1000, 1000, 1020 * MB)).proof == "wrong-path"
    assert proved(over(300 * MB, 300 * MB, 420 * MB)).proof == "mixed"


def test_a_command_that_used_memory_is_off_wire() -> None:
    found = proved(over(1000, 1000))
    assert (found.proof, found.verdict) == ("off-wire", "fail")
    assert not {"one-rail", "rails-shared"} & set(codes(found))


def test_one_nic_is_told_nothing_of_rails() -> None:
    assert "rails-shared" not in codes(proved(over(1020 * MB, 1000), "hsn0"))


def test_a_rail_that_is_not_there_is_named() -> None:
    found = proved(over(510 * MB, 510 * MB), "hsn0,hsn7")
    assert found.proof == "unproven"
    assert "no port called hsn7" in found.reasons[0].message
