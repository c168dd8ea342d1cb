"""``wireproof judge`` as a user runs it: files, folders, standard input, JSON, and what cannot be
judged.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.cli.verb import wireproof

from wireproof.logs.json import json_schema

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden"
OSU = "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n"


def judge(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    if not stdin:
        done = wireproof("judge", *arguments)
        out, err = done.stdout.encode(), done.stderr.encode()
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)
    argv = [sys.executable, "-m", "wireproof", "judge", *arguments]
    return subprocess.run(argv, input=stdin, capture_output=True, timeout=120, check=False)


def document(*arguments: str, stdin: bytes = b"") -> tuple[int, dict[str, Any]]:
    done = judge(*arguments, "--json", stdin=stdin)
    found = json.loads(done.stdout)
    jsonschema.validate(found, json_schema())
    return done.returncode, found


@pytest.mark.parametrize(
    ("name", "link", "share"),
    [
        ("1gbe_openmpi_osu_put_bw.csv", "1gbe", 0.994),
        ("1gbe_intelmpi_imb_p2p_pingpong.csv", "1gbe", 0.982),
    ],
)
@pytest.mark.parametrize("mtu", [[], ["--mtu", "1500"]])
def test_the_documents_1gbe_tables_pass(name: str, link: str, share: float, mtu: list[str]) -> None:
    status, found = document(str(GOLDEN / name), "--link", link, *mtu)
    (series,) = found["series"]
    assert (status, series["verdict"], series["proof"]) == (0, "pass", "unproven")
    assert series["efficiency"] == pytest.approx(share, abs=0.001)
    assert series["attainable_bytes_per_s"] == pytest.approx(117.7e6, rel=0.001)


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("40gbe_intelmpi_imb_p2p_pingpong.csv", "40gbe"),
        ("opa100_intelmpi_imb_p2p_pingpong.csv", "opa100"),
        ("40gbe_intelmpi_imb_p2p_pingpong.csv", "ethernet:40"),
    ],
)
def test_the_documents_fast_tables_never_crossed_a_wire(name: str, link: str) -> None:
    status, found = document(str(GOLDEN / name), "--link", link)
    (series,) = found["series"]
    assert (status, series["verdict"], series["proof"]) == (1, "fail", "off-wire")
    assert (
        len({reason["code"] for reason in series["reasons"] if reason["severity"] == "fail"}) >= 3
    )
    text = judge(str(GOLDEN / name), "--link", link).stdout.decode()
    assert "networks" not in text
    assert "tun" not in text


def test_the_outlier_is_noted() -> None:
    _, found = document(str(GOLDEN / "1gbe_intelmpi_imb_p2p_pingpong.csv"), "--link", "1gbe")
    messages = [reason["message"] for reason in found["series"][0]["reasons"]]
    assert any("128 B" in message and "88.67" in message for message in messages)


def test_without_a_link_the_links_that_fit_are_named() -> None:
    status, found = document(str(GOLDEN / "1gbe_intelmpi_imb_p2p_pingpong.csv"))
    (series,) = found["series"]
    assert (status, series["verdict"]) == (3, "inconclusive")
    assert "1gbe" in series["explained_by"]
    status, found = document(str(GOLDEN / "opa100_intelmpi_imb_p2p_pingpong.csv"))
    assert (status, found["series"][0]["proof"]) == (1, "off-wire")


def test_standard_input() -> None:
    status, found = document(
        "-", "--link", "10gbe", stdin=(OSU + "8 24.0\n16 24.1\n32 24.3\n").encode()
    )
    assert found["series"][0]["source"] == "standard input"
    assert status in (0, 3)


def test_bad_files_are_named_and_the_others_judged(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 100)
    (tmp_path / "prose.txt").write_text("Dear all, the fabric is fine.\n")
    names = [str(tmp_path / name) for name in ("empty", "binary", "prose.txt", "absent")]
    status, found = document(*names, str(GOLDEN / "1gbe_openmpi_osu_put_bw.csv"), "--link", "1gbe")
    assert status == 2
    assert [Path(error["file"]).name for error in found["errors"]] == [
        "empty",
        "binary",
        "prose.txt",
        "absent",
    ]
    assert [series["verdict"] for series in found["series"]] == ["pass"]


def test_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"job{number}.out").write_text(
            OSU + f"8 {24 + number}.00\n16 {25 + number}.00\n"
        )
    status, found = document(str(tmp_path), "--link", "1gbe", "--jobs", "2")
    assert status in (0, 3)
    times = [series["points"][0]["hrt_ns"] for series in found["series"]]
    assert sorted(times) == [pytest.approx(1e3 * (24 + number)) for number in range(40)]
    text = judge(str(tmp_path), "--link", "1gbe").stdout.decode()
    assert "40 series in 40 files" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--link", "10gbe:100"], "10gbe"),
        (["--link", "infinband:100"], "infiniband"),
        (["--link", "10gb"], "10gbe"),
        (["--mtu", "9000"], "--link"),
        (["--link", "edr", "--pcie", "gen9x3"], "PCIe"),
    ],
)
def test_claims_that_cannot_be_are_refused(arguments: list[str], words: str) -> None:
    done = judge(str(GOLDEN / "1gbe_openmpi_osu_put_bw.csv"), *arguments)
    assert done.returncode == 2
    assert words in done.stderr.decode()
    assert done.stdout == b""


def test_hostile_names_do_not_reach_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "a\x1b]0;x\x07\u202egol.txt"
    file.write_text(OSU + "8 24.0\n16 25.0\n")
    for arguments in ([str(file)], [str(file), "--json"], [str(tmp_path / "no\x1b[31m")]):
        done = judge(*arguments)
        assert b"\x1b" not in done.stdout + done.stderr
        assert "\u202e" not in (done.stdout + done.stderr).decode()


def test_a_cut_log_is_inconclusive(tmp_path: Path) -> None:
    data = (GOLDEN / "1gbe_openmpi_osu_put_bw.csv").read_bytes()[:-4]
    (tmp_path / "cut.csv").write_bytes(data)
    status, found = document(str(tmp_path / "cut.csv"), "--link", "1gbe")
    assert (status, found["series"][0]["verdict"], found["series"][0]["complete"]) == (
        3,
        "inconclusive",
        False,
    )


def test_what_is_no_log_in_a_folder_is_skipped_and_a_log_without_a_result_is_not(
    tmp_path: Path,
) -> None:
    log = "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n1  1.50\n2  1.51\n4  1.52\n"
    (tmp_path / "latency.out").write_text(log)
    (tmp_path / "README.md").write_text("# how it was measured\n")
    (tmp_path / "rack.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(4096))
    done = judge(str(tmp_path), "--link", "edr")
    assert done.returncode != 2
    assert done.stdout.splitlines()[0].endswith(b"; 2 files skipped: not a log")
    (tmp_path / "dead.out").write_text("srun: error: node n7 is down\n")
    assert judge(str(tmp_path), "--link", "edr").returncode == 2
    for name in ("latency.out", "dead.out"):
        (tmp_path / name).unlink()
    done = judge(str(tmp_path))
    assert done.returncode == 2
    assert b"nothing was judged; `wireproof report`" in done.stderr
    assert judge(str(tmp_path / "README.md")).returncode == 2


def test_the_first_line_is_the_answer_and_the_worst_series_come_first(tmp_path: Path) -> None:
    table = "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n"
    for index in range(20):
        (tmp_path / f"{index:02}.out").write_text(f"{table}1  1.50\n2  1.51\n4  1.52\n")
    (tmp_path / "last.out").write_text(f"{table}1  0.20\n2  0.21\n4  0.22\n")
    lines = judge(str(tmp_path), "--link", "edr").stdout.decode().splitlines()
    assert lines[0].startswith("FAIL  21 series in 21 files: ")
    assert lines[1].startswith("FAIL")
    assert "below-any-nic" in lines[1]
    alone = judge(str(tmp_path / "last.out"), "--link", "edr").stdout.decode().splitlines()
    assert alone[0].startswith("FAIL  0.2")
    assert alone[0].endswith("0.6 us")
    assert any(line.strip().startswith("next: ") for line in alone)
