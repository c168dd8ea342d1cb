"""iperf3 and iperf 2."""

from __future__ import annotations

from wireproof.adapters.iperf3.json_output import DOCUMENT, STREAM, parse_document, parse_stream
from wireproof.adapters.iperf3.text_output import parse_text
from wireproof.adapters.options import given, refuse_others
from wireproof.adapters.page import Page
from wireproof.adapters.registry import Adapter, Parsed, Sign
from wireproof.model.errors import BadInput
from wireproof.model.tool import ToolRequest

__all__ = ["ADAPTER"]


# --- iperf3: what it prints (text, JSON, a stream of events) and the options that it takes.
#
# The text of iperf 2 is read too. Transfer and byte rates count in powers of 1024, bit rates in
# powers of 1000.

_BENCHMARKS = {"": (), "tcp": (), "udp": ("-u",), "reverse": ("-R",), "bidir": ("--bidir",)}
_ABLE = (
    "server",
    "port",
    "sizes",
    "iterations",
    "seconds",
    "omit_seconds",
    "socket_buffer_bytes",
    "cpu",
    "device",
)


def parse(page: Page, start: int) -> Parsed:
    """The run that begins on line index ``start``."""
    line = page.lines[start]
    if STREAM.search(line):
        return parse_stream(page, start)
    if DOCUMENT.search(line):
        return parse_document(page, start)
    return parse_text(page, start)


def _whole(seconds: float, what: str) -> str:
    if seconds != int(seconds) or seconds < 0:
        raise BadInput(f"iperf3 takes whole seconds {what}: {seconds:g} is none.")
    return str(int(seconds))


def _client(request: ToolRequest) -> list[str]:
    if not request.server:
        raise BadInput("iperf3's client needs the server's address.")
    if len(request.sizes) > 1:
        raise BadInput(
            f"iperf3 measures one block length a run: {len(request.sizes)} sizes were asked for."
        )
    if request.seconds is not None and request.iterations is not None:
        raise BadInput("iperf3 runs for seconds or for a number of blocks, not both.")
    seconds, omitted = request.seconds, request.omit_seconds
    options = given(
        ("-t", None if seconds is None else _whole(seconds, "of a run")),
        ("-k", request.iterations),
        ("-O", None if omitted is None else _whole(omitted, "to leave out")),
        ("-l", request.sizes[0] if request.sizes else None),
        ("-w", request.socket_buffer_bytes),
    )
    return ["-c", request.server, *_BENCHMARKS[request.benchmark], *options, "-J"]


def argv(request: ToolRequest) -> tuple[str, ...]:
    """``iperf3 -c SERVER -t 12 -O 2 -l 1048576 -J -A 4``; the server serves one client and ends
    (``-s -1``).

    ``benchmark``: tcp (the default), udp, reverse, bidir. ``seconds`` are measured,
    ``omit_seconds`` run before them.
    """
    refuse_others(request, "iperf3", *_ABLE)
    if request.benchmark not in _BENCHMARKS:
        known = ", ".join(name for name in _BENCHMARKS if name)
        raise BadInput(f"iperf3 has no test {request.benchmark!r}: there are {known}.")
    own = _client(request) if request.role == "client" else ["-s", "-1"]
    options = given(("-p", request.port), ("-A", request.cpu), ("--bind-dev", request.device))
    return (request.program, *own, *options, *request.extra)


ADAPTER = Adapter(
    name="iperf3",
    signs=(
        Sign("Connecting to host", r"^ *Connecting to host \S{1,80}, port"),
        Sign("Accepted connection", r"^ *Accepted connection from \S"),
        Sign("Client connecting", r"^ *Client connecting to \S{1,80}, (?:TCP|UDP) port"),
        Sign("Server listening", r"^ *Server listening on (?:TCP|UDP) port"),
        Sign("Interval", r"\[ ID\](?:\[Role\])? +Interval +Transfer +B(?:itrate|andwidth)\b"),
        Sign("iperf3:", r"^iperf3: (?:error|interrupt)"),
        Sign('"start"', r'"start" ?: ?\{ *(?:$|"connected|"version)'),
        Sign('"event"', r'^ *\{ ?"event" ?: ?"start"'),
    ),
    parse=parse,
    argv=argv,
)
