"""``tune try``: does a setting help here?"""

from wireproof.workflow.tune.trial.run import run_trial
from wireproof.workflow.tune.trial.specification import TrialSpecification

__all__ = ["TrialSpecification", "run_trial"]
