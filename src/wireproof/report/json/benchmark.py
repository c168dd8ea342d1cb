"""Benchmarks of other projects as JSON: their commands and the results."""

import msgspec

from wireproof.model.finding import Proof, Verdict
from wireproof.model.plan import Point
from wireproof.model.psm3 import JudgedStatistics
from wireproof.model.series import Role
from wireproof.model.traffic import Traffic, TrafficVerdict
from wireproof.report.json.judgement import JudgedSeries


class RecipeDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof run --list --json`` prints for one recipe."""

    tool: str
    program: str
    benchmark: str
    why: str


class StepDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One command. ``line``: the command to paste into a shell."""

    role: Role
    host: str
    argv: list[str]
    environment: dict[str, str]
    unset: list[str]
    line: str


class PreparedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof run --dry-run --json`` prints. ``files``: the texts of files to create, by
    name.
    """

    title: str
    tool: str
    benchmark: str
    why: str
    program: str | None
    mpi: str
    steps: list[StepDocument]
    files: dict[str, str]
    root_steps: list[str]
    notes: list[str]


class BenchmarkDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof run --json`` prints."""

    verdict: Verdict
    proof: Proof
    recipe: PreparedDocument
    seconds: float
    path: TrafficVerdict
    traffic: Traffic
    series: list[JudgedSeries]
    statistics: JudgedStatistics | None = None


class DryRunDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The first launch of a check: how often it is repeated, and what it measures."""

    argv: list[str]
    environment: dict[str, str]
    launches: int
    hosts: list[str]
    points: list[Point]
    at_most_s: float
