"""Runs any command with a proof of the path that its bytes took."""

from wireproof.workflow.prove.command import (
    INTERRUPTED,
    ProofSpecification,
    ProvedCommand,
    prove_command,
)
from wireproof.workflow.prove.hosts import Companion
from wireproof.workflow.prove.specification import ProofOptions, prove, specification

__all__ = [
    "INTERRUPTED",
    "Companion",
    "ProofOptions",
    "ProofSpecification",
    "ProvedCommand",
    "prove",
    "prove_command",
    "specification",
]
