"""Which settings a host has otherwise than its equals, or wrongly where its equals have them right.
Pure.

What all equals have alike is left out: it does not make one of them slow. Without equals that
could be read, a wrong setting counts, and is less sure.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from wireproof.locate.causes.properties import claimed_nic
from wireproof.model.record import Host
from wireproof.model.run import Run
from wireproof.model.setting import Audit, AuditResult, Setting

__all__ = ["Wrong", "WrongSettings"]

_AGREE = 0.75
"""The share of equals that must agree for their value to be the usual one."""
_DIFFERS_AND_FAILS, _DIFFERS, _SHARED, _FAILS = 0.85, 0.6, 0.5, 0.4
_FIXED = "[fixed]"
"""What ethtool says of a feature that nobody can switch: on all hosts it is how the adapter is."""
_READ = ("pass", "fail", "waived")
"""A value that was read and could not be judged is compared, too."""
_WRONG = ("fail", "waived")


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
            if setting is None or one.usual or not read:
                continue
            known = ports.get(one.host) if setting.scope in ("nic", "rdma") else None
            if known is None or one.instance in known:
                self._read[one.id][one.host].append(one)

    def of(self, host: str, equals: Collection[str]) -> list[Wrong]:
        """What ``host`` has otherwise than ``equals``, a setting at most once."""
        found = []
        for name, by_host in self._read.items():
            others = [one for equal in equals for one in by_host.get(equal, ())]
            own = (self._compared(name, one, others) for one in by_host.get(host, ()))
            found += [one for one in own if one is not None][:1]
        return found

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
                many = f"{len(failing)} of {len(hosts)}"
                where = f"all {len(hosts)} hosts" if len(failing) == len(hosts) else many
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

    def _compared(self, name: str, own: AuditResult, others: Sequence[AuditResult]) -> Wrong | None:
        usual, many = _usual(others)
        if usual is None:
            return self._by_status(own, others)
        fails = own.status in _WRONG
        if usual == own.seen or not (fails or self._matters(name, others)):
            return None
        said = _have(usual or "none", many, others)
        return self._wrong(own, said, usual, _DIFFERS_AND_FAILS if fails else _DIFFERS)

    def _matters(self, name: str, others: Sequence[AuditResult]) -> bool:
        """Whether to differ is wrong though the value is right: not where the others' is wrong,
        unless both ends of a path have to agree.
        """
        setting = self.settings[name]
        good = not any(one.status in _WRONG for one in others)
        return setting.ends or (setting.alike and good)

    def _by_status(self, own: AuditResult, others: Sequence[AuditResult]) -> Wrong | None:
        """Where the others have no usual value: wrong here, and right on most of them."""
        good = sum(one.status == "pass" for one in others)
        if own.status not in _WRONG or good < _AGREE * len(others):
            return None
        if not others:
            return self._wrong(own, f"it should be {own.wanted}", "", _FAILS)
        said = f"it should be {own.wanted}, as on {good} of {len(others)} others"
        return self._wrong(own, said, "", _DIFFERS_AND_FAILS)

    def _wrong(self, own: AuditResult, others: str, usual: str, confidence: float) -> Wrong:
        seen = (*own.evidence, f"{own.host}: {own.seen or 'not set'}; {others}")
        return Wrong(self.settings[own.id], own, others, usual, confidence, seen)


def _can_be_mended(one: AuditResult) -> bool:
    return one.status in _WRONG and _FIXED not in one.seen


def _usual(others: Sequence[AuditResult]) -> tuple[str | None, int]:
    """The value that most equals have and how many have it; None where they do not agree."""
    if not others:
        return None, 0
    value, count = Counter(one.seen for one in others).most_common(1)[0]
    return (value, count) if count >= _AGREE * len(others) else (None, 0)


def _have(usual: str, many: int, others: Sequence[AuditResult]) -> str:
    """``the 3 others have 9000``, ``n2 has 9000``."""
    if len(others) == 1:
        return f"{others[0].host} has {usual}"
    whom = f"{many} of {len(others)}" if many < len(others) else f"the {many}"
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
    yield claim
    nic = claimed_nic(host, claim) if host is not None else None
    if nic is not None:
        yield nic.name
        if nic.rdma is not None:
            yield f"{nic.rdma.device}:{nic.rdma.port}"
