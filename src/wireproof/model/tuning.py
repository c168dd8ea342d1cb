"""Changes of settings: what a host is asked to change and answers, plans of changes, their results,
and the changes in force during a measurement.

The request goes to ``wireproof-node tune apply`` as text (`tune.request`), the answers come back as
JSON lines. Nothing is written on a host before the journal there holds the old values.
"""

from typing import Literal

import msgspec

from wireproof.model.bmc import PlannedAttribute
from wireproof.model.errors import Problem
from wireproof.model.finding import Verdict
from wireproof.model.setting import Profile, SettingEffect

ChangeState = Literal[
    "applied",
    "already",
    "rewritten",
    "refused",
    "ignored",
    "unreadable",
    "reverted",
    "left",
    "gone",
    "kept",
    "removed",
]
"""``already``: the value stood there before; ``rewritten``: it reads back in another form;
``ignored``: the write was accepted and the value did not move; ``left``: changed by somebody else
since; ``gone``: the file or interface is no more; ``kept``, ``removed``: drop-in files.
"""
SetState = Literal["applying", "armed", "confirmed", "pending", "reverted", "partly"]
"""``armed``: applied, and the timer reverts it at the deadline unless it is confirmed; ``pending``:
the firmware's, which count after a reboot; ``partly``: reverted but for what the changes say.
"""


class _ChangeData(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Change(_ChangeData, frozen=True):
    """One value of one host. ``id``: of the setting, and behind ``/`` of the interface or file.

    ``file``: ``value`` is written to ``path``; ``form`` ``choice``: a file of sysfs that lists its
    words and brackets the one that counts; ``coupled``: files whose values the write may change.
    ``command``: ``read`` prints the value behind ``key`` of ``section``, ``write`` (with
    ``{value}``) sets it.
    """

    id: str
    value: str
    kind: Literal["file", "command"] = "file"
    path: str = ""
    form: Literal["plain", "choice"] = "plain"
    coupled: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    section: str = ""
    key: str = ""
    write: tuple[str, ...] = ()


class Keep(_ChangeData, frozen=True):
    """A drop-in file of our own name with its whole text: written by ``confirm``."""

    path: str
    text: str


class ChangeSet(_ChangeData, frozen=True):
    """What one host is asked to change, all or nothing. ``timeout_s``: until it reverts by itself.
    ``by``: who asked, for the journal.
    """

    id: str
    by: str
    changes: tuple[Change, ...]
    keeps: tuple[Keep, ...] = ()
    timeout_s: int = 600


class ChangeAnswer(msgspec.Struct, frozen=True, kw_only=True, tag="change", tag_field="frame"):
    """What became of one change or drop-in file. ``old``: before, ``seen``: what stands there.
    ``of``: the set, where several are told of.
    """

    id: str
    state: ChangeState
    of: str = ""
    old: str = ""
    wanted: str = ""
    seen: str = ""
    reason: str = ""


class SetAnswer(msgspec.Struct, frozen=True, kw_only=True, tag="set", tag_field="frame"):
    """One change set of one host. ``deadline_s``: seconds until it reverts by itself, None: it does
    not. ``boot`` ``other``: the host was started anew since.
    """

    id: str
    state: SetState
    by: str = ""
    since: str = ""
    deadline_s: float | None = None
    timer: Literal["alive", "gone", "none"] = "none"
    boot: Literal["same", "other"] = "same"
    reason: str = ""


Answer = ChangeAnswer | SetAnswer
_DECODER: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)


def decode_answer(line: bytes) -> Answer:
    """One line of the node program. Raises ``msgspec.DecodeError`` or ``UnicodeDecodeError`` when
    it is none.
    """
    return _DECODER.decode(line)


class PlannedChange(msgspec.Struct, frozen=True, kw_only=True):
    """One value that is to be changed. ``was``: what stood there when the plan was made, as it was
    read; None: not read. ``link_down``: the interface stops carrying for a moment.
    """

    change: Change
    was: str | None
    why: str
    undo: str
    effect: SettingEffect | None = None
    link_down: bool = False


class PlannedKeep(msgspec.Struct, frozen=True, kw_only=True):
    """A drop-in file of ours, whole. ``was``: its text when the plan was made, None: not there."""

    keep: Keep
    was: str | None


class ByHand(msgspec.Struct, frozen=True, kw_only=True):
    """What wireproof does not change. ``how``: what a person does, a command where there is one."""

    id: str
    how: str
    why: str
    undo: str = ""
    effect: SettingEffect | None = None


class HostPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be changed on one host. ``firmware``: attributes of its BIOS, which its BMC is
    asked for. ``refused``: why nothing may be, "" when it may."""

    host: str
    changes: list[PlannedChange] = msgspec.field(default_factory=list)
    keeps: list[PlannedKeep] = msgspec.field(default_factory=list)
    firmware: list[PlannedAttribute] = msgspec.field(default_factory=list)
    by_hand: list[ByHand] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    refused: str = ""


class TunePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof tune plan`` makes and ``tune apply`` takes. ``made``: UTC."""

    schema: str = "wireproof.tune-plan"
    version: int = 1
    profile: Profile = "throughput"
    made: str = ""
    hosts: list[HostPlan] = msgspec.field(default_factory=list)

    @property
    def errors(self) -> list[Problem]:
        """Hosts that nothing may be changed on, each with the reason."""
        return [Problem(message=one.refused, host=one.host) for one in self.hosts if one.refused]


class HostTuned(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one host. ``problem``: why it did not do what was asked, "" when it did."""

    host: str
    sets: list[SetAnswer] = msgspec.field(default_factory=list)
    changes: list[ChangeAnswer] = msgspec.field(default_factory=list)
    problem: str = ""
    status: int = 0


class Tuned(msgspec.Struct, frozen=True, kw_only=True):
    """What the commands on change sets give. ``id``: of the set, the same on all hosts; ``until``:
    when it reverts by itself, local time with its zone.
    """

    action: Literal["apply", "confirm", "revert", "status", "verify"]
    id: str = ""
    until: str = ""
    hosts: list[HostTuned] = msgspec.field(default_factory=list)

    @property
    def done(self) -> bool:
        """Every host did what was asked."""
        return all(not one.problem and one.status == 0 for one in self.hosts)

    @property
    def errors(self) -> list[Problem]:
        """Hosts that did not do what was asked, each with the reason."""
        return [Problem(message=one.problem, host=one.host) for one in self.hosts if one.problem]


class ResidueFound(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an earlier change left on a host. ``place``: the file or value."""

    host: str
    kind: Literal["drop-in", "half-undone", "differs", "other-tool", "unread"]
    place: str
    message: str


class Residue(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof tune residue`` finds; it changes nothing."""

    hosts: list[str] = msgspec.field(default_factory=list)
    found: list[ResidueFound] = msgspec.field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """``pass``: nothing is left."""
        return "fail" if self.found else "pass"


class StandingSet(msgspec.Struct, frozen=True, kw_only=True):
    """One change set that stood on ``hosts``. ``since``: as the hosts' clocks say it; ``changes``:
    what was changed, as ``mtu/ib0: 2044 -> 65520``.
    """

    id: str
    state: SetState
    hosts: list[str]
    by: str = ""
    since: str = ""
    changes: list[str] = msgspec.field(default_factory=list)


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What the journals of ``hosts`` say. ``unread``: the hosts whose journals could not be read,
    by the reason: of these nothing is known. ``here``: no hosts were named, and the one is the
    machine that measured. ``lab``: the lab whose nodes they are, "" for hosts.
    """

    hosts: list[str] = msgspec.field(default_factory=list)
    sets: list[StandingSet] = msgspec.field(default_factory=list)
    here: bool = False
    lab: str = ""
    unread: dict[str, list[str]] = msgspec.field(default_factory=dict)
