# pure
"""Changes of settings: the request to a host and its answers, plans of changes, their results, and
the changes in force during a measurement.

The request goes to ``wireproof-node tune apply`` as text (`tune.request`), and the answers come
back as JSON lines. Nothing is written on a host before its journal contains the old values.
"""

from dataclasses import dataclass, field
from typing import Literal

import msgspec

from wireproof.model.errors import Problem
from wireproof.model.finding import Verdict
from wireproof.model.setting import Profile, SettingEffect

# --- Access to the management controller (BMC) of a host, and changes of firmware attributes. A
# change is planned, stays pending until the next reboot, and is recorded in the journal of the
# machine that requested it.

Login = Literal["", "session", "basic"]


class Secret:
    """A password. Only ``reveal`` returns it: no representation and no formatted text contains it,
    and it cannot be pickled.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def hide_in(self, text: str) -> str:
        """Return ``text`` with the password replaced."""
        return text.replace(self._text, "(hidden)") if self._text else text

    def is_in(self, text: str) -> bool:
        return bool(self._text) and self._text in text

    def __repr__(self) -> str:
        return "Secret(hidden)"

    def __reduce__(self) -> str:
        raise TypeError("a secret is not stored")


@dataclass(frozen=True)
class Bmc:
    """One BMC.

    ``host``: the host that it manages; ``address``: a name or an IP address. ``authority``: file of
    certificates (PEM) to trust instead of the system's; ``fingerprint``: SHA-256 of the only
    accepted certificate, 64 hexadecimal digits; ``insecure``: accept any certificate. ``system``:
    identifier of the system, needed if the BMC manages several. ``login``: "" opens a session if
    the BMC offers sessions and otherwise uses HTTP Basic. ``plain``: no TLS, allowed only on the
    local machine.
    """

    host: str
    address: str
    port: int
    user: str
    password: Secret = field(repr=False)
    authority: str = ""
    fingerprint: str = ""
    insecure: bool = False
    system: str = ""
    login: Login = ""
    plain: bool = False

    @property
    def place(self) -> str:
        """Address as text; the port is added unless it is 443."""
        name = f"[{self.address}]" if ":" in self.address else self.address
        return name if self.port == 443 else f"{name}:{self.port}"


Raw = str | int | float | bool
"""An attribute's value, with the type that the BMC reports."""

FirmwareState = Literal["writing", "pending", "reverting", "reverted"]
"""``writing``, ``reverting``: in progress, or interrupted at that step."""


class PlannedAttribute(msgspec.Struct, frozen=True, kw_only=True):
    """One firmware attribute to change.

    ``id``: the setting; ``attribute``: the name that the BMC uses; ``display``: the name in the
    setup menu. ``was``: the value in effect now; ``pending``: the value that the next reboot would
    bring without this change; ``wanted``: the value that it brings with it.
    """

    id: str
    attribute: str
    display: str
    was: Raw
    pending: Raw
    wanted: Raw
    why: str
    undo: str
    effect: SettingEffect | None = None


class AttributeChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The journal's entry for one attribute. ``was``: value in effect at the time of the change;
    ``old``: value that was pending before it; ``wanted``: value that was written.
    """

    id: str
    attribute: str
    was: Raw
    old: Raw
    wanted: Raw


class FirmwareSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The journal of one change set on the BMC of one host. ``since``: UTC. ``number``: the order
    of the host's sets, because a clock can be set back; 0 in journals of earlier versions.
    """

    schema: str = "wireproof.firmware-set"
    version: int = 1
    id: str
    host: str
    by: str
    since: str
    number: int = 0
    state: FirmwareState
    changes: list[AttributeChange]


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
"""``already``: the value was already there; ``rewritten``: it reads back in another form;
``ignored``: the write was accepted but the value did not change; ``left``: someone else changed
it in the meantime; ``gone``: the file or interface no longer exists; ``kept``, ``removed``:
drop-in files.
"""
SetState = Literal["applying", "armed", "confirmed", "pending", "reverted", "partly"]
"""``armed``: applied, and the timer reverts it at the deadline unless it is confirmed; ``pending``:
firmware attributes, which take effect after a reboot; ``partly``: reverted except for the
changes that report otherwise.
"""


class Change(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One value on one host.

    ``id``: the setting, followed by ``/`` and the interface or file. ``file``: ``value`` is written
    to ``path``; ``form`` ``choice``: a sysfs file that lists its words and puts the active word in
    brackets; ``coupled``: files whose values the write may change. ``command``: ``read`` prints the
    value after ``key`` in ``section``, ``write`` (with ``{value}``) sets it.
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


class Keep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A drop-in file that belongs to wireproof, with its whole text; ``confirm`` writes it."""

    path: str
    text: str


class ChangeSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The changes requested from one host, all or nothing. ``timeout_s``: seconds until it reverts
    automatically. ``by``: the user who requested it, for the journal.
    """

    id: str
    by: str
    changes: tuple[Change, ...]
    keeps: tuple[Keep, ...] = ()
    timeout_s: int = 600


class ChangeAnswer(msgspec.Struct, frozen=True, kw_only=True, tag="change", tag_field="frame"):
    """The outcome of one change or drop-in file. ``old``: the value before; ``seen``: the value
    now. ``of``: its change set, if the answer covers several.
    """

    id: str
    state: ChangeState
    of: str = ""
    old: str = ""
    wanted: str = ""
    seen: str = ""
    reason: str = ""

    @property
    def in_force(self) -> bool:
        """True if the new value or the written file is in place."""
        return self.state in ("applied", "already", "rewritten", "kept")


class SetAnswer(msgspec.Struct, frozen=True, kw_only=True, tag="set", tag_field="frame"):
    """One change set of one host. ``deadline_s``: seconds until it reverts automatically, null if
    it does not. ``boot`` ``other``: the host has rebooted since.
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
    """Decode one line of the node program. Raise ``msgspec.DecodeError`` or ``UnicodeDecodeError``
    if it is not an answer.
    """
    return _DECODER.decode(line)


class PlannedChange(msgspec.Struct, frozen=True, kw_only=True):
    """One planned change of a value. ``was``: the value when the plan was made, as it was read;
    null: not read. ``link_down``: the interface loses its carrier for a moment.
    """

    change: Change
    was: str | None
    why: str
    undo: str
    effect: SettingEffect | None = None
    link_down: bool = False


class PlannedKeep(msgspec.Struct, frozen=True, kw_only=True):
    """A planned drop-in file that belongs to wireproof. ``was``: its text when the plan was made,
    null if it did not exist.
    """

    keep: Keep
    was: str | None


class ByHand(msgspec.Struct, frozen=True, kw_only=True):
    """A change that wireproof does not make. ``how``: the step for a person, as a command if there
    is one.
    """

    id: str
    how: str
    why: str
    undo: str = ""
    effect: SettingEffect | None = None


class HostPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The planned changes on one host. ``firmware``: BIOS attributes, which are requested from its
    BMC. ``refused``: the reason if nothing may be changed, "" if changes are allowed.
    """

    host: str
    changes: list[PlannedChange] = msgspec.field(default_factory=list)
    keeps: list[PlannedKeep] = msgspec.field(default_factory=list)
    firmware: list[PlannedAttribute] = msgspec.field(default_factory=list)
    by_hand: list[ByHand] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    refused: str = ""


class TunePlan(msgspec.Struct, frozen=True, kw_only=True):
    """The document that ``wireproof tune plan`` writes and ``tune apply`` reads. ``made``: UTC."""

    schema: str = "wireproof.tune-plan"
    version: int = 1
    profile: Profile = "throughput"
    made: str = ""
    hosts: list[HostPlan] = msgspec.field(default_factory=list)

    @property
    def errors(self) -> list[Problem]:
        """Hosts on which nothing may be changed, each with the reason."""
        return [Problem(message=one.refused, host=one.host) for one in self.hosts if one.refused]


class HostTuned(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome on one host. ``problem``: the reason if it did not carry out the request,
    otherwise "".
    """

    host: str
    sets: list[SetAnswer] = msgspec.field(default_factory=list)
    changes: list[ChangeAnswer] = msgspec.field(default_factory=list)
    problem: str = ""
    status: int = 0


class Tuned(msgspec.Struct, frozen=True, kw_only=True):
    """The output of the commands for change sets. ``id``: id of the set, the same on all hosts;
    ``until``: when it reverts automatically, local time with time zone.
    """

    action: Literal["apply", "confirm", "revert", "status", "verify"]
    id: str = ""
    until: str = ""
    hosts: list[HostTuned] = msgspec.field(default_factory=list)

    @property
    def done(self) -> bool:
        """True if every host did what was requested."""
        return all(not one.problem and one.status == 0 for one in self.hosts)

    @property
    def errors(self) -> list[Problem]:
        """Hosts that did not do what was requested, each with the reason."""
        return [Problem(message=one.problem, host=one.host) for one in self.hosts if one.problem]


class ResidueFound(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an earlier change left on a host. ``place``: the file or value."""

    host: str
    kind: Literal["drop-in", "half-undone", "differs", "other-tool", "unread"]
    place: str
    message: str


class Residue(msgspec.Struct, frozen=True, kw_only=True):
    """The findings of ``wireproof tune residue``, which changes nothing."""

    hosts: list[str] = msgspec.field(default_factory=list)
    found: list[ResidueFound] = msgspec.field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """``pass`` if nothing is left, otherwise ``fail``."""
        return "fail" if self.found else "pass"


class StandingSet(msgspec.Struct, frozen=True, kw_only=True):
    """One change set in force on ``hosts``. ``since``: time by the hosts' clocks; ``changes``: the
    changed settings, such as ``mtu/ib0: 2044 -> 65520``.
    """

    id: str
    state: SetState
    hosts: list[str]
    by: str = ""
    since: str = ""
    changes: list[str] = msgspec.field(default_factory=list)


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The change sets in force according to the journals of ``hosts``. ``unread``: hosts whose
    journals could not be read, by reason; their state is unknown. ``here``: no hosts were named,
    and the only host is the machine that measured. ``lab``: the lab that the nodes belong to, ""
    for hosts.
    """

    hosts: list[str] = msgspec.field(default_factory=list)
    sets: list[StandingSet] = msgspec.field(default_factory=list)
    here: bool = False
    lab: str = ""
    unread: dict[str, list[str]] = msgspec.field(default_factory=dict)
