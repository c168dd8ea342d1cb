"""Facts of the firmware beside those of the operating system."""

import dataclasses
from collections.abc import Sequence

from wireproof.instrument.facts import Collected
from wireproof.model.bmc import Bmc
from wireproof.workflow.reporter import Reporter


def with_firmware(
    answers: Sequence[Collected], bmcs: Sequence[Bmc], reporter: Reporter
) -> list[Collected]:
    """``answers`` with what the BMC of each host says; one that fails says why as a fact."""
    if not bmcs:
        return list(answers)
    from wireproof.bmc.collect import collect_firmware  # with its TLS: few ask a BMC

    many = f"{len(bmcs)} BMCs" if len(bmcs) > 1 else f"the BMC of {bmcs[0].host}"
    unchecked = ", whose certificates are not checked" if bmcs[0].insecure else ""
    reporter.say(f"reading the firmware's settings from {many}{unchecked}")
    found = collect_firmware(bmcs)
    return [
        dataclasses.replace(one, frames=(*one.frames, *found.get(one.host, ()))) for one in answers
    ]
