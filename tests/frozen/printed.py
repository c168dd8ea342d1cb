"""What subcommands print about stored results and made folders, as text of 80 columns and as JSON,
and every page of ``explain``. What they print about this machine is held by the JSON Schemas.
"""

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.contract.json_documents import CASES, ROOT, Case, call, lay, without_a_cluster
from tests.frozen.judged import digest
from tests.processes import ran

from wireproof.verdict.catalogue import CATALOGUE
from wireproof.workflow.explain import causes

_LIVE = ("check", "demo", "doctor", "dossier", "lab", "ladder", "measure", "prove", "resume", "run")
_LIVE_TUNE = ("apply", "status", "confirm", "verify", "residue", "revert", "try")
_TEXT_OF = (
    "report stored/run-1/check",
    "report stored/run-2/measure --format markdown",
    "compare stored/result-1/check stored/run-1/check --format markdown",
    "judge stored/../logs --link 10gbe",
    "locate stored/result-1/check",
    "lint --rules",
    "audit --list",
    "plan scale -N 2,4,8,16 --start 1.5us --rate 12GB/s",
    "explain",
)
_LONGEST = 300
_NOW = re.compile(
    r"\d+(\.\d+)? (s|min|h|d|days?|weeks?|months?|years?)(?= old| ago)"
    r'|(?<="age_s": )[\d.]+|(?<="made": )"[^"]+"'
    r"|(?<=^wireproof )\d+\.\d+\.\S+(?=\.(?:$| MB))",
    re.MULTILINE,
)
"""What differs from one day, or commit, to the next."""


def _cases() -> Iterator[tuple[str, bool]]:
    """(the words, whether they ask for JSON) of each call."""
    for case in CASES:
        if _is_stored(case):
            yield case.words, True
            yield case.words.replace(" --format json", "").replace("--json", "").strip(), False
    yield from ((words, False) for words in _TEXT_OF)
    yield from ((f"explain {code}", False) for code in (*CATALOGUE, *causes()))


def _is_stored(case: Case) -> bool:
    first, _, second = case.subcommand.partition(" ")
    live = first in _LIVE or second in _LIVE_TUNE
    return not live and case.schema != "error" and "--dialect" not in case.more


def _calls(folder: Path) -> Iterator[str]:
    lay(folder)
    os.chdir(folder)
    with without_a_cluster():
        for words, as_json in _cases():
            done = call(words.format(folder=folder).split(), folder)
            out = _of_no_machine(done.out, folder)
            yield f"$ wireproof {words}\n{_pretty(out) if as_json else out}"
            yield f"(status {done.status})\n\n"


def _of_no_machine(text: str, folder: Path) -> str:
    here = {str(folder): "FOLDER", str(ROOT): "ROOT", str(Path(sys.prefix).resolve()): "VENV"}
    for path, name in here.items():
        text = text.replace(path, name)
    return "".join(f"{line.rstrip()}\n" for line in _NOW.sub("0", text).splitlines())


def _pretty(text: str) -> str:
    """A document by lines; a long one, such as a catalogue, only up to where it shows its form."""
    lines = f"{json.dumps(json.loads(text), indent=1)}\n".splitlines(keepends=True)
    if len(lines) <= _LONGEST:
        return "".join(lines)
    more = f"... {len(lines) - _LONGEST} more lines, digest {digest(json.loads(text))}\n"
    return "".join((*lines[:_LONGEST], more))


def printed() -> str:
    """All of it, from a process with a terminal's width and no colour."""
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    with tempfile.TemporaryDirectory(prefix="wireproof-frozen-") as folder:
        argv = [sys.executable, "-m", "tests.frozen.printed", folder]
        done = ran(argv, cwd=ROOT, env=environment)
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        return (Path(folder) / "printed.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    (folder / "printed.txt").write_text("".join(_calls(folder)), encoding="utf-8")
