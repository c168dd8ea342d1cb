"""Command lines as people write them: shell and batch scripts, pasted sessions, numbered recipes.
Pure, linear, total.

``commands`` gives every simple command of a recipe, wrappers first and then what they start: of
``pdsh -w c1 ping -c 3 n2`` the command ``pdsh …`` and the command ``ping -c 3 n2``.
"""

from wireproof.lint.shell.command import (
    LAUNCHERS,
    Command,
    Edit,
    Heredoc,
    Redirect,
    Word,
    at_word,
    broken,
    corrected,
    edited,
    heredocs,
    launched,
    lines_inside,
    whole_number,
)
from wireproof.lint.shell.read import Segment, commands, segments

__all__ = ["LAUNCHERS", "Command", "Edit", "Heredoc", "Redirect", "Segment", "Word", "at_word"]
__all__ += ["broken", "commands", "corrected", "edited", "heredocs", "launched", "lines_inside"]
__all__ += ["segments", "whole_number"]
