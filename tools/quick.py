"""What a change needs before its commit, within a minute: ``make quick``.

Formatting, lint, import law, sizes and types of everything, and of the tests those that reach what
was changed, the nearest first, for as long as the minute lasts. Changed is what differs from the
branch ``main``, or, on it, from the commit before. Standard library only; nothing is rewritten.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile

from check_import_law import import_graph, modules_below

ROOT = Path(__file__).resolve().parent.parent
CHECKS: dict[str, tuple[str, ...]] = {
    "lint": ("-m", "ruff", "check", "-q"),
    "format": ("-m", "ruff", "format", "--check", "-q"),
    "import law": ("tools/check_import_law.py",),
    "sizes": ("tools/sizes.py",),
}
NOT_HERE = (
    "slow or netns or mpi or intelmpi or openmpi or debian_mpich or slurm or browser or fuse or vm"
)
"""Markers of tests that start jobs, labs or a browser, or take long."""
MOST_FILES = 40
BUDGET_S = 55.0
"""Of all; the tests have a third of it at least, on a busy machine too."""


def _git(*words: str) -> list[str]:
    done = subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False, timeout=30
    )
    return done.stdout.split("\n") if done.returncode == 0 else []


def changed_files() -> list[str]:
    """Files that differ from where the branch left ``main``, those that git does not know yet
    included.
    """
    (head, *_), (base, *_) = _git("rev-parse", "HEAD"), _git("merge-base", "HEAD", "main") or [""]
    since = base if base and base != head else "HEAD~1"
    names = _git("diff", "--name-only", since) + _git("ls-files", "-o", "--exclude-standard")
    return sorted({name for name in names if name})


def distances(graph: Mapping[str, Iterable[str]], begin: Iterable[str]) -> dict[str, int]:
    """How many imports each module is away from the nearest of ``begin``; without those that do
    not reach one.
    """
    users: dict[str, set[str]] = {}
    for module, imported in graph.items():
        for each in imported:
            users.setdefault(each, set()).add(module)
    found = dict.fromkeys(begin, 0)
    border = list(found)
    while border:
        after = {user for module in border for user in users.get(module, ())} - set(found)
        found.update(dict.fromkeys(after, found[border[0]] + 1))
        border = sorted(after)
    return found


def modules_of(changed: Iterable[str], files: Mapping[tuple[str, ...], Path]) -> set[str]:
    """The modules that changed; of a data file those of its folder."""
    places = {ROOT / name for name in changed}
    folders = {place.parent for place in places if place.suffix != ".py"}
    return {
        ".".join(module)
        for module, file in files.items()
        if file in places or file.parent in folders
    }


@cache
def _everything() -> tuple[Mapping[tuple[str, ...], Path], Mapping[str, Iterable[str]]]:
    files = {
        **modules_below(ROOT / "src"),
        **modules_below(ROOT / "tools"),
        **modules_below(ROOT, "tests"),
        **modules_below(ROOT, "benchmarks"),
    }
    return files, import_graph(files)


def files_to_test(changed: Iterable[str]) -> list[str]:
    """The test files that reach what was changed, the nearest first."""
    files, graph = _everything()
    away = distances(graph, modules_of(changed, files))
    tests = [
        (away[".".join(module)], str(file.relative_to(ROOT)))
        for module, file in files.items()
        if module[-1].startswith("test_") and ".".join(module) in away
    ]
    return [name for _, name in sorted(tests)]


def _step(name: str, argv: Iterable[str]) -> bool:
    begin = time.monotonic()
    done = subprocess.run([sys.executable, *argv], cwd=ROOT, capture_output=True, check=False)
    good = done.returncode == 0
    print(f"quick: {name}: {'ok' if good else 'FAILED'} ({time.monotonic() - begin:.0f} s)")
    if not good:
        sys.stdout.write((done.stdout + done.stderr).decode("utf-8", "replace"))
    return good


def _tests(names: list[str], seconds: float) -> bool:
    if not names:
        print("quick: no test imports what was changed")
        return True
    chosen = names[:MOST_FILES]
    print(f"quick: {len(chosen)} of {len(names)} test files that reach the change", flush=True)
    words = ["-m", "pytest", "-q", "--no-header", "-m", f"not ({NOT_HERE})"]
    done = subprocess.run(
        [sys.executable, *words, "--for-seconds", f"{max(seconds, 20):.0f}", *chosen],
        cwd=ROOT,
        check=False,
    )
    return done.returncode in (0, 5)  # 5: none of them can be run here


def main(arguments: list[str]) -> int:
    """Run it all; 0 if nothing failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", action="store_true", help="print the test files and run nothing")
    given = parser.parse_args(arguments)
    begin = time.monotonic()
    changed = changed_files()
    if given.tests:
        print("\n".join(files_to_test(changed)))
        return 0
    with TemporaryFile() as said:
        types = subprocess.Popen(
            [sys.executable, "-m", "mypy"], cwd=ROOT, stdout=said, stderr=subprocess.STDOUT
        )
        good = [_step(name, argv) for name, argv in CHECKS.items()]
        good.append(_tests(files_to_test(changed), BUDGET_S - (time.monotonic() - begin)))
        good.append(types.wait() == 0)
        said.seek(0)
        print(f"quick: types: {said.read().decode('utf-8', 'replace').strip()}")
    if any(name.startswith("engine/") for name in changed):
        print("quick: engine/ was changed: make engine-tests && .venv/bin/ctest --test-dir build")
    verdict = "ok" if all(good) else "FAILED"
    print(f"quick: {verdict} in {time.monotonic() - begin:.0f} s; make test is the whole")
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
