"""What one invocation of the benchmark has at hand: the MPIs, a scratch folder, how long, how to
say what goes on.
"""

from __future__ import annotations

import dataclasses
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.contest import Contest
from benchmarks.row import NotRun, Row, Sense
from wireproof.launch.engines import MpiInstall
from wireproof.launch.mpi.discovery import choose_mpi, find_mpis
from wireproof.model.errors import CouldNotMeasure, WireproofError

__all__ = [
    "Setting",
    "add_share",
    "binomial",
    "compiler_of",
    "find_intel",
    "label_of",
    "least_trials",
    "other_mpis",
]

ROOT = Path(__file__).resolve().parent.parent
INTEL_VARIABLE = "WIREPROOF_TEST_IMPI"
SLICE_S = 30.0
"""A contest's turn in the time that is left over."""


@dataclasses.dataclass(kw_only=True)
class Setting:
    """``rounds``: comparisons of each rival. ``full``: the suites' own defaults too, however long
    they take.

    ``until``: no new round of the part under way after this (time.monotonic): a busy machine gets
    fewer comparisons.
    """

    scratch: Path
    until: float = math.inf
    rounds: int
    lab_rounds: int
    full: bool = False
    osu_home: str = ""
    contests: list[Contest] = dataclasses.field(default_factory=list)
    rows: list[Row] = dataclasses.field(default_factory=list)
    not_run: list[NotRun] = dataclasses.field(default_factory=list)
    say: Callable[[str], None] = lambda line: print(f"bench: {line}", file=sys.stderr, flush=True)

    def add(self, *found: Row | NotRun) -> None:
        for one in found:
            if isinstance(one, Row):
                self.rows.append(one)
            else:
                self.not_run.append(one)

    def skip(
        self, group: str, title: str, error: WireproofError | str, *, required: bool = True
    ) -> None:
        self.add(NotRun(group=group, title=title, reason=str(error), required=required))

    def hold(self, contest: Contest, until: float) -> None:
        """A contest's first time; ``finish`` gives it what others have left over."""
        contest.advance(self.say, until)
        self.contests.append(contest)

    def finish(self, until: float) -> None:
        """What is still open goes on by turns."""
        while time.monotonic() < until:
            left = [contest for contest in self.contests if not contest.settled]
            if not left:
                break
            for number, contest in enumerate(left):
                slice_s = (until - time.monotonic()) / (len(left) - number)
                self._go_on(contest, time.monotonic() + min(SLICE_S, slice_s))

    def _go_on(self, contest: Contest, until: float) -> None:
        try:
            contest.advance(self.say, until)
        except WireproofError as error:
            self.say(f"{contest.group}: {error}")
            contest.rounds = 0  # what was found until then stands

    def tell(self) -> None:
        """Every contest's rows."""
        for contest in self.contests:
            self.add(*contest.rows())
        self.contests.clear()

    def share(self, part: float) -> float:
        """The moment at which ``part`` of what is left of the time will be over."""
        now = time.monotonic()
        return now + part * max(0.0, self.until - now)

    def file(self, name: str, text: str) -> Path:
        path = self.scratch / name
        path.write_text(text, encoding="ascii")
        return path


def find_intel() -> MpiInstall:
    """Intel MPI with the IMB programs, as ``tools/setup test`` installs it. Raises
    ``CouldNotMeasure``.
    """
    given = os.environ.get(INTEL_VARIABLE)
    folder = Path(given) if given else ROOT / ".deps" / "impi"
    if not (folder / "bin" / "IMB-P2P").is_file():
        raise CouldNotMeasure(
            f"no IMB-P2P in {folder}/bin: run `make test` once, or set {INTEL_VARIABLE}"
        )
    return choose_mpi(str(folder))


def label_of(install: MpiInstall) -> str:
    """Short name for a table."""
    return install.version.replace("(R) MPI Library", " MPI") or install.family


def other_mpis() -> list[MpiInstall]:
    """Every MPI of this machine that is not Intel's and can be used, one of each version."""
    found: dict[str, MpiInstall] = {}
    for install in find_mpis():
        if not install.problem and install.family != "intel":
            found.setdefault(label_of(install), install)
    return list(found.values())


def compiler_of(install: MpiInstall, embedded: Path = Path(sys.prefix) / "bin") -> Path:
    """The compiler wrapper for a plain loop on ``install``; Intel's wheel has none, but takes the
    standard ABI.
    """
    if install.family == "intel":
        return embedded / "mpicc_abi"
    names = {"mpich": ("mpicc.mpich", "mpicc"), "openmpi": ("mpicc.openmpi", "mpicc")}[
        install.family
    ]
    folder = install.launcher.parent
    return next((folder / name for name in names if (folder / name).is_file()), folder / names[-1])


_Z = 1.96
MOST_TRIALS = 100_000


def binomial(hits: float, trials: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    share = hits / trials
    centre = (share + _Z**2 / (2 * trials)) / (1 + _Z**2 / trials)
    half = (
        _Z * (share * (1 - share) / trials + _Z**2 / (4 * trials**2)) ** 0.5 / (1 + _Z**2 / trials)
    )
    return max(0.0, centre - half), min(1.0, centre + half)


def least_trials(hits: int, trials: int, target: float, sense: Sense) -> int:
    """How many trials of this share decide that it keeps the target; 0 where these do, or where the
    share itself does not keep it.
    """
    share = hits / trials
    if sense == "within" or (share < target if sense == "at least" else share > target):
        return 0
    for number in range(trials, MOST_TRIALS):
        low, high = binomial(share * number, number)
        if low >= target if sense == "at least" else high <= target:
            return 0 if number == trials else number
    return 0


def add_share(
    setting: Setting,
    group: str,
    title: str,
    hits: int,
    trials: int,
    target: float,
    sense: Sense,
    note: str = "",
) -> None:
    """Adds how often something happened, with its interval; without a trial, that it was not
    run.
    """
    if not trials:
        setting.skip(group, title, "no time was left for it")
        return
    low, high = binomial(hits, trials)
    if needed := least_trials(hits, trials, target, sense):
        note = "; ".join(filter(None, (note, f"{needed} such trials would decide it")))
    setting.add(
        Row(
            group=group,
            title=title,
            unit="share",
            quantity="share",
            value=hits / trials,
            low=low,
            high=high,
            target=target,
            sense=sense,
            pairs=trials,
            note=note,
        )
    )
