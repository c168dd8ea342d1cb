"""A function in a process of its own that may take 1 GiB more than it has."""

import resource
from collections.abc import Callable
from multiprocessing import get_context

_ROOM = 1 << 30


def address_space() -> int:
    """Bytes that this process has mapped."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _run(function: Callable[..., object], given: tuple[object, ...]) -> None:
    now = address_space()
    resource.setrlimit(resource.RLIMIT_AS, (now + _ROOM, now + _ROOM))
    function(*given)


def within_1_gib(function: Callable[..., object], *given: object) -> None:
    """Call ``function``; AssertionError if it fails, or has not ended after 60 s."""
    process = get_context("fork").Process(target=_run, args=(function, given))
    process.start()
    process.join(60)
    ended = process.exitcode
    process.kill()
    process.join()
    assert ended == 0, ended
