"""What each job is asked to do: one frozen value per job, built once from the options and settings
of the command line or by a Python caller.
"""

import dataclasses
from typing import Any, Self

from wireproof.launch.schedulers.slurm_job import JobRequest
from wireproof.model.plan import ModelFault
from wireproof.settings.options import Options
from wireproof.settings.resolve import faults_of
from wireproof.workflow.resume import Invocation
from wireproof.workflow.session import Method, Storage
from wireproof.workflow.target.job import job_of
from wireproof.workflow.target.resolve import claimed_link, prefix_of


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Job(Options):
    """The options of a job, the method that follows from them, and where the records go."""

    method: Method = dataclasses.field(default_factory=Method)
    storage: Storage = dataclasses.field(default_factory=Storage)

    @classmethod
    def of(cls, options: Options, storage: Storage, **more: Any) -> Self:
        """Build the job that the options ask for; ``more`` sets further fields.

        Raises ``BadInput``.
        """
        claimed_link(options)  # a wrong link or prefix is refused before a job is requested
        prefix_of(options.prefix)
        method = more.pop("method", None) or Method.from_options(options)
        return cls(**{**vars(options), "method": method, "storage": storage, **more})


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckSpecification(_Job):
    """A check of several hosts, or of this machine.

    ``request``: a Slurm job to request, whose nodes are the hosts. ``faults``: of the model.
    ``until``: the time (monotonic, s) after which no launch continues. ``invocation``: what
    ``wireproof resume`` needs.
    """

    faults: tuple[ModelFault, ...] = ()
    request: JobRequest | None = None
    until: float | None = None
    invocation: Invocation | None = None

    @classmethod
    def of(cls, options: Options, storage: Storage, **more: Any) -> Self:
        fields = {"faults": faults_of(options.model_fault), "request": job_of(options), **more}
        return super().of(options, storage, **fields)

    @property
    def audit(self) -> bool:
        """Return whether the hosts' settings are read as well."""
        return not (self.no_audit or self.prolog or self.method.plays_hosts)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeasureSpecification(_Job):
    """One pattern over a range of sizes.

    Without ``sizes`` the pattern's default sizes are used, without ``form`` its default form.
    ``ranks`` applies to this machine alone, ``ppn`` to each host.
    """

    pattern: str = ""
