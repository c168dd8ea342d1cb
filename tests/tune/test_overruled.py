"""Which of several files counts at the next boot."""

from __future__ import annotations

import pytest

from wireproof.tune.overruled import overruled

SYSCTL = "90-wireproof.conf"


def found(ours: str, text: str, path: str, other: str) -> list[str]:
    lines = overruled({path: other}, {ours: text}).values()
    return [f"{one.file} {one.value}" for one in lines]


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("/etc/sysctl.d/99-site.conf", True),
        ("/etc/sysctl.conf", True),
        ("/usr/lib/sysctl.d/99-default.conf", True),
        ("/etc/sysctl.d/10-site.conf", False),
        ("/run/sysctl.d/90-wireproof.conf", False),
    ],
)
def test_of_sysctls_the_last_file_counts(path, counts):
    shown = found(f"/etc/sysctl.d/{SYSCTL}", "vm.swappiness=10\n", path, "vm/swappiness = 60\n")
    assert shown == ([f"{path} 60"] if counts else [])


@pytest.mark.parametrize(
    ("name", "counts"), [("10-site.conf", True), ("99-site.conf", False), (SYSCTL, False)]
)
def test_of_tmpfiles_the_first_file_counts(name, counts):
    """tmpfiles.d(5): of several files with one path the earliest name is applied."""
    ours, place = f"/etc/tmpfiles.d/{SYSCTL}", "/sys/kernel/mm/x"
    path = f"/usr/lib/tmpfiles.d/{name}"
    shown = found(ours, f"w {place} - - - - 1\n", path, f"w {place} - - - - 0\n")
    assert shown == ([f"{path} 0"] if counts else [])


def test_a_file_that_says_the_same_overrules_nothing():
    ours = f"/etc/sysctl.d/{SYSCTL}"
    assert not found(ours, "vm.swappiness=10\n", "/etc/sysctl.d/99.conf", "vm.swappiness = 10\n")


def test_a_file_behind_another_of_its_name_is_not_read():
    files = {
        "/usr/lib/sysctl.d/99-site.conf": "vm.swappiness = 60\n",
        "/etc/sysctl.d/99-site.conf": "# nothing\nvm.stat_interval = 10\n",
    }
    assert not overruled(files, {f"/etc/sysctl.d/{SYSCTL}": "vm.swappiness=10\n"})
