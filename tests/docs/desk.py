"""Runs the commands of a page as its reader would: one after the other, in one folder."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.docs.grammar import typed
from tests.docs.markdown import ROOT, Block
from tests.docs.shape import same

WIDTH = 100
TIMEOUT_S = 120
_END = "end-of-command"
_CHECKOUT = ("examples", "tests", "tools", "docs", "packaging")
_QUERY = "import duckdb, pathlib; assert duckdb.sql(pathlib.Path('{}').read_text()).fetchall()"
KEPT = {"python": "python {}", "sql": f'python -c "{_QUERY}"'}
"""What runs the programs that are no commands of a shell."""
VERDICTS = frozenset({0, 1, 3})
"""Exit statuses of a command that has reached a verdict."""


@dataclasses.dataclass(frozen=True)
class Desk:
    """A folder that shows the checkout's examples and tests, with ``wireproof`` on PATH."""

    folder: Path

    @classmethod
    def laid(cls, folder: Path) -> Desk:
        programs = folder / "programs"
        work = folder / "work"
        for each in (programs, work, folder / "home"):
            each.mkdir()
        for name in _CHECKOUT:
            (work / name).symlink_to(ROOT / name)
        for name, words in {
            "wireproof": [sys.executable, "-m", "wireproof"],
            "python": [sys.executable],
        }.items():
            (programs / name).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
            (programs / name).chmod(0o755)
        return cls(folder)

    def done(self, block: Block) -> list[str]:
        """What is wrong with ``block`` when it is run: nothing, or one text for each command."""
        if "file" in block.note:
            (self.folder / "work" / block.note["file"]).write_text(block.text)
            return []
        if block.tag in KEPT:
            return self._program(block)
        if block.tag == "console":
            return self._compared(block)
        return [
            f"{block.place}: {command}\nended with {status}:\n{printed}"
            for command, printed, status in self._run(block, _lines(block.text))
            if status not in (VERDICTS if command.startswith("wireproof ") else {0})
            or "bash: line" in printed
        ]

    def _program(self, block: Block) -> list[str]:
        """A program in Python, or a query, which has to find something."""
        name = f"block.{block.tag}"
        (self.folder / "work" / name).write_text(block.text)
        ((_, printed, status),) = self._run(block, [KEPT[block.tag].format(name)])
        return [] if status == 0 else [f"{block.place}: ended with {status}:\n{printed}"]

    def _compared(self, block: Block) -> list[str]:
        shown = typed(block.text)
        wrong = []
        ran = self._run(block, [command for command, _ in shown])
        for (command, text), (_, printed, status) in zip(shown, ran, strict=True):
            told = f"{block.place}: {command}\n"
            if "Traceback" in printed or status in (70, 126, 127):
                wrong.append(f"{told}ended with {status}:\n{printed}")
            elif not same(text, printed, measured="measured" in block.note):
                wrong.append(f"{told}--- shown:\n{text}--- printed (status {status}):\n{printed}")
        return wrong

    def _run(self, block: Block, script: list[str]) -> list[tuple[str, str, int]]:
        """(command, stdout and stderr, exit status) of each command, in one shell."""
        parts = (f"{command}\nprintf '\\n{_END} %s\\n' $?\n" for command in script)
        done = subprocess.run(
            ["bash", "-c", "".join(parts)],
            cwd=self.folder / "work",
            env=self._environment(block),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        pieces = re.split(rf"\n{_END} (\d+)\n", done.stdout)
        assert len(pieces) == 2 * len(script) + 1, f"{block.place}: {done.stdout}"
        return [
            (command, pieces[2 * at], int(pieces[2 * at + 1])) for at, command in enumerate(script)
        ]

    def _environment(self, block: Block) -> dict[str, str]:
        kept = ("WIREPROOF_ENGINE_DIR", "WIREPROOF_TEST_IMPI", "PYTHONPATH", "TMPDIR")
        found = {name: os.environ[name] for name in kept if name in os.environ}
        place = os.pathsep.join((str(ROOT / "src"), found.get("PYTHONPATH", "")))
        path = os.pathsep.join((str(self.folder / "programs"), os.environ.get("PATH", os.defpath)))
        name, _, value = block.note.get("with", "").partition("=")
        given = {name: value} if name else {}
        return found | {
            "PATH": path,
            "PYTHONPATH": place.rstrip(os.pathsep),
            "PYTHONUNBUFFERED": "1",
            "HOME": str(self.folder / "home"),
            "COLUMNS": str(WIDTH),
            "LC_ALL": "C.UTF-8",
            **given,
        }


def _lines(script: str) -> list[str]:
    return [line for line in script.replace("\\\n", " ").splitlines() if line.strip()]
