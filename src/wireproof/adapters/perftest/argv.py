"""The options of the perftest programs."""

from __future__ import annotations

from wireproof.adapters.options import refuse_others
from wireproof.model.errors import BadInput
from wireproof.model.tool import ToolRequest

__all__ = ["argv"]

_MTUS = (256, 512, 1024, 2048, 4096)
_LARGEST = 1 << 23
_ABLE = (
    "server",
    "port",
    "sizes",
    "iterations",
    "seconds",
    "omit_seconds",
    "window",
    "device",
    "mtu",
    "rdma_cm",
)


def _sizes(request: ToolRequest) -> list[str]:
    """One size as it is; several only as the program's own sweep of the powers of two up to 8
    MiB.
    """
    if len(request.sizes) <= 1:
        return ["-s", str(request.sizes[0])] if request.sizes else []
    odd = [size for size in request.sizes if size & (size - 1) or not 2 <= size <= _LARGEST]
    if odd:
        raise BadInput(
            f"{request.program} measures one size, or with -a all powers of two from 2 to "
            f"{_LARGEST}: {odd[0]} is none."
        )
    if request.seconds is not None:
        raise BadInput(
            f"{request.program} cannot run all sizes for a given time: ask for one size or for "
            "iterations."
        )
    return ["-a"]


def _amount(request: ToolRequest) -> list[str]:
    if request.seconds is None:
        if request.omit_seconds is not None:
            raise BadInput(
                f"{request.program} leaves seconds out only of a run of given duration: ask for "
                "seconds."
            )
        return ["-n", str(request.iterations)] if request.iterations is not None else []
    if request.iterations is not None:
        raise BadInput(f"{request.program} runs for seconds or for iterations, not both.")
    if request.seconds != int(request.seconds) or request.seconds < 1:
        raise BadInput(f"{request.program} takes whole seconds: {request.seconds:g} is none.")
    words = ["-D", str(int(request.seconds))]
    return (
        [*words, "-f", f"{request.omit_seconds:g}"] if request.omit_seconds is not None else words
    )


def _mtu(request: ToolRequest) -> list[str]:
    """rdma_cm takes the MTU of the path (the only way to 8192), so none is passed then."""
    if request.mtu is None or request.rdma_cm:
        return []
    if request.mtu not in _MTUS:
        known = ", ".join(str(mtu) for mtu in _MTUS)
        raise BadInput(
            f"{request.program} takes an MTU of {known}, not {request.mtu}: use rdma_cm for the "
            "path's own."
        )
    return ["-m", str(request.mtu)]


def argv(request: ToolRequest) -> tuple[str, ...]:
    """``ib_write_bw -F -R -s 1048576 SERVER``. The server takes the same options without an
    address.

    ``-F``: no complaint about a processor whose frequency varies. A core is chosen outside
    (taskset, numactl).
    """
    refuse_others(request, request.program, *_ABLE)
    words = [request.program, "-F"]
    if request.rdma_cm:
        words.append("-R")
    if request.device:
        words += ["-d", request.device]
    if request.port is not None:
        words += ["-p", str(request.port)]
    words += [*_mtu(request), *_sizes(request), *_amount(request)]
    if request.window is not None:
        words += ["-t", str(request.window)]
    words += request.extra
    if request.role == "client":
        if not request.server:
            raise BadInput(f"{request.program}'s client needs the server's address.")
        words.append(request.server)
    return tuple(words)
