"""Studies of the real PSM3 (Intel MPI's, over sockets) between lab nodes with two NICs."""

from pathlib import Path
from typing import Any

import pytest
from tests.cli.verb import document, one_sentence, wireproof
from tests.lab.conftest import Build, run

from wireproof.lab.cluster import Lab
from wireproof.model.topology import Network

pytestmark = [pytest.mark.netns, pytest.mark.engine, pytest.mark.root, pytest.mark.intelmpi]

SECRET = "sesame-4711"


def rails(rate: str = "1gbit", mtu: int = 1500) -> tuple[Network, Network]:
    return (
        Network(name="a", device="hsn0", rate=rate, subnet="10.20.1.0/24", mtu=mtu),
        Network(name="b", device="hsn1", rate=rate, subnet="10.20.2.0/24", mtu=mtu),
    )


def named_fab0(lab: Lab) -> Lab:
    """The second NIC of every node gets the name that PSM3 takes for a number."""
    for node in lab.nodes:
        for words in ("hsn1 down", "hsn1 name fab0", "fab0 up"):
            assert run(lab, node, "ip", "link", "set", *words.split()).returncode == 0
    return lab


def seen(found: Any) -> dict[str, tuple[str, str]]:
    """By ``KNOB=VALUE``: what is known of it, and its sentence."""
    names = [f"{one.get('knob', '')}={one.get('value', '')}" for one in found["configurations"]]
    return {names[one["configuration"]]: (one["seen"], one["text"]) for one in found["honoured"]}


def effects(found: Any) -> dict[tuple[str, str], Any]:
    names = [f"{one.get('knob', '')}={one.get('value', '')}" for one in found["configurations"]]
    return {(names[one["configuration"]], one["pattern"]): one for one in found["effects"]}


def study(lab: Lab, impi_root: Path, *more: object, timeout: float = 150.0) -> Any:
    argv = ("study", "psm3", "--lab", lab.name, "--mpi", impi_root, "--nic", "hsn0", "--seed", 1)
    secret = {"APPLICATION_TOKEN": SECRET}
    return wireproof(*argv, *more, environment=secret, timeout=timeout)


def test_what_the_library_makes_of_each_value(
    build: Build, impi_root: Path, tmp_path: Path
) -> None:
    lab = named_fab0(build(2, *rails()))
    values = ["PSM3_SOCKETS=1", "PSM3_NIC=fab0", "PSM3_MULTIRAIL=1", "PSM3_MTU=8192"]
    asked = [word for value in values for word in ("--values", value)]
    out = tmp_path / "study"
    short = ("--over", "stream", "--each", "20ms", "--budget", "1s")
    done = study(lab, impi_root, *asked, *short, "--out", out, "--json")
    found = document(done)
    assert found["rails"] == ["hsn0", "fab0"]
    known = seen(found)
    assert known["PSM3_MTU=8192"][0] == "honoured"
    assert known["PSM3_MULTIRAIL=1"][0] == "honoured"
    assert known["PSM3_SOCKETS=1"][0] == "unread"
    assert "PSM3_SOCKETS is not among the" in known["PSM3_SOCKETS=1"][1]
    assert known["PSM3_NIC=fab0"][0] == "refused"
    assert "written as [f]ab0" in known["PSM3_NIC=fab0"][1]
    assert "64176 (the text as a hexadecimal number)" in known["PSM3_NIC=fab0"][1]
    codes = [one["code"] for one in found["findings"]]
    assert codes.count("setting-not-honoured") == 2
    striped = [
        one
        for one in found["runs"]
        if found["configurations"][one["configuration"]].get("knob") == "PSM3_MULTIRAIL"
    ]
    assert [set(one["shares"]) for one in striped] == [{"hsn0", "fab0"}]
    assert [one["proof"] for one in striped] == ["on-wire"]
    assert not found["advice"]  # one round decides nothing
    assert "needed to detect any effect" in done.stderr
    for file in out.iterdir():
        assert SECRET not in file.read_text()
    assert SECRET not in done.stdout + done.stderr

    other = study(lab, impi_root, "--values", "PSM3_MTU=4096", *short, "--out", out, "--resume")
    assert other.returncode == 2
    assert "was started with the values" in one_sentence(other)


@pytest.mark.slow
def test_what_nobody_tells(build: Build, impi_root: Path) -> None:
    """Two rails double a stream and no ping-pong; a flavour is not compiled in; a name is taken for
    a number.
    """
    # So slow that two cores that others use, too, do not decide.
    lab = named_fab0(build(2, *rails("100mbit")))
    values = ("PSM3_MULTIRAIL=1", "PSM3_SOCKETS=1", "PSM3_NIC=fab0")
    asked = [word for value in values for word in ("--values", value)]
    patterns = ("--over", "pingpong,stream", "--each", "400ms", "--budget", "6min", "--json")
    found = document(study(lab, impi_root, *asked, *patterns, timeout=500))
    by = effects(found)
    stream = by["PSM3_MULTIRAIL=1", "stream"]
    assert stream["answer"] == "helps"
    assert 1.5 < stream["ratio"] < 3.0
    assert by["PSM3_MULTIRAIL=1", "pingpong"]["answer"] != "helps"
    for pattern in ("pingpong", "stream"):
        assert by["PSM3_SOCKETS=1", pattern]["answer"] not in ("helps", "hurts")
    assert [one["kind"] for one in found["advice"]] == ["use"]
    advice = found["advice"][0]["text"]
    assert advice.startswith("PSM3_MULTIRAIL=1 with PSM3_NIC=@(hsn0|fab0): stream +")
    known = seen(found)
    assert known["PSM3_SOCKETS=1"][0] == "unread"
    assert "hexadecimal number" in known["PSM3_NIC=fab0"][1]


@pytest.mark.slow
def test_small_packets_slow_a_fast_stream(build: Build, impi_root: Path) -> None:
    """What limits it is the processor: a machine that others use cannot tell, and what a packet
    costs is the machine's (0.07 to 0.5 of the rate were seen on two cores).
    """
    network = Network(name="f", device="hsn0", rate="10gbit", subnet="10.30.1.0/24", mtu=9000)
    mtu = ("--values", "PSM3_MTU=4096", "--over", "stream", "--budget", "1min")
    found = document(study(build(2, network), impi_root, *mtu, "--json", timeout=400))
    assert seen(found)["PSM3_MTU=4096"][0] == "honoured"
    assert not found["advice"]
    effect = effects(found)["PSM3_MTU=4096", "stream"]
    if effect["answer"] == "undecided":
        half = (effect["high"] - effect["low"]) / 2
        pytest.skip(f"a machine of our own: effects on a stream are known to {half:.0%} only")
    assert effect["answer"] == "hurts"
    assert effect["ratio"] < 0.75
