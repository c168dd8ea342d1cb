"""A watched command as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.model import quantity
from wireproof.model.traffic import (
    DirectionTraffic,
    HostTraffic,
    PortTraffic,
    Traffic,
    TrafficVerdict,
)
from wireproof.report.answers import LEVELS
from wireproof.report.names import clean, natural

__all__ = ["lines"]

SHOWN_BYTES = 10_000
"""Other ports that carried less in both directions are left out, unless they are all that there is
to show.
"""
MOST_HOSTS = 40
_WORDS = {"pass": "PASS", "fail": "FAIL", "inconclusive": "INCONCLUSIVE"}


def lines(exit_status: int, traffic: Traffic, judgement: TrafficVerdict) -> list[str]:
    """The verdict first, then what crossed which port, then the reasons."""
    found = [
        (
            f"path: {judgement.proof} ({_WORDS[judgement.verdict]}); the command ended with status "
            f"{exit_status}"
        )
    ]
    if judgement.proof == "on-wire" and judgement.level in LEVELS:
        found.append(f"  the bytes were {LEVELS[judgement.level]}")
    found += _table(traffic, judgement)
    found += _held_against(traffic, judgement)
    printed = judgement.printed
    if printed and printed.rate_bytes_per_s:
        found.append(
            f"  the printed rows put {quantity.megabytes(printed.rate_bytes_per_s)} MB/s on a port "
            "in one direction"
        )
    found += [f"  {one.severity}: {clean(one.message)} [{one.code}]" for one in judgement.reasons]
    return found


def _held_against(traffic: Traffic, judgement: TrafficVerdict) -> list[str]:
    """The peak as a share of the claimed link, else of the speed that the fastest-filled port
    claims itself.
    """
    peak, attainable = judgement.peak_bytes_per_s, judgement.attainable_bytes_per_s
    if attainable and peak is not None:
        sample = f"{traffic.interval_s * 1e3:.0f} ms sample"
        text = (
            f"  peak of one {sample}: {quantity.megabytes(peak)} MB/s with headers; the claimed "
            f"link carries {quantity.megabytes(attainable)} MB/s of payload"
        )
        return [text + (". Short bursts may exceed it." if peak > attainable else "")]
    names = judgement.port.split(", ")
    ports = [
        (host.host, port) for host in traffic.hosts for port in host.ports if port.nic in names
    ]
    shares = [
        (_peak(port) * 8 / port.speed_bits_per_s, host, port)
        for host, port in ports
        if port.speed_bits_per_s
    ]
    if not shares:
        return []
    share, host, port = max(shares, key=lambda one: one[0])
    speed = quantity.line_rate(port.speed_bits_per_s)
    return [
        (
            f"  the peak is {quantity.percent(share)} of the {speed} that {clean(port.nic, 32)} of "
            f"{clean(host, 64)} claims"
        )
    ]


def _peak(port: PortTraffic) -> float:
    return max(port.tx.peak_bytes_per_s or 0.0, port.rx.peak_bytes_per_s or 0.0)


def _table(traffic: Traffic, judgement: TrafficVerdict) -> list[str]:
    watched = [one for one in traffic.hosts if not one.error]
    hosts = sorted(watched, key=lambda one: natural(one.host))
    names = judgement.port.split(", ")
    rows = [row for host in hosts[:MOST_HOSTS] for row in _rows(host, names)]
    head = ["host", "port", "out", "peak MB/s", "in", "peak MB/s", "port's speed"]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in [head, *rows]]
    left = len(hosts) - MOST_HOSTS
    return [*lines, f"  ... and {left} more hosts (--json has all)"] if left > 0 else lines


def _rows(host: HostTraffic, names: Sequence[str]) -> list[list[str]]:
    """The ports that carried something, and those that the verdict is about in any case."""
    loud = [port for port in host.ports if _bytes(port) >= SHOWN_BYTES or port.nic in names]
    return [_row(host, port) for port in loud or sorted(host.ports, key=_bytes)[-1:]]


def _bytes(port: PortTraffic) -> float:
    return max(port.tx.bytes or 0.0, port.rx.bytes or 0.0)


def _row(host: HostTraffic, port: PortTraffic) -> list[str]:
    speed = quantity.line_rate(port.speed_bits_per_s) if port.speed_bits_per_s else "unknown"
    return [
        clean(host.host, 64),
        clean(port.nic, 32),
        *_direction(port.tx),
        *_direction(port.rx),
        speed,
    ]


def _direction(one: DirectionTraffic) -> list[str]:
    if one.bytes is None:
        return [f"unknown ({one.trouble})", "-"]
    unsure = (
        f" ±{quantity.volume(one.background)}" if one.background > 0.01 * one.bytes + 1000 else ""
    )
    return [quantity.volume(one.bytes) + unsure, quantity.megabytes(one.peak_bytes_per_s)]
