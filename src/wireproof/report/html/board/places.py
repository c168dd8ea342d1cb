"""The files that the pages of a history are in: all in one folder, named by what they show."""

from __future__ import annotations

import hashlib
import re

__all__ = ["CLUSTER", "NODES", "RESULTS", "STYLE", "TRENDS", "file_of", "is_plain", "numbered"]

CLUSTER, NODES, RESULTS, TRENDS = "index.html", "nodes.html", "results.html", "trends.html"
STYLE = "style.css"
_PLAIN = re.compile(r"[a-z0-9][a-z0-9.-]{0,79}", re.ASCII)


def is_plain(name: str) -> bool:
    """Whether a name is part of a file name as it is, on file systems without upper case, too."""
    return _PLAIN.fullmatch(name) is not None


def file_of(kind: str, name: str) -> str:
    """The page of a node, run, set or comparison. A name that is no plain one is hashed: nothing of
    it becomes a path.
    """
    word = name if is_plain(name) else f"_{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    return f"{kind}-{word}.html"


def numbered(page: str, number: int) -> str:
    """``nodes.html``, ``nodes-2.html``, ...: page ``number`` (from 1) of a long list."""
    return page if number < 2 else page.replace(".html", f"-{number}.html")
