"""``@rack1`` and ``@*``: groups of hosts, from the site's ClusterShell configuration. Asked only
when an ``@`` is used.

A group is resolved to text here, and counted before it is expanded: what a site's script prints can
be anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wireproof.model.errors import BadInput

if TYPE_CHECKING:
    from ClusterShell.NodeUtils import GroupResolver


GROUP = re.compile(r"@(?:([A-Za-z0-9._-]{1,64}):)?(\*|[A-Za-z0-9._-]{1,128})", re.ASCII)
_MOST_SHOWN = 12
_LONGEST_ANSWER = 4 << 20


def _resolver() -> GroupResolver:
    from ClusterShell.NodeSet import std_group_resolver

    return std_group_resolver()


def _known(resolver: GroupResolver, source: str | None) -> str:
    """``: there are a, b and 30 more``, or what to configure when there is none."""
    from ClusterShell.NodeUtils import GroupResolverError, GroupSourceError

    try:
        names = sorted(str(name) for name in resolver.grouplist(source))
    except (GroupResolverError, GroupSourceError, OSError):
        names = []
    if not names:
        return "no group is configured: see ClusterShell's groups.conf, or name the hosts"
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return f"there are @{', @'.join(name[:40] for name in names[:_MOST_SHOWN])}{more}"


def _asked(ask: Callable[..., Any], *arguments: str | None) -> list[str]:
    """What the resolver says; nothing for a group or a way to ask that it has not."""
    from ClusterShell.NodeUtils import GroupSourceError

    try:
        return [str(part) for part in ask(*arguments)]
    except GroupSourceError:
        return []


def _everything(resolver: GroupResolver, source: str | None) -> list[str]:
    """All hosts; a site that configures no way to list them has those of all groups."""
    whole = _asked(resolver.all_nodes, source)
    return whole or [
        part
        for name in _asked(resolver.grouplist, source)
        for part in _asked(resolver.group_nodes, name, source)
    ]


def group_text(word: str) -> str:
    """The hosts of ``@GROUP``, ``@SOURCE:GROUP``, ``@*`` or ``@SOURCE:*`` as text, not expanded.

    Raises ``BadInput`` for a group that is not known, with those that are.
    """
    from ClusterShell.NodeUtils import GroupResolverError

    found = GROUP.fullmatch(word)
    if found is None:
        raise BadInput(f"{word[:60]!r} is not a group of hosts: give @NAME, @SOURCE:NAME or @*.")
    source, name = found.groups()
    try:
        resolver = _resolver()
        parts = (
            _everything(resolver, source)
            if name == "*"
            else _asked(resolver.group_nodes, name, source)
        )
    except GroupResolverError as error:
        raise BadInput(
            f"{word[:60]}: the site's groups cannot be read ({str(error)[:200]})."
        ) from error
    text = ",".join(piece for part in parts for piece in part.split())
    if not text:
        raise BadInput(f"{word[:60]} is not a known group of hosts: {_known(resolver, source)}.")
    if len(text) > _LONGEST_ANSWER:
        raise BadInput(f"{word[:60]} is too large: its list of hosts has {len(text)} characters.")
    return text
