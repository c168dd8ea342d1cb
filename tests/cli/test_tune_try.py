"""`wireproof tune try` as a user runs it: commands whose numbers are made up, and the model
transport.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.verb import document, one_sentence, wireproof
from tests.processes import ran

pytestmark = pytest.mark.engine

APP = """
import json, os, random, sys
mode = os.environ.get("APP_MODE", "")
random.seed(f"{mode}{os.getpid()}")
if mode == "broken":
    sys.exit("no such mode: \\x1b[31mbroken")
seconds = {"fast": 0.9}.get(mode, 1.0) * (1 + random.gauss(0, 0.005))
print(json.dumps({"end": {"seconds": seconds}}), flush=True)
"""


@pytest.fixture
def app(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "app.py").write_text(APP)
    return ("--", sys.executable, "-S", str(tmp_path / "app.py"))


METRIC = ("--metric", "json:end.seconds", "--better", "lower", "--seed", 7)


def test_a_variable_that_helps(app: tuple[str, ...]) -> None:
    done = wireproof("tune", "try", "APP_MODE=slow,fast,other", *METRIC, "--json", *app)
    found = document(done)
    assert done.returncode == 0, done.stderr
    assert [one["answer"] for one in found["comparisons"]] == ["helps", "no-effect"]
    fast = found["comparisons"][0]
    assert fast["low"] - 0.01 < 0.9 < fast["high"] + 0.01, "an interval misses 1 in 20 times"
    assert {guard["name"] for guard in fast["guards"]} >= {"cpu_s", "drops"}
    counted = [run for run in found["runs"] if run["block"] >= 0]
    assert len(counted) == 6 * fast["blocks"]
    assert [run["value"] for run in counted[:3]] == [run["value"] for run in counted[5:2:-1]]
    assert [run["block"] for run in found["runs"][:3]] == [-1, -1, -1]
    assert found["stopping"]["reason"] == "decided"
    assert found["seed"] == 7
    assert "fast helps by" in done.stderr


def test_a_placebo_and_what_it_prints(app: tuple[str, ...]) -> None:
    done = wireproof("tune", "try", "APP_MODE=one,two", *METRIC, *app)
    assert done.returncode == 1, done.stderr
    assert "APP_MODE=two: no effect larger than" in done.stdout
    assert "seed 7" in " ".join(done.stdout.split())


def test_what_does_not_fit_into_the_budget_is_undecided_at_once() -> None:
    begun = time.monotonic()
    done = wireproof("tune", "try", "X=1,2", "--budget-s", 2, "--", "sleep", "0.3")
    assert done.returncode == 3
    assert "undecided: needs about 20 more runs" in done.stdout
    assert "--budget-s" in done.stdout
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize(
    ("argv", "status", "said"),
    [
        (("APP_MODE=one,broken",), 4, "APP_MODE=broken: the command ended with status 1: no such"),
        (("APP_MODE=one,two", "--metric", "x", "--better", "lower"), 4, "found no number"),
        (("APP_MODE=one,two", "--metric", "x"), 2, "--better"),
        (("APP_MODE=one,two", "--pattern", "stream"), 2, "exclude each other"),
        (("app-mode=one,two",), 2, "neither a setting of the catalogue"),
    ],
)
def test_what_cannot_be_compared(
    app: tuple[str, ...], argv: tuple[str, ...], status: int, said: str
) -> None:
    done = wireproof("tune", "try", *argv, *app)
    assert done.returncode == status
    assert said in one_sentence(done)
    assert "\x1b" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("APP_MODE=one,two", "--transport", "model"), "give the command that reads it"),
        (("UCX_TLS=one,two", "--transport", "tcp"), "has no MPI that reads it"),
        (("UCX_TLS=one,two", "--sizes", "8,64", "--transport", "model"), "give one size"),
        (("UCX_TLS=one,two", "--server", "n1", "x", "--transport", "model"), "need a COMMAND"),
        (("mtuu=1,2", "--transport", "model"), "neither a setting"),
    ],
)
def test_a_pattern_needs_what_its_runs_read(argv: tuple[str, ...], said: str) -> None:
    done = wireproof("tune", "try", *argv)
    assert done.returncode == 2
    assert said in one_sentence(done)


MODEL = ("--transport", "model", "--model", "latency_ns=1500,gap_ns_per_byte=0.1,noise=0.02")


@pytest.mark.slow
def test_a_placebo_on_a_pattern_of_our_own() -> None:
    done = wireproof("tune", "try", "UCX_TLS=a,b", *MODEL, "--budget", "20ms", "--json")
    assert done.returncode == 1, done.stderr
    assert document(done)["comparisons"][0]["answer"] == "no-effect"


def test_runs_of_a_pattern_of_our_own(tmp_path: Path) -> None:
    more = ("--budget", "20ms", "--pattern", "stream", "--budget-s", 1, "--json")
    there = {"TMPDIR": str(tmp_path)}
    done = wireproof("tune", "try", "UCX_TLS=a,b", *MODEL, *more, environment=there)
    assert not list(tmp_path.iterdir())
    found = document(done)
    assert done.returncode == 3, done.stderr
    assert found["stopping"]["reason"] == "too-slow"
    assert found["metric"]["unit"] == "bytes_per_s"
    assert "p99_ns" in found["runs"][0]["guards"]


def test_every_run_of_a_command_has_an_empty_input() -> None:
    """The first run would read all of ours, and the others nothing."""
    counts = "import sys; print(1 + len(sys.stdin.read()))"
    given = ("--metric", "([0-9]+)", "--better", "lower", "--budget-s", "1", "--json", "--")
    call = ("tune", "try", "X=1,2", *given, sys.executable, "-S", "-c", counts)
    done = ran(
        [sys.executable, "-m", "wireproof", *call],
        input="ten bytes\n",
        timeout=120,
    )
    assert {run["metric"] for run in json.loads(done.stdout)["runs"]} == {1.0}


def test_a_dry_run_starts_nothing(app: tuple[str, ...], tmp_path: Path) -> None:
    there = tmp_path / "there"
    done = wireproof("tune", "try", "X=1,2", "--dry-run", "--json", "--", "touch", there)
    assert [arm["title"] for arm in document(done)["arms"]] == ["X=1", "X=2"]
    assert document(done)["arms"][1]["commands"] == [f"X=2 touch {there}"]
    done = wireproof("tune", "try", "UCX_TLS=a,b", *MODEL, "--dry-run")
    assert "UCX_TLS=b" in done.stdout
    assert not there.exists()


def test_a_trial_that_was_killed_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    call = ("tune", "try", "X=1,2", "--budget-s", 12, "--out", out, "--json")
    command = ("--", "sleep", "0.2")
    first = subprocess.Popen(
        [sys.executable, "-m", "wireproof", *map(str, call), *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not (out / "begun.json").exists():
        time.sleep(0.1)
    first.kill()
    first.wait()
    begun = json.loads((out / "begun.json").read_text())
    found = document(wireproof(*call, "--resume", *command))
    assert found["seed"] == begun["seed"]
    assert [run for run in found["runs"] if run["block"] == 0] == [
        run for run in begun["runs"] if run["block"] == 0
    ]
    assert found["seconds"] > begun["seconds"]
    again = document(wireproof(*call, "--resume", *command))
    assert [run["block"] for run in again["runs"]].count(0) == 4
    assert len(again["stopping"]["looks"]) == len(found["stopping"]["looks"])
    other = wireproof("tune", "try", "X=1,3", "--out", out, "--resume", *command)
    assert other.returncode == 2
    assert "started with the values 'X=1 X=2'" in one_sentence(other)


SERVER = """
import socket, sys, time
time.sleep(2)  # a server that takes its time, as one that imports much does
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    while True:
        server.accept()[0].close()
"""
CLIENT = """
import socket, sys
socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()
"""


def test_the_first_run_waits_until_the_server_listens(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "client.py").write_text(CLIENT)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = f"{sys.executable} -S {tmp_path}/server.py {port}"
    run = ("--budget-s", 2, "--", sys.executable, "-S", tmp_path / "client.py", port)
    done = wireproof("tune", "try", "X=1,2", "--server", "localhost", server, *run)
    assert "refused" not in done.stderr
    assert done.returncode in (0, 1, 3), done.stderr


def test_ctrl_c_ends_the_command_and_says_so(tmp_path: Path) -> None:
    script = tmp_path / "long.sh"
    script.write_text(f"echo $$ >> {tmp_path}/started\nsleep 60\n")
    trial = subprocess.Popen(
        [sys.executable, "-m", "wireproof", "tune", "try", "X=1,2", "--", "sh", str(script)],
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "WIREPROOF_LAB_STATE"},
    )
    started = tmp_path / "started"
    deadline = time.monotonic() + 60
    while not started.exists() or not started.read_text().strip():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    trial.send_signal(signal.SIGINT)
    said = trial.communicate(timeout=60)[1]
    assert trial.returncode == 130
    assert "interrupted" in said
    pid = int(started.read_text().split()[0])
    assert not Path(f"/proc/{pid}").exists()
