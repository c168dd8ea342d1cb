"""The outcome of one file that was to be judged, and of all files so far."""

import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec

from wireproof.model.claim import LinkClaim
from wireproof.model.errors import Problem
from wireproof.model.finding import Verdict, worst
from wireproof.model.psm3 import JudgedStatistics, Statistics
from wireproof.report.documents.judgement import totals
from wireproof.report.json.judgement import JudgedSeries, JudgementDocument, JudgementEnd
from wireproof.workflow.judge_statistics import claimed_wire, judged_jobs

Rendered = TypeVar("Rendered")
_NO_LOG = re.compile(
    r"(readme|licen[cs]e|copying|changelog|makefile|authors|notice)(\.\w+)?$"
    r"|\.(md|rst|html?|pdf|png|jpe?g|gif|svg|ico|py|sh|bash|sbatch|slurm|cc?|cpp|h|hpp|toml|ya?ml"
    r"|ini|cfg|conf|xml|ods|xlsx|docx|pptx|parquet|s?o|a|gz|xz|bz2|zst|zip|tar|tgz|rpm|deb)$",
    re.IGNORECASE,
)


def may_be_log(name: str) -> bool:
    """Return whether a file without a result may be a job's log: its name is not that of a
    document, picture, program or archive. A log without a result must never be skipped.
    """
    return _NO_LOG.search(os.path.basename(name)) is None


@dataclass(slots=True)
class JudgedFile(Generic[Rendered]):
    """The outcome of one file: its series as the caller wants them and their verdicts, or why there
    are none. ``statistics``: PSM3 counters of one process, judged with those of its job.
    ``passed_over``: why the file holds nothing to judge, which is no error. ``no_log``: the error
    is that the file is no log, by its name or bytes (a README, a picture). ``bug``: the error is a
    defect of wireproof.
    """

    file: str
    series: list[Rendered] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    statistics: Statistics | None = None
    passed_over: str = ""
    error: str = ""
    no_log: bool = False
    bug: bool = False


@dataclass(slots=True)
class Tally:
    """Verdicts, errors and bugs of the files so far.

    ``named``: files given by name; other files that are no logs are only counted.
    """

    named: frozenset[str] = frozenset()
    skipped: list[str] = field(default_factory=list)
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    errors: list[Problem] = field(default_factory=list)
    statistics: list[Statistics] = field(default_factory=list)
    bugs: int = 0

    def add(self, result: JudgedFile[Any]) -> None:
        """Add the outcome of one file."""
        self.verdicts.update(result.verdicts)
        self.bugs += result.bug
        if result.statistics is not None:
            self.statistics.append(result.statistics)
        if result.no_log and result.file not in self.named:
            self.skipped.append(result.file)
        elif result.error:
            self.errors.append(Problem(file=result.file, message=result.error))

    def jobs(self, link: LinkClaim | None) -> list[JudgedStatistics]:
        """Judge the statistics of each job together and count their verdicts."""
        judged = judged_jobs(self.statistics, claimed_wire(link))
        self.verdicts.update(job.verdict for job in judged)
        return judged

    @property
    def worst(self) -> Verdict:
        """Return the worst verdict of all series and jobs; a file that could not be judged makes it
        inconclusive.
        """
        unread: list[Verdict] = ["inconclusive"] if self.errors or not self.verdicts else []
        return worst([*self.verdicts, *unread])

    def total(self, files: int) -> str:
        """Return one sentence over all files."""
        what = "series or jobs" if self.statistics else "series"
        skipped = len(self.skipped)
        return totals(self.verdicts, files, len(self.errors), what, skipped=skipped)

    def document(self, series: Iterable[JudgedSeries], link: LinkClaim | None) -> JudgementDocument:
        """Return the whole document; consumes ``series`` before computing its end."""
        found = list(series)
        ending = msgspec.structs.asdict(self.ending(link))
        return JudgementDocument(
            schema="wireproof.judgement", version=1, link=link, series=found, **ending
        )

    def ending(self, link: LinkClaim | None) -> JudgementEnd:
        """Return the end of the document after all files are judged."""
        jobs = self.jobs(link)
        return JudgementEnd(statistics=jobs, verdict=self.worst, errors=self.errors)
