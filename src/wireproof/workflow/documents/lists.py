"""Documents that are lists, each a separate type."""

import msgspec

from wireproof.lint.rule import Rule
from wireproof.model.claim import LinkClaim
from wireproof.model.finding import Verdict, worst
from wireproof.model.history import Entry, NodeAge, Regression, Trend
from wireproof.model.setting import AuditResult, Setting
from wireproof.model.topology import LabStatus
from wireproof.report.documents.benchmark import RecipeDocument
from wireproof.report.json.result import ResultDocument
from wireproof.verdict.catalogue import CatalogueEntry


class Explanations(msgspec.Struct, frozen=True, kw_only=True):
    """The entries of the catalogues for a code; without a code all findings."""

    findings: list[CatalogueEntry] = msgspec.field(default_factory=list)
    rules: list[Rule] = msgspec.field(default_factory=list)
    settings: list[Setting] = msgspec.field(default_factory=list)


class HistoryResults(msgspec.Struct, frozen=True, kw_only=True):
    """Results, oldest first."""

    results: list[Entry]


class HistoryTrend(msgspec.Struct, frozen=True, kw_only=True):
    """Each number over time, and the newest result compared with the good results before it."""

    trends: list[Trend]
    regressions: list[Regression]

    @property
    def verdict(self) -> Verdict | None:
        """Return ``fail`` if a number is worse, None if there was nothing to compare with."""
        if not self.regressions:
            return None
        return "fail" if any(row.worse for row in self.regressions) else "pass"


class HistoryNodes(msgspec.Struct, frozen=True, kw_only=True):
    """When each node was last proven, longest ago first."""

    nodes: list[NodeAge]


class Labs(msgspec.Struct, frozen=True, kw_only=True):
    """The virtual clusters of this user."""

    labs: list[LabStatus]


class Links(msgspec.Struct, frozen=True, kw_only=True):
    """The links that ``--link`` knows."""

    links: list[LinkClaim]


class LintRules(msgspec.Struct, frozen=True, kw_only=True):
    """All rules of lint."""

    rules: list[Rule]


class Recipes(msgspec.Struct, frozen=True, kw_only=True):
    """The benchmarks that ``wireproof run`` has a recipe for."""

    recipes: list[RecipeDocument]


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a result with several parts, each a complete ``wireproof.result``."""

    parts: list[ResultDocument]

    @property
    def verdict(self) -> Verdict:
        """Return the worst verdict of all parts."""
        return worst([part.verdict for part in self.parts])


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Entries of the catalogue of settings; ``results``: what was read of them here, if
    requested.
    """

    settings: list[Setting]
    results: list[AuditResult] = msgspec.field(default_factory=list)


class TuneExport(msgspec.Struct, frozen=True, kw_only=True):
    """A plan as files of another tool. ``texts``: the text for each set of hosts."""

    form: str
    texts: dict[str, str]
