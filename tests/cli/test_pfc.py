"""`wireproof pfc` on stored readings and with bad input."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.verb import document, one_sentence, wireproof
from tests.zoo.pfc_adapters import ADAPTERS, LOSSLESS, Adapter
from tests.zoo.pfc_trees import as_texts, as_trees
from tests.zoo.pfc_worlds import SITUATIONS, World, record_of

from wireproof.model.errors import BadInput
from wireproof.pfc.job import judged
from wireproof.pfc.job import record_of as record_of_source

SLIDE = {
    "tx_priority_0_xon.nic": 20287,
    "tx_priority_0_xoff.nic": 244655362,
    "rx_priority_0_xon.nic": 42871,
    "rx_priority_0_xoff.nic": 43117,
}


def _adapter(key: str) -> Adapter:
    return next(one for one in ADAPTERS if one.key == key)


def _world(key: str) -> World:
    """Three hosts of it are enough, and the trees of more take time."""
    world = next(one.world for one in SITUATIONS if one.key == key)
    return replace(world, hosts=dict(list(world.hosts.items())[:4]))


@pytest.mark.engine
@pytest.mark.parametrize(
    ("adapter", "situation"),
    [
        ("ice", "lossless"),
        ("mlx5", "dropped"),
        ("bnxt_en", "lossless"),
        ("mlx5", "wrong-priority"),
        ("ice-unified", "link-setting"),
        ("cxgb4", "slow-receiver"),
        ("mlx4", "counters-began-anew"),
    ],
)
def test_trees_say_what_the_readings_say(adapter: str, situation: str, tmp_path: Path) -> None:
    one, world = _adapter(adapter), _world(situation)
    if one.lost.startswith("ip/"):
        one = replace(one, lost="")  # a tree has no /proc/net of its own
    wanted = judged(record_of(one, world), LOSSLESS)
    done = wireproof("pfc", "--from", as_trees(tmp_path, one, world), "--nic", "hsn0", "--json")
    found = document(done)
    assert found["verdict"] == wanted.verdict
    assert {one["code"] for one in found["findings"]} == {one.code for one in wanted.findings}
    assert (found["priority"], found["priority_from"]) == (LOSSLESS, "the one with PFC") or (
        situation == "pfc-off"
    )
    assert done.returncode == {"pass": 0, "fail": 1, "inconclusive": 3}[wanted.verdict]
    answers = {
        (port["host"], one["name"]): one["answer"]
        for port in found["ports"]
        for one in port["conditions"]
    }
    assert answers == {
        (port.host, one.name): one.answer for port in wanted.ports for one in port.conditions
    }


def test_texts_alone_tell_the_driver_by_its_counters(tmp_path: Path) -> None:
    folder = as_texts(tmp_path, _adapter("mlx5"), _world("dropped"))
    done = wireproof("pfc", "--from", folder, "--duration", "10s", "--json")
    found = document(done)
    assert done.returncode == 1
    assert "pfc-dropped" in {one["code"] for one in found["findings"]}
    assert found["priority"] == LOSSLESS
    # what a switch dropped is not in these texts: nothing here may pass condition 1
    answers = [one["answer"] for port in found["ports"] for one in port["conditions"][:1]]
    assert "pass" not in answers


def _slide(folder: Path, values: dict[str, int]) -> None:
    folder.mkdir()
    lines = [f"{name}: {value}" for name, value in values.items()]
    text = "[user@node01 ~]$ ethtool -S cv10 | grep priority_0\n" + "\n".join(lines)
    (folder / "node01.txt").write_text(text)


def test_the_slides_host_is_the_slow_receiver(tmp_path: Path) -> None:
    _slide(tmp_path / "before", dict.fromkeys(SLIDE, 0))
    _slide(tmp_path / "after", SLIDE)
    done = wireproof("pfc", "--from", tmp_path, "--priority", "0", "--duration", "1h")
    assert done.returncode == 1
    text = " ".join(done.stdout.split())
    assert "node01 cv10 sent 244,655,362 (67,960/s) pauses in priority 0 and received" in text
    found = document(wireproof("pfc", "--from", tmp_path, "--priority", "0", "--json"))
    (port,) = found["ports"]
    answers = {one["name"]: one["answer"] for one in port["conditions"]}
    assert answers == {
        "no-drops": "unproven",
        "xon-xoff": "pass",
        "priority": "unproven",
        "link-pause": "unproven",
    }
    assert port["tx"]["per_second"] is None  # nobody says how long it took


def test_a_snapshot_is_judged_the_same(tmp_path: Path) -> None:
    folder = as_texts(tmp_path / "case", _adapter("ice"), _world("dropped"))
    kept = tmp_path / "kept.json"
    options = ("--priority", LOSSLESS, "--json")
    first = wireproof("pfc", "--from", folder, "--duration", "10s", "--snapshot", kept, *options)
    assert wireproof("pfc", "--from", kept, *options).stdout == first.stdout
    again = wireproof("pfc", "--from", folder, "--snapshot", kept, *options)
    assert "already exists" in one_sentence(again)


def test_a_host_that_was_started_again_is_not_judged(tmp_path: Path) -> None:
    folder = as_trees(tmp_path, _adapter("ice"), _world("lossless"))
    for boot in (folder / "after").glob("n2/proc/uptime"):
        boot.write_text("5.00 1.00\n")
    done = wireproof("pfc", "--from", folder, "--nic", "hsn0", "--json")
    assert done.returncode == 3
    (finding,) = [one for one in document(done)["findings"] if one["code"] == "pfc-unwatched"]
    assert "n2: it rebooted between the readings" in finding["message"]


def test_hostile_texts_do_not_reach_the_terminal(tmp_path: Path) -> None:
    for name, value in (("before", 1), ("after", 9)):
        (tmp_path / name).mkdir()
        text = f"tx_priority_3_xoff.nic: {value}\n\x1b[2Jevil\u202e: 7\nrx_\x1b]0;x\x07: 8\n"
        (tmp_path / name / "n\x1b[31m1.txt").write_text(text)
    done = wireproof("pfc", "--from", tmp_path, "--priority", "3")
    assert done.returncode == 3
    assert "\x1b" not in done.stdout + done.stderr
    assert "\u202e" not in done.stdout + done.stderr


def test_a_folder_without_the_second_reading(tmp_path: Path) -> None:
    _slide(tmp_path / "before", SLIDE)
    for word in ("has no folder after", "contains no host", "no host of"):
        with pytest.raises(BadInput, match=word):
            record_of_source(tmp_path)
        if (tmp_path / "after").exists():
            (tmp_path / "after" / "other.txt").write_text("tx_priority_0_xoff.nic: 1\n")
        (tmp_path / "after").mkdir(exist_ok=True)


def test_an_interface_that_no_host_has(tmp_path: Path) -> None:
    _slide(tmp_path / "before", SLIDE)
    _slide(tmp_path / "after", SLIDE)
    with pytest.raises(BadInput, match="no host has the interface 'eth9': node01 has cv10"):
        judged(record_of_source(tmp_path, nic="eth9"), 0)


def test_a_file_that_is_no_snapshot(tmp_path: Path) -> None:
    for text in (b"", b"{}", b"\x00\xff", b'{"schema":"wireproof.pfc"}', b"[" * 5000):
        file = tmp_path / "x"
        file.write_bytes(text)
        with pytest.raises(BadInput, match="is not a snapshot"):
            record_of_source(file)


@pytest.mark.engine
def test_many_trees_are_read_at_once(tmp_path: Path) -> None:
    """Nothing but processes runs in threads; a type that two threads learn at once is a crash."""
    world = next(one.world for one in SITUATIONS if one.key == "lossless")
    folder = as_trees(tmp_path, replace(_adapter("mlx4"), lost=""), world)
    for _ in range(3):
        done = wireproof("pfc", "--from", folder, "--nic", "hsn0", "--json")
        assert len(document(done)["ports"]) == len(world.hosts)


def test_one_print_of_ethtool_says_what_it_shows(tmp_path: Path) -> None:
    printed = tmp_path / "c1.txt"
    lines = [f"     {name}: {count}" for name, count in SLIDE.items()]
    printed.write_text("\n".join(["NIC statistics:", *lines, ""]))
    done = wireproof("pfc", "--from", str(printed))
    assert done.returncode == 2
    said = one_sentence(done)
    assert "tx_priority_0_xoff.nic 244,655,362" in said
    assert "before/HOST.txt" in said


@pytest.mark.engine
def test_ctrl_c_during_a_command_is_its_status() -> None:
    """The readings so far are judged, as by `prove`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "wireproof", "pfc", "--json", "--", "sh", "-c", "echo up; sleep 99"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while "up" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(out)["load"]["exit_status"] == 130
