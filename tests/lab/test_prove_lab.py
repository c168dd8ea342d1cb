"""`prove` around real programs between lab nodes: once over the wire, once in memory, and with the
planted lie.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest
from tests.cli.verb import document, wireproof
from tests.lab.conftest import Build, run_proved, say, stream_proved

from wireproof.lab.cluster import Lab
from wireproof.lab.commands import SWITCH, port_device
from wireproof.model.topology import Network
from wireproof.model.traffic import PortTraffic
from wireproof.target import Target, lab_target
from wireproof.watch.prove import Companion, ProvedCommand

pytestmark = [pytest.mark.netns, pytest.mark.engine]

ROOT = Path(__file__).resolve().parents[2]
FAST = Network(name="fast", device="fast0", rate="10gbit", subnet="10.30.1.0/24")
SLOW = Network(name="hsn", device="hsn0", rate="1gbit", subnet="10.20.1.0/24")

IPERF3 = pytest.mark.skipif(
    shutil.which("iperf3") is None, reason="iperf3 is not on PATH (Debian package iperf3)"
)
PINGPONG = ("IMB-P2P", "PingPong", "-msglog", "17:21", "-iter", "40")


def place(lab: Lab, *nodes: str, nic: str = "") -> Target:
    return lab_target(lab, nodes or lab.nodes, nic=nic)


def intel() -> tuple[Path, dict[str, str]]:
    """Folder of Intel MPI's programs, and what its setvars would set."""
    root = Path(os.environ.get("WIREPROOF_TEST_IMPI") or ROOT / ".deps" / "impi")
    path = f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return root / "bin", {
        "PATH": path,
        "I_MPI_ROOT": str(root),
        "LD_LIBRARY_PATH": str(root / "lib"),
    }


def port(proved: ProvedCommand, host: str, nic: str) -> PortTraffic:
    ports = next(one.ports for one in proved.traffic.hosts if one.host == host)
    return next(one for one in ports if one.nic == nic)


def switch_bytes(lab: Lab, node: str) -> tuple[int, int]:
    """What the switch's port to ``node`` has received from it and sent to it: the lab's own
    count.
    """
    device = port_device(lab.topology, node, lab.topology.networks[0])
    for line in say(lab, SWITCH, "cat", "/proc/net/dev").splitlines():
        name, _, rest = line.partition(":")
        if name.strip() == device:
            fields = [int(word) for word in rest.split()]
            return fields[0], fields[8]
    raise AssertionError(f"the switch has no port {device}")


def codes(proved: ProvedCommand) -> set[str]:
    return {one.code for one in proved.judgement.reasons}


@pytest.mark.intelmpi
def test_imb_over_the_wire(build: Build) -> None:
    lab = build()
    _, environment = intel()
    argv = ["mpiexec", "-hosts", "n1,n2", "-ppn", "1", "-n", "2", *PINGPONG]
    proved = run_proved(argv, place(lab), environment=environment)
    assert proved.exit_status == 0, proved.output
    assert [point.message_bytes for point in proved.series[0].points][-1] == 1 << 21
    assert proved.judgement.proof == "on-wire"
    crossed = port(proved, "n1", "hsn0").tx.bytes
    assert proved.judgement.printed.least_bytes < crossed < 2 * proved.judgement.printed.least_bytes
    peak = proved.judgement.peak_bytes_per_s
    assert peak < 1.1 * 1e9 / 8


@pytest.mark.intelmpi
def test_imb_in_the_memory_of_one_node(build: Build) -> None:
    lab = build()
    _, environment = intel()
    argv = ["mpiexec", "-hosts", "n1", "-ppn", "2", "-n", "2", *PINGPONG]
    proved = run_proved(argv, place(lab), environment=environment)
    assert proved.exit_status == 0, proved.output
    assert proved.series[0].points
    assert (proved.judgement.proof, proved.judgement.verdict) == ("off-wire", "fail")
    assert "traffic-off-wire" in codes(proved)


@pytest.mark.mpi
@pytest.mark.intelmpi
def test_a_lie_below_the_mpi_is_found_around_a_foreign_benchmark(build: Build) -> None:
    """The nodes have their own names and NICs and share one IPC namespace: UCX takes memory, IMB
    prints its rate.
    """
    lab = build(share=("ipc", "pid"))
    imb, _ = intel()
    environment = {"LD_LIBRARY_PATH": str(Path(sys.prefix) / "lib")}
    mpiexec = str(Path(sys.prefix) / "bin" / "mpiexec")
    places = ["-hosts", "n1,n2", "-ppn", "1", "-n", "2"]
    argv = [mpiexec, *places, str(imb / PINGPONG[0]), *PINGPONG[1:]]
    lied = run_proved(argv, place(lab), environment=environment)
    assert lied.exit_status == 0, lied.output
    assert lied.judgement.proof == "off-wire"
    honest = run_proved(argv, place(lab), environment={**environment, "UCX_TLS": "tcp,self"})
    assert honest.judgement.proof == "on-wire"


def test_the_witness_agrees_with_the_switch(build: Build) -> None:
    """Within 0.5 % of what the lab counts on the other end of the cable, in each direction."""
    lab = build()
    before = {node: switch_bytes(lab, node) for node in lab.nodes}
    proved = stream_proved(lab, place(lab), 200 << 20)
    after = {node: switch_bytes(lab, node) for node in lab.nodes}
    for node in lab.nodes:
        seen = port(proved, node, "hsn0")
        for way, position in ((seen.tx, 0), (seen.rx, 1)):
            lab_own = after[node][position] - before[node][position]
            assert way.bytes == pytest.approx(lab_own, rel=0.005, abs=2000)


def test_a_command_that_prints_no_number_is_unproven_and_its_bytes_are_told(build: Build) -> None:
    lab = build()
    proved = stream_proved(lab, place(lab), 50 << 20)
    assert (proved.judgement.proof, proved.judgement.verdict) == ("unproven", "inconclusive")
    assert "traffic-no-number" in codes(proved)
    assert port(proved, "n1", "hsn0").tx.bytes == pytest.approx(50 << 20, rel=0.05)


@IPERF3
@pytest.mark.parametrize("flags", [(), ("-J",), ("-R",)])
def test_iperf3_over_the_wire(build: Build, flags: tuple[str, ...]) -> None:
    lab = build()
    argv = ["iperf3", "-c", "n2", "-t", "2", *flags]
    proved = run_proved(argv, place(lab), companions=(Companion("n2", ("iperf3", "-s")),))
    assert proved.exit_status == 0, proved.output
    assert proved.judgement.proof == "on-wire", proved.judgement.reasons
    sender = "n2" if "-R" in flags else "n1"
    assert (port(proved, sender, "hsn0").tx.bytes or 0) > 10 * (
        port(proved, sender, "hsn0").rx.bytes or 0
    )


@IPERF3
def test_iperf3_over_loopback(build: Build) -> None:
    lab = build()
    argv = ["iperf3", "-c", "n1", "-t", "2"]
    proved = run_proved(argv, place(lab), companions=(Companion("n1", ("iperf3", "-s")),))
    assert proved.exit_status == 0, proved.output
    assert proved.judgement.proof == "off-wire"
    assert "traffic-loopback" in codes(proved)


@IPERF3
def test_another_network_than_the_claimed_one(build: Build) -> None:
    lab = build(2, SLOW, FAST)
    argv = ["iperf3", "-c", lab.node_address("n2", "hsn"), "-t", "2"]
    servers = (Companion("n2", ("iperf3", "-s")),)
    proved = run_proved(argv, place(lab, nic="fast0"), companions=servers)
    assert proved.judgement.proof == "wrong-path"
    assert "hsn0" in next(
        one.message for one in proved.judgement.reasons if one.code == "traffic-wrong-path"
    )
    assert run_proved(argv, place(lab, nic="hsn0"), companions=servers).judgement.proof == "on-wire"


@pytest.mark.openmpi
@pytest.mark.skipif(
    shutil.which("hpcc") is None, reason="hpcc is not on PATH (Debian package hpcc)"
)
@pytest.mark.parametrize(("hosts", "proof"), [("n1,n2", "on-wire"), ("n1:2", "off-wire")])
def test_hpcc(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hosts: str, proof: str
) -> None:
    shutil.copy(Path(__file__).with_name("hpccinf.txt"), tmp_path)
    monkeypatch.chdir(tmp_path)
    argv = ["mpirun.openmpi", "-H", hosts, "-np", "2", "--mca", "mpi_yield_when_idle", "1", "hpcc"]
    proved = run_proved(argv, place(build()), results=(tmp_path / "hpccoutf.txt",))
    assert proved.exit_status == 0, proved.output
    assert {one.tool for one in proved.series} == {"hpcc"}
    assert proved.judgement.proof == proof


@pytest.mark.mpi
def test_mpich_finds_the_nodes_by_a_plain_command_line(build: Build) -> None:
    mpiexec = str(Path(sys.prefix) / "bin" / "mpiexec")
    proved = run_proved([mpiexec, "-hosts", "n1,n2", "-ppn", "1", "hostname"], place(build()))
    assert sorted(proved.output.split()) == [b"n1", b"n2"]


@pytest.mark.intelmpi
def test_the_users_own_launcher_is_left_alone(build: Build) -> None:
    _, environment = intel()
    own = {**environment, "I_MPI_HYDRA_BOOTSTRAP": "fork"}
    argv = ["mpiexec", "-n", "2", "hostname"]
    proved = run_proved(argv, place(build()), environment=own)
    assert proved.output.split() == [b"n1", b"n1"]


@pytest.mark.parametrize("network", ["mgmt", "hsn"])
def test_of_two_equal_networks_the_one_that_carried_the_bytes_is_shown(
    build: Build, network: str
) -> None:
    """Without --nic the first network by its place in the file was claimed."""
    mgmt = Network(name="mgmt", device="eth0", rate="1gbit", subnet="10.10.1.0/24")
    lab = build(2, mgmt, SLOW)
    address = lab.node_address("n2", network)
    send = f"import socket; s = socket.socket(2, 2); [s.sendto(bytes(1400), ({address!r}, 9))"
    command = (sys.executable, "-c", f"{send} for _ in range(5000)]")
    proved = document(wireproof("prove", "--lab", lab.name, "--json", "--", *command))
    assert proved["port"] == {"mgmt": "eth0", "hsn": "hsn0"}[network]
    assert not any("is claimed" in note for note in proved["notes"])
