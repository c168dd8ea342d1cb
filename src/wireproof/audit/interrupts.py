"""Condense the interrupts of an interface's queues into a short fact per interface, because a host
has thousands of them. Pure. The texts are hostile: what cannot be parsed is left out.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from wireproof.audit.facts import UNKEPT, HostFacts
from wireproof.audit.values import cpu_list
from wireproof.model.quantity import first_few, whole
from wireproof.model.record import FactFrame

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
    """Map each interrupt to the cores that receive it; if the kernel does not tell, to the cores
    that may receive it.
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
            fact, status="missing", reason="is not there: the device has no interrupts of its own"
        )
    reason = UNKEPT if answer.why == UNKEPT else "could not be read"
    return msgspec.structs.replace(fact, status="failed", reason=reason)


def _lines(nic: str, mine: Mapping[int, list[int]], facts: HostFacts) -> Iterator[str]:
    """Yield how many of a device's interrupts share a core, and how many reach no core near the
    device.
    """
    yield f"interrupts: {len(mine)}\n"
    if len(mine) < _LEAST:
        return
    alone = [cores[0] for cores in mine.values() if len(cores) == 1]
    ((core, _),) = Counter(alone).most_common(1) or [(-1, 0)]
    shared = [number for number, cores in mine.items() if cores == [core]]
    where = f" on core {core}" if shared else ""
    yield f"busiest: {_share(shared, mine)}{where}{_named(shared)}{_service(facts)}\n"
    near = cpu_list((facts.file(f"/sys/class/net/{nic}/device/local_cpulist").text or "").strip())
    if not isinstance(near, list) or not near:
        yield "far: not known\n"
        return
    far = [number for number, cores in mine.items() if not set(near).intersection(cores)]
    yield f"far: {_share(far, mine)}{_named(far)}{_service(facts)}\n"


def _share(some: Sequence[int], of: Mapping[int, object]) -> str:
    return f"{100 * len(some) // len(of)} % of {len(of)} interrupts"


def _named(numbers: Sequence[int]) -> str:
    return f" ({first_few([str(number) for number in numbers], _SHOWN)})" if numbers else ""


def _service(facts: HostFacts) -> str:
    frame = facts.at(_SERVICE)
    word = frame.text.strip() if frame is not None else ""
    return {"active": "; irqbalance runs", "inactive": "; irqbalance does not run"}.get(word, "")
