"""Logs of perftest, iperf3, iperf 2, qperf and sockperf in the forms that people send them in: the
same records.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from wireproof.adapters import read
from wireproof.model.series import Series

LOGS = Path(__file__).parent.parent / "golden" / "logs"
KINDS = ("softroce", "ib_", "iperf", "qperf", "sockperf")
NAMES = sorted(path.name for path in LOGS.iterdir() if path.name.startswith(KINDS))


def lines(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda data: b"\n".join(change(line) for line in data.split(b"\n")[:-1]) + b"\n"


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "dos": lambda data: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    "srun -l": lines(lambda line: b"0: " + line),
    "tag-output": lines(lambda line: b"[1,0]<stdout>:" + line),
    "quoted": lines(lambda line: b"> " + line),
    "indented": lines(lambda line: b"    " + line),
    "bars": lines(lambda line: b"| " + line + b" |"),
    "cells": lines(lambda line: b"<tr><td>" + line + b"</td></tr>"),
    "blanks at the end": lines(lambda line: line + b"   "),
    "time stamps": lines(lambda line: b"2024-05-01T10:00:00.123Z " + line),
    "empty lines": lines(lambda line: line + b"\n"),
    "a web page": lambda data: b"<html><pre>\n" + data + b"</pre></html>\n",
    "utf-16": lambda data: data.decode("utf-8", "replace").encode("utf-16"),
    "foreign words": lambda data: (
        "Начало задания\n作业开始\n".encode() + data + "Ende – fertig\n".encode()
    ),
}


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


@pytest.mark.parametrize("form", FORMS)
def test_the_form_changes_nothing(form: str) -> None:
    for name in NAMES:
        data = (LOGS / name).read_bytes()
        data += b"" if data.endswith(b"\n") else b"\n"
        assert records(read(FORMS[form](data), name)) == records(read(data, name)), name


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
        " RDMA_Write BW Test\n Device : mlx5_0\n Link type : Ethernet\n"
        " #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n"
    )
    (one,) = read((text + rows).encode(), "x")
    assert (len(one.points), one.complete) == (3, True)
    (short,) = read((text + rows.splitlines()[0] + "\n").encode(), "x")
    assert not short.complete
