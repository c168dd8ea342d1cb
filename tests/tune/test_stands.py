"""Which change sets stood while hosts were measured, and what the report says of it."""

import dataclasses
import os
from pathlib import Path

import pytest
from tests.rendered import text_of
from tests.synthetic import lab, run_of
from tests.tune.node import Machine, change, request

from wireproof.model.tuning import ChangeAnswer, HostTuned, SetAnswer, Standing
from wireproof.report.answers import undo
from wireproof.report.judged_run import JudgedRun
from wireproof.target import this_machine
from wireproof.tune.node import JournalPlace, ask_nodes
from wireproof.tune.standing import standing_of
from wireproof.verdict.run import judge


def tuned(host: str, state: str = "applied", of: str = "confirmed") -> HostTuned:
    value = ChangeAnswer(
        id="mtu/ib0",
        state=state,  # type: ignore[arg-type]
        of="a1",
        old="2044",
        wanted="4092",
        seen="9000",
    )
    one = SetAnswer(id="a1", state=of, by="root", since="2026-11-20T10:00:00Z")  # type: ignore[arg-type]
    return HostTuned(host=host, sets=[one], changes=[value])


def test_sets_are_folded_by_host_and_the_command_takes_them_back() -> None:
    found = standing_of([tuned("n1"), tuned("n2"), HostTuned(host="n3")])
    (one,) = found.sets
    assert (one.hosts, one.changes) == (["n1", "n2"], ["mtu/ib0: 2044 -> 4092"])
    short, text, known = undo(found)
    assert (short, known) == ("1 change set was in force", True)
    assert "on n[1-2], since 2026-11-20T10:00:00Z, and is kept, even after a reboot" in text
    assert "`wireproof tune revert a1 --hosts 'n[1-2]'` reverts it" in text


@pytest.mark.parametrize(
    ("state", "of", "stands"),
    [
        ("applied", "armed", True),
        ("left", "confirmed", True),
        ("reverted", "armed", False),
        ("applied", "reverted", False),
        ("already", "confirmed", False),
        ("gone", "applying", True),
        ("reverted", "partly", True),
    ],
)
def test_only_what_stands_is_told(state: str, of: str, stands: bool) -> None:
    assert bool(standing_of([tuned("n1", state, of)]).sets) == stands


def test_a_value_of_somebody_else_is_shown_as_it_is() -> None:
    assert standing_of([tuned("n1", "left")]).sets[0].changes == ["mtu/ib0: 2044 -> 9000"]


def test_a_journal_that_cannot_be_read_is_unknown_and_not_nothing() -> None:
    hosts = [HostTuned(host=name, problem="Permission denied", status=4) for name in ("n1", "n2")]
    short, text, known = undo(standing_of([*hosts, HostTuned(host="n3")]))
    assert (short, known) == ("Unknown", False)
    assert "What was in force on n[1-2] is unknown: Permission denied." in text


def test_nothing_is_said_only_of_hosts_that_were_asked() -> None:
    assert undo(None)[0] == "This run changed nothing"
    assert "were not checked" in undo(None)[1]
    short, text, _ = undo(Standing(hosts=["n1", "n2"]))
    assert short == "Nothing was changed"
    assert "in force on n[1-2]" in text


def test_the_terminal_tells_it_too_and_is_silent_where_nothing_stood() -> None:
    run = run_of(lab(nodes=2))
    section = JudgedRun("check", run, judge(run))
    plain = text_of(section)
    told = text_of(dataclasses.replace(section, standing=standing_of([tuned("n1")])))
    assert "This run changed nothing" in plain
    assert "`wireproof tune revert a1 --hosts 'n1'` reverts it" in " ".join(told.split())
    quiet = dataclasses.replace(section, standing=Standing(hosts=["n1"]))
    assert "Nothing was changed" in text_of(quiet)


def test_hostile_words_of_a_journal_are_harmless() -> None:
    host = tuned("n1")
    one = SetAnswer(id="a1", state="armed", since="\x1b[31m" + "x" * 900)
    text = undo(standing_of([HostTuned(host="n1", sets=[one], changes=host.changes)]))[1]
    assert "\x1b" not in text
    assert len(text) < 600


@pytest.mark.engine
def test_a_real_journal_and_one_that_may_not_be_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    machine = Machine(root, {"proc/sys/net/core/somaxconn": "4096"})
    applied = machine.run("apply", text=request(change("/proc/sys/net/core/somaxconn", "1000")))
    assert applied.status == 0, applied
    place = JournalPlace(state=str(machine.state), root=str(root))
    (host,) = ask_nodes(this_machine(None), "status", ("here",), "", place)
    (one,) = standing_of([host]).sets
    assert one.changes == ["somaxconn: 4096 -> 1000"]
    assert one.since
    machine.run("revert")
    assert not standing_of(ask_nodes(this_machine(None), "status", ("here",), "", place)).sets
    if os.geteuid() == 0:  # a folder of another user is as unreadable to root as to others
        os.chown(machine.state, 65534, 65534)
        (host,) = ask_nodes(this_machine(None), "status", ("here",), "", place)
        assert undo(standing_of([host]))[0] == "Unknown"
