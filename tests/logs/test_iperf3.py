"""The iperf3 adapter: real text and JSON, the forms of its versions, iperf 2, and logs that are
cut.
"""

import re

import pytest
from tests.logs.tables import golden, one, rate
from tests.records import holds

from wireproof.logs.readers import read

HEAD = (
    "Connecting to host 192.0.2.9, port 5201\n[  4] local 192.0.2.8 port 40000 connected to "
    "192.0.2.9 port 5201\n"
)
TABLE = "[ ID] Interval           Transfer     Bandwidth       Retr\n"
SUMMARY = (
    "- - - - - - - - - - - - - - - - - - - - - - - - -\n"
    + TABLE
    + "[  4]   0.00-10.00  sec  1.10 GBytes   942 Mbits/sec   17             sender\n"
    + "[  4]   0.00-10.00  sec  1.09 GBytes   939 Mbits/sec                  receiver\n"
)


def test_text_gives_what_arrived() -> None:
    (series,) = golden("iperf3_plain_loopback.txt")
    holds(series, tool="iperf3", benchmark="tcp", metric="bandwidth", traffic="stream")
    assert rate(series) == pytest.approx(19.9e9 / 8)
    point = series.points[0]
    assert point.goodput_step == pytest.approx(0.1e9 / 8)
    assert point.message_bytes == 128 << 10
    assert point.values["retransmits"] == 10
    assert point.values["interval_min_bytes_per_s"] == pytest.approx(18.3e9 / 8)
    assert series.hosts == ["127.0.0.1"]
    assert any("both ranks are on 127.0.0.1" in note for note in series.notes)
    assert series.complete


def test_byte_rates_count_in_powers_of_1024() -> None:
    (series,) = golden("iperf3_rev_loopback.txt")
    assert rate(series) == pytest.approx(2393 * (1 << 20))


def test_parallel_streams_are_read_from_their_sum() -> None:
    (series,) = golden("iperf3_par_loopback.txt")
    assert rate(series) == pytest.approx(23.1e9 / 8)
    assert series.pairs == 3
    assert "omitted: the first 1 s" in series.notes
    assert series.points[0].values["interval_min_bytes_per_s"] == pytest.approx(22.2e9 / 8)


def test_both_directions_are_added() -> None:
    (series,) = golden("iperf3_bidir_loopback.txt")
    holds(series, metric="bidirectional_bandwidth", directions=2, traffic="exchange")
    assert rate(series) == pytest.approx((2.32e9 + 22.7e9) / 8)
    assert series.points[0].values["forward_bytes_per_s"] == pytest.approx(2.32e9 / 8)


def test_udp() -> None:
    (series,) = golden("iperf3_udp_loopback.txt")
    assert series.protocol == "udp"
    assert rate(series) == pytest.approx(50.065e6 / 8)
    assert series.points[0].values["jitter_ms"] == pytest.approx(0.019)
    assert series.points[0].message_bytes == pytest.approx(32768, rel=0.01)
    assert any("datagrams" in note for note in series.notes)


def test_verbose_text_says_version_and_block() -> None:
    (series,) = golden("iperf3_verbose_loopback.txt")
    assert series.version == "3.12"
    assert series.points[0].message_bytes == 131072
    assert not any("default" in note for note in series.notes)


def test_a_servers_log_has_one_series_a_run() -> None:
    found = golden("iperf3_server_loopback.txt")
    assert len(found) == 10
    assert all(series.complete for series in found)
    assert [series.benchmark for series in found].count("tcp_bidir") == 2
    assert rate(found[1]) == pytest.approx(20.1e9 / 8)
    assert any("sent" in note for note in found[1].notes), "-R: the server only knows what it sent"


def test_refused_connections_are_incomplete() -> None:
    (series,) = golden("iperf3_refused.json")
    assert not series.complete
    assert not series.points
    assert "unable to connect" in series.incomplete
    text = one("iperf3: error - unable to connect to server: No route to host\n")
    assert not text.complete
    assert "No route to host" in text.incomplete


def test_old_versions_say_bandwidth() -> None:
    series = one(
        HEAD
        + TABLE
        + "[  4]   0.00-1.00   sec   112 MBytes   940 Mbits/sec    0   221 KBytes\n"
        + SUMMARY
    )
    assert rate(series) == pytest.approx(939e6 / 8)
    assert series.points[0].values["retransmits"] == 17


def test_only_the_summary_was_pasted() -> None:
    assert rate(one(SUMMARY + "\niperf Done.\n")) == pytest.approx(939e6 / 8)
    bare = "\n".join(line.replace("[  4]", "     ") for line in SUMMARY.splitlines())
    assert rate(one("some words of a letter\n" + bare + "\n")) == pytest.approx(939e6 / 8)


def test_time_stamps_and_units() -> None:
    lines = [
        f"Mon Nov  2 10:00:{index:02} 2026 {line}"
        for index, line in enumerate((HEAD + SUMMARY).splitlines())
    ]
    assert rate(one("\n".join(lines) + "\n")) == pytest.approx(939e6 / 8)
    wide = SUMMARY.replace("939 Mbits/sec", "0.11 GBytes/sec")
    assert rate(one(HEAD + wide)) == pytest.approx(0.11 * (1 << 30))


def test_two_runs_in_one_log() -> None:
    second = (HEAD + SUMMARY).replace("939 Mbits", "412 Mbits")
    found = read(("Grüße aus Köln\n" + HEAD + SUMMARY + "\niperf Done.\n" + second).encode(), "x")
    assert [rate(series) for series in found] == pytest.approx([939e6 / 8, 412e6 / 8])


def test_a_run_without_its_summary_has_no_point() -> None:
    for text in (
        HEAD,
        HEAD + TABLE + "[  4]   0.00-1.00   sec   112 MBytes   940 Mbits/sec    0   221 KBytes\n",
        HEAD + SUMMARY.rpartition("[  4]")[0],
        HEAD + "iperf3: interrupt - the client has terminated\n",
    ):
        for series in read(text.encode(), "x"):
            assert not series.complete
            assert not series.points


def test_what_a_client_wrote_and_no_server_received_is_no_result() -> None:
    lost = SUMMARY.replace("1.09 GBytes   939 Mbits/sec ", "0.00 Bytes  0.00 bits/sec ")
    series = one(HEAD + TABLE + lost + "\niperf Done.\n")
    assert (series.points, series.incomplete) == ([], "no payload arrived")


def test_a_run_without_its_summary_says_what_its_intervals_carried() -> None:
    rows = "".join(
        f"[  4]   {at}.00-{at + 1}.00   sec   112 MBytes   94{at} Mbits/sec    0   221 KBytes\n"
        for at in range(3)
    )
    series = one(HEAD + TABLE + rows)
    assert not series.points
    assert "3 intervals of" in series.incomplete


def test_an_old_udp_client_tells_what_was_lost() -> None:
    row = "[  4]   0.00-10.00  sec  1.19 GBytes  1.02 Gbits/sec  0.014 ms  1000/10000 (10%)\n"
    head = "[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n"
    series = one(HEAD + head + row + "[  4] Sent 10000 datagrams\n\niperf Done.\n")
    assert rate(series) == pytest.approx(1.02e9 / 8 * 0.9)
    assert any("lost" in note for note in series.notes)


def test_iperf_2() -> None:
    (plain,) = golden("iperf2_loopback.txt")
    assert (plain.tool, plain.version, plain.complete) == ("iperf", "2", True)
    assert rate(plain) == pytest.approx(11.5e9 / 8)
    (parallel,) = golden("iperf2_parallel_loopback.txt")
    assert rate(parallel) == pytest.approx(43.4e9 / 8)
    assert [rate(series) for series in golden("iperf2_server_loopback.txt")] == pytest.approx(
        [43.2e9 / 8, 11.6e9 / 8]
    )


OLD = (
    "------------------------------------------------------------\n"
    "Client connecting to 192.0.2.9, {0} port 5001\n"
    "------------------------------------------------------------\n"
    "[  3] local 192.0.2.8 port 40000 connected with 192.0.2.9 port 5001\n"
    "[ ID] Interval       Transfer     Bandwidth\n"
)


def test_iperf_2_intervals_are_not_the_result() -> None:
    rows = "".join(
        f"[  3] {at}.0-{at + 1}.0 sec   112 MBytes   94{at} Mbits/sec\n" for at in range(10)
    )
    text = OLD.format("TCP") + rows
    assert not one(text).points
    assert not one(OLD.format("TCP") + rows.splitlines()[0] + "\n").points
    assert rate(one(text + "[  3]  0.0-10.0 sec  1.10 GBytes   944 Mbits/sec\n")) == pytest.approx(
        944e6 / 8
    )


def test_a_first_interval_without_its_banner_is_no_run() -> None:
    row = "[  5]   0.00-10.00  sec  1.10 GBytes   942 Mbits/sec    0   221 KBytes\n"
    assert not one(
        "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n" + row
    ).points
    old = (
        "[ ID] Interval       Transfer     Bandwidth\n[  3]  0.0-10.0 sec  1.10 GBytes   942 "
        "Mbits/sec"
    )
    assert rate(one(old + "\n")) == pytest.approx(942e6 / 8)
    assert rate(one(OLD.format("TCP") + old.partition("\n")[2])) == pytest.approx(942e6 / 8), (
        "no last line end"
    )


def test_iperf_2_udp_needs_the_servers_report() -> None:
    sent = (
        OLD.format("UDP")
        + "[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec\n[  3] Sent 893 datagrams\n"
    )
    assert not one(sent).points
    report = (
        "[  3] Server Report:\n[  3]  0.0-10.0 sec  1.23 MBytes  1.03 Mbits/sec   0.013 ms   15/  "
        "893 (1.7%)\n"
    )
    series = one(sent + report)
    assert rate(series) == pytest.approx(1.03e6 / 8)
    assert series.points[0].values["lost_packets"] == 15


def test_the_last_lines_alone_are_a_run() -> None:
    text = (
        "We ran iperf3 -c 10.0.0.2 -P 16 -t 30; the end of its output:\n\n"
        "[SUM]   0.00-30.00  sec   123 GBytes  35.2 Gbits/sec    0             sender\n"
        "[SUM]   0.00-30.00  sec   123 GBytes  35.1 Gbits/sec                  receiver\n"
    )
    (one,) = read(text.encode(), "x")
    assert (one.tool, one.benchmark, one.complete) == ("iperf3", "tcp", True)
    assert [point.goodput_bytes_per_s for point in one.points] == [35.1e9 / 8]
    assert (one.pairs, one.notes[0]) == (2, "several streams: only their sum is in the log")
    (sent,) = read(text.rpartition("[SUM]")[0].encode(), "x")
    assert not sent.complete


def test_streams_without_intervals_are_counted() -> None:
    head = "Connecting to host 10.0.0.2, port 5201\n"
    row = "[{0}]   0.00-10.00  sec  5.75 GBytes  {1} Gbits/sec                 {2}\n"
    rows = "".join(
        row.format(f"{n:3}", 5.0, who) for n in (5, 7, 9) for who in ("sender", "receiver")
    )
    total = row.format("SUM", 15.0, "sender") + row.format("SUM", 15.0, "receiver")
    text = (
        head + "[ ID] Interval           Transfer     Bitrate\n" + rows + total + "\niperf Done.\n"
    )
    (one,) = read(text.encode(), "x")
    assert (one.pairs, one.points[0].goodput_bytes_per_s) == (3, 15e9 / 8)


@pytest.mark.parametrize("stream", ["[  3]", "[SUM]"])
@pytest.mark.parametrize(
    "spans", ["0.0- 1.0 1.0- 2.0 0.0- 2.0", "0.0000-1.0000 1.0000-2.0000 0.0000-2.0013"]
)
def test_rows_of_iperf_2_alone_are_a_run(stream: str, spans: str) -> None:
    first, second, whole = re.findall(r"[\d.]+- ?[\d.]+", spans)
    text = (
        f"{stream}  {first} sec  1.09 GBytes  9.38 Gbits/sec\n"
        f"{stream}  {second} sec  1.10 GBytes  9.42 Gbits/sec\n"
        f"{stream}  {whole} sec  2.19 GBytes  9.40 Gbits/sec\n"
    )
    (alone,) = read((text.splitlines()[-1] + "\n").encode(), "x")
    total = whole.endswith("2.0013")  # no interval ends there
    assert (alone.tool, alone.complete) == ("iperf", total), "it may be the first interval"
    for log in (text, "iperf -c 10.0.0.2 -P 4\n" + text):
        (one,) = read(log.encode(), "x")
        assert (one.tool, one.complete) == ("iperf", True), log
        assert [point.goodput_bytes_per_s for point in one.points] == [9.40e9 / 8]


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(
            "[  5]   0.00-10.00  sec  10.9 GBytes  9.40 Gbits/sec    0             sender\n"
            "[  5]   0.00-10.04  sec  10.9 GBytes  {} Gbits/sec                  receiver\n",
            id="the last lines, as issues quote them",
        ),
        pytest.param("[  3]  0.0-10.0 sec  {} GBytes  {} Gbits/sec\n", id="iperf 2"),
        pytest.param(
            "[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n"
            "[  4]   0.00-10.00  sec  1.24 GBytes  {} Gbits/sec  0.001 ms  0/100 (0%)\n"
            "[  4] Sent 100 datagrams\n",
            id="github.com/esnet/iperf/issues/114",
        ),
    ],
)
def test_two_runs_of_which_only_the_ends_were_copied(end: str) -> None:
    text = "".join(f"run\n{end.format(printed, printed)}" for printed in ("8.00", "4.00"))
    assert [rate(series) for series in read(text.encode(), "x")] == pytest.approx([1e9, 0.5e9])
