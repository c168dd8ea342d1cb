"""Whatever the text: lint ends, tells places that exist, and its fixes come to rest."""

import string
import sys
from types import FrameType

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from wireproof.lint.check import fixed, lint_text, repaired
from wireproof.lint.rule import KINDS, Recipe
from wireproof.lint.shell import commands

PIECES = [
    *(
        "#!/bin/bash -I\n",
        "#SBATCH -N=2\n",
        "#SBATCH ",
        "mpirun ",
        "srun ",
        "-np 2 ",
        "-ppn 1 ",
        "–c ",
        "-genv ",
        "-mca ",
    ),
    *(
        "I_MPI_FABRICS shm:tmi ",
        "I_MPI_PROCESSOR_LIST=0-3 ",
        "btl self,tcp ",
        "~/osu/osu_bw ",
        "IPB-MPI1 ",
        "PingPong ",
    ),
    *(
        "\\\n",
        "\\ ",
        "\n",
        " ",
        "'",
        '"',
        "“",
        "$(",
        "`",
        ")",
        "<<EOF\n",
        "EOF\n",
        "| ",
        "&& ",
        "> /etc/hosts ",
        "sudo ",
    ),
    *(
        "pdsh -w c1 ",
        "ping -c 10.0.0.1 ",
        "options hfi1 ",
        "krcvqs=3,3 ",
        "export A = b",
        "```\n",
        "$> ",
        "- \\$> ",
        "\0",
    ),
    *(
        "iperf3 -s -t 3 ",
        "qperf n1 tcp_bw -m 1 ",
        "taskset 0-3 x ",
        "ib_write_bw -m 8192 ",
        "net.core.rmem_max = 1\n",
    ),
]
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=6)), max_size=40).map("".join)
NAMES = st.sampled_from(
    [
        "a.sh",
        "page.txt",
        "/etc/modprobe.d/hfi1.conf",
        "/etc/hosts",
        "ifcfg-ib0",
        "-",
        "",
        "x\n.repo",
    ]
)
CALM = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@CALM
@given(TEXTS)
def test_every_word_stands_where_it_says(text: str) -> None:
    lines = tuple(text.split("\n"))
    for command in commands(Recipe("page.txt", "script", lines)):
        for word in (*command.words, *command.assignments):
            raw = word.raw.split("\n")[0]
            assert lines[word.line - 1][word.column - 1 :].startswith(raw)
            assert command.line <= word.line <= command.last


@CALM
@given(TEXTS, NAMES)
@example(text="taskset 0-3 x 0\\ ", name="page.txt")
def test_findings_have_places_in_the_text_and_their_order(text: str, name: str) -> None:
    lines = text.removeprefix("\ufeff").split("\n")
    found = lint_text(text, name)
    for finding in found:
        assert 1 <= finding.line <= len(lines)
        assert 1 <= finding.column <= len(lines[finding.line - 1]) + 1
        assert finding.line <= finding.last <= len(lines)
        assert finding.message
    places = [(each.line, each.column, each.code) for each in found]
    assert places == sorted(set(places))


@CALM
@given(TEXTS, NAMES)
def test_fixes_come_to_rest(text: str, name: str) -> None:
    once = repaired(text, name)
    assert repaired(once, name) == once
    assert fixed(text, []) == text


@CALM
@given(
    st.text(alphabet=string.printable + "–“”\u00a0\x00\x1b", max_size=300), st.sampled_from(KINDS)
)
def test_every_kind_takes_every_text(text: str, kind: str) -> None:
    lint_text(text, "x", kind)  # type: ignore[arg-type]


def test_time_is_linear_in_the_size() -> None:
    """Counted in steps, not in seconds: texts that make careless parsers quadratic end at all."""
    for fragment in (
        "'",
        '"\n',
        "<<A\n",
        "$(",
        "`a ",
        "<a ",
        "${",
        "\\",
        "sudo ",
        "a\\\n",
        "((",
        "#!\n",
        "$> ",
        "a=b ",
        "–c ",
    ):
        lint_text(fragment * 5000, "page.txt")
        lint_text("#!/bin/sh\n" + fragment * 5000, "a.sh")


def _calls(text: str) -> int:
    """The calls of functions, of Python and of C, that judging a text takes."""
    count = 0

    def one_more(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(one_more)
    try:
        lint_text(text, "a.sh")
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "unit",
    [
        *("export CHROOT=/a\n", "dnf install infinipath-psm\n", "opaconfig -E opafm\n"),
        *("ip link set ib0 mtu 65520\n", "echo connected > /sys/class/net/ib0/mode\n"),
        *("export A=1\nmpirun -n 2 ./a\n", "qcu64e /SET 1x40\n", "packimage a\nCHROOT=/a\n"),
    ],
)
def test_the_work_is_linear_in_the_commands(unit: str) -> None:
    """What is true of the whole text is not asked again for each command."""
    first, *calls = (_calls("#!/bin/bash\n" + unit * many) for many in (50, 50, 200))
    assert calls[1] < 5 * calls[0], (unit, first)
