"""Each fix of the catalogue mends its own setting, on machines of any size, and stays within what
the node program writes.
"""

import random

import pytest
from tests.audit.trees import ROWS

from wireproof.audit.job import catalogue
from wireproof.audit.machine import Instance
from wireproof.audit.remedy import filled, line_of, remedy_of, remedy_with
from wireproof.audit.values import typed
from wireproof.model.setting import PROFILES, Fix

ENTRIES = [one for one in catalogue().entries.values() if one.setting.fix is not None]
VALUED = [one for one in ENTRIES if one.setting.fix.value]
NIC = Instance("eth0", {"nic": "eth0"}, {})
PORT = Instance("mlx5_0:1", {"device": "mlx5_0", "port": "1"}, {})
DROP_INS = (
    "/etc/sysctl.d/90-wireproof.conf",
    "/etc/modprobe.d/90-wireproof.conf",
    "/etc/tmpfiles.d/90-wireproof.conf",
    "/etc/udev/rules.d/90-wireproof.rules",
    "/etc/security/limits.d/90-wireproof.conf",
)
BOUNDS = {
    "host.cores": (1, 1024),
    "host.numa_nodes": (1, 16),
    "host.memory": (1 << 30, 1 << 43),
    "setting:clock-maximum": (800_000, 6_000_000),
    "setting:clock-of-hardware": (800_000, 6_000_000),
    "setting:uncore-maximum": (800_000, 6_000_000),
    "setting:channels-maximum": (1, 1024),
    "setting:ring-rx-maximum": (1, 16384),
    "setting:ring-tx-maximum": (1, 16384),
    "setting:idle-state-latency": (0, 1000),
    "setting:bond-arp-monitor": (0, 100),
    "setting:mtu": (1500, 9000),
    "setting:hfi1-num-vls": (1, 8),
}
CHOICES = {
    "host.rate": (1, 10, 25, 40, 56, 100, 200, 400, 800),
    "host.virtual": (False, True),
    "host.vendor": ("intel", "amd", "arm"),
    "host.kernel": ("3.10.0", "4.18.0", "6.12.0"),
    "host.fabrics": ([], ["hfi1"], ["mlx5_core"], ["irdma", "efa"]),
    "host.modules": ([],),
    "nic.rate": (1, 10, 25, 40, 100, 200, 400),
    "nic.rdma": (False, True),
    "nic.ipoib": (False, True),
    "nic.device": (False, True),
    "nic.driver": ("mlx5_core",),
    "setting:clock-of-hardware-least": (800_000,),
    "setting:energy-preference": ("performance", "power"),
    "setting:hfi1-ipoib-accel": (0, 1),
    "setting:ipoib-mode": ("connected", "datagram"),
}


def _machines():
    """Every number at its least, every number at its most, and a hundred between."""
    choice = random.Random(1)
    yield {name: bounds[0] for name, bounds in BOUNDS.items()} | {
        name: values[0] for name, values in CHOICES.items()
    }
    yield {name: bounds[1] for name, bounds in BOUNDS.items()} | {
        name: values[-1] for name, values in CHOICES.items()
    }
    for _ in range(100):
        # Small numbers are as likely as large ones: a limit may lie anywhere.
        yield {
            name: choice.randint(least, choice.choice((most, min(most, least + 16))))
            for name, (least, most) in BOUNDS.items()
        } | {name: choice.choice(values) for name, values in CHOICES.items()}


MACHINES = tuple(_machines())


def _instance(entry):
    return {"nic": NIC, "rdma": PORT}.get(entry.setting.scope, Instance("", {}, {}))


@pytest.mark.parametrize("entry", VALUED, ids=lambda entry: entry.setting.id)
@pytest.mark.parametrize("profile", PROFILES)
def test_the_value_of_a_fix_is_good_by_its_own_condition(entry, profile):
    for names in MACHINES:
        _check_value(entry, profile, names)


def _check_value(entry, profile, names):
    def lookup(name):
        return names.get(name) if name.startswith("setting:") else names[name]

    found = remedy_of(entry, _instance(entry), "/sys/x", profile, lookup)
    if not found.value:  # this profile leaves the setting as it is
        assert profile not in entry.setting.fix.value
        assert entry.setting.condition(profile) == "true"
        return
    form = entry.setting.reads[0].form or entry.setting.form
    value = typed(f"a [{found.value}] b" if form == "choice" else found.value, form)
    holds = entry.good[profile].holds(lambda name: value if name == "value" else lookup(name))
    assert holds is True, names


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.setting.id)
def test_a_fix_is_whole(entry):
    """It says what to do, and writes nothing that the node program would refuse."""
    fix = entry.setting.fix
    assert fix.value or fix.line or fix.kernel or fix.by_hand
    assert fix.persist == "" or fix.persist in DROP_INS
    if fix.command:
        assert fix.at_once
        assert fix.command[0] in ("ethtool", "ip", "tc")
        assert "{value}" in fix.command
        assert entry.setting.reads[0].key
    elif fix.at_once:
        files = [fix.file] if fix.file else [read.file for read in entry.setting.reads]
        assert all(file.startswith(("/proc/sys/", "/sys/")) for file in files)
    assert all(file.startswith(("/proc/sys/", "/sys/")) for file in fix.coupled)


@pytest.mark.parametrize(
    "entry",
    [one for one in VALUED if one.setting.fix.persist],
    ids=lambda entry: entry.setting.id,
)
def test_what_is_written_for_good_is_a_line_of_its_drop_in(entry):
    instance = _instance(entry)
    place = filled(entry.setting.reads[0].file, instance)
    found = remedy_with(entry.setting.fix, instance, place, "7")
    assert "7" in found.line
    assert "{" not in found.line.replace("ATTR{", "")


@pytest.mark.parametrize(("persist", "file", "command", "line"), ROWS["the-lines-of-drop-ins"])
def test_the_lines_of_drop_ins(persist, file, command, line):
    assert line_of(persist, file, command, "1") == line


@pytest.mark.parametrize("name", ["eth*", "-K", "%k", 'a"b', "$(x)", "a;b"])
def test_no_line_is_made_of_a_hostile_name(name):
    fix = Fix(value={"any": "9000"}, persist=DROP_INS[3])
    instance = Instance(name, {"nic": name}, {})
    assert remedy_with(fix, instance, f"/sys/class/net/{name}/mtu", "9000").line == ""
