"""Sockets without the kernel: a log that names such a library tells that the kernel's floor does
not hold.
"""

from __future__ import annotations

import msgspec

from wireproof.adapters.page import Page
from wireproof.model.series import Series

__all__ = ["NOTE", "with_bypass"]

NOTE = "kernel bypass: "
"""How the note begins that names the library."""

# (library, what it prints when a program starts, what names it in an environment or a command line)
_LIBRARIES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("libvma", ("VMA INFO", "VMA_VERSION"), ("libvma.so",)),
    ("libxlio", ("XLIO INFO", "XLIO_VERSION"), ("libxlio.so",)),
    (
        "Onload",
        ("OpenOnload", "Using Onload"),
        ("libonload", "onload -p", "onload --", "onload sockperf", "onload iperf"),
    ),
    ("TCPDirect", ("TCPDirect",), ("libonload_zf",)),
    ("rsocket", (), ("librspreload.so",)),
    ("SDP", (), ("libsdp.so",)),
    ("SMC-R", (), ("libsmc-preload.so", "smc_run ")),
    ("ExaSock", ("exasock",), ("libexasock",)),
    ("DBL", (), ("libdbl.so",)),
    ("DPDK", ("EAL: Detected", "EAL: Probing"), ("libmtcp", "f-stack")),
)
_SPOKEN = tuple(word.encode() for _, printed, named in _LIBRARIES for word in (*printed, *named))
# What a log of MPI has when such a library is in use; few words, since every log is searched for
# them.
_HINTS = (b"VMA", b"XLIO", b"nload", b"LD_PRELOAD")


def _loaded(lines: list[str], kept: str) -> tuple[str, str]:
    """The library that a banner in ``lines`` names, and the one that the environment names from
    then on, ``kept`` until another is named.
    """
    own = ""
    for line in lines:
        for name, printed, named in _LIBRARIES:
            if any(word in line for word in named):
                kept = name
            if any(word in line for word in printed):
                own = name
    return own, kept


def with_bypass(found: list[Series], page: Page, data: bytes) -> list[Series]:
    """The series with a note on each that such a library carried.

    A banner holds for the result below it, a name in an environment for all that follow.
    """
    sockets = any(one.protocol in ("tcp", "udp") for one in found)
    if not any(word in data for word in (_SPOKEN if sockets else _HINTS)):
        return found
    noted, begin, kept = list[Series](), 0, ""
    for one in found:
        end = max(one.last_line, one.first_line)
        own, kept = _loaded(page.lines[begin:end], kept)
        begin = max(begin, end)
        name = own or kept
        noted.append(
            msgspec.structs.replace(one, notes=[f"{NOTE}{name}", *one.notes]) if name else one
        )
    return noted
