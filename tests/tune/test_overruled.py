"""Which of several files counts at the next boot."""

import pytest
from tests.tune.node import ROWS

from wireproof.audit.facts import HostFacts
from wireproof.instrument.plan_text import without_secrets
from wireproof.model.record import FactFrame
from wireproof.tune.boot import files_of, overruled, unread
from wireproof.tune.settings_files import boot_files, mtus_in, written_in

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


@pytest.mark.parametrize("mark", ['"', "'"])
def test_the_path_of_tmpfiles_may_be_quoted(mark):
    ours, place = f"/etc/tmpfiles.d/{SYSCTL}", "/sys/kernel/mm/x y"
    theirs = f'"w+" {mark}{place}{mark} "-" - - - 0\n'
    shown = [(one.place, one.value) for one in written_in(ours, theirs)]
    assert shown == [(place, "0")]


def test_a_file_that_says_the_same_overrules_nothing():
    ours = f"/etc/sysctl.d/{SYSCTL}"
    assert not found(ours, "vm.swappiness=10\n", "/etc/sysctl.d/99.conf", "vm.swappiness = 10\n")


@pytest.mark.parametrize("text", ["# nothing\nvm.stat_interval = 10\n", "# nothing\n", ""])
def test_a_file_behind_another_of_its_name_is_not_read(text):
    """sysctl.d(5): an empty file in /etc masks the vendor's."""
    files = {
        "/usr/lib/sysctl.d/99-site.conf": "vm.swappiness = 60\n",
        "/etc/sysctl.d/99-site.conf": text,
    }
    assert not overruled(files, {f"/etc/sysctl.d/{SYSCTL}": "vm.swappiness=10\n"})


RULE = 'ACTION=="add|move", SUBSYSTEM=="net", KERNEL=="eth0", '
MTU, RING = RULE + 'ATTR{mtu}="9000"', RULE + 'RUN+="/sbin/ethtool -G eth0 rx 4096"'


@pytest.mark.parametrize(
    ("ours", "path", "other", "counts"),
    ROWS["of-rules-of-udev-the-last-that-fits-the-interface-counts"],
)
def test_of_rules_of_udev_the_last_that_fits_the_interface_counts(ours, path, other, counts):
    shown = found("/etc/udev/rules.d/90-wireproof.rules", f"{ours}\n", path, f"{other}\n")
    assert [one.split()[0] for one in shown] == ([path] if counts else [])


@pytest.mark.parametrize(
    ("path", "other", "counts"), ROWS["of-limits-those-of-a-user-and-the-last-file-count"]
)
def test_of_limits_those_of_a_user_and_the_last_file_count(path, other, counts):
    ours = {"/etc/security/limits.d/90-wireproof.conf": "* - memlock unlimited\n"}
    assert list(overruled({path: f"{other}\n"}, ours)) == counts


def test_a_limit_names_for_whom_it_is():
    ours = {"/etc/security/limits.d/90-wireproof.conf": "* - memlock unlimited\n"}
    lines = overruled({"/etc/security/limits.conf": "@hpc hard memlock 64\n"}, ours)
    assert lines["limit hard memlock"].whom == "@hpc"


@pytest.mark.parametrize(
    ("arguments", "counts"),
    [
        ("ro quiet hfi1.krcvqs=2", True),
        ("ro hfi1.krcvqs=5", False),
        ("ro krcvqs=2", False),
        ("ro sysctl.vm.swappiness=60", False),
    ],
)
def test_arguments_of_the_kernel_count_after_modprobes_files(arguments, counts):
    """libkmod reads the command line behind its files."""
    ours = {
        "/etc/modprobe.d/90-wireproof.conf": "options hfi1 krcvqs=5\n",
        f"/etc/sysctl.d/{SYSCTL}": "vm.swappiness = 10\n",
    }
    places = list(overruled({"/proc/cmdline": f"{arguments}\n"}, ours))
    assert places == (["/sys/module/hfi1/parameters/krcvqs"] if counts else [])


NM, NETWORKD = "/etc/NetworkManager/system-connections", "/etc/systemd/network"
SCRIPTS, SUSE = "/etc/sysconfig/network-scripts", "/etc/sysconfig/network"
PLAN = "network:\n  version: 2\n  ethernets:\n    {}:\n      dhcp4: no\n      mtu: {}\n"


@pytest.mark.parametrize(
    ("path", "other", "counts"), ROWS["the-networks-files-set-the-mtu-after-rules-of-udev"]
)
def test_the_networks_files_set_the_mtu_after_rules_of_udev(path, other, counts):
    """But for .link files, which a rule of udev before ours applies."""
    shown = found("/etc/udev/rules.d/90-wireproof.rules", f"{MTU}\n", path, other)
    assert [one.split()[0] for one in shown] == ([path] if counts else [])


def test_of_networkds_files_the_first_counts_and_of_netplans_the_last():
    text = "[Match]\nName=eth0\n[Link]\nMTUBytes={}\n"
    ours = {"/etc/udev/rules.d/90-wireproof.rules": f"{MTU}\n"}
    first = {f"{NETWORKD}/10-a.network": 9000, "/usr/lib/systemd/network/99-b.network": 1500}
    assert not overruled({path: text.format(size) for path, size in first.items()}, ours)
    last = {"/etc/netplan/10.yaml": 9000, "/etc/netplan/90.yaml": 1500}
    plans = {path: PLAN.format("eth0", size) for path, size in last.items()}
    assert [one.file for one in overruled(plans, ours).values()] == ["/etc/netplan/90.yaml"]


def test_a_file_of_the_network_that_cannot_be_read_is_named():
    path = f"{NM}/a.nmconnection"
    frames = [
        FactFrame(rank=0, kind="glob", status="ok", path=f"{NM}/*", text=f"{path}\n"),
        FactFrame(rank=0, kind="file", status="denied", path=path, text=""),
    ]
    facts = HostFacts.of("n1", frames)
    (line,) = unread(facts, {"/etc/udev/rules.d/90-wireproof.rules": f"{MTU}\n"})
    assert path in line
    assert not unread(facts, {"/etc/udev/rules.d/90-wireproof.rules": f"{RING}\n"})
    assert not unread(facts, {f"/etc/sysctl.d/{SYSCTL}": "vm.swappiness = 10\n"})


@pytest.mark.parametrize("piece", ["[", " ", "a: ", "\t", "a:\n ", "=", "mtu=9", "- "])
def test_no_file_of_the_network_takes_long(piece):
    for kind in boot_files():
        path = kind.paths[0].replace("*", "a")
        list(mtus_in(path, piece * ((1 << 18) // len(piece)), kind))


def test_of_a_file_of_the_network_no_password_is_kept():
    texts = {
        f"{NM}/a": "[connection]\ninterface-name=eth0\n[ethernet]\nmtu=1500\n[x]\npsk=geheim\n",
        "/etc/netplan/01.yaml": PLAN.format("eth0", 1500) + "      auth:\n        psk: geheim\n",
        f"{SUSE}/ifcfg-eth0": "MTU=1500\nWIRELESS_WPA_PSK='geheim'\n",
        "/etc/network/interfaces": "iface eth0 inet dhcp\n  wpa-psk geheim\n  mtu 1500\n",
    }
    for path, text in texts.items():
        frame = FactFrame(rank=0, kind="file", status="ok", path=path, text=text)
        kept = without_secrets(frame).text
        assert "geheim" not in kept
        assert [one.value for one in written_in(path, kept)] == ["1500"]


def test_a_link_to_dev_null_masks_the_file_of_the_vendor():
    masked, path = "/usr/lib/sysctl.d/99-site.conf", "/etc/sysctl.d/99-site.conf"
    why = "is not a regular file"
    facts = HostFacts.of(
        "n1",
        [
            FactFrame(rank=0, kind="file", status="ok", path=masked, text="vm.swappiness = 60\n"),
            FactFrame(rank=0, kind="file", status="failed", path=path, reason=why),
        ],
    )
    assert files_of(facts) == {path: ""}
    assert not overruled(files_of(facts), {f"/etc/sysctl.d/{SYSCTL}": "vm.swappiness=10\n"})
