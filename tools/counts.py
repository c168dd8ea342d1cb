"""Counts lines, functions, decisions and parameters of Python and C++ files, for ``sizes.py``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = [
    "WIDEST",
    "Code",
    "Function",
    "Place",
    "complexity",
    "count_cpp",
    "count_python",
    "cpp_functions",
    "function_lines",
    "parameters",
]

WIDEST = 100
"""Columns of a line."""

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
    classes: list[str] = field(default_factory=list)
    """The name of each class, once for each definition."""
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
            self.classes + other.classes,
            self.comments + other.comments,
            self.filled + other.filled,
            self.inside + other.inside,
        )


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
    return _complexity(_own(node))


def _complexity(own: Iterable[ast.AST]) -> int:
    return 1 + sum(_decisions(inner) for inner in own)


def _own(node: ast.AST) -> list[ast.AST]:
    """Everything below ``node`` that belongs to no function or class inside it."""
    found: list[ast.AST] = []
    border = [node]
    while border:
        inside = [one for one in ast.iter_child_nodes(border.pop()) if not isinstance(one, Scope)]
        found += inside
        border += inside
    return found


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
        if isinstance(node, ast.ClassDef):
            code.classes.append(node.name)
        if isinstance(node, Function):
            own = _own(node)
            code.inside += sum(isinstance(inner, ast.stmt) for inner in own)
            code.functions.append(_place(file, node, own))
    return code


def _is_wide(line: str) -> bool:
    """Too wide to be read; an order to a checker at the end of a line does not count, nor does one
    word that has no blank to be broken at.
    """
    line = re.sub(r"\s*#\s*(type: ignore|noqa).*", "", line)
    return len(line) > WIDEST and len(line.split()) > 1


def _place(file: Path, node: Function, own: Iterable[ast.AST]) -> Place:
    return Place(
        file, node.lineno, node.name, function_lines(node), _complexity(own), parameters(node)
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
