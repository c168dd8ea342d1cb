"""What works on this machine: capabilities, and the MPIs and transports that answer."""

from __future__ import annotations

import msgspec

from wireproof.instrument.answers import Answer, try_mpis, try_transport
from wireproof.probes.machine import Machine, look
from wireproof.workflow.reporter import Reporter

__all__ = ["Diagnosis", "diagnose"]


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof doctor --json`` prints. ``transports`` is empty when nothing was started."""

    machine: Machine
    transports: list[Answer]

    @property
    def works(self) -> bool:
        """At least one transport answered."""
        return any(answer.works for answer in self.transports)


def diagnose(reporter: Reporter, *, start: bool = True) -> Diagnosis:
    """Look at the machine; ``start``: also start each MPI that is found, with two ranks for a
    moment.
    """
    machine = look()
    if not start:
        return Diagnosis(machine=machine, transports=[])
    reporter.say("trying the transports and every MPI that is found; some seconds each")
    answers = [*(try_transport(kind) for kind in ("null", "tcp")), *try_mpis()]
    return Diagnosis(machine=machine, transports=answers)
