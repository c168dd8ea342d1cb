"""Reaching many hosts by a program called like ssh: here a script that plays the hosts."""

import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from wireproof.launch.fanout import facts_by_host, problem_of, reachable
from wireproof.model.errors import BadInput

TABLES = tomllib.loads(Path(__file__).with_name("tables.toml").read_text(encoding="utf-8"))
AGENT = Path(__file__).with_name("agent.sh").read_text(encoding="utf-8")


@pytest.fixture
def agent(tmp_path: Path) -> str:
    path = tmp_path / "agent"
    path.write_text(AGENT, encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_hosts_answer_in_the_order_asked_and_the_rest_is_named(agent: str) -> None:
    seen: list[tuple[int, int]] = []
    answers = reachable(
        ["n2", "hang1", "n1", "refuse7", "n2"],
        agent,
        1.0,
        fanout=2,
        progress=lambda done, all_: seen.append((done, all_)),
    )
    assert answers == {
        "n2": "",
        "hang1": "it did not answer within 1 s: is it up, and its link?",
        "n1": "",
        "refuse7": "it refused the connection: start sshd there",
    }
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_what_did_not_answer_is_ended(agent: str) -> None:
    assert reachable(["hang"], agent, 1.0)["hang"]
    assert gone(int(Path(f"{agent}.pid").read_text(encoding="utf-8")))


def test_an_interrupt_ends_what_runs(agent: str) -> None:
    words = (
        "import sys; from wireproof.launch.fanout import reachable; reachable(['hang'],"
        " sys.argv[1], 60.0)"
    )
    asker = subprocess.Popen(
        [sys.executable, "-c", words, agent], stderr=subprocess.PIPE, text=True
    )
    noted = Path(f"{agent}.pid")
    for _ in range(1000):
        if noted.exists() and noted.read_text(encoding="utf-8").strip():
            break
        time.sleep(0.02)
    asker.send_signal(signal.SIGINT)
    _, errors = asker.communicate(timeout=30)
    assert "KeyboardInterrupt" in errors
    assert gone(int(noted.read_text(encoding="utf-8")))


def test_words_arrive_as_they_were_given(agent: str) -> None:
    answers = facts_by_host(["n1"], ["printf", "%s|", "a  b", "$HOME", "it's", "%h", ""], agent)
    assert answers["n1"].text == "a  b|$HOME|it's|%h||"
    assert answers["n1"].problem == ""


def test_an_agent_gets_its_variables(agent: str) -> None:
    assert (
        facts_by_host(["env"], ["true"], agent, environment={"WORD": "here"})["env"].text == "here"
    )


def test_what_a_host_says_is_bounded(agent: str) -> None:
    answers = facts_by_host(["loud", "binary"], ["true"], agent)
    assert len(answers["loud"].text) < 10_000
    assert answers["binary"].problem.startswith("the command ended there with status 1")
    assert len(answers["binary"].problem) < 300


def test_this_machine_needs_no_ssh() -> None:
    answers = facts_by_host(["localhost"], ["echo", "x"])
    assert (answers["localhost"].text, answers["localhost"].problem) == ("x", "")
    assert (
        "cannot be started"
        in facts_by_host(["localhost"], ["/no/such/program"])["localhost"].problem
    )


def test_no_agent_no_question() -> None:
    with pytest.raises(BadInput, match="/no/agent"):
        reachable(["n1"], "/no/agent")
    assert reachable([], "/no/agent") == {}


@pytest.mark.parametrize(("said", "words"), TABLES["ssh"])
def test_sentences(said: str, words: str) -> None:
    assert words in problem_of(255, said.splitlines(), 10)
