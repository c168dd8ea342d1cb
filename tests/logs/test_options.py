"""Command lines of other programs."""

import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from wireproof.launch.recipe import recipes_of
from wireproof.logs.readers import adapter, adapter_names
from wireproof.logs.readers.registry import given, one_size, refuse_others, server_of
from wireproof.model.errors import BadInput
from wireproof.model.series import ToolRequest


def test_what_is_not_asked_for_is_left_out_and_zero_is_asked_for() -> None:
    assert given(("-a", None), ("-b", ""), ("-c", False)) == []
    assert given(("-p", 0), ("-t", 2.50), ("-i", "eth0"), ("-R", True)) == [
        *("-p", "0", "-t", "2.5", "-i", "eth0", "-R")
    ]


def test_one_size() -> None:
    assert one_size(ToolRequest(program="x"), "x takes one") is None
    assert one_size(ToolRequest(program="x", sizes=(8,)), "x takes one") == 8
    with pytest.raises(BadInput, match="x takes one: 2 sizes were requested"):
        one_size(ToolRequest(program="x", sizes=(8, 16)), "x takes one")


def test_a_client_needs_a_server() -> None:
    assert server_of(ToolRequest(program="x", server="n1"), "x") == ""
    assert server_of(ToolRequest(program="x", role="client", server="n1"), "x") == "n1"
    with pytest.raises(BadInput, match="x's client needs the server's address"):
        server_of(ToolRequest(program="x", role="client"), "x")


def test_what_a_program_has_no_option_for_is_refused_by_its_name() -> None:
    with pytest.raises(BadInput, match="x has no option for a core to run on: leave it out"):
        refuse_others(ToolRequest(program="x", cpu=0), "x", "sizes")
    refuse_others(ToolRequest(program="x", sizes=(8,)), "x", "sizes")


CASES = tomllib.loads(
    (Path(__file__).parents[1] / "golden" / "argv" / "adapters.toml").read_text("utf-8")
)


def asked(program: str, **fields: Any) -> ToolRequest:
    server = fields.pop("client_of", "")
    return msgspec.convert(
        {"program": program, **({"role": "client", "server": server} if server else {}), **fields},
        ToolRequest,
    )


@pytest.mark.parametrize(
    ("tool", "command", "ask"),
    [(tool, *row) for tool, rows in CASES["command"].items() for row in rows.items()],
)
def test_the_command_line(tool: str, command: str, ask: dict[str, Any]) -> None:
    words = tuple(command.split())
    assert adapter(tool).argv(asked(words[0], **ask)) == words


@pytest.mark.parametrize(
    ("row", "ask"), [(row, ask) for row in CASES["refused"] for ask in row["asks"]]
)
def test_what_a_program_cannot_do_is_refused(row: dict[str, str], ask: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=row.get("word", ".")):
        adapter(row["tool"]).argv(asked(row["program"], **ask))


def test_every_program_that_a_recipe_starts_has_a_command_line_here() -> None:
    assert set(CASES["command"]) == {one.tool for one in recipes_of("")}


@pytest.mark.parametrize("tool", adapter_names())
def test_extra_options_reach_every_program(tool: str) -> None:
    benchmarks = {"qperf": "tcp_bw", "perftest": "ib_write_bw", "iperf3": "tcp"}
    ask = ToolRequest(
        program="p",
        benchmark=benchmarks.get(tool, ""),
        role="client",
        server=""
        if tool in ("osu", "imb", "hpcc", "mpigraph", "nccl_tests", "ucc_perftest")
        else "n1",
        extra=("--own", "7"),
    )
    found = adapter(tool).argv(ask)
    assert found[0] == "p"
    assert " --own 7" in " ".join(found)
