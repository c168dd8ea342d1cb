"""Where files go when another user prepares the way, or exchanges it at the worst moment."""

import contextlib
import fcntl
import os
import re
import shutil
import stat
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from tests.dossiers import dossier_of

from wireproof.archive.gate import put_verdict
from wireproof.archive.logs import add
from wireproof.archive.pages import write_pages
from wireproof.cli import main
from wireproof.cli.help import _write as write_manual
from wireproof.cli.subcommands import subcommands
from wireproof.files import held, hostile
from wireproof.files.held import held_folder, hold, make_folder
from wireproof.files.hostile import copy_folder, replace_file
from wireproof.instrument.folder import open_folder
from wireproof.lab.state import LabState, read_state, write_state
from wireproof.measure import resume as making
from wireproof.measure.export import exported
from wireproof.measure.report import report
from wireproof.measure.session import Storage
from wireproof.model.errors import BadInput, CouldNotMeasure, WireproofError
from wireproof.model.topology import Topology
from wireproof.plan.job import write_text
from wireproof.report.reporter import LoggingReporter
from wireproof.store import seal as sealing
from wireproof.store.snapshot import write_snapshot

EVE = 65534
pytestmark = pytest.mark.root


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dossier_of(tmp_path_factory.mktemp("made") / "dossier")


@pytest.fixture
def roots(tmp_path: Path) -> Path:
    """A folder of root's with files that nobody is to overwrite."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == 0 and len(folder.parts) > 2:
            folder.chmod(folder.stat().st_mode | 0o055)  # eve can come here, as on a machine
    place = tmp_path / "roots"
    place.mkdir()
    for name in ("page.html", "x.json", "file", "wireproof.1", "report.html"):
        (place / name).write_text("precious")
    return place


def as_eve(do: Callable[[], object]) -> None:
    """``do`` in a process of that user. AssertionError if it fails."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups([])
            os.setgid(EVE)
            os.setuid(EVE)
            do()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


@pytest.fixture
def eves(tmp_path: Path, roots: Path) -> Path:
    place = tmp_path / "eve"
    place.mkdir()
    os.chown(place, EVE, EVE)
    return place


def untouched(roots: Path) -> None:
    names = {path.name for path in roots.iterdir()}
    assert names == {"page.html", "x.json", "file", "wireproof.1", "report.html"}
    assert {path.read_text() for path in roots.iterdir()} == {"precious"}


# --- every way to a file


def _manual(folder: Path) -> None:
    write_manual(click.Context(subcommands), folder)


def _exported(form: str, made: Path, target: Path) -> None:
    from wireproof.measure.report import judged_anew

    sections = judged_anew(made).sections
    exported(form, sections, "t", target, LoggingReporter())  # type: ignore[arg-type]


def _pages(made: Path, folder: Path) -> None:
    history = folder.parent.parent / "roots-history"
    add(history, made, LoggingReporter())
    write_pages(history, LoggingReporter(), folder=folder)


def _reported(made: Path, folder: Path) -> None:
    """Without --out: into the folder itself."""
    for path in made.rglob("*"):
        if path.is_file() and path.name not in ("SHA256SUMS", "report.html"):
            target = folder / path.relative_to(made)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(path.read_bytes())
    (found,) = report([folder], LoggingReporter())
    assert found.page is not None


WAYS: dict[str, Callable[[Path, Path], object]] = {
    "replace_file": lambda made, folder: replace_file(folder / "file", b"new"),
    "gate --out": lambda made, folder: put_verdict(folder / "page.html", "x", within_s=20.0),
    "plan --out": lambda made, folder: write_text(folder / "file", "x"),
    "help --man": lambda made, folder: _manual(folder.parent),
    "report --out": lambda made, folder: _exported("html", made, folder / "page.html"),
    "report --format markdown": lambda made, folder: _exported("markdown", made, folder / "file"),
    "report --format svg": lambda made, folder: _exported("svg", made, folder),
    "report FOLDER": _reported,
    "audit --save": lambda made, folder: write_snapshot(folder / "snap", {}),
    "history add": lambda made, folder: add(folder, made, LoggingReporter()),
    "history pages": _pages,
    "a copy": lambda made, folder: copy_folder(made, folder / "copy"),
}


def _refused(do: Callable[[Path, Path], object], made: Path, folder: Path) -> str:
    with pytest.raises((OSError, WireproofError, AssertionError)) as found:
        do(made, folder)
    return str(found.value)


@pytest.mark.parametrize("way", WAYS)
def test_a_folder_of_another_user_is_not_written_to(
    way: str, made: Path, roots: Path, eves: Path
) -> None:
    """No file is written into a folder of another user, unless it has the sticky bit; a folder that
    is created there belongs to you.
    """
    as_eve(lambda: (eves / "man1").mkdir())
    _refused(WAYS[way], made, eves / "man1")
    ours = [path for path in eves.rglob("*") if path.is_file() and "run" not in str(path)]
    assert [path.name for path in ours if path.name not in ("result.json", "criteria.toml")] in (
        [],
        ["disclosure.json", "dossier.json"],
        ["dossier.json", "disclosure.json"],
    )


def _prints(folder: Path) -> Path:
    """A folder with texts that are named after their commands."""
    folder.mkdir()
    (folder / "sysctl -a.txt").write_text("net.core.rmem_max = 212992\n")
    return folder


def _table(path: Path) -> Path:
    path.write_text("origin,target,goodput_bytes_per_s\na,b,1e9\nb,a,1e9\n")
    return path


TEMPORARY: dict[str, Callable[[Path, Path], list[object]]] = {
    "audit": lambda made, place: ["audit", "--from", _prints(place / "prints")],
    "dossier": lambda made, place: ["dossier", "verify", made],
    "locate": lambda made, place: ["locate", _table(place / "pairs.csv")],
}


@pytest.mark.parametrize("command", TEMPORARY)
@pytest.mark.parametrize("above", [False, True])
def test_temporary_files_are_not_in_a_folder_of_another_user(
    command: str,
    above: bool,
    made: Path,
    roots: Path,
    eves: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No temporary file is in a folder that another user can change: such a `TMPDIR` is refused.

    `sudo -E` keeps TMPDIR, and its owner could exchange a folder for a tree of links.
    """
    place = eves / "t" if above else eves
    place.mkdir(exist_ok=True)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    words = [str(word) for word in TEMPORARY[command](made, roots)]
    assert main(words) in (BadInput.exit_status, CouldNotMeasure.exit_status)
    said = capsys.readouterr().err
    assert "belongs to the user with ID" in said
    assert "set TMPDIR" in said
    assert not list(place.iterdir())


def test_a_machine_without_a_folder_for_temporary_files_is_no_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file system that is read-only, and a user who cannot write to the current folder."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_get_default_tempdir", lambda: os.stat("/proc/none"))
    assert main(["locate", str(_table(tmp_path / "pairs.csv"))]) == BadInput.exit_status
    assert "temporary files can be written to: set TMPDIR" in capsys.readouterr().err


def test_temporary_folders_are_made_in_one_place() -> None:
    """Others are in the current folder, which is held meanwhile, or in a folder of ours."""
    making = re.compile(
        r"tempfile\.(?!mkdtemp\((?:prefix=[^,]+, )?dir=(?:Path\.cwd|self\._folder))"
    )
    source = Path(held.__file__).parents[1]
    places = {path.name for path in source.rglob("*.py") if making.search(path.read_text())}
    assert places == {"held.py", "engines.py"}  # own_folder checks what engines.py uses


@pytest.mark.parametrize("way", WAYS)
def test_no_link_of_another_user_is_followed(way: str, made: Path, roots: Path, eves: Path) -> None:
    """No link of another user is followed on the path to a file that is written."""
    as_eve(lambda: (eves / "man1").symlink_to(roots))
    if way != "report FOLDER":  # which reads by the link before
        _refused(WAYS[way], made, eves / "man1")
        untouched(roots)


@pytest.mark.parametrize("way", WAYS)
def test_an_exchange_at_the_worst_moment_leads_nowhere(
    way: str, made: Path, roots: Path, eves: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files are written into the folder that was checked, even if another folder takes its
    place.
    """
    ours = eves / "man1"
    ours.mkdir()

    def exchange() -> None:
        if not ours.is_symlink():
            (eves / "moved").exists() or ours.rename(eves / "moved")
            ours.symlink_to(roots)

    _before_each_write(monkeypatch, lambda: as_eve(exchange))
    with contextlib.suppress(OSError, WireproofError, AssertionError):
        WAYS[way](made, ours)
    untouched(roots)


def _before_each_write(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """``act`` runs when everything has been looked at and nothing is written yet, and again at
    each file that is made.
    """
    real_create, real_open = hostile.create, os.open

    def create(name: str, folder: int) -> int:
        act()
        return real_create(name, folder)

    def opened(path: object, flags: int, *more: object, **named: object) -> int:
        if flags & os.O_CREAT:
            act()
        return real_open(path, flags, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(hostile, "create", create)
    monkeypatch.setattr(os, "open", opened)
    real_held = held._walked

    def walked(path: Path, make: int | None) -> int:
        folder = real_held(path, make)
        act()
        return folder

    monkeypatch.setattr(held, "_walked", walked)


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("history add", "a copy")])
def test_a_link_at_the_target_is_replaced_and_not_followed(
    way: str, made: Path, roots: Path, tmp_path: Path
) -> None:
    """A link that has the name of an output file is replaced, and never written through."""
    ours = tmp_path / "ours" / "man1"
    ours.mkdir(parents=True)
    ours.chmod(0o1777)
    names = ("page.html", "file", "wireproof.1", "report.html", "snap", "index.html")

    def plant() -> None:
        for name in names:
            (ours / name).symlink_to(roots / ("x.json" if name == "snap" else name))

    as_eve(plant)
    with contextlib.suppress(WireproofError):
        WAYS[way](made, ours)
    untouched(roots)


def test_records_go_to_the_folder_that_was_made(
    roots: Path, eves: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a check or measurement: not through a link of eve's, not into a folder of hers that comes
    between.
    """
    as_eve(lambda: (eves / "link").symlink_to(roots))
    asked = Storage(folder=eves / "link" / "out")
    with pytest.raises(CouldNotMeasure, match="link of the user"), _result_folder(asked):
        pass
    with pytest.raises(CouldNotMeasure, match="link of the user"):
        open_folder(eves / "link" / "run")
    untouched(roots)
    real = making.make_folder

    def after_eve(path: Path, mode: int) -> None:
        as_eve(lambda: path.mkdir())
        real(path, mode)

    monkeypatch.setattr(making, "make_folder", after_eve)
    with (
        pytest.raises(BadInput, match="belongs to the user"),
        _result_folder(Storage(folder=eves / "out")),
    ):
        pass


def _result_folder(asked: Storage) -> contextlib.AbstractContextManager[Path]:
    return making.result_folder(asked, "check", LoggingReporter())


def test_a_run_is_sealed_where_it_is(
    made: Path, roots: Path, eves: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB opens files by name: the folder that it is given is one that is held."""
    run = eves / "run"
    shutil.copytree(made / "run-1", run)

    def exchange() -> None:
        run.rename(eves / "moved")
        run.symlink_to(roots)

    real = sealing._check_complete

    def then(*given: object) -> None:
        real(*given)  # type: ignore[arg-type]
        as_eve(exchange)

    monkeypatch.setattr(sealing, "_check_complete", then)
    sealing.seal(run)
    untouched(roots)
    assert (eves / "moved" / "points.parquet").is_file()


def test_what_is_ours_or_roots_is_written_to(tmp_path: Path, eves: Path) -> None:
    """A link of our own, /tmp, and a folder of our own below another's: all as before."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "around").symlink_to(tmp_path / "link" / ".." / "link")
    for folder in (tmp_path / "link", tmp_path / "around", tmp_path / "real" / ".." / "real"):
        replace_file(folder / "file", b"x")
    sticky = tmp_path / "sticky"
    sticky.mkdir()
    os.chown(sticky, EVE, EVE)
    sticky.chmod(0o1777)
    replace_file(sticky / "file", b"x")
    make_folder(eves / "a" / "ours", 0o700)
    assert stat.S_IMODE((eves / "a" / "ours").stat().st_mode) == 0o700
    replace_file(eves / "a" / "ours" / "file", b"x")
    for loop in ("one", "two"):
        (tmp_path / loop).symlink_to("two" if loop == "one" else "one")
    for bad in (tmp_path / "one", tmp_path / "real" / "file", tmp_path / "absent"):
        with pytest.raises(OSError, match=r"symbolic|directory"), held_folder(bad):
            pass


def test_a_folder_that_only_lets_through_is_walked(tmp_path: Path) -> None:
    """/home is 0711 on many machines: nobody can list it."""
    (tmp_path / "home" / "mine").mkdir(parents=True)
    os.chown(tmp_path / "home" / "mine", EVE, EVE)
    (tmp_path / "home").chmod(0o711)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == 0 and len(folder.parts) > 2:
            folder.chmod(folder.stat().st_mode | 0o011)
    as_eve(lambda: replace_file(tmp_path / "home" / "mine" / "file", b"x"))
    assert (tmp_path / "home" / "mine" / "file").read_bytes() == b"x"


def test_a_default_acl_lets_no_other_user_write(made: Path, roots: Path, tmp_path: Path) -> None:
    """No other user can write to a folder or file that is created, even if your umask or a
    default ACL would allow it.
    """
    everybody, eve = 0xFFFFFFFF, EVE
    entries = ((1, 7, everybody), (2, 7, eve), (4, 7, everybody), (16, 7, everybody))
    packed = [struct.pack("<HHI", *entry) for entry in (*entries, (32, 7, everybody))]
    open_to_eve = tmp_path / "open"
    open_to_eve.mkdir()
    try:
        os.setxattr(
            open_to_eve, "system.posix_acl_default", struct.pack("<I", 2) + b"".join(packed)
        )
    except OSError:
        pytest.skip("acl: the file system has no access control lists")
    before = os.umask(0)
    try:
        for number, way in enumerate(WAYS):
            if way != "report FOLDER":
                make_folder(open_to_eve / str(number) / "man1")
                WAYS[way](made, open_to_eve / str(number) / "man1")
        write_pages(tmp_path / "open" / "roots-history", LoggingReporter())
    finally:
        os.umask(before)
    paths = [path for path in open_to_eve.rglob("*") if not path.is_symlink()]

    def tried() -> None:
        assert not [path for path in paths if os.access(path, os.W_OK)]

    as_eve(tried)


def test_a_lab_of_another_user_is_not_believed(eves: Path) -> None:
    """No lab is entered if another user may have made its state.

    Eve takes the name of a lab's folder after it was found missing.
    """
    made = LabState(
        name="a",
        cookie="c",
        topology=Topology(nodes=("n1",), networks=()),
        created_unix=1.0,
        user_namespace=True,
    )
    write_state(eves, made)
    assert read_state(eves) is None
    os.chown(eves, 0, 0)
    assert read_state(eves) == made
    eves.chmod(0o777)
    assert read_state(eves) is None


# --- a file of the user's that is changed in its place


WRONG, RIGHT = "#!/bin/bash -I\nmpirun x\n", "#!/bin/bash -l\nmpirun x\n"


def _mend(path: Path) -> None:
    from wireproof.lint.job import Filter, lint_file, mend, write_mended

    file = lint_file(str(path), Filter.of(None, "info"))
    mended = mend(file, Filter.of(None, "info"))
    assert mended is not None
    write_mended(file, mended)


def test_lint_replaces_the_file_that_was_shown(
    roots: Path, eves: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`lint --fix` replaces the file that was shown to you, and refuses a link and a file that has
    changed since.
    """
    script = roots.parent / "job.sh"
    script.write_text(WRONG)
    link, hers = roots.parent / "link.sh", eves / "job.sh"
    link.symlink_to(script)
    as_eve(lambda: hers.write_text(WRONG))
    for path in (link, hers):
        with pytest.raises(CouldNotMeasure, match="link" if path == link else "belongs to"):
            _mend(path)
        assert path.read_text() == WRONG
    script.chmod(0o4750)
    os.chown(script, EVE, EVE)
    script.chmod(0o4750)
    _mend(script)
    assert script.read_text() == RIGHT
    found = script.stat()
    assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (EVE, 0o750)
    script.write_text(WRONG)
    _before_each_write(monkeypatch, lambda: script.write_text(WRONG + "more\n"))
    with pytest.raises(CouldNotMeasure, match="changed"):
        _mend(script)
    assert script.read_text() == WRONG + "more\n"
    assert {path.name for path in script.parent.glob("*job.sh*")} == {"job.sh"}


@pytest.mark.parametrize(
    "write", [lambda path: replace_file(path, b"x"), lambda path: write_snapshot(path, {})]
)
def test_drafts_of_killed_writers_are_removed_and_no_others(
    write: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only old, unlocked regular files of this user, with one name, and of a draft's name."""
    monkeypatch.setattr("wireproof.files.held._swept", set())
    names = {
        "left": ".run.json.0123abcd.new", "young": ".run.json.1123abcd.new",
        "held": ".run.json.2123abcd.new", "linked": ".run.json.3123abcd.new",
        "other": ".run.json.new", "short": ".run.json.0123.new", "folder": ".run.json.4123abcd.new",
    }  # fmt: skip
    places = {kind: tmp_path / name for kind, name in names.items()}
    for kind, place in places.items():
        if kind == "folder":
            place.mkdir()
        else:
            place.write_text(kind)
        if kind != "young":
            os.utime(place, (1, 1))
    os.link(places["linked"], tmp_path / "second")
    with places["held"].open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        write(tmp_path / "log")
    kept = {name for kind, name in names.items() if kind != "left"}
    assert {path.name for path in tmp_path.iterdir()} == {*kept, "second", "log"}


def test_a_draft_is_locked_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def tried(_: int) -> None:
        (draft,) = tmp_path.glob(".log.*.new")
        with draft.open("rb") as file:
            seen.append(hold(file.fileno()))

    monkeypatch.setattr("os.fsync", tried)
    replace_file(tmp_path / "log", b"x")
    assert seen == [False]
