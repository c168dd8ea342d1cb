"""One syntax for links of several rails, and what several rails allow."""

import msgspec
import pytest
from tests.changed_runs import codes as own_codes
from tests.changed_runs import each_nic
from tests.logs.tables import codes, stream
from tests.physics.tables import TABLES
from tests.synthetic import World, run_of

from wireproof.logs.verdict import judge_series
from wireproof.model.record import Rdma
from wireproof.options.resolve import resolve
from wireproof.physics import PhysicsError, carried_by, claim_from_text
from wireproof.physics.bounds import bounds_of
from wireproof.target.resolve import claimed_link
from wireproof.verdict.run import judge


@pytest.mark.parametrize(("text", "kind", "rails", "total"), TABLES["rails"])
def test_rails_and_the_rate_of_one_are_kept_apart(
    text: str, kind: str, rails: int, total: float
) -> None:
    link = claim_from_text(text)
    assert (link.kind, link.rails) == (kind, rails)
    assert link.line_rate == pytest.approx(total * 1e9)
    assert (bounds_of(link).most or 0.0) == pytest.approx(total * 1e9 / 8, rel=0.03)


@pytest.mark.parametrize(
    "text", ["0xedr", "4xshm", "65xedr", "2xfoo", "2 x", "x", "ib:500", "-2xedr", "9999999xedr"]
)
def test_rails_that_cannot_be_are_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(PhysicsError) as refused:
        claim_from_text(text)
    assert "\n" not in str(refused.value)


def test_whatever_carries_the_bytes_the_rails_stay() -> None:
    assert carried_by(claim_from_text("2xedr"), "tcp").rails == 2
    assert claim_from_text("4x100gbe", path="rdma").rails == 4
    assert claim_from_text("2xedr", path="shm").rails == 1


def test_a_check_takes_the_links_that_judge_takes() -> None:
    for text in ("efa:3200", "infiniband:3200", "2 x edr", "ethernet:25", "edr"):
        link = claimed_link(resolve({"link": text}, {}))
        assert (link.kind, link.rails) == (claim_from_text(text).kind, claim_from_text(text).rails)


def test_two_claimed_rails_are_no_mixed_paths_and_one_that_is_full_is_a_doubt() -> None:
    both = stream({1 << n: min(24_200.0, (1 << n) * 3.0) for n in range(23)})
    assert judge_series(both, claim_from_text("edr")).proof == "mixed"
    assert judge_series(both, claim_from_text("2xedr")).verdict == "pass"
    one = stream({1 << n: min(12_200.0, (1 << n) * 3.0) for n in range(23)})
    found = judge_series(one, claim_from_text("2xedr"))
    assert found.verdict == "inconclusive"
    assert any("one of the 2 rails" in reason.message for reason in found.reasons)
    slow = stream({1 << n: min(6000.0, (1 << n) * 3.0) for n in range(23)})
    assert "below-expectation" in codes(judge_series(slow, claim_from_text("2xedr")), "fail")


def test_a_flow_of_tcp_over_a_bond_takes_one_member() -> None:
    series = stream(
        {1 << n: min(1160.0, (1 << n) * 3.0) for n in range(23)}, protocol="tcp", tool="iperf3"
    )
    assert judge_series(series, claim_from_text("2x10gbe", mtu=1500)).verdict == "pass"
    both = stream(
        {1 << n: min(2320.0, (1 << n) * 3.0) for n in range(23)}, protocol="tcp", tool="iperf3"
    )
    assert judge_series(both, claim_from_text("2x10gbe", mtu=1500)).verdict == "pass"


# --- what the port says against the claim


def port(rate: str, layer: str = "InfiniBand") -> Rdma:
    return Rdma(device="mlx4_0", port=1, rate=rate, link_layer=layer, driver="mlx4_core")


@pytest.mark.parametrize(("link", "rate", "severities"), TABLES["nominal_rates"])
def test_the_nominal_rate_of_a_healthy_port_is_no_disagreement(
    link: str, rate: str, severities: list[str]
) -> None:
    run = run_of(World(link=link, mtu=None, latency_ns=2000.0, sizes=(8,), patterns=("pingpong",)))
    found = judge(each_nic(run, rdma=port(rate), kind="infiniband", speed_mbps=None))
    seen = {f.severity for f in found.findings if f.code == "nic-speed-disagrees"}
    assert sorted(seen) == severities


@pytest.mark.parametrize("driver", ["vmxnet3", "virtio_net", "hv_netvsc", "veth"])
def test_a_speed_that_a_driver_makes_up_disagrees_with_nothing(driver: str) -> None:
    run = run_of(World(link="25gbe", mtu=9000, sizes=(8,), patterns=("pingpong",)))
    assert "nic-speed-disagrees" in own_codes(
        judge(each_nic(run, speed_mbps=10_000, driver="mlx5_core"))
    )
    assert "nic-speed-disagrees" not in own_codes(
        judge(each_nic(run, speed_mbps=10_000, driver=driver))
    )


def test_one_port_of_several_rails_states_the_rate_of_one() -> None:
    run = run_of(World(link="100gbe", mtu=9000, sizes=(8,), patterns=("pingpong",)))
    two = msgspec.structs.replace(claim_from_text("2x50gbe"), mtu=9000)
    assert "nic-speed-disagrees" not in own_codes(judge(each_nic(run, speed_mbps=50_000), link=two))
    assert "nic-speed-disagrees" not in own_codes(
        judge(each_nic(run, speed_mbps=100_000), link=two)
    )
    assert "nic-speed-disagrees" in own_codes(
        judge(each_nic(run, speed_mbps=25_000), link=two), "fail"
    )
