"""Store the command line of a check, so that ``wireproof resume FOLDER`` can continue it.

Anyone who can create the folder can write this file. It is data: only listed options and variables
are accepted, and their values must not name a program. Programs of the first call must be given
again when resuming.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from wireproof.files.held import make_folder, open_until_end, temporary_folder
from wireproof.files.hostile import read_bounded, replace_file
from wireproof.measure.session import Storage
from wireproof.model.errors import BadInput, CouldNotMeasure, decode_json
from wireproof.options.resolve import PREFIX, SETTINGS
from wireproof.options.table import ROWS
from wireproof.report.reporter import Reporter

ASKED = "asked.json"
RESUMABLE = ("check",)
_LARGEST = 16 << 20
PROGRAMS = tuple(sorted(name for name, row in ROWS.items() if row.names is not None))
"""Options whose values can name programs. ``mpi`` and ``launcher`` also take plain names, which are
not programs.
"""
STORABLE = frozenset(name for name, row in ROWS.items() if row.stored)
"""Options of a check that a stored run may set."""
EACH_TIME = frozenset({"out", "seed", "resume", "json"})
"""Options that each call must set again."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class GivenOption:
    """An option of a command line with its value; ``flag``: the option as typed."""

    name: str
    flag: str
    value: object

    @property
    def names_program(self) -> bool:
        """Return whether the value can name a program."""
        row = ROWS.get(self.name)
        return row is not None and row.is_program(str(self.value))

    @property
    def words(self) -> list[str]:
        """Return the words as typed, with absolute paths so that they mean the same in any
        folder.
        """
        words = []
        for value in self.value if isinstance(self.value, tuple) else (self.value,):
            words.append(self.flag)
            if isinstance(value, Path):
                words.append(str(value.absolute()))
            elif value is not True:
                words.append(_absolute(str(value)) if self.name == "hosts" else str(value))
        return words


def _absolute(hosts: str) -> str:
    """Return the hosts; if a file lists them, with its absolute path."""
    file = hosts.removeprefix("file:")
    return hosts if file == hosts else f"file:{os.path.abspath(file)}"


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """The command line of a check, from this process or from ``asked.json`` in its folder.

    ``argv``: without the program and without options that name a program; ``again``: the names of
    these options. ``environment``: the settings that were not given as options, as variables;
    ``hosts`` in rank order. ``seed``, ``folder`` and ``hosts`` are set when it is stored.
    """

    argv: list[str]
    seed: int = -1
    folder: str = ""
    environment: dict[str, str] = msgspec.field(default_factory=dict)
    hosts: list[str] = msgspec.field(default_factory=list)
    again: list[str] = msgspec.field(default_factory=list)

    @classmethod
    def of(
        cls, verb: str, options: Sequence[GivenOption], environment: Mapping[str, str]
    ) -> Invocation:
        """Build the invocation from the options of the command line."""
        stored = [word for option in options if not option.names_program for word in option.words]
        return cls(
            argv=[verb, *stored],
            environment=dict(environment),
            again=[option.name for option in options if option.names_program],
        )

    def on(self, hosts: Sequence[str]) -> Invocation:
        """Return the same invocation with these hosts."""
        words = list(self.argv)
        if "--hosts" in words:
            words[words.index("--hosts") + 1] = ",".join(hosts)
        return msgspec.structs.replace(self, argv=words)


def allowed_variables(found: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a stored run may set: settings of the measurement whose values name
    no program.
    """
    names = {PREFIX + name.upper(): SETTINGS[name] for name in STORABLE & SETTINGS.keys()}
    return {
        name: text
        for name, text in found.items()
        if name in names and not names[name].is_program(text)
    }


def stored_variables(asked: Invocation, reporter: Reporter) -> dict[str, str]:
    """Return the stored settings of the measurement; warn about any other stored variable, which is
    ignored.
    """
    stored = allowed_variables(asked.environment)
    for name in sorted(set(asked.environment) - set(stored)):
        reporter.warn(
            f"{name} is stored with the run but is not used: a stored run may set neither"
            " programs nor other variables"
        )
    return stored


def without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables without the settings of the measurement: a resumed run uses its stored
    settings.
    """
    ours = allowed_variables(environment)
    return {name: text for name, text in environment.items() if name not in ours}


def stored_words(verb: str, chosen: Collection[str], options: Sequence[GivenOption]) -> list[str]:
    """Rebuild the stored command line; ``chosen``: the names of all its options.

    Raises ``BadInput`` for an option that a stored run may not set, and for a program that must be
    given again.
    """
    for name in sorted(chosen):
        if name not in STORABLE | EACH_TIME:
            raise BadInput(
                f"{ASKED} sets {name}, which a stored run may not set: run the original command"
                " again."
            )
    for option in options:
        if option.names_program:
            raise _given_again(option.name, str(option.value))
    return [verb, *(word for option in options for word in option.words)]


def programs_again(asked: Invocation, programs: Mapping[str, str]) -> list[str]:
    """Return the words that name the programs of this call.

    Raises ``BadInput`` if a program of the first call is not given.
    """
    for name in asked.again:
        if not programs[name]:
            raise _given_again(name)
    return [word for name, value in programs.items() if value for word in (f"--{name}", value)]


def _given_again(name: str, value: str = "") -> BadInput:
    """Return the error that requests a program of the first call."""
    seen = f" ({value[:200]!r} the first time)" if value else ""
    return BadInput(
        f"the check was started with --{name}{seen}, which names a program that a stored run may"
        f" not set: give it again, as in `wireproof resume FOLDER --{name} ...`."
    )


def remember(folder: Path, invocation: Invocation, seed: int, hosts: Sequence[str]) -> None:
    """Store the command line of this process in the result's folder, unless a command line is
    already stored there (when resuming).
    """
    path = folder / ASKED
    if os.path.lexists(path):
        return
    asked = msgspec.structs.replace(
        invocation,
        seed=seed,
        folder=os.getcwd(),
        environment=allowed_variables(invocation.environment),
        hosts=list(hosts),
    )
    replace_file(path, msgspec.json.format(msgspec.json.encode(asked), indent=1) + b"\n")


def how_to_go_on(folder: Path) -> str:
    """Return the command that measures the missing points of an interrupted run in ``folder``."""
    name = shlex.quote(str(folder))
    if (folder / ASKED).is_file():
        return f"`wireproof resume {name}` measures the missing points"
    return f"the same command with --resume --out {name} continues it"


def recall(folder: Path) -> Invocation:
    """Load the command line of the run in ``folder``.

    Raises ``BadInput`` if it is unknown or the subcommand cannot be resumed.
    """
    path = folder / ASKED
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder: give the --out folder of a check.")
    try:
        asked = decode_json(read_bounded(path, _LARGEST, follow=False), Invocation)
    except FileNotFoundError:
        raise BadInput(
            f"{folder} does not state which command created it (no {ASKED}): if it is a result,"
            f" repeat that command with --resume --out {folder}."
        ) from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(
            f"{path} is damaged ({error}): repeat the command with --resume --out {folder}."
        ) from error
    if not asked.argv or asked.argv[0] not in RESUMABLE:
        raise BadInput(
            f"{path} contains no subcommand that can be resumed ({', '.join(RESUMABLE)})."
        )
    if not 0 <= asked.seed < 1 << 63 or any(name not in PROGRAMS for name in asked.again):
        raise BadInput(f"{path} is damaged: its seed or its option names are invalid.")
    return asked


def stored_seed(folder: Path) -> int | None:
    """Return the seed with which the run in ``folder`` started, or None."""
    try:
        return recall(folder).seed
    except BadInput:
        return _seed_of_plan(folder)


def _seed_of_plan(folder: Path) -> int | None:
    from wireproof.store.load import load_document

    for path in sorted(folder.glob("run*/run.json")):
        return load_document(path.parent).plan.seed
    return None


# --- The folder for a job's records and page, which is private to the current user.


@contextlib.contextmanager
def result_folder(storage: Storage, name: str, reporter: Reporter) -> Iterator[Path]:
    """Yield the folder of a job: that of ``storage``, or a new folder named after ``name``.

    If nothing will be kept, it is a temporary folder, removed at the end of the block.

    An empty folder is removed. Raises ``BadInput`` if the folder is not empty, unless the run in it
    is resumed.
    """
    if not storage.kept:
        with temporary_folder("wireproof-") as scratch:
            try:
                yield Path(scratch)
            except KeyboardInterrupt:
                reporter.warn("the measurements are not stored: give --out to keep them.")
                raise
        return
    out = _opened(storage, name, reporter)
    try:
        yield out
    except KeyboardInterrupt:
        if any(out.iterdir()):
            reporter.warn(f"the measurements so far are kept in {out}; {how_to_go_on(out)}.")
        raise
    finally:
        with contextlib.suppress(OSError):
            out.rmdir()


def _opened(storage: Storage, name: str, reporter: Reporter) -> Path:
    out = storage.folder
    if out is None:
        if storage.resume:
            raise BadInput("--resume needs the --out folder of the run to continue.")
        out = Path(f"wireproof-{name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}")
    try:
        if out.exists() and not storage.resume and any(out.iterdir()):
            raise BadInput(
                f"the folder {out} is not empty: give another --out, or --resume to continue the"
                " run in it."
            )
        _private(out, reporter, change=storage.may_change_mode)
    except (NotADirectoryError, FileExistsError) as error:
        raise BadInput(f"{out} is not a folder: give another --out.") from error
    except OSError as error:
        raise CouldNotMeasure(
            f"the folder {out} cannot be created: {error.strerror}. Give another --out."
        ) from error
    return out


def _private(out: Path, reporter: Reporter, *, change: bool) -> None:
    """Create the folder, or use an existing folder of the same user, with mode 0700.

    Raises ``BadInput`` if it belongs to another user.

    Anyone who can write into it could plant links through which our records would be written. With
    ``change`` False the mode of an existing folder is not changed (a settings file in the current
    folder named it), and a folder that is open to others is refused.
    """
    make_folder(out, 0o700)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    with open_until_end(os.open(out, flags)) as folder:
        status = os.fstat(folder)
        if status.st_uid != os.geteuid():
            raise BadInput(
                f"the folder {out} belongs to the user with the ID {status.st_uid}: give another"
                " --out."
            )
        if status.st_mode & 0o077 and not change:
            raise BadInput(
                f"the folder {out} is open to others: give it with --out, or make it private"
                " (chmod 700)."
            )
        if status.st_mode & 0o077:
            os.fchmod(folder, 0o700)
            mode = f"{stat.S_IMODE(status.st_mode):04o}"
            reporter.say(f"the folder {out} was open to others (mode {mode}); now it is 0700")
