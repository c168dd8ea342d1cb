"""Each promise of SECURITY.md has a test that quotes it; those about the source are here."""

import ast
import re
import stat
from functools import cache
from html import unescape
from pathlib import Path

import pytest
from tests.synthetic import World, run_of

from wireproof.measure.export import exported
from wireproof.model.claim import Criteria
from wireproof.report.judged_run import JudgedRun
from wireproof.report.reporter import LoggingReporter
from wireproof.verdict.run import judge

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def _promises() -> list[str]:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    section = text.split("## What is promised")[1].split("## What is not promised")[0]
    return [
        " ".join(item.split())
        for item in re.findall(r"^\* (.+?)(?=^\*|^$|\Z)", section, re.MULTILINE | re.DOTALL)
    ]


@cache
def _docstrings() -> str:
    found = []
    for path in (ROOT / "tests").rglob("test_*.py"):
        if path.parent.name in ("security", "fuzz", "tune"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found += [
                " ".join((ast.get_docstring(node) or "").split())
                for node in ast.walk(tree)
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
            ]
    return "\n".join(found)


def test_there_are_promises() -> None:
    assert len(_promises()) >= 20


@pytest.mark.parametrize("promise", _promises())
def test_a_test_stands_behind_each_promise(promise: str) -> None:
    assert promise in _docstrings()


def _calls(path: Path, words: str) -> list[ast.Call]:
    """The calls of a module in whose text one of ``words`` is; most modules need no parser."""
    text = path.read_text(encoding="utf-8")
    found = ast.walk(ast.parse(text)) if re.search(rf"\b(?:{words})\b", text) else ()
    return [node for node in found if isinstance(node, ast.Call)]


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func)


def test_no_shell_and_no_evaluation() -> None:
    """Every program is started by an argument list: no shell string is built, and nothing is
    evaluated.
    """
    for path in SOURCES:
        for call in _calls(path, "eval|exec|system|popen|loads?|shell"):
            assert _name(call) not in (
                "eval",
                "exec",
                "os.system",
                "os.popen",
                "pickle.load",
                "pickle.loads",
            ), path
            for keyword in call.keywords:
                shell = keyword.arg == "shell" and not (
                    isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                )
                assert not shell, path


READ_DIRECTLY = {
    "lab": "our own folder of a lab, /proc and /sys",
    "workflow/doctor.py": "/proc, /sys and /boot of this machine",
    "files": "the place that checks",
    "model/site.py": "data files, from our own package",
    "version.py": "PKG-INFO and the commit of our own source tree",
    "launch/mpi/identify.py": "libraries and programs that are looked at, bounded",
    "report/html/__init__.py": "parts of the page, from our own package",
    "report/figure/file.py": "the style of figures, from our own package",
    "logs/job.py": "what the shell has opened for us",
    "atlas/job.py": "the published numbers, from our own package",
    "audit/job.py": "the settings' tables, from our own package",
    "archive/dossier.py": "the modules, from our own package",
    "cli/prolog.py": "the null device",
    "instrument/process.py": "the plan that we have just written, and /proc",
}
"""Where files are opened without the check, and why."""


def test_foreign_files_are_opened_in_one_place() -> None:
    """In a folder that another user may have made, only regular files are opened: a link to a file,
    a pipe and a device are refused, and the number of bytes read is bounded.
    """
    reading = re.compile(r"\.(?:read_text|read_bytes|open)$|^open$")
    for path in SOURCES:
        place = str(path.relative_to(ROOT / "src" / "wireproof"))
        if any(place == known or place.startswith(f"{known}/") for known in READ_DIRECTLY):
            continue
        for call in _calls(path, "read_text|read_bytes|open"):
            if reading.search(_name(call)) and _name(call) not in (
                "os.open",
                "os.pidfd_open",
                "tarfile.open",  # of a file that open_regular has opened
                "self.open",
                "webbrowser.open",  # a page, and no file for us
            ):
                raise AssertionError(
                    f"{place}:{call.lineno} opens a file: use wireproof.files.hostile"
                )


def test_the_page_loads_nothing(tmp_path: Path) -> None:
    """The page is self-contained: it loads nothing, and no text of a node can become code in it."""
    run = run_of(World(link="10gbe", mtu=9000, sizes=(8, 65536)))
    section = JudgedRun(
        title="t", run=run, judgement=judge(run), limits=None, criteria=Criteria(), lead=""
    )
    path = exported("html", [section], "t", tmp_path / "report.html", LoggingReporter())
    page = path.read_text(encoding="utf-8")
    assert re.search(r"default-src 'none'; script-src '(none'|sha256-)", unescape(page))
    assert not re.search(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=[\"']?(?:https?:)?//", page)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
