# pure
"""The path that the log itself states: the hosts of the ranks, and the provider that carried
messages.
"""

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from wireproof.logs.verdict.curve import Case
from wireproof.model.claim import LinkClaim
from wireproof.model.quantity import size, throughput
from wireproof.model.series import BYPASS, ONE_HOST, Series
from wireproof.physics.claims import BYPASSES

# --- nccl-tests: its bus bandwidth shows the rate of a link if its device list names the hosts.

_TELLING = 4 << 20  # smaller messages are limited by the launch of kernels
_LARGE = 16 << 20
_TENTH = 0.1
# A ring through all hosts: its bus bandwidth crosses every host's adapters. For other collectives
# the bus bandwidth is that of a single GPU.
_RINGS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce")


def as_stream(series: Series) -> Series:
    """Turn a collective of nccl-tests between two ranks on two hosts into an exchange.

    With two such ranks, the bus bandwidth of any collective crosses the link in each direction.
    """
    alone = any("each process ran alone" in note for note in series.notes)
    if series.tool != "nccl_tests" or series.processes != 2 or len(series.hosts) != 2 or alone:
        return series
    points = [
        msgspec.structs.replace(
            point, time_ns=None, goodput_bytes_per_s=point.values.get("bus_bytes_per_s")
        )
        for point in series.points
        if point.message_bytes >= _TELLING
    ]
    if not points:
        return series
    return msgspec.structs.replace(series, points=points, traffic="exchange", metric="bandwidth")


def far_too_slow(case: Case) -> bool:
    """Add a failure if the ring of several hosts moves less than a tenth of the rate of all rails.

    No library is that slow by design. Return whether the failure was added.
    """
    series = case.series
    most = case.bounds.most if case.bounds is not None else None
    ring = series.benchmark.partition("_perf")[0] in _RINGS
    if series.tool != "nccl_tests" or len(series.hosts) < 2 or most is None or not ring:
        return False
    large = [
        (p.values.get("bus_bytes_per_s", 0.0), p.message_bytes)
        for p in series.points
        if p.message_bytes >= _LARGE
    ]
    best, at = max(large, default=(0.0, 0))
    if not large or best >= _TENTH * most:
        return False
    case.add(
        "below-expectation",
        "fail",
        f"bus bandwidth of {throughput(best)} at {size(at)} is {best / most:.1%} of the "
        f"{throughput(most)} of {case.kind}; "
        f"less than {_TENTH:.0%} cannot be a ring over it: sockets, one slow rail or another link",
        {
            "bus_bytes_per_s": best,
            "attainable_bytes_per_s": most,
            "size": at,
        },
    )
    return True


_NOTES = 40
_SHOWN = 40
_MTU = re.compile(r"Mtu ?: (\d{3,5})(?:\[B\])?", re.ASCII)
_MTUS = (256, 512, 1024, 2048, 4096)
_OMNIPATH_MTUS = (*_MTUS, 8192, 10240)
# Up to QDR, InfiniBand's usual MTU is 2048.
_OLD = ("sdr", "ddr", "qdr")
_LOOPBACK = re.compile(r"(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|localhost)(?![\w.-])", re.ASCII)
_BY_PROVIDER: dict[str, Literal["tcp", "rdma", "shm"]] = {
    "tcp": "tcp",
    "sockets": "tcp",
    "udp": "tcp",
    "net": "tcp",
    "verbs": "rdma",
    "mlx": "rdma",
    "shm": "shm",
    "sm2": "shm",
}


def _noted(series: Series, before: str) -> str:
    """Return the text after ``before`` in the first note that contains it; "" if no note does."""
    return next((note.partition(before)[2] for note in series.notes[:_NOTES] if before in note), "")


def _provider(series: Series) -> str:
    """Return ``tcp`` for a note such as "libfabric provider tcp;ofi_rxm"; "" if no note names
    one.
    """
    words = _noted(series, "provider ").split()
    return words[0].partition(";")[0].strip("(),.").lower() if words else ""


def carrier(series: Series) -> str:
    """Return ``tcp``, ``rdma`` or "": the transport of the bytes, from the kind of program or the
    provider that it names.
    """
    if series.protocol:
        return "tcp" if series.protocol == "udp" else series.protocol
    by_provider = _BY_PROVIDER.get(_provider(series), "")
    return "" if by_provider == "shm" else by_provider


def bypass(series: Series, path: str) -> str:
    """Return the kernel-bypass socket library that the log or the user names, or "" if there is
    none.
    """
    return _noted(series, BYPASS)[:_SHOWN] or (path if path in BYPASSES else "")


def path_mtu(series: Series) -> int | None:
    """Return the path MTU that perftest prints ("Mtu: 4096[B]"), or None if it prints no valid
    MTU.
    """
    if series.tool != "perftest":
        return None
    match = next((found for note in series.notes[:_NOTES] if (found := _MTU.fullmatch(note))), None)
    mtu = int(match.group(1)) if match is not None else 0
    return mtu if mtu in _OMNIPATH_MTUS else None


def largest_mtu(link: LinkClaim) -> int:
    """Return the largest usual path MTU of this kind of link, or 0 if there is none."""
    if link.protocol == "omnipath":
        return 8192
    if link.protocol == "rocev2":
        return 4096
    if link.protocol == "infiniband":
        return 2048 if link.kind.startswith(_OLD) else 4096
    return 0


def _judge_mtu(case: Case, link: LinkClaim) -> None:
    """Report a path MTU below the link's usual maximum: it costs bandwidth, and no other output
    shows it."""
    mtu, most = path_mtu(case.series), largest_mtu(link)
    if mtu is None or mtu >= most:
        return
    text = f"the program reports a path MTU of {mtu} B, and {case.kind} supports up to {most} B"
    if link.protocol == "omnipath":
        text += ": for 8 KiB the fabric manager and the switch must allow it, and perftest needs -R"
    # An Ethernet MTU of 1500 B leaves 1024 B to RoCE, which is common but not optimal.
    case.add(
        "small-path-mtu",
        "note" if link.protocol == "rocev2" else "warning",
        text,
        {"mtu": mtu, "largest": most},
    )


def judge_declared(case: Case) -> None:
    """Report a log that places all ranks on one host or names a shared-memory provider; this needs
    no further evidence.
    """
    series = case.series
    if case.bounds is None or not case.bounds.wire:
        return
    _judge_mtu(case, case.bounds.link)
    for name, value, text in _on_one_host(series):
        case.off = True
        case.add("one-host", "fail", text, {name: value})
        return


def _on_one_host(series: Series) -> Iterator[tuple[str, str, str]]:
    """Yield (kind of evidence, its value, a sentence) for each sign that the ranks are not
    connected by a wire.
    """
    host = series.hosts[0][:80] if series.hosts else ""
    launch, provider = _noted(series, ONE_HOST), _provider(series)
    if len(series.hosts) == 1 and _noted(series, "ranks are on"):
        text = f"the log itself shows all ranks on {host}, so no traffic uses a wire"
        yield "host", host, text
    if len(series.hosts) < 2 and launch:
        text = f"the launch line places all ranks on one host ({launch}), so no traffic uses a wire"
        yield "launch", launch, text
    if any(_LOOPBACK.match(name) for name in series.hosts[:_NOTES]):
        text = f"the log itself names {host}, which is the loopback interface, not a wire"
        yield "host", host, text
    if _BY_PROVIDER.get(provider) == "shm":
        text = f"the log itself names the provider {provider}, which is shared memory"
        yield "provider", provider, text
