"""Signals that end what we do from outside: heard once, in order, and by their names."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

__all__ = ["as_interrupt"]

_SIGNALS = tuple(
    signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if name in signal.Signals.__members__
)  # Windows has no SIGHUP


class _Heard:
    """A handler that keeps the names of the signals that came; the first is an interrupt, the rest
    changes nothing.
    """

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        self.names.append(signal.Signals(number).name)
        if len(self.names) > 1:
            return
        if callable(signal.getsignal(signal.SIGINT)):
            signal.raise_signal(signal.SIGINT)
        else:  # a script's background jobs are started with SIGINT ignored
            raise KeyboardInterrupt


@contextlib.contextmanager
def as_interrupt() -> Iterator[list[str]]:
    """In the block SIGTERM and SIGHUP end what is measured as Ctrl-C does; gives the names of those
    that came.

    At a job's time limit and for scancel Slurm sends SIGTERM to all processes of a batch job and
    leaves them KillWait (30 s) to come to an end: time to seal and to judge. Once one has come,
    further ones are passed over to the end. Blocks may be nested: the innermost hears.
    """
    heard = _Heard()
    if threading.current_thread() is not threading.main_thread():
        yield heard.names
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    # Who ignores a signal (nohup) or has a handler of its own keeps it.
    ours = [
        number
        for number in _SIGNALS
        if before[number] == signal.SIG_DFL or isinstance(before[number], _Heard)
    ]
    for number in ours:
        signal.signal(number, heard)
    try:
        yield heard.names
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_IGN if heard.names else before[number])
