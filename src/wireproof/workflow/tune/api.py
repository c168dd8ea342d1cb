"""``wireproof.tune_plan``, ``tune_apply``, ``tune_confirm``, ``tune_revert`` and ``tune_status``.

Options are written as on the command line. These functions do not ask for confirmation.
"""

from pathlib import Path
from typing import Unpack

from wireproof.model.setting import Profile
from wireproof.model.tuning import Tuned, TunePlan
from wireproof.settings.row import as_path
from wireproof.workflow.api import CommonOptions, check_names, environment_of, lone_target
from wireproof.workflow.reporter import LoggingReporter, Reporter
from wireproof.workflow.target.resolve import resolve_target
from wireproof.workflow.target.target import Target, this_machine
from wireproof.workflow.tune.apply import apply, confirm, may_be_touched, revert, status
from wireproof.workflow.tune.node import JournalPlace
from wireproof.workflow.tune.plan import PlanSpecification, plan


def tune_plan(
    *asked: str,
    profile: Profile = "throughput",
    source: Path | str | None = None,
    root: Path | str | None = None,
    allow_link_down: bool = False,
    reporter: Reporter | None = None,
    **options: Unpack[CommonOptions],
) -> TunePlan:
    """Return the changes that correct failing settings on the hosts, on this machine alone, or in
    ``source``.

    ``asked``: settings by name, ``SETTING=VALUE``, or a sysctl with its value; without them all
    settings that fail. ``root``: files of this machine below that folder. Nothing is changed.
    Raises ``BadInput`` for an unknown setting and ``CouldNotMeasure`` if no host responds.
    """
    check_names(options, CommonOptions.__annotations__)
    specification = PlanSpecification(
        target=lone_target(options),
        profile=profile,
        asked=asked,
        source=as_path(source),
        root=as_path(root),
        allow_link_down=allow_link_down,
    )
    return plan(specification, reporter or LoggingReporter(), environment_of(options))


def tune_apply(
    wanted: TunePlan,
    *,
    timeout_s: int = 600,
    root: Path | str | None = None,
    state: str = "",
    **options: Unpack[CommonOptions],
) -> Tuned:
    """Carry out a plan on the hosts that it was made for, all or nothing on each.

    It reverts by itself after ``timeout_s`` unless `tune_confirm` is called first.

    Hosts that may not be changed, or whose values have changed since the plan, are left alone and
    named in the result. This changes the running systems only; only the command line changes the
    BIOS.
    """
    place = _place(root, state)
    target = _target(options, root)
    checked = may_be_touched(wanted, target, environment_of(options), place)
    return apply(checked, target, timeout_s=timeout_s, place=place)


def tune_confirm(
    name: str, *, root: Path | str | None = None, state: str = "", **options: Unpack[CommonOptions]
) -> Tuned:
    """Keep the change set ``name``: its drop-in files are written and its timer is cancelled."""
    return confirm(_target(options, root), name, _place(root, state))


def tune_revert(
    name: str = "",
    *,
    force: bool = False,
    root: Path | str | None = None,
    state: str = "",
    **options: Unpack[CommonOptions],
) -> Tuned:
    """Restore the old values, byte for byte.

    ``name`` "": those of each host's newest set. ``force``: also values that others have changed
    since.
    """
    return revert(_target(options, root), name, _place(root, state), force=force)


def tune_status(
    name: str = "",
    *,
    root: Path | str | None = None,
    state: str = "",
    **options: Unpack[CommonOptions],
) -> Tuned:
    """Return what is applied where, until when, and what has changed since; nothing is changed."""
    return status(_target(options, root), name, _place(root, state))


def _place(root: Path | str | None, state: str) -> JournalPlace:
    return JournalPlace(state=state, root=str(Path(root).absolute()) if root else "")


def _target(options: CommonOptions, root: Path | str | None) -> Target:
    check_names(options, CommonOptions.__annotations__)
    if root is not None:
        return this_machine()
    return resolve_target(lone_target(options), environment_of(options))
