"""``python -m tests.frozen``: compares what the program judges and prints with what is recorded.

``--write`` records anew what changed on purpose; ``--show FAMILY KEY`` prints one case's document
without its prose, to be compared with that of another commit.
"""

import argparse
import difflib
import json
import sys
from multiprocessing import Pool
from pathlib import Path

from tests.conftest import its_share
from tests.frozen.judged import FAMILIES, digest, document
from tests.frozen.printed import printed

RECORDED = Path(__file__).parent / "recorded"
NAMES = (*FAMILIES, "printed")


def made(name: str, turn: int | None = None) -> str:
    """The family's lines as they are now, or a turn's share of them."""
    if name == "printed":
        return printed()
    cases, count = FAMILIES[name]
    chosen = cases(its_share(range(count), turn))
    return "".join(f"{key}\t{said}\t{digest(found)}\n" for key, said, found in chosen)


def differences(name: str, text: str, turn: int | None = None) -> list[str]:
    """Lines of a diff between what is recorded (or a turn's share of it) and ``text``."""
    file = RECORDED / f"{name}.txt"
    old = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    if name in FAMILIES:
        old = its_share(old, turn)
    now = text.splitlines()
    return list(difflib.unified_diff(old, now, f"{name}, recorded", "now", n=0, lineterm=""))


def _show(name: str, key: str) -> int:
    cases, count = FAMILIES[name]
    for each, _, found in cases(range(count)):
        if each == key or each.split()[0] == key:
            json.dump(document(found), sys.stdout, indent=1, sort_keys=True)
            return 0
    sys.stderr.write(f"{name} has no case {key!r}\n")
    return 2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=NAMES, default=[])
    parser.add_argument("--write", action="store_true", help="record what is made now.")
    parser.add_argument("--show", nargs=2, metavar=("FAMILY", "KEY"))
    given = parser.parse_args()
    if given.show:
        return _show(*given.show)
    names = given.only or NAMES
    with Pool(2) as pool:
        texts = dict(zip(names, pool.map(made, names, chunksize=1), strict=True))
    changed = 0
    for name, text in texts.items():
        found = differences(name, text)
        changed += sum(line[0] == "+" for line in found[2:])
        sys.stdout.write("".join(f"{line}\n" for line in found))
        if given.write:
            (RECORDED / f"{name}.txt").write_text(text, encoding="utf-8")
    sys.stdout.write(f"{changed} lines differ from what is recorded in {len(names)} families\n")
    return 1 if changed and not given.write else 0


if __name__ == "__main__":
    sys.exit(main())
