"""perftest's JSON documents."""

import json

import pytest
from tests.logs.tables import one

from wireproof.logs.readers import read
from wireproof.model.series import IN_GPU


def document(**results: float) -> str:
    info = {
        "test": "RDMA_Write_BW_Test",
        "Device": "mlx5_0",
        "Number_of_qps": 1,
        "TX_depth": 128,
        "Mtu": 4096,
    }
    return json.dumps({"test_info": info, "results": results}, indent=0)


def test_json_documents() -> None:
    rate = 0.184097
    gbits = rate * 1e6 * 65536 * 8 / 1e9
    text = document(
        MsgSize=65536, n_iterations=5000, BW_peak=0, BW_average=round(gbits, 2), MsgRate=rate
    )
    mib = document(
        MsgSize=65536, n_iterations=5000, BW_peak=0, BW_average=rate * 1e6 / 16, MsgRate=rate
    )
    first, second = read((text + "\n" + mib).encode(), "x")
    assert (first.unit, second.unit) == ("Gb/sec", "MiB/sec")
    assert first.points[0].goodput_bytes_per_s == pytest.approx(round(gbits, 2) * 125e6)
    assert second.points[0].goodput_bytes_per_s == pytest.approx(rate * 1e6 * 65536)
    assert (first.benchmark, first.window) == ("ib_write_bw", 128)


def test_the_rounding_of_few_messages_per_second_leaves_the_unit_known() -> None:
    series = one(document(MsgSize=1 << 29, n_iterations=20, BW_average=23.1, MsgRate=5e-6).encode())
    assert series.unit == "Gb/sec"
    assert series.points[0].goodput_bytes_per_s == pytest.approx(23.1 * 125e6)


def test_a_json_document_of_unknown_unit_has_no_bandwidth() -> None:
    series = one(document(MsgSize=65536, n_iterations=5000, BW_average=12.0, MsgRate=0.5).encode())
    assert series.unit_doubt
    assert series.points[0].goodput_bytes_per_s is None
    lat = document(
        MsgSize=2, n_iterations=1000, t_min=0.9, t_typical=1.0, t_avg=1.1, t_max=3
    ).replace("BW", "Latency")
    assert one(lat.encode()).points[0].hrt_ns == pytest.approx(1000)


def test_a_cut_json_document_has_no_points() -> None:
    text = document(MsgSize=65536, n_iterations=5000, BW_average=96.5, MsgRate=0.184097)
    for cut in range(20, len(text) - 1):
        series = one(text[:cut].encode())
        assert not series.complete
        assert not series.points


def test_a_buffer_in_a_gpu_is_noted() -> None:
    results = {"MsgSize": 65536, "n_iterations": 5000, "BW_average": 40.1, "MsgRate": 0.076485}
    for name, value, noted in (
        ("cuda_device", 0, True),
        ("Use_ROCm_memory", "ON", True),
        ("Use_ROCm_memory", "OFF", False),
    ):
        info = {"test": "RDMA_Write_BW_Test", "Device": "mlx5_0", name: value}
        series = one(json.dumps({"test_info": info, "results": results}, indent=0).encode())
        assert any(IN_GPU in note for note in series.notes) == noted, (name, value)
