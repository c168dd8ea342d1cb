"""The law's checker: each breach is seen with its line, and what the law allows is left alone."""

import re
from pathlib import Path

import pytest

import check_import_law as law

PYTHON = "src/wireproof/"
LINK, FIT = "physics/link.py", "stats/fit.py"
JUDGE, TCP, MPI = "verdict/judge.py", "transport/tcp/tcp.hpp", "transport/mpi/mpi.hpp"


def _sentences(root: Path, files: dict[str, str], under: str = PYTHON) -> list[str]:
    for name, text in files.items():
        (root / under / name).parent.mkdir(parents=True, exist_ok=True)
        (root / under / name).write_text(text)
    return [
        f"{breach.file.relative_to(root / under)}:{breach.line}: {breach.sentence}"
        for breach in law.check(root)
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (JUDGE, "\nfrom wireproof.watch import prove", ":2: verdict imports watch"),
        (JUDGE, "def f():\n    import wireproof.watch.prove", ":2: verdict imports watch"),
        (JUDGE, "from ..watch import prove", ":1: verdict imports watch"),
        ("verdict/__init__.py", "from ..watch import prove", ":1: verdict imports watch"),
        (JUDGE, "from wireproof import watch", ":1: verdict imports watch"),
        ("plan/job.py", "from wireproof import experiment", ":1: plan imports experiment"),
        ("lab/up.py", "from wireproof import cli", ":1: lab imports cli"),
        ("__init__.py", "from wireproof import cli", ":1: workflow imports cli"),
        (LINK, "# pure\nimport subprocess", ":2: physics is pure and imports subprocess"),
        (LINK, "# pure\nfrom os import environ", ":2: physics is pure and imports os"),
        (LINK, "# pure\nimport duckdb", ":2: physics may use msgspec, numpy, not duckdb"),
        ("model/run.py", "# pure\nimport numpy", ":2: model may use msgspec, not numpy"),
        (FIT, "# pure\nx = open('/etc/hosts')", ":2: stats is pure and calls open()"),
        (
            FIT,
            "# pure\nimport datetime\nx = datetime.datetime.now()",
            ":3: stats is pure and calls .now()",
        ),
        ("new/thing.py", "", ":1: package 'new' has no layer"),
        ("lab/utils.py", "", ":1: no file or folder is called 'utils'"),
        ("lab/up.py", "def f(:", ":1: does not parse"),
    ],
)
def test_python_breach_is_named_with_its_line(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    (sentence,) = _sentences(tmp_path, {name: text})
    assert sentence.startswith(f"{name}{said}")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (JUDGE, "import math, numpy\nfrom wireproof.physics import link\nfrom . import codes"),
        (JUDGE, "from wireproof import __version__"),
        (
            "cli/demo.py",
            (
                "import subprocess, rich\nfrom wireproof.lab import up\nfrom wireproof.verdict "
                "import judge"
            ),
        ),
        ("__main__.py", "from wireproof.cli import main"),
        ("launch/start.py", "import os, subprocess\nfrom wireproof.options import mpi"),
    ],
)
def test_python_that_obeys_is_left_alone(tmp_path: Path, name: str, text: str) -> None:
    assert _sentences(tmp_path, {name: text}) == []


@pytest.mark.parametrize("name", ["from wireproof.stats import fit", "import wireproof.stats.fit"])
def test_a_pure_file_imports_only_pure_files(tmp_path: Path, name: str) -> None:
    files = {
        "stats/__init__.py": "# pure\n",
        FIT: "import os",
        LINK: "# pure\n",
        JUDGE: f"# pure\n{name}",
    }
    (sentence,) = _sentences(tmp_path, files)
    assert sentence.startswith(f"{JUDGE}:2: the file is pure and imports wireproof.stats.fit")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("from wireproof.lab import down", "from wireproof.lab.up import x"),
        ("def f():\n    from wireproof.lab.down import g", "import wireproof.lab.up"),
        ("from . import down", "if TYPE_CHECKING:\n    from .up import x"),
    ],
)
def test_a_cycle_is_named_also_where_an_import_is_late(
    tmp_path: Path, one: str, other: str
) -> None:
    files = {"lab/__init__.py": "", "lab/up.py": one, "lab/down.py": other}
    (sentence,) = _sentences(tmp_path, files)
    assert sentence.endswith("import cycle: wireproof.lab.down, wireproof.lab.up")


def test_a_name_that_a_module_of_the_package_would_replace_is_named(tmp_path: Path) -> None:
    files = {
        "lab/__init__.py": "from wireproof.lab.up import down, up",
        "lab/up.py": "",
        "lab/down.py": "",
    }
    (sentence,) = _sentences(tmp_path, files)
    assert sentence.endswith("down is also a module of this package, which would replace it")


def test_no_cycle_is_no_breach(tmp_path: Path) -> None:
    files = {
        "__init__.py": "",
        "lab/__init__.py": "from wireproof.lab.up import x",
        "lab/up.py": "from wireproof import __version__\nfrom wireproof.lab.down import y",
        "lab/down.py": "",
    }
    assert _sentences(tmp_path, files) == []


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("pattern/stream.hpp", '\n#include "measure/sweep.hpp"', ":2: pattern includes measure"),
        (
            "pattern/stream.hpp",
            '#include "transport/mpi/mpi.hpp"',
            ":1: pattern includes transport/mpi",
        ),
        ("base/clock.hpp", '#include "plan/plan.hpp"', ":1: base includes plan"),
        (TCP, '#include "transport/mpi/mpi.hpp"', ":1: transport/tcp includes transport/mpi"),
        (TCP, '#include "../mpi/mpi.hpp"', ":1: transport/tcp includes transport/mpi"),
        ("measure/sweep2.hpp", "#include <mpi.h>", ":1: measure includes mpi.h"),
        ("measure/sweep2.hpp", '#include "zlib.h"', ':1: "zlib.h" is no file of engine/'),
        ("odd/a.hpp", '#include "plan/plan.hpp"', ":1: folder 'odd' has no layer"),
    ],
)
def test_cpp_breach_is_named_with_its_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    files = {
        "measure/sweep.hpp": "",
        "plan/plan.hpp": "",
        "transport/mpi/mpi.hpp": "#include <mpi.h>",
        name: text,
    }
    (sentence,) = _sentences(tmp_path, files, "engine")
    assert sentence.startswith(f"{name}{said}")


def test_cpp_that_obeys_is_left_alone(tmp_path: Path) -> None:
    files = {
        "main.cpp": '#include "measure/sweep.hpp"\n#include <vector>',
        "measure/sweep.hpp": '#include "pattern/stream.hpp"\n#include "plan/plan.hpp"',
        "pattern/stream.hpp": '#include "transport/concept.hpp"',
        "transport/tcp/tcp.hpp": '#include "pattern/stream.hpp"\n#include "socket.hpp"',
        "transport/tcp/socket.hpp": '#include "base/clock.hpp"',
        "transport/concept.hpp": "",
        "base/clock.hpp": "",
        "plan/plan.hpp": "",
        "tests/test_all.cpp": '#include "measure/sweep.hpp"',
    }
    assert _sentences(tmp_path, files, "engine") == []


def test_the_picture_and_the_table_for_people_show_the_law() -> None:
    root = Path(law.__file__).resolve().parents[1]
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert law.picture() in text
    rows = text.partition("| package | holds |")[2].partition("\n\n")[0]
    cells = [line.split("|")[1] for line in rows.splitlines()[2:]]
    named = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted(name for layer in law.PYTHON_LAYERS for name in layer)


def test_every_package_of_the_law_is_there() -> None:
    package = Path(law.__file__).resolve().parents[1] / "src" / "wireproof"
    modules = {path.stem for path in package.iterdir()}
    assert modules >= {name for layer in law.PYTHON_LAYERS for name in layer}
