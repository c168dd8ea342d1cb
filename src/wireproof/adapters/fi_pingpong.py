"""fi_pingpong of libfabric: its output and its options.

Ten round trips by default, no warm-up, a clock of whole microseconds. MB = 10^6 bytes.
"""

import re

from wireproof.adapters.fabtests.rows import (
    command_before,
    points_of,
    provider_of,
    read_fabric_rows,
)
from wireproof.adapters.options import command
from wireproof.adapters.page import Page
from wireproof.adapters.registry import Adapter, Benchmark, Parsed
from wireproof.model.series import ToolRequest

_HEADING = re.compile(
    r"^\s*(?:\S{1,60}:\s+)?(name\s+)?bytes\s+#sent\s+#ack\s+total\s+time\s+MB/sec\s+usec/xfer"
)
_PROGRAM = re.compile(r"(?:^|[\s/'\"$])(fi_pingpong)(?=\s|$)")
_COLUMNS = ["bytes", "count", "ack", "total", "time", "rate", "usec", "mxfers"]
_TEST = Benchmark(
    "fi_pingpong",
    "half_round_trip",
    "pingpong",
    "elapsed whole microseconds / (2 x iterations): half of a mean round trip; MB/sec = 2 x "
    "iterations x size / elapsed",
    waits=True,
)
_PROTOCOLS = {"tcp": "tcp", "sockets": "tcp", "net": "tcp", "udp": "udp", "verbs": "rdma"}


def parse(page: Page, start: int) -> Parsed:
    """Parse the table whose heading is on line index ``start``."""
    heading = _HEADING.search(page.lines[start])
    if heading is None:
        return Parsed([], start + 1)
    found, rows = read_fabric_rows(page, start + 1, _COLUMNS, heading.group(1) is not None)
    points, notes = points_of(rows, 2)
    provider = provider_of(command_before(page, start, _PROGRAM)[1])
    if provider:
        notes.insert(0, f"provider {provider} (from the command line)")
    odd = [row.line + 1 for row in rows if not row.acknowledged.startswith("=")]
    if odd:
        notes.append(f"{len(odd)} rows (line {odd[0]}) count other answers than messages sent")
    series = _TEST.series(
        "fi_pingpong",
        points,
        unit="us; MB = 10^6 bytes; sizes 1k = 1024 bytes, two digits",
        protocol=_PROTOCOLS.get(provider.partition(";")[0], ""),
        incomplete=found.state(page, points),
        notes=notes,
        last_line=found.last_line,
    )
    return Parsed([series], found.after)


def argv(request: ToolRequest) -> tuple[str, ...]:
    """Return ``fi_pingpong -p psm3 -I 1000 -S 1024 SERVER``. It measures one size, or without
    ``-S`` its list.

    ``benchmark``: the provider. The server takes the same options without an address.
    """
    provider = "" if request.benchmark == "fi_pingpong" else request.benchmark
    port = "-P" if request.role == "client" else "-B"
    flags = {"device": "-d", "port": port, "iterations": "-I", "sizes": "-S"}
    return command(request, "fi_pingpong", flags, ("-p", provider))


ADAPTER = Adapter(
    name="fi_pingpong",
    parse=parse,
    argv=argv,
)
