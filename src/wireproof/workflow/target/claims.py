"""Claims of a wire where there is none to claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.model.errors import BadInput

if TYPE_CHECKING:
    from wireproof.workflow.specification import CheckSpecification, MeasureSpecification
    from wireproof.workflow.target.target import Target

__all__ = ["refuse_lone_claims"]


def refuse_lone_claims(wanted: CheckSpecification | MeasureSpecification, target: Target) -> None:
    """Raise ``BadInput`` for a NIC or a link that was given for this run, and no hosts: it would
    be ignored, and a typing error with it. The model and the null transport have no hosts.
    """
    if target.hosts or wanted.method.plays_hosts or wanted.method.transport == "null":
        return
    if wanted.target.claims:
        raise BadInput(
            f"{' and '.join(wanted.target.claims)} says what is between two hosts, and no hosts"
            " are given: add --hosts A,B, or leave it out to measure this machine alone."
        )
