"""Command lines of other programs: which options are given, and a refusal of what has none."""

from collections.abc import Mapping

from wireproof.model.errors import BadInput
from wireproof.model.series import ToolRequest

# field of ToolRequest: what it asks for
_NAMES = {
    "server": "a server's address",
    "port": "a port",
    "sizes": "message sizes",
    "iterations": "a number of iterations",
    "seconds": "a duration",
    "omit_seconds": "seconds to leave out",
    "window": "a window",
    "socket_buffer_bytes": "a socket buffer's size",
    "cpu": "a core to run on",
    "device": "a device",
    "mtu": "an MTU",
    "rdma_cm": "rdma_cm",
}


def refuse_others(request: ToolRequest, tool: str, *able: str) -> None:
    """Raises BadInput for the first thing asked for that is not in ``able`` (names of ToolRequest's
    fields).
    """
    for name, what in _NAMES.items():
        value = getattr(request, name)
        asked = value is not None and value is not False and value not in ("", ())
        if asked and name not in able:
            raise BadInput(f"{tool} has no option for {what}: leave it out.")


def given(*options: tuple[str, str | int | float | None]) -> list[str]:
    """``-n 100`` for each (option, value). What is None, "" or False is left out; True gives the
    option alone.
    """
    words: list[str] = []
    for option, value in options:
        if value is None or value is False or value == "":
            continue
        words.append(option)
        if value is not True:
            words.append(f"{value:g}" if isinstance(value, float) else str(value))
    return words


def one_size(request: ToolRequest, rule: str) -> int | None:
    """The size asked for, None without one. Raises BadInput, which begins with ``rule``, for more
    than one.
    """
    if len(request.sizes) > 1:
        raise BadInput(f"{rule}: {len(request.sizes)} sizes were asked for.")
    return request.sizes[0] if request.sizes else None


def server_of(request: ToolRequest, tool: str) -> str:
    """The address that a client talks to, "" for another role. Raises BadInput without one."""
    if request.role != "client":
        return ""
    if not request.server:
        raise BadInput(f"{tool}'s client needs the server's address.")
    return request.server


def command(
    request: ToolRequest, tool: str, flags: Mapping[str, str], *first: tuple[str, str]
) -> tuple[str, ...]:
    """``PROGRAM -s 64 -n 100 SERVER``: the options ``first``, those of ``flags`` (field
    of ToolRequest: option) in their order, one size at the most, and the server that a client talks
    to. Raises BadInput for anything else asked for.
    """
    refuse_others(request, tool, "server", *flags)
    size = one_size(request, f"{tool} measures one size a run, or its own list")
    asked = {**{name: getattr(request, name) for name in flags}, "sizes": size}
    options = given(*first, *((flag, asked[name]) for name, flag in flags.items()))
    server = server_of(request, tool)
    return (request.program, *options, *request.extra, *([server] if server else []))
