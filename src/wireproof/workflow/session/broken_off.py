"""The reason why a measurement was ended from outside: a signal, or the end of the job that it runs
in.
"""

from __future__ import annotations

import msgspec

from wireproof.instrument.measure import Outcome
from wireproof.model.document import Ended, missing_code
from wireproof.model.errors import WireproofError
from wireproof.model.record import EngineError
from wireproof.workflow.target.target import Target

__all__ = ["named"]

_OWN_BUSINESS = ("done", "mismatch", "bad-frame", "disk-full")
"""Endings that the end of a job does not explain."""
_FOLLOWED = ("-lost", "-gone", "interrupted")
"""Codes by which ranks tell of what the end of their job has brought upon them."""


def named(outcome: Outcome, target: Target, signals: list[str]) -> Outcome:
    """The outcome with the reason that the scheduler gives, where its job has ended; else with the
    signal's name.
    """
    if outcome.ending.ended in _OWN_BUSINESS:
        return outcome
    if why := _job_end(target):
        return _ended(outcome, why)
    if signals and outcome.ending.ended == "interrupted":
        return _ended(outcome, f"{signals[0]} ended the run")
    return outcome


def _job_end(target: Target) -> str:
    """Why the Slurm job does not run any more, with those of its nodes that are gone; "" while it
    runs.
    """
    job = target.allocation
    if job is None or job.scheduler != "slurm" or not job.job:
        return ""
    from wireproof.launch.schedulers.slurm_job import job_ended
    from wireproof.workflow.target.availability import absent

    try:
        why = job_ended(job.job, target.through())
        gone = absent(target, tuple(range(target.size))) if why else {}
    except WireproofError:  # a controller that is gone, too: what the launcher said has to do
        return ""
    return "; ".join(dict.fromkeys([why.rstrip("."), *list(gone.values())[:4]])) if why else ""


def _ended(outcome: Outcome, why: str) -> Outcome:
    """``interrupted`` (or not started), nobody to blame: what was said of hosts came from the end
    of the job.
    """
    before = outcome.ending.reason
    errors = [one for one in outcome.run.errors if not one.code.endswith(_FOLLOWED)]
    # such as a job of yesterday's variables
    nothing = outcome.ending.ended == "not-started" and not outcome.run.points
    ended: Ended = "not-started" if nothing else "interrupted"
    code = missing_code(ended)
    missing = {
        point: msgspec.structs.replace(one, code=code, text=why)
        if before in ("", one.text)
        else one
        for point, one in outcome.run.missing.items()
    }
    ending = msgspec.structs.replace(outcome.ending, ended=ended, reason=why, lost={})
    run = msgspec.structs.replace(
        outcome.run, missing=missing, errors=[EngineError(code="broken-off", message=why), *errors]
    )
    return msgspec.structs.replace(outcome, ending=ending, run=run)
