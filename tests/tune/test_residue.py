"""What earlier changes left is found, and only that."""

import pytest
from tests.audit.trees import facts_of

from wireproof.audit.job import catalogue
from wireproof.model.tuning import ChangeAnswer, HostTuned, SetAnswer
from wireproof.tune.settings_files import FileSetting, written_in
from wireproof.tune.standing import residue_of, values_asked

KNOWN = catalogue()
OURS = "/etc/sysctl.d/90-wireproof.conf"
SWAPPINESS = "/proc/sys/vm/swappiness"
CLEAN = HostTuned(host="n1")


def kinds(texts: dict[str, str], status: HostTuned = CLEAN) -> list[tuple[str, str]]:
    return [(one.kind, one.place) for one in residue_of(facts_of(texts), status, KNOWN)]


def confirmed(state: str = "kept") -> HostTuned:
    return HostTuned(
        host="n1",
        sets=[SetAnswer(id="s", state="confirmed")],
        changes=[ChangeAnswer(id=OURS, of="s", state=state)],
    )


def test_a_drop_in_of_ours_needs_a_journal():
    texts = {OURS: "# a\nvm.swappiness = 10\n", SWAPPINESS: "10\n"}
    assert kinds(texts) == [("drop-in", OURS)]
    assert kinds(texts, confirmed()) == []
    reverted = HostTuned(host="n1", sets=[SetAnswer(id="s", state="reverted")])
    assert kinds(texts, reverted) == [("drop-in", OURS)]


@pytest.mark.parametrize(
    ("one", "found"),
    [
        (SetAnswer(id="s", state="applying"), True),
        (SetAnswer(id="s", state="partly"), True),
        (SetAnswer(id="s", state="armed", timer="gone"), True),
        (SetAnswer(id="s", state="armed", timer="alive"), False),
        (SetAnswer(id="s", state="reverted"), False),
    ],
)
def test_sets_that_are_half_undone(one, found):
    expected = [("half-undone", "set s")] if found else []
    assert kinds({}, HostTuned(host="n1", sets=[one])) == expected


def test_a_value_that_is_not_what_the_file_says():
    texts = {OURS: "vm.swappiness = 10\n", SWAPPINESS: "60\n"}
    assert kinds(texts, confirmed()) == [("differs", SWAPPINESS)]


def test_the_file_that_counts_is_the_last_by_name_and_that_of_etc():
    texts = {
        "/usr/lib/sysctl.d/50-default.conf": "vm.swappiness = 1\n",
        "/etc/sysctl.d/50-default.conf": "vm.swappiness = 2\n",
        "/etc/sysctl.d/10-first.conf": "vm.swappiness = 3\n",
        SWAPPINESS: "2\n",
    }
    assert kinds(texts) == []
    assert kinds({**texts, SWAPPINESS: "3\n"}) == [("differs", SWAPPINESS)]


def test_files_of_known_tools_and_those_that_overrule_ours():
    mlnx = "/etc/sysctl.d/60-mlnx.conf"
    site = "/etc/sysctl.d/99-site.conf"
    texts = {
        mlnx: "vm.swappiness = 1\nkernel.hostname = x\n",
        OURS: "vm.swappiness = 10\n",
        site: "vm.swappiness = 30\n",
        "/etc/sysctl.d/10-before.conf": "vm.swappiness = 5\n",
        SWAPPINESS: "30\n",
    }
    assert kinds(texts, confirmed()) == [("other-tool", mlnx), ("other-tool", site)]


def test_flags_and_choices_read_back_in_another_form():
    thp = "/sys/kernel/mm/transparent_hugepage/enabled"
    texts = {
        "/etc/tmpfiles.d/90-wireproof.conf": f"w {thp} - - - - madvise\n",
        "/etc/modprobe.d/90-wireproof.conf": "options hfi1 cache_size=1 krcvqs=3\n",
        thp: "always [madvise] never\n",
        "/sys/module/hfi1/parameters/cache_size": "Y\n",
        "/sys/module/hfi1/parameters/krcvqs": "5\n",
    }
    status = HostTuned(
        host="n1",
        sets=[SetAnswer(id="s", state="confirmed")],
        changes=[
            ChangeAnswer(id=path, of="s", state="kept")
            for path in texts
            if path.startswith("/etc/")
        ],
    )
    assert kinds(texts, status) == [("differs", "/sys/module/hfi1/parameters/krcvqs")]
    assert {one.path for one in values_asked(facts_of(texts), KNOWN)} == {
        path for path in texts if not path.startswith("/etc/")
    }


def test_a_host_whose_journals_cannot_be_read_is_no_clean_host():
    assert kinds({}, HostTuned(host="n1", problem="no root")) == [("unread", "journals")]


def test_lines_of_files():
    assert written_in(
        "/etc/sysctl.d/a.conf", "; x\n-net.core.rmem_max=5\nnet/a/b.c/d = 1  2\n=\n"
    ) == [
        FileSetting("/proc/sys/net/core/rmem_max", "5", "/etc/sysctl.d/a.conf"),
        FileSetting("/proc/sys/net/a/b.c/d", "1 2", "/etc/sysctl.d/a.conf"),
    ]
    assert written_in("/etc/tmpfiles.d/a.conf", "w /sys/a - - - - 5 %%\nd /run/x\nw /sys/b\n") == [
        FileSetting("/sys/a", "5 %", "/etc/tmpfiles.d/a.conf")
    ]
    assert written_in("/etc/systemd/system.conf", "DefaultLimitNOFILE=1\n") == []
