"""``audit --from``: a folder or an archive that was made to harm, hang, fill or mislead."""

import contextlib
import gzip
import io
import os
import tarfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from tests.audit.trees import lay_out

from wireproof.audit.facts import HostFacts
from wireproof.audit.firmware import _object
from wireproof.audit.interfaces import INTERFACES, listed_nics
from wireproof.audit.job import AuditSpecification, audit
from wireproof.audit.pci import _of_engine
from wireproof.model.errors import BadInput
from wireproof.model.record import FactFrame
from wireproof.model.setting import AuditResult
from wireproof.plan.footprint.observed import resources_of
from wireproof.report.reporter import LoggingReporter
from wireproof.store.snapshot import read_snapshot, write_snapshot

pytestmark = pytest.mark.engine
PLACE = "sys/devices/system/clocksource/clocksource0/current_clocksource"
GIB = 1 << 30


def audited(source: Path, *only: str) -> list[AuditResult]:
    return audit(AuditSpecification(source=source, only=only), LoggingReporter(), {}).results


def _sparse(file: Path) -> None:
    with file.open("wb") as opened:
        opened.truncate(GIB)


def _loop(file: Path) -> None:
    file.symlink_to(file.name)


def _device(file: Path) -> None:
    try:
        os.mknod(file, 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero, which never ends
    except PermissionError:
        pytest.skip("root: device nodes cannot be made")


PLANTED: dict[str, Callable[[Path], object]] = {
    "escape codes": lambda file: file.write_bytes(b"\x1b]0;owned\x07\x1b[2Jtsc\n"),
    "a gigabyte of nothing": _sparse,
    "binary": lambda file: file.write_bytes(bytes(range(256)) * 64),
    "wrong encoding": lambda file: file.write_bytes("tsc".encode("utf-16")),
    "broken UTF-8": lambda file: file.write_bytes(b"\xff\xfe\x80"),
    "one line without an end": lambda file: file.write_bytes(b"x" * 300_000),
    "nothing": lambda file: file.write_bytes(b""),
    "FIFO": lambda file: os.mkfifo(file),
    "link to itself": _loop,
    "link to nothing": lambda file: file.symlink_to("/no/such/place"),
    "link that leads out": lambda file: file.symlink_to("../../../../../../../../../../etc/passwd"),
    "absolute link": lambda file: file.symlink_to("/etc/passwd"),
    "folder": lambda file: file.mkdir(),
    "device": _device,
}


@pytest.mark.parametrize("kind", PLANTED)
def test_one_hostile_file_costs_its_setting_alone(kind: str, tmp_path: Path) -> None:
    root = lay_out(tmp_path, "epyc-connectx", {PLACE: None})
    (root / PLACE).parent.mkdir(parents=True)
    PLANTED[kind](root / PLACE)
    found = audited(root, "clock-source", "tcp-sack", "swappiness")
    by_id = {one.id: one for one in found}
    clock = by_id["clock-source"]
    assert clock.status in ("unknown", "fail", "not-applicable")
    assert "root:" not in clock.seen, "a file outside the folder was read"
    assert by_id["swappiness"].status == "pass"
    text = " ".join([clock.message, *clock.evidence])
    assert len(text) < 2000


@pytest.mark.parametrize("folder", ["proc", "sys/class/net", "sys/bus/pci/devices"])
def test_folders_that_go_round_end(folder: str, tmp_path: Path) -> None:
    root = lay_out(tmp_path, "eight-gpus")
    (root / folder).mkdir(parents=True, exist_ok=True)
    (root / folder / "loop").symlink_to(".")
    (root / folder / "up").symlink_to("..")
    assert {one.status for one in audited(root, "clock-source")} == {"pass"}
    assert audited(root, "pcie-width", "mtu")


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    one = tarfile.TarInfo(name)
    one.type, one.linkname = kind, target
    return one


def packed(path: Path, *members: tarfile.TarInfo, mode: str = "w:gz") -> Path:
    """A host's files after what is hostile."""
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for one in members:
            archive.addfile(one)
        for name, text in (("etc/hostname", b"n1\n"), (PLACE, b"tsc\n")):
            good = tarfile.TarInfo(name)
            good.size = len(text)
            archive.addfile(good, io.BytesIO(text))
    return path


@pytest.mark.parametrize(
    "hostile",
    [
        member("proc/cmdline", tarfile.FIFOTYPE),
        member("proc/cmdline", tarfile.CHRTYPE),
        member("proc/cmdline", tarfile.BLKTYPE),
        member("proc/cmdline", tarfile.LNKTYPE, "/etc/passwd"),
        member("proc/cmdline", tarfile.SYMTYPE, "/etc/passwd"),
        member("proc", tarfile.SYMTYPE, "/"),
        member("../proc/cmdline", tarfile.REGTYPE),
        member("/etc/wireproof-evil", tarfile.REGTYPE),
        member("etc/../../evil", tarfile.REGTYPE),
        member("etc/" + "a" * 300, tarfile.REGTYPE),
        member("etc/\x1b[2J", tarfile.REGTYPE),
        member("etc/" + "b/" * 2000, tarfile.DIRTYPE),
    ],
    ids=lambda one: f"{one.type.decode()} {one.name[:20]!r}",
)
def test_a_hostile_member_is_left_out_or_refused(hostile: tarfile.TarInfo, tmp_path: Path) -> None:
    source = packed(tmp_path / "sosreport.tar.gz", hostile)
    before = {path.name for path in tmp_path.parent.iterdir()}
    found, refused = list[AuditResult](), ""
    try:
        found = audited(source, "clock-source", "kernel-arguments")
    except BadInput as error:
        refused = str(error)
    assert refused.isprintable()
    assert refused or {one.id: one.status for one in found}["clock-source"] == "pass"
    assert not [one for one in found if "root:" in one.seen]
    assert {path.name for path in tmp_path.parent.iterdir()} == before
    assert not Path("/etc/wireproof-evil").exists()


def test_an_archive_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("wireproof.audit.archive"), "_LARGEST_ARCHIVE", 1 << 20)
    bomb = tarfile.TarInfo("proc/bomb")
    bomb.size = 64 << 20
    with tarfile.open(tmp_path / "s.tar.xz", "w:xz") as archive:
        archive.addfile(bomb, io.BytesIO(bytes(bomb.size)))
    assert (tmp_path / "s.tar.xz").stat().st_size < 1 << 20
    with pytest.raises(BadInput, match="that is too large"):
        audited(tmp_path / "s.tar.xz")


def test_an_archive_of_too_many_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [member(f"etc/{number}", tarfile.REGTYPE) for number in range(20)]
    archive = packed(tmp_path / "s.tar.gz", *many)
    for name, word in (("_MOST_FILES", "files"), ("_MOST_MEMBERS", "members")):
        monkeypatch.setattr(import_module("wireproof.audit.archive"), f"{name}", 10)
        with pytest.raises(BadInput, match=f"10 {word}"):
            audited(archive)


def test_members_are_counted_before_the_first_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The members of an archive are counted before the first is written.

    To write 100,000 files takes minutes, and to count them a few seconds.
    """
    written = list[str]()
    many = [member(f"etc/{number}", tarfile.REGTYPE) for number in range(20)]
    archive = packed(tmp_path / "s.tar.gz", *many)
    monkeypatch.setattr(
        tarfile.TarFile, "extract", lambda _, one, *given, **named: written.append(one.name)
    )
    monkeypatch.setattr(import_module("wireproof.audit.archive"), "_MOST_FILES", 10)
    with pytest.raises(BadInput, match="10 files"):
        audited(archive)
    assert written == []


@pytest.mark.parametrize("packing", ["folder", "archive"])
def test_a_part_of_a_supportconfig_is_read_whole_or_named(
    packing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of a supportconfig that is too large is refused, never cut.

    The setting that counts may be at its end.
    """
    folder = tmp_path / "scc_h_210101_0101"
    folder.mkdir()
    (folder / "basic-environment.txt").write_text("x\n" * 400)
    (folder / "env.txt").write_text("y\n" * 600)
    source = folder
    if packing == "archive":
        source = tmp_path / "scc.tar.gz"
        with tarfile.open(source, "w:gz") as archive:
            archive.add(folder, folder.name)
    monkeypatch.setattr(import_module("wireproof.audit.archive"), "_LARGEST_PART", 1000)
    with pytest.raises(BadInput, match=r"env\.txt in .*scc_h_210101_0101"):
        audited(source)


def test_the_output_of_a_command_is_read_whole_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    last = "vm.swappiness = 60\n"
    (folder / "sysctl_-a").write_text("vm.dirty_ratio = 20\n" * 40 + last)
    audited(folder)
    monkeypatch.setattr(import_module("wireproof.audit.archive"), "_LARGEST_TEXT", 600)
    with pytest.raises(BadInput, match="sysctl_-a is larger"):
        audited(folder)


@pytest.mark.parametrize("cut", [0.0, 0.01, 0.3, 0.6])
@pytest.mark.parametrize("mode", ["gz", "xz", "bz2"])
def test_an_archive_that_is_cut_off_is_refused(cut: float, mode: str, tmp_path: Path) -> None:
    data = packed(tmp_path / f"whole.tar.{mode}", mode=f"w:{mode}").read_bytes()
    torn = tmp_path / f"torn.tar.{mode}"
    torn.write_bytes(data[: int(cut * len(data))])
    with pytest.raises(BadInput, match=r"^[^\n]+\.$"):
        audited(torn, "clock-source")


@pytest.mark.parametrize("mode", ["gz", "xz", "bz2"])
def test_an_archive_with_a_wrong_byte_is_refused_or_read(mode: str, tmp_path: Path) -> None:
    source = packed(tmp_path / f"s.tar.{mode}", mode=f"w:{mode}")
    data = bytearray(source.read_bytes())
    said = []
    for place in range(12, len(data), 17):
        source.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        try:
            audited(source, "clock-source")
        except BadInput as error:
            said.append(str(error))
    assert said
    assert all("\n" not in text for text in said)


@pytest.mark.parametrize("name", ["s.zip", "s.tar", "s.7z", "s.tar.gz"])
def test_what_is_called_an_archive_and_is_none_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04" + os.urandom(2000))
    with pytest.raises(BadInput, match=r"^[^\n]+\.$"):
        audited(tmp_path / name)


@pytest.mark.parametrize("name", ["fifo.tar.gz", "fifo.snap"])
def test_a_source_that_never_ends_is_refused(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(BadInput):
        audited(tmp_path / name)


@pytest.mark.parametrize("damage", ["\xff", "\xed\xa0\x80"])
def test_a_snapshot_with_a_text_that_is_no_utf_8_is_refused(damage: str, tmp_path: Path) -> None:
    frames = [FactFrame(rank=0, kind="file", path="/proc/x", status="ok", text="a" * 9)]
    write_snapshot(tmp_path / "s", {"n1": frames})
    data = gzip.decompress((tmp_path / "s").read_bytes())
    bad = damage.encode("latin-1")
    for text in (b"a" * 9, b"/proc/x", b"wireproof.snapshot", b"n1"):
        whole = data.replace(text, bad + text[len(bad) :])
        (tmp_path / "bad").write_bytes(gzip.compress(whole))
        with pytest.raises(BadInput, match=r"not a snapshot of wireproof"):
            read_snapshot(tmp_path / "bad")


DEEP = ("[" * 100_000, '{"x":' * 100_000, '[{"name":' * 100_000, "[\ud800]", "[\udcff")


@pytest.mark.parametrize("text", DEEP, ids=range(len(DEEP)))
def test_json_within_facts_is_no_error_of_ours(text: str) -> None:
    """What the engine or a tool lists on a host, nested without end or no text at all."""
    for function in (_of_engine, _object):
        function(text)
    with contextlib.suppress(BadInput):
        resources_of(text)
    frame = FactFrame(rank=0, kind="file", path=INTERFACES, status="ok", text=text)
    facts = HostFacts("n1", {INTERFACES: frame})
    assert list(listed_nics(facts)) == []
