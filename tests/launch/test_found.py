"""MPIs and engines are found: by what they say, by their sonames, in folders of our own."""

import struct
import tomllib
from pathlib import Path

import pytest

from wireproof.launch.engines import find_program, private_link, version_of
from wireproof.launch.here import meeting_point
from wireproof.launch.mpi.identify import (
    family_of_launcher,
    family_of_library,
    probe_argv,
    read_soname,
    sonames,
)
from wireproof.model.errors import CouldNotMeasure

TABLES = tomllib.loads(Path(__file__).with_name("tables.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "family", "short"), TABLES["libraries"])
def test_a_library_is_known_by_its_own_answer(text: str, family: str, short: str) -> None:
    assert (family_of_library(text) or "") == family
    assert version_of(text) == short


@pytest.mark.parametrize(("text", "family"), TABLES["launchers"])
def test_a_launcher_is_known_by_its_version(text: str, family: str) -> None:
    assert (family_of_launcher(text) or "") == family


def elf(soname: bytes, *, bits: int = 64, order: str = "<") -> bytes:
    """A shared library with nothing but a soname: one loadable and one dynamic segment."""
    wide = bits == 64
    header_size, segment = (64, "IIQQQQQQ") if wide else (52, "IIIIIIII")
    strings = b"\0" + soname + b"\0"
    entry = order + ("qQ" if wide else "iI")
    offset = header_size + 2 * struct.calcsize(order + segment)
    tags = [(5, offset + 3 * struct.calcsize(entry)), (14, 1), (0, 0)]
    dynamic = b"".join(struct.pack(entry, *tag) for tag in tags)
    size = offset + len(dynamic) + len(strings)

    def program(kind: int, start: int, length: int) -> bytes:
        if wide:
            return struct.pack(order + segment, kind, 4, start, start, start, length, length, 8)
        return struct.pack(order + segment, kind, start, start, start, length, length, 4, 8)

    ident = b"\x7fELF" + bytes([2 if wide else 1, 1 if order == "<" else 2, 1]) + bytes(9)
    layout = "HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"
    entry_size = struct.calcsize(order + segment)
    header = ident + struct.pack(
        order + layout, 3, 62, 1, 0, header_size, 0, 0, header_size, entry_size, 2, 0, 0, 0
    )
    return header + program(1, 0, size) + program(2, offset, len(dynamic)) + dynamic + strings


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("order", ["<", ">"])
def test_the_soname_is_read_from_the_file(tmp_path: Path, bits: int, order: str) -> None:
    path = tmp_path / "libmpi.so.12"
    path.write_bytes(elf(b"libmpi.so.12", bits=bits, order=order))
    assert read_soname(path) == "libmpi.so.12"


@pytest.mark.parametrize("cut", [0, 4, 20, 64, 120, 180, 200])
def test_a_file_that_is_no_whole_library_has_no_soname(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "libmpi.so"
    path.write_bytes(elf(b"libmpi.so.12")[:cut])
    assert read_soname(path) is None


def test_a_linker_script_is_passed_over_and_the_loaders_name_is_preferred(tmp_path: Path) -> None:
    (tmp_path / "libmpi.so").write_text("INPUT(libmpi.so.12)\n")
    (tmp_path / "libmpi.so.12.1.0").write_bytes(elf(b"libmpi.so.12"))
    (tmp_path / "libmpi.so.12").symlink_to("libmpi.so.12.1.0")
    (tmp_path / "libmpicxx.so.12").write_bytes(elf(b"libmpicxx.so.12"))
    (tmp_path / "libmpich.so.12").write_bytes(elf(b"libmpich.so.12"))
    assert sonames([tmp_path]) == {
        "libmpi.so.12": tmp_path / "libmpi.so.12",
        "libmpich.so.12": tmp_path / "libmpich.so.12",
    }


def test_the_probe_is_a_process_of_its_own_and_isolated() -> None:
    assert probe_argv(Path("/x/libmpi.so.12"))[1:] == [
        "-I",
        probe_argv(Path("/"))[2],
        "/x/libmpi.so.12",
    ]
    assert Path(probe_argv(Path("/"))[2]).name == "abi_probe.py"


def test_a_private_link_leads_to_debians_library_and_follows_it(tmp_path: Path) -> None:
    library = tmp_path / "libmpich.so.12"
    library.write_bytes(b"")
    around = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    folder = private_link(library, around)
    assert (folder / "libmpi.so.12").resolve() == library
    assert private_link(library, around) == folder
    assert [path.name for path in folder.iterdir()] == ["libmpi.so.12"]


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CouldNotMeasure, match="XDG_CACHE_HOME"):
        private_link(tmp_path / "libmpich.so.12", {"XDG_CACHE_HOME": str(tmp_path / "file")})


def test_a_missing_program_names_where_it_was_searched(tmp_path: Path) -> None:
    with pytest.raises(CouldNotMeasure, match=str(tmp_path)):
        find_program("wireproof-engine.mpich", {"WIREPROOF_ENGINE_DIR": str(tmp_path)})


def test_a_meeting_point_is_an_address_with_a_port() -> None:
    host, port = meeting_point("127.0.0.1").rsplit(":", 1)
    assert host == "127.0.0.1"
    assert 20_000 <= int(port) < 32_000
    assert meeting_point("2001:db8::1").startswith("[2001:db8::1]:")
