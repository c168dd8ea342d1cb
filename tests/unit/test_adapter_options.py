"""Command lines of other programs."""

from __future__ import annotations

from typing import Any

import pytest

from wireproof.adapters import adapter, adapter_names
from wireproof.adapters.options import given, one_size, refuse_others, server_of
from wireproof.launch.recipe import recipes_of
from wireproof.model.errors import BadInput
from wireproof.model.series import ToolRequest


def test_what_is_not_asked_for_is_left_out_and_zero_is_asked_for() -> None:
    assert given(("-a", None), ("-b", ""), ("-c", False)) == []
    assert given(("-p", 0), ("-t", 2.50), ("-i", "eth0"), ("-R", True)) == [
        *("-p", "0", "-t", "2.5", "-i", "eth0", "-R")
    ]


def test_one_size() -> None:
    assert one_size(ToolRequest(program="x"), "x takes one") is None
    assert one_size(ToolRequest(program="x", sizes=(8,)), "x takes one") == 8
    with pytest.raises(BadInput, match="x takes one: 2 sizes were requested"):
        one_size(ToolRequest(program="x", sizes=(8, 16)), "x takes one")


def test_a_client_needs_a_server() -> None:
    assert server_of(ToolRequest(program="x", server="n1"), "x") == ""
    assert server_of(ToolRequest(program="x", role="client", server="n1"), "x") == "n1"
    with pytest.raises(BadInput, match="x's client needs the server's address"):
        server_of(ToolRequest(program="x", role="client"), "x")


def test_what_a_program_has_no_option_for_is_refused_by_its_name() -> None:
    with pytest.raises(BadInput, match="x has no option for a core to run on: leave it out"):
        refuse_others(ToolRequest(program="x", cpu=0), "x", "sizes")
    refuse_others(ToolRequest(program="x", sizes=(8,)), "x", "sizes")


CLIENT: dict[str, Any] = {"role": "client", "server": "n2"}
COMMANDS: list[tuple[str, dict[str, Any], str]] = [
    (
        "fi_pingpong",
        {**CLIENT, "benchmark": "psm3", "sizes": (1024,), "iterations": 500, "device": "eth0"},
        "fi_pingpong -p psm3 -d eth0 -I 500 -S 1024 n2",
    ),
    ("hpcc", {}, "hpcc"),
    ("imb", {"benchmark": "PingPong"}, "IMB-MPI1 PingPong"),
    (
        "imb",
        {"benchmark": "PingPong", "sizes": (0, 8, 16, 32), "iterations": 50, "seconds": 2.5},
        "IMB-MPI1 -msglog 3:5 -iter 50 -time 2.5 PingPong",
    ),
    (
        "imb",
        {"benchmark": "Uniband", "sizes": (100,)},
        "/opt/b/IMB-MPI1 -msgsize 100 Uniband",
    ),
    ("imb", {"sizes": (7,)}, "/usr/lib64/openmpi/bin/mpitests-IMB-MPI1 -msgsize 7"),
    ("imb", {"sizes": (0, 8)}, "IMB-P2P -msgsz 0 -msgsz 8"),
    ("imb", {"sizes": (4, 8)}, "IMB-P2P -msglog 2:3"),
    (
        "imb",
        {"benchmark": "PingPong", "sizes": (8, 100), "extra": ("-pause", "0")},
        "IMB-P2P -msgsz 8 -msgsz 100 -pause 0 PingPong",
    ),
    (
        "imb",
        {"benchmark": "PingPongMT", "sizes": (8, 64), "iterations": 9},
        "IMB-MT -datatype char -count 8,64 -repeat 9 PingPongMT",
    ),
    (
        "iperf3",
        {
            **CLIENT,
            "seconds": 10,
            "omit_seconds": 2,
            "sizes": (1 << 20,),
            "cpu": 4,
            "socket_buffer_bytes": 2 << 20,
        },
        "iperf3 -c n2 -t 10 -O 2 -l 1048576 -w 2097152 -J -A 4",
    ),
    (
        "iperf3",
        {"role": "server", "port": 5333, "cpu": 4, "sizes": (1 << 20,)},
        "iperf3 -s -1 -p 5333 -A 4",
    ),
    (
        "iperf3",
        {**CLIENT, "benchmark": "bidir", "extra": ("-P", "4")},
        "iperf3 -c n2 --bidir -J -P 4",
    ),
    (
        "osu",
        {"benchmark": "osu_bw", "sizes": (1 << 20,), "iterations": 50},
        "/opt/osu_bw -m 1048576:1048576 -i 50",
    ),
    (
        "perftest",
        {**CLIENT, "sizes": (1 << 20,), "rdma_cm": True},
        "ib_write_bw -F -R -s 1048576 n2",
    ),
    (
        "perftest",
        {"role": "server", "device": "mlx5_0", "port": 18515, "sizes": (2, 4, 8)},
        "ib_send_lat -F -d mlx5_0 -p 18515 -a",
    ),
    (
        "perftest",
        {"role": "server", "seconds": 10, "omit_seconds": 2},
        "ib_write_bw -F -D 10 -f 2",
    ),
    (
        "qperf",
        {**CLIENT, "benchmark": "tcp_bw", "sizes": (1 << 20,), "cpu": 6, "seconds": 5},
        "qperf n2 -m 1048576 -t 5 -ca 6 -vvu tcp_bw",
    ),
    (
        "qperf",
        {**CLIENT, "benchmark": "rc_bw rc_lat", "sizes": (1, 4, 16)},
        "qperf n2 -oo msg_size:1:16:*4 -vvu rc_bw rc_lat",
    ),
    ("qperf", {"role": "server", "port": 19765}, "qperf -lp 19765"),
    (
        "sockperf",
        {**CLIENT, "port": 11111, "sizes": (64,), "seconds": 10, "cpu": 2},
        "sockperf ping-pong -i n2 -p 11111 -m 64 -t 10 --sender-affinity 2",
    ),
    (
        "sockperf",
        {"role": "server", "server": "n2", "extra": ("--tcp",)},
        "sockperf server -i n2 --tcp",
    ),
]
"""Adapter, what is asked for, and the command; its first word is the program that was named."""
REFUSED: list[tuple[str, str, str, list[dict[str, Any]]]] = [
    (
        "fi_pingpong",
        "fi_pingpong",
        "",
        [{"sizes": (1, 2)}, {"seconds": 1.0}, {"role": "client"}],
    ),
    ("hpcc", "hpcc", "hpccinf", [{"sizes": (8,)}]),
    ("imb", "IMB-P2P", "IMB", [{"seconds": 1.0}]),
    ("imb", "IMB-RMA", "IMB", [{"sizes": (3, 5)}]),
    (
        "imb",
        "IMB-MPI1",
        "IMB",
        [
            {"device": "mlx5_0"},
            {"server": "n2"},
            {"rdma_cm": True},
            {"omit_seconds": 1.0},
            {"sizes": (-1,)},
        ],
    ),
    (
        "iperf3",
        "iperf3",
        "",
        [
            {"role": "client"},
            {**CLIENT, "benchmark": "latency"},
            {**CLIENT, "sizes": (1, 2)},
            {**CLIENT, "seconds": 1.5},
            {**CLIENT, "seconds": 1, "iterations": 5},
            {**CLIENT, "rdma_cm": True},
        ],
    ),
    (
        "perftest",
        "ib_write_bw",
        "",
        [
            {"role": "client"},
            {"sizes": (3, 5)},
            {"sizes": (2, 4), "seconds": 5},
            {"seconds": 5, "iterations": 7},
            {"seconds": 0.5},
            {"cpu": 3},
        ],
    ),
    (
        "qperf",
        "qperf",
        "",
        [
            {"role": "client", "benchmark": "tcp_bw"},
            {**CLIENT, "benchmark": "tcp_throughput"},
            CLIENT,
            {**CLIENT, "benchmark": "tcp_bw", "sizes": (1, 5, 7)},
            {**CLIENT, "benchmark": "tcp_bw", "iterations": 500},
        ],
    ),
    (
        "sockperf",
        "sockperf",
        "",
        [
            {"role": "client"},
            {**CLIENT, "benchmark": "storm"},
            {**CLIENT, "sizes": (1, 2)},
            {**CLIENT, "iterations": 5},
        ],
    ),
]
"""Adapter, program, a word of the refusal, and what the program cannot do."""


@pytest.mark.parametrize(("tool", "ask", "command"), COMMANDS)
def test_the_command_line(tool: str, ask: dict[str, Any], command: str) -> None:
    words = tuple(command.split())
    assert adapter(tool).argv(ToolRequest(program=words[0], **ask)) == words


@pytest.mark.parametrize(
    ("tool", "program", "word", "ask"),
    [(tool, program, word, ask) for tool, program, word, asks in REFUSED for ask in asks],
)
def test_what_a_program_cannot_do_is_refused(
    tool: str, program: str, word: str, ask: dict[str, Any]
) -> None:
    with pytest.raises(BadInput, match=word or "."):
        adapter(tool).argv(ToolRequest(program=program, **ask))


def test_every_program_that_a_recipe_starts_has_a_command_line_here() -> None:
    assert {tool for tool, _, _ in COMMANDS} == {one.tool for one in recipes_of("")}


@pytest.mark.parametrize("tool", adapter_names())
def test_extra_options_reach_every_program(tool: str) -> None:
    benchmarks = {"qperf": "tcp_bw", "perftest": "ib_write_bw", "iperf3": "tcp"}
    ask = ToolRequest(
        program="p",
        benchmark=benchmarks.get(tool, ""),
        role="client",
        server=""
        if tool in ("osu", "imb", "hpcc", "mpigraph", "nccl_tests", "ucc_perftest")
        else "n1",
        extra=("--own", "7"),
    )
    found = adapter(tool).argv(ask)
    assert found[0] == "p"
    assert " --own 7" in " ".join(found)
