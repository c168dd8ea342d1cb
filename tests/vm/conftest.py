"""Two virtual machines for all tests of this folder; nothing of them is left."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.vm.machine import Machines, booted


def _left(folder: Path) -> list[str]:
    """Processes that were given something of ``folder``: qemu, its guards, ssh."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if bytes(folder) in words:
            found.append(words.replace(b"\0", b" ").decode(errors="replace")[:200])
    return found


@pytest.fixture(scope="session")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    folder = tmp_path_factory.mktemp("vm")
    with booted(folder) as found:
        yield found
    assert _left(folder) == []
