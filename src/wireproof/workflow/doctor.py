"""What works on this machine: capabilities, and the MPIs and transports that answer."""

from __future__ import annotations

from wireproof.instrument.answers import try_mpis, try_transport
from wireproof.model.diagnosis import Diagnosis
from wireproof.probes.machine import look
from wireproof.workflow.reporter import Reporter

__all__ = ["diagnose"]


def diagnose(reporter: Reporter, *, start: bool = True) -> Diagnosis:
    """Look at the machine; ``start``: also start each MPI that is found, with two ranks for a
    moment.
    """
    machine = look()
    if not start:
        return Diagnosis(machine=machine, transports=[])
    reporter.say("trying the transports and every MPI that is found; some seconds each")
    answers = [*(try_transport(kind) for kind in ("null", "tcp", "ofi")), *try_mpis()]
    return Diagnosis(machine=machine, transports=answers)
