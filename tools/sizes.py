"""Prints how large and how branched the code is, beside the projects that it takes as models.

Standard library only; run by ``make lint``. ``FAIL`` marks a limit that is not met. A limit is held
once it was reached: the status is 1 when one of these is broken, and the others say ``to reach``.
Usage: ``python tools/sizes.py [--places] [ROOT]``; ``--places`` names every place that is larger
than it should be.
"""

from __future__ import annotations

import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from check_import_law import cycles, import_graph, modules_below, sources
from counts import WIDEST, Code, count_cpp, count_python

BESIDE = ("tools", "benchmarks", "examples")
"""Folders of Python beside the product and its tests."""
FUNCTION_LIMIT, COMPLEXITY_LIMIT, PARAMETER_LIMIT = 40, 15, 7
MODULE_LIMIT = 400

# Projects of the field that are pleasant to read, measured in the same way from their own sources
# (without what they vendor): module lines and function lines as median/p90/longest, the share of
# comments and docstrings, lines of tests for each line of code.
MODELS = {
    "benchmark": ("127/341/1025", "7/40/207", "16 %", "1.07"),
    "hyperfine": ("67/368/597", "11/47/392", "6 %", "0.28"),
    "UCX": ("186/918/6308", "13/48/384", "17 %", "0.50"),
    "mpi4py": ("154/805/5222", "7/19/200", "5 %", "0.54"),
    "ClusterShell": ("347/1197/1591", "8/28/343", "37 %", "1.49"),
    "scikit-build": ("88/456/982", "9/44/352", "15 %", "1.30"),
}


@dataclass(frozen=True)
class Row:
    """One line of the table. ``held``: the limit is reached, and to break it is an error."""

    name: str
    here: str
    limit: str = ""
    met: bool = True
    held: bool = True
    models: tuple[str, ...] = ()


def spread(values: Iterable[int]) -> tuple[int, int, int]:
    """Median, nine tenths and largest; zeros without values."""
    ordered = sorted(values)
    if not ordered:
        return 0, 0, 0
    return round(statistics.median(ordered)), ordered[len(ordered) * 9 // 10], ordered[-1]


def slashed(values: Sequence[int]) -> str:
    """``8/25/40``."""
    return "/".join(str(value) for value in values)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


_COMMAND = re.compile(r"^@[a-z_.]*command\(", re.MULTILINE)


@dataclass(frozen=True)
class Tree:
    """Everything that the table is made of."""

    product: Code
    tests: Code
    everything: Code
    engine: Code
    engine_tests: Code
    cli_lines: int
    commands: int
    cycles: int
    one_importer: int
    """Modules of the product that exactly one other module imports."""


def measured(root: Path) -> Tree:
    """The figures of the tree at ``root``."""
    graph = import_graph(modules_below(root / "src"))
    importers = Counter(name for imported in graph.values() for name in imported)
    engine = sources(root, ["engine"], {".cpp", ".hpp", ".c", ".h"})
    engine_tests = [file for file in engine if "tests" in file.relative_to(root).parts]
    command_line = count_python(sources(root, ["src/wireproof/cli"], {".py"}))
    rest = sources(root, ["src"], {".py"})
    product = command_line + count_python(
        file for file in rest if root / "src/wireproof/cli" not in file.parents
    )
    tests = count_python(sources(root, ["tests"], {".py"}))
    return Tree(
        product=product,
        tests=tests,
        everything=product + tests + count_python(sources(root, BESIDE, {".py"})),
        engine=count_cpp([file for file in engine if file not in engine_tests]),
        engine_tests=count_cpp(engine_tests),
        cli_lines=command_line.lines,
        commands=commands(sources(root, ["src/wireproof/cli"], {".py"})),
        cycles=len(cycles(graph)),
        one_importer=list(importers.values()).count(1),
    )


def commands(files: Iterable[Path]) -> int:
    """How many commands the command line has, those of groups too."""
    return sum(len(_COMMAND.findall(file.read_text(encoding="utf-8"))) for file in files)


def rows(tree: Tree) -> list[Row]:
    """The table: what is limited first, then what is only shown."""
    columns = list(zip(*MODELS.values(), strict=True))
    return [*_limited(tree, columns), *_whole(tree), *_shown(tree, columns)]


def _limited(tree: Tree, models: list[tuple[str, ...]]) -> list[Row]:
    product, everything = tree.product, tree.everything
    lengths = spread(one.lines for one in product.functions)
    branched = spread(one.complexity for one in product.functions)
    longest = max((one.lines for one in everything.functions), default=0)
    largest = max((one.lines for one in everything.modules), default=0)
    most = max((one.parameters for one in product.functions), default=0)
    wide, modules = len(everything.wide), spread(one.lines for one in product.modules)
    return [
        Row("function lines", slashed(lengths), "p90 <= 25", lengths[1] <= 25, models=models[1]),
        Row("  longest", str(lengths[2]), "<= 40", lengths[2] <= FUNCTION_LIMIT),
        Row("  longest of tests too", str(longest), "<= 60", longest <= 60),
        Row("module lines", slashed(modules), models=models[0]),
        Row("  longest of tests too", str(largest), "<= 600", largest <= 600),
        Row("complexity", slashed(branched), "p90 <= 9", branched[1] <= 9),
        Row("  highest", str(branched[2]), "<= 15", branched[2] <= COMPLEXITY_LIMIT),
        Row("parameters, most", str(most), "<= 7", most <= PARAMETER_LIMIT),
        Row(
            f"lines over {WIDEST} columns",
            str(wide),
            "none",
            not wide,
        ),
        Row("import cycles", str(tree.cycles), "none", not tree.cycles),
        Row(
            f"lines of cli ({tree.cli_lines}) per command",
            f"{tree.cli_lines / max(1, tree.commands):.0f}",
            "<= 105",
            tree.cli_lines <= 105 * max(1, tree.commands),
        ),
    ]


def _whole(tree: Tree) -> list[Row]:
    """How much there is of everything, against what the plan of the code aims at."""
    product = tree.product
    repeated = sum(times > 1 for times in Counter(product.classes).values())
    longest = max((module.lines for module in product.modules), default=0)
    amounts = (
        ("Python statements of src", product.statements, 42_000, False),
        ("  files", len(product.modules), 450, True),
        ("  classes", len(product.classes), 520, False),
        ("  class names used twice", repeated, 15, True),
        ("  modules with one importer", tree.one_importer, 90, False),
        ("  longest module", longest, 420, True),
        ("lines of tests", tree.tests.lines, 55_000, False),
    )
    return [
        Row(name, str(amount), f"<= {limit}", amount <= limit, held=held)
        for name, amount, limit, held in amounts
    ]


def _shown(tree: Tree, models: list[tuple[str, ...]]) -> list[Row]:
    product, everything, engine = tree.product, tree.everything, tree.engine
    decisions = 10 * sum(one.complexity - 1 for one in product.functions)
    functions = slashed(spread(one.lines for one in engine.functions))
    modules = slashed(spread(one.lines for one in engine.modules))
    engine_tests = f"{tree.engine_tests.lines / max(1, engine.lines):.2f}"
    return [
        Row("comments", _share(product.comments, product.filled), models=models[2]),
        Row("tests : code", f"{tree.tests.lines / max(1, product.lines):.2f}", models=models[3]),
        Row("decisions / 10 statements", f"{decisions / max(1, product.inside):.1f}"),
        Row("Python lines", f"{product.lines} of {everything.lines}"),
        Row("C++ function lines", functions, models=models[1]),
        Row("C++ module lines", modules, models=models[0]),
        Row("C++ comments", _share(engine.comments, engine.filled), models=models[2]),
        Row("C++ tests : code", engine_tests, models=models[3]),
        Row("C++ lines", f"{engine.lines} of {engine.lines + tree.engine_tests.lines}"),
    ]


def text_of(table: Sequence[Row]) -> str:
    """The table as text, one line a row, columns aligned."""
    head = ["median/p90/longest, share or number", "wireproof", "limit", "", *MODELS]
    cells = [head, *([row.name, row.here, row.limit, _state(row), *row.models] for row in table)]
    widths = [max(len(line[i]) for line in cells if i < len(line)) for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)).rstrip()
        for line in cells
    )


def _state(row: Row) -> str:
    if not row.limit:
        return ""
    if row.met:
        return "ok"
    return "FAIL" if row.held else "FAIL (to reach)"


def places(tree: Tree) -> Iterator[tuple[Path, int, str]]:
    """What is larger than it should be, and the lines that are too wide."""
    for module in tree.everything.modules:
        if module.lines > MODULE_LIMIT:
            yield module.file, 1, f"module has {module.lines} lines (at most {MODULE_LIMIT})"
    for one in tree.everything.functions:
        for what, value, limit in (
            ("lines", one.lines, FUNCTION_LIMIT),
            ("decisions", one.complexity, COMPLEXITY_LIMIT),
            ("parameters", one.parameters, PARAMETER_LIMIT),
        ):
            if value > limit:
                yield one.file, one.line, f"{one.name} has {value} {what} (at most {limit})"
    for file, line in tree.everything.wide:
        yield file, line, f"wider than {WIDEST} columns"
    for code in (tree.engine, tree.engine_tests):
        for one in code.functions:
            if one.lines > FUNCTION_LIMIT:
                yield one.file, one.line, f"function has {one.lines} lines"


def main(arguments: list[str]) -> int:
    """Print the table of ROOT (default: this checkout); 1 when a limit that is held is broken."""
    folders = [word for word in arguments if not word.startswith("-")]
    root = Path(folders[0] if folders else Path(__file__).parent.parent).resolve()
    tree = measured(root)
    table = rows(tree)
    if "--places" in arguments:
        for file, line, what in places(tree):
            print(f"{file.relative_to(root)}:{line}: {what}")
    print(text_of(table))
    return int(any(row.held and not row.met for row in table))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
