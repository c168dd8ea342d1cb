"""``wireproof ladder``: at which layer between the wire and the job is time or rate lost?"""

from wireproof.workflow.ladder.launched import LadderSpecification, ModelStep, methods_of
from wireproof.workflow.ladder.run import plan_ladder, run_ladder

__all__ = [
    "LadderSpecification",
    "ModelStep",
    "methods_of",
    "plan_ladder",
    "run_ladder",
]
