"""Settings that a fabric depends on, and what an audit says of them.

One setting is one entry of the catalogue: `audit` judges a machine by it, `tune` changes it, `lint`
and `locate` refer to it, `explain` prints it.
"""

from typing import Literal

import msgspec

from wireproof.model.finding import Direction, Verdict

Profile = Literal["throughput", "latency", "repeatability", "power"]
PROFILES: tuple[Profile, ...] = ("throughput", "latency", "repeatability", "power")
"""What a machine is set up for; where authorities disagree, the profile decides."""

Form = Literal["text", "word", "number", "flag", "choice", "list", "cpus", "size", "present"]
"""How a text becomes a value. ``word``: the first one; ``flag``: Y/N, 1/0, on/off; ``choice``: the
one in brackets of sysfs; ``list``: numbers or words between commas and blanks;
``cpus``: ``0-3,8`` as the list of numbers; ``size``: bytes, with kB, K, M, G; ``present``: whether
the file is there.
"""
Scope = Literal["host", "nic", "rdma", "each"]
"""What has the setting: the host, each fabric interface, each RDMA port, or each file that a
pattern matches.
"""
Severity = Literal["minor", "major", "critical"]
SEVERITIES: tuple[Severity, ...] = ("minor", "major", "critical")
_MAJOR = 0.2
Status = Literal["pass", "fail", "not-applicable", "unknown", "waived"]


class _SettingData(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Read(_SettingData, frozen=True):
    """A place where the value stands; the first that answers counts.

    ``file`` and ``command`` may hold ``*`` and, by scope, ``{nic}``, ``{device}``, ``{port}``.
    ``section``: only what follows the line that begins so. ``key``: the text behind ``KEY:``,
    ``KEY=`` or ``KEY`` and a blank. ``when``: a condition for this place. ``statuses``: exit
    statuses of the command with which its text is an answer, too. ``own``: the command comes with
    what it tells of, so that a host without it does not have the setting; where another is missing,
    the setting is unknown. ``worst``: of several files that ``file`` matches (every core, policy,
    queue) the ``largest`` or ``smallest`` value counts, or the first of the words between ``|``; of
    scope each for every name of the last ``*``. Of a command, of all names of ``key``, in which
    ``{p}`` is each priority.
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
    """What the operating system tells of a setting that it does not show: ``value`` where the
    condition ``when`` holds; ``sign`` says for people what was seen.
    """

    when: str
    value: str
    sign: str


class SettingEffect(_SettingData, frozen=True):
    """What a wrong value costs: a share of ``on`` (0.1: a tenth) from ``low`` to ``high``.

    ``sure``: how that is known. ``correctness``: numbers or jobs are wrong, not slow.
    ``direction``: what the host that has the setting sends or receives, "" for both. ``over``:
    ``ip`` touches the kernel's sockets alone, ``rdma`` the adapter's own transport alone, ``gpu``
    what leaves the memory of GPUs, ``shm`` what stays within a host. ``pauses``: only traffic that
    pauses feels it, and a benchmark's does not.
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
        """``critical``: numbers or jobs are wrong or do not run; ``major``: a fifth or more may be
        lost.
        """
        if self.on in ("correctness", "availability"):
            return "critical"
        return "major" if self.high >= _MAJOR else "minor"


class Fix(_SettingData, frozen=True):
    """How the setting is changed. ``value``: what to write, for each profile, ``any`` for those not
    named; behind ``=`` an expression of the conditions' language.

    At once it is written to the file that was read, or to ``file`` (a pattern: each that matches),
    or set by ``command``. ``coupled``: files whose values the write may change. For good by
    ``line`` in the drop-in ``persist``; without ``line`` it is made of value and place.
    ``{value}``, ``{nic}``, ``{device}``, ``{port}`` and the instance's ``{label}`` are filled in.
    ``takes``: what must happen before it counts; but for "" and ``link-down`` nothing is changed at
    once. ``kernel``: an argument of the kernel; ``by_hand``: what a person does.
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
        """Whether a value can be set on the running system."""
        return bool(self.value) and self.takes in ("", "link-down")


class Setting(_SettingData, frozen=True):
    """One entry. ``good``: condition for each profile, ``any`` for those not named; ``wanted`` says
    it for people. ``alike``: hosts of one kind should agree. ``ends``: both ends of a path must,
    whichever is right. ``documents``: the tuning documents that name it. `audit.machine` lists the
    names that conditions may use. ``names``: of the firmware's attribute in set-up menus, by maker
    (``any``: of all). ``inferred`` counts where no place answers.
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
        """The condition of a good value; "" where the entry only informs."""
        return self.good.get(profile, self.good.get("any", ""))

    def wish(self, profile: Profile) -> str:
        """The good value for people."""
        return self.wanted.get(profile, self.wanted.get("any", "")) or self.condition(profile)


class AuditResult(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One setting on one host. ``instance``: which interface or file, "" for the host as a whole.

    ``seen`` is the value as it was read, ``message`` one sentence; ``evidence``: the places that
    were read with what stood there. ``usual``: what hosts of its kind have, where this result says
    that they differ.
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


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof audit --json`` prints. ``skipped``: entries that cannot be used, and why.
    ``against``: the reference whose values are wanted in place of the catalogue's, "" for none.
    """

    schema: str = "wireproof.audit"
    version: int = 1
    profile: Profile = "throughput"
    against: str = ""
    hosts: list[str] = msgspec.field(default_factory=list)
    results: list[AuditResult] = msgspec.field(default_factory=list)
    skipped: list[str] = msgspec.field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """``fail`` when a setting fails, ``inconclusive`` when one could not be read."""
        statuses = {result.status for result in self.results}
        if "fail" in statuses:
            return "fail"
        return "inconclusive" if "unknown" in statuses else "pass"
