"""What goes wrong with a BMC, in one sentence without its end."""

from __future__ import annotations

from wireproof.model.errors import CouldNotMeasure

__all__ = ["BmcFailed"]


class BmcFailed(CouldNotMeasure):
    """The BMC did not answer, refused, or answered what is no Redfish. The text names its address
    and never holds the password.
    """
