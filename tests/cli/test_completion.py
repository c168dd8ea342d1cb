"""Values that a shell completes, as the script of ``wireproof completion bash`` asks for them."""

import socket
from pathlib import Path

import click
import pytest
from tests.cli.verb import wireproof

from wireproof.cli.completion import hosts, labs, nodes
from wireproof.model.topology import LabStatus, NodeStatus


def _offered(words: str) -> list[str]:
    """``words``: the line; a blank at its end begins a word."""
    variables = {
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - (not words.endswith(" "))),
        "_WIREPROOF_COMPLETE": "bash_complete",
    }
    done = wireproof(environment=variables)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("wireproof check --pro", "plain,--profile"),
        ("wireproof check --profile st", "plain,standard"),
        ("wireproof check --link ed", "plain,edr"),
        ("wireproof explain off-w", "plain,off-wire"),
        ("wireproof explain swapp", "plain,swappiness"),
        ("wireproof measure --formula imb", "plain,imb-mpi1"),
        ("wireproof measure ring --order ", "plain,random"),
        ("wireproof check --transport ", "plain,ofi"),
        ("wireproof check --mpi op", "plain,openmpi"),
        ("wireproof check --mpi ./x", "file,./x"),
        ("wireproof check --out here", "dir,here"),
        ("wireproof check --dialect nag", "plain,nagios"),
        ("wireproof judge --path ps", "plain,psm3"),
        ("wireproof run os", "plain,osu"),
        ("wireproof run ib_write", "plain,ib_write_bw"),
        ("wireproof audit swapp", "plain,swappiness"),
        ("wireproof tune apply plan", "file,plan"),
        ("wireproof tune plan --skip mt", "plain,mtu"),
        ("wireproof study uc", "plain,ucx"),
        ("wireproof lint --kind sys", "plain,sysctl"),
        ("wireproof plan footprint --mode rx", "plain,rxm-srx"),
        ("wireproof help tun", "plain,tune"),
        ("wireproof help tune pl", "plain,plan"),
        ("wireproof che", "plain,check"),
        ("wireproof -q che", "plain,check"),
    ],
)
def test_values_are_completed(words: str, offered: str) -> None:
    assert offered in _offered(words)


def test_the_nics_of_this_machine_are_completed_in_a_list_too() -> None:
    names = [name for _, name in socket.if_nameindex() if name != "lo"]
    if not names:
        pytest.skip("this machine has no interface but lo")
    assert f"plain,{names[0]}" in _offered("wireproof check --nic ")
    assert f"plain,hsn0,{names[0]}" in _offered("wireproof check --nic hsn0,")
    assert f"plain,{names[0]},{names[0]}" not in _offered(f"wireproof check --nic {names[0]},")


def test_labs_and_their_nodes_are_completed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    members = tuple(NodeStatus(name, True, 1, {}) for name in ("n1", "n2", "m1"))
    found = [LabStatus("four", "up", tmp_path, nodes=members), LabStatus("two", "up", tmp_path)]
    monkeypatch.setattr("wireproof.lab.state.find_labs", lambda: found)
    context = click.Context(click.Command("exec"))
    argument = click.Argument(["name"])
    assert [one.value for one in labs(context, argument, "")] == ["four", "two"]
    context.params["name"] = "four"
    assert [one.value for one in nodes(context, argument, "n")] == ["n1", "n2"]
    assert [one.value for one in hosts(context, argument, "n1,n")] == ["n1,n2"]


def test_the_results_of_a_history_are_completed(tmp_path: Path) -> None:
    for name in ("20260101T000000Z-aaaaaa", "20260102T000000Z-bbbbbb"):
        (tmp_path / "results" / name).mkdir(parents=True)
    offered = _offered(f"wireproof history show {tmp_path} 2026")
    assert offered == ["plain,20260102T000000Z-bbbbbb", "plain,20260101T000000Z-aaaaaa"]
    assert "plain,last" in _offered(f"wireproof history show {tmp_path} l")
    assert _offered(f"wireproof history show {tmp_path / 'none'} 2") == []


@pytest.mark.parametrize("words", ["wireproof check --link nosuch", "wireproof help check x"])
def test_nothing_is_made_up(words: str) -> None:
    assert _offered(words) == []


def test_what_a_word_contains_is_not_run() -> None:
    assert _offered("wireproof -v explain $(touch_nothing)") == []
