"""What a host answers about its NIC, and what is made of an answer that is none."""

import sys

import pytest

from wireproof.files.programs import printed
from wireproof.launch.here import address_argv, address_in, core_near, cpulist_argv


@pytest.mark.parametrize(
    ("text", "core"),
    [
        ("0-23,48-71\n", 4),
        ("24-47\n", 28),
        ("0\n", 0),
        ("0,2,4,6,8,10\n", 8),
        ("0-1\n", 1),
        ("", None),
        ("cat: no such file", None),
        ("0-\n", None),
        ("-1", None),
        ("0-99999999999", None),
        ("5-99999", 9),
    ],
)
def test_a_core_of_the_nics_socket(text: str, core: int | None) -> None:
    assert core_near(text) == core


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (
            (
                "7: ib0    inet 10.10.100.22/24 brd 10.10.100.255 scope global ib0\\  valid_lft"
                " forever\n"
            ),
            "10.10.100.22",
        ),
        ("Device does not exist\n", ""),
        ("7: ib0    inet 10.10.100.999/24\n7: ib0 inet 10.0.0.1/8\n", "10.0.0.1"),
        ("inet", ""),
        ("", ""),
    ],
)
def test_the_address_of_a_nic(text: str, address: str) -> None:
    assert address_in(text) == address


def test_questions_are_argument_lists() -> None:
    assert cpulist_argv("mlx5_0:1")[2] == "/sys/class/infiniband/mlx5_0/device/local_cpulist"
    assert address_argv("ib0")[-1] == "ib0"


def test_a_host_that_does_not_answer_costs_nothing() -> None:
    assert printed(["/nowhere/at/all"]) == ""
    long = [sys.executable, "-c", "import sys; sys.stdout.write('x' * (5 << 20))"]
    assert printed(long) == "x" * (4 << 20)
    failed = [sys.executable, "-c", "print('seen', flush=True); raise SystemExit(3)"]
    assert printed(failed) == ""
    assert printed(failed, any_status=True) == "seen\n"
