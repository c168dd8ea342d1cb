"""wireproof from Python: a measurement, a check, a look for the culprit and a judged log.

Needs no network and no second machine: the hosts are played by the model transport, whose world is
known. Run it with ``python examples/python_api.py``.
"""

from __future__ import annotations

import logging
from pathlib import Path

import wireproof

LOG = Path(__file__).parent / "logs" / "osu_latency-shared-memory.out"
WORLD = "latency_ns=1500,gap_ns_per_byte=0.08"


def measure() -> None:
    """The half round trip in a world of 1500 ns and 0.08 ns per byte."""
    document = wireproof.measure(
        "pingpong", transport="model", model=WORLD, sizes="8,64KiB", budget="50ms"
    )
    for sample in sorted(document.samples, key=lambda one: one.message_bytes):
        print(f"{sample.message_bytes:6d} B  {sample.p50_ns:9.2f} ns")


def check() -> None:
    """Eight hosts, of which one sends at half the rate."""
    (document,) = wireproof.check(
        hosts="n[1-8]",
        transport="model",
        model=WORLD,
        model_faults=["rank=4,tx=0.5"],
        budget="20ms",
    )
    print(document.verdict)
    for located in document.located:
        for blamed in located.blames:
            print(f"{located.metric}: {blamed.subject}")


def judge() -> None:
    """A latency test whose two ranks shared memory cannot have used that link."""
    document = wireproof.judge(LOG, link="1gbe", mtu=1500)
    for series in document.series:
        print(series.verdict, *(reason.code for reason in series.reasons))


def main() -> None:
    """Everything, with what happens meanwhile on stderr."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    measure()
    check()
    judge()
    try:
        wireproof.check(hosts="n1", transport="model")
    except wireproof.BadInput as error:
        print(f"bad input: {error}")


if __name__ == "__main__":
    main()
