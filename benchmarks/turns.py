"""``python benchmarks/turns.py SESSION COMMAND``: runs it, and all that it starts, in the shortest
turns of the processor that Linux gives (0.1 ms), before other work where that is allowed (root).

Ranks that poll on fewer cores than there are ranks wait for each other's turns, by default 3 ms
each. In short turns eight of them on two cores come close to having a processor each. Where the
kernel knows no such turns (before 6.12) nothing changes.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import struct
import sys
from pathlib import Path

__all__ = ["argv_of", "take_short_turns"]

TURN_NS = 100_000
NICE = -15
_NUMBER = {"x86_64": 314, "aarch64": 274}
"""sched_setattr(2), which glibc has no function for."""
_LAYOUT = "IIQiIQQQ"
"""struct sched_attr: size, policy, flags, nice, priority, runtime, deadline, period."""


def _ask(nice: int, turn_ns: int) -> bool:
    """sched_setattr(2) for this thread; children inherit it."""
    number = _NUMBER.get(platform.machine())
    if number is None:
        return False
    wish = struct.pack(_LAYOUT, struct.calcsize(_LAYOUT), 0, 0, nice, 0, turn_ns, 0, 0)
    return bool(ctypes.CDLL(None).syscall(number, 0, wish, 0) == 0)


def take_short_turns(session: int) -> bool:
    """For this process and its children; False where the kernel does not give them.

    With autogroups (sched(7)) each session has a share of its own, whatever its processes' nice
    values are: that of a job is raised too, where it may be; never that of ``session``, the user's.
    """
    if os.getsid(0) != session:
        with contextlib.suppress(OSError):
            Path("/proc/self/autogroup").write_text(f"{NICE}\n", encoding="ascii")
    return _ask(NICE, TURN_NS) or _ask(os.getpriority(os.PRIO_PROCESS, 0), TURN_NS)


def argv_of(argv: list[str]) -> list[str]:
    """The command that runs ``argv`` so."""
    return [sys.executable, "-S", "-E", str(Path(__file__).resolve()), str(os.getsid(0)), *argv]


if __name__ == "__main__":
    take_short_turns(int(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606  an argument list, and no shell is meant
