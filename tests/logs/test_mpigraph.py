"""mpiGraph: two tables of pairs; a table cut anywhere is incomplete."""

import pytest

from wireproof.logs.readers import read


def run_of(ranks: int = 3, size: int = 1048576) -> str:
    """A run as mpiGraph 1.5 prints it: from i to j 1000 + 10 i + j MiB/s at the sender, 1 less at
    the receiver.
    """
    names = [f"node{rank // 2}:{rank}" for rank in range(ranks)]
    text = f"START mpiGraph v1.5\nMsgSize\t{size}\nTimes\t10\nWindow\t25\nProcs\t{ranks}\n\n"
    text += (
        "".join(f"{step} of {ranks} ({100 * step / ranks:.1f}%)\n" for step in range(1, ranks))
        + "Gathering results\n"
    )
    for side, word, less in (("Send", "to", 0), ("Recv", "from", 1)):
        text += (
            f"\n{side} max\t1021.000000\n{side} avg\t1010.500000\n\n{side}\t"
            + "\t".join(names)
            + "\t\n"
        )
        for row in range(ranks):
            pairs = [(row, other) if word == "to" else (other, row) for other in range(ranks)]
            cells = [0.0 if a == b else 1000.0 + 10 * a + b - less for a, b in pairs]
            text += f"{names[row]} {word}\t" + "".join(f"{cell:.3f}\t" for cell in cells) + "\n"
    return text + "END mpiGraph\n"


def test_pairs_of_both_sides() -> None:
    send, recv = read(run_of().encode(), "log")
    assert (send.benchmark, recv.benchmark) == ("mpiGraph Send", "mpiGraph Recv")
    assert (send.traffic, send.directions, send.processes, send.window) == ("exchange", 1, 3, 25)
    assert send.hosts == ["node0", "node0", "node1"]
    assert [(p.values["from"], p.values["to"]) for p in send.points] == [
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 2),
        (2, 0),
        (2, 1),
    ]
    pair = {(p.values["from"], p.values["to"]): p.goodput_bytes_per_s for p in recv.points}
    assert pair[2, 1] == pytest.approx((1021 - 1) * 2**20)
    assert all(point.message_bytes == 1048576 and point.iterations == 10 for point in send.points)
    assert send.complete
    assert recv.complete
    assert any("min 1001.000" in note and "max 1021.000" in note for note in send.notes)


def test_log_that_ends_in_the_second_table() -> None:
    text = run_of()
    send, recv = read(text[: text.index("node0:1 from")].encode(), "log")
    assert send.complete
    assert (recv.complete, len(recv.points)) == (False, 2)


def test_zero_is_no_measurement() -> None:
    send = read(run_of().replace("1002.000", "0.000").encode(), "log")[0]
    assert len(send.points) == 5
    assert any("1 pair left out" in note for note in send.notes)


def test_many_ranks_are_bounded() -> None:
    send = read(run_of(300).encode(), "log")[0]
    assert send.complete
    assert len(send.points) == 600
    assert any("slowest and the fastest" in note for note in send.notes)
