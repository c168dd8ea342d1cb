"""The file for a head node without network: whole or not at all, by one or many, and never what
someone else has put there. The wheels here are small ones; test_wheel.py tries the real ones.
"""

import json
import os
import platform
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import build_zipapp

MAIN = "import sys\ndef main():\n    print(*sys.argv[1:], sys.prefix)\n    return 3\n"
OWN = {"wireproof/__init__.py": "", "wireproof/cli.py": MAIN}

pytestmark = pytest.mark.skipif(
    (sys.platform, platform.libc_ver()[0]) != ("linux", "glibc"), reason="needs Linux with glibc"
)


def _wheel(house: Path, name: str, files: dict[str, str]) -> None:
    with zipfile.ZipFile(house / name, "w") as archive:
        for inside, text in files.items():
            archive.writestr(inside, text)


def _build(folder: Path, own: dict[str, str] = OWN) -> Path:
    house = folder / "house"
    house.mkdir(parents=True)
    machine = platform.machine()
    _wheel(house, f"wireproof-1.0-py3-none-manylinux_2_17_{machine}.whl", own)
    data = {"other-2.data/data/bin/tool": "tool", "other-2.data/scripts/run": "#!python\n"}
    _wheel(house, "other-2-py3-none-any.whl", {"other.py": "", **data})
    assert build_zipapp.main([str(house), str(folder / "one.pyz")]) == 0
    return folder / "one.pyz"


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(tmp_path_factory.mktemp("one"))


def _start(
    file: Path, place: Path, limit: Callable[[], None] | None = None
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(file), "check", "--hosts", "n[1-2]"],
        env={"PATH": os.environ["PATH"], "WIREPROOF_PYZ_DIR": str(place)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
    )


def _refused(file: Path, place: Path, limit: Callable[[], None] | None = None) -> str:
    started = _start(file, place, limit)
    out, err = started.communicate(timeout=60)
    assert (started.returncode, out) == (4, "")
    assert "Traceback" not in err
    return err


def test_it_unpacks_once_and_starts_with_its_arguments(one: Path, tmp_path: Path) -> None:
    for unpacks in (True, False):
        started = _start(one, tmp_path / "a b")
        out, err = started.communicate(timeout=60)
        assert started.returncode == 3, err
        assert ("unpacking into" in err) is unpacks
    (place,) = (tmp_path / "a b").iterdir()
    assert out == f"check --hosts n[1-2] {place}\n"
    assert (place / "bin" / "tool").read_text() == "tool"
    assert (place / "bin" / "run").read_text() == f"#!{place}/bin/python\n"
    assert os.access(place / "bin" / "run", os.X_OK)


def test_two_at_once_share_one_folder(one: Path, tmp_path: Path) -> None:
    both = [_start(one, tmp_path / "shared") for _ in range(2)]
    said = {started.communicate(timeout=60)[0] for started in both}
    assert [started.returncode for started in both] == [3, 3]
    (place,) = (tmp_path / "shared").iterdir()
    assert said == {f"check --hosts n[1-2] {place}\n"}


def test_the_same_wheels_give_the_same_bytes(one: Path, tmp_path: Path) -> None:
    assert build_zipapp.main([str(one.with_name("house")), str(tmp_path / "again.pyz")]) == 0
    assert (tmp_path / "again.pyz").read_bytes() == one.read_bytes()


def test_a_damaged_file_is_refused_and_leaves_nothing(one: Path, tmp_path: Path) -> None:
    data = one.read_bytes()
    damaged = tmp_path / "damaged.pyz"
    damaged.write_bytes(data.replace(b"print(*sys", b"print(*xys"))
    said = _refused(damaged, tmp_path / "home")
    assert "this file is damaged: wireproof-1.0-" in said
    assert "copy it again" in said
    assert list((tmp_path / "home").iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(one: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = _refused(one, tmp_path / "file" / "home").splitlines()[-1]
    assert f"cannot unpack into {tmp_path / 'file' / 'home'}: Not a directory" in said
    assert "name a folder in $WIREPROOF_PYZ_DIR" in said


def test_a_disk_that_is_full_leaves_nothing(one: Path, tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    assert "cannot unpack into" in _refused(one, tmp_path, limit)
    assert list(tmp_path.iterdir()) == []


def test_what_others_may_write_to_is_not_started(one: Path, tmp_path: Path) -> None:
    _start(one, tmp_path).communicate(timeout=60)
    (place,) = tmp_path.iterdir()
    place.chmod(0o777)
    assert f"others may write to {place}" in _refused(one, tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="root: a folder is given to another user")
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_the_cache_of_another_user_is_not_started(one: Path, tmp_path: Path, depth: int) -> None:
    """As root with HOME still eve's (sudo -E): who owns a folder above can exchange what is run."""
    eve = tmp_path / "eve"
    place = eve / ".cache" / "wireproof"
    place.mkdir(parents=True)
    owned = (eve, eve / ".cache", place)[depth]
    os.chown(owned, 65534, 65534)
    assert f"another user can change what is in {owned}" in _refused(one, place)
    assert list(place.iterdir()) == []
    os.chown(owned, 0, 0)
    owned.chmod(0o777)
    assert "another user can change" in _refused(one, place)


def test_a_link_on_the_way_is_not_gone_by_twice(one: Path, tmp_path: Path) -> None:
    """Who owns it may exchange it while modules are still loaded."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    out, _ = _start(one, tmp_path / "link").communicate(timeout=60)
    (place,) = (tmp_path / "real").iterdir()
    assert out == f"check --hosts n[1-2] {place}\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="root: a folder is given to another user")
def test_an_environment_that_another_user_has_made_is_not_started(
    one: Path, tmp_path: Path
) -> None:
    _start(one, tmp_path / "home").communicate(timeout=60)
    (made,) = (tmp_path / "home").iterdir()
    os.chown(made, 65534, 65534)
    assert f"{made} is someone else's" in _refused(one, tmp_path / "home")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"python": [3, 99]}, "this file needs python3.99; Python 3."),
        ({"machine": "pdp11"}, "this file is for Linux on pdp11; here is Linux on "),
        ({"glibc": [99, 1]}, "this file needs glibc 99.1; here is glibc 2."),
    ],
)
def test_another_machine_is_told_what_the_file_is_for(
    one: Path, tmp_path: Path, changed: dict[str, object], said: str
) -> None:
    other = tmp_path / "other.pyz"
    with zipfile.ZipFile(one) as source, zipfile.ZipFile(other, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name == "manifest.json":
                data = json.dumps(json.loads(data) | changed).encode()
            target.writestr(name, data)
    assert said in _refused(other, tmp_path / "home")
    assert not (tmp_path / "home").exists()


def test_a_wheel_writes_only_where_it_belongs(tmp_path: Path) -> None:
    file = _build(tmp_path / "made", OWN | {"wireproof/../../../escaped": "x"})
    assert "a wheel names a file outside it" in _refused(file, tmp_path / "home")
    assert list((tmp_path / "home").iterdir()) == []
    assert not list(tmp_path.rglob("escaped"))
