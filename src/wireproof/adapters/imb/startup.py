"""What Intel MPI prints before a run's title when I_MPI_DEBUG is set: where the ranks are, which
provider carries.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from wireproof.adapters.page import Page

__all__ = ["Startup", "startup"]

_MARK = "MPI startup():"
_RANK = re.compile(r"MPI startup\(\): +(\d{1,7}) +\d{1,10} +([A-Za-z0-9][A-Za-z0-9_.-]{0,63}) +\{")
_PROVIDER = re.compile(r"libfabric provider: ([A-Za-z0-9_;-]{1,40})")
_OTHERS = 12
_MOST = 20_000


@dataclass(slots=True)
class Startup:
    """``hosts``: of all ranks, each once, in the order of the ranks; ``notes``: the provider, and
    ranks on one host.
    """

    hosts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def startup(page: Page, title: int) -> Startup:
    """Reads backwards from line index ``title`` as long as the lines are Intel MPI's, or few others
    between them.
    """
    ranks: dict[int, str] = {}
    provider, others = "", 0
    for index in range(title - 1, max(-1, title - _MOST), -1):
        line = page.lines[index]
        if _MARK not in line:
            others += 1
            if others > _OTHERS or "MPI Benchmark" in line:
                break
            continue
        others = 0
        rank, carrier = _RANK.search(line), _PROVIDER.search(line)
        if rank is not None:
            ranks.setdefault(int(rank.group(1)), rank.group(2))
        if carrier is not None:
            provider = carrier.group(1)
            break
    hosts = list(dict.fromkeys(ranks[rank] for rank in sorted(ranks)))
    notes = [f"Intel MPI says: libfabric provider {provider}"] if provider else []
    if len(hosts) == 1 and len(ranks) > 1:
        notes.append(f"Intel MPI says: all {len(ranks)} ranks are on {hosts[0]}")
    return Startup(hosts, notes)
