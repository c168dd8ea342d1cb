"""Tables of other programs: the documents' own, and made ones."""

import csv
from pathlib import Path

import msgspec
from tests.records import osu_rates, osu_times

from wireproof.logs.readers import read
from wireproof.model.errors import BadInput
from wireproof.model.series import Series, SeriesPoint, SeriesVerdict

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
LOGS = GOLDEN / "logs"


def golden(name: str) -> list[Series]:
    """What a golden log holds."""
    return read((LOGS / name).read_bytes(), name)


def one_golden(name: str) -> Series:
    """The only series of a golden log."""
    (series,) = golden(name)
    return series


def one(log: str | bytes) -> Series:
    """The only series of a log."""
    (series,) = read(log if isinstance(log, bytes) else log.encode(), "x")
    return series


def readable(text: str) -> list[Series]:
    """What a log holds; nothing if it is refused in one sentence."""
    try:
        return read(text.encode(), "x")
    except BadInput:
        return []


def rate(series: Series) -> float:
    """The goodput of its only point, bytes/s."""
    (point,) = series.points
    assert point.goodput_bytes_per_s is not None
    return point.goodput_bytes_per_s


def imb(name: str) -> Series:
    """One of the documents' ping-pong tables."""
    with (GOLDEN / name).open(encoding="utf-8") as file:
        points = [
            SeriesPoint(
                message_bytes=int(row["bytes"]),
                hrt_ns=float(row["t_usec"]) * 1e3,
                time_step_ns=10.0,
                goodput_bytes_per_s=float(row["mbytes_per_s"]) * 1e6,
                goodput_step=1e4,
                messages_per_s=float(row["msg_per_s"]),
                iterations=int(row["repetitions"]),
            )
            for row in csv.DictReader(file)
        ]
    return osu_times(
        points,
        tool="imb",
        benchmark="PingPong",
        formula="loop / (2 N)",
        unit="us; MB = 10^6",
        processes=2,
    )


def pingpong(times_us: dict[int, float], **changes: object) -> Series:
    points = [
        SeriesPoint(message_bytes=s, hrt_ns=t * 1e3, time_step_ns=10.0) for s, t in times_us.items()
    ]
    plain = osu_times(points)
    return msgspec.structs.replace(plain, **changes)


def stream(rates_mb: dict[int, float], **changes: object) -> Series:
    points = [
        SeriesPoint(message_bytes=s, goodput_bytes_per_s=r * 1e6, goodput_step=1e4)
        for s, r in rates_mb.items()
    ]
    plain = osu_rates(points, formula="bytes / time")
    return msgspec.structs.replace(plain, **changes)


def wire_times(start_us: float, rate_mb: float, sizes: range = range(23)) -> dict[int, float]:
    return {1 << n: start_us + (1 << n) / rate_mb for n in sizes}


def codes(found: SeriesVerdict, severity: str = "") -> set[str]:
    return {r.code for r in found.reasons if not severity or r.severity == severity}
