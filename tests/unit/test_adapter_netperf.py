"""netperf and libibverbs' ping-pongs: what their logs say, cut rows, the options."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.external_tables import codes

from wireproof.adapters import adapter, read
from wireproof.model.series import ToolRequest
from wireproof.physics import claim_from_text
from wireproof.verdict.external import judge_log

LOGS = Path(__file__).parents[1] / "golden" / "logs"


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


def test_an_unknown_unit_and_two_sizes_are_not_guessed() -> None:
    text = (LOGS / "made_netperf.txt").read_text().replace("10^6bits/sec", "furlongs/sec")
    text = text.replace("1        1       10.00", "1        512     10.00")
    for one in read(text.encode(), "x"):
        assert not one.points
        assert not one.complete


def test_what_rc_pingpong_prints() -> None:
    data = (LOGS / "made_ibv_rc_pingpong.txt").read_bytes()
    (one,) = read(data, "x")
    assert (one.benchmark, one.protocol, one.hosts) == (
        "ibv_rc_pingpong",
        "rdma",
        ["LID 0x0003", "LID 0x0007"],
    )
    (point,) = one.points
    assert (point.message_bytes, point.hrt_ns, point.iterations) == (65536, 7350, 1000)
    same = data.replace(b"LID 0x0007", b"LID 0x0003")
    (found,) = judge_log(read(same, "x"), claim_from_text("edr"))
    assert codes(found, "fail") == {"one-host"}


def test_command_lines() -> None:
    ask = ToolRequest(program="netperf", role="client", server="n2", sizes=(64,), seconds=5.0)
    assert adapter("netperf").argv(ask) == (
        *("netperf", "-H", "n2", "-t", "TCP_STREAM", "-l", "5", "--", "-m", "64"),
    )
    ask = ToolRequest(program="ibv_rc_pingpong", role="client", server="n2", iterations=10)
    assert adapter("ibv_pingpong").argv(ask) == ("ibv_rc_pingpong", "-n", "10", "n2")
