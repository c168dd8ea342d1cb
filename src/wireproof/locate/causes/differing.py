"""Which settings a host has otherwise than its equals, or wrongly where its equals have them right.
Pure.

What all equals have alike is left out: it does not make one of them slow. Without equals that
could be read, a wrong setting counts, and is less sure.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from wireproof.locate.causes.properties import claimed_nic
from wireproof.model.claim import rails_of
from wireproof.model.record import Host
from wireproof.model.run import Run
from wireproof.model.setting import Audit, AuditResult, Setting, SettingEffect

_AGREE = 0.75
"""The share of equals that must agree for their value to be the usual one."""
_DIFFERS_AND_FAILS, _DIFFERS, _SHARED, _FAILS = 0.85, 0.6, 0.5, 0.4
_FIXED = "[fixed]"
"""What ethtool says of a feature that nobody can switch: on all hosts it is how the adapter is."""
_READ = ("pass", "fail", "waived")
"""A value that was read and could not be judged is compared, too."""
_WRONG = ("fail", "waived")
_TWO = 2


@dataclass(frozen=True)
class Wrong:
    """One setting of one host. ``others``: how its equals have it, in words; ``usual``: their
    value, "" where they do not agree; ``confidence``: that it matters, whatever it touches.
    ``shared``: on which hosts it is wrong alike, "" where it is about this one.
    """

    setting: Setting
    result: AuditResult
    others: str
    usual: str
    confidence: float
    evidence: tuple[str, ...]
    shared: str = ""


@dataclass(frozen=True)
class _Equals:
    """What some hosts have of one setting: how many have each value, right or wrong; ``first``: one
    of these hosts.
    """

    values: Counter[str]
    good: int
    wrong: int
    first: str

    @classmethod
    def of(cls, results: Sequence[AuditResult]) -> _Equals:
        return cls(
            values=Counter(one.seen for one in results),
            good=sum(one.status == "pass" for one in results),
            wrong=sum(one.status in _WRONG for one in results),
            first=results[0].host if results else "",
        )

    def without(self, own: Sequence[AuditResult]) -> _Equals:
        """Those of the other hosts, where there are more than two."""
        less = _Equals.of(own)
        left = self.values - less.values
        return _Equals(left, self.good - less.good, self.wrong - less.wrong, "")

    @property
    def total(self) -> int:
        return self.values.total()

    @property
    def usual(self) -> tuple[str | None, int]:
        """The value that most have and how many have it; None where they do not agree."""
        if not self.values:
            return None, 0
        value, count = self.values.most_common(1)[0]
        return (value, count) if count >= _AGREE * self.total else (None, 0)


class WrongSettings:
    """The audit of a run's hosts, arranged to compare them. Of interfaces and RDMA ports only those
    that the run claims are looked at, where it claims one.
    """

    def __init__(self, audit: Audit, settings: Mapping[str, Setting], run: Run) -> None:
        self.settings = settings
        self.hosts = tuple(audit.hosts)
        ports = _claimed_ports(run)
        self._read: dict[str, dict[str, list[AuditResult]]] = defaultdict(lambda: defaultdict(list))
        for one in audit.results:
            setting = settings.get(one.id)
            read = one.status in _READ or (one.status == "unknown" and one.seen)
            if setting is None or not setting.effect.high or one.usual or not read:
                continue
            known = ports.get(one.host) if setting.scope in ("nic", "rdma") else None
            if known is None or one.instance in known:
                self._read[one.id][one.host].append(one)
        self._among_all: dict[str, list[Wrong]] = {}
        self._whole: dict[str, _Equals] = {}

    def of(self, host: str, equals: Collection[str]) -> list[Wrong]:
        """What ``host`` has otherwise than ``equals``, a setting at most once."""
        found = []
        for name, by_host in self._read.items():
            if own := by_host.get(host):
                others = [one for equal in equals for one in by_host.get(equal, ())]
                found += self._first(name, own, _Equals.of(others))
        return found

    def among_all(self, host: str) -> list[Wrong]:
        """What ``host`` has otherwise than all other hosts; counted once, however often it is asked
        for.
        """
        if host not in self._among_all:
            found = []
            for name, by_host in self._read.items():
                if own := by_host.get(host):
                    found += self._first(name, own, self._all(name).without(own))
            self._among_all[host] = found
        return self._among_all[host]

    def _all(self, name: str) -> _Equals:
        if name not in self._whole:
            self._whole[name] = _Equals.of(
                [one for own in self._read[name].values() for one in own]
            )
        return self._whole[name]

    def _first(self, name: str, own: Sequence[AuditResult], equals: _Equals) -> list[Wrong]:
        compared = (self._compared(name, one, equals) for one in own)
        return [one for one in compared if one is not None][:1]

    def shared(self, hosts: Sequence[str]) -> list[Wrong]:
        """What fails on most of ``hosts``: the first host's result speaks for all."""
        found = []
        for name, by_host in self._read.items():
            failing = [
                wrong[0]
                for host in hosts
                if (wrong := [one for one in by_host.get(host, ()) if _can_be_mended(one)])
            ]
            if failing and len(failing) >= _AGREE * len(hosts):
                where = _where(len(failing), len(hosts))
                found.append(
                    Wrong(
                        setting=self.settings[name],
                        result=failing[0],
                        others=f"it should be {failing[0].wanted}",
                        usual="",
                        confidence=_SHARED,
                        evidence=tuple(failing[0].evidence),
                        shared=where,
                    )
                )
        return found

    def _compared(self, name: str, own: AuditResult, others: _Equals) -> Wrong | None:
        usual, many = others.usual
        if usual is None:
            return self._by_status(own, others)
        fails = own.status in _WRONG
        if usual == own.seen or not (fails or self._matters(name, others)):
            return None
        said = _have(usual or "none", many, others)
        return self._wrong(own, said, usual, _DIFFERS_AND_FAILS if fails else _DIFFERS)

    def _matters(self, name: str, others: _Equals) -> bool:
        """Whether to differ is wrong though the value is right: not where the others' is wrong,
        unless both ends of a path have to agree.
        """
        setting = self.settings[name]
        return setting.ends or (setting.alike and not others.wrong)

    def _by_status(self, own: AuditResult, others: _Equals) -> Wrong | None:
        """Where the others have no usual value: wrong here, and right on most of them."""
        if own.status not in _WRONG or others.good < _AGREE * others.total:
            return None
        if not others.total:
            return self._wrong(own, f"it should be {own.wanted}", "", _FAILS)
        said = f"it should be {own.wanted}, as on {others.good} of {others.total} others"
        return self._wrong(own, said, "", _DIFFERS_AND_FAILS)

    def _wrong(self, own: AuditResult, others: str, usual: str, confidence: float) -> Wrong:
        seen = (*own.evidence, f"{own.host}: {own.seen or 'not set'}; {others}")
        return Wrong(self.settings[own.id], own, others, usual, confidence, seen)


def _where(failing: int, hosts: int) -> str:
    """``both hosts``, ``all 6 hosts``, ``5 of 6 hosts``."""
    if failing < hosts:
        return f"{failing} of {hosts} hosts"
    return "both hosts" if hosts == _TWO else f"all {hosts} hosts"


def _can_be_mended(one: AuditResult) -> bool:
    return one.status in _WRONG and _FIXED not in one.seen


def _have(usual: str, many: int, others: _Equals) -> str:
    """``the 3 others have 9000``, ``n2 has 9000``."""
    if others.total == 1:
        return f"{others.first or 'the other'} has {usual}"
    whom = f"{many} of {others.total}" if many < others.total else f"the {many}"
    return f"{whom} others have {usual}"


def _claimed_ports(run: Run) -> dict[str, set[str]]:
    """Host to its claimed port's names in the audit; hosts without a claim are absent."""
    found: dict[str, set[str]] = {}
    hosts = {host.rank: host for host in run.hosts}
    for claim in run.claim.hosts:
        if claim.nic:
            host = hosts.get(claim.rank)
            found.setdefault(claim.host, set()).update(_names(host, claim.nic))
    return found


def _names(host: Host | None, claim: str) -> Iterable[str]:
    for one in rails_of(claim):
        yield one
        nic = claimed_nic(host, one) if host is not None else None
        if nic is not None:
            yield nic.name
            if nic.rdma is not None:
                yield f"{nic.rdma.device}:{nic.rdma.port}"


# --- What a wrong value costs where that can be calculated of the value itself.

_HEADERS, _FRAME = 52.0, 38.0
"""IPv4, TCP and time stamps; Ethernet with preamble, frame check and gap."""
_LARGEST = 65535
_USUAL = (1500.0, 9000.0)
_MOST = 0.95


def effect_here(one: Wrong) -> SettingEffect:
    """The catalogue's effect. That of an MTU is of 1500 bytes against 9000: other values are scaled
    by what the headers of such packets cost.
    """
    effect = one.setting.effect
    if one.setting.id != "mtu" or effect.on != "bandwidth":
        return effect
    cost, usual = headers_cost(_bytes(one.result.seen), _bytes(one.usual)), headers_cost(*_USUAL)
    if cost is None or usual is None or cost <= 0:
        return effect
    low, high = (round(min(_MOST, share * cost / usual), 3) for share in (effect.low, effect.high))
    return msgspec.structs.replace(effect, low=low, high=high)


def headers_cost(own: float | None, usual: float | None) -> float | None:
    """The share of goodput that packets of ``own`` bytes cost against ``usual``: payload / wire =
    (MTU - 52) / (MTU + 38) of TCP over Ethernet. None where no such packet holds any payload.
    """
    if own is None or usual is None or own <= _HEADERS or usual <= _HEADERS:
        return None
    mine, theirs = ((mtu - _HEADERS) / (mtu + _FRAME) for mtu in (own, usual))
    return 1.0 - mine / theirs


def _bytes(text: str) -> float | None:
    return float(text) if text.isdecimal() and len(text) < 9 and int(text) <= _LARGEST else None
