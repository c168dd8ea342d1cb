"""Adds facts of the firmware to those of the operating system."""

import dataclasses
from collections.abc import Sequence

from wireproof.instrument.facts import Collected
from wireproof.model.bmc import Bmc
from wireproof.workflow.reporter import Reporter


def with_firmware(
    answers: Sequence[Collected], bmcs: Sequence[Bmc], reporter: Reporter
) -> list[Collected]:
    """Return ``answers`` with the facts of each host's BMC; a BMC that fails adds the reason as a
    fact.
    """
    if not bmcs:
        return list(answers)
    from wireproof.bmc.collect import collect_firmware  # imports TLS, which few calls need

    many = f"{len(bmcs)} BMCs" if len(bmcs) > 1 else f"the BMC of {bmcs[0].host}"
    unchecked = ", whose certificates are not checked" if bmcs[0].insecure else ""
    reporter.say(f"reading the firmware's settings from {many}{unchecked}")
    frames_of = collect_firmware(bmcs)
    return [
        dataclasses.replace(answer, frames=(*answer.frames, *frames_of.get(answer.host, ())))
        for answer in answers
    ]
