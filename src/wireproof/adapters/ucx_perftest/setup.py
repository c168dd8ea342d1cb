"""What stands before ucx_perftest's table: the command, the box that the server prints, a script's
banner.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from wireproof.adapters.page import Page
from wireproof.adapters.registry import starts_result
from wireproof.adapters.rows import integer
from wireproof.adapters.ucx_perftest.benchmarks import test_titled

__all__ = ["Setup", "setup_before"]

_BANNER = re.compile(r"^\s*={4,} (\w{2,40}) ={4,}\s*$")
_BOX = re.compile(r"^\s*(API|Test|Message size): +(\S.{0,80}?)\s*$")
_TLS = re.compile(r"\bUCX_TLS=(\S{1,80})")
_LOOK_BACK = 80
_RDMA = {
    "rc",
    "rc_x",
    "rc_v",
    "rc_verbs",
    "rc_mlx5",
    "ud",
    "ud_x",
    "ud_verbs",
    "ud_mlx5",
    "dc",
    "dc_x",
    "dc_mlx5",
}
_LONGEST_LINE = 500


@dataclass(slots=True)
class Setup:
    """What the lines before the table say."""

    test: str = ""
    size: int | None = None
    iterations: int | None = None
    window: int | None = None
    protocol: Literal["", "tcp", "rdma"] = ""


def _option(rest: str, letter: str) -> str:
    match = re.search(rf"(?:^|\s)-{letter} ?([^\s-]\S{{0,60}})", rest)
    return match.group(1) if match else ""


def _protocol(transports: str) -> Literal["", "tcp", "rdma"]:
    names = set(transports.strip("'\"").split(",")) - {"self"}
    if names == {"tcp"}:
        return "tcp"
    return "rdma" if names and names <= _RDMA else ""


def _read_command(setup: Setup, line: str) -> None:
    rest = line.partition("ucx_perftest")[2][:_LONGEST_LINE]
    setup.test = setup.test or _option(rest, "t")
    if setup.size is None:
        setup.size = _sum_of(_option(rest, "s"))
    setup.iterations = setup.iterations or integer(_option(rest, "n"))
    setup.window = setup.window or integer(_option(rest, "O"))
    transports = _TLS.search(line)
    if transports and not setup.protocol:
        setup.protocol = _protocol(transports.group(1))


def _sum_of(sizes: str) -> int | None:
    """The sum of ``8,16,32``; None when one is no number."""
    total = 0
    for text in sizes.split(","):
        size = integer(text)
        if size is None:
            return None
        total += size
    return total


def _read_box(setup: Setup, name: str, value: str) -> None:
    """A line of the server's box."""
    if name == "API":
        if value.startswith("transport"):
            setup.test = setup.test.removeprefix("ucp_")
    elif name == "Test":
        setup.test = setup.test or test_titled(value)
    elif setup.size is None:
        setup.size = integer(value)


def setup_before(page: Page, start: int) -> Setup:
    """Looks back from the heading to the last line of the test before."""
    setup = Setup()
    for index in range(start - 1, max(-1, start - _LOOK_BACK), -1):
        line = page.lines[index]
        if "Final:" in line or starts_result(line):
            break
        box, banner = _BOX.match(line), _BANNER.match(line)
        if box is not None:
            _read_box(setup, box.group(1), box.group(2))
        elif banner is not None:
            setup.test = setup.test or banner.group(1)
        elif "ucx_perftest" in line:
            _read_command(setup, line)
    return setup
