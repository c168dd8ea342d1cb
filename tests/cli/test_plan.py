"""``wireproof plan``: as a user does."""

from pathlib import Path

import pytest
from tests.cli.verb import document, one_sentence, wireproof

FOOTPRINT = ("plan", "footprint", "--nodes", "64", "--ppn", "28")


def test_a_footprint_says_its_bounds_and_what_was_seen() -> None:
    done = wireproof(*FOOTPRINT, "--mode", "psm3-rdma1", "--seen-qps", "9696")
    assert done.returncode == 0, done.stderr
    assert "1,792 to 17,920" in done.stdout
    assert "988 connected pairs of nodes of 2,016 (49.0 %)" in " ".join(done.stdout.split())
    assert "source  rv: num_conn" in done.stdout


def test_a_footprint_as_json_with_what_rdma_resource_shows(tmp_path: Path) -> None:
    seen = tmp_path / "qp.txt"
    seen.write_text("link mlx5_0/1 lqpn 9 type UD state RTS pid 4 comm a\n" * 28)
    found = document(wireproof(*FOOTPRINT, "--mode", "psm3-rdma0", "--observed", seen, "--json"))
    assert found["qps"]["node"] == {"low": 28, "high": 28}
    assert found["observed"][0]["inside"] is True


def test_a_headroom_is_held_against_the_need() -> None:
    done = wireproof(
        *("plan", "pfc", "--speed", "100", "--mtu", "9000", "--cable", "100", "--ports", "32"),
        *("--headroom", "18560B"),
    )
    assert done.returncode == 1, done.stderr
    assert "55,884 to 86,604 B" in done.stdout
    assert "18,560 B are too few" in done.stdout


@pytest.mark.parametrize(
    ("given", "status", "verdict"),
    [
        ((), 0, None),
        (("--headroom", "18560"), 1, "fail"),
        (("--headroom", "60000"), 3, "inconclusive"),
        (("--headroom", "90000"), 0, "pass"),
        (("--headroom", "90000", "--buffer", "1"), 1, "fail"),
    ],
)
def test_a_headroom_and_a_buffer_decide_the_exit_status(
    given: tuple[str, ...], status: int, verdict: str | None
) -> None:
    port = ("--speed", "100", "--mtu", "9000", "--cable", "100", "--ports", "32", "--json")
    done = wireproof("plan", "pfc", *port, *given)
    assert (done.returncode, document(done)["verdict"]) == (status, verdict)


def test_numbers_are_taken_as_documents_write_them() -> None:
    job = ("plan", "footprint", "--nodes", "64", "--ppn", "28", "--json")
    slide = wireproof(*job, "--mode", "PSM3_RDMA=1", "--seen-qps", "9,696")
    plain = wireproof(*job, "--mode", "psm3-rdma1", "--seen-qps", "9696")
    assert (slide.returncode, slide.stdout) == (0, plain.stdout), slide.stderr
    assert wireproof(*job, "--mode", "RxM").returncode == 0
    port = ("plan", "pfc", "--ports", "32", "--headroom", "48,800", "--json")
    slide = wireproof(*port, "--speed", "100Gb/s", "--mtu", "9,000", "--cable", "5 m")
    plain = wireproof(*port, "--speed", "100", "--mtu", "9000", "--cable", "5")
    assert (slide.returncode, slide.stdout) == (3, plain.stdout), slide.stderr
    for wrong in ("9,69", "0,696", "9696QPs"):
        one_sentence(wireproof(*job, "--mode", "rxm", "--seen-qps", wrong))
    one_sentence(wireproof(*port, "--speed", "100", "--mtu", "9000", "--cable", "5 km"))


def test_a_scale_is_drawn_and_written(tmp_path: Path) -> None:
    done = wireproof(
        *("plan", "scale", "--nodes", "2,8", "--ppn", "4", "--start", "1.9us", "--rate", "11GB/s"),
        *("--pattern", "ring", "--pattern", "barrier", "--pattern", "sweep"),
        *("--csv", tmp_path / "a.csv", "--svg", tmp_path / "a.svg"),
    )
    assert done.returncode == 0, done.stderr
    assert "random ring, 8 B, per message (HPCC)" in done.stdout
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 9
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")


def test_a_validation_says_its_rounds() -> None:
    found = document(wireproof("plan", "validate", "--nodes", "1000", "--json"))
    assert found["enough"] is True
    assert found["least"]["rounds"] <= found["check"]["rounds"] == 12


def test_memory_is_given_as_people_write_it() -> None:
    asked = ("plan", "footprint", "-N", "4", "-P", "8", "--mode", "psm3-rdma1", "--json")
    said = [
        wireproof(*asked, "--seen-memory", size).stdout
        for size in ("495GB", "495000000000", "495 GB")
    ]
    assert said[0] == said[1] == said[2]
    assert wireproof(*asked, "--seen-memory", "495 cows").returncode == 2
