"""fi_pingpong of libfabric: what it prints and the options that it takes.

Ten round trips by default, no warm-up, a clock of whole microseconds. MB = 10^6 bytes.
"""

from __future__ import annotations

import re
from typing import Literal

from wireproof.adapters.adapter import Adapter, Parsed, Sign
from wireproof.adapters.fabtests.rows import (
    FabricRows,
    command_before,
    point_of,
    provider_of,
    read_fabric_rows,
)
from wireproof.adapters.options import given, one_size, refuse_others, server_of
from wireproof.adapters.page import Page
from wireproof.model.quantity import counted
from wireproof.model.series import Series
from wireproof.model.tool import ToolRequest

__all__ = ["ADAPTER"]

_HEADING = re.compile(
    r"^\s*(?:\S{1,60}:\s+)?(name\s+)?bytes\s+#sent\s+#ack\s+total\s+time\s+MB/sec\s+usec/xfer"
)
_PROGRAM = re.compile(r"(?:^|[\s/'\"$])(fi_pingpong)(?=\s|$)")
_COLUMNS = ["bytes", "count", "ack", "total", "time", "rate", "usec", "mxfers"]
_FORMULA = (
    "elapsed whole microseconds / (2 x iterations): half of a mean round trip; MB/sec = 2 x "
    "iterations x size / elapsed"
)

Protocol = Literal["", "tcp", "udp", "rdma"]
_PROTOCOLS: dict[str, Protocol] = {
    "tcp": "tcp",
    "sockets": "tcp",
    "net": "tcp",
    "udp": "udp",
    "verbs": "rdma",
}


def _notes(found: FabricRows, left_out: int, provider: str) -> list[str]:
    notes = [f"provider {provider} (from the command line)"] if provider else []
    if any(row.rounded for row in found.rows):
        notes.append("sizes are printed as 1.5k: what is below the last digit is lost")
    if left_out:
        notes.append(f"{counted(left_out, 'row')} left out: time zero or not a number")
    odd = [row.line + 1 for row in found.rows if not row.acknowledged.startswith("=")]
    if odd:
        notes.append(f"{len(odd)} rows (line {odd[0]}) count other answers than messages sent")
    return notes


def parse(page: Page, start: int) -> Parsed:
    """The table whose heading is on line index ``start``."""
    heading = _HEADING.search(page.lines[start])
    if heading is None:
        return Parsed([], start + 1)
    found = read_fabric_rows(page, start + 1, _COLUMNS, heading.group(1) is not None)
    points = [point_of(row, 2) for row in found.rows]
    good = sorted(
        (point for point in points if point is not None), key=lambda point: point.message_bytes
    )
    incomplete = "" if good else "no row that can be read follows the heading"
    if found.torn:
        incomplete = f"line {found.torn[0] + 1}: a row is torn ({len(found.torn)} in all)"
    if found.cut:
        incomplete = f"line {len(page.lines)}: the text ends inside a row"
    _, rest = command_before(page, start, _PROGRAM)
    provider = provider_of(rest)
    series = Series(
        tool="fi_pingpong",
        benchmark="fi_pingpong",
        metric="half_round_trip",
        traffic="pingpong",
        points=good,
        formula=_FORMULA,
        unit="us; MB = 10^6 bytes; sizes 1k = 1024 bytes, two digits",
        waits=True,
        protocol=_PROTOCOLS.get(provider.partition(";")[0], ""),
        complete=not incomplete,
        incomplete=incomplete,
        notes=_notes(found, len(points) - len(good), provider),
        source=page.source,
        first_line=start + 1,
        last_line=found.rows[-1].line + 1 if found.rows else start + 1,
    )
    return Parsed([series], found.after)


def argv(request: ToolRequest) -> tuple[str, ...]:
    """``fi_pingpong -p psm3 -I 1000 -S 1024 SERVER``. It measures one size, or its own list without
    ``-S``.

    ``benchmark``: the provider. The server takes the same options without an address.
    """
    refuse_others(request, "fi_pingpong", "server", "port", "sizes", "iterations", "device")
    size = one_size(request, "fi_pingpong measures one size a run, or its own list")
    provider = "" if request.benchmark == "fi_pingpong" else request.benchmark
    options = given(
        ("-p", provider),
        ("-d", request.device),
        ("-P" if request.role == "client" else "-B", request.port),
        ("-I", request.iterations),
        ("-S", size),
    )
    server = server_of(request, "fi_pingpong")
    return (request.program, *options, *request.extra, *([server] if server else []))


ADAPTER = Adapter(
    name="fi_pingpong",
    signs=(Sign("#sent", r"\bbytes +#sent +#ack +total\b"),),
    parse=parse,
    argv=argv,
)
