"""Requests that ask for too much: one sentence, exit 2, nothing touched; what cannot be done."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes import ran
from tests.tune.conftest import Build
from tests.tune.node import BOOT, Machine, change, request, snapshot, statement

from wireproof.model.tuning import Change
from wireproof.tune.allowed import refused, refused_command

pytestmark = pytest.mark.engine

A = "/proc/sys/vm/swappiness"
GOOD = change(A, 10)


def command(read: str, write: str, value: str = "9", key: str = "RX") -> str:
    return statement(
        "change",
        id="c",
        kind="command",
        value=value,
        key=key,
        read=tuple(read.split()),
        write=tuple(write.split()),
    )


def keep(path: str, text: str = "a = 1\n") -> str:
    return statement("keep", path=path, text=text)


HOSTILE = {
    "empty": ("", "neither a change nor a keep"),
    "no set": (GOOD, "the first statement"),
    "two sets": (request(statement("set", id="b")), "the first statement"),
    "nothing in it": (request(), "neither a change nor a keep"),
    "an unknown statement": (request(GOOD, "run id=x"), '"run" is unknown'),
    "an unknown key": (request(f"{GOOD} shell=yes"), 'unknown key "shell"'),
    "an id that is a path": (request(GOOD, id="../x"), "set needs id="),
    "an id that is hidden": (request(GOOD, id=".x"), "set needs id="),
    "a long id": (request(GOOD, id="x" * 65), "set needs id="),
    "no timer": (request(GOOD, timeout_s=0), "timeout_s=0 is not a number from 1"),
    "the same file twice": (request(GOOD, change(A, 11, id="b")), "is changed twice"),
    "the same change twice": (request(GOOD, GOOD), "comes twice"),
    "another file": (request(change("/etc/passwd", 1)), "is not below /proc/sys or /sys"),
    "beside": (request(change("/proc/sysrq-trigger", "b")), "is not below /proc/sys or /sys"),
    "dots": (request(change("/proc/sys/../../etc/passwd", 1)), "is no absolute path"),
    "a dot": (request(change("/proc/sys/./vm/swappiness", 1)), "is no absolute path"),
    "two slashes": (request(change("/proc/sys//vm", 1)), "is no absolute path"),
    "relative": (request(change("proc/sys/vm/swappiness", 1)), "is no absolute path"),
    "NUL": (request(change("/proc/sys/vm/a\0b", 1, id="a")), "is no absolute path"),
    "control characters": (
        request(change("/proc/sys/vm/\x1b[2J", 1, id="a")),
        "is no absolute path",
    ),
    "a coupled file": (request(change(A, 1, coupled=("/etc/passwd",))), "is not below"),
    "a program": (request(change("/proc/sys/kernel/core_pattern", "|/x")), "is no setting"),
    "a helper": (request(change("/proc/sys/kernel/modprobe", "/x")), "is no setting"),
    "a cgroup": (request(change("/sys/fs/cgroup/x/cgroup.kill", "1")), "is no setting"),
    "power": (request(change("/sys/power/state", "mem")), "is no setting"),
    "a driver": (request(change("/sys/bus/pci/drivers/x/unbind", "0")), "takes a device"),
    "a value of two lines": (request(change(A, "1\n2")), "printable characters"),
    "a value with NUL": (request(change(A, "1\0")), "printable characters"),
    "a long value": (request(change(A, "1" * 5000)), "printable characters"),
    "a shell": (request(command("sh -c x", "sh -c {value}")), "is no command of ethtool"),
    "a path": (request(command("/tmp/ethtool -g a", "ethtool -G a rx {value}")), "is no command"),
    "flash": (request(command("ethtool -g a", "ethtool -f a {value}")), "is no command"),
    "a namespace": (request(command("ip link show a", "ip netns exec {value}")), "is no command"),
    "a batch": (request(command("ip link show a", "ip -batch {value}")), "is no command"),
    "a program of bpf": (
        request(command("ip link show a", "ip link set a xdp obj {value}")),
        "is no command",
    ),
    "no value": (request(command("ethtool -g a", "ethtool -G a rx 5")), "has no {value}"),
    "an option": (
        request(command("ethtool -g a", "ethtool -G a rx {value}", "-x")),
        "is not one word",
    ),
    "a drop-in elsewhere": (request(keep("/etc/cron.d/wireproof")), "is in none of"),
    "a drop-in below": (request(keep("/etc/sysctl.d/x/wireproof.conf")), "is in none of"),
    "a drop-in of others": (request(keep("/etc/sysctl.d/99-site.conf")), "is no file of ours"),
    "an empty drop-in": (request(keep("/etc/sysctl.d/wireproof.conf", "")), "keep needs text="),
    "a binary drop-in": (request(keep("/etc/sysctl.d/wireproof.conf", "a\0")), "keep needs text="),
    "a broken escape": (request("change id=a kind=file path=%zz value=1"), "broken %XX escape"),
    "1 MiB": (request(*(change(f"{A}{i}", "1" * 999) for i in range(1100))), "than 1 MiB"),
    "5000 changes": (request(*(change(f"{A}{i}", 1) for i in range(5000))), "at most 4096"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_request_touches_nothing(what: str, machine: Build) -> None:
    text, says = HOSTILE[what]
    host = machine({A[1:]: "60\n"})
    before = snapshot(host.root)
    answer = host.run("apply", text=text)
    assert (answer.status, answer.frames) == (2, []), answer.errors
    assert says in answer.errors
    assert answer.errors.count("\n") == 1
    assert answer.errors.isprintable() or answer.errors[:-1].isprintable()
    assert snapshot(host.root) == before
    assert not host.state.exists()


def test_a_request_without_end_is_not_read_to_its_end(machine: Build) -> None:
    host = machine({A[1:]: "60\n"})
    with (
        Path("/dev/zero").open("rb") as endless,
        subprocess.Popen(host.argv("apply"), stdin=endless, stderr=subprocess.PIPE) as program,
    ):
        assert b"longer than 1 MiB" in program.stderr.read()
        assert program.wait(60) == 2


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (change("/proc/sys/net/ipv4/ip_forward", 1), "changes every interface"),
        (change("/proc/sys/net/ipv4/conf/all/forwarding", 0), "changes every interface"),
        (change("/proc/sys/net/ipv6/conf/all/forwarding", 1), "changes every interface"),
        (change("/proc/sys/net/ipv6/conf/all/disable_ipv6", 0), "changes every interface"),
        (change("/proc/sys/net/ipv6/conf/eth0/disable_ipv6", 1), "removes IPv6 addresses"),
        (change("/proc/sys/net/ipv6/conf/all/addr_gen_mode", 1), "changes every interface"),
        (change("/proc/sys/net/ipv6/conf/all/force_forwarding", 1), "changes every interface"),
        (
            change("/proc/sys/net/ipv6/conf/all/ignore_routes_with_linkdown", 1),
            "changes every interface",
        ),
        (change("/proc/sys/net/ipv6/conf/eth0/addr_gen_mode", 3), "adds IPv6 addresses"),
        (change("/proc/sys/net/ipv6/conf/eth0/forwarding", 1), "removes IPv6 addresses or routes"),
        (change("/sys/class/net/eth0/flags", "0x1002"), "takes a device"),
        (change("/sys/class/net/eth0/device/sriov_numvfs", 0), "takes a device"),
        (change("/sys/class/net/eth0/mtu", 1279), "MTU below 1280"),
        (change("/sys/class/net/eth0/mtu", "0x400"), "MTU below 1280"),
        (command("ip -d link show eth0", "ip link set eth0 mtu {value}", "576", "mtu"), "1280"),
        *(
            (change("/proc/sys/kernel/yama/ptrace_scope", value), "until the next boot")
            for value in ("3", "0x3", "4")
        ),
    ],
)
def test_what_cannot_be_taken_back_whole_is_refused(line: str, says: str, machine: Build) -> None:
    host = machine({A[1:]: "60\n"})
    before = snapshot(host.root)
    answer = host.run("apply", text=request(line))
    assert (answer.status, answer.frames) == (2, []), answer.errors
    assert says in answer.errors
    assert snapshot(host.root) == before


NEVER = (
    "core_pattern",
    "modprobe",
    "modules_disabled",
    "poweroff_cmd",
    "usermodehelper/bset",
    "unprivileged_bpf_disabled",
    "tainted",
)
ACTIONS = ("vm/drop_caches", "vm/compact_memory", "net/ipv4/route/flush")
TAKES_DEVICE = (
    *("authorized", "authorized_default", "interface_authorized_default", "bConfigurationValue"),
    *("power", "enable", "state", "soft", "link_mode", "config", "target", "drivers_autoprobe"),
    *("remove", "unbind", "reset", "online", "driver_override", "sriov_numvfs", "carrier"),
)
FILES = [
    *((f"/proc/sys/kernel/{name}", "1") for name in NEVER),
    *((f"/proc/sys/{name}", "1") for name in ACTIONS),
    *(("/proc/sys/kernel/yama/ptrace_scope", value) for value in ("3", "0x3", " 03")),
    *((f"/sys/bus/usb/devices/1-1/{name}", "0") for name in TAKES_DEVICE),
    ("/sys/power/state", "mem"),
    ("/sys/fs/cgroup/x/cgroup.kill", "1"),
    ("/etc/passwd", "1"),
    *((f"/sys/class/net/eth0/device/power/{name}", "auto") for name in ("control", "level")),
    ("/proc/sys/net/ipv4/ip_forward", "1"),
    ("/proc/sys/net/ipv6/conf/eth0/addr_gen_mode", "3"),
    ("/proc/sys/net/ipv6/conf/eth0/forwarding", "1"),
    *(("/sys/class/net/eth0/mtu", value) for value in ("1279", "0x400", "02377", "9x", " 9")),
]
MAY = [
    *(("/proc/sys/kernel/yama/ptrace_scope", value) for value in ("0", "2")),
    (A, "10"),
    ("/sys/class/net/eth0/device/power/control", "on"),
    ("/sys/devices/system/cpu/smt/control", "off"),
    ("/proc/sys/net/ipv6/conf/default/forwarding", "1"),
    ("/proc/sys/net/ipv6/conf/eth0/forwarding", "0"),
    *(("/sys/class/net/eth0/mtu", value) for value in ("1280", "0x500", "02400", "-1", "word")),
]


@pytest.mark.parametrize(("path", "value"), [*FILES, *MAY])
def test_a_plan_refuses_the_files_that_the_guard_refuses_in_its_words(
    path: str, value: str, machine: Build
) -> None:
    answer = machine({A[1:]: "60\n"}).run("apply", text=request(change(path, value)))
    said = refused(path, value)
    assert bool(said) == ((path, value) in FILES) == (answer.status == 2)
    assert said in answer.errors


COMMANDS = [
    ("ethtool -g a", "ethtool -G a rx {value}", "9"),
    ("ethtool -g a", "ethtool -f a {value}", "9"),
    ("ethtool -g a b", "ethtool -G a rx {value}", "9"),
    ("ethtool -g a", "ethtool -G a {value}", "9"),
    ("ethtool -g a", "ethtool -G a", "9"),
    ("ethtool -g a", "ethtool -G a rx 5", "9"),
    ("ethtool -g -a", "ethtool -G a rx {value}", "9"),
    ("ip -d -o link show a", "ip link set dev a mtu {value}", "9000"),
    ("ip link show dev a", "ip link set a mtu {value}", "1000"),
    ("ip link show", "ip link set a mtu {value}", "9000"),
    ("ip link show a b", "ip link set a mtu {value}", "9000"),
    ("ip link show a", "ip link set a down {value}", "9000"),
    ("ip link show a", "ip netns exec {value}", "x"),
    ("tc -d qdisc show dev a", "tc qdisc replace dev a root {value}", "fq"),
    ("tc qdisc show dev a", "tc qdisc del dev a root {value}", "fq"),
    ("tc filter show dev a", "tc qdisc replace dev a root {value}", "fq"),
    ("tc qdisc show dev a", "tc class add dev a -b {value}", "fq"),
    ("sh -c x", "sh -c {value}", "x"),
]


@pytest.mark.parametrize(("read", "write", "value"), COMMANDS)
def test_a_plan_refuses_the_commands_that_the_guard_refuses_in_its_words(
    read: str, write: str, value: str, machine: Build
) -> None:
    text = request(command(read, write, value))
    answer = machine({A[1:]: "60\n"}).run("apply", text=text)
    argv = tuple(read.split()), tuple(write.split())
    said = refused_command(
        Change(id="c", kind="command", value=value, key="RX", read=argv[0], write=argv[1])
    )
    assert bool(said) == (answer.status == 2), answer.errors
    assert said in answer.errors


@pytest.mark.parametrize(
    ("link", "target", "path"),
    [
        ("sys/class/net/eth0", "../../../etc", "/sys/class/net/eth0/hosts"),
        ("sys/class/net/eth0", "/etc", "/sys/class/net/eth0/hosts"),
        ("sys/hosts", "/etc/hosts", "/sys/hosts"),
        ("sys/class/net/eth0", "/../../../../../../etc", "/sys/class/net/eth0/hosts"),
        ("sys/word", "power/state", "/sys/word"),
        ("etc/sysctl.d", "/etc/cron.d", "/etc/sysctl.d/wireproof.conf"),
        ("etc/sysctl.d/wireproof.conf", "/etc/hosts", "/etc/sysctl.d/wireproof.conf"),
    ],
)
def test_no_link_leads_elsewhere(link: str, target: str, path: str, machine: Build) -> None:
    host = machine(
        {"etc/hosts": "n1\n", "sys/power/state": "on\n", "etc/cron.d/x": "x\n", A[1:]: "60\n"}
    )
    (host.root / link).parent.mkdir(parents=True, exist_ok=True)
    (host.root / link).symlink_to(target)
    before = snapshot(host.root)
    line = keep(path) if path.startswith("/etc") else change(path, 7)
    answer = host.run("apply", text=request(GOOD, line))
    assert (answer.status, answer.frames) == (2, []), answer
    assert snapshot(host.root) == before


def test_links_within_sys_are_followed(machine: Build) -> None:
    host = machine({"sys/devices/pci0/net/eth0/mtu": "1500\n"})
    (host.root / "sys/class/net").mkdir(parents=True)
    (host.root / "sys/class/net/eth0").symlink_to("../../devices/pci0/net/eth0")
    text = request(change("/sys/class/net/eth0/mtu", 9000))
    assert host.run("apply", text=text).states() == {"mtu": "applied"}
    assert host.text("sys/devices/pci0/net/eth0/mtu") == "9000\n"
    assert host.run("revert").status == 0
    assert host.text("sys/devices/pci0/net/eth0/mtu") == "1500\n"


def test_wrong_arguments(machine: Build) -> None:
    host = machine({A[1:]: "60\n"})
    for options in (["--id", "../x"], ["--frobnicate"], ["--id"], ["--root", "/nonexistent"]):
        answer = host.run("status", *options)
        assert (answer.status, answer.frames) == (2, []), options
        assert answer.errors.count("\n") == 1
    assert host.run("destroy").status == 2
    assert host.run("revert", "--id", "none").status == 2
    host.run("apply", text=request(GOOD))
    for verb in ("revert", "confirm"):
        unknown = host.run(verb, "--id", "none")
        assert (unknown.status, unknown.frames) == (2, [])
        assert "there is no set none" in unknown.errors


# --- the state folder


@pytest.mark.parametrize("mode", [0o755, 0o777, 0o710])
def test_a_state_folder_that_others_can_read_is_refused(mode: int, machine: Build) -> None:
    host = machine({A[1:]: "60\n"})
    host.state.mkdir(parents=True)
    host.state.chmod(mode)
    answer = host.run("apply", text=request(GOOD))
    assert (answer.status, answer.frames) == (4, [])
    assert "its mode has to be 0700" in answer.errors
    assert host.text(A[1:]) == "60\n"


def test_a_folder_that_others_can_change_leads_nowhere(machine: Build) -> None:
    host = machine({A[1:]: "60\n"})
    (host.root / "var/lib").mkdir(parents=True)
    (host.root / "var/lib").chmod(0o777)
    answer = host.run("apply", text=request(GOOD))
    assert answer.status == 4
    assert "another user can change lib" in answer.errors


@pytest.mark.parametrize("name", ["lock", "writers"])
def test_nothing_is_written_through_a_link_in_it(name: str, machine: Build) -> None:
    host = machine({A[1:]: "60\n", "etc/victim": "here\n"})
    host.state.mkdir(parents=True, mode=0o700)
    (host.state / name).symlink_to(host.root / "etc/victim")
    answer = host.run("apply", text=request(GOOD))
    assert answer.status == 4
    assert (host.text("etc/victim"), host.text(A[1:])) == ("here\n", "60\n")


def test_a_link_in_place_of_a_set_is_no_set(machine: Build, tmp_path: Path) -> None:
    host = machine({A[1:]: "60\n"})
    other = machine({A[1:]: "60\n"}, "other")
    other.run("apply", text=request(GOOD, id="two"))
    host.state.mkdir(parents=True, mode=0o700)
    (host.state / "two").symlink_to(other.state / "two")
    assert host.run("status").frames == []
    assert host.run("revert", "--id", "two").status == 2


# --- another user, a full disk


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="wireproof-tune-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.root
def test_without_root_nothing_is_changed(open_folder: Path) -> None:
    host = Machine(open_folder / "machine", {BOOT: "0d1e\n", A[1:]: "60\n"})
    own = open_folder / "own"
    own.mkdir()
    os.chown(own, 65534, 65534)
    for options, says in (
        ([], "(are you root?)"),
        (["--state", str(own / "state")], f"{A} cannot be written: Permission denied"),
    ):
        done = ran(
            host.argv("apply", *options),
            input=request(GOOD),
            user=65534,
            group=65534,
            extra_groups=[],
        )
        assert (done.returncode, done.stdout) == (4, "")
        assert says in done.stderr
    assert host.text(A[1:]) == "60\n"


@pytest.mark.root
def test_a_disk_that_becomes_full_takes_all_back(machine: Build, tmp_path: Path) -> None:
    names = [f"k{number}" for number in range(60)]
    host = machine({f"proc/sys/vm/{name}": "1\n" for name in names})
    before = snapshot(host.root)
    state = tmp_path / "state"
    state.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24k,mode=0700", "tmpfs", str(state)], check=True
    )
    try:
        text = request(*(change(f"/proc/sys/vm/{name}", 2) for name in names))
        answer = host.run("apply", "--state", str(state), text=text)
        assert answer.status == 1, answer.errors
        assert "No space left on device" in answer.set["reason"]
        assert "applied" in {frame["state"] for frame in answer.frames}
        assert snapshot(host.root) == before
    finally:
        subprocess.run(["umount", "--lazy", str(state)], check=True)
