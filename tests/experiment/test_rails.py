"""Rails: how they are claimed, what they may carry together, and what an MPI is told of them."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.zoo.animals import ZOO
from tests.zoo.frames import run_of
from tests.zoo.scene import Move, Scene, rail_of, timeline
from tests.zoo.scene import Point as ScenePoint

from wireproof.experiment.rails import measure_gain
from wireproof.locate.causes import machines_of, ranks_of
from wireproof.locate.verdict import with_rail_notes
from wireproof.measure.session import Method
from wireproof.measure.specification import MeasureSpecification
from wireproof.model.claim import Claim, HostClaim, LinkClaim
from wireproof.model.errors import BadInput
from wireproof.model.finding import Finding, Judgement, Port, RailShare, Route
from wireproof.model.frames import unsound
from wireproof.options.hosts import check_nics
from wireproof.physics.bounds import bounds_of
from wireproof.physics.limits import limits
from wireproof.physics.rails import claim_of_rails, one_rail
from wireproof.report.reporter import LoggingReporter
from wireproof.verdict.run.striping import Stripe, rail_issues


def attainable(link: LinkClaim) -> float:
    found = limits(link, "stream", "stream", 1 << 20).attainable_bytes_per_s
    assert found is not None
    return found


# --- what is claimed


def test_nics_may_be_several() -> None:
    assert check_nics("hsn0, hsn1") == "hsn0,hsn1"
    assert check_nics("mlx5_0:1,mlx5_1:1") == "mlx5_0:1,mlx5_1:1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hsn0,hsn0", "hsn0 is named twice"),
        ("hsn0,", "'' is not an interface name"),
        ("hsn0,/etc", "'/etc' is not an interface name"),
        (",".join(f"n{number}" for number in range(40)), "more than 32 rails"),
    ],
)
def test_nics_that_cannot_be_rails_are_one_sentence(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said) as error:
        check_nics(text)
    assert "\n" not in str(error.value)


def test_one_kind_of_link_is_that_of_every_rail() -> None:
    link = claim_of_rails("10gbe", "hsn0,hsn1", mtu=9000)
    assert (link.rails, link.stripes, link.name) == (2, "all", "2 x 10gbe")
    assert attainable(link) == pytest.approx(2 * attainable(claim_of_rails("10gbe", mtu=9000)))
    assert claim_of_rails("2x10gbe", "hsn0,hsn1", mtu=9000) == link


def test_rails_that_differ_add_up_and_an_even_stripe_is_said() -> None:
    link = claim_of_rails("hsn1=1gbe,hsn0=10gbe", "hsn0,hsn1", mtu=1500)
    assert (link.rates, link.name) == ((10e9, 1e9), "10gbe + 1gbe")
    one, ten = (attainable(claim_of_rails(kind, mtu=1500)) for kind in ("1gbe", "10gbe"))
    found = limits(link, "stream", "stream", 1 << 20)
    assert found.attainable_bytes_per_s == pytest.approx(ten + one)
    assert any("slowest part: 2 x" in line for line in found.derivation)
    assert [one_rail(link, number).kind for number in (0, 1)] == ["10gbe", "1gbe"]
    assert attainable(one_rail(link, 1)) == pytest.approx(one)


def test_the_floor_is_the_fastest_rail_s() -> None:
    link = claim_of_rails("hsn0=10gbe,hsn1=1gbe", "hsn0,hsn1")
    assert (
        limits(link, "pingpong", "latency", 0).floor_ns
        == limits(claim_of_rails("10gbe"), "pingpong", "latency", 0).floor_ns
    )


def test_a_slot_bounds_each_rail() -> None:
    narrow = claim_of_rails("roce400", "a,b", pcie="gen3x8")
    alone = attainable(claim_of_rails("roce400", pcie="gen3x8"))
    assert attainable(narrow) == pytest.approx(2 * alone)


def test_a_flow_that_need_not_stripe_is_held_to_what_it_fits() -> None:
    from msgspec.structs import replace

    whole = claim_of_rails("10gbe", "a,b", mtu=9000)
    one = attainable(claim_of_rails("10gbe", mtu=9000))
    assert bounds_of(whole).expected(0.98 * one)[0] == pytest.approx(2 * one, rel=0.02)
    some = bounds_of(replace(whole, stripes="any"))
    assert some.expected(0.98 * one)[0] == pytest.approx(one, rel=0.02)
    apart = replace(claim_of_rails("a=10gbe,b=1gbe", "a,b", mtu=9000), stripes="any")
    rates = [choice.rate / one for choice in bounds_of(apart).choices]
    for share in (0.1, 0.2, 1.0, 1.1):
        assert any(rate == pytest.approx(share, rel=0.02) for rate in rates), share


@pytest.mark.parametrize(
    ("text", "nics", "said"),
    [
        ("hsn0=10gbe", "hsn0,hsn1", "the rail hsn1 has no link"),
        ("hsn0=10gbe,hsn9=1gbe", "hsn0,hsn1", "hsn9 is not a rail of --nic hsn0,hsn1"),
        ("hsn0=10gbe,hsn0=1gbe", "hsn0,hsn1", "hsn0 has two links"),
        ("hsn0=edr,hsn1=10gbe", "hsn0,hsn1", "rails of infiniband and tcp cannot carry"),
        ("hsn0=ethernet,hsn1=10gbe", "hsn0,hsn1", "some rails have a rate"),
        ("3x10gbe", "hsn0,hsn1", "has 3 rails, but --nic lists 2"),
        ("hsn0=2xedr,hsn1=edr", "hsn0,hsn1", "is not a single link"),
        ("hsn0=,hsn1=edr", "hsn0,hsn1", "does not contain a rail"),
        ("hsn0=10gbe,1gbe", "hsn0,hsn1", "does not contain a rail"),
    ],
)
def test_links_that_do_not_fit_the_rails_are_one_sentence(text: str, nics: str, said: str) -> None:
    with pytest.raises(BadInput, match=said) as error:
        claim_of_rails(text, nics)
    assert "\n" not in str(error.value)


@given(st.lists(st.sampled_from([1, 10, 25, 100]), min_size=2, max_size=6))
def test_the_sum_is_never_below_an_even_stripe_nor_above_n_times_the_fastest(
    speeds: list[int],
) -> None:
    text = ",".join(f"r{number}={speed}gbe" for number, speed in enumerate(speeds))
    found = attainable(claim_of_rails(text, mtu=1500))
    each = [attainable(claim_of_rails(f"{speed}gbe", mtu=1500)) for speed in speeds]
    assert found == pytest.approx(sum(each))
    assert len(each) * min(each) <= found * 1.0001
    assert found <= len(each) * max(each) * 1.0001


# --- whose rail it is


def _stripe(origin: str, target: str, shares: tuple[float, float]) -> Stripe:
    seen = tuple(
        RailShare(
            host=origin,
            rail=rail,
            direction="tx",
            due_bytes=5e6,
            seen_bytes=1e7 * share,
            share=share,
            due_share=0.5,
        )
        for rail, share in zip(("hsn0", "hsn1"), shares, strict=True)
    )
    even = max(shares) < 0.6
    state = "striped" if even else "one-rail" if min(shares) < 0.02 else "unequal"
    return Stripe((origin, target, "stream"), 1 << 20, state, True, seen, seen)  # type: ignore[arg-type]


def _issues(stripes: list[Stripe]) -> list[tuple[str, object]]:
    striping = SimpleNamespace(
        stripes={(number, 0, 0, 0): one for number, one in enumerate(stripes)},
        decides=lambda _one: True,
    )
    context = SimpleNamespace(
        claims={}, hosts={}, criteria=SimpleNamespace(rail_tolerance=0.25), name=str
    )
    return [(one.code, one.subject) for one in rail_issues(context, striping)]  # type: ignore[arg-type]


def test_a_node_whose_rail_explains_all_is_one_finding() -> None:
    nodes = ("n1", "n2", "n3", "n4")
    routes = [(a, b) for a in nodes for b in nodes if a != b]
    bad, good = (0.85, 0.15), (0.5, 0.5)
    stripes = [_stripe(a, b, bad if a == "n3" else good) for a, b in routes]
    assert _issues(stripes) == [("slow-rail", Port("n3", "tx", "hsn1"))]


def test_between_two_nodes_nobody_can_say_whose_rail_it_is() -> None:
    found = _issues([_stripe("n1", "n2", (0.8, 0.2)), _stripe("n2", "n1", (0.5, 0.5))])
    assert found == [("unequal-rails", Route("n1", "n2"))]


def test_all_routes_over_one_rail_blame_no_node() -> None:
    nodes = ("n1", "n2", "n3")
    found = _issues([_stripe(a, b, (1.0, 0.0)) for a in nodes for b in nodes if a != b])
    assert {code for code, _ in found} == {"one-rail"}
    assert len(found) == 6


# --- a check of many nodes


def _judged(*findings: Finding) -> Judgement:
    return Judgement(verdict="fail", proof="on-wire", findings=list(findings), pairs=[])


def _slow(node: str, direction: str = "tx") -> Finding:
    about = Port(node, direction)  # type: ignore[arg-type]
    return Finding(code="port-slow", severity="fail", message="slow", about=about)


def _claimed(nic: str) -> Claim:
    return Claim(hosts=[HostClaim(rank=i, host=f"n{i + 1}", nic=nic) for i in range(4)])


@pytest.mark.parametrize(("direction", "ends"), [("tx", "n3,n1"), ("rx", "n1,n3")])
def test_a_slow_node_with_rails_says_how_the_rail_is_found(direction: str, ends: str) -> None:
    found = with_rail_notes(_judged(_slow("n3", direction)), _claimed("hsn0,hsn1"))
    notes = [one for one in found.findings if one.code == "rail-not-told"]
    assert [one.severity for one in notes] == ["inconclusive"]
    assert f"--hosts {ends} --nic hsn0,hsn1 --gain" in notes[0].message


def test_without_rails_or_with_a_named_one_nothing_is_added() -> None:
    alone = _judged(_slow("n3"))
    assert with_rail_notes(alone, _claimed("hsn0")) == alone
    named = Finding(code="slow-rail", severity="fail", message="", about=Port("n3", "tx", "hsn1"))
    both = _judged(_slow("n3"), named)
    assert with_rail_notes(both, _claimed("hsn0,hsn1")) == both


def test_the_bytes_of_the_second_rail_are_no_other_nic_s() -> None:
    """They were taken for a cause: "another NIC of n3 carried the bytes"."""
    adapter = next(one for one in ZOO if one.fast and len(one.ports) == 1 and one.known)
    nics = f"{adapter.claimed},{rail_of(adapter).name}"
    move = Move(claimed=0.5, rail=0.5, carrier=adapter.carrier)
    scene = Scene(adapter, move, nic=nics, points=(ScenePoint("stream", 4 << 20),))
    run = run_of(timeline(scene))
    machines = machines_of(run, ranks_of(run), ["n1"])
    properties = machines["n1"].properties
    assert properties["claimed_share"] == pytest.approx(1.0, abs=0.2)
    assert float(properties.get("other_share", 0.0)) < 0.1


# --- what a folder or a caller may say


@pytest.mark.parametrize(
    "claim",
    [
        LinkClaim(kind="10gbe", protocol="tcp", rate_bits_per_s=1e10, rails=1 << 62),
        LinkClaim(kind="10gbe", protocol="tcp", rate_bits_per_s=1e10, rates=(1e9,) * 100_000),
        LinkClaim(kind="10gbe", protocol="tcp", rate_bits_per_s=1e10, rails=2, rates=(1e9, 0.0)),
    ],
)
def test_a_stored_claim_of_countless_rails_is_refused(claim: LinkClaim) -> None:
    """Every number of rails of a TCP flow is a limit of its own: a list without end."""
    assert "rails" in unsound(claim) or "rates" in unsound(claim)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "give --hosts and --nic hsn0,hsn1"),
        ({"method": Method(transport="model")}, "the model and null transports have none"),
        ({"method": Method(nic_selection="none")}, "leave out --nic-selection none"),
        ({"sizes": (0,)}, "give a size above 0 B"),
    ],
)
def test_a_gain_that_cannot_be_measured_is_one_sentence(changes: dict[str, Any], said: str) -> None:
    wanted = MeasureSpecification(pattern="stream")
    with pytest.raises(BadInput, match=said):
        measure_gain(dataclasses.replace(wanted, **changes), LoggingReporter(), {})
