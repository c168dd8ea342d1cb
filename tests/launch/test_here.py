"""Which hosts are this very machine: its names, its addresses, and nobody else's."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import wireproof.launch.here as module
from wireproof.launch.here import hosts_here, is_here

SHORT, FULL = "n1", "n1.cluster.site"
FAR = "192.0.2.7"  # of a range that no machine has (RFC 5737)
KNOWN = {FULL: ["127.0.0.1"], "n1-ib0": ["127.0.0.1", FAR], "n2": [FAR], "n1.other.site": [FAR]}


def here(host: str, own_name: str) -> bool:
    return is_here(host, own_name=own_name, addresses=lambda name: KNOWN.get(name, []))


@pytest.mark.parametrize("own_name", [SHORT, FULL, FULL.upper()])
@pytest.mark.parametrize("host", [SHORT, FULL, "N1", f"{FULL}.", "localhost", "n1-ib0"])
def test_each_name_of_this_machine_is_here(host: str, own_name: str) -> None:
    assert here(host, own_name)


@pytest.mark.parametrize("own_name", [SHORT, FULL])
@pytest.mark.parametrize("host", ["n2", "n2.cluster.site", "n10", "n1.other.site", "", "unknown"])
def test_no_other_name_is_here(host: str, own_name: str) -> None:
    assert not here(host, own_name)


def test_a_full_name_that_nobody_knows_is_ours_by_its_first_part() -> None:
    assert here("n1.of.no.domain", SHORT)
    assert not here("n1.of.no.domain", FULL)


@pytest.mark.parametrize(
    ("address", "expected"),
    [("127.0.0.1", True), ("127.1.2.3", True), (FAR, False), ("0.0.0.0", False), ("::", False)],  # noqa: S104
)
def test_an_address_of_this_machine_is_here(address: str, expected: bool) -> None:
    assert is_here(address) is expected


def test_an_address_of_version_6_is_here() -> None:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no address of IP version 6")
    assert is_here("::1")
    assert not is_here("2001:db8::7")  # of the range for documents (RFC 3849)


def test_of_many_hosts_only_ours_are_here() -> None:
    own = socket.gethostname()
    assert hosts_here(["localhost", own, FAR, FAR]) == {"localhost", own}
    assert hosts_here([]) == set()


@pytest.mark.root
@pytest.mark.netns
def test_an_address_that_can_be_bound_but_is_another_machine_s_is_not_here():
    """``ip_nonlocal_bind`` lets a standby node bind addresses that it does not have."""
    program = """
from pathlib import Path
from wireproof.launch.here import is_here
Path("/proc/sys/net/ipv4/ip_nonlocal_bind").write_text("1")
print(is_here("192.0.2.7"), is_here("127.0.0.1"))
"""
    argv = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$0" -c "$1"']
    environment = {**os.environ, "PYTHONPATH": str(Path(module.__file__).parents[3])}
    done = subprocess.run(
        [*argv, sys.executable, program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["False", "True"]
