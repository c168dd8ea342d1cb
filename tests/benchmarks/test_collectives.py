"""What IMB-MPI1 prints for Barrier and Allreduce, read by the comparison of collectives."""

import pytest
from benchmarks.collectives import imb_t_max

PRINTED = """\
# Benchmarking Barrier
# #processes = 2
#---------------------------------------------------
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         0.19         0.21         0.20

#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 2
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         0.25         0.26         0.26
         1024         1000         0.47         0.57         0.52


# All processes entering MPI_Finalize
"""


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
