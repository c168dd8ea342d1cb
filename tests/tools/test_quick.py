"""`make quick` chooses the tests that reach a change, the nearest first."""

from pathlib import Path

import pytest

import quick
from check_import_law import import_graph, modules_below
from quick import ROOT, distances, files_to_test, modules_of

GRAPH = {
    "a": set(),
    "b": {"a"},
    "c": {"b", "a"},
    "d": {"c"},
    "x": set(),
    "y": {"x", "y2"},
    "y2": {"y"},
}


def test_distances_count_imports_and_end_in_circles() -> None:
    assert distances(GRAPH, ["a"]) == {"a": 0, "b": 1, "c": 1, "d": 2}
    assert distances(GRAPH, ["y"]) == {"y": 0, "y2": 1}
    assert distances(GRAPH, ["a", "d"])["d"] == 0
    assert distances(GRAPH, []) == {}


def test_a_data_file_stands_for_the_modules_beside_it() -> None:
    files = {
        ("p", "read"): ROOT / "src/p/read.py",
        ("p", "q", "more"): ROOT / "src/p/q/more.py",
        ("tests", "test_p"): ROOT / "tests/test_p.py",
    }
    assert modules_of(["src/p/table.toml"], files) == {"p.read"}
    assert modules_of(["src/p/q/more.py", "README.md"], files) == {"p.q.more"}


def test_the_tests_of_a_module_come_before_those_of_its_users(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tests = modules_below(ROOT, "tests/tools")
    few = {module: file for module, file in tests.items() if module[-1][:6] in ("test_i", "test_q")}
    files = {**modules_below(ROOT / "tools"), **few}
    monkeypatch.setattr(quick, "_everything", lambda: (files, import_graph(files)))
    here = str(Path(__file__).relative_to(ROOT))
    chosen = files_to_test(["tools/quick.py"])
    assert chosen == [here]
    chosen = files_to_test(["tools/check_import_law.py"])
    assert chosen[0] == "tests/tools/test_import_law.py"
    assert here in chosen
    assert files_to_test(["no/such/file.py"]) == []
