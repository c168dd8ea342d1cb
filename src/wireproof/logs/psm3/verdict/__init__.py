# pure
"""``judge_statistics(files)``: judge all statistics files of one job together."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath

from wireproof.logs.psm3.counters import unaccounted_bytes
from wireproof.logs.psm3.verdict.path import (
    StatisticsJob,
    listed,
    loss_issues,
    path_issues,
    path_proof,
    witness_issues,
)
from wireproof.model import gathered
from wireproof.model.finding import Evidence, Node, Proof, Severity, rank, verdict_of
from wireproof.model.psm3 import JudgedStatistics, Statistics
from wireproof.model.quantity import percent, volume
from wireproof.model.traffic import Traffic
from wireproof.verdict.issue import Issue, merge

# --- Settings compared with what happened: RDMA, refused settings, ranks that differ, late
# receives.

_LATE = 0.5
_ENOUGH_MESSAGES = 1000
_LONG_SEARCH = 64
"""List entries compared to match one message. PSM3_MQ_HASH_THRESH is 64: longer lists are hashed.
"""
_RDMA_MASK = 3
_RDMA_SHOWN = 0x400
_OF_RDMA = {"TID_Flow_Statistics", "RV_Shared_Conn_RDMA_Statistics"}
_A_NUMBER = re.compile(r"(?:0x)?[0-9a-fA-F]{1,8}", re.A)


def promise_issues(job: StatisticsJob) -> Iterator[Issue]:
    """Yield findings about settings, modes and their use."""
    yield from _rendezvous(job)
    yield from _mode_lost(job)
    yield from _disagreements(job)
    yield from _refused(job)
    yield from _matching(job)


def _mode(job: StatisticsJob, one: Statistics) -> int | None:
    """Return the RDMA mode that the file states; 0 for the kernel's sockets, which have no RDMA."""
    if one.identity.hal == "sockets":
        return 0
    value = job.setting(one, "PSM3_RDMA")
    return int(value, 0) & _RDMA_MASK if re.fullmatch(r"0x[0-9a-f]{1,8}|[1-9]?\d", value) else None


def _rendezvous(job: StatisticsJob) -> Iterator[Issue]:
    for one, found in zip(job.files, job.processes, strict=True):
        long = sum(nic.long_bytes for nic in found.nics)
        rdma = sum(nic.rdma_bytes for nic in found.nics)
        mode = _mode(job, one)
        if not long:
            continue
        of = f"{volume(long)} of {volume(long + rdma)} of rendezvous messages"
        seen: Evidence = {"long_bytes": long, "rdma_bytes": rdma, "mode": mode}
        if mode or rdma:
            said = f"PSM3_RDMA={mode}" if mode else "RDMA is in use"
            text = f"{found.who}: {said}, and {of} were sent as packets"
            severity: Severity = "fail" if not rdma else "warning"
        else:
            why = "the kernel's sockets have no RDMA" if mode == 0 else "no mode is stated"
            text, severity = f"{found.who}: {of} were sent as packets ({why})", "note"
        yield Issue("psm-rendezvous-without-rdma", severity, job.node(found.host), text, seen)


def _mode_lost(job: StatisticsJob) -> Iterator[Issue]:
    for one in job.files:
        mode = _mode(job, one)
        headings = {section.heading for section in one.sections}
        mask = job.setting(one, "PSM3_PRINT_STATSMASK") or "0xfffff"
        shown = re.fullmatch(r"0x[0-9a-f]{1,8}", mask) and int(mask, 16) & _RDMA_SHOWN
        if mode and one.identity.hal == "verbs" and headings and shown and not headings & _OF_RDMA:
            yield Issue(
                "psm-rdma-not-in-use",
                "fail",
                job.node(one.host),
                f"{one.who}: PSM3_RDMA={mode} was set, but PSM3 registered no RDMA counters",
                {"mode": mode},
            )


def _speeds(one: Statistics) -> str:
    return "+".join(sorted({str(rail.mbps) for rail in one.identity.rails}))


def _disagreements(job: StatisticsJob) -> Iterator[Issue]:
    """Report ranks of one job that differ. They can connect only with the same wire mode."""

    def stated(name: str) -> Callable[[Statistics], str]:
        return lambda one: job.setting(one, name)

    views: tuple[tuple[str, Severity, Callable[[Statistics], str]], ...] = (
        ("HAL", "fail", lambda one: one.identity.hal),
        ("RDMA mode", "fail", stated("PSM3_RDMA")),
        ("build", "warning", lambda one: one.identity.build),
        ("sockets flavour", "warning", lambda one: one.identity.flavour),
        ("number of rails", "warning", lambda one: str(len(one.identity.rails) or "")),
        ("NIC speed in Mb/s", "warning", _speeds),
        ("PSM3_MTU", "warning", stated("PSM3_MTU")),
        ("PSM3_FLOW_CREDITS", "warning", stated("PSM3_FLOW_CREDITS")),
        ("PSM3_MQ_RNDV_NIC_THRESH", "warning", stated("PSM3_MQ_RNDV_NIC_THRESH")),
    )
    for what, severity, view in views:
        groups = gathered((view(one) or "not said", one.who) for one in job.files)
        if len(groups) > 1 and not (what in ("HAL", "build") and "not said" in groups):
            parts = "; ".join(f"{value[:60]}: {listed(who)}" for value, who in groups.items())
            yield Issue(
                "psm-ranks-disagree",
                severity,
                job.whole,
                f"the ranks differ in their {what}: {parts}",
                {"what": what, "values": list(groups)[:10]},
            )


def _refused(job: StatisticsJob) -> Iterator[Issue]:
    said: set[str] = set()
    for one in job.files:
        for setting in one.settings:
            text = (
                f"{setting.name}: {setting.refused!r} is not a valid value, so PSM3 used "
                f"{setting.value}"
            )
            if setting.refused and text not in said:
                said.add(text)
                yield Issue("psm-setting-refused", "warning", job.whole, text)
        name = job.setting(one, "PSM3_NIC")
        opened = {rail.name for rail in one.identity.rails}
        if name not in opened and re.search("[a-fA-F]", name) and _A_NUMBER.fullmatch(name):
            text = (
                f"PSM3 reads PSM3_NIC={name} as the number 0x{name.removeprefix('0x')}, not "
                "as a name"
            )
            if text not in said:
                said.add(text)
                yield Issue("psm-setting-refused", "warning", job.whole, text, {"PSM3_NIC": name})


def _matching(job: StatisticsJob) -> Iterator[Issue]:
    for one in job.processes:
        if one.received >= _ENOUGH_MESSAGES and one.unexpected > _LATE * one.received:
            text = (
                f"{one.who}: {percent(one.unexpected / one.received)} of {one.received} messages "
                "arrived before their receives were posted and were copied an extra time"
            )
            yield Issue(
                "psm-late-receives",
                "note",
                job.node(one.host),
                text,
                {"unexpected": one.unexpected, "received": one.received},
            )
        if one.search > _LONG_SEARCH:
            text = f"{one.who}: each message was compared with {one.search} posted receives"
            yield Issue("psm-long-queues", "note", job.node(one.host), text)


_SUMS_AGREE = 0.01
"""Share of the bytes that may still be in flight when the counters are printed."""


def whole_issues(job: StatisticsJob) -> Iterator[Issue]:
    """Yield findings about the files as evidence."""
    if not job.files:
        text = "no process wrote PSM3 statistics"
        yield Issue("psm-no-files", "inconclusive", job.whole, text)
    for one in job.files:
        if one.doubts or not one.complete:
            text = f"{PurePath(one.source).name}: {'; '.join(one.doubts)}"
            yield Issue("psm-file-incomplete", "inconclusive", job.node(one.host), text)
    yield from _missing(job)
    yield from _nothing(job)
    yield from _sums(job)
    yield from _unchecked(job)


def _missing(job: StatisticsJob) -> Iterator[Issue]:
    wanted = max((one.identity.ranks or 0 for one in job.files), default=0)
    ranks = [one.identity.rank for one in job.files if one.identity.rank is not None]
    names = Counter(one.who for one in job.files)
    if twice := [who for who, count in names.items() if count > 1]:
        text = f"{twice[0]} wrote several of these files: they belong to more than one job"
        yield Issue("psm-jobs-mixed", "inconclusive", job.whole, text, {"process": twice[0]})
    absent = sorted(set(range(min(wanted, 1 << 20))) - set(ranks))
    if wanted and absent and ranks:
        text = (
            f"the job has {wanted} ranks, but the file of rank "
            f"{listed([str(rank) for rank in absent])} is missing"
        )
        yield Issue("psm-ranks-missing", "inconclusive", job.whole, text, {"absent": len(absent)})


def _nothing(job: StatisticsJob) -> Iterator[Issue]:
    idle = [one.who for one in job.processes if not one.sent and not one.received]
    if not idle:
        return
    every = len(idle) == len(job.processes)
    yield Issue(
        "psm-nothing-moved",
        "inconclusive" if every else "warning",
        job.whole,
        f"{listed(idle)} counted no message",
        {"processes": len(idle)},
    )


def _sums(job: StatisticsJob) -> Iterator[Issue]:
    for one in job.processes:
        gap = unaccounted_bytes(one)
        if gap and abs(gap) > _SUMS_AGREE * max(1, one.nic_bytes or 0):
            text = (
                f"{one.who}: the summary shows {volume(one.nic_bytes or 0)} to NICs, but the "
                f"NICs' counters show {volume((one.nic_bytes or 0) - gap)}"
            )
            seen: Evidence = {"unaccounted_bytes": gap}
            yield Issue("psm-sums-differ", "inconclusive", job.node(one.host), text, seen)
    wanted = max((one.identity.ranks or 0 for one in job.files), default=0)
    if len(job.processes) < 2 or len(job.processes) != wanted:
        return
    sent = sum(one.sent_bytes for one in job.processes)
    taken = sum(one.received_bytes for one in job.processes)
    if abs(sent - taken) > _SUMS_AGREE * max(sent, taken):
        text = f"all ranks together sent {volume(sent)} and received {volume(taken)}"
        seen = {"sent_bytes": sent, "received_bytes": taken}
        yield Issue("psm-sums-differ", "inconclusive", job.whole, text, seen)


def _unchecked(job: StatisticsJob) -> Iterator[Issue]:
    for one in job.files:
        if not one.checked:
            yield Issue(
                "psm-layout-unchecked",
                "note",
                Node(one.library),
                (
                    f"{one.library}, layout {one.layout}: wireproof was never tested with a real "
                    "file of this layout"
                ),
            )


def judge_statistics(
    files: Sequence[Statistics],
    *,
    wire: bool | None = None,
    pauses: Mapping[str, int] | None = None,
    traffic: Traffic | None = None,
) -> JudgedStatistics:
    """Return one verdict for the files of one job.

    It passes if messages were counted and no rule contradicts them; only port counters can show
    that bytes crossed a port. ``wire``: True if a wire is claimed, False if shared memory is, None
    without a claim. ``pauses``: pause counters that rose at the ports of these hosts during the
    job. ``traffic``: the traffic of these ports, as a second witness.
    """
    job = StatisticsJob(files, wire, pauses)
    issues = [*whole_issues(job), *path_issues(job), *loss_issues(job), *promise_issues(job)]
    witnessed = list(witness_issues(job.hosts, traffic)) if traffic is not None else []
    issues += witnessed
    findings = [finding for issue in issues for finding in merge([issue])]
    findings.sort(key=lambda one: rank(one.severity))
    builds = [one.identity.build or one.identity.version for one in files]
    return JudgedStatistics(
        sources=[one.source for one in files],
        library=files[0].library if files else "psm3",
        build=next((build for build in builds if build), ""),
        hal=job.hal,
        ranks=len(files),
        wanted_ranks=max((one.identity.ranks or 0 for one in files), default=0) or None,
        verdict=verdict_of(one.severity for one in findings) if files else "inconclusive",
        proof=_proof(job, witnessed),
        hosts=job.hosts,
        findings=findings,
    )


def _proof(job: StatisticsJob, witnessed: Sequence[Issue]) -> Proof:
    """Return ``on-wire`` if the ports, as a second witness, agree everywhere."""
    found = path_proof(job)
    agree = [one for one in witnessed if one.code == "psm-port-agrees"]
    against = [one for one in witnessed if one.severity in ("fail", "inconclusive")]
    return "on-wire" if found == "unproven" and agree and not against else found
