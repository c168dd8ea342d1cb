"""What the other benchmarks print and how they are called: text in, numbers out; nothing is run."""

from pathlib import Path

import pytest
from benchmarks.rivals import (
    imb_mpi1_argv,
    imb_p2p_argv,
    osu_argv,
    p2p_default_seconds,
    p2p_repetitions,
    parse_imb,
    parse_osu,
    parse_plain,
    plain_argv,
    repeated,
)

from benchmarks import libfabric
from wireproof.model.errors import CouldNotMeasure

MPI1 = Path(__file__).with_name("imb_mpi1.txt").read_text(encoding="utf-8")
P2P = """\
# Benchmarking PingPong
       #bytes #repetitions      t[usec]   Mbytes/sec      Msg/sec
            8         1000         0.28        28.49      3561276
"""


def test_mpi1_half_round_trip_comes_from_the_rate_because_two_decimals_are_too_coarse() -> None:
    rows = parse_imb(MPI1)
    assert [(row.bytes, row.repetitions) for row in rows[:3]] == [(0, 1000), (8, 1000), (8, 1000)]
    assert rows[0].half_round_trip_ns == pytest.approx(250.0)  # 0 B has no rate
    assert rows[1].half_round_trip_ns == pytest.approx(8e3 / 29.73)


def test_a_second_table_has_its_own_columns_and_a_time_out_is_no_row() -> None:
    rows = parse_imb(MPI1)
    assert len(rows) == 4
    assert rows[3].columns == {"Mbytes/sec": 1.89, "Msg/sec": 236791.0}


def test_p2p_counts_messages_both_ways() -> None:
    (row,) = parse_imb(P2P)
    assert row.half_round_trip_ns == pytest.approx(280.8, abs=0.05)


def test_a_slow_message_is_read_from_the_time_because_the_rate_has_no_fraction() -> None:
    text = "#bytes #repetitions t[usec] Mbytes/sec Msg/sec\n4194304 2 35123.45 238.83 28\n"
    assert parse_imb(text)[0].half_round_trip_ns == pytest.approx(35_123_450.0)


def test_no_table_gives_no_rows() -> None:
    assert parse_imb("Abort(1) on node 0\n1 2 3 4\n") == []
    assert parse_osu("usage: osu_latency\n") == {}


def test_osu_rows_with_further_columns() -> None:
    text = (
        "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n"
        "8      0.26  Pass\n1048576   84.50\n"
    )
    assert parse_osu(text) == {8: 0.26, 1048576: 84.5}


def test_plain_rows_and_memory() -> None:
    assert parse_plain("half_round_trip_ns 251.5\nnoise here too\npeak_rss_bytes 1048576\n") == (
        [251.5],
        1048576,
    )


def test_repetitions_follow_imbs_own_rule() -> None:
    assert p2p_repetitions(8, 100_000, 800) == 100_000
    assert p2p_repetitions(1 << 20, 100_000, 800) == 800
    assert p2p_repetitions(4 << 20, 100_000, 800) == 200
    assert p2p_repetitions(4 << 20, 500, 1) == 1
    assert p2p_repetitions(0, 500, 8) == 500


def test_default_time_is_the_loops_their_warm_up_and_the_sleeps() -> None:
    assert p2p_default_seconds({0: 10_000.0}) == pytest.approx(100_000 * 20e-6 * 1.1 + 0.2)
    assert p2p_default_seconds({1 << 20: 8.8e6}) == pytest.approx(800 * 17.6e-3 * 1.1 + 0.2)


def test_argv() -> None:
    sizes = Path("/tmp/sizes")
    argv = imb_mpi1_argv(Path("/i/IMB-MPI1"), "Uniband", sizes, 100, 64)
    assert " ".join(argv) == (
        "/i/IMB-MPI1 Uniband -msglen /tmp/sizes -iter 100 -iter_policy off -window_size 64"
    )
    assert "-window_size" not in imb_mpi1_argv(Path("/i/IMB-MPI1"), "PingPong", sizes, 100)
    p2p = imb_p2p_argv(Path("P"), None, 100_000, 800, None)
    assert p2p == ("P", "PingPong", "-iter", "100000,800")
    p2p = imb_p2p_argv(Path("P"), sizes, 500, 8, 0)
    assert p2p[-4:] == ("-msglen", "/tmp/sizes", "-pause", "0")
    assert osu_argv(Path("o"), 8, 5000, 2000) == ("o", "-m", "8:8", "-i", "5000", "-x", "2000")
    assert plain_argv(Path("p"), 8, 1000, 120) == ("p", "8", "1000", "120")


def test_sizes_are_repeated_in_turn() -> None:
    assert repeated([8, 64], 2) == "8\n64\n8\n64\n"


def test_both_ends_of_fi_pingpong_are_called_alike() -> None:
    server = libfabric.rival_argv("fi_pingpong", "tcp", 20001, client=False)
    client = libfabric.rival_argv("fi_pingpong", "tcp", 20001, client=True)
    assert server[:-2] == client[: len(server) - 2]
    assert server[-2:] == ["-B", "20001"]
    assert client[-3:] == ["-P", "20001", "127.0.0.1"]
    assert client[client.index("-m") + 1] == "tagged"


def test_the_half_round_trip_of_fi_pingpong_is_read() -> None:
    text = (
        "bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec\n"
        "8       3k      =3k      46k         0.03s      1.80       4.44       0.23\n"
    )
    assert libfabric.half_round_trip_ns(text) == pytest.approx(4440)
    with pytest.raises(CouldNotMeasure, match="no row: fi_getinfo failed"):
        libfabric.half_round_trip_ns("", "fi_getinfo failed")
