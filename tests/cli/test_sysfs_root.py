"""`--sysfs-root` and the reader's `--prefix`: the witness where a container hides the machine's own
files.
"""

import json
import sys
from pathlib import Path

import pytest
from tests.cli.verb import document, one_sentence, wireproof

pytestmark = pytest.mark.engine


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """An EFA adapter (an RDMA port without an interface) and one plain interface."""
    files = {
        "proc/sys/kernel/random/boot_id": "11111111-2222-3333-4444-555555555555",
        "netns": "4026531999",
        "etc/hostname": "trn1",
        "sys/class/net/ens32/ifindex": "2",
        "sys/class/net/ens32/type": "1",
        "sys/class/net/ens32/statistics/tx_bytes": "1000",
        "sys/class/infiniband/rdmap0/ports/1/state": "4: ACTIVE",
        "sys/class/infiniband/rdmap0/ports/1/hw_counters/tx_bytes": "7",
        "sys/devices/pci0000:00/0000:00:1d.0/numa_node": "0",
        "sys/bus/pci/drivers/efa/bind": "",
    }
    for name, text in files.items():
        file = tmp_path / "n1" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")
    root = tmp_path / "n1"
    (root / "sys/class/infiniband/rdmap0/device").symlink_to("/sys/devices/pci0000:00/0000:00:1d.0")
    (root / "sys/devices/pci0000:00/0000:00:1d.0/driver").symlink_to("/sys/bus/pci/drivers/efa")
    return root


def test_measure_reads_below_the_root(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = wireproof(
        *("measure", "pingpong", "--transport", "model", "--sizes", "8", "--sysfs-root", tree),
        *("--out", out, "--json"),
    )
    assert done.returncode in (0, 3), done.stderr
    frames = [json.loads(line) for line in next(out.rglob("frames.jsonl")).read_text().splitlines()]
    host = next(frame for frame in frames if frame["frame"] == "host")
    assert (host["hostname"], host["netns"]) == ("trn1", 4026531999)
    assert [nic["name"] for nic in host["nics"]] == ["ens32", "rdmap0:1"]
    assert host["nics"][1]["rdma"]["driver"] == "efa"
    total = next(frame for frame in frames if frame["frame"] == "total")
    assert total["counters"]["ib/rdmap0/1/hw_counters/tx_bytes"] == [7, 7]


def test_prove_reads_below_the_root_of_each_host(tree: Path) -> None:
    root = tree.parent / "{host}"
    done = wireproof("prove", "--hosts", "localhost", "--sysfs-root", root, "--json", "--", "true")
    assert "is not a folder" in one_sentence(done), done.stderr
    tree.rename(tree.parent / "localhost")
    done = wireproof("prove", "--hosts", "localhost", "--sysfs-root", root, "--json", "--", "true")
    assert {port["nic"] for port in document(done)["hosts"][0]["ports"]} >= {"ens32"}


def test_the_reader_is_started_through_the_prefix(tree: Path, tmp_path: Path) -> None:
    program = tmp_path / "enter"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\nexec "$@"\n')
    program.chmod(0o755)
    done = wireproof(
        "prove", "--prefix", f"{program} env A=1", "--json", "--", sys.executable, "-c", "print(1)"
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "words").read_text().startswith("env A=1 /")
    assert document(done)["hosts"][0]["ports"]
