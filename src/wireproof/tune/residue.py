"""What earlier changes have left on a host. Pure; nothing is changed."""

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
"""Names of files by the tool that writes them."""
_OURS = "wireproof"
_HALF = {
    "applying": "was interrupted while it was applied: `wireproof tune revert` undoes it",
    "partly": "is not reverted whole: `wireproof tune status` says what differs",
}


def values_asked(facts: HostFacts, known: Catalogue) -> tuple[FactRequest, ...]:
    """The places whose values at run time are held against the files."""
    places = {one.place for one in _of_interest(facts, known)}
    return tuple(
        FactRequest(kind="glob" if "*" in place else "file", path=place) for place in sorted(places)
    )


def residue_of(facts: HostFacts, status: HostTuned, known: Catalogue) -> list[ResidueFound]:
    """All that is found on one host. ``facts``: of both requests above."""
    found = [*_drop_ins(facts, status), *_sets(facts.host, status)]
    found += [*_differs(facts, known), *_others(facts, known)]
    return found


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _drop_ins(facts: HostFacts, status: HostTuned) -> Iterator[ResidueFound]:
    """Files of our names that no confirmed set has written."""
    confirmed = {one.id for one in status.sets if one.state == "confirmed"}
    kept = {one.id for one in status.changes if one.of in confirmed and one.state != "removed"}
    for path, text in files_of(facts).items():
        if _OURS in _name(path) and path not in kept:
            count = len(set_lines(text))
            message = f"no journal knows it; it sets {count} value{'' if count == 1 else 's'}"
            yield ResidueFound(host=facts.host, kind="drop-in", place=path, message=message)


def _sets(host: str, status: HostTuned) -> Iterator[ResidueFound]:
    if status.problem:
        yield ResidueFound(
            host=host, kind="unread", place="journals", message=f"not read: {status.problem}"
        )
    for one in status.sets:
        message = _HALF.get(one.state, "")
        if one.state == "armed" and one.timer == "gone":
            message = (
                "its timer no longer runs and its values are still set: `wireproof tune"
                " revert` undoes it"
            )
        if message:
            yield ResidueFound(
                host=host, kind="half-undone", place=f"set {one.id}", message=message
            )


def _of_interest(facts: HostFacts, known: Catalogue) -> list[FileSetting]:
    """What files set of the catalogue's settings, and all that files of ours set."""
    places = {read.file for entry in known.entries.values() for read in entry.setting.reads}
    written = [one for path, text in files_of(facts).items() for one in written_in(path, text)]
    of_kernel = (one for one in written if one.place.startswith("/"))
    return [
        one
        for one in of_kernel
        if one.place in places or _OURS in _name(one.file) or _is_mtu(one.place)
    ]


def _is_mtu(place: str) -> bool:
    """Of an interface that is named: a file for any interface may be for another one."""
    return place.endswith("/mtu") and "*" not in place


def _differs(facts: HostFacts, known: Catalogue) -> Iterator[ResidueFound]:
    """Values at run time that are not those of the file that counts."""
    for place, one in sorted(winning(_of_interest(facts, known)).items()):
        paths = facts.matching(place) if "*" in place else [place]
        for path in paths:
            text = facts.file(path).text
            now = None if text is None else " ".join(text.split())
            if now is None or _same(now, one.value):
                continue
            message = f"is {now[:80]!r}; {one.file} says {one.value[:80]!r}"
            yield ResidueFound(host=facts.host, kind="differs", place=path, message=message)


_FLAGS = {"y": "1", "on": "1", "n": "0", "off": "0"}


def _same(now: str, value: str) -> bool:
    """The kernel writes flags as Y and N, and brackets the word that is chosen."""
    return (
        now == value
        or f"[{value}]" in now.split()
        or _FLAGS.get(now.lower(), now) == _FLAGS.get(value.lower(), value)
    )


def _others(facts: HostFacts, known: Catalogue) -> Iterator[ResidueFound]:
    """Settings of the catalogue in files that known tools write, or that overrule ours."""
    written = _of_interest(facts, known)
    counting = winning(written)
    ours = {one.place for one in written if _OURS in _name(one.file)}
    for one in written:
        if _OURS in _name(one.file):
            continue
        patterns = (tool for name, tool in TOOLS.items() if fnmatchcase(_name(one.file), name))
        tool = next(patterns, "")
        overrules = one.place in ours and counting[one.place] == one
        if tool or overrules:
            by = f"a file of {tool} sets" if tool else "sets"
            more = ", which overrules ours" if overrules else ""
            yield ResidueFound(
                host=facts.host,
                kind="other-tool",
                place=one.file,
                message=f"{by} {one.place} = {one.value[:80]}{more}",
            )
