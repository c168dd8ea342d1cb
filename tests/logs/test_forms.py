"""Tables in forms that no program prints and that people keep: CSV, columns side by side, several
hosts or runs in one file.
"""

from __future__ import annotations

import bz2
import gzip
import html
import json
import lzma
import quopri
import re
from collections.abc import Callable

import pytest
from tests.logs.tables import codes

from wireproof.logs.readers import read
from wireproof.logs.readers.page import streams
from wireproof.logs.verdict import judge_log
from wireproof.model.errors import BadInput, NoResult
from wireproof.model.series import Series
from wireproof.physics import claim_from_text

IMB_HEAD = "# Benchmarking PingPong\n# #processes = 2\n"
ROWS = (("0", "1000", "1.20", "0.00"), ("1", "1000", "1.21", "0.83"), ("2", "1000", "1.25", "1.60"))
NAMES = ("#bytes", "#repetitions", "t[usec]", "Mbytes/sec")


def times(one: Series) -> list[tuple[int, float | None]]:
    return [(point.message_bytes, point.hrt_ns) for point in one.points]


def joined(between: str, rows: tuple[tuple[str, ...], ...]) -> str:
    return "".join(between.join(row) + "\n" for row in rows)


@pytest.mark.parametrize("between", [",", ", ", ";", "  "])
@pytest.mark.parametrize("heading", [",", ";", "   "])
def test_imb_rows_as_csv_are_rows(between: str, heading: str) -> None:
    text = IMB_HEAD + heading.join(NAMES) + "\n" + joined(between, ROWS)
    (one,) = read(text.encode(), "x")
    assert (one.tool, one.benchmark, one.complete) == ("imb", "PingPong", True)
    assert times(one) == [(0, 1200), (1, 1210), (2, 1250)]


def test_semicolons_leave_the_comma_to_the_decimals() -> None:
    rows = tuple(tuple(word.replace(".", ",") for word in row) for row in ROWS)
    (one,) = read((IMB_HEAD + ";".join(NAMES) + "\n" + joined(";", rows)).encode(), "x")
    assert times(one) == [(0, 1200), (1, 1210), (2, 1250)]


def test_osu_rows_as_csv_are_rows() -> None:
    text = "# OSU MPI Latency Test v7.4\n# Size,Latency (us)\n1,1.20\n2,1.21\n"
    (one,) = read(text.encode(), "x")
    assert times(one) == [(1, 1200), (2, 1210)]


@pytest.mark.parametrize("between", [",", " "])
def test_a_table_that_r_has_written(between: str) -> None:
    names = ['"X.bytes"', '"X.repetitions"', '"t.usec."', '"Mbytes.sec"']
    heading = between.join((['""'] if between == "," else []) + names)
    rows = tuple((f'"{at}"', *row) for at, row in enumerate(ROWS, 1))
    (one,) = read((heading + "\n" + joined(between, rows)).encode(), "imb_pingpong.csv")
    assert (one.benchmark, times(one)) == ("PingPong", [(0, 1200), (1, 1210), (2, 1250)])


SIDE_BY_SIDE = (
    "| Size | Open MPI (us) | MPICH (us) |\n|---|---|---|\n| 8 | 1.2 | 90 |\n| 16 | 1.3 | 91 |\n",
    "size,latency_us,latency_us\n8,1.2,90\n16,1.3,91\n",
    "size  openmpi_latency_us  mpich_latency_us\n8 1.2 90\n16 1.3 91\n",
    "Size    Latency(us)    Latency(us)\n8 1.2 90\n16 1.3 91\n",
    "| Size | Latency (us) | Size | Latency (us) |\n| 8 | 1.2 | 8 | 90 |\n| 16 | 1.3 | 16 | 91 |\n",
)


@pytest.mark.parametrize("text", SIDE_BY_SIDE)
def test_no_column_takes_the_place_of_another(text: str) -> None:
    first, second = read(text.encode(), "x")
    assert times(first) == [(8, 1200), (16, 1300)]
    assert times(second) == [(8, 90_000), (16, 91_000)]
    found = judge_log([first, second], claim_from_text("edr"))
    assert "slow-start" in codes(found[1]), "the slow one is not dropped"


def test_a_bandwidth_of_a_pingpong_is_one_of_a_pingpong() -> None:
    text = "#bytes  Mbytes/sec (PingPong)  Mbytes/sec (Sendrecv)\n65536 5000 9000\n"
    first, second = read(text.encode(), "x")
    assert (first.benchmark, first.traffic, first.waits) == ("PingPong", "pingpong", True)
    assert (second.benchmark, second.traffic) == ("Sendrecv", "exchange")


def test_what_is_made_of_many_measurements_is_no_other_program() -> None:
    text = "size,latency_us,min_us,p99_us,stdev_us\n8,1.2,1.1,3.0,0.2\n16,1.3,1.2,3.1,0.2\n"
    (one,) = read(text.encode(), "x")
    assert times(one) == [(8, 1200), (16, 1300)]
    assert one.points[0].values == {"min_us": 1.1, "p99_us": 3.0, "stdev_us": 0.2}


HEADS = ("# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n", "Size Latency(us)\n")


@pytest.mark.parametrize("head", HEADS)
def test_rows_of_a_second_run_are_not_merged_into_the_first(head: str) -> None:
    first, second = "1 1.20\n2 1.30\n4 1.30\n8 1.40\n", "1 11000\n2 12000\n4 12000\n8 12000\n"
    one, other = read((head + first + second).encode(), "x")
    assert times(one) == [(1, 1200), (2, 1300), (4, 1300), (8, 1400)]
    assert one.complete
    assert not other.complete
    assert "sizes start again without a heading" in other.incomplete
    judged = judge_log([one, other], claim_from_text("edr"))
    assert [found.verdict for found in judged] == ["pass", "inconclusive"]


@pytest.mark.parametrize("marks", [("#bytes", "#iterations"), ("#bytes", "iterations"),
                                   ("bytes", "iterations")])  # fmt: skip
def test_perftest_without_the_marks_of_its_heading(marks: tuple[str, str]) -> None:
    text = (
        f" {marks[0]}     {marks[1]}    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
        + "".join(f" {1 << n}  5000  {n}.00  {n}.00  0.17\n" for n in range(12, 20))
    )
    (one,) = read(text.encode(), "x")
    assert (one.tool, len(one.points)) == ("perftest", 8)


def test_one_host_is_seen_behind_a_hosts_name_and_a_list_mark() -> None:
    text = (
        "Connecting to host 10.0.0.1, port 5201\n"
        "[  5] local 10.0.0.1 port 40000 connected to 10.0.0.1 port 5201\n"
        "[ ID] Interval           Transfer     Bitrate         Retr\n"
        "[  5]   0.00-10.00  sec  1.10 GBytes   941 Mbits/sec    0             sender\n"
        "[  5]   0.00-10.00  sec  1.10 GBytes   941 Mbits/sec                  receiver\n"
        "iperf Done.\n"
    )
    for mark in ("", "node01: ", "- ", "  - ", "0: ", "[node01] out: "):
        lines = "".join(mark + line + "\n" for line in text.splitlines())
        (found,) = judge_log(read(lines.encode(), "x"), claim_from_text("1gbe"))
        assert (found.proof, found.verdict) == ("off-wire", "fail"), mark
        assert "one-host" in codes(found), mark


def test_a_line_number_is_that_of_the_file() -> None:
    heads = [
        f"cn{at}: # OSU MPI Latency Test v5.8\ncn{at}: # Size  Latency (us)\n" for at in (1, 2)
    ]
    rows = "".join(f"cn{at}: {size} 1.{size}0\n" for size in (1, 2, 4) for at in (2, 1))
    first, second = read(("".join(heads) + rows).encode(), "x")
    assert [point.line for point in first.points] == [6, 8, 10]
    assert [point.line for point in second.points] == [5, 7, 9]
    assert first.notes == ["printed by cn1"]


P2P = "".join(
    f"{1 << n}\t100000\t{0.3 + (1 << n) / 9000:.2f}\t{(1 << n) / (0.3 + (1 << n) / 9000):.2f}"
    f"\t{1e6 / (0.3 + (1 << n) / 9000):.0f}\n"
    for n in range(23)
)


def test_rows_without_a_heading_are_read_by_their_arithmetic() -> None:
    (one,) = read(b"enchmar\tking PingPor\tng\n0\t\t\t\t5050899\n" + P2P.encode(), "x")
    assert (one.tool, one.benchmark, len(one.points)) == ("imb", "PingPong", 23)
    assert "1 row torn" in one.incomplete
    (found,) = judge_log([one], claim_from_text("opa100"))
    assert (found.proof, found.verdict) == ("off-wire", "fail")


@pytest.mark.parametrize(
    ("command", "benchmark", "field", "value"),
    [
        ("mpirun -np 2 ./osu_latency", "osu_latency", "hrt_ns", 1250),
        ("srun osu_bw -m 1:8", "osu_bw", "goodput_bytes_per_s", 1.25e6),
        ("$ osu_put_latency", "osu_put_latency", "time_ns", 1250),
    ],
)
def test_a_command_line_names_the_rows_below_it(
    command: str, benchmark: str, field: str, value: float
) -> None:
    (one,) = read(f"{command}\n1 1.22\n2 1.23\n4 1.24\n8 1.25\n".encode(), "x")
    assert (one.tool, one.benchmark) == ("osu", benchmark)
    assert getattr(one.points[-1], field) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "1 1.22\n2 1.23\n4 1.24\n8 1.25\n",
        "mpirun osu_mbw_mr\n1 1.22\n2 1.23\n4 1.24\n8 1.25\n",  # its rows have a rate
        "1 1000 1.2 9.9\n2 1000 1.3 9.9\n4 1000 1.4 9.8\n8 1000 1.5 9.9\n",
    ],
)
def test_rows_that_nothing_names_are_named_as_unread(text: str) -> None:
    (one,) = read(text.encode(), "x")
    assert not one.points
    assert not one.complete
    assert "without a heading" in one.incomplete


@pytest.mark.parametrize("text", ["1 2 3\n5 6 7\n9 1 2\n3 4 5\n", "2019 1.2\n2020 1.3\n"])
def test_other_numbers_are_no_sweep(text: str) -> None:
    with pytest.raises(BadInput):
        read(text.encode(), "x")


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("MPI All-to-All Personalized Exchange Latency", "osu_alltoall"),
        ("MPI All-to-Allv Personalized Exchange Latency", "osu_alltoallv"),
        ("MPI Non-blocking All-to-All Latency", "osu_ialltoall"),
        ("MPI Broadcast Latency", "osu_bcast"),
        ("MPI Allreduce Latency", "osu_allreduce"),
    ],
)
def test_a_collective_has_its_programs_name(title: str, name: str) -> None:
    text = f"# OSU {title} Test v5.8\n# Size       Avg Latency(us)\n4   3.20\n8   3.30\n"
    (one,) = read(text.encode(), "x")
    assert one.benchmark == name


def _numbers(text: str, form: str) -> str:
    return "".join(form.format(at) + line + "\n" for at, line in enumerate(text.splitlines(), 1))


OSU_ROWS = ("1       1.20", "2      1.21", "4   1.25", "8   1.25", "16  1.26", "32  1.30")
OSU_RUN = "\n".join(("# OSU MPI Latency Test v7.4", "# Size    Latency (us)", *OSU_ROWS, ""))
QPERF_RUN = "tcp_bw:\n    bw  =  1.2 GB/sec\ntcp_lat:\n    latency  =  21.5 us\n"
SOCKPERF_RUN = (
    "sockperf: == version #3.10-0 ==\nsockperf: Warmup stage (sending a few dummy messages)...\n"
    "sockperf: ========= Printing statistics for Server No: 0\n"
    "sockperf: Summary: Latency is 11.500 usec\n"
)
PREFIXES = {
    "ts": "Nov 27 21:51:18 ",
    "ts with seconds": "1764280278.123456 ",
    "dmesg": "[  123.456789] ",
    "syslog": "Nov  2 21:51:18 node01 run.sh[1234]: ",
    "journalctl -o short-iso": "2026-11-27T21:51:18+0100 node01 run.sh[1234]: ",
    "gh run view --log": "benchmark\tRun osu\t2026-11-27T21:51:18.1234567Z ",
    "GitLab": "2026-11-27T21:51:18.123456Z 01O ",
    "container runtime": "2026-11-27T21:51:18.123456789Z stdout F ",
    "logger": "2026-11-27 21:51:18,123 INFO ",
    "logger with dashes": "2026-11-27 21:51:18,123 - INFO - ",
    "logger without a time": "INFO:bench:",
    "Go": "2026/11/27 21:51:18 ",
    "PRRTE": "[prterun-node01-4711@1,0]<stdout>: ",
    "kubectl": "[pod/client-6f7d/osu] ",
    "compose": "client-1  | ",
    "reply to a reply": "> > ",
    "bare quotes": ">>",
    "diff": "+",
    "stars": "* ",
    "grep": "logs/osu.txt:",
    "mininet": "<h2>: ",
}


@pytest.mark.parametrize("text", [OSU_RUN, QPERF_RUN, SOCKPERF_RUN], ids=["osu", "qperf", "sock"])
@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_what_others_write_before_each_line_is_removed(prefix: str, text: str) -> None:
    changed = "".join(prefix + line + "\n" for line in text.splitlines())
    assert read(changed.encode(), "x") == read(text.encode(), "x")


@pytest.mark.parametrize("text", [OSU_RUN, QPERF_RUN, SOCKPERF_RUN], ids=["osu", "qperf", "sock"])
def test_a_log_that_two_loggers_wrote_is_one_log(text: str) -> None:
    doubled = "".join(line + "\n" + line + "\n" for line in ("job 1\n" + text).splitlines())
    found, once = read(doubled.encode(), "x"), read(text.encode(), "x")
    assert [(one.benchmark, one.complete, times(one)) for one in found] == [
        (one.benchmark, one.complete, times(one)) for one in once
    ]


OSU_TAILS = (
    "# OSU MPI All-to-Allv Personalized Exchange Latency Test v7.5\n# Datatype: MPI_CHAR.\n"
    "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations  "
    "P50 Tail Lat(us)  P90 Tail Lat(us)  P99 Tail Lat(us)\n"
    "4096                  467.38            460.43            474.05        1000            "
    "407.18            584.22            634.30\n"
)
MAIL = SOCKPERF_RUN + (
    "sockperf: ====> avg-latency=11.500 (std-dev=93.297, mean-ad=4.904, median-ad=1.510, "
    "siqr=1.063, cv=3.797, std-error=0.060, 99.0% ci=[24.417, 24.725])\n"
    "sockperf: ---> percentile 50.000 =   10.743\nsockperf: ---> <MIN> observation =    9.220\n"
)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        (OSU_TAILS.replace("#", "\\#"), OSU_TAILS),  # github.com/pmodels/mpich/issues/7601
        (OSU_TAILS.replace("#", "    \\#").replace("\n4096", "\n    4096"), OSU_TAILS),
        (OSU_RUN.replace("\n", "^M\n"), OSU_RUN),  # Open MPI users' mailing list, 2006
        (quopri.encodestring(MAIL.encode()).decode(), MAIL),  # lists of netdev, 2023
    ],
    ids=["Markdown", "indented Markdown", "less", "mail"],
)
def test_what_editors_and_mails_change_is_undone(changed: str, text: str) -> None:
    assert changed != text
    assert read(changed.encode(), "x") == read(text.encode(), "x")
    assert read(text.encode(), "x")[0].points


@pytest.mark.parametrize("form", ["{:6d}\t", "{:7d} ", "{}:", "run.log:{}:"])
def test_line_numbers_are_removed(form: str) -> None:
    assert read(_numbers(OSU_RUN, form).encode(), "x") == read(OSU_RUN.encode(), "x")


def test_numbered_rows_of_a_table_keep_their_sizes() -> None:
    rows = "# OSU MPI Latency Test v7.4\n# Size    Latency (us)\n1 1.20\n2 1.21\n3 1.22\n4 1.25\n"
    (one,) = read(rows.encode(), "x")
    assert [point.message_bytes for point in one.points] == [1, 2, 3, 4]
    bare = rows.splitlines()[2:]
    assert streams(bare) == [("", [0, 1, 2, 3], bare)]


@pytest.mark.parametrize(
    "packed",
    [
        lambda text: json.dumps({"rc": 0, "stdout": text}),
        lambda text: "output: " + json.dumps(text),
        lambda text: json.dumps({"stdout_lines": text.replace("  ", "\t").splitlines()}, indent=1),
        lambda text: "".join(f"`{line}`\n" for line in text.splitlines()),
        lambda text: html.escape(text).replace(" ", "&nbsp;").replace("\n", "<br/>\n"),
        lambda text: f"<html><body><pre>{html.escape(text.strip())}</pre></body></html>",
        lambda text: text.replace("#", "&#35;").replace("(", "&#40;"),
        lambda text: re.sub(r"(\d\.\d+)", r"**\1**", text),
    ],
    ids=["json", "yaml", "lines", "code", "html", "page", "numeric", "bold"],
)
def test_outputs_that_a_document_holds_are_unpacked(packed: Callable[[str], str]) -> None:
    (one,) = read((packed(OSU_RUN) + "\n").encode(), "x")
    assert (one.benchmark, one.complete) == ("osu_latency", True)
    assert times(one) == times(read(OSU_RUN.encode(), "x")[0])


COMMAS = """# OSU MPI Latency Test v5.8
# Size          Latency (us)
0                       1,23
8                       1,30
1024                    2,51
1048576              1234,567
"""


@pytest.mark.parametrize("text", [COMMAS, COMMAS.replace(" 1,30", " | 1,30 |")])
def test_decimal_commas_of_the_locale(text: str) -> None:
    (one,) = read(text.encode(), "x")
    assert one.complete
    assert [point.hrt_ns for point in one.points] == pytest.approx([1230, 1300, 2510, 1234567])


def test_decimal_commas_in_the_times_and_rates_of_iperf3() -> None:
    text = (
        "Connecting to host n2, port 5201\n[ ID] Interval           Transfer     Bitrate\n"
        "[  5]   0,00-10,00  sec  10,9 GBytes  9,41 Gbits/sec    0             sender\n"
        "[  5]   0,00-10,00  sec  10,9 GBytes  9,40 Gbits/sec                  receiver\n"
        "\niperf Done.\n"
    )
    (one,) = read(text.encode(), "x")
    assert one.points[0].goodput_bytes_per_s == pytest.approx(9.40e9 / 8)


def test_groups_of_thousands_and_lists_stay_what_they_are() -> None:
    lists = "".join(f"rank {rank} on cores {rank},{rank + 12}\n" for rank in range(4))
    dotted = COMMAS.replace(",", ".")
    assert read((lists + dotted * 5).encode(), "x")[0].points[0].hrt_ns == pytest.approx(1230)
    grouped = (
        "# OSU MPI Latency Test v5.8\n# Size   Latency (us)\n8   1,300\n16   1,400\n32   1,500\n"
    )
    assert not read(grouped.encode(), "x")[0].points


@pytest.mark.parametrize(
    ("text", "program"),
    [
        (" 11213.3125 MB /  10.00 sec = 9404.8756 Mbps 25 %TX 50 %RX 0 retrans\n", "nuttcp"),
        ("NTttcp for Linux 1.4.0\n10:11:12 INFO: throughput :9.41Gbps\n", "NTttcp"),
        ("Network Tests v1.3\n  Test with 10 MPI ranks (5 nodes)\n", "GPCNeT"),
        ("b_eff = 1234.567 MB/s = 77.160 * 16 PEs with 2048 MB/PE\n", "b_eff"),
        ("single direction: 2480533.44\npair-based      : 2104325.64\n", "Sandia's msgrate"),
        ("Comb version 0.3.1\nArgs  ./bin/comb;100_100_100\n", "Comb"),
        ("size(B)  count(elems)  type  time:avg(us)\n1048576  524288  bf16  210.5\n", "nccom-test"),
        ("Bytes(MEG)    realtime(s) Avg Frame Size Throughput(MB/s)\n", "NTttcp"),
    ],
)
def test_an_output_that_is_not_read_is_named(text: str, program: str) -> None:
    with pytest.raises(NoResult, match=f"the output of {program}, which is not read"):
        read(text.encode(), "x")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nvbandwidth Version: v0.8\nBuilt from Git version: v0.8\n", "and no network"),
        (
            "+ ./clusterkit.sh --hostfile hosts\n",
            "It mentions ClusterKit, whose output",
        ),
    ],
)
def test_a_program_that_is_named(text: str, sentence: str) -> None:
    with pytest.raises(NoResult, match=sentence):
        read(text.encode(), "x")


@pytest.mark.parametrize(
    ("packed", "program"),
    [(gzip.compress, "zcat"), (bz2.compress, "bzcat"), (lzma.compress, "xzcat")],
)
def test_a_compressed_log_is_refused_with_the_program_that_unpacks_it(
    packed: Callable[[bytes], bytes], program: str
) -> None:
    many = "".join(f"{1 << at % 23} {at * 1.37:.2f}\n" for at in range(300))
    with pytest.raises(NoResult, match=f"`{program} FILE . wireproof judge -`"):
        read(packed((OSU_RUN + many).encode()), "x.gz")
