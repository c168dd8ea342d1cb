"""Find what earlier changes left on a host. Pure; nothing is changed."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from wireproof.audit.catalogue import Catalogue
from wireproof.audit.facts import HostFacts
from wireproof.model.plan import FactRequest
from wireproof.model.tuning import HostTuned, ResidueFound
from wireproof.tune.settings_files import FileSetting, files_of, set_lines, winning, written_in

TOOLS = {
    "*mlnx*": "MLNX_OFED",
    "*mellanox*": "MLNX_OFED",
    "*ofed*": "OFED",
    "mlx[45]*": "MLNX_OFED",
    "ib_ipoib*": "OFED",
    "*opa*": "the Omni-Path software",
    "*hfi1*": "the Omni-Path software",
    "*iefs*": "the Ethernet Fabric Suite",
    "*psm3*": "the Ethernet Fabric Suite",
    "*tuned*": "tuned",
    "*cpupower*": "cpupower",
}
"""Map file name patterns to the tools that write such files."""
_OURS = "wireproof"
_HALF = {
    "applying": "was interrupted while it was applied: `wireproof tune revert` undoes it",
    "partly": "is not fully reverted: `wireproof tune status` shows what differs",
}


def values_asked(facts: HostFacts, known: Catalogue) -> tuple[FactRequest, ...]:
    """Return requests for the current values, to compare with the files."""
    places = {setting.place for setting in _of_interest(facts, known)}
    return tuple(
        FactRequest(kind="glob" if "*" in place else "file", path=place) for place in sorted(places)
    )


def residue_of(facts: HostFacts, status: HostTuned, known: Catalogue) -> list[ResidueFound]:
    """Return everything found on a host. ``facts``: answers to the requests of this module and of
    ``settings_files``.
    """
    residue = [*_drop_ins(facts, status), *_sets(facts.host, status)]
    residue += [*_differs(facts, known), *_others(facts, known)]
    return residue


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _drop_ins(facts: HostFacts, status: HostTuned) -> Iterator[ResidueFound]:
    """Yield files with wireproof's names that no confirmed change set wrote."""
    confirmed = {item.id for item in status.sets if item.state == "confirmed"}
    kept = {item.id for item in status.changes if item.of in confirmed and item.state != "removed"}
    for path, text in files_of(facts).items():
        if _OURS in _name(path) and path not in kept:
            count = len(set_lines(text))
            message = f"it is in no journal; it sets {count} value{'' if count == 1 else 's'}"
            yield ResidueFound(host=facts.host, kind="drop-in", place=path, message=message)


def _sets(host: str, status: HostTuned) -> Iterator[ResidueFound]:
    if status.problem:
        yield ResidueFound(
            host=host, kind="unread", place="journals", message=f"not read: {status.problem}"
        )
    for change_set in status.sets:
        message = _HALF.get(change_set.state, "")
        if change_set.state == "armed" and change_set.timer == "gone":
            message = (
                "its timer no longer runs and its values are still set: `wireproof tune"
                " revert` undoes it"
            )
        if message:
            yield ResidueFound(
                host=host, kind="half-undone", place=f"set {change_set.id}", message=message
            )


def _of_interest(facts: HostFacts, known: Catalogue) -> list[FileSetting]:
    """Return the catalogue's settings that files set, and everything that wireproof's files set."""
    places = {read.file for entry in known.entries.values() for read in entry.setting.reads}
    written = [
        setting for path, text in files_of(facts).items() for setting in written_in(path, text)
    ]
    of_kernel = (setting for setting in written if setting.place.startswith("/"))
    return [
        setting
        for setting in of_kernel
        if setting.place in places or _OURS in _name(setting.file) or _is_mtu(setting.place)
    ]


def _is_mtu(place: str) -> bool:
    """Return whether the place is the MTU of a named interface: a pattern may mean other
    interfaces.
    """
    return place.endswith("/mtu") and "*" not in place


def _differs(facts: HostFacts, known: Catalogue) -> Iterator[ResidueFound]:
    """Yield current values that differ from the file that takes effect."""
    for place, setting in sorted(winning(_of_interest(facts, known)).items()):
        paths = facts.matching(place) if "*" in place else [place]
        for path in paths:
            text = facts.file(path).text
            now = None if text is None else " ".join(text.split())
            if now is None or _same(now, setting.value):
                continue
            message = f"is {now[:80]!r}; {setting.file} says {setting.value[:80]!r}"
            yield ResidueFound(host=facts.host, kind="differs", place=path, message=message)


_FLAGS = {"y": "1", "on": "1", "n": "0", "off": "0"}


def _same(now: str, value: str) -> bool:
    """Compare values: the kernel writes flags as Y and N, and brackets the chosen word."""
    return (
        now == value
        or f"[{value}]" in now.split()
        or _FLAGS.get(now.lower(), now) == _FLAGS.get(value.lower(), value)
    )


def _others(facts: HostFacts, known: Catalogue) -> Iterator[ResidueFound]:
    """Yield settings of the catalogue in files that known tools write, or that override wireproof's
    files.
    """
    written = _of_interest(facts, known)
    counting = winning(written)
    ours = {setting.place for setting in written if _OURS in _name(setting.file)}
    for setting in written:
        if _OURS in _name(setting.file):
            continue
        patterns = (tool for name, tool in TOOLS.items() if fnmatchcase(_name(setting.file), name))
        tool = next(patterns, "")
        overrules = setting.place in ours and counting[setting.place] == setting
        if tool or overrules:
            by = f"a file of {tool} sets" if tool else "sets"
            more = ", which overrides wireproof's" if overrules else ""
            yield ResidueFound(
                host=facts.host,
                kind="other-tool",
                place=setting.file,
                message=f"{by} {setting.place} = {setting.value[:80]}{more}",
            )
