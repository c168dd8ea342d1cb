"""Host lists: ``n1,n2``, ``n[1-4]``, ``rack[1-2]n[01-36/2]`` (ClusterShell's syntax without groups).

Names end in the argv of launchers and of ssh: only what a host name may hold is let through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.model.errors import BadInput

__all__ = ["MOST_HOSTS", "check_nic", "parse_hosts"]

MOST_HOSTS = 100_000
_LONGEST_TEXT = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?", re.ASCII)
_NIC = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}(:[0-9]{1,3})?", re.ASCII)
_ITEM = re.compile(r"[A-Za-z0-9._-]*(\[[0-9,/-]+\][A-Za-z0-9._-]*)*", re.ASCII)
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?(?:/([0-9]{1,9}))?", re.ASCII)
FORMS = "names such as n1,n2 or ranges such as n[1-4] or rack[1-2]n[01-36]"


def _items(text: str) -> Iterator[str]:
    """Split at commas that are outside brackets."""
    depth, item = 0, ""
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            yield item.strip()
            item = ""
        else:
            item += letter
    yield item.strip()


def _count(item: str) -> int:
    """How many names ``item`` stands for, counted before it is expanded: n[0-999999999] must cost nothing."""
    total = 1
    for group in re.findall(r"\[([0-9,/-]+)\]", item):
        inside = 0
        for part in group.split(","):
            found = _RANGE.fullmatch(part)
            if found is None:
                raise BadInput(f"host range [{group[:60]}] is not understood: give {FORMS}.")
            first, last, step = int(found.group(1)), int(found.group(2) or found.group(1)), int(found.group(3) or 1)
            if last < first or step < 1:
                raise BadInput(f"host range [{group[:60]}] is empty: write the smaller number first.")
            inside += (last - first) // step + 1
        total *= inside
    return total


def _expand(item: str) -> list[str]:
    if "[" not in item:
        return [item]
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

    try:
        return [str(name) for name in NodeSet(item, resolver=RESOLVER_NOGROUP)]
    except NodeSetException as error:
        raise BadInput(f"host list {item[:60]!r} is not understood ({error}): give {FORMS}.") from error


def parse_hosts(text: str, *, repeats: bool = False) -> tuple[str, ...]:
    """Host names in the order given, one rank each.

    ``repeats`` lets a name occur again (two ranks on one host, asked for on purpose); otherwise it is an error, as are
    an empty list, an empty item, a name that cannot be a host name, and more than ``MOST_HOSTS`` names.
    """
    if not text.strip():
        raise BadInput(f"the host list is empty: give {FORMS}.")
    if len(text) > _LONGEST_TEXT:
        raise BadInput(f"the host list is {len(text)} characters long: give ranges such as n[1-4].")
    items = list(_items(text))
    for item in items:
        if not item:
            raise BadInput(f"the host list {text[:80]!r} has an empty item: give {FORMS}.")
        if _ITEM.fullmatch(item) is None:
            raise BadInput(f"host {item[:60]!r} is not a host name: give {FORMS}.")
    if sum(map(_count, items)) > MOST_HOSTS:
        raise BadInput(f"the host list names more than {MOST_HOSTS} hosts: give fewer.")
    names = [name for item in items for name in _expand(item)]
    seen: set[str] = set()
    for name in names:
        if _NAME.fullmatch(name) is None:
            raise BadInput(f"host {name[:60]!r} is not a host name: give {FORMS}.")
        if name in seen and not repeats:
            raise BadInput(f"host {name} is named twice: name each host once.")
        seen.add(name)
    return tuple(names)


def check_nic(name: str) -> str:
    """``name`` if it can be a network interface (``eth0``) or an RDMA device with its port (``mlx5_0:1``)."""
    if _NIC.fullmatch(name) is None:
        raise BadInput(f"NIC {name[:60]!r} is not an interface name: give one such as eth0, ib0 or mlx5_0:1.")
    return name
