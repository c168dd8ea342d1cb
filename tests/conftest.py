"""Capabilities: a test says by a marker what it needs; where that is missing it is skipped, and the
skip names it.
"""

import ctypes.util
import faulthandler
import functools
import gc
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
pytest.register_assert_rewrite("tests.records")


def _engine_folder() -> Path:
    return Path(os.environ.get("WIREPROOF_ENGINE_DIR") or ROOT / "build" / "bin")


def _impi_root() -> Path | None:
    """Folder whose bin/ has Intel MPI's mpiexec."""
    given = os.environ.get("WIREPROOF_TEST_IMPI")
    for folder in [Path(given)] if given else [ROOT / ".deps" / "impi"]:
        if (folder / "bin" / "mpiexec").exists():
            return folder
    return None


def _missing_engine() -> str | None:
    folder = _engine_folder()
    return (
        None
        if (folder / "wireproof-engine.nompi").exists()
        else f"no wireproof-engine.nompi under {folder}: run `make engine`"
    )


def _missing_mpi() -> str | None:
    if importlib.util.find_spec("msgspec") is None:  # not the project's environment at all
        return f"{sys.executable} is not the project's environment: run `make test`"
    mpiexec = Path(sys.prefix) / "bin" / "mpiexec"
    return _missing_engine() if mpiexec.exists() else f"the mpich wheel's {mpiexec} is missing"


def _missing_program(program: str, package: str) -> str | None:
    return None if shutil.which(program) else f"{program} is not on PATH (Debian package {package})"


def _missing_netns() -> str | None:
    for program in ("ip", "tc", "unshare", "nsenter"):
        if not shutil.which(program):
            return f"{program} is not on PATH"
    flags = ["--net"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--net"]
    made = subprocess.run(
        ["unshare", *flags, "true"], capture_output=True, text=True, timeout=20, check=False
    )
    return (
        None
        if made.returncode == 0
        else f"network namespaces cannot be made here: {made.stderr.strip()}"
    )


def _missing_root() -> str | None:
    return None if os.geteuid() == 0 else "not root"


def _missing_intelmpi() -> str | None:
    return None if _impi_root() else "no Intel MPI in .deps/impi and none in $WIREPROOF_TEST_IMPI"


def _missing_browser() -> str | None:
    if importlib.util.find_spec("playwright") is None:
        return "the Python package playwright is not installed"
    return (
        None
        if shutil.which("chromium") or shutil.which("chromium-browser")
        else "no chromium on PATH"
    )


def _missing_slurm() -> str | None:
    for program, package in (
        ("munged", "munge"),
        ("slurmctld", "slurm-wlm"),
        ("slurmd", "slurm-wlm"),
    ):
        if not shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"):
            return f"{program} is not here (Debian package {package})"
    return _missing_root() or _missing_netns()


def _missing_fuse() -> str | None:
    if not Path("/dev/fuse").exists():
        return "there is no /dev/fuse"
    if importlib.util.find_spec("mfusepy") is None:
        return "the Python package mfusepy is not installed"
    if not ctypes.util.find_library("fuse3"):
        return "there is no libfuse3 (Debian package libfuse3-3)"
    return _missing_root()  # to mount; others would need a program that is set-user-ID


def _missing_vm() -> str | None:
    from tests.vm.kernel import missing

    if os.uname().machine != "x86_64":
        return f"the virtual machines are x86-64, and this is {os.uname().machine}"
    return missing()


def _missing_libfabric() -> str | None:
    """Asked in another process: libfabric loads libinfinipath, whose handler of SIGINT ends the
    process without a word.
    """
    load = "import ctypes; ctypes.CDLL('libfabric.so.1')"
    done = subprocess.run([sys.executable, "-c", load], capture_output=True, check=False)
    if done.returncode == 0:
        return None
    return "the dynamic linker finds no libfabric.so.1 (Debian package libfabric1)"


_MISSING: dict[str, Callable[[], str | None]] = {
    "engine": functools.cache(_missing_engine),
    "mpi": functools.cache(_missing_mpi),
    "netns": functools.cache(_missing_netns),
    "root": functools.cache(_missing_root),
    "intelmpi": functools.cache(_missing_intelmpi),
    "openmpi": functools.cache(lambda: _missing_program("mpirun.openmpi", "openmpi-bin")),
    "debian_mpich": functools.cache(lambda: _missing_program("mpiexec.mpich", "mpich")),
    "browser": functools.cache(_missing_browser),
    "slurm": functools.cache(_missing_slurm),
    "libfabric": functools.cache(_missing_libfabric),
    "fuse": functools.cache(_missing_fuse),
    "vm": functools.cache(_missing_vm),
}


TURNS = 10
"""In how many turns the slow tests are run: `make test` takes one of them."""
LONGEST_S = 1800
"""A test that is allowed more builds everything twice."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slow-turn",
        type=int,
        metavar="N",
        help=f"of the slow tests only the share whose turn N is, modulo {TURNS}",
    )
    parser.addoption(
        "--for-seconds",
        type=float,
        metavar="S",
        help="skip what has not begun after that time, for a look before a commit",
    )


def turn_of(item: pytest.Item) -> int:
    """The turn in which a slow test is run: fixed by its name, so that a turn can be repeated. A
    file that is slow as a whole has a single turn, because its tests share what takes the time (a
    wheel, a cluster).
    """
    module = item.getparent(pytest.Module)
    whole = module is not None and module.get_closest_marker("slow") is not None
    name = module.nodeid if module and whole else item.nodeid
    return zlib.crc32(name.encode()) % TURNS


def _is_due(item: pytest.Item, turn: int) -> bool:
    """Whether ``item`` is run in this turn: a tenth of the slow tests and of many alike, and all
    others. ``make test-all`` alone runs what may take longer than all of a turn, and what each turn
    runs a part of by another test (``slow(in_parts=True)``).
    """
    slow = item.get_closest_marker("slow") or item.get_closest_marker("many")
    if not slow:
        return True
    bound = item.get_closest_marker("timeout")
    too_long = bound is not None and bound.args[0] > LONGEST_S
    return turn_of(item) == turn % TURNS and not too_long and not slow.kwargs.get("in_parts")


def some_of(cases: Iterable[Any], always: int) -> list[Any]:
    """Parameters that are many alike (seeds, a matrix): each turn runs the first ``always`` and a
    tenth of the others.
    """
    return [
        case if number < always else pytest.param(*_tuple(case), marks=pytest.mark.many)
        for number, case in enumerate(cases)
    ]


def _tuple(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)


def its_share(cases: Sequence[Any], turn: int | None) -> list[Any]:
    """The tenth of ``cases`` that a turn tries; all outside of ``make test``."""
    return list(cases if turn is None else cases[turn::TURNS])


def seeds(count: int, turn: int | None, each: int = 2) -> list[int]:
    """``each`` of the first ``count`` seeds, others in each turn; all outside of ``make test``."""
    first = 0 if turn is None else turn * each
    return [(first + at) % count for at in range(count if turn is None else each)]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    turn = config.getoption("--slow-turn")
    if turn is None:
        return
    later = [item for item in items if not _is_due(item, turn)]
    config.hook.pytest_deselected(items=later)
    items[:] = [item for item in items if item not in set(later)]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what pytest has collected (modules, 17,000 tests) out of the garbage collector's
    sight: it would look through all of it again and again.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


# A shell that starts the suite in the background has programs ignore Ctrl-C, and whatever a test
# starts inherits that: the tests that interrupt one would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


AFTER_ITS_TIMEOUT_S = 120
"""How long the end of a test may take whose time is over: some waits ignore an exception."""
SPARE_S = 60
"""For so long the watchdog serves the tests that follow: to set it anew waits for a thread."""
_STDERR = [2]
"""The stream of the session: pytest keeps what a test writes to the present one."""
_COMES_AT = [0.0]
"""When the watchdog ends the process, by the monotonic clock."""


def pytest_configure() -> None:
    _STDERR[0] = os.dup(2)


def pytest_unconfigure() -> None:
    faulthandler.cancel_dump_traceback_later()


def pytest_exception_interact() -> None:
    _COMES_AT[0] = 0.0  # pytest has called the watchdog off


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """End a process whose test does not end, with the lines where it hangs: the timeout of a test
    raises an exception once, and a teardown that waits after it waits for ever.
    """
    bound = item.get_closest_marker("timeout")
    limit = float(bound.args[0] if bound else item.config.getini("timeout")) + AFTER_ITS_TIMEOUT_S
    if not limit <= _COMES_AT[0] - time.monotonic() <= limit + SPARE_S:
        wait = limit + SPARE_S
        faulthandler.dump_traceback_later(wait, exit=True, file=_STDERR[0])
        _COMES_AT[0] = time.monotonic() + wait


_BEGAN = time.monotonic()


def pytest_runtest_setup(item: pytest.Item) -> None:
    seconds = item.config.getoption("--for-seconds")
    if seconds is not None and time.monotonic() - _BEGAN > seconds:
        pytest.skip(f"the {seconds:.0f} s of this look are over: make test runs it")
    for marker in item.iter_markers():
        probe = _MISSING.get(marker.name)
        reason = probe() if probe else None
        if reason:
            pytest.skip(f"{marker.name}: {reason}")


_OURS = "wireproof-"
_KEPT = (f"wireproof-{os.geteuid()}", "wireproof-tmp-")
"""A user's labs and links; what a killed run leaves is removed by a later run."""
_LEFT_BY: dict[str, str] = {}
"""The test after which a temporary file was there for the first time."""


def _leavings() -> list[str]:
    names = os.listdir(tempfile.gettempdir())
    return [name for name in names if name.startswith(_OURS) and not name.startswith(_KEPT)]


@pytest.fixture(scope="session", autouse=True)
def _temporary() -> Iterator[None]:
    """A folder of this session for temporary files, so that no other session's are in it; at the
    end none of ours is there. ``tmp_path`` stays where it was.
    """
    above = os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    folder = Path(tempfile.mkdtemp(prefix="wp-", dir=above))
    folder.chmod(0o1777)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        patch.setattr(tempfile, "tempdir", None)
        yield
        left = {name: _LEFT_BY.get(name, "") for name in _leavings()}
    shutil.rmtree(folder, ignore_errors=True)
    assert left == {}, "tests leave temporary files behind"


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    for name in _leavings():
        _LEFT_BY.setdefault(name, item.nodeid)


@pytest.fixture(scope="session")
def slow_turn(request: pytest.FixtureRequest) -> int | None:
    """The turn of this session: what tries more inputs than a commit has time for tries others in
    each. None outside of ``make test``.
    """
    turn = request.config.getoption("--slow-turn")
    return None if turn is None else turn % TURNS


@pytest.fixture(scope="session")
def impi_root() -> Path:
    """Where Intel MPI was installed for the tests (its bin/mpiexec, bin/IMB-*)."""
    found = _impi_root()
    if found is None:
        pytest.skip("intelmpi: no Intel MPI in .deps/impi and none in $WIREPROOF_TEST_IMPI")
    return found


@pytest.fixture(scope="session")
def engine_folder() -> Path:
    """Folder that holds the wireproof-engine.* programs under test."""
    return _engine_folder()
