"""fi_pingpong: humanised sizes, half round trips, torn tables, options."""

import pytest
from tests.logs.tables import LOGS
from tests.records import holds

from wireproof.logs.readers import read

HEAD = "bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec\n"
ROWS = (
    "64      10      =10      1.2k        0.00s      6.40      10.00       0.10\n"
    "1.5k    10      =10      30k         0.00s    102.40      15.00       0.07\n"
)


def test_golden() -> None:
    one = read((LOGS / "fi_pingpong_psm3_sockets0_hsn0.txt").read_bytes(), "log")[0]
    holds(
        one,
        tool="fi_pingpong",
        metric="half_round_trip",
        traffic="pingpong",
        complete=True,
        waits=True,
    )
    assert len(one.points) == 46
    by_size = {point.message_bytes: point for point in one.points}
    assert by_size[1536].hrt_ns == pytest.approx(5195750)
    assert by_size[131072].goodput_bytes_per_s == pytest.approx(2733.51e6)
    assert by_size[6 << 20].iterations == 10
    assert (one.first_line, one.last_line) == (10, 56)


def test_time_is_no_finer_than_the_clock() -> None:
    one = read((HEAD + ROWS).encode(), "log")[0]
    # 1 us shared by 20 transfers, though two decimals are printed
    assert one.points[0].time_step_ns == 50.0
    assert one.points[1].message_bytes == 1536
    assert any("1.5k" in note for note in one.notes)


def test_provider_of_the_command_line() -> None:
    one = read(("$ fi_pingpong -p tcp -S all 10.0.0.1\n" + HEAD + ROWS).encode(), "log")[0]
    assert one.protocol == "tcp"
    assert "provider tcp (from the command line)" in one.notes


def test_name_column_and_host_labels() -> None:
    named = read((f"{'name':50}{HEAD}" + f"{'run a':50}{ROWS}").encode(), "log")[0]
    assert [point.message_bytes for point in named.points] == [64]
    labelled = "".join(f"n2: {line}\n" for line in (HEAD + ROWS).splitlines())
    assert len(read(labelled.encode(), "log")[0].points) == 2


@pytest.mark.parametrize(
    "row",
    [
        "64 10 =10 1.2k 0.00s inf 0.00 inf",
        "64 10 =10 1.2k 0.00s nan 0.00 0.00",
        "64 10 =10 1.2k 0.00s 1.00 0.00 0.1",
    ],
)
def test_row_that_is_no_measurement(row: str) -> None:
    one = read((HEAD + ROWS + row + "\n").encode(), "log")[0]
    assert [point.message_bytes for point in one.points] == [64, 1536]


def test_unequal_acknowledgement_is_told() -> None:
    one = read((HEAD + ROWS.replace("=10", "+3 ")).encode(), "log")[0]
    assert any("different counts of replies" in note for note in one.notes)


def test_lines_of_two_ranks_that_a_program_labels() -> None:
    row = "[rank {}] 64      100     =100     12k         0.00s      1.77      {}       0.03\n"
    head = (
        "[rank {}] bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec\n"
    )
    text = "".join(head.format(at) + row.format(at, f"3{at}.25") for at in (1, 0)) * 2
    found = read(text.encode(), "x")
    assert {one.points[0].hrt_ns for one in found} == {30250, 31250}
