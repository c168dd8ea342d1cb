"""Bare tables: the documents' CSV, pasted columns, and headings that promise nothing."""

from pathlib import Path

import pytest

from wireproof.logs.readers import read
from wireproof.model.errors import BadInput

GOLDEN = Path(__file__).parent.parent / "golden"


@pytest.mark.parametrize(
    ("name", "tool", "benchmark", "rows"),
    [
        ("1gbe_intelmpi_imb_p2p_pingpong.csv", "imb", "PingPong", 24),
        ("1gbe_openmpi_osu_put_bw.csv", "osu", "osu_put_bw", 23),
        ("40gbe_intelmpi_imb_p2p_pingpong.csv", "imb", "PingPong", 24),
        ("opa100_intelmpi_imb_p2p_pingpong.csv", "imb", "PingPong", 24),
    ],
)
def test_the_documents_tables(name: str, tool: str, benchmark: str, rows: int) -> None:
    (series,) = read((GOLDEN / name).read_bytes(), name)
    assert (series.tool, series.benchmark, len(series.points), series.complete) == (
        tool,
        benchmark,
        rows,
        True,
    )


def test_csv_columns_have_their_units() -> None:
    (series,) = read((GOLDEN / "1gbe_intelmpi_imb_p2p_pingpong.csv").read_bytes(), "t.csv")
    point = series.points[-1]
    assert (point.message_bytes, point.iterations) == (4 << 20, 200)
    assert point.hrt_ns == pytest.approx(36276940)
    assert point.goodput_bytes_per_s == pytest.approx(115.62e6)
    assert point.messages_per_s == pytest.approx(28)
    assert (series.metric, series.waits) == ("half_round_trip", True)


@pytest.mark.parametrize(
    ("heading", "row", "field", "value"),
    [
        ("| Size | Latency (us) |", "| 8 | 1.24 |", "hrt_ns", 1240),
        ("# Size  Bandwidth (MB/s)", "8 1.24", "goodput_bytes_per_s", 1.24e6),
        ("size,bandwidth_gbit/s", "8,1.0", "goodput_bytes_per_s", 1.25e8),
        ("Message Size (bytes)   Bandwidth (Gb/s)", "8 1.0", "goodput_bytes_per_s", 1.25e8),
        ("Message Size (bytes)   Bandwidth (GB/s)", "8 1.0", "goodput_bytes_per_s", 1e9),
        ("bytes;t_ns", "8;1240", "hrt_ns", 1240),
        ("size Gbps", "8 1.0", "goodput_bytes_per_s", 1.25e8),
        ("size,bw_Gbps", "8,1.0", "goodput_bytes_per_s", 1.25e8),
        ("size GBps", "8 1.0", "goodput_bytes_per_s", 1e9),
        ("size,bw_GBps", "8,1.0", "goodput_bytes_per_s", 1e9),
        ("size,bw_Mb/s", "8,1.0", "goodput_bytes_per_s", 1.25e5),
        ("#bytes #repetitions t[usec] Mbytes/sec", "8 1000 1.24 6.45", "hrt_ns", 1240),
        ("size  MiB/s", "8 1.0", "goodput_bytes_per_s", 2**20),
        ("size  msg/s", "8 1.0", "messages_per_s", 1),
    ],
)
def test_headings(heading: str, row: str, field: str, value: float) -> None:
    (series,) = read(f"{heading}\n{row}\n".encode(), "x.txt")
    assert getattr(series.points[0], field) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "name size price\n",
        "bytes colour\n8 1\n",
        "size gb/s\n8 1\n",
        "Size matters, he said.\n8 1\n",
        "a,b\n1,2\n",
    ],
)
def test_other_tables_are_not_results(text: str) -> None:
    with pytest.raises(BadInput):
        read(text.encode(), "x")
