"""Texts that begin as results and go on without end: answered soon, and nothing is made of them."""

import pytest
from tests.logs.tables import readable

HOSTILE = {
    "hpcc: a program's title": "Latency-Bandwidth-Benchmark R1\n" * 3000,
    "hpcc: a banner": "This is the DARPA/DOE HPC Challenge Benchmark version 1.5.0\n" * 3000,
    "hpcc: a key": "Begin of Summary section\n" + ("x = " + "9" * 3000 + "\n") * 300,
    "hpcc: a section": "Begin of Summary section\n" * 3000,
    "imb: a title": "# Benchmarking PingPong\n" * 3000,
    "imb: a banner": "# Intel(R) MPI Benchmarks 2021.11, MPI-1 part\n" * 3000,
    "imb: half a heading": "#bytes #repetitions\n" * 3000,
    "imb: a heading": "#bytes #repetitions t[usec] Mbytes/sec\n" * 3000,
    "imb: a group": ("# Group " + "9 " * 500 + "\n") * 3000,
    "imb: many numbers": ("1 " * 2000 + "\n") * 300,
    "imb: a long number": ("9" * 4000 + "\n") * 300,
    "imb: processes": ("# #processes = " + "9" * 300 + "\n") * 3000,
    "imb: a map": (
        "[0] MPI startup(): 0 22153 n1 {0}\n# Intel(R) MPI Benchmarks 2021.11, MPI-1 part\n" * 3000
    ),
    "iperf3: depth": '{"start": {' + '"a": {' * 5000,
    "iperf3: documents": '"start": {' * 2000,
    "iperf3: banners": "Connecting to host 192.0.2.9, port 5201\n" * 500,
    "iperf3: sums": "[SUM]" * 3000,
    "iperf3: a time": (
        "[ ID] Interval           Transfer     Bandwidth       Retr\n[  4] 0.00-" + "9" * 5000
    ),
    "perftest: half a heading": " #bytes #iterations\n 1 2",
    "perftest: brackets": f" #bytes     #iterations    BW peak[{']' * 50}]    BW average[]",
    "perftest: a number": " #bytes #iterations    t_min[usec]    t_max[usec]\n" + "9" * 400,
    "perftest: titles": "RDMA_Write BW Test\n" * 300,
    "qperf: titles": "tcp_bw:\n" * 500,
    "qperf: a number": "tcp_bw:\n    bw =  " + "9" * 500,
    "qperf: values": "rc_lat:\n" + "    a  =  1 us\n" * 500,
    "sockperf: banners": "sockperf: == version #1\n" * 400,
    "sockperf: a version": "sockperf: == version #" + "1" * 9000,
    "sockperf: a time": "sockperf: [Total Run] RunTime=" + "9" * 999,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_record_is_made_of_it(kind: str) -> None:
    assert not any(series.points for series in readable(HOSTILE[kind]))
