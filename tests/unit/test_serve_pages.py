"""The pages of `wireproof serve`, as they are asked for by HTTP."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.served import EVIL, fill, serving
from tests.unit.test_history import entry

from wireproof.model.comparison import Comparison, Difference, Ratio, Side, Source
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.report.html.board.comparison import comparison_page
from wireproof.store.history import add_entry
from wireproof.workflow.serve import history
from wireproof.workflow.serve.apart import apart
from wireproof.workflow.serve.server import Server


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = tmp_path_factory.mktemp("history")
    fill(root)
    with serving(root) as server:
        yield server


def page(server: Server, name: str) -> str:
    try:
        with urllib.request.urlopen(server.address + name, timeout=60) as answer:  # noqa: S310
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode()}"


def test_the_first_page_names_what_does_not_pass(served: Server) -> None:
    text = page(served, "")
    assert "304 nodes, in blocks of neighbours by name" in text
    assert "n007 sends at 297 Mb/s" in text
    assert "never measured" in text
    assert "not compared with earlier results" in text


def test_nodes_are_filtered_and_sorted(served: Server) -> None:
    text = page(served, "nodes?nodes=n[001-009]&sort=worst")
    assert text.index("name=n007") < text.index("name=n008") < text.index("name=n001")
    assert "name=n010" not in text
    assert "9 in all" in text
    assert "No node is like that" in page(served, "nodes?nodes=n001&verdict=fail")
    assert "1 to 100 of" in page(served, "nodes")
    assert "name=n065" in page(served, "nodes?group=1&sort=name")


def test_a_node_has_its_results(served: Server) -> None:
    text = page(served, "node?name=n007")
    assert "n007 sends at 297 Mb/s" in text
    assert "run?id=r00039" in text
    assert page(served, "node?name=n999").startswith("404 ")


def test_a_run_is_judged_and_shown_with_a_way_back(served: Server) -> None:
    text = page(served, "run?id=again")
    assert "Back to the history" in text
    assert "Did it use the wire?" in text


def test_a_run_whose_records_are_gone_is_said(served: Server) -> None:
    assert "This cannot be shown" in page(served, "run?id=r00039")


def test_two_results_are_compared(served: Server) -> None:
    first = next(one.name for one in (served.pages.root / "results").iterdir() if "-" in one.name)
    text = page(served, f"compare?a={first}&b=again")
    assert "Nothing to compare" in text  # its path is not proven
    assert "numbers are not compared" in text
    assert "No condition that is recorded differs" in text
    assert "choose two" in page(served, "compare?a=again&b=again")


def test_a_comparison_says_what_is_worse_and_what_differs() -> None:
    side = Source(name="/x/a", hosts="n[1-2]", measured="2026-01-01", verdict="pass")
    worse = Ratio(
        name="stream",
        pattern="stream",
        message_bytes=1 << 20,
        unit="bytes_per_s",
        conclusion="worse",
        a=Side(value=1e10, results=2),
        b=Side(value=9e9, results=2),
        ratio=0.9,
        low=0.88,
        high=0.92,
        launches=3,
    )
    found = Comparison(
        a=side,
        b=side,
        practical=0.03,
        rows=[worse],
        differ=[Difference(name="driver", a="5.0", b=EVIL)],
    )
    text = comparison_page("/x", "one", "two", found).html
    for words in ("-10.0 %", "-12.0 % to -8.0 %", "B is worse", "10000 MB/s", "compare?a=two"):
        assert words in text
    assert "<img" not in text
    assert "\u202e" not in text


def test_trends_name_a_change_and_what_changed_there(served: Server) -> None:
    assert "trends?set=f" in page(served, "trends")
    text = page(served, "trends?set=f")
    assert "% worse" in text
    assert "driver: 5.0 -&gt; 5.1" in text
    assert "compare?a=r00024&amp;b=r00025" in text
    assert 'class="s0 band"' in text
    assert "stream 1 MiB" in page(served, "trends?set=f&number=stream&size=1048576&window=0")


def shown(server: Server, words: str) -> str:
    """The first page once it has these words: who comes early sees the state of before."""
    until = time.monotonic() + 60
    while words not in (text := page(server, "")) and time.monotonic() < until:
        time.sleep(0.1)
    return text


def test_new_results_appear(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        assert "is no history" in page(server, "")
        add_entry(tmp_path, entry(1, nodes={"n1": "pass"}))
        assert "1 node, in blocks" in shown(server, "1 node,")
        (tmp_path / "index" / "half.json").write_text("{")
        text = shown(server, "half.json is damaged")
        assert "Not everything could be read" in text
        assert "half.json is damaged" in text
        assert "1 node, in blocks" in text


def test_nobody_waits_for_a_newer_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_entry(tmp_path, entry(1))
    with serving(tmp_path) as server:
        monkeypatch.setattr(history, "_PATIENCE_S", 0.0)
        add_entry(tmp_path, entry(2))
        text = page(server, "")
        assert "There are newer results, which are being read" in text
        assert "All 1 results" in text
        assert "newer results" not in shown(server, "All 2 results")


def test_work_apart_has_an_end() -> None:
    assert apart(bytes, 3, seconds=60) == b"\0\0\0"
    begun = time.monotonic()
    with pytest.raises(CouldNotMeasure, match="has not ended"):
        apart(time.sleep, 60, seconds=0.2)
    with pytest.raises(CouldNotMeasure, match="was killed"):
        apart(os._exit, 9, seconds=60)
    with pytest.raises(CouldNotMeasure, match="an error of wireproof itself"):
        apart(bytes, -1, seconds=60)
    assert time.monotonic() - begun < 50


def started(*argv: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "wireproof", "serve", *map(str, argv)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_its_address_and_ends_when_it_is_told(
    tmp_path: Path, number: signal.Signals
) -> None:
    add_entry(tmp_path, entry(1))
    with started(tmp_path) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310
            assert answer.status == 200
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (0, "")
        assert err.splitlines() == [
            "wireproof: serving 1 result of 2 nodes; Ctrl-C ends it.",
            "wireproof: ended.",
        ]


def test_what_is_wrong_ends_with_status_2(served: Server, tmp_path: Path) -> None:
    with started(tmp_path, "--port", served.server_port) as process:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 2
        assert f"port {served.server_port} of 127.0.0.1 cannot be had" in err
    topology = tmp_path / "fabric"
    topology.write_text("no topology at all")
    with started(tmp_path, "--topology", topology) as process:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 2
        assert "fabric" in err


def test_bad_input_stays_bad_input() -> None:
    from wireproof.workflow.serve import jobs

    with pytest.raises(BadInput, match="cannot be read"):
        apart(jobs.topology, Path("/nowhere/at/all"), seconds=60)
