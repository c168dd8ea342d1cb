"""Checks the layers of ARCHITECTURE.md, import cycles and the forbidden names. Run by `make lint`;
standard library only.

Prints one line per breach, ``file:line: sentence``, and ends with status 1 when there is one.
Usage: ``python tools/check_import_law.py [ROOT]``; with ``--picture`` it prints the layers for
ARCHITECTURE.md.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FORBIDDEN_NAMES = {"core", "common", "util", "utils", "helper", "helpers", "misc", "manager"}

# Packages from the bottom up: a package imports itself and those of the layers below it, so
# packages of one layer do not know each other.
PYTHON_LAYERS: tuple[tuple[str, ...], ...] = (
    ("files", "model"),
    ("bmc", "physics", "stats", "version"),
    ("ledger", "options", "topology"),
    ("launch", "report"),
    ("instrument", "lab", "store"),
    ("target",),
    ("audit",),
    ("catalogue", "tune"),
    ("atlas", "lint"),
    ("verdict",),
    ("locate", "logs"),
    ("watch",),
    ("measure",),
    ("archive", "experiment", "plan"),
    ("pfc", "workflow"),
    ("cli",),
)
PURE = "# pure"
"""The first line of a file without effects. It imports only files with this line."""
PURE_THIRD_PARTY = {"model": {"msgspec"}}
PURE_THIRD_PARTY_DEFAULT = {"msgspec", "numpy"}
EFFECTS = {
    *(
        "asyncio",
        "ctypes",
        "fcntl",
        "glob",
        "http",
        "io",
        "logging",
        "multiprocessing",
        "os",
        "pty",
        "select",
    ),
    *("shutil", "signal", "socket", "subprocess", "tempfile", "threading", "time", "urllib"),
}
EFFECT_CALLS = {"open", "input", "print"}
EFFECT_METHODS = {"now", "utcnow", "today", "read_text", "read_bytes", "write_text", "write_bytes"}

# engine folder: the folders that it may include besides itself; "transport" is the concept,
# "transport/*" a technology.
CPP_LAYERS: dict[str, set[str]] = {
    "base": set(),
    "plan": {"base"},
    "record": {"base", "plan"},
    "witness": {"base"},
    "facts": {"base", "plan", "host"},  # it answers the requests that a plan names
    "host": {"base"},
    "sentinel": {"base"},
    "node": {"base"},
    "transport": {"base", "plan"},
    "pattern": {"base", "plan", "transport"},
    "transport/*": {
        *("base", "plan", "transport", "pattern", "transport/local", "transport/meeting"),
    },  # docs/adr/0006
    "transport/meeting": {"base", "transport"},
    "transport/local": {"base", "plan", "transport", "pattern"},
    "measure": {
        *(
            "base",
            "plan",
            "record",
            "witness",
            "facts",
            "host",
            "sentinel",
            "transport",
            "transport/*",
            "pattern",
        ),
    },
    "abi": set(),
    "main": {"*"},
    "tests": {"*"},
}
MPI_FOLDERS = ("transport/mpi", "abi", "tests")


@dataclass(frozen=True)
class Breach:
    """One sentence about one place."""

    file: Path
    line: int
    sentence: str


# --- Python


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Every statement: imports are among them. Expressions, most of a tree, are not visited."""
    inside = deque([tree])
    while inside:
        node = inside.popleft()
        yield node
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            inside += getattr(node, name, ())


def imported_modules(
    tree: ast.AST, module: tuple[str, ...], is_package: bool
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(line, dotted name) of every import, lazy and typing-only ones too; ``module`` resolves the
    relative ones.
    """
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            cut = len(module) + is_package - node.level
            base = module[:cut] if node.level else ()
            stem = base + tuple((node.module or "").split(".") if node.module else ())
            for alias in node.names:
                yield node.lineno, (*stem, alias.name)


def check_layers(file: Path, tree: ast.AST, module: tuple[str, ...]) -> list[Breach]:
    """Imports inside ``wireproof``: each package reaches only what its layer allows."""
    # wireproof/__init__.py imports the Python API on first use
    package = module[1] if len(module) > 1 else "workflow"
    package = "cli" if package == "__main__" else package
    depth = next((i for i, layer in enumerate(PYTHON_LAYERS) if package in layer), None)
    if depth is None:
        return [Breach(file, 1, f"package {package!r} has no layer: add it to PYTHON_LAYERS")]
    allowed = {package, *(name for layer in PYTHON_LAYERS[:depth] for name in layer)}
    breaches = []
    for line, name in imported_modules(tree, module, file.name == "__init__.py"):
        if name[0] != "wireproof" or len(name) < 2 or name[1].startswith("__"):
            continue
        if name[1] not in allowed:
            sentence = f"{package} imports {name[1]}, which is not in a layer below it"
            breaches.append(Breach(file, line, sentence))
    return breaches


def check_pure(file: Path, tree: ast.AST, module: tuple[str, ...]) -> list[Breach]:
    """Pure files: no process, environment, clock, file, no library beyond the allowed ones, and no
    import of a file that is not pure.
    """
    package = module[1]
    libraries = PURE_THIRD_PARTY.get(package, PURE_THIRD_PARTY_DEFAULT)
    allowed = {"wireproof", "__future__", *libraries, *sys.stdlib_module_names}
    breaches = []
    for line, name in imported_modules(tree, module, file.name == "__init__.py"):
        if name[0] in EFFECTS:
            breaches.append(Breach(file, line, f"{package} is pure and imports {name[0]}"))
        elif name[0] not in allowed:
            may = ", ".join(sorted(libraries))
            breaches.append(Breach(file, line, f"{package} may use {may}, not {name[0]}"))
        elif name[0] == "wireproof" and not _is_pure(_text_of(file, module, name)):
            sentence = f"the file is pure and imports {'.'.join(name)}, which is not"
            breaches.append(Breach(file, line, sentence))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call, name_of in ((call, _effect(call)) for call in calls):
        if name_of:
            breaches.append(Breach(file, call.lineno, f"{package} is pure and calls {name_of}()"))
    return breaches


def _text_of(file: Path, module: tuple[str, ...], name: tuple[str, ...]) -> str:
    """The text of the imported module: ``name``, or its parent if the last part is a member."""
    source = file.parents[len(module) - (file.name != "__init__.py")]
    for parts in (name, name[:-1]):
        place = source.joinpath(*parts)
        for path in (place / "__init__.py", place.with_suffix(".py")):
            if path.is_file():
                return path.read_text(encoding="utf-8")
    return PURE


def _is_pure(text: str) -> bool:
    return text.partition("\n")[0] == PURE


def _effect(call: ast.Call) -> str:
    """The name of what is called, when it opens, asks, prints or looks at the clock."""
    if isinstance(call.func, ast.Name) and call.func.id in EFFECT_CALLS:
        return call.func.id
    if isinstance(call.func, ast.Attribute) and call.func.attr in EFFECT_METHODS:
        return f".{call.func.attr}"
    return ""


def check_python(root: Path, file: Path) -> list[Breach]:
    """All breaches of one Python file."""
    text = file.read_text(encoding="utf-8")
    try:
        tree = ast.parse(text, str(file))
    except SyntaxError as error:
        return [Breach(file, error.lineno or 1, f"does not parse: {error.msg}")]
    breaches: list[Breach] = []
    source = root / "src"
    if source in file.parents:
        module = file.relative_to(source).with_suffix("").parts
        module = module[:-1] if module[-1] == "__init__" else module
        breaches += check_layers(file, tree, module)
        if _is_pure(text):
            breaches += check_pure(file, tree, module)
    return breaches


# --- cycles


def modules_below(source: Path, folder: str = "") -> dict[tuple[str, ...], Path]:
    """The modules of ``source / folder`` by their names from ``source`` on, in a fixed order."""
    files = {}
    for file in sorted((source / folder).rglob("*.py")):
        parts = file.relative_to(source).with_suffix("").parts
        files[parts[:-1] if parts[-1] == "__init__" else parts] = file
    return files


def import_graph(files: Mapping[tuple[str, ...], Path]) -> dict[str, set[str]]:
    """Each of these modules with those of them that it imports: also inside functions, also for
    types only.
    """
    graph: dict[str, set[str]] = {}
    for module, file in files.items():
        try:
            tree = ast.parse(file.read_text(encoding="utf-8"))
        except SyntaxError:
            continue  # check_python names it
        names = imported_modules(tree, module, file.name == "__init__.py")
        found = {
            name if name in files else name[:-1]
            for _, name in names
            if not name[-1].startswith("__")  # the version is no dependence on what is beside it
        }
        graph[".".join(module)] = {".".join(name) for name in found & set(files) - {module}}
    return graph


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that reach each other, each group once, in alphabetical order."""
    reached = {name: _reached(graph, name) for name in graph}
    groups = {
        frozenset(other for other in reached[name] if name in reached[other])
        for name in graph
        if name in reached[name]
    }
    return sorted(sorted(group) for group in groups)


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    """The modules that ``start`` imports, and what these import in turn."""
    seen: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += graph.get(name, ())
    return seen


def check_cycles(root: Path) -> list[Breach]:
    """Modules that import each other, in one step or in several."""
    return [
        Breach(
            root / "src" / Path(*group[0].split(".")).with_suffix(".py"),
            1,
            f"import cycle: {', '.join(group)}",
        )
        for group in cycles(import_graph(modules_below(root / "src")))
    ]


def check_shadowed(root: Path) -> list[Breach]:
    """Packages that import a name of one of their modules from elsewhere: whoever loads that module
    later replaces the name by the module. ``wireproof`` itself guards its functions.
    """
    files = modules_below(root / "src")
    breaches = []
    for module, file in files.items():
        if len(module) == 1 or file.name != "__init__.py" or (tree := _parsed(file)) is None:
            continue
        for line, name in imported_modules(tree, module, is_package=True):
            inner = (*module, name[-1])
            if inner in files and inner not in (name, name[:-1]):
                sentence = f"{name[-1]} is also a module of this package, which would replace it"
                breaches.append(Breach(file, line, sentence))
    return breaches


def _parsed(file: Path) -> ast.AST | None:
    try:
        return ast.parse(file.read_text(encoding="utf-8"))
    except SyntaxError:
        return None  # check_python names it


# --- C++

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def cpp_folder(engine: Path, file: Path) -> str:
    """The layer of a file: ``base``, ``transport/tcp`` … and ``main`` for the files directly in
    engine/.
    """
    parts = file.relative_to(engine).parts
    if len(parts) == 1:
        return "main"
    if parts == ("transport", "local.hpp"):  # what the technologies within one process share
        return "transport/local"
    return "/".join(parts[:2]) if parts[0] == "transport" and len(parts) > 2 else parts[0]


def check_include(engine: Path, file: Path, target: str, *, quoted: bool) -> str:
    """What is wrong with one include; "" for one that the layers allow. Quoted includes are
    relative to engine/ or to the file.
    """
    folder = cpp_folder(engine, file)
    if Path(target).name == "mpi.h":
        allowed = folder in MPI_FOLDERS
        return "" if allowed else f"{folder} includes mpi.h; only transport/mpi may"
    if not quoted:
        return ""
    found = next((path for path in (engine / target, file.parent / target) if path.is_file()), None)
    if found is None or engine not in found.resolve().parents:
        return f'"{target}" is no file of engine/: use <> for what is not ours'
    layer = folder if folder in CPP_LAYERS or not folder.startswith("transport/") else "transport/*"
    if layer not in CPP_LAYERS:
        return f"folder {folder!r} has no layer: add it to ARCHITECTURE.md and to CPP_LAYERS"
    other = cpp_folder(engine, found.resolve())
    if other == folder or _may_include(CPP_LAYERS[layer], other):
        return ""
    may = ", ".join(sorted(CPP_LAYERS[layer])) or "nothing"
    return f"{folder} includes {other}; it may include {may}"


def _may_include(allowed: set[str], other: str) -> bool:
    technology = other.startswith("transport/") and "transport/*" in allowed
    return technology or bool(allowed & {"*", other})


def check_cpp(root: Path, file: Path) -> list[Breach]:
    """All breaches of one C++ file."""
    engine = root / "engine"
    text = file.read_text(encoding="utf-8")
    breaches = []
    for line, content in enumerate(text.splitlines(), start=1):
        found = INCLUDE.match(content)
        if found:
            wrong = check_include(engine, file, found.group(2), quoted=found.group(1) == '"')
            breaches += [Breach(file, line, wrong)] if wrong else []
    return breaches


# --- both


def check_name(root: Path, file: Path) -> list[Breach]:
    """Names that say nothing about what is inside."""
    found = {part.split(".")[0] for part in file.relative_to(root).parts} & FORBIDDEN_NAMES
    return [
        Breach(file, 1, f"no file or folder is called {name!r}: name it by what it holds")
        for name in sorted(found)
    ]


def sources(root: Path, folders: Sequence[str], suffixes: set[str]) -> list[Path]:
    """Our files below ``folders``, in a fixed order."""
    files = (file for folder in folders for file in (root / folder).rglob("*"))
    return sorted(file for file in files if file.is_file() and file.suffix in suffixes)


def check(root: Path) -> list[Breach]:
    """All breaches of the tree at ``root``."""
    breaches = []
    for file in sources(root, ("src", "tests", "tools", "benchmarks"), {".py"}):
        breaches += check_name(root, file) + check_python(root, file)
    for file in sources(root, ("engine",), {".cpp", ".hpp", ".c", ".h"}):
        breaches += check_name(root, file) + check_cpp(root, file)
    return breaches + check_cycles(root) + check_shadowed(root)


def picture() -> str:
    """The layers of the Python packages, from the top down."""
    return "\n".join("  ".join(layer).center(40).rstrip() for layer in reversed(PYTHON_LAYERS))


def main(arguments: list[str]) -> int:
    """Print the breaches of ROOT (default: this checkout); 0 when there is none."""
    if arguments == ["--picture"]:
        print(picture())
        return 0
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    breaches = check(root)
    for breach in breaches:
        print(f"{breach.file.relative_to(root)}:{breach.line}: {breach.sentence}")
    print(f"import law: {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
