"""The reading of pages and the comparison of output, on made-up pages."""

from pathlib import Path

import pytest
from tests.docs import grammar, markdown, shape
from tests.docs.desk import Desk
from tests.docs.test_blocks import KINDS


@pytest.mark.parametrize(
    ("shown", "printed", "measured"),
    [
        ("a\nb\n", "a\nb", False),
        ("a\n...\nd", "a\nb\nc\nd", False),
        ("a\n...", "a", False),
        ("...\nz", "x\ny\nz", False),
        ("wrote ... now", "wrote /tmp/x now", False),
        ("a  \n", "a", False),
        ("n1  9.73 MB/s [9.1, 9.9]", "n1  119.70 MB/s [101, 1e3]", True),
        ("a 5 %", "a   12,345 %", True),
        ("...\nb\n...\nb\nc", "b\nb\nb\nc", False),
    ],
)
def test_the_same(shown: str, printed: str, measured: bool) -> None:
    assert shape.same(shown, printed, measured=measured)


@pytest.mark.parametrize(
    ("shown", "printed", "measured"),
    [
        ("a", "a\nb", False),
        ("a\nb", "a", False),
        ("...\na\n...", "b", False),
        ("9.73 MB/s", "9.74 MB/s", False),
        ("9.73 MB/s", "9.73 kB/s", True),
        ("n1 passes", "n2 passes", True),
        ("PASS 3", "FAIL 3", True),
        ("a.c", "abc", False),
    ],
)
def test_not_the_same(shown: str, printed: str, measured: bool) -> None:
    assert not shape.same(shown, printed, measured=measured)


def test_a_note_is_taken_apart() -> None:
    note = markdown.parsed_note("measured; needs netns mpi; with A=b; file x.toml", "x:1")
    assert note == {"measured": "", "needs": "netns mpi", "with": "A=b", "file": "x.toml"}
    assert markdown.parsed_note("not run: needs a cluster", "x:1") == {
        "not run:": "needs a cluster"
    }
    with pytest.raises(ValueError, match="'skipped' is none of"):
        markdown.parsed_note("skipped", "x:1")


def test_commands_of_a_script() -> None:
    script = (
        "A=1 wireproof judge - <f  # it's\nmake x && (cd y; ls 'n[1-2]' | cat >z)\nlong \\\n  -b\n"
    )
    assert list(grammar.commands(script)) == [
        ["wireproof", "judge", "-"],
        ["make", "x"],
        ["cd", "y"],
        ["ls", "n[1-2]"],
        ["cat"],
        ["long", "-b"],
    ]


def test_a_console_is_commands_with_what_they_print() -> None:
    assert grammar.typed("$ a \\\n  b\nx\ny\n$ c\n") == [("a b", "x\ny\n"), ("c", "")]
    with pytest.raises(ValueError, match="which is no command"):
        grammar.typed("x\n$ a\n")


@pytest.mark.parametrize(
    "line",
    [
        "measure --pattern stream",
        "check --hosts n1,n2 --link 10gb",
        "check --hosts n1,n2 --link quadrics",
        "check --profile best",
        "judge",
        "judge examples/no-such-log.out",
        "chekc",
        "measure pingpong --sizes 1Mo",
        "explain off-wires",
        "audit --hosts n1 cpu-governer",
    ],
)
def test_what_the_command_line_does_not_have_is_told(line: str) -> None:
    with pytest.raises(Exception, match=r"\w"):
        grammar.parsed(line.split())


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("text", "$ wireproof doctor\n"),
        ("text", "PASS  path: on-wire\n"),
        ("sh", "wireproof measure stream --pattern ring\n"),
        ("sh", "make everything\n"),
        ("sh", "if true\n"),
        ("console", "$ wireproof chekc\n"),
        ("toml", "a = \n"),
        ("json", "{'a': 1}"),
        ("python", "import wireproof\nwireproof.mesure()\n"),
    ],
)
def test_a_block_that_is_wrong_is_told(tag: str, text: str) -> None:
    with pytest.raises((AssertionError, ValueError, SyntaxError, pytest.fail.Exception)):
        KINDS[tag](markdown.Block("page.md", 7, tag, text, {}))


def test_output_that_differs_is_shown_beside_the_page(tmp_path: Path) -> None:
    desk = Desk.laid(tmp_path)
    right = "$ wireproof explain 1000MB/s\n1000 MB/s = 1000 x 10^6 = 1000000000 B/s\n...\n"
    assert desk.done(markdown.Block("page.md", 7, "console", right, {})) == []
    (told,) = desk.done(
        markdown.Block("page.md", 7, "console", right.replace("10^6", "2^20", 1), {})
    )
    assert told.startswith("page.md:7: wireproof explain 1000MB/s\n--- shown:\n")
    (told,) = desk.done(markdown.Block("page.md", 7, "sh", "wireproof judge missing.log\n", {}))
    assert "ended with 2" in told
    (told,) = desk.done(
        markdown.Block("page.md", 7, "sh", "wireproof --version >no/such/folder\n", {})
    )
    assert "No such file or directory" in told
