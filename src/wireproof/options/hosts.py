"""Parse host lists in ClusterShell's syntax: ``n1,n2``, ``rack[1-2]n[01-36/2]``, ``@rack1!n3``, and
``file:PATH``.

``,`` adds hosts, ``!`` removes, ``&`` intersects, ``^`` is the symmetric difference; evaluated from
left to right. Names end up in the arguments of launchers and ssh, so only characters of host names
are accepted.

``@rack1`` and ``@*`` are groups of the site's ClusterShell configuration, which is read only if an
``@`` is used. A group is resolved to text and counted before it is expanded, because the output of
a site's script is not trusted.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wireproof.files.held import written_by_others
from wireproof.files.hostile import read_bounded
from wireproof.model.claim import joined
from wireproof.model.errors import BadInput, reading
from wireproof.model.quantity import first_few

if TYPE_CHECKING:
    from ClusterShell.NodeUtils import GroupResolver


GROUP = re.compile(r"@(?:([A-Za-z0-9._-]{1,64}):)?(\*|[A-Za-z0-9._-]{1,128})", re.ASCII)
_MOST_SHOWN = 12
_LONGEST_ANSWER = 4 << 20


def _resolver() -> GroupResolver:
    """Return the site's groups. A virtual environment has ClusterShell's example, whose ``@all``
    would replace the site's.
    """
    from ClusterShell.Defaults import config_paths
    from ClusterShell.NodeUtils import GroupResolverConfig

    places = list(map(Path, config_paths("groups.conf")))
    if sys.prefix != sys.base_prefix:
        places = [place for place in places if not place.is_relative_to(sys.prefix)]
    for place in places:
        _refuse_foreign(place.parent)
    return GroupResolverConfig(list(map(str, places)))


def _refuse_foreign(folder: Path) -> None:
    """Raise ``BadInput`` if another user can change the files that ClusterShell reads in
    ``folder``, because they contain shell commands, and `sudo` may keep the HOME of another user.
    """
    if not (folder / "groups.conf").exists():
        return
    inner = [folder / "groups.conf", *folder.glob("groups.conf.d"), *folder.glob("groups.conf.d/*")]
    for path in (*inner, *Path(os.path.realpath(folder / "groups.conf")).parents):
        if path.exists() and (why := written_by_others(path.stat())):
            raise BadInput(
                f"the groups of hosts in {folder} are not read, because {path} {why}:"
                " name the hosts."
            )


def _known(resolver: GroupResolver, source: str | None) -> str:
    """Return ``there are @a, @b and 30 more``, or what to configure if there is no group."""
    from ClusterShell.NodeUtils import GroupResolverError, GroupSourceError

    try:
        names = sorted(str(name) for name in resolver.grouplist(source))
    except (GroupResolverError, GroupSourceError, OSError):
        names = []
    if not names:
        return "no group is configured: see ClusterShell's groups.conf, or name the hosts"
    return f"there are {first_few([f'@{name[:40]}' for name in names], _MOST_SHOWN)}"


def _asked(ask: Callable[..., Any], *arguments: str | None) -> list[str]:
    """Return the answer of the resolver; empty for a source, group or query that it does not
    support.
    """
    from ClusterShell.NodeUtils import GroupResolverSourceError, GroupSourceError

    try:
        return [str(part) for part in ask(*arguments)]
    except (GroupResolverSourceError, GroupSourceError):
        return []


def _everything(resolver: GroupResolver, source: str | None) -> list[str]:
    """Return all hosts; if a site has no way to list them, the hosts of all groups."""
    whole = _asked(resolver.all_nodes, source)
    return whole or [
        part
        for name in _asked(resolver.grouplist, source)
        for part in _asked(resolver.group_nodes, name, source)
    ]


def group_text(word: str) -> str:
    """Return the hosts of ``@GROUP``, ``@SOURCE:GROUP``, ``@*`` or ``@SOURCE:*`` as text, not
    expanded.

    Raises ``BadInput`` for an unknown group, with the known groups.
    """
    from ClusterShell.NodeUtils import GroupResolverError

    parsed = GROUP.fullmatch(word)
    if parsed is None:
        raise BadInput(f"{word[:60]!r} is not a group of hosts: give @NAME, @SOURCE:NAME or @*.")
    source, name = parsed.groups()
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


MOST_HOSTS = 100_000
MOST_RAILS = 32
"""PSM3 allows 32 and UCX 16."""
_LONGEST_TEXT = 1 << 20
_LARGEST_FILE = 64 << 20
"""A scheduler's node file has a line for each slot: 100,000 hosts with dozens of slots."""
_DEEPEST = 8
_NUMBERED = re.compile(r"(.*?)([0-9]{1,9})", re.ASCII)
_ALGEBRA = re.compile(r"[@!&^]")
_WORD = re.compile(r"[,!&^]|(?:[^][,!&^]|\[[^]]*\]?|\])+")
"""An operator outside brackets, or the text between two of them."""
_SLOTS = re.compile(
    r"([A-Za-z0-9._-]+)(?::[0-9]{1,5}|(?:\s+(?:slots|max_slots|max-slots)=[0-9]{1,5})+)", re.ASCII
)
"""``n1:4`` (MPICH) and ``n1 slots=4`` (Open MPI): host files of launchers."""
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?", re.ASCII)
_NIC = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}(:[0-9]{1,3})?", re.ASCII)
_ITEM = re.compile(r"[A-Za-z0-9._-]*(\[[0-9,/-]+\][A-Za-z0-9._-]*)*", re.ASCII)
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?(?:/([0-9]{1,9}))?", re.ASCII)
FORMS = "names such as n1,n2 or ranges such as n[1-4] or rack[1-2]n[01-36]"


def _words(text: str) -> tuple[list[str], list[str]]:
    """Split at operators outside brackets; return the items and the operator before each. Raise
    ``BadInput`` for an empty item.
    """
    words = [",", *_WORD.findall(text)]
    items = [word.strip() for word in words[1::2]]
    if len(words) % 2 or any(item in ",!&^" for item in items):
        raise BadInput(f"the host list {text[:80]!r} has an empty item: give {FORMS}.")
    return items, words[::2]


def _count(item: str) -> int:
    """Count the names of ``item`` without expanding it: n[0-999999999] must cost nothing."""
    total = 1
    for group in re.findall(r"\[([0-9,/-]+)\]", item):
        inside = 0
        for part in group.split(","):
            bounds = _RANGE.fullmatch(part)
            if bounds is None:
                raise BadInput(f"host range [{group[:60]}] is not understood: give {FORMS}.")
            first, last, step = (
                int(bounds.group(1)),
                int(bounds.group(2) or bounds.group(1)),
                int(bounds.group(3) or 1),
            )
            if last < first or step < 1:
                raise BadInput(
                    f"host range [{group[:60]}] is empty: write the smaller number first."
                )
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
        raise BadInput(
            f"host list {item[:60]!r} is not understood ({error}): give {FORMS}."
        ) from error


def host_lines(path: str, origin: str) -> list[str]:
    """Return the lines of a host file, without comments (``#``) and empty lines. ``origin`` names
    the file in error messages.

    Raises ``BadInput`` if the file is missing, unreadable, or larger than a host list can be.
    """
    with reading(origin):
        data = read_bounded(path, _LARGEST_FILE)
    lines = (line.split("#", 1)[0].strip() for line in data.decode("utf-8", "replace").splitlines())
    return [line for line in lines if line]


def _in_file(path: str, repeats: bool) -> tuple[str, ...]:
    """Read a file with a node set per line. A scheduler's node file repeats a host for each slot,
    which is not an error.
    """
    origin = f"file:{path[:200]}"
    lines = host_lines(path, origin)
    if not lines:
        raise BadInput(f"{origin} names no hosts: give {FORMS}, one a line.")
    names: list[str] = []
    for line in lines if repeats else dict.fromkeys(lines):
        slots = _SLOTS.fullmatch(line)
        text = slots.group(1) if slots else line
        try:
            names += [text] if _NAME.fullmatch(text) else _parsed(text, repeats=True)
        except BadInput as error:
            raise BadInput(f"{origin}: {error}") from error
        _bounded(len(names))
    return tuple(names if repeats else dict.fromkeys(names))


def _bounded(count: int) -> None:
    if count > MOST_HOSTS:
        raise BadInput(f"the host list names more than {MOST_HOSTS} hosts: give fewer.")


def _names_of(item: str, depth: int = 0) -> list[str]:
    """Return the hosts of a name, range or group."""
    if item.startswith("@"):
        if depth > _DEEPEST:
            raise BadInput(f"group {item[:60]} contains itself: correct the site's groups.")
        return _algebra(group_text(item), depth + 1)
    if not item or _ITEM.fullmatch(item) is None:
        raise BadInput(f"host {item[:60]!r} is not a host name: give {FORMS}.")
    _bounded(_count(item))
    names = _expand(item)
    for name in names:
        if _NAME.fullmatch(name) is None:
            raise BadInput(f"host {name[:60]!r} is not a host name: give {FORMS}.")
    return names


def _algebra(text: str, depth: int = 0) -> list[str]:
    """Evaluate ``a,b!c&d^e`` from left to right, as ClusterShell does; each host occurs once, in
    the order of first mention.
    """
    chosen: dict[str, None] = {}
    for item, operator in zip(*_words(text), strict=True):
        names = dict.fromkeys(_names_of(item, depth))
        chosen = dict.fromkeys(_combined(chosen, operator, names))
        _bounded(len(chosen))
    if not chosen:
        raise BadInput(f"the host list {text[:80]!r} leaves no host: exclude fewer.")
    return list(chosen)


def _combined(chosen: Mapping[str, None], operator: str, names: Mapping[str, None]) -> list[str]:
    """Apply an operator: ``,`` union, ``!`` difference, ``&`` intersection, ``^`` symmetric
    difference.
    """
    rest = [name for name in chosen if name not in names]
    fresh = [name for name in names if name not in chosen]
    if operator == "!":
        return rest
    if operator == "&":
        return [name for name in chosen if name in names]
    return rest + fresh if operator == "^" else [*chosen, *fresh]


def _parsed(text: str, *, repeats: bool) -> list[str]:
    if _ALGEBRA.search(text):
        return _algebra(text)
    items, _ = _words(text)
    for item in items:
        if _ITEM.fullmatch(item) is None:
            raise BadInput(f"host {item[:60]!r} is not a host name: give {FORMS}.")
    _bounded(sum(map(_count, items)))
    names = [name for item in items for name in _names_of(item)]
    if not repeats and len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise BadInput(f"host {twice} is named twice: name each host once.")
    return names


def parse_hosts(text: str, *, repeats: bool = False) -> tuple[str, ...]:
    """Return host names in the given order, one rank each.

    With ``repeats`` a name may occur several times (several ranks on a host). Otherwise that is an
    error, as are an empty list, an empty item, a name that is not a valid host name, and more than
    ``MOST_HOSTS`` names. A list with groups or operators is a set: each host occurs once.
    ``file:PATH`` reads a file with a node set per line.
    """
    text = text.strip()
    if not text:
        raise BadInput(f"the host list is empty: give {FORMS}.")
    if len(text) > _LONGEST_TEXT:
        raise BadInput(f"the host list is {len(text)} characters long: give ranges such as n[1-4].")
    if text.startswith("file:"):
        return _in_file(text.removeprefix("file:"), repeats)
    return tuple(_parsed(text, repeats=repeats))


def check_nic(name: str) -> str:
    """Return ``name`` if it is a valid name of a network interface (``eth0``) or an RDMA device
    with port (``mlx5_0:1``).
    """
    if _NIC.fullmatch(name) is None:
        raise BadInput(
            f"NIC {name[:60]!r} is not an interface name: give one such as eth0, ib0 or mlx5_0:1."
        )
    return name


def check_nics(text: str) -> str:
    """Return ``text`` if it is a NIC, or several that carry the payload together: ``hsn0,hsn1``."""
    names = tuple(check_nic(name.strip()) for name in text.split(",")[: MOST_RAILS + 1])
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise BadInput(f"NIC {twice} is named twice: give each rail once.")
    if len(names) > MOST_RAILS:
        raise BadInput(f"more than {MOST_RAILS} rails are named: give the NICs that one rank uses.")
    return joined(names)


def fold_hosts(hosts: Sequence[str]) -> str:
    """Return ``n[1-3],n7,n5`` for n1 n2 n3 n7 n5: consecutive numbers are folded, and the order is
    kept.

    Without folding, 10,000 names would not fit into a program's argument.
    """
    runs: list[tuple[str, str, int, int]] = []  # prefix, first number as written, its value, length
    for host in hosts:
        numbered = _NUMBERED.fullmatch(host)
        prefix, digits = (numbered.group(1), numbered.group(2)) if numbered else (host, "")
        if runs and digits:
            before, first, value, length = runs[-1]
            padded = str(value + length).zfill(len(first))
            if first and before == prefix and padded == digits:
                runs[-1] = (before, first, value, length + 1)
                continue
        runs.append((prefix, digits, int(digits or 0), 1))
    words = []
    for prefix, first, value, length in runs:
        last = str(value + length - 1).zfill(len(first))
        words.append(f"{prefix}{first}" if length == 1 else f"{prefix}[{first}-{last}]")
    return ",".join(words)
