"""Labs for tests: each one is taken down, and nothing of it may be left."""

import contextlib
import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from wireproof.lab.cluster import Lab, up
from wireproof.lab.state import find_holders, find_labs, state_root
from wireproof.lab.wire import wire_ports
from wireproof.launch.engines import find_program
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.topology import Fault, Network, PortCount, Share, Topology
from wireproof.target import Target
from wireproof.watch.prove import Companion, ProofSpecification, ProvedCommand, prove_command

HSN = Network(name="hsn", device="hsn0", rate="1gbit", subnet="10.20.1.0/24")
STREAM = Path(__file__).with_name("stream.py")
_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def node_program() -> Path:
    try:
        return find_program("wireproof-node")
    except CouldNotMeasure as error:
        pytest.skip(f"netns: {error}")


def topology(
    nodes: int = 2,
    *networks: Network,
    faults: Sequence[Fault] = (),
    share: Sequence[Share] = (),
    **wire: Any,
) -> Topology:
    """``nodes`` nodes named n1, n2, ... on one 1 Gb/s network unless others are given."""
    names = tuple(f"n{number}" for number in range(1, nodes + 1))
    return Topology(
        nodes=names, networks=networks or (HSN,), faults=tuple(faults), share=tuple(share), **wire
    )


def lab_name() -> str:
    return f"test-{os.getpid()}-{next(_NUMBERS)}"


def leftovers(folder: Path) -> list[str]:
    """Everything of the lab in ``folder`` that is still to be seen from outside."""
    found = [f"process {pid}" for pid in find_holders(folder)]
    if folder.exists():
        found.append(f"folder {folder}")
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    return found + [f"mount {line}" for line in mounts.splitlines() if str(folder) in line]


def host_interfaces() -> set[str]:
    return {
        line.split(":")[0].strip()
        for line in Path("/proc/net/dev").read_text(encoding="utf-8").splitlines()[2:]
    }


Build = Callable[..., Lab]


@pytest.fixture
def build(node_program: Path) -> Iterator[Build]:
    """Brings labs up; afterwards takes them down and looks for what is left."""
    interfaces = host_interfaces()
    labs: list[Lab] = []

    def make(*arguments: Any, tied: bool = True, **more: Any) -> Lab:
        lab = up(topology(*arguments, **more), lab_name(), tied=tied)
        labs.append(lab)
        return lab

    yield make
    for lab in labs:
        lab.down()
    assert [left for lab in labs for left in leftovers(lab.folder)] == []
    assert host_interfaces() == interfaces
    ours = f"test-{os.getpid()}-"
    assert [status.name for status in find_labs() if status.name.startswith(ours)] == []


def run(lab: Lab, node: str, *argv: str, **more: object) -> subprocess.CompletedProcess[str]:
    """The command in the node, at most 60 s."""
    environment = {**os.environ, **lab.agent_environment()}
    return subprocess.run(
        lab.exec_argv(node, argv),
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
        **more,
    )  # type: ignore[call-overload, no-any-return]


def say(lab: Lab, node: str, *argv: str) -> str:
    """What the command wrote; it must end well."""
    done = run(lab, node, *argv)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def switch_counters(lab: Lab, node: str, network: str) -> PortCount:
    """Return the switch's count at a node's port: a witness independent of both nodes."""
    status = lab.wire_status()
    assert status is not None, "only a store-and-forward wire counts"
    places = [(where, place.name) for where, place in wire_ports(lab.topology)]
    return status.ports[places.index((node, network))]


def programs_in(lab: Lab, node: str) -> list[str]:
    """Names of the processes that run in the node; one may go while we look."""
    return say(lab, node, "sh", "-c", "cat /proc/[0-9]*/comm 2>/dev/null; true").split()


def stream_rate(
    lab: Lab, sender: str, receiver: str, network: str = "hsn", size: int = 64 << 20
) -> float:
    """Goodput in bytes/s of one TCP stream of ``size`` bytes, timed at the receiver."""
    address = lab.node_address(receiver, network)
    serve = subprocess.Popen(
        lab.exec_argv(receiver, [sys.executable, str(STREAM), "receive", address]),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        port = serve.stdout.readline().strip()
        say(lab, sender, sys.executable, str(STREAM), "send", address, port, str(size))
        return float(serve.stdout.readline())
    finally:
        with contextlib.suppress(ProcessLookupError):
            serve.terminate()
        serve.communicate()


def run_proved(
    argv: Sequence[str], where: Target, *, environment: Mapping[str, str] | None = None, **more: Any
) -> ProvedCommand:
    """The command with its proof; ``environment`` is added to ours."""
    wanted = ProofSpecification(argv=tuple(argv), target=where, **more)
    return prove_command(wanted, environment={**os.environ, **(environment or {})})


def stream_proved(lab: Lab, where: Target, size: int) -> ProvedCommand:
    """One stream of plain sockets from n1 to n2, whose port the shell reads from the server's
    file.
    """
    address = lab.node_address("n2", lab.topology.networks[0].name)
    file = lab.folder / "port"
    serve = (
        "sh",
        "-c",
        'exec "$0" "$1" receive "$2" > "$3"',
        sys.executable,
        str(STREAM),
        address,
        str(file),
    )
    send = 'exec "$0" "$1" send "$2" "$(head -n1 "$3")" "$4"'
    argv = ("sh", "-c", send, sys.executable, str(STREAM), address, str(file), str(size))
    proved = run_proved(argv, where, companions=(Companion("n2", serve),))
    assert proved.exit_status == 0
    return proved


def limited(lab: Lab, sender: str, receiver: str, rate: float, size: int = 64 << 20) -> bool:
    """One of up to five streams is at most 2 % above ``rate`` (bytes/s), and at least a quarter of
    it.

    Another job on this machine slows a stream down; a receiver that wakes late finds bytes that
    waited for it, and seems faster than the link. How near a quiet machine comes to the rate is
    the benchmarks' to say.
    """
    return any(
        0.25 * rate <= stream_rate(lab, sender, receiver, size=size) <= 1.02 * rate
        for _ in range(5)
    )


def best_rate(
    lab: Lab, sender: str, receiver: str, network: str = "hsn", size: int = 16 << 20
) -> float:
    """The best of three streams, to be compared with another of the same lab."""
    return max(stream_rate(lab, sender, receiver, network, size=size) for _ in range(3))


@pytest.fixture
def lab_root(node_program: Path) -> Path:
    return state_root(create=True)
