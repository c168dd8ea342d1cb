"""Command lines of other programs: options that are given, and an error for requests without an
option.
"""

import re
from collections.abc import Mapping

from wireproof.model.errors import BadInput
from wireproof.model.series import ToolRequest

# field of ToolRequest: what it requests
_NAMES = {
    "server": "a server's address",
    "port": "a port",
    "sizes": "message sizes",
    "iterations": "a number of iterations",
    "seconds": "a duration",
    "omit_seconds": "seconds to leave out",
    "socket_buffer_bytes": "a socket buffer's size",
    "cpu": "a core to run on",
    "device": "a device",
    "rdma_cm": "rdma_cm",
}


def refuse_others(request: ToolRequest, tool: str, *able: str) -> None:
    """Raise BadInput for the first request that is not in ``able`` (names of ToolRequest's
    fields).
    """
    for name, what in _NAMES.items():
        value = getattr(request, name)
        asked = value is not None and value is not False and value not in ("", ())
        if asked and name not in able:
            raise BadInput(f"{tool} has no option for {what}: leave it out.")


def given(*options: tuple[str, str | int | float | None]) -> list[str]:
    """Return ``-n 100`` for each (option, value). Omit the option if the value is None, "" or
    False; True gives the option alone.
    """
    words: list[str] = []
    for option, value in options:
        if value is None or value is False or value == "":
            continue
        words.append(option)
        if value is not True:
            words.append(f"{value:g}" if isinstance(value, float) else str(value))
    return words


def option_of(rest: str, letter: str) -> str:
    """Return the value of ``-p psm3`` or ``-ppsm3`` in the rest of a command line; "" if it is
    absent.
    """
    match = re.search(rf"(?:^|\s)-{letter} ?([^\s-]\S{{0,63}})", rest)
    return match.group(1).strip("'\":") if match else ""


def one_size(request: ToolRequest, rule: str) -> int | None:
    """Return the requested size, None if there is none. Raise BadInput, which begins with ``rule``,
    if there are several.
    """
    if len(request.sizes) > 1:
        raise BadInput(f"{rule}: {len(request.sizes)} sizes were requested.")
    return request.sizes[0] if request.sizes else None


def whole_seconds(seconds: float | None, tool: str) -> int | None:
    """Return a duration as ``tool`` takes it; None stays None. Raise BadInput for parts of a
    second.
    """
    if seconds is not None and (seconds % 1 or seconds < 0):
        raise BadInput(f"{tool} takes whole seconds, not {seconds:g}.")
    return None if seconds is None else int(seconds)


def server_of(request: ToolRequest, tool: str) -> str:
    """Return the address that a client connects to, "" for another role. Raise BadInput if it is
    missing.
    """
    if request.role != "client":
        return ""
    if not request.server:
        raise BadInput(f"{tool}'s client needs the server's address.")
    return request.server


def command(
    request: ToolRequest, tool: str, flags: Mapping[str, str], *first: tuple[str, str]
) -> tuple[str, ...]:
    """Return ``PROGRAM -s 64 -n 100 SERVER``: the options ``first``, those of ``flags`` (field of
    ToolRequest: option) in order, at most one size, and for a client the server.

    Raises BadInput for any other request.
    """
    refuse_others(request, tool, "server", *flags)
    size = one_size(request, f"{tool} measures one size per run, or its default list")
    asked = {**{name: getattr(request, name) for name in flags}, "sizes": size}
    options = given(*first, *((flag, asked[name]) for name, flag in flags.items()))
    server = server_of(request, tool)
    return (request.program, *options, *request.extra, *([server] if server else []))
