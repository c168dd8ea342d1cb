"""The real `wireproof-node tune`, and machines made of plain files."""

import json
import os
import subprocess
import time
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wireproof.instrument.plan_text import encode_value
from wireproof.launch.engines import find_program

ROWS = tomllib.loads(Path(__file__).with_name("rows.toml").read_text())
BOOT = "proc/sys/kernel/random/boot_id"
Frame = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """How one call ended and what it said."""

    status: int
    frames: list[Frame]
    errors: str

    def states(self) -> dict[str, str]:
        """The verdict on each change and drop-in: its last frame."""
        return {frame["id"]: frame["state"] for frame in self.frames if frame["frame"] == "change"}

    def last(self, change: str) -> Frame:
        return next(frame for frame in reversed(self.frames) if frame["id"] == change)

    @property
    def set(self) -> Frame:
        """The last frame about a set."""
        return next(frame for frame in reversed(self.frames) if frame["frame"] == "set")


def statement(keyword: str, **fields: object) -> str:
    """One line of a request; a tuple becomes a list."""

    def text(value: object) -> str:
        if isinstance(value, tuple):
            return ",".join(encode_value(str(item)) for item in value)
        return encode_value(str(value))

    return " ".join([keyword, *(f"{key}={text(value)}" for key, value in fields.items())])


def request(*lines: str, id: str = "one", by: str = "tester", **fields: object) -> str:
    return "\n".join([statement("set", id=id, by=by, **fields), *lines, ""])


def change(path: str, value: object, id: str = "", **fields: object) -> str:
    """A change of a file."""
    name = id or path.rsplit("/", 1)[1]
    return statement("change", id=name, kind="file", path=path, value=value, **fields)


class Machine:
    """A tree of files that stands for a machine, with the state folder in it."""

    def __init__(self, root: Path, files: Mapping[str, str]) -> None:
        self.root = root
        self.state = root / "var/lib/wireproof/tune"
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def argv(self, verb: str, *options: str) -> list[str]:
        return [
            *(str(find_program("wireproof-node")), "tune", verb, "--root", str(self.root)),
            *options,
        ]

    def run(self, verb: str, *options: str, text: str | bytes = "") -> Answer:
        """One call, to its end."""
        done = subprocess.run(
            self.argv(verb, *options),
            input=text if isinstance(text, bytes) else text.encode(),
            capture_output=True,
            timeout=60,
            check=False,
        )
        frames = [json.loads(line) for line in done.stdout.splitlines()]
        return Answer(done.returncode, frames, done.stderr.decode())

    def text(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text, encoding="utf-8")


def snapshot(folder: Path) -> dict[str, str]:
    """Every file below a folder but the state of tune."""
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "var/lib/wireproof" not in str(path)
    }


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Polls; the time is only a bound for a broken product."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def timers(root: Path) -> list[int]:
    """The living timers of the machine at ``root``: their command line is that of the apply."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "comm").read_text(encoding="utf-8")
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has ended meanwhile
            continue
        if name == "wireproof-timer\n" and os.fsencode(root) in words:
            found.append(int(folder.name))
    return found


def end_timers(root: Path) -> None:
    for pid in timers(root):
        with suppress(ProcessLookupError):  # it ended in the meantime
            os.kill(pid, 9)
