"""Commands on more than two hosts: pairs that share the bytes, and hosts that were not read."""

import msgspec
import pytest
from tests.watch.test_prove_verdict import LINK, codes, host, pair, port, stream, traffic, way

from wireproof.model.claim import Claim, HostClaim
from wireproof.model.series import Series, SeriesPoint
from wireproof.model.traffic import HostTraffic, Traffic
from wireproof.watch.verdict import judge_traffic

SIZES = (65536, 1 << 20)
COUNT = 20
OF_A_PAIR = 64 * COUNT * sum(SIZES)


def table(pairs: int, *, counted: bool) -> Series:
    """osu_mbw_mr: the rates of all pairs together, each of 115 MB/s."""
    count = COUNT if counted else None
    return Series(
        tool="osu",
        benchmark="osu_mbw_mr",
        metric="message_rate",
        traffic="rate",
        pairs=pairs,
        window=64,
        formula="",
        unit="",
        points=[
            SeriesPoint(message_bytes=size, goodput_bytes_per_s=pairs * 115e6, iterations=count)
            for size in SIZES
        ],
    )


def world(*moved: float, peak: float = 117e6) -> Traffic:
    """One pair of hosts for each number: so many bytes cross from the first to the second."""
    quiet = way(1000, 0)
    senders = [host(f"n{i}", port("eth0", way(one, peak), quiet)) for i, one in enumerate(moved)]
    receivers = [host(f"m{i}", port("eth0", quiet, way(one, peak))) for i, one in enumerate(moved)]
    return traffic(*senders, *receivers)


def claim(seen: Traffic) -> Claim:
    hosts = [HostClaim(rank=i, host=one.host, nic="eth0") for i, one in enumerate(seen.hosts)]
    return Claim(hosts=hosts, link=LINK)


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("pairs", [1, 2, 4])
def test_pairs_on_several_hosts_share_the_bytes(pairs: int, counted: bool) -> None:
    """The busiest host alone was held against the bytes of all pairs: a fail (mixed)."""
    seen = world(*[1.13 * OF_A_PAIR] * pairs)
    found = judge_traffic(seen, [table(pairs, counted=counted)], claim(seen))
    assert (found.proof, found.verdict, codes(found)) == ("on-wire", "pass", ["traffic-on-wire"])
    assert found.peak_bytes_per_s == 117e6  # of a port


@pytest.mark.parametrize("moved", [(1.13, 0.0), (0.56, 0.56)])
def test_half_of_the_pairs_in_memory_is_mixed(moved: tuple[float, float]) -> None:
    seen = world(*(share * OF_A_PAIR for share in moved))
    found = judge_traffic(seen, [table(2, counted=True)], claim(seen))
    assert (found.proof, codes(found)) == ("mixed", ["traffic-mixed"])


def test_all_pairs_in_memory_are_off_the_wire() -> None:
    seen = world(2000.0, 2000.0)
    found = judge_traffic(seen, [table(2, counted=True)], claim(seen))
    assert (found.proof, found.verdict) == ("off-wire", "fail")


def test_pairs_whose_rates_no_port_shows_together_are_open() -> None:
    """One pair on the wire and a slower flow, the other in memory."""
    seen = world(5 * OF_A_PAIR, 2000.0, peak=117e6)
    found = judge_traffic(seen, [table(2, counted=False)], claim(seen))
    assert (found.proof, codes(found)) == ("unproven", ["traffic-rate-unseen"])


def unread(name: str) -> HostTraffic:
    return HostTraffic(host=name, error="ssh: it does not respond")


@pytest.mark.parametrize("pairs", [1, 2])
@pytest.mark.parametrize("lost", [1, 2])
def test_bytes_that_hosts_without_a_reading_may_have_carried_are_not_missing(
    pairs: int, lost: int
) -> None:
    """One unread host of a single pair has its bytes at the other end, which was read."""
    seen = world(*[1.13 * OF_A_PAIR if pairs == 2 else 2000.0] * 1)
    more = msgspec.structs.replace(seen, hosts=[*seen.hosts, *map(unread, ("k0", "k1")[:lost])])
    found = judge_traffic(more, [table(pairs, counted=True)], claim(seen))
    open_ = pairs == 2 or lost == 2
    assert found.proof == ("unproven" if open_ else "off-wire"), found.reasons
    assert (codes(found)[0] == "traffic-unwatched") == open_
    named = msgspec.structs.replace(seen, unwatched=["k0", "k1"][:lost])
    assert judge_traffic(named, [table(pairs, counted=True)], claim(seen)).proof == found.proof


def test_two_other_hosts_in_the_output_may_have_carried_a_stream() -> None:
    quiet = msgspec.structs.replace(pair(1000.0, 0.0), unwatched=["n3", "n4"])
    found = judge_traffic(quiet, [stream()], claim(quiet))
    assert (found.proof, found.verdict) == ("unproven", "inconclusive")
    assert "n3, n4, whose ports were not read" in found.reasons[0].message
