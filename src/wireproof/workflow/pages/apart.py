"""Work in a process of its own: it has a deadline, its memory goes with it, and a library that dies
of a damaged file takes nothing else with it.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection

from wireproof.model.errors import BadInput, CouldNotMeasure, WireproofError
from wireproof.model.site import CatalogueFile, site_studies, site_texts, use_site
from wireproof.workflow.bug import sentence

_DONE, _FAILED, _BAD = b"+", b"-", b"!"


def apart(job: Callable[..., bytes], *given: object, seconds: float) -> bytes:
    """What ``job``, a function of a module, returns for ``given``. Raises ``CouldNotMeasure`` with
    its sentence when it fails, dies, or has not ended after ``seconds``, and ``BadInput`` as it
    does.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(
        target=_run, args=(theirs, job, given, (site_texts(), site_studies())), daemon=True
    )
    try:
        with _without_interrupt(), _without_current_folder():
            process.start()
        theirs.close()
        return _answer(ours, time.monotonic() + seconds, seconds)
    finally:
        process.kill()
        process.join()
        ours.close()


def _answer(pipe: Connection, until: float, seconds: float) -> bytes:
    try:
        if not pipe.poll(max(0.0, until - time.monotonic())):
            raise CouldNotMeasure(f"it has not ended after {seconds:.0f} s, and was stopped.")
        kind, answer = pipe.recv_bytes(), pipe.recv_bytes()
    except (EOFError, OSError) as error:
        raise CouldNotMeasure(
            "the process that did it was killed, perhaps for want of memory."
        ) from error
    if kind == _BAD:
        raise BadInput(answer.decode())
    if kind == _FAILED:
        raise CouldNotMeasure(answer.decode())
    return answer


def _run(
    pipe: Connection,
    job: Callable[..., bytes],
    given: tuple[object, ...],
    site: tuple[tuple[CatalogueFile, ...], tuple[CatalogueFile, ...]],
) -> None:
    use_site(*site)
    # DuckDB takes such a process for one at a terminal, and draws a bar where our data goes.
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)
    try:
        kind, answer = _DONE, job(*given)
    except BadInput as error:
        kind, answer = _BAD, str(error).encode("utf-8", "replace")
    except WireproofError as error:
        kind, answer = _FAILED, str(error).encode("utf-8", "replace")
    except Exception as error:
        kind, answer = _FAILED, sentence(error).encode("utf-8", "replace")
    with contextlib.suppress(OSError):  # nobody waits for it any more
        pipe.send_bytes(kind)
        pipe.send_bytes(answer)


@contextlib.contextmanager
def _without_current_folder() -> Iterator[None]:
    """A Python that is started here takes no module of the current folder for one of its library's
    (``-c`` puts that folder first).
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


@contextlib.contextmanager
def _without_interrupt() -> Iterator[None]:
    """A process that is started here does not hear the Ctrl-C that is meant for us."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
