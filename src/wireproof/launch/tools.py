"""Where the system's tools are."""

from __future__ import annotations

import os
import shutil

__all__ = ["find_tool"]

_SBIN = "/usr/local/sbin:/usr/sbin:/sbin"


def find_tool(name: str) -> str | None:
    """``ip`` and ``tc`` are in /usr/sbin, which is not on every user's PATH."""
    return shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:{_SBIN}")
