"""A real RDMA stack: rxe between two virtual machines. What it counts, and what ``prove`` makes of
it.

Everything is emulated: rates mean nothing here and none is asserted.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.cli.verb import wireproof
from tests.vm.machine import Machines

from wireproof.instrument.watch import watch_argv
from wireproof.launch.engines import find_engine

pytestmark = [pytest.mark.vm, pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(240)]

TRIES = 4
"""On a busy machine perftest now and then cannot tell its clock's rate and prints 0.00 for
everything.
"""
MESSAGES, SIZE = 200, 65536
READ = r"""
cd /sys/class/infiniband/rxe0/ports/1
for f in hw_counters/*; do echo "$f $(cat $f)"; done
for n in eth0 lo; do for f in tx_bytes rx_bytes tx_packets rx_packets; do
echo "$n/$f $(cat /sys/class/net/$n/statistics/$f)"; done; done
"""


def perftest(tool: str, *server: str) -> str:
    return " ".join(
        [tool, "-d", "rxe0", "-x", "1", "-F", "-n", str(MESSAGES), "-s", str(SIZE), *server]
    )


def counters(machines: Machines, name: str) -> dict[str, int]:
    return {
        name: int(value) for name, value in map(str.split, machines.say(name, READ).splitlines())
    }


def rise(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in after}


def prove(
    machines: Machines, server: tuple[str, str], command: tuple[str, str], *options: str
) -> Any:
    """What ``prove --json`` says around ``command`` in one machine and ``server`` in one."""
    for _ in range(TRIES):
        words = ["prove", "--json", "--hosts", "v1,v2", "--launcher", machines.agent, *options]
        done = wireproof(*words, "--server", *server, "--", machines.agent, *command)
        assert done.stdout, done.stderr
        found = json.loads(done.stdout)
        assert found["exit_status"] == 0, done.stderr
        if found["series"] and "traffic-no-number" not in codes(found):
            break
    return found


def codes(found: Any) -> set[str]:
    return {reason["code"] for reason in found["reasons"]}


def port(found: Any, host: str, nic: str = "eth0") -> Any:
    ports = next(one["ports"] for one in found["hosts"] if one["host"] == host)
    return next(one for one in ports if one["nic"] == nic)


def test_the_engine_knows_soft_roce_by_its_own_files(machines: Machines) -> None:
    """No driver stands in sysfs for it; the name of the device says nothing."""
    machines.say("v1", "rdma link delete rxe0; rdma link add mlx5_7 type rxe netdev eth0")
    try:
        watch = " ".join(map(str, watch_argv(find_engine("nompi"), 0.5)))
        said = machines.say("v1", f"{watch} --seconds 1 </dev/null")
    finally:
        machines.say("v1", "rdma link delete mlx5_7; rdma link add rxe0 type rxe netdev eth0")
    nics = {nic["name"]: nic for nic in json.loads(said.splitlines()[0])["nics"]}
    assert nics["eth0"]["driver"] == "virtio_net"
    assert nics["eth0"]["rdma"]["driver"] == "rdma_rxe"
    assert nics["eth0"]["rdma"]["device"] == "mlx5_7"
    assert nics["eth0"]["rdma"]["link_layer"] == "Ethernet"
    assert "rdma" not in nics["eth1"]
    assert "mlx5_7:1" not in nics


def test_bytes_of_rxe_are_the_interface_s_and_its_own_counters_hold_packets(
    machines: Machines,
) -> None:
    assert machines.run("v1", "ls -d /sys/class/infiniband/rxe0/ports/1/counters").returncode != 0
    before = {name: counters(machines, name) for name in ("v1", "v2")}
    machines.say("v2", f"{perftest('ib_write_bw')} >/dev/null 2>&1 </dev/null & sleep 3")
    machines.say("v1", perftest("ib_write_bw", "v2"))
    sent, got = (rise(before[name], counters(machines, name)) for name in ("v1", "v2"))
    payload = MESSAGES * SIZE
    assert payload < sent["eth0/tx_bytes"]
    assert payload < got["eth0/rx_bytes"]
    packets = payload // 4096
    assert packets <= sent["hw_counters/sent_pkts"] <= sent["eth0/tx_packets"]
    assert packets <= got["hw_counters/rcvd_pkts"] <= got["eth0/rx_packets"]
    assert sent["lo/tx_bytes"] == got["lo/tx_bytes"] == 0


def test_rxe_inside_one_machine_moves_its_own_counters_and_no_interface(machines: Machines) -> None:
    before = counters(machines, "v1")
    machines.say(
        "v1",
        f"{perftest('ib_write_bw')} >/dev/null 2>&1 </dev/null & sleep 3; "
        f"{perftest('ib_write_bw', 'v1')}",
    )
    seen = rise(before, counters(machines, "v1"))
    assert seen["hw_counters/sent_pkts"] >= MESSAGES * SIZE // 4096
    assert seen["hw_counters/rcvd_pkts"] == seen["hw_counters/sent_pkts"]
    assert seen["eth0/tx_bytes"] < 5000
    assert seen["lo/tx_bytes"] < 50_000


@pytest.mark.parametrize(
    ("tool", "options"),
    [
        ("ib_write_bw", ()),
        ("ib_send_bw", ("--link", "roce1")),
        ("ib_write_bw", ("--link", "roce1", "--nic", "rxe0")),
        ("ib_send_bw", ("--link", "ethernet", "--nic", "eth0")),
    ],
)
def test_perftest_between_machines_is_on_wire(
    machines: Machines, tool: str, options: tuple[str, ...]
) -> None:
    found = prove(machines, ("v2", perftest(tool)), ("v1", perftest(tool, "v2")), *options)
    assert found["proof"] == "on-wire", found["reasons"]
    assert "eth0" in found["port"]
    assert found["level"] == "stack"
    assert "tcp-instead-of-rdma" not in codes(found)
    assert port(found, "v1")["tx"]["bytes"] > MESSAGES * SIZE
    assert port(found, "v2")["rx"]["bytes"] > MESSAGES * SIZE


@pytest.mark.skipif(
    shutil.which("iperf3") is None, reason="iperf3 is not on PATH (Debian package iperf3)"
)
@pytest.mark.parametrize("options", [(), ("--link", "ethernet", "--nic", "eth0")])
def test_tcp_on_the_same_port_is_on_wire(machines: Machines, options: tuple[str, ...]) -> None:
    found = prove(machines, ("v2", "iperf3 -s"), ("v1", "iperf3 -c v2 -n 8M"), *options)
    assert found["proof"] == "on-wire", found["reasons"]
    assert "eth0" in found["port"]
    # iperf3 ends when the last byte is in its socket: what was received is what counts.
    assert port(found, "v1")["tx"]["bytes"] > found["printed"]["least_bytes"] > 1 << 20


@pytest.mark.skipif(
    shutil.which("iperf3") is None, reason="iperf3 is not on PATH (Debian package iperf3)"
)
def test_tcp_on_the_port_of_claimed_roce_is_on_wire_and_a_finding_of_its_own(
    machines: Machines,
) -> None:
    options = ("--link", "roce1", "--nic", "rxe0")
    found = prove(machines, ("v2", "iperf3 -s"), ("v1", "iperf3 -c v2 -n 8M"), *options)
    assert (found["proof"], found["verdict"]) == ("on-wire", "fail"), found["reasons"]
    assert "tcp-instead-of-rdma" in codes(found)


@pytest.mark.parametrize(
    ("tool", "options"), [("ib_write_bw", ()), ("ib_send_bw", ("--link", "roce1"))]
)
def test_both_ends_in_one_machine_are_off_wire(
    machines: Machines, tool: str, options: tuple[str, ...]
) -> None:
    found = prove(machines, ("v1", perftest(tool)), ("v1", perftest(tool, "v1")), *options)
    assert found["proof"] == "off-wire", found["reasons"]


def test_rdma_on_another_port_than_the_claimed_one_is_a_wrong_path(machines: Machines) -> None:
    ends = ("v2", perftest("ib_write_bw")), ("v1", perftest("ib_write_bw", "v2"))
    found = prove(machines, *ends, "--nic", "eth1")
    assert found["proof"] == "wrong-path", found["reasons"]
    assert any("eth0" in reason["message"] for reason in found["reasons"])


@pytest.mark.mpi
@pytest.mark.parametrize(("nic", "verbs"), [("rxe0:1", True), ("eth0", False)])
def test_an_mpi_over_verbs_and_over_sockets_is_on_the_wire(
    machines: Machines, tmp_path: Path, nic: str, verbs: bool
) -> None:
    """The mpich wheel's UCX takes the device that is claimed: rxe's own packets tell verbs from
    sockets.
    """
    before = counters(machines, "v1")
    words = ["measure", "stream", "--hosts", "v1,v2", "--launcher", machines.agent, "--nic", nic]
    words += ["--mpi", "mpich", "--sizes", "64KiB", "--budget", "2s", "--json", "--out"]
    done = wireproof(*words, tmp_path / "run")
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert found["proof"] == "on-wire", done.stderr
    seen = rise(before, counters(machines, "v1"))
    moved = found["results"][0]["expected_bytes"]
    assert seen["eth0/tx_bytes"] > moved > 0
    assert (seen["hw_counters/sent_pkts"] >= moved // 4096) == verbs
    assert (seen["hw_counters/sent_pkts"] == 0) != verbs
