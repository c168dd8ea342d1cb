"""A lab node with a wrong setting: the check finds the node and names the setting."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.verb import document, wireproof

pytestmark = [pytest.mark.netns, pytest.mark.mpi, pytest.mark.engine]

# half a millisecond each way: a window of 4 KiB is then a small part of what the line holds
TOPOLOGY = """
nodes = 3
wire = "store-and-forward"
latency = "500us"

[[network]]
name = "hsn"
device = "hsn0"
rate = "100mbit"
subnet = "10.20.1.0/24"
"""
RMEM = "/proc/sys/net/ipv4/tcp_rmem"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    name = f"setting-{os.getpid()}"
    file = tmp_path_factory.mktemp("setting") / "three.toml"
    file.write_text(TOPOLOGY)
    built = wireproof("lab", "up", file, "--name", name)
    assert built.returncode == 0, built.stderr
    yield name
    assert wireproof("lab", "down", name).returncode == 0


def on(lab: str, node: str, command: str) -> str:
    done = wireproof("lab", "exec", lab, node, "sh", "-c", command)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def checked(lab: str, out: Path) -> Any:
    words = ("check", "--lab", lab, "--budget", "60ms", "--seed", "5", "--json", "--out", out)
    return document(wireproof(*words))


def test_a_tiny_receive_buffer_is_named_beside_what_is_missing(lab: str, tmp_path: Path) -> None:
    old = on(lab, "n3", f"cat {RMEM}")
    on(lab, "n3", f"echo 4096 4096 4096 > {RMEM}")
    found = checked(lab, tmp_path / "check")
    on(lab, "n3", f"echo {old} > {RMEM}")
    (blame,) = found["located"][0]["blames"]
    assert (blame["subject"], blame["direction"]) == ("n3", "rx")
    cause = blame["causes"][0]
    assert (cause["setting"], cause["explains"]) == ("tcp-rmem", True)
    assert cause["expected"]["on"] == "bandwidth"
    assert blame["low"] <= 1.25 * cause["expected"]["high"]
    (finding,) = [one for one in found["findings"] if one["code"] == "port-slow"]
    assert finding["severity"] == "fail"
    assert finding["evidence"]["cause_setting"] == "tcp-rmem"
    assert RMEM in finding["advice"]
    again = document(wireproof("locate", tmp_path / "check", "--json"))
    assert again["located"][0]["blames"][0]["causes"][0]["setting"] == "tcp-rmem"
    page = (tmp_path / "check" / "report.html").read_text(encoding="utf-8")
    assert "n3&#39;s tcp-rmem is 4096 4096 4096" in page


@pytest.mark.slow
def test_a_small_mtu_is_named_once_and_mended_as_the_catalogue_says(
    lab: str, tmp_path: Path
) -> None:
    on(lab, "n3", "ip link set hsn0 mtu 400")
    found = checked(lab, tmp_path / "check")
    on(lab, "n3", "ip link set hsn0 mtu 1500")
    (blame,) = found["located"][0]["blames"]
    assert blame["subject"] == "n3"
    named = [cause for cause in blame["causes"] if cause["setting"] == "mtu"]
    assert [cause["explains"] for cause in named] == [True]
    assert "headers of packets of this size cost" in " ".join(named[0]["evidence"])
    assert named[0]["undo"]
