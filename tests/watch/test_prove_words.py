"""Hosts in a command's words, variables for its launcher, files that it writes, and what is told in
the end.
"""

import json
from pathlib import Path

import msgspec
import pytest

from wireproof.model.errors import BadInput
from wireproof.model.traffic import (
    DirectionTraffic,
    HostTraffic,
    PortTraffic,
    Traffic,
    TrafficVerdict,
)
from wireproof.report.ink import Look
from wireproof.report.json import json_text
from wireproof.report.text import document_text
from wireproof.target import Target, launcher_environment, reach
from wireproof.verdict.catalogue import CATALOGUE
from wireproof.watch.document import proof_document, watched_document
from wireproof.watch.hosts import entered_node, hosts_of_allocation, hosts_of_command
from wireproof.watch.prove import size_of, usual_results, written
from wireproof.watch.verdict.beside import troubles
from wireproof.watch.verdict.carried import reason


def no_file(_path: str) -> str:
    raise FileNotFoundError


@pytest.mark.parametrize(
    ("words", "hosts"),
    [
        ("mpirun -hosts n1,n2 -ppn 1 IMB-P2P PingPong", ("n1", "n2")),
        ("/opt/mpi/bin/mpirun -np 2 --host n1:2,n3:1 osu_bw", ("n1", "n3")),
        ("env A=1 mpiexec --hosts=n[1-3] ./a.out", ("n1", "n2", "n3")),
        ("mpirun -H n1,n1 osu_bw", ("n1",)),
        ("srun -w n[01-02] --ntasks-per-node=1 app", ("n01", "n02")),
        ("mpiexec -host a -n 1 x : -host b -n 1 x", ("a", "b")),
        ("iperf3 -c n2 -H n9", ()),
        ("mpirun -H", ()),
        ("mpirun -H ;rm,-x osu_bw", ()),
        ("mpirun -hostfile /nowhere osu_bw", ()),
        ("mpirun -n 2 osu_bw", ()),
    ],
)
def test_hosts_that_a_launcher_is_told(words: str, hosts: tuple[str, ...]) -> None:
    assert hosts_of_command(words.split(), no_file) == hosts


def test_hosts_in_a_host_file() -> None:
    text = "# ours\nn1 slots=2\nn2:4\n\n;bad;\nn1\n"
    assert hosts_of_command(["mpirun", "--hostfile", "f", "x"], lambda _: text) == ("n1", "n2")


def test_a_command_that_enters_a_node_by_itself() -> None:
    assert entered_node(["/v/bin/wireproof", "lab", "exec", "two", "n2", "ip", "a"]) == (
        "two",
        "n2",
        ("ip", "a"),
    )
    assert entered_node(["python3", "-m", "wireproof", "lab", "exec", "two", "n2", "--", "x"]) == (
        "two",
        "n2",
        ("x",),
    )
    for words in (
        ["wireproof", "lab", "exec", "two", "n2"],
        ["wireproof", "lab", "status"],
        ["osu_bw"],
        ["wireproof"],
    ):
        assert entered_node(words) is None


def test_the_nodes_of_a_job() -> None:
    assert hosts_of_allocation({"SLURM_JOB_NODELIST": "n[01-02],m7"}) == ("n01", "n02", "m7")
    assert hosts_of_allocation({}) == ()
    with pytest.raises(BadInput):
        hosts_of_allocation({"SLURM_JOB_NODELIST": "n[1-"})


def test_how_a_host_is_reached() -> None:
    plain = Target(hosts=("far", "away"), start_on=("far", "away"))
    argv = reach(plain, "far", ["/opt/x y/engine", "watch"])
    assert argv[0] == "ssh"
    assert "BatchMode=yes" in argv
    assert argv[-2:] == ["far", "'/opt/x y/engine' watch"]
    assert reach(plain, "localhost", ["a", "b"]) == ["a", "b"]
    by_agent = Target(hosts=("far", "away"), start_on=("far", "away"), agent="/a/rsh")
    assert reach(by_agent, "far", ["a", "b c"]) == ["/a/rsh", "far", "a", "'b c'"]


def test_a_launcher_is_led_to_the_agent_unless_the_user_leads_it() -> None:
    place = Target(hosts=("a", "b"), start_on=("a", "b"), agent="/a/rsh")
    found = launcher_environment(place, {"HYDRA_LAUNCHER_EXEC": "mine"})
    assert found["I_MPI_HYDRA_BOOTSTRAP_EXEC"] == "/a/rsh"
    assert found["OMPI_MCA_plm_rsh_agent"] == "/a/rsh"
    assert "HYDRA_LAUNCHER_EXEC" not in found
    assert launcher_environment(Target(hosts=("a", "b"), start_on=("a", "b")), {}) == {}


def test_only_what_was_added_to_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "hpccoutf.txt"
    fresh = size_of(file)
    assert written(file, fresh) == b""
    file.write_bytes(b"old\n")
    assert written(file, fresh) == b"old\n"
    later = size_of(file)
    assert written(file, later) == b""
    with file.open("ab") as more:
        more.write(b"new\n")
    assert written(file, later) == b"new\n"
    assert written(tmp_path, size_of(tmp_path)) == b""
    assert usual_results(["mpirun", "/usr/bin/hpcc"], tmp_path) == [file]
    assert usual_results(["mpirun", "osu_bw"], tmp_path) == []


def _told() -> tuple[Traffic, TrafficVerdict]:
    way = DirectionTraffic(bytes=1.2e9, background=5e7, peak_bytes_per_s=1.1e8)
    ports = [
        PortTraffic(
            nic="eth\x1b[31m0",
            kind="ethernet",
            driver="x",
            tx=way,
            rx=DirectionTraffic(bytes=None, trouble="unit"),
        )
    ]
    traffic = Traffic(
        hosts=[
            HostTraffic(
                host="n1",
                seconds=3,
                ports=ports,
                retransmits={"ip/Tcp/RetransSegs": 9},
                tcp_segments=100,
            )
        ],
        seconds=3,
        idle_s=1,
        interval_s=0.1,
    )
    reasons = [reason("traffic-on-wire", "all of it\x1b[2J.", severity="note"), *troubles(traffic)]
    return traffic, TrafficVerdict(
        proof="on-wire", verdict="pass", reasons=reasons, peak_bytes_per_s=1.1e8
    )


def test_an_undecided_proof_says_what_to_do() -> None:
    """Beside another job it named host, port and rate, and left the user there."""
    traffic, judgement = _told()
    why = reason("traffic-background", "x.")
    judgement = msgspec.structs.replace(judgement, verdict="inconclusive", reasons=[why])
    text = document_text(watched_document(0, traffic, judgement), Look(width=160))
    assert CATALOGUE["traffic-background"].next_action in " ".join(text.split())


def test_the_text_names_path_ports_and_reasons_and_no_escape() -> None:
    traffic, judgement = _told()
    text = document_text(watched_document(7, traffic, judgement), Look(width=160))
    assert text.startswith("PASS  path: on-wire; the command ended with status 7")
    assert "1.20 GB" in text
    assert "unknown (unit)" in text
    assert "8.26% of 109 segments" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("duplicates", "overtaken", "code"),
    [(8, 5, "reordering"), (8, 0, "traffic-retransmits"), (1, 5, "traffic-retransmits")],
)
def test_prove_tells_reordering_from_loss_by_the_rule_of_check(
    duplicates: int, overtaken: int, code: str
) -> None:
    """Packets that overtook each other were retransmissions: "loss, or a full buffer"."""
    counters = {
        "ip/Tcp/RetransSegs": 9,
        "ip/TcpExt/TCPDSACKRecv": duplicates,
        "ip/TcpExt/TCPSACKReorder": overtaken,
    }
    host = HostTraffic(host="n1", retransmits=counters, tcp_segments=1_000_000)
    traffic = Traffic(hosts=[host], seconds=3, idle_s=1, interval_s=0.1)
    assert [(one.code, one.severity) for one in troubles(traffic)] == [(code, "note")]


def test_without_a_claimed_link_the_peak_is_held_against_the_ports_own_speed() -> None:
    way = DirectionTraffic(bytes=1e9, peak_bytes_per_s=1e9)
    ports = [
        PortTraffic(nic="eth0", kind="ethernet", driver="x", tx=way, rx=way, speed_bits_per_s=1e10)
    ]
    traffic = Traffic(
        hosts=[HostTraffic(host="n1", ports=ports)], seconds=3, idle_s=1, interval_s=0.1
    )
    judgement = TrafficVerdict(
        proof="on-wire", verdict="pass", reasons=[], port="eth0", peak_bytes_per_s=1e9
    )
    text = document_text(watched_document(0, traffic, judgement))
    assert "The peak is 80 % of the 10 Gb/s that eth0 of n1 reports." in text


def test_the_document_is_one_json_object() -> None:
    traffic, judgement = _told()
    found = json.loads(json_text(proof_document(["osu_bw"], 7, traffic, judgement, []), indent=2))
    assert (found["proof"], found["verdict"], found["exit_status"]) == ("on-wire", "pass", 7)
    assert found["hosts"][0]["ports"][0]["tx"]["bytes"] == 1.2e9
    assert {one["code"] for one in found["reasons"]} == {"traffic-on-wire", "traffic-retransmits"}
