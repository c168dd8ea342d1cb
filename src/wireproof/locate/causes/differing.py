# pure
"""Find the settings in which a host differs from comparable hosts, or that are wrong there and
right on the others. Pure. A value that all comparable hosts share is left out, because it does not
explain a single slow host. If no other host could be read, a wrong setting still counts, with less
confidence.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property

import msgspec

from wireproof.ledger.relations import claimed_nic
from wireproof.model.claim import rails_of
from wireproof.model.record import Host
from wireproof.model.run import Run
from wireproof.model.setting import Audit, AuditResult, Setting, SettingEffect

_AGREE = 0.75
"""The share of comparable hosts that must agree on a value to make it the usual value."""
_DIFFERS_AND_FAILS, _DIFFERS, _SHARED, _FAILS = 0.85, 0.6, 0.5, 0.4
_FIXED = "[fixed]"
"""ethtool's mark of a feature that cannot be changed: a property of the adapter, on all hosts."""
_READ = ("pass", "fail", "waived")
"""Results with a value to compare, even if the value could not be judged."""
_WRONG = ("fail", "waived")
_TWO = 2


class Wrong(msgspec.Struct, frozen=True):
    """One setting of one host. ``others``: the values of comparable hosts, in words. ``usual``: the
    usual value among them, "" if they do not agree. ``confidence``: confidence that the difference
    matters. ``shared``: the hosts that share the wrong value, "" if it concerns this host alone.
    """

    setting: Setting
    result: AuditResult
    others: str
    usual: str
    confidence: float
    evidence: tuple[str, ...]
    shared: str = ""


class _Equals(msgspec.Struct, frozen=True):
    """The values that a group of hosts has for one setting, with their counts, right or wrong.
    ``first``: one host of the group.
    """

    values: Counter[str]
    good: int
    wrong: int
    first: str

    @classmethod
    def of(cls, results: Sequence[AuditResult]) -> _Equals:
        return cls(
            values=Counter(result.seen for result in results),
            good=sum(result.status == "pass" for result in results),
            wrong=sum(result.status in _WRONG for result in results),
            first=results[0].host if results else "",
        )

    def without(self, results: Sequence[AuditResult]) -> _Equals:
        """Return the values of the other hosts, for groups of more than two."""
        less = _Equals.of(results)
        left = self.values - less.values
        return _Equals(left, self.good - less.good, self.wrong - less.wrong, "")

    @property
    def total(self) -> int:
        return self.values.total()

    @property
    def usual(self) -> tuple[str | None, int]:
        """The most common value and its count; (None, 0) if the hosts do not agree."""
        if not self.values:
            return None, 0
        value, count = self.values.most_common(1)[0]
        return (value, count) if count >= _AGREE * self.total else (None, 0)


class WrongSettings:
    """Index the audit of a run's hosts to compare them. If the run claims interfaces or RDMA ports
    on a host, only these are compared there.
    """

    def __init__(self, audit: Audit, settings: Mapping[str, Setting], run: Run) -> None:
        self.settings = settings
        self.hosts = tuple(audit.hosts)
        ports = _claimed_ports(run)
        self._read: dict[str, dict[str, list[AuditResult]]] = defaultdict(lambda: defaultdict(list))
        for result in audit.results:
            setting = settings.get(result.id)
            read = result.status in _READ or (result.status == "unknown" and result.seen)
            if setting is None or not setting.effect.high or result.usual or not read:
                continue
            known = ports.get(result.host) if setting.scope in ("nic", "rdma") else None
            if known is None or result.instance in known:
                self._read[result.id][result.host].append(result)
        self._among_all: dict[str, list[Wrong]] = {}

    def of(self, host: str, equals: Collection[str]) -> list[Wrong]:
        """Return the differences between ``host`` and ``equals``, each setting at most once."""
        return self._differing(
            host,
            lambda name, _: _Equals.of(
                [one for equal in equals for one in self._read[name].get(equal, ())]
            ),
        )

    def among_all(self, host: str) -> list[Wrong]:
        """Return the differences between ``host`` and all other hosts. The result is cached."""
        if host not in self._among_all:
            self._among_all[host] = self._differing(
                host, lambda name, here: self._all[name].without(here)
            )
        return self._among_all[host]

    @cached_property
    def _all(self) -> dict[str, _Equals]:
        """The values of all hosts for each setting."""
        return {
            name: _Equals.of([result for results in by_host.values() for result in results])
            for name, by_host in self._read.items()
        }

    def _differing(
        self, host: str, others: Callable[[str, Sequence[AuditResult]], _Equals]
    ) -> list[Wrong]:
        """Return the differences between ``host`` and ``others`` (by setting, and the results
        here), each setting at most once.
        """
        differing = []
        for name, by_host in self._read.items():
            if here := by_host.get(host):
                equals = others(name, here)
                compared = (self._compared(name, result, equals) for result in here)
                differing += [wrong for wrong in compared if wrong is not None][:1]
        return differing

    def shared(self, hosts: Sequence[str]) -> list[Wrong]:
        """Return the settings that fail on most of ``hosts``. The first failing host's result
        represents all of them.
        """
        common = []
        for name, by_host in self._read.items():
            failing: dict[str, AuditResult] = {}
            for host in hosts:
                for result in by_host.get(host, ()):
                    if result.status in _WRONG and _FIXED not in result.seen:
                        failing.setdefault(host, result)
            if failing and len(failing) >= _AGREE * len(hosts):
                first = next(iter(failing.values()))
                common.append(
                    Wrong(
                        setting=self.settings[name],
                        result=first,
                        others=f"it should be {first.wanted}",
                        usual="",
                        confidence=_SHARED,
                        evidence=tuple(first.evidence),
                        shared=_where(len(failing), len(hosts)),
                    )
                )
        return common

    def _compared(self, name: str, result: AuditResult, others: _Equals) -> Wrong | None:
        usual, count = others.usual
        if usual is None:
            return self._by_status(result, others)
        fails = result.status in _WRONG
        if usual == result.seen or not (fails or self._matters(name, others)):
            return None
        values = _have(usual or "none", count, others)
        return self._wrong(result, values, usual, _DIFFERS_AND_FAILS if fails else _DIFFERS)

    def _matters(self, name: str, others: _Equals) -> bool:
        """Return whether a differing value counts although it passes: yes if both ends of a path
        must agree, or if hosts must be alike and no other host's value is wrong.
        """
        setting = self.settings[name]
        return setting.ends or (setting.alike and not others.wrong)

    def _by_status(self, result: AuditResult, others: _Equals) -> Wrong | None:
        """Compare by status if the others have no usual value: the value is wrong here, and right
        on most of them.
        """
        if result.status not in _WRONG or others.good < _AGREE * others.total:
            return None
        if not others.total:
            return self._wrong(result, f"it should be {result.wanted}", "", _FAILS)
        wanted = f"it should be {result.wanted}, as on {others.good} of {others.total} others"
        return self._wrong(result, wanted, "", _DIFFERS_AND_FAILS)

    def _wrong(self, result: AuditResult, others: str, usual: str, confidence: float) -> Wrong:
        seen = (*result.evidence, f"{result.host}: {result.seen or 'not set'}; {others}")
        return Wrong(self.settings[result.id], result, others, usual, confidence, seen)


def _where(failing: int, hosts: int) -> str:
    """Return ``both hosts``, ``all 6 hosts`` or ``5 of 6 hosts``."""
    if failing < hosts:
        return f"{failing} of {hosts} hosts"
    return "both hosts" if hosts == _TWO else f"all {hosts} hosts"


def _have(usual: str, many: int, others: _Equals) -> str:
    """Return a phrase such as ``the 3 others have 9000`` or ``n2 has 9000``."""
    if others.total == 1:
        return f"{others.first or 'the other'} has {usual}"
    whom = f"{many} of {others.total}" if many < others.total else f"the {many}"
    return f"{whom} others have {usual}"


def _claimed_ports(run: Run) -> dict[str, set[str]]:
    """Map each host to the audit's names of its claimed ports; hosts without a claim are absent."""
    ports: dict[str, set[str]] = {}
    hosts = {host.rank: host for host in run.hosts}
    for claim in run.claim.hosts:
        if claim.nic:
            host = hosts.get(claim.rank)
            ports.setdefault(claim.host, set()).update(_names(host, claim.nic))
    return ports


def _names(host: Host | None, claim: str) -> Iterable[str]:
    for rail in rails_of(claim):
        yield rail
        nic = claimed_nic(host.nics, rail) if host is not None else None
        if nic is not None:
            yield nic.name
            if nic.rdma is not None:
                yield f"{nic.rdma.device}:{nic.rdma.port}"


# --- The cost of a wrong value, if it can be calculated from the value.

_HEADERS, _FRAME = 52.0, 38.0
"""IPv4, TCP and time stamps; Ethernet with preamble, frame check and gap, all in bytes."""
_LARGEST = 65535
_USUAL = (1500.0, 9000.0)
_MOST = 0.95


def effect_here(wrong: Wrong) -> SettingEffect:
    """Return the effect that the catalogue expects. For an MTU the catalogue compares 1500 with
    9000 bytes; other values are scaled by the cost of their headers.
    """
    effect = wrong.setting.effect
    if wrong.setting.id != "mtu" or effect.on != "bandwidth":
        return effect
    cost = headers_cost(_bytes(wrong.result.seen), _bytes(wrong.usual))
    known = headers_cost(*_USUAL)
    if cost is None or known is None or cost <= 0:
        return effect
    low, high = (round(min(_MOST, share * cost / known), 3) for share in (effect.low, effect.high))
    return msgspec.structs.replace(effect, low=low, high=high)


def headers_cost(own: float | None, usual: float | None) -> float | None:
    """Return the share of goodput that packets of ``own`` bytes cost compared with ``usual``:
    payload / wire = (MTU - 52) / (MTU + 38) for TCP over Ethernet. None if packets of these sizes
    cannot contain payload.
    """
    if own is None or usual is None or own <= _HEADERS or usual <= _HEADERS:
        return None
    mine, theirs = ((mtu - _HEADERS) / (mtu + _FRAME) for mtu in (own, usual))
    return 1.0 - mine / theirs


def _bytes(text: str) -> float | None:
    return float(text) if text.isdecimal() and len(text) < 9 and int(text) <= _LARGEST else None
