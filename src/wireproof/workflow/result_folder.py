"""The folder that a job's records and page are written to: private to the current user."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from wireproof.files.held import make_folder
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.resume import how_to_go_on
from wireproof.workflow.session.session import Storage


@contextlib.contextmanager
def result_folder(storage: Storage, name: str, reporter: Reporter) -> Iterator[Path]:
    """Yield the folder of a job: that of ``storage``, or a new folder named after ``name``.

    If nothing is to be kept, it is a temporary folder, removed at the end of the block.

    An empty folder is removed. Raises ``BadInput`` if the folder is not empty, unless the run in it
    is resumed.
    """
    if not storage.kept:
        with tempfile.TemporaryDirectory(prefix="wireproof-") as scratch:
            try:
                yield Path(scratch)
            except KeyboardInterrupt:
                reporter.warn("nothing is kept: give --out to keep what is measured.")
                raise
        return
    out = _opened(storage, name, reporter)
    try:
        yield out
    except KeyboardInterrupt:
        if any(out.iterdir()):
            reporter.warn(f"what was measured is kept in {out}; {how_to_go_on(out)}.")
        raise
    finally:
        with contextlib.suppress(OSError):
            out.rmdir()


def _opened(storage: Storage, name: str, reporter: Reporter) -> Path:
    out = storage.folder
    if out is None:
        if storage.resume:
            raise BadInput("--resume needs the --out folder of the run to continue.")
        out = Path(f"wireproof-{name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}")
    try:
        if out.exists() and not storage.resume and any(out.iterdir()):
            raise BadInput(
                f"the folder {out} is not empty: give another --out, or --resume to continue the"
                " run in it."
            )
        _private(out, reporter, change=storage.may_change_mode)
    except (NotADirectoryError, FileExistsError) as error:
        raise BadInput(f"{out} is not a folder: give another --out.") from error
    except OSError as error:
        raise CouldNotMeasure(
            f"the folder {out} cannot be made: {error.strerror}. Give another --out."
        ) from error
    return out


def _private(out: Path, reporter: Reporter, *, change: bool) -> None:
    """Create the folder, or take over an existing folder of ours, with mode 0700.

    Raises ``BadInput`` if it belongs to another user.

    Anyone who can write into it could plant links that our records would be written through. With
    ``change`` False the mode of an existing folder is not changed (a settings file in the current
    folder named it), and a folder that is open to others is refused.
    """
    make_folder(out, 0o700)
    folder = os.open(out, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        status = os.fstat(folder)
        if status.st_uid != os.geteuid():
            raise BadInput(
                f"the folder {out} belongs to the user with the ID {status.st_uid}: give another"
                " --out."
            )
        if status.st_mode & 0o077 and not change:
            raise BadInput(
                f"the folder {out} is open to others: give it with --out, or make it yours (chmod"
                " 700)."
            )
        if status.st_mode & 0o077:
            os.fchmod(folder, 0o700)
            mode = f"{stat.S_IMODE(status.st_mode):04o}"
            reporter.say(f"the folder {out} was open to others (mode {mode}); now it is 0700")
    finally:
        os.close(folder)
