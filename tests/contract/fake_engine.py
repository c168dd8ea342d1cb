"""A stand-in for the engine: reads the plan on standard input, writes the frames of a healthy or of
a sick run.

What it does is chosen by ``FAKE_ENGINE`` = ``KIND`` or ``KIND:POINT`` (the point at which it
happens): ``healthy``, ``hang``, ``crash`` (SIGKILL to itself), ``torn`` (half a frame, then
SIGKILL), ``unknown`` (a frame of no kind that we know), ``garbage`` (not JSON), ``endless`` (a line
without end), ``talk`` (foreign lines among the frames), ``silent`` (nothing at all), ``mismatch``
(the wrong library answered), ``skip`` (a point is left out, yet all is said to be well), ``failed``
(a point has an error), ``slow`` (0.2 s for each point), ``children`` (leaves processes behind).
"""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any


def say(frame: str, **fields: Any) -> None:
    sys.stdout.write(json.dumps({"frame": frame, **fields}) + "\n")
    sys.stdout.flush()


PACED = b"wireproof-plan paced\n"


def plan_text() -> str:
    """Standard input; a paced plan is acknowledged as it is read."""
    text = b""
    while piece := os.read(sys.stdin.fileno(), 1 << 16):
        text += piece
        if text.startswith(PACED):
            say("plan", read_bytes=len(text))
    return text.removeprefix(PACED).decode()


def statements() -> list[tuple[str, dict[str, str]]]:
    lines = plan_text().splitlines()
    if not lines or lines[0] != "wireproof-plan 1":
        sys.stderr.write("plan line 1: not a wireproof plan\n")
        sys.exit(2)
    result = []
    for line in lines[1:]:
        keyword, *fields = line.split(" ")
        result.append((keyword, dict(field.split("=", 1) for field in fields)))
    return result


def opening(plan: list[tuple[str, dict[str, str]]]) -> None:
    fields = dict(plan)
    ranks = [values for keyword, values in plan if keyword == "rank"]
    clock = {"source": "virtual", "ns_per_tick": 1.0, "quantum_ns": 1.0, "read_cost_ns": 10.0}
    run = fields["run"]
    say(
        "open",
        schema=1,
        engine="fake",
        abi="nompi",
        transport=fields["transport"]["kind"],
        run_id=run["id"],
        seed=int(run["seed"]),
        ranks=len(ranks),
        clock=clock,
    )
    for values in ranks:
        say(
            "host",
            rank=int(values["index"]),
            host=values.get("host", ""),
            hostname="fake",
            cpu_count=2,
            later_key=1,
        )
        say("idle", rank=int(values["index"]), interval_ns=2e8, counters={"net/eth0/tx_bytes": 120})
    for keyword, values in plan:
        if keyword == "fact":
            say("fact", rank=0, kind=values["kind"], path=values.get("path", ""), status="missing")
    say("floor", pattern="pingpong", form="latency", floor_ns=12.5)


def pair(text: str, size: int) -> dict[str, Any]:
    origin, target = map(int, text.split("-"))
    batches = [1000.0 + size + index for index in range(20)]
    return {
        "origin": origin,
        "target": target,
        "status": "ok",
        "stop": "precision",
        "operations_per_batch": 10,
        "batch_ns": batches,
        "block_batches": [10, 10],
        "messages_forward": 300,
        "messages_backward": 300,
        "payload_forward_bytes": 300 * size,
        "payload_backward_bytes": 300 * size,
        "window_used": 1,
        "warmup": {"operations": 100, "elapsed_ns": 1e5, "stationary": True},
        "integrity": "ok",
        "estimate": {
            "median_ns": (1000.0 + size) / 20,
            "low_ns": 49.0,
            "high_ns": 51.0 + size,
            "blocks": 2,
            "effective_blocks": 2.0,
            "autocorrelation": 0.0,
            "half_width": 0.01,
            "label": "stable",
        },
        "sentinels": [
            {"clock_read_ns": 20.0, "involuntary_switches": 0, "steal_ns": 0.0, "bounce_ns": None}
        ],
    }


def point(values: dict[str, str]) -> None:
    size = int(values["message_bytes"])
    form = values.get("form") or ("latency" if values["pattern"] == "pingpong" else "stream")
    counters = {"net/eth0/tx_bytes": [0, 300 * size]}
    say(
        "point",
        id=int(values["id"]),
        pattern=values["pattern"],
        form=form,
        message_bytes=size,
        window=int(values["window"]),
        formula=values["formula"],
        started_unix_ns=1_700_000_000_000_000_000,
        elapsed_ns=1e6,
        repeat=int(values.get("repeat", 0)),
        pairs=[pair(it, size) for it in values["pairs"].split(",")],
        witness=[{"rank": 0, "interval_ns": 1e6, "counters": counters}],
    )


def sick(kind: str) -> None:
    """What happens instead of the chosen point's frame."""
    if kind == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(3600)
    if kind == "torn":
        sys.stdout.write('{"frame":"point","id":')
        sys.stdout.flush()
    if kind in ("crash", "torn"):
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "unknown":
        say("surprise", id=1)
    if kind == "garbage":
        sys.stdout.write('{"frame": "point", "id": NaN\n')
        sys.stdout.flush()
        time.sleep(3600)


def main() -> int:
    kind, _, at = os.environ.get("FAKE_ENGINE", "healthy").partition(":")
    if kind == "silent":
        sys.stderr.write("\x1b[31mcannot open\x1b[0m libmpi.so.12: no such file\n")
        return 127
    if kind == "start-hang":
        time.sleep(3600)
    plan = statements()
    if kind == "mismatch":
        say(
            "error",
            code="library-mismatch",
            message="asked for Intel(R) MPI, and MPICH 5.0.2 answered",
            rank=0,
        )
        return 4
    opening(plan)
    if kind == "children":
        subprocess.Popen(
            [sys.executable, "-c", "import os,time; os.setsid(); time.sleep(3600)"],
            stdin=subprocess.DEVNULL,
        )
    points = [values for keyword, values in plan if keyword == "point"]
    failed = 0
    for values in points:
        here = values["id"] == at or not at
        say("start", id=int(values["id"]))
        if kind == "slow":
            time.sleep(0.2)
        if kind == "talk":
            sys.stdout.write("[0] MPI startup(): foreign line\n")
        if here and kind == "failed":
            say(
                "error",
                code="transport",
                message="connection reset by peer",
                id=int(values["id"]),
                rank=1,
            )
            failed += 1
            continue
        if here and kind == "skip":
            continue
        if here:
            sick(kind)
        point(values)
    say("close", points=len(points), failed=failed, elapsed_ns=1e9, peak_rss_bytes=1 << 20)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
