"""Folders that another user has prepared: what is copied from them, and what is believed."""

import contextlib
import dataclasses
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.verb import wireproof
from tests.dossiers import dossier_of

from wireproof.archive import verify as verifying
from wireproof.archive.gate import gate
from wireproof.archive.logs import add
from wireproof.archive.verify import verify
from wireproof.catalogue import use_catalogue
from wireproof.cli import main
from wireproof.files import hostile
from wireproof.files.hostile import copy_folder
from wireproof.locate.samples import Samples
from wireproof.measure.report import report
from wireproof.model.errors import BadInput
from wireproof.model.located import Metric
from wireproof.model.record import FactFrame
from wireproof.model.run import Run
from wireproof.model.site import use_site
from wireproof.report.reporter import LoggingReporter
from wireproof.store.manifest import write_manifest
from wireproof.store.snapshot import SETTINGS, is_snapshot, read_snapshot, write_snapshot

EXAMPLE = Path(__file__).parents[1] / "store" / "data" / "run-folder-schema-1"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dossier_of(tmp_path_factory.mktemp("made") / "dossier")


@pytest.fixture
def eves(made: Path, tmp_path: Path) -> Path:
    """A result without a manifest, to which eve adds."""
    folder = tmp_path / "eve" / "result"
    shutil.copytree(made, folder)
    (folder / "SHA256SUMS").unlink()
    return folder


def everything(root: Path) -> Iterator[Path]:
    yield from root.rglob("*")


def test_a_setuid_program_in_a_result_becomes_nobodys_program(eves: Path, tmp_path: Path) -> None:
    """Copies are plain files that only their owner can read; file modes are not copied."""
    program = eves / "run-1" / "sh"
    program.write_bytes(b"#!/bin/sh\n")
    program.chmod(0o4755)
    eves.chmod(0o777)
    (eves / "run-1").chmod(0o2777)
    entry = add(tmp_path / "history", eves, LoggingReporter())
    place = tmp_path / "history" / "results" / entry.id
    assert (place / "run-1" / "sh").is_file()
    for path in (place, *everything(place)):
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.lstat().st_mode) == wanted, path


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda path: path.symlink_to("/etc/shadow"), "a symbolic link"),
        (lambda path: path.symlink_to("/etc"), "a symbolic link"),
        (os.mkfifo, "a named pipe"),
    ],
)
def test_what_is_no_file_is_not_copied(eves: Path, tmp_path: Path, make: object, word: str) -> None:
    make(eves / "run-1" / "more")  # type: ignore[operator]
    with pytest.raises(BadInput, match=f"more cannot be read: it is {word} and not a file"):
        add(tmp_path / "history", eves, LoggingReporter())
    assert not (tmp_path / "history").exists()


def test_a_device_is_not_copied(eves: Path, tmp_path: Path) -> None:
    try:
        os.mknod(eves / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("root: device nodes cannot be made")
    with pytest.raises(BadInput, match="zero cannot be read: it is a device"):
        add(tmp_path / "history", eves, LoggingReporter())


def test_a_sparse_file_is_refused_before_it_takes_room(eves: Path, tmp_path: Path) -> None:
    with open(eves / "huge", "wb") as file:
        file.truncate(hostile.LARGEST + 1)
    with pytest.raises(BadInput, match="it contains more than 4 GiB"):
        add(tmp_path / "history", eves, LoggingReporter())


def test_too_many_and_too_deep_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostile, "MOST", 3)
    source = tmp_path / "many"
    source.mkdir()
    for name in "abcd":
        (source / name).touch()
    with pytest.raises(OSError, match="more than 3 files"):
        copy_folder(source, tmp_path / "copy")
    monkeypatch.undo()
    deep = tmp_path / "deep"
    (deep / "/".join("d" * (hostile.DEPTH + 2))).mkdir(parents=True)
    with pytest.raises(OSError, match="deeper than 16"):
        copy_folder(deep, tmp_path / "copy2")


def test_a_folder_that_becomes_a_link_while_it_is_copied_is_not_followed(tmp_path: Path) -> None:
    """Eve exchanges a folder and a link as fast as she can: nothing from outside is ever copied."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "file").write_text("secret")
    source = tmp_path / "source"
    (source / "sub").mkdir(parents=True)
    (source / "sub" / "file").write_text("open")
    over = threading.Event()

    def exchange() -> None:
        (source / "link").symlink_to(secret)
        while not over.is_set():
            for one, other in (("sub", "away"), ("link", "sub"), ("sub", "link"), ("away", "sub")):
                os.rename(source / one, source / other)

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        for number in range(200):
            copy = tmp_path / f"copy{number}"
            with contextlib.suppress(OSError):
                copy_folder(source, copy)
            for path in everything(copy):
                assert not path.is_file() or path.read_text() == "open"
    finally:
        over.set()
        thread.join()


def _exchanged_after_hashing(
    monkeypatch: pytest.MonkeyPatch, module: object, name: str, folder: Path, other: Path
) -> None:
    """Eve's exchange at the worst moment: everything has been hashed, nothing is judged yet."""
    real = getattr(module, name)

    def then(*given: object, **named: object) -> object:
        for path in folder.rglob("*"):
            if path.is_file() and (other / path.relative_to(folder)).is_file():
                path.write_bytes((other / path.relative_to(folder)).read_bytes())
        return real(*given, **named)

    monkeypatch.setattr(module, name, then)


def _edited(made: Path, place: Path) -> Path:
    """The dossier with another verdict, and what else says it, sealed anew."""
    shutil.copytree(made, place)
    result = place / "result.json"
    text = result.read_text()
    other = text.replace('"verdict":"pass"', '"verdict":"fail"')
    assert other != text
    result.write_text(other)
    write_manifest(place)
    return place


def test_what_is_verified_is_what_was_hashed(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = verify(made)
    folder = tmp_path / "dossier"
    shutil.copytree(made, folder)
    other = _edited(made, tmp_path / "other")
    _exchanged_after_hashing(monkeypatch, verifying, "read_dossier", folder, other)
    found = verify(folder)
    assert (folder / "result.json").read_bytes() == (other / "result.json").read_bytes()
    assert found.verdict == honest.verdict
    assert found.manifest == honest.manifest
    assert found.folder == str(folder)


def test_what_is_reported_is_what_was_hashed(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wireproof.measure import report as reporting

    shutil.copytree(made, tmp_path / "dossier")
    other = _edited(made, tmp_path / "other")
    (honest,) = report([tmp_path / "dossier"], LoggingReporter(), pages=False)
    _exchanged_after_hashing(monkeypatch, reporting, "stored_in", tmp_path / "dossier", other)
    (found,) = report([tmp_path / "dossier"], LoggingReporter(), pages=False)
    assert (found.before, found.folder) == (honest.before, tmp_path / "dossier")


def test_a_gate_reads_what_it_believes_once(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wireproof.archive import gate as gating

    folder = tmp_path / "dossier"
    shutil.copytree(made, folder)
    other = _edited(made, tmp_path / "other")
    data = (folder / "result.json").read_bytes()
    (folder / "result.json").write_bytes((other / "result.json").read_bytes())
    real = gating.listed

    def back(place: Path) -> dict[str, str]:
        (place / "result.json").write_bytes(data)
        return real(place)

    monkeypatch.setattr(gating, "listed", back)
    found = gate(folder, max_age_s=1e12)
    assert found.verdict == gate(made, max_age_s=1e12).verdict


TOOLS = "git ssh ip tc ethtool systemctl unshare lspci chromium mpirun mpiexec srun sinfo scontrol"


def test_no_program_of_the_current_folder_is_run(tmp_path: Path) -> None:
    """No relative and no empty entry of PATH is searched."""
    place = tmp_path / "work"
    (place / "tools").mkdir(parents=True)
    for folder in (tmp_path, place, place / "tools"):
        for name in TOOLS.split():
            (folder / name).write_text(f"#!/bin/sh\necho {name} >>{tmp_path}/ran\nexit 1\n")
            (folder / name).chmod(0o755)
    shutil.copytree(EXAMPLE, place / "result")
    around = {"PATH": f":.:..:tools:./tools::{os.environ['PATH']}:"}
    for words in (
        ["doctor", "--no-run"],
        ["audit", "--from", "/"],
        ["report", "result", "--format", "pdf", "--out", "out.pdf"],
        ["--version"],
        ["check", "--hosts", "nowhere1.invalid,nowhere2.invalid", "--dry-run"],
        ["check", "--lab", "no-such-lab"],
    ):
        wireproof(*words, cwd=place, environment=around)
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()


def test_samples_that_cannot_be_are_bad_input(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a damaged table gives: a node that is paired with itself."""
    from wireproof.workflow import locate

    real = locate.samples_of

    def with_itself(run: Run, metric: Metric) -> Samples | None:
        found = real(run, metric)
        return found and dataclasses.replace(found, target=found.origin)

    monkeypatch.setattr(locate, "samples_of", with_itself)
    with pytest.raises(BadInput, match="same node"):
        locate.from_folder(made, None)


def test_so_is_a_table_of_pairs_that_cannot_be(tmp_path: Path) -> None:
    """DuckDB believes a Parquet file's statistics, and leaves out what they say is not needed."""
    from tests.fuzz.targets import TARGETS

    from wireproof.workflow.locate import from_table

    (tmp_path / "x.parquet").write_bytes(TARGETS["pairs"].make(random.Random("21:pairs:900"))[1:])
    with pytest.raises(BadInput, match="same node"):
        from_table(tmp_path / "x.parquet", None)
    rows = "origin,target,usec\n1,01,1.5\n1,2,2.5\n2,1,2.5\n1,1.0,3\n"
    (tmp_path / "x.csv").write_text(rows)
    with contextlib.suppress(BadInput):
        from_table(tmp_path / "x.csv", None)


@pytest.mark.parametrize(
    "text", ["modprobe ,\\\n t", "options ,", "options , x", "modprobe \\\n ,", "options \t, 1"]
)
def test_half_a_line_of_modprobe_is_no_error_of_ours(tmp_path: Path, text: str) -> None:
    for name in ("a.sh", "a.conf"):
        (tmp_path / name).write_text(text)
        assert main(["lint", str(tmp_path / name)]) in (0, 1, 2, 3)


def test_a_table_of_a_history_and_a_snapshot_are_for_their_owner(tmp_path: Path) -> None:
    """The history's table and the settings of hosts are readable by you alone."""
    from tests.archive.test_history import entry

    from wireproof.store import history as store

    (tmp_path / "index").mkdir()
    before = os.umask(0)
    try:
        store._write_table(tmp_path, [entry(1)])
    finally:
        os.umask(before)
    (table,) = (tmp_path / "index").iterdir()
    assert stat.S_IMODE(table.stat().st_mode) == 0o600


@pytest.mark.parametrize("number", ["11:recipes:8461", "21:recipes:8783", "21:recipes:23585"])
def test_an_empty_script_within_a_script_is_no_error_of_ours(number: str) -> None:
    """An empty here-document that is named as a script has no line to look at."""
    from tests.fuzz.targets import TARGETS

    from wireproof.lint.shell import tokens

    assert not any(token.raw for token in tokens([], 1, [], spanning=False))
    recipes = TARGETS["recipes"]
    assert recipes.tried(recipes.make(random.Random(number))) == ""


# --- groups of hosts


@pytest.mark.root
@pytest.mark.parametrize("at", ["", "clustershell", "clustershell/groups.conf"])
@pytest.mark.parametrize("variable", ["HOME", "XDG_CONFIG_HOME", "CLUSTERSHELL_CFGDIR"])
def test_groups_of_another_user_start_nothing(tmp_path: Path, at: str, variable: str) -> None:
    """Groups of hosts are read only if no other user can change their configuration, because it
    names commands.
    """
    inner = {"HOME": ".config", "XDG_CONFIG_HOME": "", "CLUSTERSHELL_CFGDIR": ""}[variable]
    config = tmp_path / "eve" / inner / "clustershell"
    config.mkdir(parents=True)
    order = f"touch {tmp_path}/ran; echo n1"
    (config / "groups.conf").write_text(f"[Main]\ndefault: e\n[e]\nmap: {order}\nlist: {order}\n")
    value = config if variable == "CLUSTERSHELL_CFGDIR" else tmp_path / "eve"
    environment = {
        **{name: text for name, text in os.environ.items() if name != "XDG_CONFIG_HOME"},
        variable: str(value),
    }
    code = "from wireproof.options.hosts import parse_hosts; print(parse_hosts('@x'))"

    def ran() -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-c", code]
        return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)

    assert ran().stdout == "('n1',)\n"
    (tmp_path / "ran").unlink()
    os.chown(tmp_path / "eve" / inner / at if at else tmp_path / "eve", 65534, 65534)
    assert "belongs to the user with ID 65534" in ran().stderr
    assert not (tmp_path / "ran").exists()


# --- a catalogue

LINK = '[[link]]\nname = "x1"\nprotocol = "tcp"\nsource = "s"\ngbps = 10.0\n'


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    """A catalogue that counts."""
    folder = tmp_path / "site"
    folder.mkdir(mode=0o755)
    (folder / "x.toml").write_text(LINK)
    (folder / "x.toml").chmod(0o644)
    assert use_catalogue(folder) == {"link": 1}
    yield folder
    use_site(())


@pytest.mark.parametrize("at", ["", "x.toml"])
@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_catalogue_that_others_can_write_is_refused(site: Path, at: str, mode: int) -> None:
    """A catalogue that other users can write, or that contains a file of another user,
    is refused.
    """
    (site / at).chmod(mode)
    with pytest.raises(BadInput, match="is writable by"):
        use_catalogue(site)


@pytest.mark.root
@pytest.mark.parametrize("sticky", [False, True])
def test_a_file_of_another_user_in_a_catalogue_is_refused(site: Path, sticky: bool) -> None:
    """Also in /tmp."""
    os.chown(site / "x.toml", 65534, 65534)
    site.chmod(0o1777 if sticky else 0o755)
    with pytest.raises(BadInput, match="belongs to the user"):
        use_catalogue(site)


READERS = (
    "judge {}",
    "lint {}",
    "locate {}",
    "locate --world {}",
    "compare {} again",
    "history add new {}",
    "audit --from {}",
    "audit --from tree --site {}",
    "audit --bmc {}",
    "pfc --from {}",
    "tune apply {} --root tree",
    "tune export shell {}",
    "lab up {}",
    "study {}",
    "judge log --physics {}",
    "check --hosts a,b --dry-run --criteria {}",
    "check --hosts a,b --topology {}",
    "report result --topology {}",
)


@pytest.mark.root
@pytest.mark.parametrize("words", READERS)
def test_a_link_of_another_user_is_refused_by_every_reader(tmp_path: Path, words: str) -> None:
    """In a folder that another user may have made, only regular files are opened: a link to a file,
    a pipe and a device are refused, and the number of bytes read is bounded.
    """
    log = next(Path(__file__).parents[1].joinpath("golden", "logs").glob("osu74-bw-*"))
    shutil.copy(log, tmp_path / "log")
    shutil.copy(log, tmp_path / "again")
    shutil.copytree(EXAMPLE, tmp_path / "result")
    (tmp_path / "tree" / "proc").mkdir(parents=True)
    (tmp_path / "a.toml").symlink_to("b.toml")
    (tmp_path / "b.toml").symlink_to(tmp_path / "log")
    argv = words.replace("{}", "a.toml").split()
    refusal = r"symbolic\s+link"
    assert not re.search(refusal, told(argv, tmp_path)), "a link of mine is followed"
    os.chown(tmp_path / "b.toml", 65534, 65534, follow_symlinks=False)
    assert re.search(refusal, told(argv, tmp_path))


def told(argv: list[str], place: Path) -> str:
    done = wireproof(*argv, cwd=place)
    return done.stdout + done.stderr


@pytest.mark.root
@pytest.mark.parametrize(
    ("name", "after"), [("mine", "lstat"), ("file", "lstat"), ("file", "stat")]
)
def test_a_link_of_mine_that_another_exchanges_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, after: str
) -> None:
    """No link of another user is followed to a file that is read, even if it takes the place of
    your link or file while it is opened.
    """
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "file").write_text("open")
    (tmp_path / "eves").symlink_to("secret")
    os.chown(tmp_path / "eves", 65534, 65534, follow_symlinks=False)
    (tmp_path / "mine").symlink_to("file")
    real = getattr(os, after)

    def exchanged(path: object, *given: object, **named: object) -> os.stat_result:
        status: os.stat_result = real(path, *given, **named)
        if str(path).endswith(name) and (tmp_path / "eves").is_symlink():
            os.rename(tmp_path / "eves", tmp_path / name)
        return status

    monkeypatch.setattr(os, after, exchanged)
    with pytest.raises(OSError, match=r"link|levels"):
        hostile.open_regular(tmp_path / "mine")
    assert (tmp_path / name).is_symlink()
    assert not (tmp_path / "eves").is_symlink()


@pytest.mark.parametrize("words", ["audit --from tree --site {}", "tune apply {} --root tree"])
def test_a_file_is_read_whole_or_refused(tmp_path: Path, words: str) -> None:
    """What is behind a limit may be what counts, such as a site's strict values."""
    (tmp_path / "tree" / "proc").mkdir(parents=True)
    with open(tmp_path / "x", "wb") as file:
        file.write(b"# remark\n" * (1 << 17))
        file.truncate((64 << 20) + 1)
    assert "larger than" in told(words.replace("{}", "x").split(), tmp_path)


def test_an_open_file_is_read_though_it_has_no_name(tmp_path: Path) -> None:
    """As /dev/stdin of a here-document is."""
    with open(tmp_path / "x", "w+") as file:
        (tmp_path / "x").unlink()
        file.write("text")
        file.flush()
        assert hostile.read_bounded(f"/dev/fd/{file.fileno()}", 9) == b"text"


def test_a_link_in_place_of_the_settings_of_a_result_is_refused(tmp_path: Path) -> None:
    frame = FactFrame(rank=0, kind="file", status="ok", path="/proc/loadavg", text="9.5 1 1")
    write_snapshot(tmp_path / "mine", {"n1": [frame]})
    (tmp_path / "result").mkdir()
    (tmp_path / "result" / SETTINGS).symlink_to(tmp_path / "mine")
    for read in (is_snapshot, read_snapshot):
        with pytest.raises(BadInput, match="symbolic link"):
            read(tmp_path / "result" / SETTINGS)
    (tmp_path / "named").symlink_to(tmp_path / "mine")
    assert read_snapshot(tmp_path / "named")
