"""Options that several subcommands share, converted to typed values: no module below the command
line parses their texts.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from wireproof.cli.console import (
    INTERRUPTED,
    Console,
    chosen_form,
    current_context,
    print_document,
    remark,
    say,
    status_of,
    want_json,
)
from wireproof.cli.declare import PathName, choice, file, flag, rows, setting, text
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.secrets import masked
from wireproof.options.resolve import FILE_NAME, SETTINGS, misspelt, read_file, resolve
from wireproof.options.table import ROWS, Options

if TYPE_CHECKING:
    from wireproof.launch.schedulers.slurm_job import JobRequest
    from wireproof.measure.result import Result
    from wireproof.measure.session import Method, Storage
    from wireproof.measure.session.dry_run import Planned
    from wireproof.options.bmc import BmcOptions
    from wireproof.report.judged_run import JudgedRun

SYSFS_ROOT = setting("sysfs_root")
PSM_STATISTICS = setting("psm_statistics")
TARGET = rows("target")
"""Options for the hosts of the ranks and the transport of the messages."""

JOB = rows("job")
"""Options of a job that wireproof requests, with the scheduler's terms."""

MACHINES: tuple[click.Parameter, ...] = (
    choice(
        "--profile",
        ["throughput", "latency", "repeatability", "power"],
        "purpose of the machines; it decides which recommendation is used if authorities disagree.",
        default="throughput",
    ),
    click.Option(
        ["--from", "source"],
        type=PathName(path_type=Path),
        metavar="PATH",
        help="a snapshot, a folder with a host's /proc, /sys and /etc, or a sosreport.",
    ),
)
"""Options for the judgement of settings, and for a source other than the target's machines."""

LINK = rows("link")
"""Options for the claimed link, and for the table of physics with which it is judged."""

JUDGED_BY = (*LINK, *rows("published"))
"""The options of ``LINK``, and the options for published numbers."""

OUTPUT = rows("output")
"""Options for the output of the result and the duration of the measurement."""


def settings_of(options: Mapping[str, Any]) -> Options:
    """Resolve the options from the command line, ``WIREPROOF_*`` and ``wireproof.toml`` in the
    working directory.
    """
    _warn_of(tuple(misspelt(current_context().environment)))
    texts = {
        name: ("yes" if value else "no") if name in SETTINGS and isinstance(value, bool) else value
        for name, value in options.items()
        if name in ROWS
    }
    resolved = resolve(texts, current_context().environment, settings_file())
    if "json" in options and resolved.json:
        want_json(click.get_current_context())
    return resolved


def lone_target(options: Mapping[str, Any]) -> Options:
    """Resolve the options of a subcommand that accepts a single host; its ``--profile`` is not
    check's.
    """
    return dataclasses.replace(settings_of({**options, "profile": None}), alone=True)


@functools.cache
def _warn_of(sentences: tuple[str, ...]) -> None:
    """Print the warnings once, regardless of how many times the settings are read."""
    for sentence in sentences:
        Console().warn(sentence)


def settings_file() -> dict[str, tuple[str, str]]:
    """Read the settings of ``wireproof.toml`` in the working directory; return none for a resumed
    run, which has stored settings.
    """
    file = Path(FILE_NAME)
    return {} if current_context().resumed or not os.path.lexists(file) else read_file(file)


def method_of(options: Options) -> Method:
    """Return the method from the options, with the site's published numbers."""
    from wireproof.atlas.job import atlas_folder
    from wireproof.measure.session import Method

    site = atlas_folder(options.atlas, current_context().environment)
    return dataclasses.replace(Method.from_options(options), site=site)


def experiment_storage(settings: Options) -> Storage:
    """Return the storage of an experiment, which no history keeps."""
    kept = settings.out is not None or settings.resume
    return storage_of(dataclasses.replace(settings, history=None), kept=kept)


def storage_of(settings: Options, *, kept: bool) -> Storage:
    """Return the storage of the records, according to ``--out`` and ``--resume``."""
    from wireproof.measure.session import Storage

    history, folder = settings.history if kept else None, settings.out
    if history is not None:
        from wireproof.measure.keep import storage_folder

        folder = storage_folder(folder, history)
    return Storage(
        folder=folder,
        history=history,
        kept=kept,
        resume=settings.resume,
        may_change_mode=settings.origin("out") != "file",
        command=typed_words(),
    )


# --- Access to the management controllers of hosts.

BMC: tuple[click.Parameter, ...] = (
    text(
        "--bmc",
        "FILE.toml|NAME",
        "read the BIOS by Redfish: a TOML file of BMCs, an address, or a pattern: {host}-bmc.",
        multiple=True,
        default=(),
    ),
    text("--bmc-user", "NAME", "user of the BMC, if the file does not contain it."),
    file(
        "--bmc-password-file",
        "file with the BMC's password, mode 600; otherwise wireproof prompts for the password.",
    ),
    file("--bmc-ca", "certificates (PEM) to trust for the BMC instead of the system's."),
    flag(
        "--bmc-insecure",
        "accept any certificate of the BMC: an attacker in between can read the password.",
    ),
)


def bmc_options(options: dict[str, Any]) -> BmcOptions:
    """Return the values of ``BMC``. If there is a terminal, prompt for the password."""
    from wireproof.options.bmc import BmcOptions

    return BmcOptions(
        sources=options["bmc"],
        user=options["bmc_user"],
        password_file=options["bmc_password_file"],
        ca=options["bmc_ca"],
        insecure=options["bmc_insecure"],
        ask=_ask if sys.stdin.isatty() else None,
    )


@functools.cache
def _ask(user: str) -> str:
    return str(click.prompt(f"Password of {user!r} at the BMC", hide_input=True, err=True))


# --- The command line that repeats the running subcommand.

_EACH_TIME = frozenset({"out", "resume", "as_json"})
"""Options that each call must set again."""


def typed_words() -> tuple[str, ...]:
    """Return the words with long option names and absolute paths; secrets are masked."""
    context = click.get_current_context()
    words = context.command_path.split()
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is ParameterSource.COMMANDLINE and name in context.params.keys() - _EACH_TIME:
            words += _words(parameter, context.params[name])
    text = " ".join(words)
    return tuple(masked(text).split(" ")) if masked(text) != text else tuple(words)


def _words(parameter: click.Parameter, value: object) -> list[str]:
    from wireproof.measure.resume import GivenOption

    if isinstance(parameter, click.Argument):
        return [str(part) for part in value] if isinstance(value, tuple) else [str(value)]
    return GivenOption(name=parameter.name or "", flag=parameter.opts[-1], value=value).words


# --- Deliver the result of a subcommand: text or JSON on stdout, the folder where it is stored, the
# exit status.


def deliver(result: Result) -> int:
    """Print the result, after an interruption with a sentence about the kept records; return the
    exit status of the worst part, or 130 if interrupted.
    """
    say_kept(result)
    show(result.sections)
    return ended(result)


def show(sections: Sequence[JudgedRun]) -> None:
    """Print the parts on stdout as one document, briefly as text."""
    from wireproof.measure.document import run_document

    brief = chosen_form() == "text"
    document = partial(run_document, sections, sections[0].title, brief=brief)
    print_document(partial(_for_programs, sections), document)


def _for_programs(sections: Sequence[JudgedRun]) -> object:
    from wireproof.report.json.result import document_of
    from wireproof.workflow.documents import Results

    documents = [document_of(section) for section in sections]
    return documents[0] if len(documents) == 1 else Results(parts=documents)


def ended(result: Result) -> int:
    """Print where the result is stored; return its exit status."""
    if result.page is not None:
        remark(f"report: {result.page.absolute()}")
    if result.ended("interrupted"):
        return INTERRUPTED
    status = status_of(result.verdict)
    if status != status_of("fail") and result.ended("disk-full"):
        say("the disk became full during the measurement, so the result above is incomplete.")
        return CouldNotMeasure.exit_status
    if status != status_of("fail") and result.left_open:
        return CouldNotMeasure.exit_status
    return status


def say_kept(result: Result, going_on: str = "") -> None:
    """Print whether and where an interrupted result is kept, and ``going_on``, the next step
    (default: how to continue the run).
    """
    from wireproof.measure.resume import how_to_go_on

    if result.ended("interrupted"):
        kept = "shown but not kept: give --out to keep it"
        if folder := result.folder:
            kept = f"kept in {folder}; {going_on or how_to_go_on(folder)}"
        say(f"interrupted; the measurements so far are {kept}.")


# --- ``--dry-run``: every command and script that would run, in order; nothing is started.


def show_planned(planned: Planned, job: JobRequest | None = None) -> int:
    """Print the plan without starting it; the JSON has argv, environment, hosts and points."""
    from wireproof.launch.command import shell_line
    from wireproof.measure.session.dry_run import dry_run_document, own_job

    document, notes, ranks = planned
    argv = ["wireproof", *_inside(current_context().argv or ["check"])]
    build = partial(
        dry_run_document,
        document,
        shell_line(document.argv, document.environment),
        ranks=ranks,
        notes=notes,
        job=None if job is None else own_job(job, argv),
    )
    print_document(document, build)
    return 0


def _inside(argv: Sequence[str]) -> list[str]:
    """Return the same command for use inside the job, without the options that request a job."""
    of_the_job = {name for option in JOB if option.name != "slurm" for name in option.opts}
    words: list[str] = []
    skip = False
    for word in argv:
        name = word.partition("=")[0]
        if skip:
            skip = False
        elif name in of_the_job:
            skip = "=" not in word
        elif name not in ("--slurm", "--dry-run"):
            words.append(word)
    return words
