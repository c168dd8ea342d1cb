"""``wireproof.check``, ``.measure``, ``.locate``, ``.report``, ``.tune_plan`` and others: the
functions that Python programs call.

Options are written as on the command line; their names, types and defaults are those of the same
table. ``WIREPROOF_*`` variables and ``wireproof.toml`` have no effect here.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import msgspec

from wireproof.archive.compare import compare as run_compare
from wireproof.audit.job import AuditSpecification
from wireproof.audit.job import audit as run_audit
from wireproof.launch.mpi.environment import own_environment
from wireproof.locate.document import LocateDocument
from wireproof.measure.job import measure as run_measure
from wireproof.measure.report import report as run_report
from wireproof.measure.session import Storage
from wireproof.measure.specification import (
    CheckSpecification,
    MeasureSpecification,
)
from wireproof.model.history import Comparison
from wireproof.model.setting import Audit
from wireproof.model.setting import Profile as SettingsProfile
from wireproof.model.tuning import Tuned, TunePlan
from wireproof.options.resolve import SETTINGS, resolve
from wireproof.options.row import as_path, refuse_unknown, yes_no
from wireproof.options.table import ROWS, Profile
from wireproof.options.table import Options as Asked
from wireproof.report.json.result import ResultDocument
from wireproof.report.reporter import LoggingReporter, Reporter
from wireproof.target import Target, this_machine
from wireproof.target.resolve import resolve_target
from wireproof.tune.job import apply, confirm, may_be_touched, revert, status
from wireproof.tune.node import JournalPlace
from wireproof.tune.plan import PlanSpecification, plan
from wireproof.workflow.check import check as run_check
from wireproof.workflow.locate import locate as run_locate

P = ParamSpec("P")
T = TypeVar("T")
_EVERYWHERE = tuple(name for name, row in ROWS.items() if row.group in ("target", "link"))
_SHARED = ("budget", "deadline", "seed", "repeat", "out", "resume", "model", "environment")
_CHECK = ("topology", "criteria", "rounds", "all_pairs", "audit", "model_faults")
MEASURE = tuple(
    name
    for name, row in ROWS.items()
    if row.group == "measure" and name not in ("gain", "psm_statistics")
)
_DEFAULTS: dict[str, Any] = {
    **{name: row.default for name, row in ROWS.items()},
    "environment": None,
    "audit": True,
    "model_faults": (),
}


def with_options(*names: str, **more: Any) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Give a function the keywords ``names`` and the common keywords: the options of the groups
    target and link, ``budget``, ``out`` ..., those in ``more`` with their defaults, and
    ``environment``, the variables in which wireproof looks for an allocation (default: those of
    this process).

    The function's signature shows these keywords, with defaults from the table of options. An
    unknown keyword raises TypeError.
    """
    defaults = {**{name: _DEFAULTS[name] for name in (*_EVERYWHERE, *_SHARED, *names)}, **more}
    known = tuple(defaults)
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default)
        for name, default in defaults.items()
    ]

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        whole = signature(function)
        named = [each for each in whole.parameters.values() if each.kind != each.VAR_KEYWORD]

        @functools.wraps(function)
        def call(*arguments: P.args, **given: P.kwargs) -> T:
            refuse_unknown(given, (*known, *(each.name for each in named)))
            return function(*arguments, **{**more, **given})

        vars(call)["__signature__"] = whole.replace(parameters=[*named, *options])
        return call

    return decorate


@with_options()
def audit(
    *only: str,
    profile: SettingsProfile = "throughput",
    source: Path | str | None = None,
    snapshot: Path | str | None = None,
    site: Path | str | None = None,
    against: str = "",
    reporter: Reporter | None = None,
    **options: Any,
) -> Audit:
    """Read the settings that a fabric depends on, and report those that are wrong on the hosts, on
    this machine alone, or in ``source`` (a snapshot, a folder with a host's files, a sosreport).

    ``only``: settings by name; default: all. ``site``: a TOML file with the site's decisions.
    ``against``: a golden host, a snapshot or a result to compare the hosts with, instead of the
    catalogue. The result is the document that ``wireproof audit --json`` prints. Raises
    ``BadInput`` for options that cannot be used and ``CouldNotMeasure`` if no host responds.
    """
    specification = AuditSpecification(
        target=lone_target(options),
        profile=profile,
        source=as_path(source),
        snapshot=as_path(snapshot),
        site=as_path(site),
        against=against,
        only=only,
    )
    found = run_audit(specification, reporter or LoggingReporter(), environment_of(options))
    return msgspec.structs.replace(found, results=list(found.results))


@with_options(*_CHECK)
def check(
    *,
    profile: Profile = "quick",
    reporter: Reporter | None = None,
    **options: Any,
) -> list[ResultDocument]:
    """Measure a set of hosts, or this machine alone; prove the paths, locate slow parts and judge
    the results.

    Return one document for each part, as ``wireproof check --json`` prints them: times in ns, sizes
    in bytes, rates in bytes per second unless a name says bits. Raises ``BadInput`` for options
    that cannot be used and ``CouldNotMeasure`` if nothing was measured; a bad verdict is not an
    error. ``reporter`` receives progress messages; the default is the logger ``wireproof``.
    """
    asked = resolved(options, profile=profile)
    specification = CheckSpecification.of(asked, storage_of(asked))
    result = run_check(specification, reporter or LoggingReporter(), environment_of(options))
    return result.documents()


@with_options(*MEASURE)
def measure(pattern: str, *, reporter: Reporter | None = None, **options: Any) -> ResultDocument:
    """Measure one pattern (``pingpong``, ``stream``, ``allreduce``, ...) over a range of sizes,
    prove the path that it used, and judge it.

    Return the document that ``wireproof measure --json`` prints; units and errors as for ``check``.
    """
    asked = resolved(options)
    specification = MeasureSpecification.of(asked, storage_of(asked), pattern=pattern)
    result = run_measure(specification, reporter or LoggingReporter(), environment_of(options))
    return result.documents()[0]


def locate(
    source: Path | str | None = None,
    *,
    topology: Path | str | None = None,
    world: Path | str | None = None,
    rounds: int | None = None,
) -> LocateDocument:
    """Find the node, port, link or switch that is slow, from earlier measurements.

    ``source``: the folder of a check, or a table of pairs (Parquet or CSV); or ``world``, a
    synthetic cluster (TOML) of which ``rounds`` are simulated. The result is the document that
    ``wireproof locate --json`` prints; nothing is measured. Raises ``BadInput`` for a source that
    cannot be read.
    """
    return run_locate(
        as_path(source), topology=as_path(topology), world=as_path(world), rounds=rounds
    )


def report(
    folder: Path | str, *, topology: Path | str | None = None, page: Path | str | None = None
) -> list[ResultDocument]:
    """Judge the stored result of a check or measurement again by the rules of this version.

    Return the documents that ``wireproof report --json`` prints, one for each part. ``topology``
    replaces the stored description of the fabric; ``page``: the path of the HTML report, None to
    write no report. Raises ``BadInput`` if the folder contains no result, or if the result is
    damaged or was written by a newer version.
    """
    (again,) = run_report(
        [Path(folder)],
        LoggingReporter(),
        page=as_path(page),
        pages=page is not None,
        topology=as_path(topology),
    )
    return again.documents()


def compare(a: Path | str, b: Path | str) -> Comparison:
    """Compare two stored results; return the document that ``wireproof compare --json`` prints.

    Raises ``BadInput`` if a folder contains no result, or if a result is damaged or was written by
    a newer version.
    """
    return run_compare(Path(a), Path(b), LoggingReporter())


def resolved(options: Mapping[str, Any], **more: str) -> Asked:
    """Return the options of a call, checked as on the command line."""
    given = {**options, **more, "model_fault": options.get("model_faults")}
    if "audit" in given:
        given["no_audit"] = not yes_no(str(given["audit"]))
    return resolve({name: _text(name, given[name]) for name in ROWS if name in given}, {})


def _text(name: str, value: object) -> object:
    """Return the value as text, if the option is parsed from text; None for the default."""
    if value == ROWS[name].default:
        return None
    if name not in SETTINGS or value is None:
        return value
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(str, value))
    return str(value)


def lone_target(options: Mapping[str, Any]) -> Asked:
    """Return the target given by the options; a single host is allowed. Raises ``BadInput``."""
    return dataclasses.replace(resolved(options), alone=True)


def storage_of(options: Asked) -> Storage:
    kept = options.out is not None or options.resume
    return Storage(folder=options.out, kept=kept, resume=options.resume)


def environment_of(options: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the environment in which wireproof looks for an allocation."""
    given = options.get("environment")
    return own_environment() if given is None else given


# --- ``tune_plan``, ``tune_apply``, ``tune_confirm``, ``tune_revert`` and ``tune_status``: they do
# not ask for confirmation.


@with_options()
def tune_plan(
    *asked: str,
    profile: SettingsProfile = "throughput",
    source: Path | str | None = None,
    root: Path | str | None = None,
    allow_link_down: bool = False,
    reporter: Reporter | None = None,
    **options: Any,
) -> TunePlan:
    """Return the changes that correct failing settings on the hosts, on this machine alone, or in
    ``source``.

    ``asked``: settings by name, ``SETTING=VALUE``, or a sysctl with its value; default: all
    settings that fail. ``root``: the folder that is used as / of this machine. Nothing is changed.
    Raises ``BadInput`` for an unknown setting and ``CouldNotMeasure`` if no host responds.
    """
    specification = PlanSpecification(
        target=lone_target(options),
        profile=profile,
        asked=asked,
        source=as_path(source),
        root=as_path(root),
        allow_link_down=allow_link_down,
    )
    return plan(specification, reporter or LoggingReporter(), environment_of(options))


@with_options()
def tune_apply(
    wanted: TunePlan,
    *,
    timeout_s: int = 600,
    root: Path | str | None = None,
    state: str = "",
    **options: Any,
) -> Tuned:
    """Carry out a plan on the hosts that it was made for, all or nothing on each.

    The changes are reverted automatically after ``timeout_s`` unless `tune_confirm` is called
    first.

    Hosts that must not be changed, or whose values have changed since the plan, stay unchanged and
    are named in the result. This changes only the running systems; BIOS settings can be changed
    only on the command line.
    """
    place = _place(root, state)
    target = _target(options, root)
    checked = may_be_touched(wanted, target, environment_of(options), place)
    return apply(checked, target, timeout_s=timeout_s, place=place)


@with_options()
def tune_confirm(
    name: str, *, root: Path | str | None = None, state: str = "", **options: Any
) -> Tuned:
    """Keep the change set ``name``: write its drop-in files and cancel its timer."""
    return confirm(_target(options, root), name, _place(root, state))


@with_options()
def tune_revert(
    name: str = "",
    *,
    force: bool = False,
    root: Path | str | None = None,
    state: str = "",
    **options: Any,
) -> Tuned:
    """Restore the old values, byte for byte.

    ``name`` "": the values of each host's newest set. ``force``: also restore values that others
    have changed since.
    """
    return revert(_target(options, root), name, _place(root, state), force=force)


@with_options()
def tune_status(
    name: str = "",
    *,
    root: Path | str | None = None,
    state: str = "",
    **options: Any,
) -> Tuned:
    """Return the change sets in force on each host, when each will be reverted, and the values that
    have changed since. Nothing is changed.
    """
    return status(_target(options, root), name, _place(root, state))


def _place(root: Path | str | None, state: str) -> JournalPlace:
    return JournalPlace(state=state, root=str(Path(root).absolute()) if root else "")


def _target(options: Mapping[str, Any], root: Path | str | None) -> Target:
    if root is not None:
        return this_machine()
    return resolve_target(lone_target(options), environment_of(options))
