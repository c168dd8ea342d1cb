"""From facts of a host to its plan: the changes, the drop-ins, what is left to people."""

import pytest
from tests.audit.trees import facts_of

from wireproof.audit.facts import HostFacts
from wireproof.audit.job import catalogue
from wireproof.audit.machine import machine_of
from wireproof.model.errors import BadInput
from wireproof.model.record import FactFrame
from wireproof.model.tuning import Change
from wireproof.tune import Allowed, added, host_plan
from wireproof.tune.settings_files import HEAD, merged
from wireproof.tune.standing import moved
from wireproof.tune.wishes import DROP_INS, Named, named, named_all, nowhere, requests_of, wishes_of

KNOWN = catalogue()
CPU = "/sys/devices/system/cpu"
BASE = {
    "/proc/meminfo": "MemTotal: 131824520 kB\nSwapTotal: 4194304 kB\n",
    "/proc/cpuinfo": "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 106\nflags\t\t: fpu\n",
    "/proc/version": "Linux version 5.14.0-570.el9.x86_64 (gcc)",
    "/etc/os-release": 'ID="rocky"\nVERSION_ID="9.6"\n',
    f"{CPU}/online": "0-3",
    "/sys/devices/system/node/online": "0-1",
}
SYSCTL = "/etc/sysctl.d/90-wireproof.conf"
NIC = {
    "/sys/class/net/eth1/device/uevent": "DRIVER=ice",
    "/sys/class/net/eth1/operstate": "up",
    "/sys/class/net/eth1/speed": "100000",
    "/sys/class/net/eth1/type": "1",
    "/sys/class/net/eth1/mtu": "1500",
}
RINGS = (
    "Ring parameters for eth1:\nPre-set maximums:\nRX:\t\t2048\nTX:\t\t2048\n"
    "Current hardware settings:\nRX:\t\t256\nTX:\t\t2048\n"
)


def facts(*files: dict[str, str], commands: dict[tuple[str, ...], str] | None = None) -> HostFacts:
    """Ours and these; drop-ins that are not named are known not to be there."""
    texts = {**BASE, **{path: text for more in files for path, text in more.items()}}
    found = facts_of(texts)
    for argv, text in (commands or {}).items():
        found.commands[argv] = FactFrame(
            rank=0, kind="command", status="ok", argv=list(argv), text=text
        )
    for path in DROP_INS:
        missing = FactFrame(rank=0, kind="file", status="missing", path=path, text="")
        found.files.setdefault(path, missing)
    return found


def planned(found: HostFacts, *asked: str, profile="throughput", allowed=None):
    machine = machine_of(found)
    names = named_all(asked, KNOWN)
    wishes = wishes_of(machine, KNOWN, profile, names)
    return host_plan(machine, wishes, names, allowed or Allowed())


def test_what_fails_is_changed_and_what_is_good_is_not():
    plan = planned(
        facts({"/proc/sys/kernel/numa_balancing": "1\n", "/proc/sys/vm/zone_reclaim_mode": "0\n"})
    )
    (one,) = plan.changes
    assert one.change == Change(
        id="numa-balancing", value="0", path="/proc/sys/kernel/numa_balancing"
    )
    assert one.was == "1"
    assert one.undo
    assert one.effect.on == "variation"
    (keep,) = plan.keeps
    assert keep.keep.path == SYSCTL
    assert keep.keep.text == f"{HEAD}\nkernel.numa_balancing = 0\n"
    assert keep.was is None


def test_each_file_of_a_pattern_is_a_change_and_those_that_are_good_are_left():
    files = {f"{CPU}/cpu{at}/cpuidle/state3/disable": "0" if at else "1" for at in range(4)} | {
        f"{CPU}/cpu0/cpuidle/state3/latency": "133",
        f"{CPU}/cpu0/cpuidle/state1/latency": "2",
    }
    files[f"{CPU}/cpu0/cpuidle/state3/disable"] = "0"
    files[f"{CPU}/cpu1/cpuidle/state3/disable"] = "1"
    files[f"{CPU}/cpu0/cpuidle/state1/disable"] = "0"
    plan = planned(facts(files), "idle-states", profile="latency")
    assert [one.change.path for one in plan.changes] == [
        f"{CPU}/cpu{at}/cpuidle/state3/disable" for at in (0, 2, 3)
    ]
    assert plan.changes[1].change.id == "idle-states/state3/cpu2"
    assert plan.keeps[0].keep.text.endswith(f"w {CPU}/cpu*/cpuidle/state3/disable - - - - 1\n")


def test_the_governor_of_each_policy_with_what_it_is_coupled_to():
    policy = f"{CPU}/cpufreq/policy{{}}"
    files = {f"{policy.format(at)}/scaling_governor": "powersave" for at in (0, 1)}
    files |= {f"{policy.format(0)}/energy_performance_preference": "balance_performance"}
    plan = planned(facts(files), "cpu-governor")
    assert [one.change.id for one in plan.changes] == [
        "cpu-governor/policy0",
        "cpu-governor/policy1",
    ]
    assert plan.changes[0].change.coupled == (f"{policy.format(0)}/energy_performance_preference",)
    assert plan.changes[1].change.coupled == ()


def test_of_a_snapshot_the_one_file_that_was_read_is_planned():
    path = f"{CPU}/cpufreq/policy0/energy_performance_preference"
    plan = planned(facts({path: "balance_power"}), "energy-preference")
    assert [one.change.path for one in plan.changes] == [path]


def test_a_command_has_the_value_that_the_hardware_can():
    rings = {("ethtool", "-g", "eth1"): RINGS}
    found = facts(NIC, commands=rings)
    plan = planned(found, "ring-rx", allowed=Allowed(link_down=True))
    (one,) = plan.changes
    assert one.change.value == "2048"
    assert one.change.read == ("ethtool", "-g", "eth1")
    assert one.change.section == "Current hardware settings"
    assert one.change.write == ("ethtool", "-G", "eth1", "rx", "{value}")
    assert one.was == "256"
    assert one.link_down
    assert 'RUN+="/sbin/ethtool -G eth1 rx 2048"' in plan.keeps[0].keep.text


@pytest.mark.parametrize(
    ("allowed", "said"),
    [
        (Allowed(), "--allow-link-down"),
        (Allowed(link_down=True, carrying=frozenset({"eth1"})), "carries the connection"),
        (Allowed(link_down=True, carrying=None), "is unknown"),
    ],
)
def test_a_link_stays_up_unless_it_may_go_down_and_is_not_ours(allowed, said):
    plan = planned(facts(NIC), "mtu", allowed=allowed)
    assert not plan.changes
    assert not plan.keeps
    (left,) = plan.by_hand
    assert left.id == "mtu/eth1"
    assert said in left.how


def test_another_link_may_go_down():
    allowed = Allowed(link_down=True, carrying=frozenset({"eth0"}))
    (one,) = planned(facts(NIC), "mtu", allowed=allowed).changes
    assert one.change.path == "/sys/class/net/eth1/mtu"


@pytest.mark.parametrize("name", ["eth*", "-s", "e$(x)", 'e"x', "%k"])
def test_hostile_names_of_interfaces_are_left_alone(name):
    files = {path.replace("eth1", name): text for path, text in NIC.items()}
    plan = planned(facts(files), "mtu", allowed=Allowed(link_down=True))
    assert not plan.changes
    assert not plan.keeps
    assert "its name cannot" in plan.by_hand[0].how


def test_what_is_left_to_people_has_the_command():
    plan = planned(facts({f"{CPU}/smt/active": "1"}), "smt", profile="latency")
    assert not plan.changes
    (left,) = plan.by_hand
    assert left.how.startswith('grubby --update-kernel=ALL --args="nosmt"')


@pytest.mark.parametrize(
    ("system", "image", "said"),
    [
        ("rhel", False, "grubby --update-kernel=ALL"),
        ("ubuntu", False, "update-grub"),
        ("sles", False, "pbl --add-option"),
        ("rhel", True, "kargs"),
        (None, False, "grubby"),
    ],
)
def test_kernel_arguments_by_system(system, image, said):
    text = added("iommu=pt", system, image=image)
    assert said in text
    assert "iommu=pt" in text


def test_a_driver_that_fixes_a_value_is_not_asked():
    features = {("ethtool", "-k", "eth1"): "Features for eth1:\nscatter-gather: off [fixed]\n"}
    plan = planned(facts(NIC, commands=features), "offload-sg")
    assert not plan.changes
    assert "[fixed]" in plan.by_hand[0].how


def test_a_value_of_ones_own_is_set_though_the_setting_is_good():
    plan = planned(facts({"/proc/sys/vm/swappiness": "1"}), "swappiness=7")
    assert [one.change.value for one in plan.changes] == ["7"]
    assert not planned(facts({"/proc/sys/vm/swappiness": "7"}), "swappiness=7").changes


def test_a_value_in_seconds_brings_its_milliseconds():
    """gc_min_interval reads 0 for 500 ms: 0 written back would be 0 ms."""
    path = "/proc/sys/net/ipv6/route/gc_min_interval"
    files = facts({path: "0", f"{path}_ms": "500"})
    assert planned(files, "net.ipv6.route.gc_min_interval=1").changes[0].change.coupled == (
        f"{path}_ms",
    )
    assert planned(files, "net.ipv6.route.gc_min_interval_ms=9").changes[0].change.coupled == (
        path,
    )


def test_a_sysctl_by_its_name_brings_its_coupled_file():
    vm = "/proc/sys/vm/dirty_"
    plan = planned(facts({f"{vm}bytes": "0", f"{vm}ratio": "20"}), "vm.dirty_bytes=1000000")
    (one,) = plan.changes
    assert one.change.coupled == (f"{vm}ratio",)
    assert plan.keeps[0].keep.text.endswith("vm.dirty_bytes = 1000000\n")


def test_what_is_not_there_is_said():
    plan = planned(facts({}), "net.core.no_such=1")
    assert not plan.changes
    assert "no_such" in plan.notes[0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mtu/eth1=9000", Named("mtu", "eth1", "9000")),
        ("mtu", Named("mtu")),
        ("vm.swappiness=1", Named("", value="1", path="/proc/sys/vm/swappiness")),
        (
            "net/ipv4/conf/eth0.7/rp_filter=2",
            Named("", value="2", path="/proc/sys/net/ipv4/conf/eth0.7/rp_filter"),
        ),
        ("/sys/kernel/mm/ksm/run=0", Named("", value="0", path="/sys/kernel/mm/ksm/run")),
    ],
)
def test_names(text, found):
    assert named(text, KNOWN) == found


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["swapiness"], "did you mean swappiness"),
        (["swappiness="], "needs a value"),
        (["swappiness=a\nb"], "needs a value"),
        (["/etc/passwd=1"], "not a file below"),
        (["/sys/../etc/passwd=1"], "not a file below"),
        (["/sys/kernel/mm/ksm/run"], "give a value"),
        (["mtu=1", "mtu=2"], "given twice"),
        (["vm.swappiness"], "give a value"),
    ],
)
def test_bad_names_are_one_sentence(texts, said):
    with pytest.raises(BadInput, match=said):
        named_all(texts, KNOWN)


@pytest.mark.parametrize(
    "asked",
    [
        "net.ipv4.ip_forward=1",
        "net.ipv6.conf.all.ignore_routes_with_linkdown=1",
        "net.ipv6.conf.eth1.disable_ipv6=1",
        "net.ipv6.conf.eth1.forwarding=1",
        "/sys/class/net/eth9/mtu=1000",
    ],
)
def test_what_cannot_be_taken_back_whole_is_not_planned(asked):
    with pytest.raises(BadInput, match=r"cannot (all )?be restored\. Change it by hand"):
        planned(facts(), asked)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("kernel.core_pattern=|/x", "is no setting"),
        ("/sys/bus/usb/devices/1-1/authorized=0", "takes a device"),
        ("/sys/bus/pci/slots/3/power=0", "takes a device"),
        ("/sys/class/net/eth1/device/power/control=auto", "switched off"),
    ],
)
def test_what_apply_refuses_is_not_planned(asked, why):
    path = asked.partition("=")[0].replace("kernel.", "/proc/sys/kernel/")
    with pytest.raises(BadInput, match=why):
        planned(facts({path: "1"}), asked)


def test_a_low_mtu_of_a_named_setting_is_not_planned_either():
    """It was "nothing to change", with status 0."""
    with pytest.raises(BadInput, match=r"cannot be restored\. Change it by hand"):
        planned(facts(NIC), "mtu/eth1=1000")


def test_a_drop_in_keeps_the_lines_of_earlier_sets_and_replaces_its_own():
    now = f"{HEAD}\n# mine\nvm.swappiness = 20\nvm.stat_interval = 10\n"
    text = merged(SYSCTL, now, ["vm.swappiness = 10", "kernel.numa_balancing = 0"])
    assert text == (
        f"{HEAD}\n# mine\nvm.swappiness = 10\nvm.stat_interval = 10\nkernel.numa_balancing = 0\n"
    )
    assert merged(SYSCTL, text, ["vm.swappiness = 10"]) == text


def test_a_plan_is_stale_when_a_value_or_a_drop_in_has_moved():
    before = {"/proc/sys/vm/swappiness": "60"}
    plan = planned(facts(before), "swappiness")
    assert moved(plan, facts(before)) == ""
    assert "was '60'" in moved(plan, facts({"/proc/sys/vm/swappiness": "30"}))
    assert SYSCTL in moved(plan, facts({**before, SYSCTL: "vm.swappiness = 5\n"}))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("swappiness", "swappiness needs no change here"),
        ("swappiness=10", "swappiness already has the value 10"),
        ("mtu/eth9=9000", "mtu/eth9 cannot be set here"),
        ("kernel-release=6", "kernel-release cannot be set here"),
    ],
)
def test_what_was_asked_for_and_is_not_changed_is_said(asked, said):
    plan = planned(facts(NIC, {"/proc/sys/vm/swappiness": "10"}), asked)
    assert not plan.changes
    assert plan.notes == [said]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("mtu/eht1=9000", "no host has mtu/eht1; the hosts have mtu/eth1."),
        ("swappiness/eth1=9", "swappiness applies to the host as a whole"),
        ("cpu-governor/policy0=x", "nor another cpu-governor"),
        ("vm.none_such=1", "no host has the file /proc/sys/vm/none_such."),
        ("mtu/eth1=9000", ""),
        ("vm.swappiness=1", ""),
        ("vm.not_asked_for=1", ""),  # nothing is known of it
    ],
)
def test_what_no_host_has_is_a_wrong_name(asked, said):
    found = facts(NIC, {"/proc/sys/vm/swappiness": "10"})
    path = "/proc/sys/vm/none_such"
    found.files[path] = FactFrame(rank=0, kind="file", status="missing", path=path, text="")
    wrong = nowhere([machine_of(found)], KNOWN, named_all([asked], KNOWN))
    assert (said in wrong) if said else not wrong


def test_a_file_is_not_asked_for_by_two_names():
    with pytest.raises(BadInput, match="the same file"):
        planned(facts({"/proc/sys/vm/swappiness": "60"}), "swappiness=4", "vm.swappiness=3")


@pytest.mark.parametrize("theirs", ["crlf\r\n", "# \x1b[2J", "caf\ufffd", "x" * 65537])
def test_a_drop_in_that_is_no_text_is_named_and_left(theirs):
    plan = planned(facts({"/proc/sys/vm/swappiness": "60", SYSCTL: theirs}), "swappiness")
    assert plan.changes
    assert not plan.keeps
    assert [note for note in plan.notes if SYSCTL in note and "nothing is written" in note]


@pytest.mark.parametrize("value", ["abc", "1 2", "1e3", "0x", "9k"])
def test_a_setting_that_is_a_number_takes_no_other_value(value):
    with pytest.raises(BadInput, match="must be a number"):
        named(f"swappiness={value}", KNOWN)


@pytest.mark.parametrize(
    ("path", "theirs", "ours"),
    [
        (SYSCTL, "vm.swappiness=8", "vm.swappiness = 9"),
        (SYSCTL, "-vm/swappiness\t=  8", "vm.swappiness = 9"),
        (DROP_INS[0], "options  hfi1\tkrcvqs=2", "options hfi1 krcvqs=4"),
        (DROP_INS[1], "*\t-\tmemlock\tunlimited", "* - memlock 1"),
        (DROP_INS[3], "w  /sys/x  -  - - -  1", "w /sys/x - - - - 2"),
    ],
)
def test_a_line_that_was_edited_by_hand_is_replaced(path, theirs, ours):
    assert merged(path, f"# site\n{theirs}\n", [ours]) == f"# site\n{ours}\n"


def test_what_is_asked_besides():
    machine = machine_of(facts({f"{CPU}/cpu0/cpufreq/scaling_max_freq": "1000000"}))
    asked = requests_of(wishes_of(machine, KNOWN, "throughput", named_all(["turbo"], KNOWN)))
    assert [one.path for one in asked] == list(DROP_INS)
