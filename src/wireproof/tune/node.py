"""Run ``wireproof-node tune`` on the hosts of a target; no other module starts it."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from wireproof.audit.job import hosts_of, more_of_source, reader_argv
from wireproof.files.programs import by_path
from wireproof.instrument.plan_text import Collected, collect, encode_value
from wireproof.launch.engines import find_program
from wireproof.model import gathered
from wireproof.model.errors import BadInput
from wireproof.model.plan import FactRequest
from wireproof.model.secrets import clean_text
from wireproof.model.tuning import (
    Change,
    ChangeAnswer,
    ChangeSet,
    HostTuned,
    SetAnswer,
    decode_answer,
)
from wireproof.target import Target, reach

# --- Apply change sets on many hosts: run ``wireproof-node tune`` on each, without Python there.

# --- The text of a change set, as ``wireproof-node tune apply`` reads it. Pure.
#
# The format is that of plans, one statement on each line: docs/reference/engine-interface.md.


_OF_COMMAND = ("read", "section", "key", "write")
"""Fields of a change by commands; a change of a file has others."""


def write_change_set(wanted: ChangeSet) -> str:
    """Return the text of the request; it ends with a newline."""
    user = encode_value(wanted.by)
    head = f"set id={encode_value(wanted.id)} by={user} timeout_s={wanted.timeout_s}"
    keeps = (
        f"keep path={encode_value(keep.path)} text={encode_value(keep.text)}"
        for keep in wanted.keeps
    )
    return "\n".join([head, *map(_change, wanted.changes), *keeps, ""])


def _change(change: Change) -> str:
    written = ("path", "form", "coupled") if change.kind == "file" else _OF_COMMAND
    words = [f"change id={encode_value(change.id)} kind={change.kind}"]
    for name in ("value", *written):
        value = getattr(change, name)
        text = ",".join(map(encode_value, value if isinstance(value, tuple) else (value,)))
        words += [f"{name}={text}"] if text else []
    return " ".join(words)


FANOUT = 32
PATIENCE_S = 180.0
"""Time limit in seconds: enough for 4096 changes on a slow disk, each with two waits for the
disk.
"""
LARGEST = 32 << 20
"""Largest answer of a host in bytes."""
_WORDS = {
    126: "wireproof-node cannot be run there",
    127: "wireproof-node is missing",
    255: "it could not be reached",
}
_SIGNALS = range(1, 65)
_OWN = "wireproof-node: "


def ask_hosts(
    argv_of: Mapping[str, Sequence[str]], text_of: Mapping[str, str] | None = None
) -> list[HostTuned]:
    """Run the commands of all hosts, ``FANOUT`` at a time. ``text_of``: standard input of a host's
    command.

    A host that does not answer completely gets a ``problem``; answers before that are kept.
    """
    texts = text_of or {}

    def one(item: tuple[str, Sequence[str]]) -> HostTuned:
        host, argv = item
        return _one(host, argv, texts.get(host, "").encode())

    with ThreadPoolExecutor(min(FANOUT, max(1, len(argv_of)))) as pool:
        return list(pool.map(one, argv_of.items()))


def _one(host: str, argv: Sequence[str], text: bytes) -> HostTuned:
    try:
        done = subprocess.run(
            **by_path(argv), input=text, capture_output=True, timeout=PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        late = f"it did not answer within {PATIENCE_S:g} s"
        return _answered(host, error.stdout or b"", late, 4)
    except OSError as error:
        return HostTuned(
            host=host, problem=f"{argv[0]} cannot be started: {error.strerror}", status=4
        )
    found = _answered(host, done.stdout, "", done.returncode)
    if done.returncode == 0 or (done.returncode == 1 and found.sets):
        return found
    return msgspec.structs.replace(found, problem=_problem(done.returncode, done.stderr))


def _problem(status: int, stderr: bytes) -> str:
    """Return why the command failed: its message, else the meaning of its status."""
    said = clean_text(stderr[-600:], 300)
    _, own, sentence = said.rpartition(_OWN)  # a login's banner may come first
    if own:
        return sentence
    # the exit status of a shell or agent in between
    signal = -status if status < 0 else status - 128
    if signal in _SIGNALS:
        what = f"it was killed by signal {signal}"
    else:
        what = _WORDS.get(status, "it failed")
    return f"{what}: {said}" if said else f"{what} (status {status})"


def _answered(host: str, output: bytes, problem: str, status: int) -> HostTuned:
    """Return the complete lines that are answers; incomplete and unrelated lines are left out."""
    sets: list[SetAnswer] = []
    changes: list[ChangeAnswer] = []
    of = ""
    for line in output[:LARGEST].split(b"\n"):
        if not line.startswith(b"{"):
            continue
        try:
            answer = decode_answer(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(answer, SetAnswer):
            sets.append(answer)
            of = answer.id
        else:
            changes.append(msgspec.structs.replace(answer, of=of))
    if len(sets) == 1:  # except for status, a set comes after its changes
        changes = [msgspec.structs.replace(one, of=sets[0].id) for one in changes]
    changes = list(dict.fromkeys(changes))  # a refusal may be reported twice
    return HostTuned(host=host, sets=sets, changes=changes, problem=problem, status=status)


__all__ = [
    "JournalPlace",
    "apply_sets",
    "ask_nodes",
    "hosts_of",
    "read_files",
]


@dataclass(frozen=True)
class JournalPlace:
    """``state``: the folder of journals on the hosts, "" for the default.

    ``root``: the folder that is used as /, "" for the machine itself.
    """

    state: str = ""
    root: str = ""


def apply_sets(
    target: Target, sets: Mapping[str, ChangeSet], place: JournalPlace | None = None
) -> list[HostTuned]:
    """Apply each host's change set, all or nothing."""
    texts = {host: write_change_set(changes) for host, changes in sets.items()}
    return ask_hosts(_argv(target, "apply", tuple(sets), place), texts)


def ask_nodes(
    target: Target,
    what: Literal["confirm", "revert", "status"],
    hosts: tuple[str, ...],
    name: str = "",
    place: JournalPlace | None = None,
    *more: str,
) -> list[HostTuned]:
    """Return the answer of each host.

    ``name``: ID of a set; "" for all sets or, with ``revert``, for the newest set that is open or
    confirmed. ``more``: further options of the node program.
    """
    return ask_hosts(_argv(target, what, hosts, place, *_named(name), *more))


_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}", re.ASCII)


def _named(name: str) -> tuple[str, ...]:
    if name and not _NAME.fullmatch(name):
        raise BadInput(
            f"{name[:80]!r} is not the ID of a change set: `wireproof tune status` lists them."
        )
    return ("--id", name) if name else ()


def _argv(
    target: Target, what: str, hosts: tuple[str, ...], place: JournalPlace | None, *more: str
) -> dict[str, list[str]]:
    """Return each host's command, preceded by the target's ``--prefix`` (such as ``sudo -n``)."""
    where = place or JournalPlace()
    program = [*target.prefix, str(find_program("wireproof-node")), "tune", what]
    root = ["--root", where.root] if where.root else []

    def command(host: str) -> list[str]:
        state = _state(target, where, host)
        words = [*program, *(["--state", state] if state else []), *root, *more]
        return reach(target, host if target.hosts else "", words)

    return {host: command(host) for host in hosts}


def _state(target: Target, where: JournalPlace, host: str) -> str:
    """Return the folder of journals; nodes of a lab share this machine's files, so each has a
    separate folder.
    """
    if target.lab is None:
        return where.state
    return f"{where.state or target.lab.folder / 'tune'}/{host}"


def read_files(
    target: Target, wanted: Mapping[str, tuple[FactRequest, ...]], place: JournalPlace | None = None
) -> dict[str, Collected]:
    """Return each host's answer to its requests. Hosts without requests are left out."""
    groups = gathered((asked, host) for host, asked in wanted.items() if asked)
    if place is not None and place.root:
        root = Path(place.root)
        return {
            host: Collected(host, more_of_source(root, host, asked))
            for asked, hosts in groups.items()
            for host in hosts
        }
    argv_of = reader_argv(target)
    return {
        answer.host: answer
        for asked, hosts in groups.items()
        for answer in collect({host: argv_of[host] for host in hosts}, asked)
    }
