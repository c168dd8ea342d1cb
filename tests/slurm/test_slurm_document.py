"""The mini-cluster document's own batch scripts in a real Slurm: as printed, with one letter put
right, and corrected.

Only what surrounds them is ours: /opt in the nodes (vars.sh of Intel MPI, an IMB-P2P that is told
fewer repetitions), and $HOME with a stand-in for osu_put_bw: the engine's ``put`` by OSU's formula,
because OSU is not packaged.
"""

import dataclasses
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.slurm.labs import MGMT, MIB

from wireproof.instrument.plan_text import write_plan
from wireproof.lab.cluster import Lab, up
from wireproof.lab.slurm import LabSlurm, Partition, slurm_up
from wireproof.launch.engines import find_engine
from wireproof.model.frames import FrameReader
from wireproof.model.plan import Plan, Point, Policy, RankPlace, Transport
from wireproof.model.record import PointRecord
from wireproof.model.topology import Network, Topology

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.engine,
    pytest.mark.intelmpi,
    pytest.mark.openmpi,
    pytest.mark.slow,
]
DOCUMENT = Path(__file__).parent / "document"
FAST = Network(name="hsn", device="hsn0", rate="10gbit", mtu=9000, subnet="10.20.1.0/24")
SHORTER = ("-iter", "200,8")
OSU = "osu_benchmarks/libexec/osu-micro-benchmarks/mpi/one-sided/osu_put_bw"


@dataclasses.dataclass(frozen=True)
class Printed:
    """What a job left: exit status, output and error text, bytes sent by c1 and c2 on eth0 and
    hsn0.
    """

    status: int
    out: str
    error: str
    eth0: int
    hsn0: int


@dataclasses.dataclass(frozen=True)
class Site:
    lab: Lab
    slurm: LabSlurm
    work: Path

    def sent(self, device: str) -> int:
        return sum(self.lab.counters(node, device)["tx_bytes"] for node in self.lab.nodes)

    def submit(self, script: str, name: str, **extra: str) -> Printed:
        """Run the text as a batch job; ``name``: of its output files."""
        for old in self.work.glob("*perf_test*"):
            old.unlink()
        file = self.work / "job.sh"
        file.write_text(script, encoding="utf-8")
        before = self.sent("eth0"), self.sent("hsn0")
        around = {
            "HOME": str(self.work / "home"),
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }
        done = self.slurm.run(
            ["sbatch", "--parsable", str(file)], cwd=self.work, extra={**around, **extra}
        )
        job, until = done.stdout.strip(), time.monotonic() + 120
        while (
            self.slurm.run(["squeue", "-h", "-j", job]).stdout.strip() and time.monotonic() < until
        ):
            time.sleep(0.3)  # sbatch --wait asks less and less often
        shown = self.slurm.run(["scontrol", "show", "job", job]).stdout
        status = int(shown.partition("ExitCode=")[2].partition(":")[0])
        texts = [
            (self.work / f"{name}.{ending}").read_text(encoding="utf-8")
            for ending in ("out", "err")
        ]
        after = self.sent("eth0"), self.sent("hsn0")
        return Printed(status, *texts, after[0] - before[0], after[1] - before[1])


def put_plan() -> str:
    points = tuple(
        Point(
            id=number,
            pattern="put",
            form="stream",
            message_bytes=size,
            pairs=((0, 1),),
            formula="osu",
            iterations=20,
        )
        for number, size in enumerate((4096, 65536, MIB))
    )
    ranks = (RankPlace(index=0, host="c1"), RankPlace(index=1, host="c2"))
    return write_plan(
        Plan(
            run_id="osu",
            seed=1,
            transport=Transport(kind="mpi"),
            ranks=ranks,
            points=points,
            policy=Policy(yield_=1),
        )
    )


def furnish(work: Path, impi: Path) -> None:
    """/opt/intel as the document has it, and the home folder with osu_put_bw."""
    latest = work / "opt" / "intel" / "oneapi" / "mpi" / "latest"
    (latest / "env").mkdir(parents=True)
    (latest / "bin").mkdir()
    (latest / "env" / "vars.sh").write_text(
        f"export I_MPI_ROOT={impi} PATH=/opt/intel/oneapi/mpi/latest/bin:{impi}/bin:$PATH"
        f" LD_LIBRARY_PATH={impi}/lib\n",
        encoding="ascii",
    )
    imb, osu = latest / "bin" / "IMB-P2P", work / "home" / OSU
    osu.parent.mkdir(parents=True)
    (work / "put.plan").write_text(put_plan(), encoding="utf-8")
    imb.write_text(
        f'#!/bin/sh\nexec {impi}/bin/IMB-P2P "$@" {" ".join(SHORTER)}\n', encoding="ascii"
    )
    osu.write_text(
        f"#!/bin/sh\nexec {find_engine('openmpi')} run --plan {work}/put.plan\n", encoding="ascii"
    )
    for program in (imb, osu):
        program.chmod(0o755)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, impi_root: Path) -> Iterator[Site]:
    """Two nodes, 1 Gb/s and 10 Gb/s; jobs get whole nodes, as in OpenHPC's slurm.conf."""
    work = tmp_path_factory.mktemp("document")
    furnish(work, impi_root.resolve())
    topology = Topology(nodes=("c1", "c2"), networks=(MGMT, FAST))
    with (
        up(topology, f"document-{os.getpid()}", tied=True) as lab,
        slurm_up(lab, partitions=(Partition(name="normal", whole=True),), cpus=4) as slurm,
    ):
        for node in lab.nodes:  # a node's mounts are its own
            mounted = slurm.run(["mount", "--bind", str(work / "opt"), "/opt"], node)
            assert mounted.returncode == 0, mounted.stderr
        yield Site(lab, slurm, work)


def printed(name: str) -> str:
    return (DOCUMENT / f"{name}-as-printed.sh").read_text(encoding="utf-8")


def with_login_shell(name: str) -> str:
    """The script with its ``-I`` read as ``-l``."""
    return printed(name).replace("#!/bin/bash -I", "#!/bin/bash -l")


def megabytes_per_s(out: str) -> float:
    """IMB's own figure at 4 MiB."""
    (row,) = [line.split() for line in out.splitlines() if line.split()[:1] == ["4194304"]]
    return float(row[3])


@pytest.mark.parametrize(
    ("name", "files"),
    [("osu", "osu_perf_test"), ("imb", "imb_perf_test"), ("opa", "imb_perf_test-opa")],
)
def test_as_printed_nothing_runs(site: Site, name: str, files: str) -> None:
    ended = site.submit(printed(name), files)
    assert ended.status == 2
    assert "/bin/bash: -I: invalid option" in ended.error
    assert ended.out == ""
    assert ended.eth0 < MIB > ended.hsn0


def test_the_put_script_starts_no_program_and_then_a_single_one(site: Site) -> None:
    ended = site.submit(with_login_shell("osu"), "osu_perf_test")
    assert ended.status != 0
    assert "No executable was specified on the mpirun command line" in ended.error
    assert ended.eth0 < MIB > ended.hsn0


def test_the_put_script_corrected_uses_the_network_that_it_names(site: Site) -> None:
    text = (DOCUMENT / "osu-corrected.sh").read_text(encoding="utf-8")
    ended = site.submit(text, "osu_perf_test")
    assert ended.status == 0, ended.error
    points = [
        frame
        for _, frame in FrameReader().feed(ended.out.encode())
        if isinstance(frame, PointRecord)
    ]
    assert len(points) == 3
    payload = sum(pair.payload_forward_bytes for point in points for pair in point.pairs)
    assert payload < ended.eth0 < 1.2 * payload + MIB
    assert ended.hsn0 < MIB


def test_the_pingpong_script_does_not_say_which_network(site: Site) -> None:
    """The document uses this one script for its 1 GbE table and for its 40 GbE table."""
    ended = site.submit(with_login_shell("imb"), "imb_perf_test")
    assert ended.status == 0, ended.error
    assert "FI_" not in with_login_shell("imb")
    assert ended.hsn0 > 20 * MIB > ended.eth0  # Intel MPI's own choice here
    assert megabytes_per_s(ended.out) > 0


def test_without_a_placement_both_ranks_are_on_one_node_and_the_table_looks_fine(
    site: Site,
) -> None:
    """What -ppn is for: an older Intel MPI passes it over in a Slurm job; this one counts it, so it
    is left out.
    """
    ended = site.submit(with_login_shell("imb").replace(" -ppn 1", ""), "imb_perf_test")
    assert ended.status == 0, ended.error
    assert ended.eth0 < MIB > ended.hsn0
    assert megabytes_per_s(ended.out) > 0


@pytest.mark.parametrize(
    ("nic", "other", "most"), [("eth0", "hsn0", 125.0), ("hsn0", "eth0", 1250.0)]
)
def test_the_pingpong_script_corrected_uses_the_network_that_it_names(
    site: Site, nic: str, other: str, most: float
) -> None:
    text = (DOCUMENT / "imb-corrected.sh").read_text(encoding="utf-8")
    ended = site.submit(text, "imb_perf_test", NIC=nic)
    assert ended.status == 0, ended.error
    assert getattr(ended, nic) > 20 * MIB > getattr(ended, other)
    assert 0 < megabytes_per_s(ended.out) < most


def test_the_omni_path_script_runs_over_ethernet_and_says_so_only_in_passing(site: Site) -> None:
    ended = site.submit(with_login_shell("opa"), "imb_perf_test-opa")
    assert ended.status == 0, ended.error
    assert "shm:tmi fabric is unknown or has been removed from the product" in ended.out
    assert "I_MPI_TMI_PROVIDER variable has been removed" in ended.out
    assert ended.hsn0 > 20 * MIB
    assert megabytes_per_s(ended.out) > 0


def test_the_omni_path_script_corrected_fails_without_omni_path(site: Site) -> None:
    text = (DOCUMENT / "opa-corrected.sh").read_text(encoding="utf-8")
    ended = site.submit(text, "imb_perf_test-opa")
    assert ended.status != 0
    assert "4194304" not in ended.out
    assert ended.eth0 < MIB > ended.hsn0
