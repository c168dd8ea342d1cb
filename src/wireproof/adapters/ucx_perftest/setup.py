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


def _read_command(setup: Setup, line: str) -> None:
    rest = line.partition("ucx_perftest")[2][:_LONGEST_LINE]
    setup.test = setup.test or _option(rest, "t")
    sizes = [integer(text) for text in _option(rest, "s").split(",")]
    if setup.size is None and sizes and all(size is not None for size in sizes):
        setup.size = sum(size or 0 for size in sizes)
    setup.iterations = setup.iterations or integer(_option(rest, "n"))
    setup.window = setup.window or integer(_option(rest, "O"))
    transports = _TLS.search(line)
    if transports and not setup.protocol:
        names = set(transports.group(1).strip("'\"").split(",")) - {"self"}
        setup.protocol = "tcp" if names == {"tcp"} else "rdma" if names and names <= _RDMA else ""


def setup_before(page: Page, start: int) -> Setup:
    """Looks back from the heading to the last line of the test before."""
    setup = Setup()
    for index in range(start - 1, max(-1, start - _LOOK_BACK), -1):
        line = page.lines[index]
        if "Final:" in line or starts_result(line):
            break
        box, banner = _BOX.match(line), _BANNER.match(line)
        if box is not None and box.group(1) == "API":
            setup.test = (
                setup.test.removeprefix("ucp_")
                if box.group(2).startswith("transport")
                else setup.test
            )
        elif box is not None and box.group(1) == "Test":
            setup.test = setup.test or test_titled(box.group(2))
        elif box is not None:
            setup.size = integer(box.group(2)) if setup.size is None else setup.size
        elif banner is not None:
            setup.test = setup.test or banner.group(1)
        elif "ucx_perftest" in line:
            _read_command(setup, line)
    return setup
