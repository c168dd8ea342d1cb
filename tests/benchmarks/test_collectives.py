"""What IMB-MPI1 prints for Barrier and Allreduce, read by the comparison of collectives."""

from pathlib import Path

import pytest
from benchmarks.collectives import imb_t_max

PRINTED = Path(__file__).with_name("imb_collectives.txt").read_text(encoding="utf-8")


def test_every_row_by_its_name() -> None:
    found = dict(imb_t_max(PRINTED))
    assert found == {
        "barrier": pytest.approx(210),
        "allreduce 8": pytest.approx(260),
        "allreduce 1024": pytest.approx(570),
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0\xff",
        "# Benchmarking\n1 2 3 4",
        PRINTED.replace("Allreduce", "Alltoall").replace("Barrier", "X"),
    ],
)
def test_nothing_that_can_be_read(text: str) -> None:
    assert list(imb_t_max(text)) == []


def test_a_row_that_was_cut_or_is_no_number_is_left_out() -> None:
    cut = PRINTED[: PRINTED.index("0.57")].replace("0.26         0.26", "time-out -")
    assert list(imb_t_max(cut)) == [("barrier", pytest.approx(210))]
