"""A history with real results, many nodes and hostile words, for the tests of its pages."""

import shutil
from pathlib import Path

import msgspec
from tests.archive.test_history import entry, noisy

from wireproof.archive.logs import add
from wireproof.archive.pages import write_pages
from wireproof.report.reporter import LoggingReporter
from wireproof.store.history import add_entry

EVIL = "<img src=x onerror=alert(1)>'\"&\u202e"
_STORED = Path(__file__).parent / "store" / "data" / "run-folder-schema-1"


def fill(root: Path) -> tuple[str, str]:
    """Two real results, forty made-up ones of many nodes, a hostile one; the names of the real."""
    first = add(root, _STORED, LoggingReporter())
    second = msgspec.structs.replace(first, id="again")
    shutil.copytree(root / "results" / first.id, root / "results" / "again")
    nodes = {f"n{at:03}": "pass" for at in range(1, 301)}
    reasons = {"n007 sends at 297 Mb/s": ["n007"], "": ["n008"]}
    for one in (second, *noisy(39, at=25, factor=0.9)):
        add_entry(root, one)
    whole = entry(39, nodes=nodes | {"n007": "fail", "n008": "inconclusive"}, reasons=reasons)
    add_entry(root, msgspec.structs.replace(whole, fingerprint="all", hosts="n[001-300]"))
    number = msgspec.structs.replace(whole.numbers[0], name=EVIL)
    bad = entry(
        40,
        nodes={EVIL: "fail", "ok": "pass"},
        reasons={f"{EVIL} is slow": [EVIL]},
        hosts=EVIL,
        link=EVIL,
        transport=EVIL,
        mpi=EVIL,
        fingerprint=EVIL,
        conditions={EVIL: EVIL},
    )
    for day in (40, 41):
        more = {"id": f"evil{day}", "numbers": [number], "conditions": {EVIL: f"{day}{EVIL}"}}
        add_entry(root, msgspec.structs.replace(bad, **more))
    return first.id, "again"


def written(root: Path, **more: object) -> Path:
    """The folder of the pages of the history ``root``, written now."""
    index, _, _ = write_pages(root, LoggingReporter(), **more)  # type: ignore[arg-type]
    return index.parent
