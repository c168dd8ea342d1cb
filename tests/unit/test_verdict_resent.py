"""L11: a path with 0.2 % loss passed with 180 segments sent again and no word of them."""

from __future__ import annotations

import msgspec
import pytest
from tests.synthetic import World, run_of

from wireproof.model.record import Total
from wireproof.verdict import judge


def totals(again: int, sent: int, **more: int) -> Total:
    counters = {"ip/Tcp/OutSegs": (1000, 1000 + sent), "net/eth0/tx_bytes": (5, 5)}
    if again:
        counters["ip/Tcp/RetransSegs"] = (7, 7 + again)
    return Total(rank=more.pop("rank", 0), interval_ns=1e9, counters=counters, **more)  # type: ignore[arg-type]


def found(*all_totals: Total) -> list[tuple[str, str, str]]:
    run = msgspec.structs.replace(run_of(World()), totals=list(all_totals))
    return [(f.severity, f.subject, f.message) for f in judge(run).findings if f.code == "retransmits"]


def test_loss_is_a_warning_that_names_host_and_share() -> None:
    ((severity, subject, message),) = found(totals(180, 89_820))
    assert severity == "warning"
    assert subject in message
    assert "sent 180 TCP segments again during the run of 90000 (0.20%)" in message


@pytest.mark.parametrize(
    ("again", "sent", "severity"), [(1, 100_000, "note"), (99, 100_000, "note"), (1, 0, "warning")]
)
def test_a_few_segments_of_many_are_a_note(again: int, sent: int, severity: str) -> None:
    assert [one[0] for one in found(totals(again, sent))] == [severity]


def test_nothing_sent_again_is_nothing_to_say_and_one_namespace_speaks_once() -> None:
    assert found(totals(0, 1000)) == []
    assert found() == []
    both = found(totals(50, 1000), totals(50, 1000, rank=1, shared_with=0))
    assert len(both) == 1
    assert len(found(totals(50, 1000), totals(20, 1000, rank=1))) == 2


def test_a_warning_decides_nothing() -> None:
    run = run_of(World())
    lossy = msgspec.structs.replace(run, totals=[totals(500, 1000)])
    assert judge(lossy).verdict == judge(run).verdict
