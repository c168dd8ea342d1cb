"""What the jobs of wireproof are asked for: one frozen value for each, built once, by the command
line from its options and settings or by a Python caller.
"""

import dataclasses
from pathlib import Path
from typing import Any, Self

from wireproof.launch.schedulers.slurm_job import JobRequest
from wireproof.model.plan import ModelFault
from wireproof.settings.inputs import faults_of
from wireproof.settings.options import Options
from wireproof.workflow.resume import Invocation
from wireproof.workflow.session.session import Method, Storage
from wireproof.workflow.target.job import job_of
from wireproof.workflow.target.resolve import claimed_link, prefix_of


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Job(Options):
    """The options that were asked for, the means that they choose, and where the records go."""

    method: Method = dataclasses.field(default_factory=Method)
    storage: Storage = dataclasses.field(default_factory=Storage)

    @classmethod
    def of(cls, options: Options, storage: Storage, **more: Any) -> Self:
        """The job that the options ask for; ``more``: fields of its own. Raises ``BadInput``."""
        claimed_link(options)  # refused before a job is asked for, as a wrong prefix is
        prefix_of(options.prefix)
        method = more.pop("method", None) or Method.from_options(options)
        return cls(**{**vars(options), "method": method, "storage": storage, **more})


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckSpecification(_Job):
    """A check of some hosts, or of this machine. ``request``: a Slurm job to ask for, whose nodes
    are the hosts. ``faults``: of the model. ``until``: the moment (monotonic, s) after which no
    launch goes on. ``invocation``: what ``wireproof resume`` needs.
    """

    faults: tuple[ModelFault, ...] = ()
    request: JobRequest | None = None
    until: float | None = None
    invocation: Invocation | None = None

    @classmethod
    def of(cls, options: Options, storage: Storage, **more: Any) -> Self:
        own = {"faults": faults_of(options.model_fault), "request": job_of(options), **more}
        return super().of(options, storage, **own)

    @property
    def audit(self) -> bool:
        """Whether the hosts' settings are read, too."""
        return not (self.no_audit or self.prolog or self.method.plays_hosts)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeasureSpecification(_Job):
    """One pattern over a range of sizes; ``sizes`` empty: the pattern's own; ``form`` None: its
    default. ``ranks`` counts on this machine alone, ``ppn`` on each host.
    """

    pattern: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class LocateSpecification:
    """Where to look: ``source`` is a check's folder or a table of pairs, ``world`` a synthetic
    cluster (of which ``rounds`` are measured). One of the two.
    """

    source: Path | None = None
    world: Path | None = None
    topology: Path | None = None
    rounds: int | None = None
