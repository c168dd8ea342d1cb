"""From suspects to culprits: the confirm stage's samples, taken alone against known-good partners."""

from __future__ import annotations

from wireproof.locate.criteria import Criteria
from wireproof.locate.samples import Samples
from wireproof.locate.screen import Screened
from wireproof.model.fabric import Fabric
from wireproof.model.located import Located

__all__ = ["conclude"]


def conclude(
    screened: Screened, confirm: Samples | None, fabric: Fabric | None = None, criteria: Criteria | None = None
) -> Located:
    """Exact blame. Without ``confirm`` the screen's own conclusion stands, and nothing is called confirmed."""
    return screened.located
