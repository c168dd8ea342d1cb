"""Who hears what happens while something is measured: the workflow itself prints nothing."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from wireproof.model.plan import Plan
from wireproof.model.record import Frame

LOGGER = logging.getLogger("wireproof")
LOGGER.addHandler(logging.NullHandler())
"""Silent unless the program that uses us configures logging."""


class Reporter(Protocol):
    """What a workflow needs of its caller. The command line writes to stderr; the Python API
    writes to a logger.
    """

    def say(self, text: str) -> None:
        """Something worth knowing, in one sentence."""

    def warn(self, text: str) -> None:
        """Something that was left out or did not work while the rest goes on."""

    def progress(self, plan: Plan, title: str) -> AbstractContextManager[Callable[[Frame], None]]:
        """A block in which the frames of ``plan``'s run are shown one by one."""

    def interruption(self) -> str:
        """The signal that ended the measurement, such as ``SIGTERM``; "" when none did."""


class LoggingReporter:
    """Writes to the logger ``wireproof`` and shows no progress; knows of no signal."""

    def say(self, text: str) -> None:
        LOGGER.info(text)

    def warn(self, text: str) -> None:
        LOGGER.warning(text)

    def progress(self, plan: Plan, title: str) -> AbstractContextManager[Callable[[Frame], None]]:
        LOGGER.info("%s: %d points", title, len(plan.points))
        return nullcontext(_ignore)

    def interruption(self) -> str:
        return ""


class Quiet:
    """For launches that are many: only what did not work is said."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter

    def say(self, text: str) -> None:
        """Nothing."""

    def warn(self, text: str) -> None:
        self._reporter.warn(text)

    def progress(self, plan: Plan, title: str) -> AbstractContextManager[Callable[[Frame], None]]:
        return nullcontext(_ignore)

    def interruption(self) -> str:
        return self._reporter.interruption()


def _ignore(_frame: Frame) -> None:
    """Progress that nobody sees."""
