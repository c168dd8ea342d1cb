# pure
"""Convert the text of a place to a value. Pure. The text is hostile: what cannot be parsed is
UNKNOWN.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from wireproof.audit.expression import UNKNOWN, Value
from wireproof.audit.facts import UNKEPT, HostFacts, first_match
from wireproof.model.quantity import first_few, whole
from wireproof.model.record import FactFrame
from wireproof.model.setting import Form, Read

MOST_CPUS = 8192
_YES = {"y", "yes", "1", "on", "enabled", "true", "always"}
_NO = {"n", "no", "0", "off", "disabled", "false", "never"}
_SIZE = re.compile(r"(\d{1,18})\s*(?:([kKMGT])i?)?B?\b", re.ASCII)
_SCALE = {"": 1, "k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_NUMBER = re.compile(r"[-+]?\d{1,18}(?:\.\d{1,9})?(?![\w.])", re.ASCII)
_HEX = re.compile(r"0[xX][0-9a-fA-F]{1,16}\b")
_LONGEST = 4096


def part_of(text: str, read: Read) -> str | None:
    """Return the part of ``text`` that ``read`` selects; None if its section or key is missing."""
    if read.section:
        at = re.search(rf"^[ \t]*{re.escape(read.section)}(?!\w)", text, re.MULTILINE)
        if at is None:
            return None
        text = _indented(text[at.end() :], len(at.group()) - len(at.group().lstrip()))
    return _behind(text, read.key) if read.key else text


def _indented(text: str, indent: int) -> str:
    """Return the rest of a heading's line and the deeper indented lines below. Without such lines,
    return the rest of the line, or all following lines if it is empty, as ethtool prints rings.
    """
    lines = text.split("\n")
    deeper = [len(line) - len(line.lstrip()) > indent for line in lines[1:] if line.strip()]
    if not deeper or not deeper[0]:
        return lines[0] if lines[0].strip(" \t:") else text
    end = deeper.index(False) if False in deeper else len(deeper)
    kept = [line for line in lines[1:] if line.strip()][:end]
    return "\n".join((lines[0], *kept))


def _behind(text: str, key: str) -> str | None:
    """Return the text after ``key`` and a colon, an equals sign or a space, up to the end of the
    line. Of names separated by ``|``, the first that exists is used. Lines that start with ``#``
    are comments.
    """
    for name in map(re.escape, key.split("|")):
        for match in re.finditer(
            rf"(?:^|(?<=[\s,])){name}(?:[ \t]*[:=][ \t]*|[ \t]+)(.*)$", text, re.MULTILINE
        ):
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            if not line.lstrip().startswith("#"):
                return match.group(1)
    return None


def typed(text: str, form: Form) -> Value:
    """Convert ``text`` to the given form, or UNKNOWN. Text longer than any setting's is
    truncated.
    """
    return _READERS[form](text.strip()[:_LONGEST])


def _word(text: str) -> Value:
    words = text.split(maxsplit=1)
    return words[0] if words and words[0].isprintable() else UNKNOWN


def _number(text: str) -> Value:
    if match := _HEX.match(text):
        return int(match.group(), 16)
    match = _NUMBER.match(text)
    if match is None:
        return UNKNOWN
    return float(match.group()) if "." in match.group() else int(match.group())


def _flag(text: str) -> Value:
    word = text.split(maxsplit=1)[0].lower().rstrip(",;.") if text else ""
    return True if word in _YES else False if word in _NO else UNKNOWN


def _choice(text: str) -> Value:
    return first_match(r"\[([^\[\]\s]{1,64})\]", text) or UNKNOWN


def _list(text: str) -> Value:
    words = re.split(r"[,\s]+", text.strip(", "))
    return [_one(word) for word in words if word]


def _one(word: str) -> int | float | str:
    number = _number(word)
    return number if isinstance(number, (int, float)) and _NUMBER.fullmatch(word) else word


def _size(text: str) -> Value:
    match = _SIZE.match(text)
    return int(match.group(1)) * _SCALE[match.group(2) or ""] if match else UNKNOWN


def cpu_list(text: str) -> Value:
    """Return ``0-3,8`` as [0, 1, 2, 3, 8]; "" is the empty list."""
    cpus: list[int] = []
    for part in filter(None, re.split(r"[,\s]+", text.strip())):
        bounds = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", part, re.ASCII)
        if bounds is None:
            return UNKNOWN
        first, last = int(bounds.group(1)), int(bounds.group(2) or bounds.group(1))
        if last < first or last >= MOST_CPUS:
            return UNKNOWN
        cpus += range(first, last + 1)
    return cpus


_READERS: dict[Form, Callable[[str], Value]] = {
    "text": lambda text: text,
    "word": _word,
    "number": _number,
    "flag": _flag,
    "choice": _choice,
    "list": _list,
    "cpus": cpu_list,
    "size": _size,
    "present": lambda _text: True,
}


# --- Interrupts of an interface's queues: a host has thousands, so each interface gets a single
# short fact.

INTERRUPTS = "irq/"
"""Prefix of the facts: ``irq/NIC``."""
AFFINITIES = ("grep", "-rHs", "--include=*affinity_list", "", "/proc/irq")
"""Lists all interrupts of a host with their cores, one per line."""
_AFFINITY = re.compile(
    r"^/proc/irq/(\d{1,6})/(effective|smp)_affinity_list:([\d,-]+)$", re.MULTILINE
)
_SERVICE = ("systemctl", "is-active", "irqbalance.service")
_LEAST = 4
"""Fewest interrupts that can be spread."""
_SHOWN = 4


def vectors_of(nic: str) -> tuple[str, ...]:
    """Return the command that lists the interrupts of an interface's device."""
    return ("ls", "-1", f"/sys/class/net/{nic}/device/msi_irqs")


def vectors_in(interrupts: str, names: Iterable[str]) -> str:
    """Return the numbers of the lines of /proc/interrupts that mention any of ``names`` (the
    interface, its PCI device), in the format of ``vectors_of``.
    """
    named = "|".join(re.escape(name) for name in names if name)
    line = rf"^[ \t]*(\d{{1,6}}):.*(?<![\w.])(?:{named})(?![\w.])"
    return "".join(f"{number}\n" for number in re.findall(line, interrupts, re.MULTILINE))


def folded(frames: Iterable[FactFrame], nics: Sequence[str]) -> tuple[FactFrame, ...]:
    """Return the frames of a host with a fact per interface instead of the frames that it
    summarizes.
    """
    frames = tuple(frames)
    facts = HostFacts.of("", frames)
    used = {AFFINITIES, *map(vectors_of, nics)}
    kept = (frame for frame in frames if frame.kind != "command" or tuple(frame.argv) not in used)
    cores = _cores(facts.command(AFFINITIES).text or "")
    return (*kept, *(_fact(nic, cores, facts) for nic in nics))


def _cores(text: str) -> dict[int, list[int]]:
    """Map each interrupt to the cores that receive it; if the kernel does not report them, to the
    cores that may receive it.
    """
    by_kind: dict[str, dict[int, list[int]]] = {"smp": {}, "effective": {}}
    for number, kind, cores in _AFFINITY.findall(text):
        if isinstance(listed := cpu_list(cores), list) and listed:
            by_kind[kind][int(number)] = listed
    return by_kind["smp"] | by_kind["effective"]


def _fact(nic: str, cores: Mapping[int, list[int]], facts: HostFacts) -> FactFrame:
    fact = FactFrame(rank=0, kind="file", status="ok", path=f"{INTERRUPTS}{nic}")
    answer = facts.command(vectors_of(nic))
    words = (answer.text or "").split()
    numbers = [number for word in words if (number := whole(word)) is not None]
    mine = {number: cores[number] for number in numbers if number in cores}
    if mine:
        return msgspec.structs.replace(fact, text="".join(_lines(nic, mine, facts)))
    lacking = "No such file" in answer.why or (answer.text is not None and not numbers)
    if lacking:
        return msgspec.structs.replace(
            fact, status="missing", reason="does not exist: the device has no separate interrupts"
        )
    reason = UNKEPT if answer.why == UNKEPT else "could not be read"
    return msgspec.structs.replace(fact, status="failed", reason=reason)


def _lines(nic: str, cores_of: Mapping[int, list[int]], facts: HostFacts) -> Iterator[str]:
    """Yield the number of a device's interrupts that share a core, and the number that reach no
    core near the device.
    """
    yield f"interrupts: {len(cores_of)}\n"
    if len(cores_of) < _LEAST:
        return
    alone = [cores[0] for cores in cores_of.values() if len(cores) == 1]
    ((core, _),) = Counter(alone).most_common(1) or [(-1, 0)]
    shared = [number for number, cores in cores_of.items() if cores == [core]]
    place = f" on core {core}" if shared else ""
    yield f"busiest: {_share(shared, cores_of)}{place}{_named(shared)}{_service(facts)}\n"
    near = cpu_list((facts.file(f"/sys/class/net/{nic}/device/local_cpulist").text or "").strip())
    if not isinstance(near, list) or not near:
        yield "far: not known\n"
        return
    far = [number for number, cores in cores_of.items() if not set(near).intersection(cores)]
    yield f"far: {_share(far, cores_of)}{_named(far)}{_service(facts)}\n"


def _share(some: Sequence[int], of: Mapping[int, object]) -> str:
    return f"{100 * len(some) // len(of)} % of {len(of)} interrupts"


def _named(numbers: Sequence[int]) -> str:
    return f" ({first_few([str(number) for number in numbers], _SHOWN)})" if numbers else ""


def _service(facts: HostFacts) -> str:
    frame = facts.at(_SERVICE)
    word = frame.text.strip() if frame is not None else ""
    return {"active": "; irqbalance runs", "inactive": "; irqbalance does not run"}.get(word, "")
