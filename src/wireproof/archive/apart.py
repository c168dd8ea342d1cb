"""Run a function in a separate process, which has a deadline, releases its memory when it ends, and
limits the damage if a library crashes on a damaged file.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection

from wireproof.files.programs import variable_set
from wireproof.model.errors import BadInput, CouldNotMeasure, WireproofError
from wireproof.model.site import CatalogueFile, site_studies, site_texts, use_site
from wireproof.report.reporter import sentence

_DONE, _FAILED, _BAD = b"+", b"-", b"!"


def apart(job: Callable[..., bytes], *given: object, seconds: float) -> bytes:
    """Return what ``job``, a module-level function, returns for ``given``.

    Raises ``CouldNotMeasure`` if ``job`` fails, crashes, or has not finished after ``seconds``, and
    ``BadInput`` if ``job`` raises it.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(
        target=_run, args=(theirs, job, given, (site_texts(), site_studies())), daemon=True
    )
    # Python would import modules of the current folder instead of its library: -c puts it first.
    with _without_interrupt(), variable_set("PYTHONSAFEPATH", "1"):
        process.start()
    try:
        theirs.close()
        return _answer(ours, time.monotonic() + seconds, seconds)
    finally:
        process.kill()
        process.join()
        ours.close()


def _answer(pipe: Connection, until: float, seconds: float) -> bytes:
    try:
        if not pipe.poll(max(0.0, until - time.monotonic())):
            raise CouldNotMeasure(f"it did not finish within {seconds:.0f} s and was stopped.")
        kind, answer = pipe.recv_bytes(), pipe.recv_bytes()
    except (EOFError, OSError) as error:
        raise CouldNotMeasure("its process was killed, perhaps because memory ran out.") from error
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
    # DuckDB assumes an interactive process, and would write a progress bar into our data.
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
    with contextlib.suppress(OSError):  # the parent process no longer waits
        pipe.send_bytes(kind)
        pipe.send_bytes(answer)


@contextlib.contextmanager
def _without_interrupt() -> Iterator[None]:
    """Prevent a new process from receiving a Ctrl-C that is meant for this process."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
