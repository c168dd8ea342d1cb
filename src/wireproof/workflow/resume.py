"""What a check remembers of how it was asked, so that ``wireproof resume FOLDER`` can go on with
it.

Whoever made the folder wrote this. It is data: an allow-list of options and variables, and nothing
of it names a program. Those that the first time had are given again, by who resumes.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded, replace_file
from wireproof.model.errors import BadInput
from wireproof.model.json_reader import decode_json
from wireproof.settings.options import ROWS
from wireproof.settings.resolve import PREFIX, SETTINGS
from wireproof.workflow.reporter import Reporter

ASKED = "asked.json"
RESUMABLE = ("check",)
_LARGEST = 16 << 20
PROGRAMS = tuple(sorted(name for name, row in ROWS.items() if row.names is not None))
"""Options whose values can name programs. ``mpi`` and ``launcher`` have names, too, that are
none.
"""
STORABLE = frozenset(name for name, row in ROWS.items() if row.stored)
"""Options of a check that a stored run may choose."""
EACH_TIME = frozenset({"out", "seed", "resume", "json"})
"""Options that each time has its own of."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class GivenOption:
    """An option of a command line with its value; ``flag``: as it is typed."""

    name: str
    flag: str
    value: object

    @property
    def names_program(self) -> bool:
        """Whether the value can be a program."""
        row = ROWS.get(self.name)
        return row is not None and row.is_program(str(self.value))

    @property
    def words(self) -> list[str]:
        """As they are typed; paths are absolute, to mean the same from everywhere."""
        words = []
        for one in self.value if isinstance(self.value, tuple) else (self.value,):
            words.append(self.flag)
            if isinstance(one, Path):
                words.append(str(one.absolute()))
            elif one is not True:
                words.append(_absolute(str(one)) if self.name == "hosts" else str(one))
        return words


def _absolute(hosts: str) -> str:
    """A list of hosts in a file, wherever it is read from."""
    file = hosts.removeprefix("file:")
    return hosts if file == hosts else f"file:{os.path.abspath(file)}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Invocation:
    """How a check was asked for: ``argv`` without the program, and without options that name one:
    of these ``again`` has the names. ``environment``: the settings that were no options.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    again: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, verb: str, options: Sequence[GivenOption], environment: Mapping[str, str]
    ) -> Invocation:
        """The subcommand with the options that its command line had."""
        stored = [word for one in options if not one.names_program for word in one.words]
        return cls(
            argv=(verb, *stored),
            environment=environment,
            again=tuple(one.name for one in options if one.names_program),
        )

    def on(self, hosts: Sequence[str]) -> Invocation:
        """The same for these hosts."""
        words = list(self.argv)
        if "--hosts" in words:
            words[words.index("--hosts") + 1] = ",".join(hosts)
        return dataclasses.replace(self, argv=tuple(words))


class StoredInvocation(msgspec.Struct, frozen=True, kw_only=True):
    """``argv`` without the program, and without options that name one: of these ``again`` has the
    names.

    ``environment``: the settings that were no options, as variables; ``hosts`` in rank order.
    """

    argv: list[str]
    seed: int
    folder: str
    environment: dict[str, str] = msgspec.field(default_factory=dict)
    hosts: list[str] = msgspec.field(default_factory=list)
    again: list[str] = msgspec.field(default_factory=list)


def allowed_variables(found: Mapping[str, str]) -> dict[str, str]:
    """Those that a stored run may set: settings of the measurement, and of these only values that
    name no program.
    """
    names = {PREFIX + name.upper(): SETTINGS[name] for name in STORABLE & SETTINGS.keys()}
    return {
        name: text
        for name, text in found.items()
        if name in names and not names[name].is_program(text)
    }


def stored_variables(asked: StoredInvocation, reporter: Reporter) -> dict[str, str]:
    """The stored settings of the measurement; what else is stored is not used, and said."""
    stored = allowed_variables(asked.environment)
    for name in sorted(set(asked.environment) - set(stored)):
        reporter.warn(
            f"{name} is stored with the run and is not used: a stored run chooses no program and no"
            " other variable"
        )
    return stored


def without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables without the settings of the measurement: a resumed run has its own."""
    ours = allowed_variables(environment)
    return {name: text for name, text in environment.items() if name not in ours}


def stored_words(verb: str, chosen: Collection[str], options: Sequence[GivenOption]) -> list[str]:
    """The stored command line, written anew; ``chosen``: the names of all its options.

    Raises ``BadInput`` for an option that a stored run may not choose, and for a program that is to
    be named again.
    """
    for name in sorted(chosen):
        if name not in STORABLE | EACH_TIME:
            raise BadInput(
                f"{ASKED} asks for {name}, which a stored run may not choose: repeat the command"
                " yourself."
            )
    for one in options:
        if one.names_program:
            raise _given_again(one.name, str(one.value))
    return [verb, *(word for one in options for word in one.words)]


def programs_again(asked: StoredInvocation, programs: Mapping[str, str]) -> list[str]:
    """The words that name the programs of now; ``BadInput`` when one of the first time is not
    given.
    """
    for name in asked.again:
        if not programs[name]:
            raise _given_again(name)
    return [word for name, value in programs.items() if value for word in (f"--{name}", value)]


def _given_again(name: str, value: str = "") -> BadInput:
    """The error that asks for a program which the first time had."""
    seen = f" ({value[:200]!r} the first time)" if value else ""
    return BadInput(
        f"the check was begun with --{name}{seen}, which names a program, and a stored run chooses"
        f" none: give it again, as in `wireproof resume FOLDER --{name} ...`."
    )


def remember(folder: Path, invocation: Invocation, seed: int, hosts: Sequence[str]) -> None:
    """Write how we were asked into the result's folder, unless it is there already (we are being
    resumed).
    """
    path = folder / ASKED
    if os.path.lexists(path):
        return
    asked = StoredInvocation(
        argv=list(invocation.argv),
        seed=seed,
        folder=os.getcwd(),
        environment=allowed_variables(invocation.environment),
        hosts=list(hosts),
        again=list(invocation.again),
    )
    replace_file(path, msgspec.json.format(msgspec.json.encode(asked), indent=1) + b"\n")


def how_to_go_on(folder: Path) -> str:
    """The command that measures what an interrupted run in ``folder`` does not have."""
    name = shlex.quote(str(folder))
    if (folder / ASKED).is_file():
        return f"`wireproof resume {name}` measures what is missing"
    return f"the same command with --resume --out {name} goes on"


def recall(folder: Path) -> StoredInvocation:
    """How the run in ``folder`` was asked; ``BadInput`` when that cannot be told or is no
    subcommand that can go on.
    """
    path = folder / ASKED
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder: give the --out folder of a check.")
    try:
        asked = decode_json(read_bounded(path, _LARGEST, follow=False), StoredInvocation)
    except FileNotFoundError:
        raise BadInput(
            f"{folder} does not say how it was asked (no {ASKED}): repeat the command with --resume"
            f" --out {folder}."
        ) from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(
            f"{path} is damaged ({error}): repeat the command with --resume --out {folder}."
        ) from error
    if not asked.argv or asked.argv[0] not in RESUMABLE:
        raise BadInput(f"{path} does not hold a verb that can go on ({', '.join(RESUMABLE)}).")
    if not 0 <= asked.seed < 1 << 63 or any(name not in PROGRAMS for name in asked.again):
        raise BadInput(f"{path} is damaged: its seed or its names of options are none.")
    return asked


def stored_seed(folder: Path) -> int | None:
    """The seed that the run in ``folder`` was begun with; None when nothing is there."""
    try:
        return recall(folder).seed
    except BadInput:
        return _seed_of_plan(folder)


def _seed_of_plan(folder: Path) -> int | None:
    from wireproof.store.load import load_document

    for path in sorted(folder.glob("run*/run.json")):
        return load_document(path.parent).plan.seed
    return None
