"""Since and until which release a setting counts, and what ``--explain`` prints of it."""

import re
from pathlib import Path

import msgspec
import pytest
from tests.audit.test_conditions import status
from tests.audit.trees import HFI1_2015, ROWS, lay_out
from tests.cli.verb import wireproof

from wireproof.audit import lacking
from wireproof.audit.job import settings_called
from wireproof.model.setting import Setting

NAMES = {"host.kernel": "4.18.0-553.el8.x86_64", "host.os": "rocky", "host.os_version": "8.10"}


def setting(**release: str) -> Setting:
    return msgspec.convert(
        {"id": "a", "title": "T", "group": "cpu", "meaning": "m", "why": "w", **release}, Setting
    )


@pytest.mark.parametrize(
    ("release", "is_gone"),
    [
        ("Linux 4.18", True),
        ("Linux 4.17.3", True),
        ("Linux 4.19", False),
        ("Linux 5", False),
        ("RHEL 8", True),
        ("RHEL 9", False),
        ("driver 1.0", False),
        ("irqbalance 1.2.0 (2016)", False),
        ("", False),
    ],
)
def test_releases_are_compared_by_their_numbers(release: str, is_gone: bool) -> None:
    assert bool(lacking(setting(until=release), NAMES.__getitem__)[0]) is is_gone
    known = release.startswith(("Linux", "RHEL"))
    assert bool(lacking(setting(since=release), NAMES.__getitem__)[1]) is (known and not is_gone)


def test_other_systems_and_unknown_kernels_are_not_compared() -> None:
    names = {**NAMES, "host.os": "ubuntu", "host.kernel": "mainline"}
    assert lacking(setting(until="RHEL 7"), names.__getitem__) == ("", "")
    assert lacking(setting(until="Linux 2.6"), names.__getitem__) == ("", "")


def _explained(*argv: str) -> str:
    done = wireproof("audit", "--explain", *argv)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.engine
def test_each_parameter_is_explained_with_its_value(tmp_path: Path) -> None:
    """As the appendix of the tuning document lists them by a script."""
    root = lay_out(tmp_path, "haswell-hfi1", {"etc/hostname": "n1"})
    paragraphs = _explained("hfi1", "--from", str(root)).strip().split("\n\n")
    assert len(paragraphs) == len(settings_called("hfi1"))
    for name, value in HFI1_2015.items():
        place = re.compile(rf"/sys/module/hfi1/parameters/{name}\b")
        (words,) = [one for one in paragraphs if place.search(one)]
        assert re.search(rf"now on n1 +{re.escape(value) or 'empty'} \(", words)
        assert "\n  default  " in words
        assert "\n  should be  " in words


@pytest.mark.engine
def test_what_a_kernel_is_too_old_for_says_so(tmp_path: Path) -> None:
    root = lay_out(tmp_path, "haswell-hfi1", {"etc/hostname": "n1"})
    said = _explained("busy-poll", "--from", str(root))
    assert "n/a, it exists since Linux 3.11; this kernel is 3.10.0" in said


SIZE = {"/proc/meminfo": "MemTotal:       65011712 kB"}
CORES = {"/sys/devices/system/cpu/online": "0-63"}


@pytest.mark.parametrize(
    ("line", "expected"), ROWS["an-argument-of-the-kernel-is-found-by-its-whole-word"]
)
def test_an_argument_of_the_kernel_is_found_by_its_whole_word(line: str, expected: str) -> None:
    assert status("kernel-arguments", SIZE | {"/proc/cmdline": line}) == expected


@pytest.mark.parametrize(
    ("line", "beyond", "expected"),
    [
        ("ro", "64-127", "not-applicable"),
        ("nr_cpus=64", "", "pass"),
        ("nr_cpus=64", "64-127", "fail"),
        ("maxcpus=64", "64-127", "fail"),
        ("maxcpus=999", "64-127", "pass"),
        ("nr_cpus=256", "64-127", "pass"),
    ],
)
def test_a_limit_of_processors_is_wrong_if_it_leaves_some_out(
    line: str, beyond: str, expected: str
) -> None:
    offline = {"/sys/devices/system/cpu/offline": beyond}
    assert status("kernel-processors", CORES | offline | {"/proc/cmdline": line}) == expected
