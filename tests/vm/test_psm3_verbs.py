"""PSM3 over verbs: soft-RoCE between two virtual machines, with Intel MPI's build of it. Its modes,
QPs, memory and counters, compared with the formula of ``plan footprint`` and the port's counters.

Everything is emulated: rates mean nothing here and none is asserted.
"""

import dataclasses
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.verb import wireproof
from tests.processes import ran
from tests.vm.machine import NAMES, Machines, booted
from tests.vm.test_soft_roce import counters, rise

from wireproof.logs.psm3.counters import counted
from wireproof.logs.psm3.identify import readback
from wireproof.logs.psm3.statistics import statistics
from wireproof.logs.psm3.verdict import judge_statistics
from wireproof.model.psm3 import Statistics

pytestmark = [
    pytest.mark.vm,
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.intelmpi,
    pytest.mark.timeout(400),
]

SENDS, RECEIVES, PACKET = 4080, 4095, 4096
"""PSM3's defaults, and the payload of a RoCE packet at MTU 9000."""
WATCH = (
    "(timeout 150 sh -c 'while :; do rdma resource show qp; rdma resource show mr; echo =;"
    " sleep 0.4; done' >/tmp/seen 2>/dev/null </dev/null &)"
)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """One run of two ranks. ``resources``: a reading of ``rdma resource`` on v1 of the kind that is
    seen most often while the program has QPs: in mode 3 one more is there for a moment.
    """

    printed: str
    resources: str
    files: list[Statistics]
    texts: list[str]
    moved: dict[str, int]

    @property
    def qps(self) -> list[str]:
        """The kinds of the program's QPs."""
        return kinds(self.resources)


def kinds(resources: str) -> list[str]:
    lines = [line for line in resources.splitlines() if " lqpn " in line and "IMB" in line]
    return sorted(re.findall(r" type (\w+) ", line)[0] for line in lines)


def usual(readings: list[str]) -> str:
    """The last of the readings whose QPs were seen most often."""
    seen = [tuple(kinds(one)) for one in readings]
    (most, _), *_ = Counter(one for one in seen if one).most_common(1)
    return next(one for one in reversed(readings) if tuple(kinds(one)) == most)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """Machines of our own: they live for seven minutes at most."""
    with booted(tmp_path_factory.mktemp("psm3")) as found:
        yield found


def measured(machines: Machines, root: Path, mode: str) -> Outcome:
    """IMB's ping-pong by PSM3 in ``PSM3_RDMA=mode``, started from here."""
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(root / "lib"),
        "I_MPI_ROOT": str(root),
        "I_MPI_FABRICS": "ofi",
        "I_MPI_PIN": "0",
        "I_MPI_HYDRA_BOOTSTRAP": "ssh",
        "I_MPI_HYDRA_BOOTSTRAP_EXEC": machines.agent,
        "FI_PROVIDER": "psm3",
        "PSM3_HAL": "verbs",
        "PSM3_RDMA": mode,
        "PSM3_IDENTIFY": "1",
        "PSM3_VERBOSE_ENV": "2",
        "PSM3_PRINT_STATS": "-1",
        "PSM3_PRINT_STATS_PREFIX": f"/tmp/m{mode}-",
    }
    program = str(root / "bin" / "IMB-MPI1")
    argv = [str(root / "bin" / "mpiexec.hydra"), "-hosts", ",".join(NAMES), "-ppn", "1", "-n", "2"]
    argv += [program, "PingPong", "-iter", "8", "-msglog", "3:18"]
    before = counters(machines, "v1")
    machines.say("v1", WATCH)
    done = ran(argv, env=environment, timeout=240)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    moved = rise(before, counters(machines, "v1"))
    texts = [machines.say(name, f"cat /tmp/m{mode}-*") for name in NAMES]
    readings = machines.say("v1", "cat /tmp/seen").split("\n=\n")
    return Outcome(
        printed=done.stdout + done.stderr,
        resources=usual(readings),
        files=[statistics(text.encode(), name) for name, text in zip(NAMES, texts, strict=True)],
        texts=texts,
        moved=moved,
    )


def footprint(mode: str, resources: str, tmp_path: Path) -> dict[str, object]:
    """What ``plan footprint`` says of the one pair of nodes, beside what was seen."""
    seen = tmp_path / "resources"
    seen.write_text(resources, encoding="utf-8")
    words = ["--nodes", "2", "--ppn", "1", "--mode", mode, "--node-pairs", "1", "--json"]
    done = wireproof("plan", "footprint", *words, "--observed", str(seen))
    assert done.stdout, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("mode", "in_force", "qps", "rdma"),
    [
        ("0", {"0"}, ["UD"], False),
        ("1", {"0"}, ["UD"], False),  # not in this build: it says so once, and runs as mode 0
        ("2", {"0x2"}, ["RC", "UD"], True),
        ("3", {"0x3"}, ["RC", "UD"], True),
    ],
)
def test_each_mode_by_what_it_does(
    pair: Machines,
    impi_root: Path,
    tmp_path: Path,
    mode: str,
    in_force: set[str],
    qps: list[str],
    rdma: bool,
) -> None:
    found = measured(pair, impi_root, mode)
    seen = readback(found.printed, found.texts)
    assert {one.value for one in seen if one.setting == "PSM3_RDMA"} == in_force
    assert {one.value for one in seen if one.setting == "PSM3_HAL"} == {"verbs"}
    judged = judge_statistics(found.files, wire=True)
    lost = "psm-rdma-not-in-use" in {one.code for one in judged.findings}
    assert lost == (mode == "1")
    (nic,) = counted(found.files[0]).nics
    assert (nic.name, nic.rdma_bytes > 0) == ("rxe0", rdma)
    # the port and its device are witnesses of the library's bytes
    assert found.moved["eth0/tx_bytes"] > nic.sent_bytes > 1 << 20
    assert found.moved["hw_counters/sent_pkts"] >= nic.sent_bytes // PACKET
    assert found.qps == qps
    if mode == "0":
        pinned = [int(size) for size in re.findall(r" mrlen (\d+) ", found.resources + " ")]
        assert sum(pinned) == SENDS * PACKET + RECEIVES * (PACKET + 64)
    planned = json.dumps(footprint(f"psm3-rdma{mode}", found.resources, tmp_path))
    assert ("fewer" in planned) == (mode == "1"), planned[-1500:]
