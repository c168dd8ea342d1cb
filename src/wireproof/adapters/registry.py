"""The interface of adapters, and the list of supported tools; a tool's module is loaded when a log
is read. An adapter knows the output of a tool and its options.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from wireproof.adapters.page import Page
from wireproof.model.errors import BadInput
from wireproof.model.series import Series, ToolRequest, Traffic


@dataclass(frozen=True, slots=True)
class Benchmark:
    """``name``: the program's name for the benchmark; ``metric``, ``traffic``, ``formula``,
    ``directions``, ``waits`` and ``window`` as in a Series.
    """

    name: str
    metric: str
    traffic: Traffic
    formula: str
    directions: int = 1
    waits: bool = False
    window: int | None = None

    @property
    def half_round_trip(self) -> bool:
        """True if the printed time is half of a round trip, not the time of a whole operation."""
        return self.metric == "half_round_trip"


@dataclass(frozen=True, slots=True)
class Parsed:
    """``after``: index of the first line that was not used; always greater than the start."""

    series: list[Series]
    after: int


@dataclass(frozen=True, slots=True)
class Sign:
    """A line that matches the regular expression ``pattern`` may start a result. Every such line
    contains ``word``, which is searched for first because that is much cheaper.
    """

    word: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Adapter:
    """The adapter of one tool.

    ``signs``: the lines that may start a result of this tool. ``parse(page, index)`` reads from
    that line (and may look back at earlier lines). It never raises on any text, never returns a row
    that the program did not print, and marks a table that was cut off as incomplete. It stops
    before a line that starts another result. ``csv``: its rows also occur with commas
    between the numbers, and ``parse`` then sees blanks instead. ``argv`` builds the command line of
    a program that a recipe starts; it raises BadInput for an unknown benchmark.
    """

    name: str
    signs: tuple[Sign, ...]
    parse: Callable[[Page, int], Parsed]
    csv: bool = False
    argv: Callable[[ToolRequest], tuple[str, ...]] = lambda one: (one.program, *one.extra)


# One line per tool; the module's ADAPTER is loaded when a log is read.
MODULES: tuple[str, ...] = (
    "osu",
    "perftest",
    "iperf3",
    "qperf",
    "sockperf",
    "imb",
    "hpcc",
    "fi_pingpong",
    "fabtests",
    "mpigraph",
    "ucx_perftest",
    "nccl_tests",
    "netperf",
    "ibv_pingpong",
    "netpipe",
    "ucc_perftest",
)

_SIGN_WITHIN = 4096
"""A sign is within the first characters of its line; only JSON without line breaks has longer
lines.
"""


@cache
def adapters() -> tuple[Adapter, ...]:
    """Return the adapter of every tool. Raise ValueError if two have the same name."""
    return registered(
        tuple(import_module(f"wireproof.adapters.{name}").ADAPTER for name in MODULES)
    )


def registered(found: tuple[Adapter, ...]) -> tuple[Adapter, ...]:
    """Return ``found`` if all names and signs are unique; otherwise raise ValueError, because the
    second of two would never be used.
    """
    names: set[str] = set()
    signs: dict[Sign, str] = {}
    for one in found:
        if one.name in names:
            raise ValueError(f"two adapters are called {one.name!r}")
        names.add(one.name)
        for sign in one.signs:
            if sign in signs:
                raise ValueError(f"{one.name} and {signs[sign]} have the sign {sign.pattern!r}")
            signs[sign] = one.name
    return found


@cache
def _signs() -> tuple[tuple[str, Adapter, Callable[[str], re.Match[str] | None]], ...]:
    return tuple(
        (sign.word, tool, re.compile(sign.pattern).search)
        for tool in adapters()
        for sign in tool.signs
    )


def tool_of(line: str) -> Adapter | None:
    """Return the tool whose sign is in the line, the leftmost if there are several; None if there
    is none.
    """
    head = line[:_SIGN_WITHIN]
    found, at = None, len(head) + 1
    for word, tool, search in _signs():
        if word in head and (match := search(head)) is not None and match.start() < at:
            found, at = tool, match.start()
    return found


def starts_result(line: str) -> bool:
    """Return True if a result of some tool may start on this line."""
    return tool_of(line) is not None


def adapter_names() -> tuple[str, ...]:
    """Return the names of the supported tools."""
    return tuple(one.name for one in adapters())


def adapter(name: str) -> Adapter:
    """Return the adapter of a tool. Raise BadInput, with the known names, if there is none."""
    for one in adapters():
        if one.name == name:
            return one
    raise BadInput(f"no adapter for {name!r}: there are {', '.join(adapter_names())}.")
