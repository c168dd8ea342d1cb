"""The real PSM3 of Intel MPI over the kernel's sockets, between nodes of a lab: its own counters
and those of the ports are two witnesses.
"""

from pathlib import Path

import pytest
from tests.lab.conftest import Build, run_proved
from tests.lab.test_prove_lab import intel, place

from wireproof.model.topology import Network
from wireproof.watch.prove import ProvedCommand

pytestmark = [pytest.mark.netns, pytest.mark.engine, pytest.mark.intelmpi]

FIRST = Network(name="one", device="eth0", rate="5gbit", subnet="10.10.1.0/24")
SECOND = Network(name="two", device="hsn0", rate="5gbit", subnet="10.20.1.0/24")


def measured(build: Build, hosts: str, **settings: str) -> ProvedCommand:
    _, environment = intel()
    lab = build(2, FIRST, SECOND)
    argv = f"mpiexec -hosts {hosts} -n 2 IMB-MPI1 Uniband -msglog 16:18 -iter 20 -time 1".split()
    environment |= {"FI_PROVIDER": "psm3", "PSM3_HAL": "sockets", "I_MPI_FABRICS": "ofi"}
    return run_proved(
        argv, place(lab, nic="hsn0"), environment={**environment, **settings}, psm_statistics=True
    )


def test_both_witnesses_agree_on_two_rails(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    proved = measured(build, "n1,n2 -ppn 1", PSM3_MULTIRAIL="1")
    assert proved.exit_status == 0, proved.output
    found = proved.statistics
    assert (found.proof, found.verdict, found.ranks) == ("on-wire", "pass", 2)
    sent = {nic.name: nic.sent_bytes for nic in found.hosts[0].nics}
    assert sent["eth0"] == pytest.approx(sent["hsn0"], rel=0.01)
    agreed = {one.subject for one in found.findings if one.code == "psm-port-agrees"}
    assert {"n1 eth0 tx", "n1 hsn0 tx", "n2 eth0 rx", "n2 hsn0 rx"} <= agreed
    assert list(tmp_path.iterdir()) == []  # the folder held every rank's environment


def test_shared_memory_is_what_the_library_says(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    proved = measured(build, "n1 -ppn 2", PSM3_NIC="hsn0")
    found = proved.statistics
    assert (found.proof, found.verdict) == ("off-wire", "fail")
    assert proved.verdict == "fail"
    assert [one.code for one in found.findings] == ["psm-shared-memory"]
