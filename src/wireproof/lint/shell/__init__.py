"""Command lines as people write them: shell and batch scripts, pasted sessions, numbered recipes.
Pure, linear, total.

``commands`` gives every simple command of a recipe, wrappers first and then what they start: of
``pdsh -w c1 ping -c 3 n2`` the command ``pdsh …`` and the command ``ping -c 3 n2``.
"""

from wireproof.lint.shell.command import (
    Command,
    Edit,
    Heredoc,
    Redirect,
    Word,
    at_word,
    corrected,
    heredocs,
    lines_inside,
)
from wireproof.lint.shell.read import Segment, commands, segments

__all__ = [
    "Command",
    "Edit",
    "Heredoc",
    "Redirect",
    "Segment",
    "Word",
    "at_word",
    "commands",
    "corrected",
    "heredocs",
    "lines_inside",
    "segments",
]
