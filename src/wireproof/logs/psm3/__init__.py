# pure
"""The output of PSM3 and PSM2 about themselves: identify lines, settings, statistics files, parsed
from text. This module recognises their files; the other modules read them.
"""

import re

LOOKED_AT = 1 << 20
_HEAD = re.compile(rb"^ {0,16}delta_t +rx_user_bytes +rx_user_num ", re.M)
_SIGNS = (b"MPI_Statistics_Summary", b"PSM_low-level_protocol_stats", b"PSM3_PRINT_STATS=")
_BEGINNINGS = (b"Time Delta ", b"PSM3_", b"FI_PSM3_", b"cmdline:")
"""The beginning of a statistics file. A job's log that only quotes a statistics file is a log."""
_HELP = re.compile(rb"^[\w./-]{3,80}, Mask 0x[0-9a-f]{1,8}:", re.M)


def is_table(head: bytes) -> bool:
    """Return True if the text begins like a table of ``PSM2_MQ_PRINT_STATS`` or
    ``PSM3_MQ_PRINT_STATS``.
    """
    return _HEAD.search(head[:4096]) is not None


def is_help(data: bytes) -> bool:
    """Return True for the explanations that ``PSM3_PRINT_STATS_HELP=1`` writes beside the
    statistics.
    """
    head = data[:LOOKED_AT]
    return _HELP.search(head[:4096]) is not None and b"Time Delta" not in head


def is_statistics(data: bytes) -> bool:
    """Return True if ``data`` looks like a statistics file of PSM3 or PSM2, whole or torn."""
    head = data[:LOOKED_AT]
    if is_help(data):
        return False
    if head.startswith(b"cmdline:") and b"\nenviron:" in head[:65536]:
        return True
    begins = head.lstrip().startswith(_BEGINNINGS)
    block = b"Time Delta " in head and any(sign in head for sign in _SIGNS)
    return (begins and block) or is_table(head)
