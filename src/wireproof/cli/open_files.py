"""Descriptors of this process: how many it may have, and those of its own streams."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wireproof.workflow.target.target import Target

__all__ = ["allow_files", "descriptor"]


def allow_files(target: Target) -> None:
    """Three pipes for each watched host: a soft limit of 1024 files would end at 300 hosts."""
    wanted = 4 * len(target.hosts) + 64
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def descriptor(stream: object) -> int | None:
    """The number behind ``sys.stdout`` or ``sys.stderr``; None when there is none."""
    try:
        return int(stream.fileno())  # type: ignore[attr-defined]
    except (OSError, ValueError, AttributeError):
        return None
