"""netperf and libibverbs' ping-pongs: what their logs say, cut rows, the options."""

import pytest
from tests.logs.tables import LOGS, codes
from tests.records import holds

from wireproof.logs.readers import read
from wireproof.logs.verdict import judge_log
from wireproof.physics import claim_from_text


def test_what_netperf_prints() -> None:
    stream, answers, udp = read((LOGS / "made_netperf.txt").read_bytes(), "x")
    assert [one.benchmark for one in (stream, answers, udp)] == [
        "TCP_STREAM",
        "TCP_RR",
        "UDP_STREAM",
    ]
    assert stream.points[0].message_bytes == 65536
    assert stream.points[0].goodput_bytes_per_s == pytest.approx(9387.41e6 / 8)
    assert (answers.waits, answers.points[0].hrt_ns) == (True, 16_000)
    assert udp.points[0].goodput_bytes_per_s == pytest.approx(9296.47e6 / 8), "what arrived"
    judged = judge_log([stream, answers], claim_from_text("10gbe", mtu=1500))
    assert [one.verdict for one in judged] == ["pass", "pass"]


TO = "from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 192.0.2.7 () port 0 AF_INET"
RR = f"MIGRATED TCP REQUEST/RESPONSE TEST {TO} : +/-2.500% @ 99% conf.  : first burst 0\n"


def test_what_was_selected_by_name() -> None:
    names = "Throughput,Throughput Units,Request Size Bytes,Response Size Bytes"
    pairs = (
        "LOCAL_SEND_SIZE=65536\nCOMMAND_LINE=\nTHROUGHPUT=9391.07\nTHROUGHPUT_UNITS=10^6bits/s\n"
    )
    answers, stream = read(
        f"{RR}{names}\n25000.00,Trans/s,64,64\nMIGRATED TCP STREAM TEST {TO}\n{pairs}".encode(), "x"
    )
    assert (answers.points[0].message_bytes, answers.points[0].hrt_ns) == (64, 20_000)
    assert stream.points[0].message_bytes == 65536
    assert stream.points[0].goodput_bytes_per_s == pytest.approx(9391.07e6 / 8)
    assert not any("default" in note for note in (*answers.notes, *stream.notes))
    (cut,) = read(f"{RR}Throughput,Throughput Units\n25000.00,Tra".encode(), "x")
    assert (cut.points, cut.complete) == ([], False)


def test_transactions_of_a_burst_have_no_time() -> None:
    text = RR.replace("burst 0", "burst 16") + "Throughput,Throughput Units\n310000.00,Trans/s\n"
    (series,) = read(text.encode(), "x")
    assert (series.points[0].hrt_ns, series.points[0].messages_per_s) == (None, 310_000)
    (judged,) = judge_log([series], claim_from_text("10gbe"))
    assert judged.verdict == "inconclusive"


@pytest.mark.parametrize("wrapped", [TO.replace(" to ", " to\n"), "from 0.0.0.0..."])
def test_a_title_that_an_email_wraps_or_a_page_shortens(wrapped: str) -> None:
    """From lists of netdev, and from the test data of PerfKitBenchmarker."""
    text = (
        f"MIGRATED TCP STREAM TEST {wrapped} : demo\nRecv   Send    Send\n"
        "Socket Socket  Message  Elapsed\nSize   Size    Size     Time     Throughput\n"
        "bytes  bytes   bytes    secs.    10^6bits/sec\n\n"
        "131072  16384   1500    10.00    9406.44\n"
        f"MIGRATED UDP REQUEST/RESPONSE TEST {wrapped} : first burst 4\n"
        "Throughput,Throughput Units,90th Percentile\nLatency Microseconds\n2217.06,Trans/s,487\n"
    )
    stream, answers = read(text.encode(), "x")
    assert stream.points[0].goodput_bytes_per_s == pytest.approx(9406.44e6 / 8)
    assert (answers.metric, answers.points[0].messages_per_s) == ("message_rate", 2217.06)
    assert stream.hosts == answers.hosts == ([] if "..." in wrapped else ["192.0.2.7"])


BUSY = """MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to n2 () port 0 AF_INET
Recv   Send    Send                          Utilization       Service Demand
Socket Socket  Message  Elapsed              Send     Recv     Send    Recv
Size   Size    Size     Time     Throughput  local    remote   local   remote
bytes  bytes   bytes    secs.    10^6bits/s  % S      % S      us/KB   us/KB

 87380  16384  16384    10.00      9404.12   23.33    23.33    0.393   0.393
MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to n2 () port 0 AF_INET
Socket  Message  Elapsed      Messages                   CPU      Service
Size    Size     Time         Okay Errors   Throughput   Util     Demand
bytes   bytes    secs            #      #   10^6bits/sec % SS     us/KB

212992   65507   10.00      179430      0     9403.2     12.10    0.843
212992           10.00      179300            9396.4     14.02    0.978
MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to n2 () port 0 AF_INET
Local /Remote
Socket Size   Request Resp.  Elapsed Trans.   CPU    CPU    S.dem   S.dem
Send   Recv   Size    Size   Time    Rate     local  remote local   remote
bytes  bytes  bytes   bytes  secs.   per sec  % S    % S    us/Tr   us/Tr

16384  87380  1       1      10.00   31250.00 2.10   2.30   5.1     5.6
"""


OMNI = "OMNI Send TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to n2 () port 0 AF_INET\n"
IN_COLUMNS = """Local       Remote      Local  Elapsed Throughput Throughput
Send Socket Recv Socket Send   Time               Units
Size        Size        Size   (sec)
Final       Final
2097152     2097152     65536  10.00   9407.25    10^6bits/s
"""


@pytest.mark.parametrize(
    ("printed", "name", "size", "moved"),
    [
        (IN_COLUMNS, "TCP_STREAM", 65536, 9407.25e6 / 8),
        (
            "THROUGHPUT=9407.25\nTHROUGHPUT_UNITS=10^6bits/s\nLOCAL_SEND_SIZE=65536\n",
            "TCP_STREAM",
            65536,
            9407.25e6 / 8,
        ),
        (
            "Throughput,Throughput Units,Local Send Size\n9407.25,10^6bits/s,65536\n",
            "TCP_STREAM",
            65536,
            9407.25e6 / 8,
        ),
        (
            (
                "PROTOCOL=UDP\nTHROUGHPUT=9999.00\nTHROUGHPUT_UNITS=10^6bits/s\nLOCAL_SEND_SIZE=1472\n"
                "REMOTE_RECV_THROUGHPUT=9200.00\n"
            ),
            "UDP_STREAM",
            1472,
            9200e6 / 8,
        ),
        (
            "Throughput Throughput Protocol\n           Units\n31250.00   Trans/s    TCP\n",
            "TCP_RR",
            1,
            None,
        ),
    ],
)
def test_an_omni_test_in_each_form(printed: str, name: str, size: int, moved: float | None) -> None:
    (one,) = read((OMNI + printed).encode(), "x")
    (point,) = one.points
    assert (one.benchmark, point.message_bytes, one.complete) == (name, size, True)
    assert point.goodput_bytes_per_s == (None if moved is None else pytest.approx(moved))
    assert point.hrt_ns == (pytest.approx(16_000) if moved is None else None)


def test_what_a_sender_of_udp_counts_is_no_goodput() -> None:
    selected = "THROUGHPUT=9999.00\nTHROUGHPUT_UNITS=10^6bits/s\nLOCAL_SEND_SIZE=1472\n"
    title = OMNI.replace("OMNI Send", "MIGRATED UDP STREAM")
    for text in (OMNI + "PROTOCOL=UDP\n" + selected, title + selected):
        (one,) = read(text.encode(), "x")
        assert (one.benchmark, one.points, one.complete) == ("UDP_STREAM", [], False)
        assert any("REMOTE_RECV_THROUGHPUT" in note for note in one.notes)
    (one,) = read((title + selected + "REMOTE_RECV_THROUGHPUT=9200.00\n").encode(), "x")
    assert one.points[0].goodput_bytes_per_s == pytest.approx(9200e6 / 8)


def test_omni_rows_that_are_torn_or_of_another_protocol_are_none() -> None:
    torn = IN_COLUMNS.rstrip("\n")
    assert not read((OMNI + torn).encode(), "x")[0].points
    (one,) = read(
        (OMNI + "PROTOCOL=SCTP\nTHROUGHPUT=1.00\nTHROUGHPUT_UNITS=10^6bits/s\n").encode(), "x"
    )
    assert not one.points


def test_the_use_of_processors_follows_the_throughput() -> None:
    stream, udp, answers = (one.points[0] for one in read(BUSY.encode(), "x"))
    assert stream.goodput_bytes_per_s == pytest.approx(9404.12e6 / 8)
    assert udp.goodput_bytes_per_s == pytest.approx(9396.4e6 / 8)
    assert answers.hrt_ns == pytest.approx(16_000)


def test_a_title_whose_addresses_were_not_resolved() -> None:
    """netperf of macOS prints the C library's ``(null)``."""
    named = "from 0.0.0.0 (0.0.0.0) port 0 AF_INET to n2 () port 0"
    unnamed = BUSY.replace(named, "from (null) (0.0.0.0) port 0 AF_INET to (null) () port 0")
    found = read(unnamed.encode(), "x")
    assert [one.points for one in found] == [one.points for one in read(BUSY.encode(), "x")]
    assert not any(one.hosts or "to " in " ".join(one.notes) for one in found)


def test_a_stream_to_this_machine_is_no_wire() -> None:
    found = judge_log(
        read(BUSY.replace("to n2", "to localhost").encode(), "x"), claim_from_text("100gbe")
    )
    assert all("one-host" in codes(one, "fail") for one in found)


def test_an_unknown_unit_and_two_sizes_are_not_guessed() -> None:
    text = (LOGS / "made_netperf.txt").read_text().replace("10^6bits/sec", "furlongs/sec")
    text = text.replace("1        1       10.00", "1        512     10.00")
    for one in read(text.encode(), "x"):
        assert not one.points
        assert not one.complete


def test_what_rc_pingpong_prints() -> None:
    data = (LOGS / "made_ibv_rc_pingpong.txt").read_bytes()
    (one,) = read(data, "x")
    holds(one, benchmark="ibv_rc_pingpong", protocol="rdma", hosts=["LID 0x0003", "LID 0x0007"])
    (point,) = one.points
    assert (point.message_bytes, point.hrt_ns, point.iterations) == (65536, 7350, 1000)
    same = data.replace(b"LID 0x0007", b"LID 0x0003")
    (found,) = judge_log(read(same, "x"), claim_from_text("edr"))
    assert codes(found, "fail") == {"one-host"}


def test_rc_pingpong_without_its_addresses() -> None:
    text = (
        "8192000 bytes in 0.01 seconds = 7000.00 Mbit/sec\n1000 iters in 0.01 seconds = 9.36"
        " usec/iter\n"
    )
    (one, other) = read((text + text).encode(), "x")
    assert [point.message_bytes for point in one.points + other.points] == [4096, 4096]
    assert one.points[0].hrt_ns == pytest.approx(4680)
