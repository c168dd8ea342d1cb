"""Turn located culprits into findings of their run. Pure."""

from wireproof.verdict.located.findings import with_located
from wireproof.verdict.located.issues import blame_sentence, located_issues

__all__ = ["blame_sentence", "located_issues", "with_located"]
