"""What a check remembers of how it was asked, so that ``wireproof resume FOLDER`` can go on with
it.

Whoever made the folder wrote this. It is data: an allow-list of options and variables, and nothing
of it names a program. Those that the first time had are given again, by who resumes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
from click.core import ParameterSource

from wireproof.cli.options import settings_file
from wireproof.files.hostile import read_bounded, replace_file
from wireproof.model.errors import BadInput
from wireproof.settings.resolve import DECLARED, PREFIX
from wireproof.workflow.target.target import Target

__all__ = [
    "ASKED",
    "StoredInvocation",
    "allowed_variables",
    "recall",
    "remember",
    "safe_words",
    "stored_seed",
    "told_again",
]

ASKED = "asked.json"
_RESUMABLE = ("check",)
_LARGEST = 16 << 20
PROGRAMS = ("launcher", "mpi", "prefix")
"""Options whose values can name programs. ``mpi`` and ``launcher`` have names, too, that are
none.
"""
_OPTIONS = frozenset(
    {
        "profile",
        "repeat",
        "topology",
        "rounds",
        "all_pairs",
        "model_world",
        "model_fault",
        "hosts",
        "mpi",
        "transport",
        "fabric",
        "nic",
        "nic_selection",
        "launcher",
        "lab",
        "virtual",
        "scheduler",
        "starter",
        "slurm",
        "nodes",
        "job_partition",
        "job_time",
        "job_account",
        "job_qos",
        "job_nodelist",
        "job_exclude",
        "job_reservation",
        "job_constraint",
        "job_wait",
        "link",
        "mtu",
        "pcie",
        "physics",
        "budget",
        "deadline",
        "sysfs_root",
    }
)
_OF_EACH_TIME = ("out", "seed", "resume", "json")
_SETTINGS = (
    *(
        "hosts",
        "mpi",
        "transport",
        "fabric",
        "nic",
        "nic_selection",
        "launcher",
        "profile",
        "repeat",
        "link",
        "budget",
    ),
    *("deadline", "sizes", "formula", "window"),
)


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


def allowed_variables(found: dict[str, str]) -> dict[str, str]:
    """Those that a stored run may set: settings of the measurement, and of these only values that
    name no program.
    """
    names = {PREFIX + name.upper(): DECLARED[name] for name in _SETTINGS}
    return {
        name: text
        for name, text in found.items()
        if name in names and not names[name].is_program(text)
    }


def remember(folder: Path, seed: int, target: Target) -> None:
    """Write how we were asked into the result's folder, unless it is there already (we are being
    resumed).
    """
    context = click.get_current_context()
    path = folder / ASKED
    if context.info_name not in _RESUMABLE or os.path.lexists(path):
        return
    given = {PREFIX + name.upper(): text for name, (text, _) in settings_file().items()}
    given |= {name: text for name, text in os.environ.items() if name.startswith(PREFIX)}
    options = list(_given(context))
    words = [word for one in options if not _names_program(*one) for word in _words(*one)]
    asked = StoredInvocation(
        argv=[context.info_name, *words],
        seed=seed,
        folder=os.getcwd(),
        environment=allowed_variables(given),
        hosts=list(target.hosts),
        again=[
            parameter.name or "" for parameter, value in options if _names_program(parameter, value)
        ],
    )
    replace_file(path, msgspec.json.format(msgspec.json.encode(asked), indent=1) + b"\n")


def _given(context: click.Context) -> Iterator[tuple[click.Parameter, object]]:
    """Every option of the command line with its value, but those that each time has its own of."""
    for parameter in context.command.params:
        name = parameter.name or ""
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE and name in (
            *_OPTIONS,
            *PROGRAMS,
        ):
            yield parameter, context.params[name]


def _names_program(parameter: click.Parameter, value: object) -> bool:
    name = parameter.name or ""
    declared = DECLARED.get(name)
    return name in PROGRAMS and (declared is None or declared.is_program(str(value)))


def _words(parameter: click.Parameter, value: object) -> Iterator[str]:
    """The option as it is typed; paths are absolute, to mean the same from everywhere."""
    for one in value if isinstance(value, tuple) else (value,):
        yield parameter.opts[-1]
        if isinstance(one, Path):
            yield str(one.absolute())
        elif one is not True:
            yield _absolute(str(one)) if parameter.name == "hosts" else str(one)


def _absolute(hosts: str) -> str:
    """A list of hosts in a file, wherever it is read from."""
    return (
        f"file:{os.path.abspath(hosts.removeprefix('file:'))}"
        if hosts.startswith("file:")
        else hosts
    )


def safe_words(asked: StoredInvocation, group: click.Group) -> list[str]:
    """The stored words, parsed as a command line and written anew from what is allowed.

    Raises ``BadInput`` for an option that a stored run may not choose, and for a program that is to
    be named again.
    """
    verb = asked.argv[0]
    command = group.commands.get(verb) or group.get_command(click.Context(group), verb)
    assert command is not None  # noqa: S101  one of _RESUMABLE
    context = command.make_context(verb, list(asked.argv[1:]), resilient_parsing=False)
    for name in sorted(parameter.name or "" for parameter in command.params):
        chosen = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if chosen and name not in (*_OPTIONS, *PROGRAMS, *_OF_EACH_TIME):
            raise BadInput(
                f"{ASKED} asks for {name}, which a stored run may not choose: repeat the command yourself."
            )
    for parameter, value in _given(context):
        if _names_program(parameter, value):
            raise told_again(parameter.name or "", str(value))
    return [verb, *(word for one in _given(context) for word in _words(*one))]


def told_again(name: str, value: str = "") -> BadInput:
    """The error that asks for a program which the first time had."""
    seen = f" ({value[:200]!r} the first time)" if value else ""
    return BadInput(
        f"the check was begun with --{name}{seen}, which names a program, and a stored run chooses none: give it again,"
        f" as in `wireproof resume FOLDER --{name} ...`."
    )


def recall(folder: Path) -> StoredInvocation:
    """How the run in ``folder`` was asked; ``BadInput`` when that cannot be told or is no verb that
    can go on.
    """
    path = folder / ASKED
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder: give the --out folder of a check.")
    try:
        asked = msgspec.json.decode(
            read_bounded(path, _LARGEST, follow=False), type=StoredInvocation
        )
    except FileNotFoundError:
        raise BadInput(
            f"{folder} does not say how it was asked (no {ASKED}): repeat the command with --resume --out {folder}."
        ) from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(
            f"{path} is damaged ({error}): repeat the command with --resume --out {folder}."
        ) from error
    if not asked.argv or asked.argv[0] not in _RESUMABLE:
        raise BadInput(f"{path} does not hold a verb that can go on ({', '.join(_RESUMABLE)}).")
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
