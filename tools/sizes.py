"""Prints how large and how branched the code is, beside the projects that it takes as models.

Standard library only; run by ``make lint``. ``FAIL`` marks a limit that is not met. A limit is held
once it was reached: the status is 1 when one of these is broken, and the others say ``to reach``.
Usage: ``python tools/sizes.py [--places] [ROOT]``; ``--places`` names every place that is larger
than it should be.
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from check_import_law import cycles, import_graph, sources

BESIDE = ("tools", "benchmarks", "examples")
"""Folders of Python beside the product and its tests."""
WIDEST = 100
FUNCTION_LIMIT, COMPLEXITY_LIMIT, PARAMETER_LIMIT = 40, 15, 7
MODULE_LIMIT = 350

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

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
Branch = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)


@dataclass(frozen=True)
class Place:
    """One function, or one module, with its size."""

    file: Path
    line: int
    name: str
    lines: int
    complexity: int = 0
    parameters: int = 0


@dataclass
class Code:
    """What was counted in some files."""

    modules: list[Place] = field(default_factory=list)
    functions: list[Place] = field(default_factory=list)
    statements: int = 0
    wide: list[tuple[Path, int]] = field(default_factory=list)
    comments: int = 0
    """Lines of comments and docstrings."""
    filled: int = 0
    """Lines that are not blank."""

    inside: int = 0
    """Statements of functions."""

    @property
    def lines(self) -> int:
        return sum(module.lines for module in self.modules)

    def __add__(self, other: Code) -> Code:
        return Code(
            self.modules + other.modules,
            self.functions + other.functions,
            self.statements + other.statements,
            self.wide + other.wide,
            self.comments + other.comments,
            self.filled + other.filled,
            self.inside + other.inside,
        )


@dataclass(frozen=True)
class Row:
    """One line of the table. ``held``: the limit is reached, and to break it is an error."""

    name: str
    here: str
    limit: str = ""
    met: bool = True
    held: bool = True
    models: tuple[str, ...] = ()


# --- Python


def text_lines(node: ast.AST) -> int:
    """Lines of a statement that is nothing but a text, as docstrings are; 0 for any other node."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
        return 0
    if not isinstance(node.value.value, str):
        return 0
    return (node.end_lineno or node.lineno) - node.lineno + 1


def function_lines(node: Function) -> int:
    """Lines of a function without its docstring, which ought to be complete rather than short."""
    return (node.end_lineno or node.lineno) - node.lineno + 1 - text_lines(node.body[0])


def complexity(node: Function) -> int:
    """Cyclomatic complexity: one, and one for each branch, loop, handler, case, comprehension,
    condition of a comprehension and further operand of ``and`` or ``or``.

    Functions inside are counted as functions of their own.
    """
    return 1 + sum(_decisions(inner) for inner in _own(node))


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Everything below ``node`` that belongs to no function or class inside it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Scope):
            yield child
            yield from _own(child)


def _decisions(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    return int(isinstance(node, Branch))


def parameters(node: Function) -> int:
    """How many values a caller may give, without ``self`` and ``cls``."""
    names = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def count_python(files: Iterable[Path]) -> Code:
    """The figures of some Python files."""
    return sum((_count_file(file) for file in files), Code())


def _count_file(file: Path) -> Code:
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    code = Code(modules=[Place(file, 1, file.stem, len(lines))])
    code.wide = [(file, i) for i, line in enumerate(lines, 1) if _is_wide(line)]
    code.filled = sum(bool(line.strip()) for line in lines)
    code.comments = sum(line.lstrip().startswith("#") for line in lines)
    for node in ast.walk(ast.parse(text, str(file))):
        code.statements += isinstance(node, ast.stmt)
        code.comments += text_lines(node)
        if isinstance(node, Function):
            code.inside += sum(isinstance(inner, ast.stmt) for inner in _own(node))
            code.functions.append(_place(file, node))
    return code


def _is_wide(line: str) -> bool:
    """Too wide to be read; an order to a checker at the end of a line does not count."""
    return len(re.sub(r"\s*#\s*(type: ignore|noqa).*", "", line)) > WIDEST


def _place(file: Path, node: Function) -> Place:
    return Place(
        file, node.lineno, node.name, function_lines(node), complexity(node), parameters(node)
    )


# --- C++

NOT_CODE = re.compile(
    r'R"([^()\s\\]*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*'
    r"|/\*(?:.|\n)*?\*/|^\s*#[^\n]*",
    re.MULTILINE,
)
NO_FUNCTION = re.compile(
    r"^\s*(?:inline\s+)?(?:namespace|class|struct|union|enum|extern)\b|[=,(]\s*$"
)


def without_text(source: str) -> str:
    """C++ source with comments, strings and preprocessor lines blanked; the line numbers stay."""

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", found.group())

    # A digit separator (4'096) is no character literal.
    return NOT_CODE.sub(blank, re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "_", source))


def cpp_functions(source: str) -> Iterator[tuple[int, int]]:
    """(first line, lines) of each function body: an outermost brace block whose head has
    parameters.
    """
    code = without_text(source)
    head = 0
    # for each open brace the offset where its function began, None for other blocks
    stack: list[int | None] = []
    for position, sign in enumerate(code):
        if sign == "{":
            inside = any(start is not None for start in stack)
            text = code[head:position]
            is_function = not inside and ")" in text and not NO_FUNCTION.search(text)
            stack.append(head + len(text) - len(text.lstrip()) if is_function else None)
        elif sign == "}" and stack:
            start = stack.pop()
            if start is not None:
                yield code.count("\n", 0, start) + 1, code.count("\n", start, position) + 1
        if sign in "{};":
            head = position + 1


def count_cpp(files: Iterable[Path]) -> Code:
    """The figures of some C++ files."""
    code = Code()
    for file in files:
        text = file.read_text(encoding="utf-8")
        lines = text.splitlines()
        code.modules.append(Place(file, 1, file.name, len(lines)))
        code.filled += sum(bool(line.strip()) for line in lines)
        code.comments += sum(line.lstrip().startswith(("//", "/*", "*")) for line in lines)
        for line, length in cpp_functions(text):
            code.functions.append(Place(file, line, "function", length))
    return code


# --- the table


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


@dataclass(frozen=True)
class Tree:
    """Everything that the table is made of."""

    product: Code
    tests: Code
    everything: Code
    engine: Code
    engine_tests: Code
    cli_lines: int
    cycles: int


def measured(root: Path) -> Tree:
    """The figures of the tree at ``root``."""
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
        cycles=len(cycles(import_graph(root / "src"))),
    )


def rows(tree: Tree) -> list[Row]:
    """The table: what is limited first, then what is only shown."""
    columns = list(zip(*MODELS.values(), strict=True))
    return [*_limited(tree, columns), *_shown(tree, columns)]


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
        Row("  highest", str(branched[2]), "<= 15", branched[2] <= COMPLEXITY_LIMIT, held=False),
        Row("parameters, most", str(most), "<= 7", most <= PARAMETER_LIMIT, held=False),
        Row(f"lines over {WIDEST} columns", str(wide), "none", not wide, held=False),
        Row("import cycles", str(tree.cycles), "none", not tree.cycles),
        Row("lines of cli", str(tree.cli_lines), "<= 2000", tree.cli_lines <= 2000, held=False),
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
        Row("Python files", f"{len(product.modules)} of {len(everything.modules)}"),
        Row("Python lines", f"{product.lines} of {everything.lines}"),
        Row("Python statements", f"{product.statements} of {everything.statements}"),
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
