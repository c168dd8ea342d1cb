"""What hosts answer is hostile: whole lines count, the rest is left out, and silence is named."""

import sys

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wireproof.model.tuning import HostTuned, Tuned
from wireproof.report.text import document_text
from wireproof.tune.document import tuned_document
from wireproof.tune.node import ask_hosts
from wireproof.tune.settings_files import merged, set_lines

SET = '{"frame":"set","id":"s1","state":"armed","deadline_s":600,"timer":"alive"}'
CHANGE = '{"frame":"change","id":"a","state":"applied","old":"1","wanted":"2","seen":"2"}'


def answered(output: str, status: int = 0, stderr: str = "") -> HostTuned:
    script = (
        f"import sys; sys.stdout.write({output!r}); sys.stderr.write({stderr!r});"
        f" sys.exit({status})"
    )
    (found,) = ask_hosts({"n1": [sys.executable, "-c", script]})
    return found


def test_whole_lines_count():
    found = answered(f"banner\n{CHANGE}\n{SET}\n{CHANGE[:-9]}")
    assert [one.id for one in found.sets] == ["s1"]
    assert [(one.id, one.of) for one in found.changes] == [("a", "s1")]
    assert found.problem == ""


def test_what_is_said_twice_counts_once():
    assert len(answered(f"{CHANGE}\n{CHANGE}\n{SET}\n").changes) == 1


@pytest.mark.parametrize("status", [137, -9])
def test_a_program_that_was_killed_is_said(status):
    script = "import os; os.kill(os.getpid(), 9)" if status < 0 else f"raise SystemExit({status})"
    (found,) = ask_hosts({"n1": [sys.executable, "-c", script]})
    assert "killed by signal 9" in found.problem


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"frame":"else"}',
        '{"frame":"set","id":1,"state":"armed"}',
        '{"frame":"set","id":"x","state":"burnt"}',
        "{" * 5000,
    ],
)
def test_foreign_lines_are_left_out(line):
    assert [one.id for one in answered(f"{line}\n{SET}\n").sets] == ["s1"]


@pytest.mark.parametrize(
    ("status", "stderr", "said"),
    [
        (2, "Welcome\nwireproof-node: there is no set x\n", "there is no set x"),
        (4, "wireproof-node: the lock is held by 7\n", "the lock is held by 7"),
        (255, "no route to host", "it could not be reached: no route to host"),
        (127, "", "wireproof-node is missing (status 127)"),
        (1, "", "it failed (status 1)"),
    ],
)
def test_a_host_that_did_nothing_says_why(status, stderr, said):
    assert answered("", status, stderr).problem == said


@pytest.mark.parametrize(
    ("hosts", "said"),
    [
        ([("n1", "", 0)], "no change set on n1"),
        ([("n1", SET, 0), ("n2", SET, 0)], "the change set is applied and not confirmed on n[1-2]"),
        ([("n1", SET, 1)], "the change set is applied and not confirmed on n1"),
        ([("n1", SET, 0), ("n2", "", 4)], "not confirmed on n1; not done on n2"),
    ],
)
def test_the_first_line_says_what_is_in_force(hosts, said):
    found = [
        msgspec.structs.replace(answered(f"{line}\n", status), host=host)
        for host, line, status in hosts
    ]
    assert tuned_document(Tuned(action="status", hosts=found)).answer.endswith(said)


def test_a_host_without_a_change_set_is_named_once():
    found = Tuned(action="status", hosts=[answered("\n", 0)])
    assert document_text(tuned_document(found)).count("no change set") == 1


def test_a_change_that_was_refused_is_an_answer_and_no_problem():
    assert answered(f"{SET}\n", 1).problem == ""


def test_a_program_that_cannot_be_started():
    (found,) = ask_hosts({"n1": ["/nowhere/at-all"]})
    assert "cannot be started" in found.problem


def test_what_hosts_say_is_harmless_on_a_terminal():
    bad = "\x1b]0;x\x07\u202e"
    hostile = answered(CHANGE.replace('"2","seen"', f'"2","reason":"{bad}","seen"') + f"\n{SET}\n")
    named = HostTuned(host=f"n1{bad}", sets=hostile.sets, changes=hostile.changes, problem=bad)
    for one in (hostile, named):
        text = document_text(tuned_document(Tuned(action="apply", hosts=[one])))
        assert not {"\x1b", "\x07", "\u202e"} & set(text)


NAMES = st.sampled_from(["vm.swappiness", "net.core.rmem_max", "kernel.numa_balancing", "a/b.c"])
LINES = st.builds(lambda name, value: f"{name} = {value}", NAMES, st.integers(0, 99))
OTHERS = st.sampled_from(["", "# note", "; note", "-vm.other = 1", "vm.odd=1"])


@settings(deadline=None)  # a busy machine is not a fault
@given(
    now=st.none() | st.lists(LINES | OTHERS, max_size=8).map("\n".join),
    lines=st.lists(LINES, min_size=1, max_size=5),
)
def test_a_merged_drop_in_sets_ours_once_and_keeps_the_others(now, lines):
    path = "/etc/sysctl.d/90-wireproof.conf"
    text = merged(path, now, lines)
    wanted = {line.split(" = ")[0]: line for line in lines}
    found = set_lines(text)
    for name, line in wanted.items():
        assert [one for one in found if one.split(" = ")[0] == name] == [line]
    kept = [one for one in set_lines(now or "") if one.split(" = ")[0] not in wanted]
    assert [one for one in found if one.split(" = ")[0] not in wanted] == kept
    assert merged(path, text, lines) == text
