# pure
"""Settings that a fabric depends on, and the result of an audit of them.

One setting is one entry of the catalogue: `audit` judges a machine by it, `tune` changes it, `lint`
and `locate` refer to it, and `explain` prints it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from wireproof.model.finding import Direction, Verdict

# --- The configuration that a result was measured with, in the form that vendors print with a
# benchmark.

Group = Literal["hardware", "firmware", "system", "network", "software", "method", "settings"]
GROUPS: tuple[Group, ...] = (
    "hardware",
    "firmware",
    "system",
    "network",
    "software",
    "method",
    "settings",
)


class Disclosed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One item of the configuration. ``value``: "" if unknown, for the reason in ``why``.
    ``hosts``: the hosts that have this value; empty if all have it or the item belongs to the
    run as a whole.
    """

    group: Group
    name: str
    value: str
    hosts: list[str] = msgspec.field(default_factory=list)
    why: str = ""


class Disclosure(msgspec.Struct, frozen=True, kw_only=True):
    """The items of a configuration, once for each value that hosts have, in the order of
    ``GROUPS``.
    """

    schema: Literal["wireproof.disclosure"] = "wireproof.disclosure"
    version: int = 1
    hosts: list[str] = msgspec.field(default_factory=list)
    items: list[Disclosed] = msgspec.field(default_factory=list)


Profile = Literal["throughput", "latency", "repeatability", "power"]
PROFILES: tuple[Profile, ...] = ("throughput", "latency", "repeatability", "power")
"""The goal that a machine is configured for. If authorities disagree on a value, the profile
decides."""

Form = Literal["text", "word", "number", "flag", "choice", "list", "cpus", "size", "present"]
"""How a text becomes a value. ``word``: its first word; ``flag``: Y/N, 1/0, on/off; ``choice``: the
word in brackets, as in sysfs; ``list``: numbers or words separated by commas and spaces; ``cpus``:
``0-3,8`` as a list of numbers; ``size``: bytes, with kB, K, M, G; ``present``: true if the file
exists.
"""
Scope = Literal["host", "nic", "rdma", "each"]
"""The scope of the setting: the host, each fabric interface, each RDMA port, or each file that a
pattern matches.
"""
Severity = Literal["minor", "major", "critical"]
SEVERITIES: tuple[Severity, ...] = ("minor", "major", "critical")
_MAJOR = 0.2
Status = Literal["pass", "fail", "not-applicable", "unknown", "waived"]


class _SettingData(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Read(_SettingData, frozen=True):
    """A place to read the value from; the first place that answers counts.

    ``file`` and ``command`` may contain ``*`` and, depending on the scope, ``{nic}``, ``{device}``,
    ``{port}``. ``section``: only what follows the line that begins with it. ``key``: the text after
    ``KEY:``, ``KEY=`` or ``KEY`` and a space. ``when``: condition for using this place.
    ``statuses``: exit statuses other than 0 with which the command's output is valid. ``own``: the
    command belongs to the software that it reports on, so a host without the command does not have
    the setting; if any other command is missing, the setting is unknown. ``worst``: if ``file``
    matches several files (every core, policy, queue), the ``largest`` or ``smallest`` value counts,
    or the first of the words between ``|``; with scope ``each``, separately for every name that the
    last ``*`` matches. For a command: over all names of ``key``, in which ``{p}`` stands for each
    priority.
    """

    file: str = ""
    command: tuple[str, ...] = ()
    section: str = ""
    key: str = ""
    form: Form | None = None
    when: str = ""
    statuses: tuple[int, ...] = ()
    own: bool = False
    worst: str = ""


class Inferred(_SettingData, frozen=True):
    """A value inferred from the operating system, for a setting that it does not show directly:
    ``value`` if the condition ``when`` holds; ``sign``: the observation, as text.
    """

    when: str
    value: str
    sign: str


class SettingEffect(_SettingData, frozen=True):
    """The loss that a wrong value causes: a share of ``on`` from ``low`` to ``high`` (0.1: 10 %).

    ``sure``: the kind of evidence for the loss. ``correctness``: numbers or jobs are wrong, not
    slow. ``direction``: the traffic of the host with the setting that is affected, sent or
    received; "" for both. ``over``: ``ip`` affects only the kernel's sockets, ``rdma`` only the
    adapter's transport, ``gpu`` only data that leaves GPU memory, ``shm`` only traffic within a
    host. ``pauses``: it affects only traffic with pauses, which a benchmark does not have.
    """

    on: Literal[
        "latency", "bandwidth", "message-rate", "variation", "availability", "correctness", "none"
    ]
    low: float = 0.0
    high: float = 0.0
    sure: Literal["measured", "vendor", "literature", "practice", "estimate"] = "practice"
    direction: Direction = ""
    over: Literal["", "ip", "rdma", "gpu", "shm"] = ""
    pauses: bool = False

    @property
    def severity(self) -> Severity:
        """``critical``: numbers or jobs are wrong or do not run; ``major``: 20 % or more may be
        lost; otherwise ``minor``.
        """
        if self.on in ("correctness", "availability"):
            return "critical"
        return "major" if self.high >= _MAJOR else "minor"


class Doubt(_SettingData, frozen=True):
    """A case in which a bad value may still be right: ``when`` is its condition; ``why`` says, in a
    sentence, what was seen and what to do.
    """

    when: str
    why: str


class Fix(_SettingData, frozen=True):
    """How the setting is changed.

    ``value``: the value to write, for each profile; ``any`` applies to profiles that are not named;
    after ``=`` comes an expression in the language of the conditions. For the running system, it is
    written to the file that was read, to ``file`` (a pattern: each file that matches), or set by
    ``command``. ``coupled``: files whose values the write may change. To make it permanent,
    ``line`` goes into the drop-in ``persist``; without ``line``, it is built from value and place.
    ``{value}``, ``{nic}``, ``{device}``, ``{port}`` and the instance's ``{label}`` are filled in.
    ``takes``: the event after which the value takes effect; the running system is changed only
    for "" and ``link-down``. ``kernel``: a kernel argument; ``by_hand``: the step for a person.
    """

    value: dict[str, str] = msgspec.field(default_factory=dict)
    file: str = ""
    command: tuple[str, ...] = ()
    coupled: tuple[str, ...] = ()
    persist: str = ""
    line: str = ""
    kernel: str = ""
    by_hand: str = ""
    takes: Literal["", "link-down", "reload", "session", "reboot", "firmware", "hands"] = ""
    root: bool = True
    undo: str = "the old value, written back"

    @property
    def at_once(self) -> bool:
        """True if the value can be set on the running system."""
        return bool(self.value) and self.takes in ("", "link-down")


class Setting(_SettingData, frozen=True):
    """One entry of the catalogue.

    ``good``: condition for each profile; ``any`` applies to profiles that are not named;
    ``wanted``: the same as text. ``doubt``: when a value that is not good may be right. ``alike``:
    hosts of the same kind should have the same value. ``ends``: both ends of a path must have the
    same value, whichever is right. ``documents``: tuning documents that name the setting.
    `audit.machine` lists the names that conditions may use. ``names``: names of the firmware
    attribute in setup menus, by manufacturer (``any``: all). ``inferred``: used if no place can be
    read.
    """

    id: str
    title: str
    group: str
    meaning: str
    why: str
    scope: Scope = "host"
    form: Form = "text"
    reads: tuple[Read, ...] = ()
    names: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    inferred: tuple[Inferred, ...] = ()
    unit: str = ""
    default: str = ""
    range: str = ""
    applies: str = "true"
    good: dict[str, str] = msgspec.field(default_factory=dict)
    wanted: dict[str, str] = msgspec.field(default_factory=dict)
    doubt: Doubt | None = None
    alike: bool = False
    ends: bool = False
    effect: SettingEffect = msgspec.field(default_factory=lambda: SettingEffect(on="none"))
    fix: Fix | None = None
    needs: tuple[str, ...] = ()
    coupled: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    source: str = ""
    documents: tuple[str, ...] = ()

    def condition(self, profile: Profile) -> str:
        """Return the condition for a good value; "" if the entry only informs."""
        return self.good.get(profile, self.good.get("any", ""))

    def wish(self, profile: Profile) -> str:
        """Return the good value as text."""
        return self.wanted.get(profile, self.wanted.get("any", "")) or self.condition(profile)


class AuditResult(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One setting on one host.

    ``instance``: the interface or file, "" for the host as a whole. ``seen``: the value as it was
    read; ``message``: one sentence; ``evidence``: the places that were read, with their content.
    ``usual``: the value of other hosts of the same kind, if this result reports a difference.
    ``severity``: that of ``expected_effect``, "" without one.
    """

    id: str
    host: str
    status: Status
    instance: str = ""
    seen: str = ""
    wanted: str = ""
    message: str = ""
    evidence: list[str] = msgspec.field(default_factory=list)
    expected_effect: SettingEffect | None = None
    fix: str = ""
    undo: str = ""
    usual: str = ""
    severity: Severity | Literal[""] = ""

    def __post_init__(self) -> None:
        effect = self.expected_effect
        msgspec.structs.force_setattr(self, "severity", effect.severity if effect else "")


class AuditResults(Sequence[AuditResult]):
    """The results of many hosts, with results that hosts share stored once: for ten thousand hosts,
    separate results would take half a gigabyte. A host's result is built when it is read.
    """

    def __init__(self, results: Iterable[AuditResult] = ()) -> None:
        self._parts: list[_Part] = []
        self.extend(results)

    @classmethod
    def of(cls, results: Iterable[AuditResult]) -> "AuditResults":
        """Return ``results`` in this compact form."""
        return results if isinstance(results, cls) else cls(results)

    def extend(self, results: Iterable[AuditResult]) -> None:
        self._parts.append((None, tuple(results), {}))

    def add(self, host: str, like: Sequence[AuditResult], other: Mapping[int, AuditResult]) -> None:
        """Add the results of ``host``: those of ``like``, which were added before, except
        ``other``, by place and in order.
        """
        self._parts.append((host, like, other))

    def where(self, test: Callable[[AuditResult], bool]) -> Iterator[AuditResult]:
        """Yield the results for which ``test`` is true; the test must not depend on the host."""
        known: dict[int, list[int]] = {}
        for host, like, other in self._parts:
            places = known.get(id(like))
            if places is None:
                places = [place for place, one in enumerate(like) if test(one)]
                known[id(like)] = places
            for place in sorted({*places, *other}) if other else places:
                one = other.get(place)
                if one is None:
                    one = like[place]
                    yield one if host is None else msgspec.structs.replace(one, host=host)
                elif test(one):
                    yield one

    def changed(
        self,
        test: Callable[[AuditResult], bool],
        change: Callable[[AuditResult], AuditResult],
    ) -> "AuditResults":
        """Return the results after ``change`` has replaced those for which ``test`` is true; the
        test must not depend on the host.
        """
        known: dict[int, list[int]] = {}
        made = AuditResults()
        for host, like, other in self._parts:
            if host is None:
                made.extend(change(one) if test(one) else one for one in like)
                continue
            if id(like) not in known:
                known[id(like)] = [place for place, one in enumerate(like) if test(one)]
            mine = {}
            for place in sorted({*known[id(like)], *other}):
                one = other.get(place) or msgspec.structs.replace(like[place], host=host)
                mine[place] = change(one) if test(one) else one
            made.add(host, like, mine)
        return made

    def distinct(self) -> Iterator[AuditResult]:
        """Yield each result once for all hosts that share it."""
        for host, like, other in self._parts:
            yield from like if host is None else other.values()

    def statuses(self) -> Counter[Status]:
        """Return the number of results with each status."""
        counts: Counter[Status] = Counter()
        known: dict[int, Counter[Status]] = {}
        for _, like, other in self._parts:
            if id(like) not in known:
                known[id(like)] = Counter(one.status for one in like)
            counts.update(known[id(like)])
            for place, one in other.items():
                counts[like[place].status] -= 1
                counts[one.status] += 1
        return counts

    def __iter__(self) -> Iterator[AuditResult]:
        return self.where(lambda _: True)

    def __len__(self) -> int:
        return sum(len(like) for _, like, _ in self._parts)

    def __getitem__(self, place: Any) -> Any:
        return list(self)[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


_Part = tuple[str | None, Sequence[AuditResult], Mapping[int, AuditResult]]
"""A host, results of a similar host, and the results in which it differs, by place; without a host,
results of any hosts.
"""


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """The output of ``wireproof audit --json``. ``skipped``: entries that cannot be used, with the
    reason. ``against``: the reference whose values replace those of the catalogue, "" for none.
    """

    schema: str = "wireproof.audit"
    version: int = 1
    profile: Profile = "throughput"
    against: str = ""
    hosts: list[str] = msgspec.field(default_factory=list)
    results: Sequence[AuditResult] = msgspec.field(default_factory=list)
    skipped: list[str] = msgspec.field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """``fail`` if a setting fails, ``inconclusive`` if a setting could not be read or none was
        judged, otherwise ``pass``.
        """
        statuses = AuditResults.of(self.results).statuses()
        if statuses["fail"]:
            return "fail"
        judged = statuses["pass"] or statuses["waived"]
        return "inconclusive" if statuses["unknown"] or not judged else "pass"
