"""The subcommands by name.

Their modules are imported on use, because ``--help`` must be instant. Each has ``-q`` and ``-v``,
which control the messages on standard error.
"""

import contextlib
import functools
import os
import shlex
import sys
import sysconfig
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from wireproof.cli.console import hush, remark, say
from wireproof.cli.declare import ALL, help_all
from wireproof.files.programs import variable_set
from wireproof.model.errors import CouldNotMeasure, suggestion
from wireproof.version import version

EXIT_STATUSES: dict[int, str] = {
    0: "pass",
    1: "fail",
    2: "usage",
    3: "inconclusive",
    4: "could not measure",
    70: "a bug in wireproof",
    130: "interrupted",
}

_LEAST_MEMORY = 160 << 20
"""Address space in bytes: enough to report what else is short; a check needs twice as much."""

_FIRST: dict[str, dict[str, str]] = {
    "Check": {
        "check": "Is this interconnect normal? Measures, proves, judges.",
        "measure": "One measurement with its proof: latency, stream, put, get.",
        "prove": "Run any command: did its bytes cross the wire?",
        "run": "Start OSU, IMB, HPCC, iperf3, perftest with the right options.",
    },
    "Read": {
        "judge": "Could these logs of OSU, IMB, perftest and others be true?",
        "report": "Judge and render a stored result again, on any machine.",
        "compare": "Compare two results: ratios with intervals.",
        "explain": "Explain a finding, cause, setting, rate or link.",
    },
    "Tune": {
        "audit": "Which settings of the hosts are wrong for their fabric?",
        "tune": "Change settings, revert them, and try whether they help.",
    },
    "Keep": {
        "history": "Results over time: list, trend, nodes, pages.",
        "gate": "Healthy or not, for schedulers and monitors; fails closed.",
    },
}
"""The subcommands that ``--help`` describes, by purpose."""

_MORE: dict[str, str] = {
    "atlas": "Show published results for a link, with sources.",
    "completion": "Print the script that completes this command in bash, zsh or fish.",
    "demo": "Demonstration: find a bad link and a false shared-memory result.",
    "doctor": "Test this machine: MPIs, counters, namespaces, kernel.",
    "dossier": "Verify and sign acceptance dossiers (check --profile acceptance).",
    "help": "Show the help of a subcommand; write the manual pages.",
    "lab": "Virtual cluster on this machine: up, status, exec, fault, down.",
    "ladder": "Two hosts layer by layer, TCP to MPI: where are time and rate lost?",
    "lint": "Find errors in a job script, command line or configuration.",
    "locate": "Find the slow node, port, link or switch in stored measurements.",
    "pfc": "Is flow control lossless under load, and which host pauses?",
    "plan": "Compute QPs, memory, PFC headroom, latency at scale, time to prove.",
    "resume": "Resume an interrupted check: measure only the missing points.",
    "study": "Find the settings of PSM3, UCX, libfabric, Intel MPI that help.",
}

SUBCOMMANDS: dict[str, str] = {
    **{name: about for group in _FIRST.values() for name, about in group.items()},
    **_MORE,
}


def add_shared_options(command: click.Command) -> click.Command:
    """Give ``command`` and its subcommands ``-q``, ``-v`` and ``--help-all``; a letter that another
    option uses stays with that option. ``--help-all`` is hidden if ``--help`` shows all.
    """
    if isinstance(command, click.Group):
        for below in command.commands.values():
            below.short_help = below.get_short_help_str(limit=_LONGEST_HELP)
            add_shared_options(below)
    taken = {flag for parameter in command.params for flag in parameter.opts}
    if "--quiet" not in taken:
        options = (("-q", "--quiet", _QUIET, _hush), ("-v", "--verbose", _VERBOSE, _watch))
        command.params = [
            *command.params,
            *(
                click.Option(
                    [flag for flag in (letter, word) if flag not in taken],
                    is_flag=True,
                    expose_value=False,
                    is_eager=True,
                    callback=heard,
                    help=about,
                )
                for letter, word, about, heard in options
            ),
        ]
    if "--help-all" not in taken:
        command.params.append(help_all(hidden=not isinstance(command, LazySubcommands)))
    return command


_LONGEST_HELP = 1000  # click would cut the sentence at the width of the terminal
_QUIET = "show only the result, warnings and errors: no progress, no notes."
_VERBOSE = "show the commands that are started and the files that are opened."


def _hush(context: click.Context, _option: click.Parameter, given: bool) -> None:
    if given and not context.resilient_parsing:
        hush(context)


def _watch(context: click.Context, _option: click.Parameter, given: bool) -> None:
    if given and not context.resilient_parsing:
        _listen()


@functools.cache
def _listen() -> None:
    """Report commands and files from now on, through Python's audit events, which no module can
    bypass.
    """
    from wireproof.model.secrets import masked

    opened: set[str] = set()

    def hear(event: str, values: Sequence[object]) -> None:
        # an exception would abort the audited action
        with contextlib.suppress(OSError, ValueError, TypeError):
            if event == "subprocess.Popen":
                say(f"starts {masked(_command(values[1]))}")
            elif event == "open" and (text := _opening(*values)) not in opened:
                opened.add(text)
                if text:
                    say(text)

    sys.addaudithook(hear)


def _command(words: object) -> str:
    if isinstance(words, str | bytes | os.PathLike):
        return os.fsdecode(words)
    assert isinstance(words, Sequence)  # noqa: S101  as subprocess takes it
    return shlex.join(os.fsdecode(word) for word in words)


def _opening(path: object, mode: object, flags: object) -> str:
    """Return ``reads /proc/stat``; "" for files of Python itself, folders, and unnamed files."""
    opened = flags if isinstance(flags, int) else 0
    if not isinstance(path, str | bytes | os.PathLike) or opened & os.O_DIRECTORY:
        return ""
    name = os.fsdecode(path)
    if name == os.devnull or name.startswith(_program()):
        return ""
    writes = bool(opened & (os.O_WRONLY | os.O_RDWR))
    writes = writes or (isinstance(mode, str) and bool(set(mode) & set("wax+")))
    return f"{'writes' if writes else 'reads'} {name}"


@functools.cache
def _program() -> tuple[str, ...]:
    """Return the folders of Python and of this package."""
    places = sysconfig.get_paths()
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return (*(places[name] for name in ("stdlib", "purelib", "platlib")), package)


_TOGETHER = {
    "atlas": "judge",
    "compare": "report",
    "demo": "lab",
    "doctor": "lab",
    "dossier": "report",
    "gate": "judge",
    "ladder": "study",
    "lint": "audit",
    "locate": "report",
    "measure": "check",
    "pfc": "prove",
    "resume": "check",
    "run": "prove",
}
"""Subcommands that are defined in the module of another subcommand."""
_RENAMED = {"convert": "explain", "serve": "history pages"}
"""Former names, accepted for one more version."""


class LazySubcommands(click.Group):
    """A group whose subcommands are imported on use; their one-line helps are in
    ``SUBCOMMANDS``.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        add_shared_options(self)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUBCOMMANDS:
            return None
        module = _TOGETHER.get(cmd_name, cmd_name)
        name = cmd_name if cmd_name in _TOGETHER else "command"
        return add_shared_options(getattr(import_module(f"wireproof.cli.{module}"), name))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Accept ``version`` in its usual spellings."""
        if args == ["version"]:
            args = ["--version"]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name in _RENAMED and not ctx.resilient_parsing:
            say(f"'wireproof {name}' is now 'wireproof {_RENAMED[name]}'.")
            args = [*_RENAMED[name].split(), *args[1:]]
            name = args[0]
        if name and not name.startswith("-") and name not in SUBCOMMANDS:
            hint = suggestion(name, sorted(SUBCOMMANDS))
            raise click.UsageError(f"no subcommand '{click.unstyle(name)}'; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the most important subcommands on one screen; `wireproof help` describes the
        rest.
        """
        if ALL in ctx.meta:
            super().format_options(ctx, formatter)
            return
        formatter.write_paragraph()
        with formatter.indentation():
            for title, group in _FIRST.items():
                first, *_ = group
                formatter.write_dl(
                    [
                        (f"{title if name == first else '':<6}{name:<8}", about)
                        for name, about in group.items()
                    ]
                )
            formatter.write_paragraph()
            formatter.write_text(f"Also: {', '.join(sorted(_MORE))}; --help-all shows all.")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Subcommands"):
            formatter.write_dl(list(SUBCOMMANDS.items()))


def _tell_version(context: click.Context, _option: click.Parameter, given: bool) -> None:
    if given and not context.resilient_parsing:
        click.echo(f"wireproof {version()}")
        context.exit()


@click.group(
    cls=LazySubcommands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit status: "
    + ", ".join(f"{status} {means}" for status, means in EXIT_STATUSES.items())
    + ".",
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_tell_version,
    help="Show the version and exit.",
)
@click.option(
    "--catalogue",
    metavar="DIR",
    help="folder of the site's NICs, causes, links, lint rules and published numbers; default:"
    " ~/.config/wireproof/catalogue.",
)
def subcommands(catalogue: str | None) -> None:
    """wireproof proves what an HPC interconnect does: every number comes with the proof of its
    path, its interval and its limit. Start with 'wireproof demo'.
    """
    _load_numpy_alone()
    usual = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    if catalogue or "WIREPROOF_CATALOGUE" in os.environ or os.path.isdir(f"{usual}/wireproof"):
        _add_catalogue(catalogue)


def _load_numpy_alone() -> None:
    """Load numpy with one thread if the address space is limited, and refuse one that is too small.

    OpenBLAS reserves memory for a thread per core; if it gets none, it ends the process with the
    status of a FAIL.
    """
    with contextlib.suppress(ImportError):  # Windows
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return
        if limit < _LEAST_MEMORY:
            raise CouldNotMeasure(
                f"only {limit >> 10} kB of virtual memory are allowed: set the limit to"
                f" {_LEAST_MEMORY >> 10} kB or more (ulimit -v)."
            )
        # only here: the programs that we start choose their own threads
        with variable_set("OPENBLAS_NUM_THREADS", "1"):
            import_module("numpy")


def _add_catalogue(given: str | None) -> None:
    """Add the rows of the site's folder, and list them. Raises ``BadInput``."""
    from wireproof.catalogue import catalogue_folder, use_catalogue

    folder = catalogue_folder(given, os.environ)
    rows = use_catalogue(folder) if folder is not None else {}
    if rows:
        counts = ", ".join(f"{number} [[{head}]]" for head, number in rows.items())
        remark(f"the catalogue {folder} adds {counts}.")


def root() -> click.Context:
    """Return a new context of ``wireproof`` itself.

    A subcommand keeps the help option of the first context that uses it, so all code that describes
    subcommands starts with this context.
    """
    return click.Context(subcommands, info_name="wireproof", **subcommands.context_settings)
