"""The facts that a check reads on its hosts besides their settings: a few files, firmware data, and
the limits and cores of a job's processes, which often differ from those of a login session. They
are also disclosed in a result.

A rank of a check, or a step of the scheduler's job, reads them; otherwise this process reads them,
or the remote session on the host. The results state which process it was.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from wireproof.audit.facts import WHOSE
from wireproof.instrument.plan_text import Collected, collect
from wireproof.launch.here import is_here
from wireproof.model import gathered
from wireproof.model.plan import FactRequest
from wireproof.model.record import FactFrame
from wireproof.model.tuning import Bmc
from wireproof.report.reporter import Reporter

if TYPE_CHECKING:
    from wireproof.model.run import Run
    from wireproof.target import Target
import shlex
from pathlib import Path

from wireproof.audit.facts import HostFacts
from wireproof.audit.host import disclosed_items
from wireproof.files.hostile import read_bounded
from wireproof.model.errors import BadInput, reading
from wireproof.model.setting import GROUPS, Audit, Group
from wireproof.model.toml import read_toml
from wireproof.report.disclosure import Found, folded, run_items, setting_items
from wireproof.report.judged_run import JudgedRun
from wireproof.store.snapshot import read_snapshot

QUICK = tuple(
    FactRequest(kind="file", path=path)
    for path in (
        "/proc/version",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "/sys/devices/system/cpu/smt/active",
        "/proc/loadavg",
    )
)
"""Files of which every measurement stores the raw text: clock source, huge pages, governor,
load.
"""


# --- Add the firmware's facts to those of the operating system.


def with_firmware(
    answers: Sequence[Collected], bmcs: Sequence[Bmc], reporter: Reporter
) -> list[Collected]:
    """Return ``answers`` with the facts of each host's BMC; if a BMC fails, add the reason as a
    fact.
    """
    if not bmcs:
        return list(answers)
    from wireproof.bmc import collect_firmware  # imports TLS, which few calls need

    many = f"{len(bmcs)} BMCs" if len(bmcs) > 1 else f"the BMC of {bmcs[0].host}"
    unchecked = ", whose certificates are not checked" if bmcs[0].insecure else ""
    reporter.say(f"reading the firmware's settings from {many}{unchecked}")
    frames_of = collect_firmware(bmcs)
    return [
        dataclasses.replace(answer, frames=(*answer.frames, *frames_of.get(answer.host, ())))
        for answer in answers
    ]


REQUESTS = tuple(
    FactRequest(kind="file", path=path) for path in ("/proc/self/limits", "/proc/self/status")
)
_PATHS = {request.path for request in REQUESTS}
Frames = Mapping[str, tuple[FactFrame, ...]]


def of_ranks(run: Run) -> dict[str, tuple[FactFrame, ...]]:
    """Return the facts that the first rank on each host read about itself, by host."""
    by_rank = gathered(
        (frame.rank, frame) for frame in run.facts if frame.path in _PATHS and frame.status == "ok"
    )
    frames_of: dict[str, tuple[FactFrame, ...]] = {}
    for host in run.hosts:
        if frames := by_rank.get(host.rank):
            frames_of.setdefault(host.host, (*frames, _whose("a rank of the check")))
    return frames_of


def of_job(target: Target, hosts: Iterable[str], engine: list[str]) -> Frames:
    """Return the facts that a step of the scheduler's job reads about itself, by host; empty
    without a job.
    """
    scheduler = target.scheduler
    if scheduler is None or scheduler.step is None or target.allocation is None:
        return {}
    job, through = target.allocation.job, target.through()
    argv_of = {host: [*through, *scheduler.step(job, host), *engine] for host in hosts}
    origin = _whose(f"a step of job {job}")
    return {
        answer.host: (*answer.frames, origin)
        for answer in collect(argv_of, REQUESTS)
        if answer.frames
    }


def _whose(text: str) -> FactFrame:
    return FactFrame(rank=0, kind="file", status="ok", path=WHOSE, text=text)


def with_job(
    answer: Collected, job: Frames, target: Target, chosen: Iterable[FactFrame]
) -> Collected:
    """Return the host's answer with the job's frames in front, because the first frame of each file
    is used, and with the ``chosen`` frames at the end.
    """
    if not answer.frames:
        return answer
    ahead = job.get(answer.host) or (_session(target, answer.host),)
    return Collected(answer.host, (*ahead, *answer.frames, *chosen), answer.problem)


def _session(target: Target, host: str) -> FactFrame:
    """Return the frame that describes the process that reads a host's files outside a job."""
    if target.lab is not None:
        return _whose("a process in the lab's node")
    here = not target.hosts or is_here(host)
    return _whose("this process" if here else "the session that reached the host, not of a job")


# --- The disclosure of a result: the data of the run, and the facts of its hosts.

BY_HAND = "disclosed.toml"
"""File in a result's folder with tables of the disclosure's groups, such as ``[network]``."""
_LARGEST = 64 << 10
_LONGEST = 400
_SWITCH = ("switch model", "switch firmware")


def with_disclosures(
    sections: Sequence[JudgedRun], snapshot: Path, command: Sequence[str] = ()
) -> list[JudgedRun]:
    """Return each section with its disclosure.

    ``snapshot``: the file with the hosts' facts, if it exists; a damaged snapshot is ignored.
    ``command``: the command that repeats the measurement, if known. Items that a person states in
    ``BY_HAND`` are marked.
    """
    settings = next(
        (section.settings for section in sections if section.settings is not None), None
    )
    kept = _read(snapshot) if settings is not None else {}
    again = shlex.join(command)
    repeat: Found = ("method", "command that repeats it", again, "", "" if again else "unknown")
    stated = [repeat, *_by_hand(snapshot.parent / BY_HAND)]
    return [_with(section, settings, kept, stated) for section in sections]


def _by_hand(path: Path) -> list[Found]:
    """Return the items that a person has written into the result's folder, and those that only a
    person can know. A damaged file never makes the result unusable.
    """
    found: list[Found] = []
    try:
        given = list(_given(path))
    except BadInput as error:
        given = []
        found.append(("method", "stated by hand", "", "", str(error)))
    for name in _SWITCH:
        if not any(item[1] == name for item in given):
            why = f"no host can read it: state it in {path.name} in the result's folder"
            found.append(("network", name, "", "", why))
    return [*found, *((group, name, f"{value} (by hand)", "", "") for group, name, value in given)]


def _given(path: Path) -> Iterable[tuple[Group, str, str]]:
    """Yield the group, name and value of each item. Raises ``BadInput`` if the file cannot be
    read.
    """
    if not os.path.lexists(path):
        return
    with reading(path):
        text = read_bounded(path, _LARGEST, follow=False).decode("utf-8")
    for table, values in read_toml(text, str(path)).items():
        yield from _checked(path, table, values)


def _checked(path: Path, table: str, values: object) -> Iterable[tuple[Group, str, str]]:
    """Yield the items of one table.

    Raises ``BadInput`` unless it is a table of texts named after a group.
    """
    group = next((known for known in GROUPS if known == table), None)
    if group is None or not isinstance(values, dict):
        raise BadInput(
            f"{path}: {table[:40]!r} is not a known table; tables are {', '.join(GROUPS)}."
        )
    for name, value in values.items():
        if not isinstance(value, str | int) or not name or len(f"{name}{value}") > _LONGEST:
            raise BadInput(f"{path}: [{group}] {name[:40]!r}: give a short text.")
        yield group, name, str(value)


def _read(snapshot: Path) -> Mapping[str, Sequence[FactFrame]]:
    try:
        return read_snapshot(snapshot)
    except BadInput:
        return {}


def _with(
    section: JudgedRun,
    settings: Audit | None,
    kept: Mapping[str, Sequence[FactFrame]],
    stated: Sequence[Found],
) -> JudgedRun:
    hosts = list(dict.fromkeys(host.host for host in section.run.hosts))
    names = {host.rank: host.host for host in section.run.hosts}
    by_host = gathered((names.get(frame.rank, ""), frame) for frame in section.run.facts)
    found = [
        *_of_hosts(hosts, by_host, kept),
        *stated,
        *run_items(section),
        *setting_items(settings),
    ]
    return dataclasses.replace(section, disclosure=folded(found, hosts))


def _of_hosts(
    hosts: Iterable[str],
    by_host: Mapping[str, Sequence[FactFrame]],
    kept: Mapping[str, Sequence[FactFrame]],
) -> Iterable[Found]:
    for host in hosts:
        facts = HostFacts.of(host, [*kept.get(host, ()), *by_host.get(host, ())])
        for item in disclosed_items(facts):
            yield item.group, item.name, item.value, host, item.why
