"""What another user exchanges while it is read, run or removed; and small files that cost a walk of
the disk.
"""

import io
import os
import shutil
import subprocess
import tarfile
import time
import zlib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
from tests.archive.test_history import entry
from tests.dossiers import dossier_of
from tests.security.test_written import EVE, as_eve

from wireproof.archive import history as pruning
from wireproof.archive.logs import add
from wireproof.audit.archive import opened
from wireproof.cli import main
from wireproof.files.held import own_folder
from wireproof.logs.statistics import statistics_folder
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.report.reporter import LoggingReporter
from wireproof.store import history, signature
from wireproof.store.manifest import MANIFEST, Tampering, signatures_of
from wireproof.store.pairs import open_pairs
from wireproof.store.seal import POINTS, table_differences
from wireproof.store.signature import refuse_altered
from wireproof.watch import benchmark


@pytest.fixture
def reachable(tmp_path: Path) -> Path:
    """A folder that eve can come to, as on a machine."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == 0 and len(folder.parts) > 2:
            folder.chmod(folder.stat().st_mode | 0o055)
    return tmp_path


def _before_duckdb(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """``act`` runs when a file has been looked at, before DuckDB reads it."""
    real = duckdb.connect

    def connect(*given: object, **named: object) -> duckdb.DuckDBPyConnection:
        act()
        return real(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(duckdb, "connect", connect)


def _replaced(path: Path, make: Callable[[Path], object]) -> None:
    make(path.with_name("fresh"))
    path.with_name("fresh").replace(path)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_table_that_is_exchanged_is_read_as_it_was_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], object]
) -> None:
    """A table is read from the file that was checked, even if another file takes its name."""
    (tmp_path / history.INDEX).mkdir()
    history._write_table(tmp_path, [entry(number) for number in range(1, 4)])
    (table,) = (tmp_path / history.INDEX).iterdir()
    _before_duckdb(monkeypatch, lambda: _replaced(table, make))
    assert len(history.entries(tmp_path)) == 3


@pytest.mark.timeout(30)
def test_a_table_of_a_run_that_becomes_a_pipe_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = dossier_of(tmp_path / "made") / "run-1"
    assert table_differences(run) == []
    _before_duckdb(monkeypatch, lambda: _replaced(run / POINTS, os.mkfifo))
    with pytest.raises(BadInput, match="a named pipe"):
        table_differences(run)


def test_what_a_killed_process_has_left_in_a_history_goes_a_day_later(tmp_path: Path) -> None:
    made = dossier_of(tmp_path / "made")
    results = tmp_path / "history" / history.RESULTS
    names = (".r00001.0a1b2c", ".r00002.0a1b2c", ".notes")
    for name in names:
        (results / name).mkdir(parents=True)
        (results / name / "result.json").write_text("{}")
    (results / ".link.0a1b2c").symlink_to(made)
    for name in (names[0], names[2], ".link.0a1b2c"):
        os.utime(results / name, (0, 0), follow_symlinks=False)
    add(tmp_path / "history", made, LoggingReporter())
    assert {path.name for path in results.iterdir() if path.name.startswith(".")} == {
        ".r00002.0a1b2c",
        ".notes",
        ".link.0a1b2c",
    }
    assert (made / "result.json").is_file()


@pytest.mark.root
@pytest.mark.parametrize("owner", ["eve", "root"])
def test_pruning_removes_nothing_behind_a_link(reachable: Path, owner: str) -> None:
    """Nothing is removed behind a link of another user, nor in a folder of another user."""
    made = dossier_of(reachable / "roots" / entry(1).id)
    root = reachable / "history"
    (root / history.INDEX).mkdir(parents=True)
    root.chmod(0o1777)
    if owner == "eve":
        os.chown(root, EVE, EVE)
    as_eve(lambda: (root / history.RESULTS).symlink_to(reachable / "roots"))
    (stays,) = pruning.prune(root, [entry(1)])
    assert "link of the user" in stays
    assert (made / "result.json").is_file()


@pytest.mark.root
def test_pruning_removes_what_was_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = dossier_of(tmp_path / "roots" / entry(1).id)
    results = tmp_path / "history" / history.RESULTS
    dossier_of(results / entry(1).id)
    (tmp_path / "history" / history.INDEX).mkdir()
    real = pruning._is_ours

    def looked(*given: object) -> bool:
        found = real(*given)  # type: ignore[arg-type]
        results.rename(tmp_path / "moved")
        results.symlink_to(made.parent)
        return found

    monkeypatch.setattr(pruning, "_is_ours", looked)
    pruning.prune(tmp_path / "history", [entry(1)])
    assert (made / "result.json").is_file()
    assert not (tmp_path / "moved" / entry(1).id).exists()


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", ["run-1/frames.jsonl", "run-1/added"])
def test_a_dossier_is_bounded_before_it_is_hashed(tmp_path: Path, name: str) -> None:
    """A dossier with more bytes or files than a result can have is refused before it is hashed."""
    made = dossier_of(tmp_path / "dossier")
    with (made / name).open("ab") as file:
        file.truncate(1 << 42)
    with pytest.raises(BadInput, match=r"more than .* GiB"):
        refuse_altered(made)


def test_a_supportconfig_of_sections_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each section becomes a file: a few kB can ask for a million."""
    path = tmp_path / "scc.tar.xz"
    with tarfile.open(path, "w:xz") as archive:
        for text in range(3):
            head = b"#==[ Configuration File ]===#\n# /etc/d%d/f%d\nx\n"
            data = b"".join(head % (text, number) for number in range(900))
            for name in ("basic-environment.txt", f"x{text}.txt"):
                one = tarfile.TarInfo(f"scc_h_210101_0101/{name}")
                one.size = len(data)
                archive.addfile(one, io.BytesIO(data))
    monkeypatch.setattr(import_module("wireproof.audit.archive"), "_MOST_SECTIONS", 2000)
    with pytest.raises(BadInput, match="more than 2000 sections"), opened(path):
        pass


@pytest.mark.root
def test_a_cache_behind_a_link_is_used_without_the_link(reachable: Path) -> None:
    """As root with HOME still eve's: she exchanges her link after everything was looked at."""
    (reachable / "roots").mkdir(mode=0o700)
    reachable.chmod(0o1777)
    as_eve(lambda: (reachable / "cache").symlink_to(reachable / "roots"))
    place = reachable / "cache" / "wireproof"
    assert own_folder(place / "abi", below=place) == reachable / "roots" / "wireproof" / "abi"


@pytest.mark.root
def test_no_folder_is_made_in_a_current_folder_of_another_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eve exchanges the folder before its first file is written."""
    os.chown(tmp_path, EVE, EVE)
    monkeypatch.chdir(tmp_path)
    recipe = SimpleNamespace(input_file="hpccinf.txt", tool="hpcc")
    for made in (statistics_folder(asked=True), benchmark._work_folder(recipe)):  # type: ignore[arg-type]
        with pytest.raises(CouldNotMeasure, match="belongs to the user"), made:
            pass
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
def test_what_is_signed_is_what_was_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eve exchanges the manifest as soon as all files have been compared with it."""
    made = dossier_of(tmp_path / "dossier")
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    real = signature.differences

    def compared(*given: Path) -> list[Tampering]:
        found = real(*given)
        (made / MANIFEST).write_text("0" * 64 + "  result.json\n")
        return found

    monkeypatch.setattr(signature, "differences", compared)
    before = (made / MANIFEST).read_bytes()
    assert main(["dossier", "sign", str(made), "--key", str(key)]) == 0
    (signed,) = signatures_of(made)
    signature._by_ssh(signed, before, None)
    with pytest.raises(BadInput, match="not a signature of this"):
        signature._by_ssh(signed, (made / MANIFEST).read_bytes(), None)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.json"])
def test_a_table_of_zeros_is_refused_at_once(tmp_path: Path, name: str) -> None:
    """DuckDB takes minutes for a file that takes no space."""
    with open(tmp_path / name, "wb") as file:
        if name.endswith("gz"):
            packer = zlib.compressobj(wbits=31)
            file.writelines(packer.compress(bytes(1 << 20)) for _ in range(100))
        else:
            file.truncate(1 << 40)
    with (
        pytest.raises(BadInput, match="does not begin with a line of column names"),
        open_pairs(tmp_path / name),
    ):
        pass


@pytest.mark.parametrize("field", ["x", ",", '"'])
@pytest.mark.parametrize("rows", [1, 100_000])
def test_a_table_with_an_endless_line_is_refused_at_once(
    tmp_path: Path, field: str, rows: int
) -> None:
    """A table of pairs with a line of more than 64 KiB is refused before it takes time.

    DuckDB takes 5 to 11 seconds of processor for a field of 50 MB, and its parallel reader leaves
    such a line out without an error.
    """
    with open(tmp_path / "x.csv", "w") as file:
        file.write("origin,target,usec\n" + "n1,n2,1.5\n" * rows + "n3,")
        file.writelines([field * 1_000_000] * 50 + [",1.5\n"])
    begun = time.process_time()
    with pytest.raises(BadInput, match="cannot be read as a table"), open_pairs(tmp_path / "x.csv"):
        pass
    assert time.process_time() - begun < 3
