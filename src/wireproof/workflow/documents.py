"""Every document that a subcommand prints with ``--json``: the list of their names, versions and
types.

A document is a struct of one of these types; :func:`in_envelope` puts the header in front of its
members. Within a version of a document members are only ever added.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from wireproof.lint.rule import Rule
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput, Problem, suggestion
from wireproof.model.finding import Verdict, worst
from wireproof.model.history import Entry, NodeAge, Regression, Trend
from wireproof.model.setting import AuditResult, Setting
from wireproof.model.topology import LabStatus
from wireproof.report.gate import KIND as GATE
from wireproof.report.json import Kind, enveloped, json_schema
from wireproof.report.json.result import ResultDocument
from wireproof.verdict.catalogue import CatalogueEntry
from wireproof.watch.benchmark_document import RecipeDocument
from wireproof.watch.document import KIND as PROOF

__all__ = ["KINDS", "in_envelope", "kind_called", "kind_of", "schema_called"]


class HistoryTrend(msgspec.Struct, frozen=True, kw_only=True):
    """Each number over time, and the newest result compared with the good results before it.
    ``changed``: the conditions that differ from those of the last good result.
    """

    trends: list[Trend]
    regressions: list[Regression]
    changed: list[str] = msgspec.field(default_factory=list)

    @property
    def verdict(self) -> Verdict | None:
        """Return ``fail`` if a number is worse, None if there was nothing to compare with."""
        if not self.regressions:
            return None
        return "fail" if any(row.worse for row in self.regressions) else "pass"


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a result with several parts, each a complete ``wireproof.result``."""

    parts: list[ResultDocument]

    @property
    def verdict(self) -> Verdict:
        """Return the worst verdict of all parts."""
        return worst([part.verdict for part in self.parts])


# --- Documents that consist of a named list.


def _listing(name: str, about: str, *fields: Any) -> type[msgspec.Struct]:
    return msgspec.defstruct(
        name, fields, frozen=True, kw_only=True, module=__name__, namespace={"__doc__": about}
    )


Explanations = _listing(
    "Explanations",
    "The entries of the catalogues for a code; without a code all findings.",
    ("findings", list[CatalogueEntry], msgspec.field(default_factory=list)),
    ("rules", list[Rule], msgspec.field(default_factory=list)),
    ("settings", list[Setting], msgspec.field(default_factory=list)),
)
HistoryResults = _listing("HistoryResults", "Results, oldest first.", ("results", list[Entry]))
HistoryNodes = _listing(
    "HistoryNodes", "When each node was last proven, longest ago first.", ("nodes", list[NodeAge])
)
Labs = _listing("Labs", "The virtual clusters of this user.", ("labs", list[LabStatus]))
Links = _listing("Links", "The links that ``--link`` knows.", ("links", list[LinkClaim]))
LintRules = _listing("LintRules", "All rules of lint.", ("rules", list[Rule]))
Recipes = _listing(
    "Recipes",
    "The benchmarks that ``wireproof run`` has a recipe for.",
    ("recipes", list[RecipeDocument]),
)
Settings = _listing(
    "Settings",
    "Entries of the catalogue of settings; ``results``: the values that were read on this"
    " machine, if requested.",
    ("settings", list[Setting]),
    ("results", list[AuditResult], msgspec.field(default_factory=list)),
)
TuneExport = _listing(
    "TuneExport",
    "A plan as files of another tool. ``texts``: the text for each set of hosts.",
    ("form", str),
    ("texts", dict[str, str]),
)


# --- All documents.


_LISTS = "wireproof.workflow.documents"

KINDS: tuple[Kind, ...] = (
    Kind("wireproof.atlas", 1, "wireproof.model.atlas:AtlasView", "atlas"),
    Kind("wireproof.audit", 1, "wireproof.model.setting:Audit", "audit"),
    Kind(
        "wireproof.benchmark",
        1,
        "wireproof.watch.benchmark_document:BenchmarkDocument",
        "run TOOL",
    ),
    Kind(
        "wireproof.benchmark-plan",
        1,
        "wireproof.watch.benchmark_document:PreparedDocument",
        "run TOOL --dry-run",
    ),
    Kind("wireproof.comparison", 1, "wireproof.model.history:Comparison", "compare"),
    Kind("wireproof.conversion", 1, "wireproof.model.quantity:Converted", "convert"),
    Kind("wireproof.diagnosis", 1, "wireproof.model.diagnosis:Diagnosis", "doctor"),
    Kind("wireproof.dossier", 1, "wireproof.model.dossier:Verification", "dossier verify"),
    Kind(
        "wireproof.dry-run",
        1,
        "wireproof.measure.session.dry_run:DryRunDocument",
        "check --dry-run",
    ),
    Kind("wireproof.error", 1, "wireproof.model.errors:Failure", "every command without a result"),
    Kind(
        "wireproof.experiment-plan",
        1,
        "wireproof.model.experiment:ExperimentPlan",
        "tune try, study, ladder and measure --gain with --dry-run",
    ),
    Kind("wireproof.explanations", 1, f"{_LISTS}:Explanations", "explain"),
    GATE,
    Kind("wireproof.history", 1, f"{_LISTS}:HistoryResults", "history list"),
    Kind("wireproof.history-nodes", 1, f"{_LISTS}:HistoryNodes", "history nodes"),
    Kind("wireproof.history-trend", 1, f"{_LISTS}:HistoryTrend", "history trend"),
    Kind(
        "wireproof.judgement",
        1,
        "wireproof.logs.json:JudgementDocument",
        "judge, history show of a log",
    ),
    Kind("wireproof.labs", 1, f"{_LISTS}:Labs", "lab status"),
    Kind("wireproof.ladder", 1, "wireproof.experiment.ladder:Ladder", "ladder"),
    Kind("wireproof.links", 1, f"{_LISTS}:Links", "convert --links"),
    Kind("wireproof.lint", 1, "wireproof.model.finding:LintReport", "lint"),
    Kind("wireproof.lint-rules", 1, f"{_LISTS}:LintRules", "lint --rules"),
    Kind("wireproof.location", 1, "wireproof.locate.document:LocateDocument", "locate"),
    Kind("wireproof.pfc-report", 1, "wireproof.pfc:PfcReport", "pfc"),
    Kind(
        "wireproof.plan-footprint",
        1,
        "wireproof.plan:Footprint",
        "plan footprint",
    ),
    Kind("wireproof.plan-pfc", 1, "wireproof.plan:Pfc", "plan pfc"),
    Kind("wireproof.plan-scale", 1, "wireproof.plan:Scale", "plan scale"),
    Kind(
        "wireproof.plan-validate",
        1,
        "wireproof.plan:Validation",
        "plan validate",
    ),
    PROOF,
    Kind(
        "wireproof.providers", 1, "wireproof.model.diagnosis:ProviderReport", "doctor --providers"
    ),
    Kind("wireproof.rails", 1, "wireproof.model.experiment:RailGain", "measure --gain"),
    Kind("wireproof.recipes", 1, f"{_LISTS}:Recipes", "run --list"),
    Kind(
        "wireproof.result",
        2,
        "wireproof.report.json.result:ResultDocument",
        "check, measure, resume, report, history show",
    ),
    Kind(
        "wireproof.results",
        1,
        f"{_LISTS}:Results",
        "demo, and the others if a result has several parts",
    ),
    Kind("wireproof.scaling", 1, "wireproof.model.history:Scaling", "compare --against"),
    Kind("wireproof.settings", 1, f"{_LISTS}:Settings", "audit --list, audit --explain"),
    Kind("wireproof.study", 1, "wireproof.experiment.study:Study", "study"),
    Kind("wireproof.trial", 1, "wireproof.model.experiment:TryResult", "tune try"),
    Kind("wireproof.tune-export", 1, f"{_LISTS}:TuneExport", "tune export"),
    Kind("wireproof.tune-plan", 1, "wireproof.model.tuning:TunePlan", "tune plan"),
    Kind("wireproof.tune-residue", 1, "wireproof.model.tuning:Residue", "tune residue"),
    Kind(
        "wireproof.tuned",
        1,
        "wireproof.model.tuning:Tuned",
        "tune apply, tune confirm, tune revert, tune status",
    ),
)

_BY_TYPE = {kind.type: kind for kind in KINDS}
_BY_NAME = {kind.schema: kind for kind in KINDS}


def kind_of(value: object) -> Kind:
    """Return the kind of a document. Raises TypeError for any other value, which is a defect in
    wireproof.
    """
    type_ = type(value)
    kind = _BY_TYPE.get(f"{type_.__module__}:{type_.__qualname__}")
    if kind is None:
        raise TypeError(f"{type_.__name__} is not a document: workflow/documents has no such type")
    return kind


def in_envelope(value: object, problems: Sequence[Problem] = ()) -> msgspec.Struct:
    """Return ``value``, whose type is in ``KINDS``, with its header.

    ``problems``: errors that did not end the command.
    """
    return enveloped(kind_of(value), value, problems)


def kind_called(name: str) -> Kind:
    """Return the kind of documents whose ``schema`` is ``name``, with or without ``wireproof.``.

    Raises ``BadInput`` with a similar name.
    """
    whole = name if name.startswith("wireproof.") else f"wireproof.{name}"
    if whole not in _BY_NAME:
        hint = suggestion(whole, _BY_NAME, "`wireproof help --schema` lists them.")
        raise BadInput(f"there is no document {name[:60]!r}; {hint}")
    return _BY_NAME[whole]


def schema_called(name: str) -> dict[str, Any]:
    """Return the JSON Schema of the documents called ``name``."""
    return json_schema(kind_called(name))
