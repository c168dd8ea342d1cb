"""What PSM3 and PSM2 print about themselves: identify lines, settings, statistics files. Text in,
values out.
"""

from wireproof.adapters.psm3.identify import identities, settings
from wireproof.adapters.psm3.readback import readback
from wireproof.adapters.psm3.statistics import is_help, is_statistics, statistics

__all__ = ["identities", "is_help", "is_statistics", "readback", "settings", "statistics"]
