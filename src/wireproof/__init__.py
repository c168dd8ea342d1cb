"""wireproof proves what an HPC interconnect does.

``audit``, ``check``, ``compare``, ``measure``, ``prove``, ``judge``, ``ladder``, ``lint``,
``locate``, ``report``, ``study``, ``plan_footprint``, ``tune_try`` and others correspond to the
subcommands with these names, and return the document that ``--json`` prints. They are imported on
first use, so that ``import wireproof`` is fast. See docs/python.md.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wireproof.lint.job import lint
    from wireproof.logs.job import judge
    from wireproof.model.errors import BadInput, CouldNotMeasure, WireproofError
    from wireproof.plan.job import plan_footprint, plan_pfc, plan_scale, plan_validate
    from wireproof.report.reporter import LoggingReporter, Reporter
    from wireproof.watch.prove import prove
    from wireproof.workflow.api import (
        audit,
        check,
        compare,
        locate,
        measure,
        report,
        tune_apply,
        tune_confirm,
        tune_plan,
        tune_revert,
        tune_status,
    )
    from wireproof.workflow.experiments import ladder, measure_gain, study, tune_try

    __version__: str

__all__ = [
    "BadInput",
    "CouldNotMeasure",
    "LoggingReporter",
    "Reporter",
    "WireproofError",
    "__version__",
    "audit",
    "check",
    "compare",
    "judge",
    "ladder",
    "lint",
    "locate",
    "measure",
    "measure_gain",
    "plan_footprint",
    "plan_pfc",
    "plan_scale",
    "plan_validate",
    "prove",
    "report",
    "study",
    "tune_apply",
    "tune_confirm",
    "tune_plan",
    "tune_revert",
    "tune_status",
    "tune_try",
]

_HOMES = {
    "BadInput": "model.errors",
    "CouldNotMeasure": "model.errors",
    "LoggingReporter": "report.reporter",
    "Reporter": "report.reporter",
    "WireproofError": "model.errors",
    "audit": "workflow.api",
    "check": "workflow.api",
    "compare": "workflow.api",
    "judge": "logs.job",
    "ladder": "workflow.experiments",
    "lint": "lint.job",
    "locate": "workflow.api",
    "measure": "workflow.api",
    "measure_gain": "workflow.experiments",
    "plan_footprint": "plan.job",
    "plan_pfc": "plan.job",
    "plan_scale": "plan.job",
    "plan_validate": "plan.job",
    "prove": "watch.prove",
    "report": "workflow.api",
    "study": "workflow.experiments",
    "tune_apply": "workflow.api",
    "tune_confirm": "workflow.api",
    "tune_plan": "workflow.api",
    "tune_revert": "workflow.api",
    "tune_status": "workflow.api",
    "tune_try": "workflow.experiments",
}
"""The modules that define the public names."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from wireproof.version import version

        return version()
    if name not in _HOMES:
        raise AttributeError(f"module 'wireproof' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"wireproof.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """A module that keeps its functions ``audit``, ``lint``, ``locate`` and ``report``: the import
    system would otherwise replace them by the packages with these names on import.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
