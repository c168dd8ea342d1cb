"""Logs of perftest, iperf3, iperf 2, qperf and sockperf in the forms that people send them in: the
same records.
"""

from tests.logs.tables import LOGS

from wireproof.logs.readers import read
from wireproof.logs.verdict import judge_log
from wireproof.model.series import Series
from wireproof.physics import claim_from_text

KINDS = ("softroce", "ib_", "iperf", "qperf", "sockperf")
NAMES = sorted(path.name for path in LOGS.iterdir() if path.name.startswith(KINDS))


def records(found: list[Series]) -> list[tuple[object, ...]]:
    return [
        (
            *(series.tool, series.benchmark, series.complete),
            *(
                (p.message_bytes, p.hrt_ns, p.time_ns, p.goodput_bytes_per_s, p.messages_per_s)
                for p in series.points
            ),
        )
        for series in found
    ]


def test_many_logs_in_one_file() -> None:
    every, apart = b"", list[tuple[object, ...]]()
    for name in NAMES:
        data = (LOGS / name).read_bytes()
        data += b"" if data.endswith(b"\n") else b"\n"
        every += b"+ echo the next one\n" + data
        apart += records(read(data, name))
    assert records(read(every, "x")) == apart


def test_rows_of_a_run_without_end_are_whole() -> None:
    rows = "".join(f" 65536 {882_800 + n} 0.00 92.57 0.176554\n" for n in range(3))
    text = (
        f" RDMA_Write BW Test\n Device : mlx5_0\n Link type : Ethernet\n{87 * '-'}\n"
        " #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n"
    )
    (one,) = read((text + rows).encode(), "x")
    assert (len(one.points), one.complete) == (3, True)
    (short,) = read((text + rows.splitlines()[0] + "\n").encode(), "x")
    assert not short.complete


def test_a_page_that_lost_all_rules_lost_the_last_too() -> None:
    """From github.com/openucx/ucx/issues/9430 (40 Gb/s RoCE): Markdown took the rules."""
    text = (
        "                    Send BW Test\n Dual-port       : OFF\t\tDevice         : rocep68s0\n"
        " Number of qps   : 1\t\tTransport type : IB\n Mtu             : 1024[B]\n"
        " Link type       : Ethernet\n local address: LID 0000 QPN 0x0371 PSN 0xd506d0\n\n"
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
        " 65536      1000             36.43              36.07  \t\t   0.068798\n"
    )
    series = read(text.encode(), "x")
    (judged,) = judge_log(series, claim_from_text("roce40"))
    assert (judged.verdict, series[0].complete) == ("pass", True)


def test_a_rule_within_the_rows_closes_no_table() -> None:
    rule = "-" * 60 + "\n"
    rows = [f" {1 << n} 5000 0.00 {0.5 * (1 << n):.2f} 4.2\n" for n in range(1, 9)]
    text = (
        rule
        + " RDMA_Write BW Test\n Device : mlx5_0\n"
        + rule
        + " #bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]\n"
    )
    torn = read((text + "".join(rows[:5]) + rule + "".join(rows[5:]) + rule).encode(), "x")
    assert (len(torn[0].points), torn[0].complete) == (5, False)
    (whole,) = read((text + "".join(rows) + rule).encode(), "x")
    assert (len(whole.points), whole.complete) == (8, True)
