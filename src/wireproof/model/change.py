"""Changes of settings: what a host is asked to change, and what it answers.

The request goes to ``wireproof-node tune apply`` as text (`tune.request`), the answers come back as
JSON lines. Nothing is written on a host before the journal there holds the old values.
"""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = [
    "Answer",
    "Change",
    "ChangeAnswer",
    "ChangeSet",
    "ChangeState",
    "Keep",
    "SetAnswer",
    "SetState",
    "decode_answer",
]

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


class _Data(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Change(_Data, frozen=True):
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


class Keep(_Data, frozen=True):
    """A drop-in file of our own name with its whole text: written by ``confirm``."""

    path: str
    text: str


class ChangeSet(_Data, frozen=True):
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
