"""`wireproof prove` as a user runs it: output untouched, status kept, nothing left behind, bad
input said once.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.verb import document, one_sentence, wireproof

pytestmark = pytest.mark.engine

NOISE = (
    "import sys; sys.stdout.buffer.write(bytes(range(256)) * 4);"
    " sys.stderr.write('talk\\n'); sys.exit(7)"
)
LISTENS = (
    "import socket, sys, time; server = socket.create_server(('127.0.0.1', 0));"
    " time.sleep(float(sys.argv[1]))"
)


def prove(*argv: object, **options: object) -> subprocess.CompletedProcess[bytes]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("WIREPROOF_")}
    return subprocess.run(
        [sys.executable, "-m", "wireproof", "prove", *map(str, argv)],
        env=clean,
        capture_output=True,
        timeout=60,
        check=False,
        **options,  # type: ignore[call-overload]
    )  # type: ignore[no-any-return]


def test_output_is_untouched_and_the_status_is_kept() -> None:
    done = prove("--", sys.executable, "-c", NOISE)
    assert done.returncode == 7
    assert done.stdout == bytes(range(256)) * 4
    assert b"talk\n" in done.stderr
    told = b" ".join(done.stderr.replace(b"wireproof: ", b"").split())
    assert told.count(b"printed no number that wireproof recognises") == 1
    assert b"path: unproven; the command" in told
    assert b"the command ended with status 7" in told


def test_json_is_all_that_is_on_stdout() -> None:
    done = wireproof("prove", "--json", "--", "sh", "-c", "echo hello; exit 3")
    assert done.returncode == 3
    assert "hello" in done.stderr
    found = json.loads(done.stdout)
    assert (found["proof"], found["exit_status"], found["command"][0]) == ("unproven", 3, "sh")
    assert {port["nic"] for port in found["hosts"][0]["ports"]} >= {"lo"}


def test_strict_turns_an_unproven_path_into_a_status() -> None:
    assert wireproof("prove", "--", "true").returncode == 0
    assert wireproof("prove", "--strict", "--", "true").returncode == 3
    assert wireproof("prove", "--strict", "--", "false").returncode == 1


def test_the_command_reads_our_standard_input() -> None:
    assert prove("--", "cat", input=b"through\n").stdout == b"through\n"


def test_a_command_that_is_not_there() -> None:
    done = wireproof("prove", "--", "/nowhere/osu_bw")
    assert done.returncode == 127
    assert "/nowhere/osu_bw" in done.stderr


def test_a_command_that_a_signal_ends() -> None:
    assert wireproof("prove", "--", "sh", "-c", "kill -9 $$").returncode == 137


def agent(folder: Path) -> Path:
    """Called like ssh: everywhere is here, but `dead` does not answer and `bare` has no engine."""
    path = folder / "rsh"
    path.write_text(
        '#!/bin/sh\nhost=$1; shift\ncase $host in\ndead) echo "no route to $host" >&2; exit 255;;\n'
        'bare) exec sh -c "/nowhere/engine watch";;\nesac\nexec sh -c "$*"\n'
    )
    path.chmod(0o755)
    return path


def test_a_host_that_does_not_answer_is_said_and_the_others_are_watched(tmp_path: Path) -> None:
    done = wireproof(
        "prove", "--json", "--launcher", agent(tmp_path), "--hosts", "here,dead", "--", "true"
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [bool(host["ports"]) for host in found["hosts"]] == [True, False]
    assert "no route to dead" in found["hosts"][1]["error"]
    assert "traffic-unwatched" in {one["code"] for one in found["reasons"]}


def test_no_host_that_answers_means_that_nothing_is_started(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    done = wireproof(
        "prove", "--launcher", agent(tmp_path), "--hosts", "bare,dead", "--", "touch", mark
    )
    assert done.returncode == 4
    assert "wireproof-engine.nompi to the same path" in done.stderr
    assert not mark.exists()


def test_a_server_that_ends_at_once_is_said() -> None:
    done = wireproof("prove", "--server", "localhost", "false", "--", "true")
    assert done.returncode == 4
    assert "false" in one_sentence(done)


def left(mark: str) -> list[str]:
    """Processes with ``mark`` in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in words:
                found.append(words.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found


def gone(mark: str) -> list[str]:
    until = time.monotonic() + 20
    while (found := left(mark)) and time.monotonic() < until:
        time.sleep(0.1)
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_it_ends_nothing_is_left(number: signal.Signals) -> None:
    interval = 40_000 + os.getpid() % 10_000 + int(number)
    sleep = f"{interval}.5"
    argv = [
        "prove",
        "--json",
        "--interval",
        f"{interval}ms",
        "--server",
        "localhost",
        shlex.join([sys.executable, "-c", LISTENS, sleep]),
    ]
    argv += ["--", "sh", "-c", f"echo up; sleep {sleep} & wait"]
    process = subprocess.Popen(
        [sys.executable, "-m", "wireproof", *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while b"up" not in process.stderr.readline():
        assert process.poll() is None
    assert left(f"--interval-ms\0{interval}")
    process.send_signal(number)
    out, _ = process.communicate(timeout=120)
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert json.loads(out)["exit_status"] == 130
    assert gone(f"\0{sleep}\0") == []  # the server and the command
    assert gone(f"--interval-ms\0{interval}") == []


def test_an_interrupted_command_is_one_sentence_and_no_judgement() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "wireproof", "prove", "--", "sh", "-c", "echo up; sleep 100"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "up\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted: the path" in err
    assert "INCONCLUSIVE" not in err


def test_the_port_that_was_claimed_is_in_the_document() -> None:
    found = document(wireproof("prove", "--json", "--nic", "no0", "--", "true"))
    assert found["proof"] == "unproven"
    assert "no0" in found["reasons"][0]["message"]
