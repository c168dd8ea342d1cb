"""A folder that someone else made: what is opened in it, and what is written through it."""

import errno
import os
import re
import stat
import time
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from wireproof.archive.apart import apart
from wireproof.cli import main
from wireproof.cli.console import Console
from wireproof.files import hostile
from wireproof.files.held import own_folder, private_file
from wireproof.files.hostile import append_to, create, open_regular, read_bounded, replace_file
from wireproof.instrument.folder import open_folder
from wireproof.lab.topology_file import load_topology, parse_topology
from wireproof.launch.engines import private_link
from wireproof.measure.resume import result_folder
from wireproof.measure.session import Storage
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.toml import DEEPEST, LARGEST, read_struct, read_toml
from wireproof.options.hosts import parse_hosts
from wireproof.options.resolve import read_file, read_table
from wireproof.physics.table import default_table, override
from wireproof.report.reporter import is_bug, sentence
from wireproof.store.load import load_document, load_frames
from wireproof.store.snapshot import write_snapshot
from wireproof.topology import read_topology
from wireproof.workflow.locate import from_world

ROOT = Path(__file__).parents[2]


def _strange(folder: Path) -> dict[str, Path]:
    """One of each that is no regular file."""
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    (folder / "link").symlink_to("/etc/hostname")
    (folder / "nowhere").symlink_to("absent")
    (folder / "loop").symlink_to("loop")
    names = ("pipe", "folder", "link", "nowhere", "loop")
    return {name: folder / name for name in names} | {"device": Path("/dev/zero")}


def test_only_regular_files_are_opened_and_nothing_waits(tmp_path: Path) -> None:
    """In a folder that another user may have made, only regular files are opened: a link to a file,
    a pipe and a device are refused, and the number of bytes read is bounded.
    """
    for path in _strange(tmp_path).values():
        with pytest.raises(OSError, match=r"it is|No such file"):
            open_regular(path, follow=False)
    with pytest.raises(OSError, match="null byte"):
        open_regular("a\0b")
    (tmp_path / "link-to-pipe").symlink_to("pipe")
    with pytest.raises(OSError, match="a named pipe"):
        open_regular(tmp_path / "link-to-pipe")


@pytest.mark.parametrize("read", ["read", "readline", "readinto1", "read1"])
def test_a_file_that_would_wait_is_refused(monkeypatch: pytest.MonkeyPatch, read: str) -> None:
    """/proc/kmsg states to be a regular file, and its reader waits for the next message."""
    ours, theirs = os.pipe()
    monkeypatch.setattr(hostile.os, "open", lambda *given, **named: ours)
    monkeypatch.setattr(hostile, "refuse_other_than_regular", lambda *given: None)
    os.set_blocking(ours, False)
    given = {"readinto1": (bytearray(9),), "read1": (9,)}.get(read, ())
    try:
        with (
            pytest.raises(OSError, match="reading it would block"),
            open_regular("/proc/version") as file,
        ):
            getattr(file, read)(*given)
    finally:
        os.close(theirs)


def test_a_file_that_never_ends_is_read_up_to_its_bound(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(OSError, match="larger than 1 MiB"):
        read_bounded(tmp_path / "sparse", 1 << 20)


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    """Nothing is written through a link in a run folder, and a run folder of another user is not
    written to.
    """
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    for name in ("frames.jsonl", ".run.json.new", "run.json", ".reserve"):
        (folder / name).symlink_to(victim)
    descriptor = os.open(folder, os.O_DIRECTORY)
    try:
        with pytest.raises(OSError, match="symbolic link"):
            append_to("frames.jsonl", descriptor)
        os.close(create(".reserve", descriptor))
        replace_file(folder / "run.json", b"ours")
        os.link(victim, folder / "engine.log")
        with pytest.raises(OSError, match="hard link"):
            append_to("engine.log", descriptor)
        os.mkfifo(folder / "pipe")
        with pytest.raises(OSError, match="named pipe"):
            append_to("pipe", descriptor)
    finally:
        os.close(descriptor)
    assert victim.read_bytes() == b"precious"
    assert (folder / "run.json").read_bytes() == b"ours"
    assert not (folder / "run.json").is_symlink()


@pytest.mark.parametrize("name", ["frames.jsonl", "engine.log"])
@pytest.mark.parametrize("kind", ["link", "pipe", "device"])
def test_resume_refuses_what_is_no_file_and_changes_nothing(
    tmp_path: Path, name: str, kind: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b'{"frame": "open"')
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    (folder / "run.json").write_bytes(b"{}")
    if kind == "pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to(victim if kind == "link" else "/dev/zero")
    with pytest.raises((BadInput, CouldNotMeasure), match=r"symbolic link|named pipe"):
        open_folder(folder, resume=True)
    assert victim.read_bytes() == b'{"frame": "open"'


def test_a_resumed_folder_may_not_be_a_link_or_anybodys(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    (real / "run.json").write_bytes(b"{}")
    (tmp_path / "run").symlink_to(real)
    with pytest.raises((BadInput, CouldNotMeasure)):
        open_folder(tmp_path / "run", resume=True)
    real.chmod(0o777)
    with pytest.raises(BadInput, match="writable by others"):
        open_folder(real, resume=True)


@pytest.mark.parametrize("name", ["run.json", "frames.jsonl"])
def test_reading_a_run_refuses_what_is_no_file(tmp_path: Path, name: str) -> None:
    for kind in ("pipe", "link", "folder"):
        folder = tmp_path / kind
        folder.mkdir()
        if kind == "pipe":
            os.mkfifo(folder / name)
        elif kind == "link":
            (folder / name).symlink_to("/dev/zero")
        else:
            (folder / name).mkdir()
        with pytest.raises(BadInput):
            (load_document if name == "run.json" else load_frames)(folder)


# --- TOML

HOSTILE_TOML = {
    "nested arrays": "a = " + "[" * 100_000,
    "nested tables": "a = " + "{b = " * 50_000,
    "a dotted key": "a" + ".a" * 200_000 + " = 1",
    "a dotted header": "[a" + ".a" * 200_000 + "]",
    "quoted dotted key": '"a"' + '."a"' * 100_000 + " = 1",
    "behind a string with quotes at its end": 'a = """x""""\nb' + ".b" * 200_000 + " = 1",
    "an endless string": 'a = """' + '\\"' * 100_000,
    "too long": "a = 1\n" * LARGEST,
    "a number without end": "a = " + "9" * 100_000,
}


@pytest.mark.parametrize("text", HOSTILE_TOML.values(), ids=HOSTILE_TOML.keys())
def test_every_reader_of_toml_refuses_in_one_sentence(tmp_path: Path, text: str) -> None:
    """TOML files are bounded in size and depth before they are parsed."""
    path = tmp_path / "wireproof.toml"
    path.write_text(text, encoding="utf-8")
    begun = time.process_time()
    for read in (
        lambda: read_toml(text, "x"),
        lambda: override(default_table(), text),
        lambda: parse_topology(text, "lab.toml"),
        lambda: read_topology("[[switch]]\nname = 'a'\n" + text, "fabric.toml"),
        lambda: read_file(path),
        lambda: load_topology(path),
        lambda: read_table(path),
        lambda: from_world(path, None),
    ):
        with pytest.raises(BadInput) as caught:
            read()
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 1000
    assert time.process_time() - begun < 60  # a quadratic reader takes minutes


def test_depth_that_is_used_is_read() -> None:
    inside = DEEPEST - 1
    assert read_toml("a" + ".b" * inside + " = 1", "x")
    assert read_toml("a = " + "[" * inside + "]" * inside, "x")
    assert read_toml('a = "' + "[" * 1000 + '" # ' + "{" * 1000, "x")


def test_no_other_place_parses_toml() -> None:
    """There is one reader of TOML, so that its bounds hold everywhere."""
    reader = ROOT / "src/wireproof/model/toml.py"
    sources = [path for path in (ROOT / "src").rglob("*.py") if path != reader]
    assert [
        str(path) for path in sources if re.search(r"\btomllib\b|msgspec\.toml", path.read_text())
    ] == []


def test_named_files_of_hosts_are_regular(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "hosts")
    with pytest.raises(BadInput, match="named pipe"):
        parse_hosts(f"file:{tmp_path}/hosts")


# --- folders of our own


def test_an_own_folder_is_ours_alone(tmp_path: Path) -> None:
    """A library is loaded only from a folder that belongs to you and that no other user can write
    to.
    """
    made = own_folder(tmp_path / "a" / "b", below=tmp_path / "a")
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    made.chmod(0o777)
    with pytest.raises(OSError, match="writable by others"):
        own_folder(made)
    made.chmod(0o700)
    made.parent.chmod(0o770)
    with pytest.raises(OSError, match="writable by others"):
        own_folder(made, below=tmp_path / "a")
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(OSError, match="not a folder"):
        own_folder(tmp_path / "link")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(OSError, match="writable by everybody"):
        own_folder(tmp_path / "open" / "mine")
    (tmp_path / "open").chmod(0o775)
    with pytest.raises(OSError, match="writable by its group"):
        own_folder(tmp_path / "open" / "mine")
    with pytest.raises(OSError, match="writable by its group"):
        own_folder(tmp_path / "open" / "a" / "mine", below=tmp_path / "open" / "a")
    (tmp_path / "open").chmod(0o1777)  # as /tmp: others cannot rename what is ours
    assert own_folder(tmp_path / "open" / "mine").is_dir()


@pytest.mark.root
def test_a_folder_that_another_user_has_prepared_is_not_used(tmp_path: Path) -> None:
    library = tmp_path / "libmpich.so.12"
    library.write_bytes(b"x")
    theirs = tmp_path / "theirs" / "wireproof"
    theirs.mkdir(parents=True)
    os.chown(theirs, 65534, 65534)
    with pytest.raises(CouldNotMeasure, match="belongs to the user"):
        private_link(library, {"XDG_CACHE_HOME": str(theirs.parent)})
    os.chown(theirs, 0, 0)
    # sudo that keeps HOME: they could exchange the folder later
    os.chown(theirs.parent, 65534, 65534)
    with pytest.raises(CouldNotMeasure, match="belongs to the user"):
        private_link(library, {"XDG_CACHE_HOME": str(theirs.parent)})


@pytest.mark.root
def test_root_without_home_does_not_use_a_predictable_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    theirs = tmp_path / "wireproof"
    theirs.mkdir()
    os.chown(theirs, 65534, 65534)
    library = tmp_path / "libmpich.so.12"
    library.write_bytes(b"x")
    folder = private_link(library, {})
    assert theirs not in folder.parents
    assert folder.stat().st_uid == os.geteuid()
    (folder / "libmpi.so.12").unlink()
    folder.rmdir()


def test_a_private_file_is_for_us_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = private_file("x-", "y", b"z")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_an_existing_result_folder_is_made_private(tmp_path: Path) -> None:
    """Run folders and all files in them are readable by you alone."""
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o777)
    with result_folder(Storage(folder=out), "check", Console()) as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "kept").touch()


def test_a_file_in_the_current_folder_changes_no_mode(tmp_path: Path) -> None:
    """`wireproof.toml` may name any folder as the result's; to close it would lock others out."""
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o755)
    with (
        pytest.raises(BadInput, match="open to others"),
        result_folder(Storage(folder=out, may_change_mode=False), "check", Console()),
    ):
        pass
    assert stat.S_IMODE(out.stat().st_mode) == 0o755


@pytest.mark.root
def test_a_result_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    os.chown(out, 65534, 65534)
    with (
        pytest.raises(BadInput, match="belongs to"),
        result_folder(Storage(folder=out), "check", Console()),
    ):
        pass


def test_a_disk_error_is_no_error_of_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bad sector shows when the file is read, and not when it is opened."""

    def broken(*given: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    for name in ("x", "result.json", "SHA256SUMS", "run.json", "frames.jsonl"):
        (tmp_path / name).write_bytes(bytes(100))
    monkeypatch.setattr(hostile._Answering, "readinto", broken)
    monkeypatch.setattr(hostile._Answering, "readall", broken)
    files = (["audit", "--from"], ["judge"], ["lint"], ["locate"], ["pfc", "--from"])
    folders = (["dossier", "verify"], ["report", "--no-page"], ["gate"], ["judge"], ["lint"])
    for place, several in ((tmp_path / "x", files), (tmp_path, folders)):
        for words in several:
            assert main([*words, str(place)]) in (2, 3, 4), words
            assert "wireproof itself" not in capsys.readouterr().err, words


@pytest.mark.parametrize("name", ["x" * 5000, f"{'x' * 300}/y", "loop/x"])
def test_a_name_that_the_system_refuses_is_no_error_of_ours(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``Path.is_file`` raises ``OSError`` for a name that is too long, and for a folder that this
    user may not search.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    reading = (["audit", "--from"], ["lint"], ["locate"], ["gate"], ["dossier", "verify"])
    for words in (*reading, ["history", "list"], ["report"], ["pfc", "--from"], ["judge"]):
        assert main([*words, name]) in (2, 3, 4), words
        assert "wireproof itself" not in capsys.readouterr().err, words
    denied = PermissionError(errno.EACCES, "Permission denied", "/a/b\x1b")
    assert not is_bug(denied)
    assert sentence(denied) == "/a/b\\x1b cannot be used: Permission denied."
    for number in (errno.EINTR, errno.ENOTCONN, errno.ESHUTDOWN, errno.ETIMEDOUT):
        assert not is_bug(OSError(number, os.strerror(number), "/mnt/x"))
    for number in (errno.ENOSPC, errno.EIO, errno.EROFS, errno.ESTALE, errno.EACCES):
        unnamed = OSError(number, os.strerror(number))  # of a write, which names no file
        assert not is_bug(unnamed)
        assert sentence(unnamed) == f"a file cannot be used: {os.strerror(number)}."
    assert is_bug(OSError(errno.EBADF, "x"))
    assert is_bug(OSError("x"))


def test_a_limit_on_processes_is_no_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of users on login nodes; the page of a result is made in a process of its own."""

    def limited(*_: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr("multiprocessing.popen_spawn_posix.Popen", limited)
    with pytest.raises(BlockingIOError) as caught:
        apart(bytes, seconds=9.0)
    assert not is_bug(caught.value)
    assert sentence(caught.value, "x").startswith("a limit is reached while x: Resource")


@pytest.mark.parametrize(
    "words",
    [
        *(["gate", ""], ["lint", ""], ["report", "x", "--out", ""], ["locate", ""]),
        *(["run", "osu", "latency", "--program", ""], ["history", "add", "", "x"]),
        *(["audit", "--from", "/", "--snapshot", ""], ["dossier", "verify", ""], ["resume", ""]),
    ],
)
def test_an_empty_path_is_not_the_current_folder(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """It comes from a variable that is not set; `run` searched the folder for programs."""
    assert main(words) == 2
    assert "is empty" in capsys.readouterr().err


def test_a_snapshot_needs_a_name() -> None:
    with pytest.raises(BadInput, match="give the name of a file"):
        write_snapshot(Path("."), {})


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    speed: Literal[1, 2] = 1
    names: dict[str, int] = {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("speed = 3", "line 1: speed: 3 is not one of 1, 2."),
        ('\nnames = {x = "y"}', "line 2: names: expected a whole number, got text."),
        ("sped = 3", "line 1: 'sped' is not known: did you mean speed?"),
        ('"x - at `$.q" = 1', "line 1: q: "),
        ('"x - at `$.names" = 1', "line 1: names: "),
    ],
)
def test_a_mistake_is_one_sentence_whatever_the_keys_are(text: str, said: str) -> None:
    with pytest.raises(BadInput) as error:
        read_struct(text, "f.toml", _Row)
    assert str(error.value).startswith(f"f.toml, {said}")
