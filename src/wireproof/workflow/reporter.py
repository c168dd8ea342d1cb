"""Receives what happens during a measurement; the workflow itself prints nothing."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from wireproof.model.plan import Plan
from wireproof.model.record import Frame

LOGGER = logging.getLogger("wireproof")
LOGGER.addHandler(logging.NullHandler())
"""Silent unless the calling program configures logging."""


class Reporter(Protocol):
    """What a workflow needs from its caller.

    The command line writes to stderr; the Python API writes to a logger.
    """

    def say(self, text: str) -> None:
        """Report something worth knowing, in one sentence."""

    def warn(self, text: str) -> None:
        """Report something that was left out or failed while the rest goes on."""

    def progress(self, plan: Plan, title: str) -> AbstractContextManager[Callable[[Frame], None]]:
        """Return a context that shows the frames of ``plan``'s run one by one."""

    def interruption(self) -> str:
        """Return the signal that ended the measurement, such as ``SIGTERM``, or ""."""


class LoggingReporter:
    """Writes to the logger ``wireproof``, without progress and signals."""

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
    """Passes on only warnings, for experiments with many launches."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter

    def say(self, text: str) -> None:
        """Ignore the sentence."""

    def warn(self, text: str) -> None:
        self._reporter.warn(text)

    def progress(self, plan: Plan, title: str) -> AbstractContextManager[Callable[[Frame], None]]:
        return nullcontext(_ignore)

    def interruption(self) -> str:
        return self._reporter.interruption()


def _ignore(_frame: Frame) -> None:
    """Ignore the frame."""
