"""Collect the PSM3 statistics files of a command, and judge the files of each job together."""

import contextlib
import dataclasses
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from wireproof.files.held import held_folder
from wireproof.files.hostile import read_bounded
from wireproof.logs.document import totals
from wireproof.logs.json import JudgedSeries, JudgementDocument
from wireproof.model import gathered
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput, CouldNotMeasure, Problem
from wireproof.model.finding import Verdict, rank, worst
from wireproof.model.psm3 import JudgedStatistics, Statistics
from wireproof.model.traffic import Traffic
from wireproof.report.names import clean

if TYPE_CHECKING:
    from wireproof.report.judged_run import JudgedRun
    from wireproof.target import Target


def claimed_wire(link: LinkClaim | None) -> bool | None:
    """Return whether ``link`` is a wire; None if nothing is claimed."""
    return None if link is None else link.protocol not in ("shm", "loopback")


def judged_jobs(files: Iterable[Statistics], wire: bool | None) -> list[JudgedStatistics]:
    """Judge each job: the files with the same job key or, if they have no key, the files of one
    folder.
    """
    jobs = gathered((file.job or str(PurePath(file.source).parent), file) for file in files)
    if not jobs:
        return []
    from wireproof.logs.psm3.verdict import judge_statistics

    return [judge_statistics(job, wire=wire) for job in jobs.values()]


def with_statistics(section: "JudgedRun", files: tuple[Statistics, ...] | None) -> "JudgedRun":
    """Add to ``section`` the findings and the verdict of PSM3's counters; None: they were not
    requested. The path of each point is proven by the ports alone.
    """
    if files is None:
        return section
    from wireproof.logs.psm3.verdict import judge_statistics

    wire = section.run.claim.wire or None
    judged = [judge_statistics(launch, wire=wire) for launch in _launches(files) or [[]]]
    added = [finding for job in judged for finding in job.findings]
    findings = [*section.judgement.findings, *added]
    judgement = msgspec.structs.replace(
        section.judgement,
        findings=sorted(findings, key=lambda finding: rank(finding.severity)),
        verdict=worst([section.judgement.verdict, *(job.verdict for job in judged)]),
    )
    return dataclasses.replace(section, judgement=judgement, statistics=files)


def _launches(files: Iterable[Statistics]) -> list[list[Statistics]]:
    """Return the files of each launch of a measurement.

    Launches run one after another, so the first file of each rank belongs to the first launch.
    Without an MPI the files have no job key.
    """
    ranks = gathered((file.who, file) for file in files)
    ordered = [sorted(group, key=lambda file: file.pid or 0) for group in ranks.values()]
    most = max(map(len, ordered), default=0)
    return [[group[i] for group in ordered if i < len(group)] for i in range(most)]


# --- PSM3's counters of a command under proof: written into a private folder, read, removed,
# and compared with the ports.

_LARGEST = 4 << 20
_MOST_FILES = 20_000


@contextlib.contextmanager
def statistics_folder(*, asked: bool) -> Iterator[tuple[Path | None, dict[str, str]]]:
    """Yield a private folder in the working directory, because on a cluster other hosts see it too,
    and the variables that make PSM3 write into it; (None, {}) if ``asked`` is False.

    The files contain the environment of every rank, so only the user can read the folder; it is
    removed with its contents.
    """
    if not asked:
        yield None, {}
        return
    try:
        with held_folder(Path.cwd()):  # the owner could exchange the folder
            folder = Path(tempfile.mkdtemp(prefix="wireproof-psm3-", dir=Path.cwd()))
    except OSError as error:
        raise CouldNotMeasure(
            f"no folder for PSM3's statistics can be created in {Path.cwd()} ({error.strerror}):"
            " run in a writable folder that all hosts see."
        ) from error
    try:
        yield folder, {"PSM3_PRINT_STATS": "-1", "PSM3_PRINT_STATS_PREFIX": f"{folder}/"}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def collected(folder: Path) -> tuple[list[Statistics], list[str]]:
    """Read every statistics file in ``folder``, in the order of the names; also return a sentence
    for each file that could not be read.
    """
    from wireproof.logs.psm3 import is_help, is_statistics
    from wireproof.logs.psm3.statistics import statistics

    files: list[Statistics] = []
    refused: list[str] = []
    for name in sorted(os.listdir(folder))[:_MOST_FILES]:
        try:
            data = read_bounded(folder / name, _LARGEST, follow=False)
            if not is_help(data) and is_statistics(data):
                files.append(statistics(data, name))
        except BadInput as error:
            refused.append(clean(error, 300))
        except OSError as error:
            refused.append(f"{clean(name, 120)}: {error.strerror}")
    return files, refused


def held_against_ports(
    files: Sequence[Statistics], traffic: Traffic, target: "Target"
) -> JudgedStatistics:
    """Compare the counters with the ports."""
    from wireproof.logs.psm3.verdict import judge_statistics

    pauses: dict[str, int] = {}
    for host in traffic.hosts:
        for name, count in host.pauses.items():
            pauses[name] = pauses.get(name, 0) + count
    return judge_statistics(
        files,
        wire=claimed_wire(target.link) if target.wire else None,
        pauses=pauses,
        traffic=traffic,
    )


# --- The outcome of each judged file, and of all files so far.


Rendered = TypeVar("Rendered")
_NO_LOG = re.compile(
    r"(readme|licen[cs]e|copying|changelog|makefile|authors|notice)(\.\w+)?$"
    r"|\.(md|rst|html?|pdf|png|jpe?g|gif|svg|ico|py|sh|bash|sbatch|slurm|cc?|cpp|h|hpp|toml|ya?ml"
    r"|ini|cfg|conf|xml|ods|xlsx|docx|pptx|parquet|s?o|a|gz|xz|bz2|zst|zip|tar|tgz|rpm|deb)$",
    re.IGNORECASE,
)


def may_be_log(name: str) -> bool:
    """Return whether a file without a result may be a job's log, because its name does not belong
    to a document, picture, program or archive. A log without a result must never be skipped.
    """
    return _NO_LOG.search(os.path.basename(name)) is None


@dataclass(slots=True)
class JudgedFile(Generic[Rendered]):
    """The outcome of one file: its rendered series and their verdicts, or the reason for having
    none. ``statistics``: PSM3 counters of one process, judged with those of its job.
    ``passed_over``: the reason why the file contains nothing to judge, which is not an error.
    ``no_log``: the error is that the file is not a log, judging by its name or content (a README, a
    picture). ``bug``: the error is a defect in wireproof.
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

    ``named``: files given by name; other files that are not logs are only counted.
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
        """Return a one-sentence summary of all files."""
        what = "series or jobs" if self.statistics else "series"
        skipped = len(self.skipped)
        return totals(self.verdicts, files, len(self.errors), what, skipped=skipped)

    def document(self, series: Iterable[JudgedSeries], link: LinkClaim | None) -> JudgementDocument:
        """Return the whole document; ``series`` is consumed before the end of the document is
        computed.
        """
        found, jobs = list(series), self.jobs(link)
        return JudgementDocument(
            schema="wireproof.judgement",
            version=1,
            link=link,
            series=found,
            statistics=jobs,
            verdict=self.worst,
            errors=self.errors,
        )
