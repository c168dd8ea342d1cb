"""The table of sizes: what is counted, and which limits are held."""

import ast
from pathlib import Path

import pytest

import counts
import sizes


def _function(text: str) -> counts.Function:
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return node


def test_docstring_does_not_count_as_function_length() -> None:
    text = 'def f():\n    """Long.\n' + "    more\n" * 60 + '    """\n    return 1\n'
    assert counts.function_lines(_function(text)) == 2


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return 1", 1),
        ("if a:\n        return 1\n    elif b:\n        return 2", 3),
        ("return a and b and c", 3),
        ("return [x for x in y if x if z]", 4),
        ("return 1 if a else 2", 2),
        ("while a:\n        for b in c:\n            pass", 3),
        ("try:\n        pass\n    except A:\n        pass\n    except B:\n        pass", 3),
        ("match a:\n        case 1:\n            pass\n        case _:\n            pass", 3),
        ("def g():\n        if a:\n            pass\n    return lambda: b if c else d", 1),
    ],
)
def test_complexity_counts_decisions(body: str, expected: int) -> None:
    assert counts.complexity(_function(f"def f():\n    {body}\n")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a, /, b, *, c=1", 3), ("self, a", 1), ("cls", 0), ("*rest, **more", 0), ("", 0)],
)
def test_parameters_are_what_a_caller_may_give(text: str, expected: int) -> None:
    assert counts.parameters(_function(f"def f({text}): pass")) == expected


def _tree(root: Path, functions: list[int]) -> sizes.Tree:
    folder = root / "src" / "wireproof" / "lab"
    folder.mkdir(parents=True)
    for i, lines in enumerate(functions):
        (folder / f"f{i}.py").write_text("def f():\n" + "    x = 1\n" * (lines - 1))
    return sizes.measured(root)


@pytest.mark.parametrize(
    ("functions", "status"), [([25] * 20, 0), ([25] * 20 + [26] * 20, 1), ([5] * 20 + [41], 1)]
)
def test_a_limit_that_is_held_fails_the_check(
    tmp_path: Path, functions: list[int], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    _tree(tmp_path, functions)
    assert sizes.main([str(tmp_path)]) == status
    assert ("FAIL" in capsys.readouterr().out) == bool(status)


def test_a_limit_to_reach_is_shown_and_does_not_fail() -> None:
    open_row = sizes.Row("import cycles", "5", "none", met=False, held=False)
    assert "FAIL (to reach)" in sizes.text_of([open_row])


def test_the_table_has_every_model_beside_us(tmp_path: Path) -> None:
    head, *lines = sizes.text_of(sizes.rows(_tree(tmp_path, [3, 4]))).splitlines()
    assert all(model in head for model in sizes.MODELS)
    assert any(line.startswith("function lines") and "13/48/384" in line for line in lines)


def test_places_are_named(tmp_path: Path) -> None:
    tree = _tree(tmp_path, [41])
    ((file, line, what),) = sizes.places(tree)
    assert (file.name, line, what) == ("f0.py", 1, "f has 41 lines (at most 40)")


def test_cpp_functions_are_outermost_and_text_is_no_code() -> None:
    source = """namespace a {
// } in a comment {
struct S {
  int f() const { return 1; }
  int value{0};
};
constexpr int kTable[] = {1, 2};
const char* g(int a,
              int b) {
  auto inner = [](int x) { return x; };
  if (a) { return "}"; }
  return R"(})";
}
}
"""
    assert list(counts.cpp_functions(source)) == [(4, 1), (8, 6)]


def test_an_order_to_a_checker_does_not_make_a_line_wide(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "a.py").write_text(f"a = {'1' * 90}  # noqa: E501\nb = {'1' * 97}\n")
    assert [line for _, line in sizes.measured(tmp_path).everything.wide] == [2]


def test_amounts_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "src" / "wireproof"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("class Row:\n    x = 1\n" + "\n" * 450)
    for name in ("b", "c"):
        (folder / f"{name}.py").write_text("from wireproof.a import Row as Base\n")
    (folder / "d.py").write_text("import wireproof.b\n\nclass Row:\n    pass\n")
    assert sizes.main([str(tmp_path)]) == 1
    table = sizes.rows(sizes.measured(tmp_path))
    amounts = {row.name.strip(): (row.here, row.met) for row in table}
    assert amounts["classes"] == ("2", True)
    assert amounts["class names used twice"] == ("1", True)
    assert amounts["modules with one importer"] == ("1", True)
    assert amounts["longest module"] == ("452", False)
    assert "FAIL" in capsys.readouterr().out
