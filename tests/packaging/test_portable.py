"""Which systems the programs run on: what they need of the C library, and of others nothing."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from build_wheel import NotPortable, glibc_of
from wireproof.launch.engines import ABIS, find_engine

pytestmark = pytest.mark.skipif(not shutil.which("readelf"), reason="needs readelf (binutils)")


@pytest.mark.engine
def test_the_engines_run_on_what_rhel_9_has() -> None:
    found = glibc_of([find_engine(abi) for abi in ABIS])
    here = tuple(map(int, platform.libc_ver()[1].split(".")))
    assert found <= here
    if here <= (2, 36):  # a later compiler takes later symbols
        assert found <= (2, 34)


@pytest.mark.skipif(not shutil.which("c++"), reason="needs a C++ compiler")
def test_a_program_with_a_library_of_its_own_has_no_common_tag(tmp_path: Path) -> None:
    source, program = tmp_path / "main.cpp", tmp_path / "program"
    source.write_text("#include <string>\nint main(int n, char** v) { throw std::string(v[0]); }")
    subprocess.run(["c++", str(source), "-o", str(program)], check=True, timeout=60)
    with pytest.raises(NotPortable, match=r"^program needs libstdc\+\+\.so\.6$"):
        glibc_of([program])
