"""iperf3's JSON, whole and as a stream of events."""

import json
from typing import Any

import pytest
from tests.logs.tables import golden, one, rate

from wireproof.logs.readers import read


@pytest.mark.parametrize(
    ("name", "gbits"), [("iperf3_1g_mtu1500.json", 0.948382), ("iperf3_10g_mtu9000.json", 9.903)]
)
def test_json_gives_what_arrived(name: str, gbits: float) -> None:
    (series,) = golden(name)
    assert rate(series) * 8e-9 == pytest.approx(gbits, rel=1e-3)
    assert series.version == "3.12"
    assert len(series.hosts) == 2
    assert (series.points[0].message_bytes, series.protocol, series.complete) == (
        131072,
        "tcp",
        True,
    )
    assert series.points[0].values["intervals"] == 3


def test_json_of_both_directions_reverse_and_udp() -> None:
    (both,) = golden("iperf3_bidir_loopback.json")
    assert (both.directions, both.benchmark) == (2, "tcp_bidir")
    assert rate(both) == pytest.approx((13911553002.61932 + 9487913453.928406) / 8)
    (reverse,) = golden("iperf3_reverse_loopback.json")
    assert "reverse: the server sends" in reverse.notes
    assert reverse.pairs == 2
    (udp,) = golden("iperf3_udp_loopback.json")
    assert (udp.protocol, udp.points[0].message_bytes) == ("udp", 32768)


def document(**end: Any) -> dict[str, Any]:
    test = {"protocol": "TCP", "num_streams": 4, "blksize": 65536, "omit": 0, "reverse": 0}
    return {
        "start": {"connected": [], "version": "iperf 3.16", "test_start": test},
        "intervals": [],
        "end": end,
    }


def test_several_documents_in_one_file() -> None:
    first = document(sum_sent={"bits_per_second": 9e9}, sum_received={"bits_per_second": 8e9})
    second = document(sum_sent={"bits_per_second": 7e9})
    text = json.dumps(first, indent=8) + "\n" + json.dumps(second)
    for shown in (text + "\n", f"[\n{json.dumps(first)},\n{json.dumps(second)}\n]\n"):
        found = read(shown.encode(), "x")
        assert [rate(series) for series in found] == pytest.approx([1e9, 7e9 / 8])
        assert [series.pairs for series in found] == [4, 4]


def test_a_cut_document_before_another() -> None:
    whole = json.dumps(document(sum_received={"bits_per_second": 8e9}), indent=1)
    cut, good = read((whole[: len(whole) // 2] + "\n" + whole + "\n").encode(), "x")
    assert not cut.complete
    assert not cut.points
    assert rate(good) == pytest.approx(1e9)


def test_a_document_that_holds_the_servers_own() -> None:
    whole = document(sum_received={"bits_per_second": 8e9})
    whole["server_output_json"] = document(sum_received={"bits_per_second": 1e9})
    for indent in (None, 0, 4):
        assert rate(one(json.dumps(whole, indent=indent) + "\n")) == pytest.approx(1e9)


def test_json_that_an_error_ended() -> None:
    broken = document(sum_received={"bits_per_second": 8e9}) | {
        "error": "control socket has closed unexpectedly"
    }
    series = one(json.dumps(broken))
    assert not series.complete
    assert "control socket" in series.incomplete


@pytest.mark.parametrize("bad", ["-nan", "NaN", "-5", "1e300", '"fast"', "null", "true", "[]"])
def test_numbers_that_cannot_be(bad: str) -> None:
    text = json.dumps(document(sum_received={"bits_per_second": 424242})).replace("424242", bad)
    series = one(text)
    assert not series.points
    assert not series.complete


def test_old_udp_json_has_only_the_senders_sum() -> None:
    value = document(
        sum={"bits_per_second": 8e8, "lost_packets": 25, "packets": 100, "jitter_ms": 0.02}
    )
    value["start"]["test_start"]["protocol"] = "UDP"
    series = one(json.dumps(value))
    assert rate(series) == pytest.approx(75e6)
    assert series.points[0].values["lost_packets"] == 25


def test_the_first_versions_have_no_sums() -> None:
    stream = {
        "sender": {"bits_per_second": 9e9},
        "receiver": {"bits_per_second": 8e9, "seconds": 10},
    }
    assert rate(one(json.dumps(document(streams=[stream])))) == pytest.approx(1e9)
    assert rate(one(json.dumps(document(streams=[stream, stream])))) == pytest.approx(2e9)
    assert not one(json.dumps(document(streams=[stream, {"receiver": {}}]))).points


def test_what_a_client_wrote_and_no_server_received_is_no_result() -> None:
    """A path that drops large frames: the client's kernel took 79,640 bytes, and none arrived."""
    sums = {"sum_sent": {"bits_per_second": 318e3}, "sum_received": {"bits_per_second": 0}}
    lost = document(**sums)
    lost["start"]["connecting_to"] = {"host": "192.0.2.9", "port": 5201}
    series = one(json.dumps(lost))
    assert (series.points, series.incomplete) == ([], "no payload arrived")
    sending_server = document(**sums)
    assert rate(one(json.dumps(sending_server))) == pytest.approx(318e3 / 8)


def test_a_stream_of_events() -> None:
    start = document()["start"]
    interval = {"sum": {"bits_per_second": 8e9, "seconds": 1.0}}
    events = [
        *({"event": "start", "data": start}, {"event": "interval", "data": interval}),
        {"event": "end", "data": {"sum_received": {"bits_per_second": 8e9}}},
    ]
    text = "\n".join(json.dumps(event, separators=(",", ":")) for event in events) + "\n"
    assert rate(one(text)) == pytest.approx(1e9)
    assert [rate(series) for series in read((text + text).encode(), "x")] == pytest.approx(
        [1e9, 1e9]
    )
    cut = one(text[: text.index('{"event":"end"') + 30])
    assert not cut.complete
    assert not cut.points
