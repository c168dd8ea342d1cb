"""What a log says of the MPI, the system and the kernel that a benchmark ran on."""

import pytest

from wireproof.logs.readers import read
from wireproof.model.series import software_of

OSU = (
    "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n0     1.10\n1     1.11\n8    1.12\n"
)
IMPI = "[0] MPI startup(): Intel(R) MPI Library, Version 2019 Update 10  Build 20201118 (id: a)\n"


@pytest.mark.parametrize(
    ("above", "said"),
    [
        ("", ""),
        (IMPI, "Intel MPI 2019 Update 10"),
        (
            "Intel(R) MPI Library for Linux* OS, Version 2018 Update 1 Build 20171011\n",
            "Intel MPI 2018 Update 1",
        ),
        ("mpirun (Open MPI) 4.0.5\n", "Open MPI 4.0.5"),
        ("CentOS Linux release 8.3.2011\n", "CentOS Linux release 8.3.2011"),
        ('PRETTY_NAME="Rocky Linux 9.4 (Blue Onyx)"\n', "Rocky Linux 9.4 (Blue Onyx)"),
        (
            "Linux c1 4.18.0-240.el8.x86_64 #1 SMP Fri Sep 25 2020 x86_64 GNU/Linux\n",
            "Linux 4.18.0-240.el8.x86_64",
        ),
        ("We run Linux here in every release 4 of it.\n", ""),
    ],
)
def test_what_stands_above_a_table_is_kept(above: str, said: str) -> None:
    (one,) = read((above + OSU).encode(), "a.out")
    assert software_of(one.notes) == said


def test_what_follows_a_table_is_that_of_the_next() -> None:
    first, second = read((OSU + IMPI + OSU).encode(), "a.out")
    assert software_of(first.notes) == ""
    assert software_of(second.notes) == "Intel MPI 2019 Update 10"
