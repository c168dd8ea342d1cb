"""Documents that are lists: each with a name of its own for what is in it."""

import msgspec

from wireproof.lint.rule import Rule
from wireproof.model.claim import LinkClaim
from wireproof.model.finding import Verdict, worst
from wireproof.model.history import Entry, NodeAge, Regression, Trend
from wireproof.model.setting import AuditResult, Setting
from wireproof.model.topology import LabStatus
from wireproof.report.json.benchmark import RecipeDocument
from wireproof.report.json.result import ResultDocument
from wireproof.verdict.catalogue import CatalogueEntry


class Explanations(msgspec.Struct, frozen=True, kw_only=True):
    """What the catalogues have under a code; without a code: all findings."""

    findings: list[CatalogueEntry] = msgspec.field(default_factory=list)
    rules: list[Rule] = msgspec.field(default_factory=list)
    settings: list[Setting] = msgspec.field(default_factory=list)


class HistoryResults(msgspec.Struct, frozen=True, kw_only=True):
    """Results, oldest first."""

    results: list[Entry]


class HistoryTrend(msgspec.Struct, frozen=True, kw_only=True):
    """Each number over time, and the newest result against the good ones before it."""

    trends: list[Trend]
    regressions: list[Regression]

    @property
    def verdict(self) -> Verdict | None:
        """``fail``: something is worse; None: there was nothing to compare with."""
        if not self.regressions:
            return None
        return "fail" if any(one.worse for one in self.regressions) else "pass"


class HistoryNodes(msgspec.Struct, frozen=True, kw_only=True):
    """When each node was last proven, the longest ago first."""

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
    """The parts of a result, each a whole ``wireproof.result``, where there are several."""

    parts: list[ResultDocument]

    @property
    def verdict(self) -> Verdict:
        """The worst of all parts."""
        return worst([one.verdict for one in self.parts])


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Entries of the catalogue of settings; ``results``: what was read of them here, where that
    was asked for.
    """

    settings: list[Setting]
    results: list[AuditResult] = msgspec.field(default_factory=list)


class TuneExport(msgspec.Struct, frozen=True, kw_only=True):
    """A plan as files of another tool. ``texts``: the text for each set of hosts."""

    form: str
    texts: dict[str, str]
