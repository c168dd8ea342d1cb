# pure
"""qperf."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import (
    Adapter,
    Benchmark,
    Parsed,
    given,
    refuse_others,
    starts_result,
)
from wireproof.logs.readers.rows import nearest_above, number, printable, step_of, times
from wireproof.model.errors import BadInput
from wireproof.model.quantity import whole
from wireproof.model.series import SeriesPoint, ToolRequest, Traffic

# --- The tests of qperf: the meaning of each name, its transport, and how the printed number is
# calculated.

TITLE = re.compile(r"^ *((?:tcp|udp|sctp|sdp|rds|rc|uc|ud|xrc|ver_rc)_[a-z_]{2,24}): *$")
_KNOWN = re.compile(
    r"(?:tcp|udp|sctp|sdp|rds|rc|uc|ud|xrc)_(?:bw|lat)|(?:rc|uc|ud|xrc)_bi_bw|"
    r"(?:rc|uc)_rdma_write_(?:bw|lat|poll_lat)|rc_rdma_read_(?:bw|lat)|"
    r"rc_(?:compare_swap|fetch_add)_mr|ver_rc_(?:compare_swap|fetch_add)"
)

_PROTOCOLS = {
    "tcp": "tcp",
    "udp": "udp",
    "rc": "rdma",
    "uc": "rdma",
    "ud": "rdma",
    "xrc": "rdma",
    "ver": "rdma",
}
_ARRIVED = "bytes that arrived / elapsed time of the sender's test"


def default_size(name: str) -> int:
    """Return the message size in bytes that qperf uses by default."""
    if name.endswith("lat"):
        return 1
    if name.endswith("_mr"):
        return 8
    return {"udp_bw": 32 << 10, "ud_bw": 2 << 10, "ud_bi_bw": 2 << 10}.get(name, 64 << 10)


def test_of(name: str) -> Benchmark:
    """Return the test for a name; a test without a metric is not a measurement (``ver_*``
    verify).
    """
    if name.startswith("ver_"):
        return Benchmark(name, "", "other", "")
    if name.endswith("_mr"):
        formula = "operations that completed / elapsed time"
        return Benchmark(name, "message_rate", "atomic", formula)
    if name.endswith("rdma_read_lat"):
        formula = "elapsed time / reads: one whole read"
        return Benchmark(name, "latency", "get", formula, waits=True)
    if name.endswith("lat"):
        formula = "elapsed time / messages of both directions: half of a round trip"
        return Benchmark(name, "half_round_trip", "pingpong", formula, waits=True)
    if name.endswith("bi_bw"):
        formula = f"{_ARRIVED}, both directions added"
        return Benchmark(name, "bidirectional_bandwidth", "exchange", formula, directions=2)
    traffic: Traffic = "put" if "rdma_write" in name else "get" if "rdma_read" in name else "stream"
    return Benchmark(name, "bandwidth", traffic, _ARRIVED)


# --- The options of qperf.

_RDMA = ("rc_", "uc_", "ud_", "xrc_")


def _sizes(sizes: tuple[int, ...]) -> list[str]:
    """Return the options for one size, or for a loop from the smallest to the largest with a
    constant factor.
    """
    if len(sizes) <= 1:
        return ["-m", str(sizes[0])] if sizes else []
    ordered = sorted(sizes)
    factor = ordered[1] // ordered[0] if ordered[0] > 0 else 0
    if factor < 2 or any(after != before * factor for before, after in pairwise(ordered)):
        raise BadInput(
            "qperf loops over sizes with a constant factor: request such a list, or one size."
        )
    return ["-oo", f"msg_size:{ordered[0]}:{ordered[-1]}:*{factor}"]


def _tests(request: ToolRequest) -> list[str]:
    """Return the requested tests. Raise BadInput for an unknown test, or for a test that never ends
    after a number of messages.
    """
    tests = request.benchmark.split()
    odd = [name for name in tests if not _KNOWN.fullmatch(name)]
    if odd or not tests:
        raise BadInput(
            f"qperf has no test {odd[0] if odd else ''!r}: give one, such as tcp_bw, tcp_lat, "
            "rc_bw or rc_lat."
        )
    sockets = [name for name in tests if not name.startswith(_RDMA)]
    if request.iterations is not None and sockets:
        raise BadInput(
            f"qperf never ends {sockets[0]} after a number of messages: request seconds."
        )
    return tests


def argv(request: ToolRequest) -> tuple[str, ...]:
    """Return ``qperf SERVER -m 1048576 -ca 6 -vvu tcp_bw``; the server takes only its port (``qperf
    -lp 19765``).

    ``-vvu`` prints the message size. ``benchmark``: tcp_bw, rc_lat … or several, separated by
    spaces.
    """
    refuse_others(
        request,
        "qperf",
        "server",
        "port",
        "sizes",
        "iterations",
        "seconds",
        "socket_buffer_bytes",
        "cpu",
        "device",
        "rdma_cm",
    )
    port = given(("-lp", request.port))
    if request.role != "client":
        return (request.program, *port, *request.extra)
    if not request.server:
        raise BadInput("qperf's client needs the server's address.")
    tests = _tests(request)
    options = given(
        ("-t", request.seconds),
        ("-n", request.iterations),
        ("-sb", request.socket_buffer_bytes),
        ("-ca", request.cpu),
        ("-i", request.device),
        ("-cm", 1 if request.rdma_cm else None),
    )
    head = (request.program, request.server, *port, *_sizes(request.sizes), *options)
    return (*head, "-vvu", *request.extra, *tests)


# --- qperf: output and options. All units count in powers of 1000, except sizes that are whole in
# powers of 1024 (``64 KiB (65,536)``).

_FIELD = re.compile(
    r"^ {0,40}([a-z]\w{0,30})( +)= +(-?[\d.,]{1,24}) ?([%\w/ ]{0,16}?)(?: \(([\d,]{1,24})\))? *$"
)
_WORDS = re.compile(r"^ {1,40}\w{1,30} +=")
_BEGUN = re.compile(r"^ {0,40}[a-z]\w{0,30} *$")
_COMMAND = re.compile(r"(?:^|[\s/$])qperf\s([^\n]{1,300})")
_SIZE = re.compile(r"(?:^|\s)(?:-m|--msg_size)[ =]?(\d{1,9})(K|M|G|[kmg](?:ib|b)?)?(?=\s|$)")
_TROUBLE = re.compile(
    r"failed to |cannot |error|unable to |timed out|not found|Connection refused|terminated",
    re.IGNORECASE,
)
_BAND = {"bytes/sec": 1.0, "KB/sec": 1e3, "MB/sec": 1e6, "GB/sec": 1e9, "TB/sec": 1e12}
_BITS = {"bits/sec": 0.125, "Kb/sec": 125.0, "Mb/sec": 125e3, "Gb/sec": 125e6, "Tb/sec": 125e9}
_RATE = {"/sec": 1.0, "K/sec": 1e3, "M/sec": 1e6, "G/sec": 1e9, "T/sec": 1e12}
_TIME = {"ns": 1.0, "us": 1e3, "ms": 1e6, "sec": 1e9, "s": 1e9}
_LENGTH = {"bytes": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9}
_BINARY = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_RESULTS = ("bw", "recv_bw", "send_bw", "latency", "msg_rate")
_BEFORE = 30
_FOREIGN = 4
_MOST = 1e15
_GAP = 2  # spaces between the longest name of a block and its "="


@dataclass(slots=True)
class _TestBlock:
    """One ``tcp_bw:`` and the lines below it. ``whole``: the line with the longest name is
    present.
    """

    values: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    whole: bool = False
    torn: bool = False
    trouble: str = ""
    line: int = 0
    last: int = 0
    after: int = 0


def _block(page: Page, start: int) -> _TestBlock:
    """Return the block whose title is on line index ``start``: up to the first line that does not
    belong to it, except for foreign lines between fields and an error message in place of a result.
    """
    block = _TestBlock(line=start, last=start, after=start + 1)
    for index in range(start + 1, len(page.lines)):
        line, final = page.lines[index], index == page.ragged
        match, going = _FIELD.match(line), True
        if match is not None:
            going = _take(block, match, index, final)
        elif _WORDS.match(line):
            block.torn |= final
        elif final and _BEGUN.match(line):
            block.torn = True
        elif line.strip():
            trouble = not block.values and _TROUBLE.search(line) is not None
            if starts_result(line) or not (trouble or _continues(page, index)):
                break
            if trouble:
                block.trouble = printable(line[:160])
        block.after = index + 1
        if not going:
            break
    return block


def _take(block: _TestBlock, match: re.Match[str], index: int, final: bool) -> bool:
    """Add a field to the block; return False if it is torn, so that the block ends in it."""
    name, gap, value, unit, exact = match.groups()
    block.whole |= len(gap) <= _GAP  # a web page collapses them to one space
    # units that are not the beginning of a longer unit
    whole = exact or match.string.rstrip().endswith(("/sec", " us", " ns", " ms"))
    if final and not whole:
        block.torn = name in _RESULTS or name == "msg_size"
        return False
    block.values.setdefault(name, (value, unit.strip(), exact or ""))
    block.last = index
    return True


def _continues(page: Page, index: int) -> bool:
    for line in page.lines[index + 1 : index + 1 + _FOREIGN]:
        if _FIELD.match(line):
            return True
        if starts_result(line):
            return False
    return False


def _scaled(block: _TestBlock, name: str, units: dict[str, float]) -> tuple[float | None, float]:
    """Return (value, value of its last digit) in base units."""
    value, unit, _ = block.values.get(name, ("", "", ""))
    plain = number(value.replace(",", ""))
    if plain is None or unit not in units or not 0 < plain * units[unit] < _MOST:
        return None, 0.0
    return plain * units[unit], step_of(value.replace(",", "")) * units[unit]


def _size(block: _TestBlock) -> int | None:
    if "msg_size" not in block.values:
        return None
    value, unit, exact = block.values["msg_size"]
    if exact:
        return whole(exact.replace(",", ""))
    plain = number(value.replace(",", ""))
    factor = _BINARY.get(unit, _LENGTH.get(unit))
    if plain is None or factor is None or not 0 <= plain * factor < 1 << 40:
        return None
    return round(plain * factor)


def _asked_size(page: Page, start: int) -> int | None:
    """Return the size in ``-m 1M`` of a qperf command above: K, M, G, kib … are powers of 1024; k,
    m, g, kb … of 1000.
    """
    command = nearest_above(page, start, _COMMAND, _BEFORE, lambda _: False)
    size = None if command is None else _SIZE.search(command.group(1))
    if size is None:
        return None
    scale = size.group(2) or ""
    base = 1024 if scale.isupper() or scale.endswith("ib") else 1000
    return int(size.group(1)) * int(base ** " kmg".index(scale[:1].lower() or " "))


def _others(block: _TestBlock) -> dict[str, float]:
    """Return the sender's rate and the processor shares."""
    values = {}
    sent, _ = _scaled(block, "send_bw", _BAND | _BITS)
    if sent is not None:
        values["send_bytes_per_s"] = sent
    for name in ("send_cpus_used", "recv_cpus_used", "loc_cpus_used", "rem_cpus_used"):
        used = number(block.values.get(name, ("", "", ""))[0])
        if used is not None and used >= 0:
            values[f"{name}_percent"] = used
    return values


def _point(block: _TestBlock, test: Benchmark, size: int) -> SeriesPoint | None:
    arrived = "recv_bw" if "recv_bw" in block.values else "bw"
    goodput, step = _scaled(block, arrived, _BAND | _BITS)
    time, time_step = _scaled(block, "latency", _TIME)
    rate, _ = _scaled(block, "msg_rate", _RATE)
    hrt, whole_time = times(time, test.half_round_trip)
    if goodput is None and time is None and rate is None:
        return None
    return SeriesPoint(
        message_bytes=size,
        hrt_ns=hrt,
        time_ns=whole_time,
        goodput_bytes_per_s=goodput,
        messages_per_s=rate,
        time_step_ns=time_step,
        goodput_step=step,
        values=_others(block),
        line=block.line + 1,
    )


def _blocks(page: Page, start: int, name: str) -> list[_TestBlock]:
    """Return the block on line index ``start`` and the blocks of the same test after it: a sweep,
    or repeated runs.
    """
    blocks = [_block(page, start)]
    while blocks[-1].after < len(page.lines):
        title = TITLE.match(page.lines[blocks[-1].after])
        if title is None or title.group(1) != name:
            break
        blocks.append(_block(page, blocks[-1].after))
    return blocks


def _cut(page: Page, blocks: list[_TestBlock]) -> str:
    """Return why the last block cannot be used; "" if it can."""
    last = blocks[-1]
    ended = last.after >= len(page.lines)
    if last.torn or (ended and (_halfway(last) or _lost_size(blocks))):
        return f"line {len(page.lines)}: the text ends inside a block"
    return ""


def _halfway(block: _TestBlock) -> bool:
    """Return True if the block may be incomplete: -v prints the message size below the rate, so a
    block that ends there may have lost it.
    """
    if not block.values:
        return False
    return not block.whole or (list(block.values)[-1] == "msg_rate" and len(block.values) > 1)


def _lost_size(blocks: list[_TestBlock]) -> bool:
    """Return True if the last of several blocks lacks the message size that another has."""
    *before, last = blocks
    return "msg_size" not in last.values and any("msg_size" in one.values for one in before)


def _points(
    page: Page, start: int, blocks: list[_TestBlock], test: Benchmark, name: str
) -> tuple[list[SeriesPoint], list[str]]:
    """Return points in printed order, and notes on blocks without a point and on sizes that were
    not printed.
    """
    asked = _asked_size(page, start)
    taken = asked if asked is not None else default_size(name)
    notes, points = list[str](), list[SeriesPoint]()
    for block in blocks:
        size = _size(block)
        point = _point(block, test, taken if size is None else size)
        if point is not None:
            points.append(point)
        elif not block.values.keys().isdisjoint(_RESULTS):
            notes.append(
                f"line {block.line + 1}: left out: its result is zero or an impossible number"
            )
    if points and any("msg_size" not in block.values for block in blocks):
        whose = "that of the command line" if asked is not None else f"{name}'s default"
        notes.append(f"the message size is not printed: {taken} bytes, {whose}, is assumed")
    return points, notes


def parse(page: Page, start: int) -> Parsed:
    """Parse the blocks of one test from line index ``start`` on."""
    title = TITLE.match(page.lines[start])
    if title is None:
        return Parsed([], start + 1)
    name = title.group(1)
    test = test_of(name)
    blocks = _blocks(page, start, name)
    incomplete = _cut(page, blocks)
    kept = blocks[:-1] if incomplete else blocks
    points, notes = _points(page, start, kept, test, name)
    trouble = next((block.trouble for block in blocks if block.trouble), "")
    incomplete = incomplete or trouble or ("" if points else f"{name} printed no result")
    series = test.series(
        "qperf",
        points,
        unit="powers of 1000; KiB and MiB of sizes are powers of 1024",
        protocol=_PROTOCOLS.get(name.partition("_")[0], ""),
        incomplete=incomplete,
        notes=notes,
        last_line=blocks[-1].last + 1,
    )
    return Parsed([series] if test.metric else [], max(start + 1, blocks[-1].after))


ADAPTER = Adapter(
    name="qperf",
    parse=parse,
    argv=argv,
)
