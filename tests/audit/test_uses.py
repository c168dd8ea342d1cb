"""What is right for one use, processor or release is wrong for another, as the sources say."""

import json

import pytest
from tests.audit.test_conditions import HFI1_PARAMETERS, OPA, ROCE, status
from tests.audit.trees import cpu

AER = "/sys/class/net/eth0/device/aer_dev_correctable"
STORAGE = {f"{HFI1_PARAMETERS}/sge_copy_mode": "2"}
CONTEXTS = "/sys/class/infiniband/hfi1_0/nctxts"
PORT_CONTEXTS = "/sys/class/infiniband/hfi1_0/ports/1/nctxts"
USER_CONTEXTS = f"{HFI1_PARAMETERS}/num_user_contexts"
GUEST = {
    "/proc/cpuinfo": "vendor_id\t: GenuineIntel\nflags\t\t: fpu hypervisor\n",
    "/proc/meminfo": "MemTotal: 67108864 kB\nSwapTotal: 8388608 kB\n",
}
BIG = {"/proc/meminfo": "MemTotal: 134217728 kB\nSwapTotal: 0 kB\n"}
MAX_PERCENT = "/sys/devices/system/cpu/intel_pstate/max_perf_pct"
MIN_FREE = "/proc/sys/vm/min_free_kbytes"
THP = "/sys/kernel/mm/transparent_hugepage/enabled"
SERVER_POWERSAVE = "Current active profile: server-powersave"
IDLE_DRIVER = "/sys/devices/system/cpu/cpuidle/current_driver"
FUGAKU = {"/proc/cpuinfo": "processor\t: 0\nCPU implementer\t: 0x46\n"}
XEON = {"/proc/cpuinfo": cpu("GenuineIntel", 6, 143)}
MI300A = {"/proc/cpuinfo": cpu("AuthenticAMD", 0x19, 0x90)}
BMC = {"bios": '{"attributes": {"Preferred IO": "Disabled"}}'}
HPC_PROFILE = {
    "C States": "Disabled",
    "Processor C6": "Disabled",
    "SNC (Sub NUMA)": "Enabled",
    "Uncore Frequency Scaling": "Disabled",
    "Perf P Limit": "Disabled",
    "cTDP Control": "Manual",
}
NO_STATES = {"bios": json.dumps({"attributes": HPC_PROFILE})}
OSB = {"bios": '{"attributes": {"Snoop Mode": "Opportunistic Snoop Broadcast"}}'}
HASWELL = {"/proc/cpuinfo": cpu("GenuineIntel", 6, 63)}
SOCKETS = {f"/sys/devices/system/cpu/cpu{n}/topology/physical_package_id": str(n) for n in (0, 1)}


@pytest.mark.parametrize(
    ("name", "texts", "expected"),
    [
        ("aer-errors", ROCE | {AER: "TOTAL_ERR_COR 1"}, "pass"),
        ("aer-errors", ROCE | {AER: "TOTAL_ERR_COR 101"}, "fail"),
        ("hfi1-piothreshold", OPA | STORAGE | {f"{HFI1_PARAMETERS}/piothreshold": "0"}, "pass"),
        ("hfi1-wss-threshold", OPA | STORAGE | {f"{HFI1_PARAMETERS}/wss_threshold": "70"}, "pass"),
        ("hfi1-wss-threshold", OPA | {f"{HFI1_PARAMETERS}/wss_threshold": "60"}, "fail"),
        ("hfi1-user-contexts", OPA | {CONTEXTS: "90"}, "fail"),
        ("hfi1-cap-mask", OPA | {f"{HFI1_PARAMETERS}/cap_mask": "0x4c09a08cb9a"}, "pass"),
        ("hfi1-cap-mask", OPA | {f"{HFI1_PARAMETERS}/cap_mask": "0x4c09a48cb9a"}, "fail"),
        ("hfi1-num-user-contexts", OPA | {USER_CONTEXTS: "0"}, "fail"),
        ("hfi1-num-user-contexts", OPA | {USER_CONTEXTS: "0,96"}, "pass"),
        ("hfi1-num-user-contexts", OPA | {USER_CONTEXTS: "4294967295"}, "pass"),
        ("hfi1-link-crc-mask", OPA | {f"{HFI1_PARAMETERS}/link_crc_mask": "1"}, "fail"),
        ("hfi1-user-contexts", OPA | {PORT_CONTEXTS: "96"}, "pass"),
        ("idle-driver", FUGAKU | {IDLE_DRIVER: "none"}, "pass"),
        ("swappiness", GUEST | {"/proc/sys/vm/swappiness": "30"}, "pass"),
        ("swappiness", GUEST | {"/proc/sys/vm/swappiness": "60"}, "fail"),
        ("min-free-memory", BIG | {MIN_FREE: "46340", THP: "always madvise [never]"}, "pass"),
        ("min-free-memory", BIG | {MIN_FREE: "46340", THP: "[always] madvise never"}, "fail"),
        ("tuned-profile", {"tuned-adm active": SERVER_POWERSAVE}, "fail"),
        ("clock-percent", XEON | {MAX_PERCENT: "60"}, "fail"),
        ("clock-percent", XEON | {MAX_PERCENT: "100"}, "pass"),
        ("idle-driver", XEON | {IDLE_DRIVER: "none"}, "fail"),
        ("bios-preferred-io", MI300A | BMC, "not-applicable"),
        ("bios-c-states", XEON | NO_STATES, "pass"),
        ("bios-c-states", HASWELL | NO_STATES, "fail"),
        ("bios-c6", XEON | NO_STATES, "pass"),
        ("bios-c6", HASWELL | NO_STATES, "fail"),
        ("bios-cluster-on-die", XEON | NO_STATES, "pass"),
        ("bios-uncore-scaling", XEON | NO_STATES, "pass"),
        ("bios-p-limit", XEON | SOCKETS | NO_STATES, "pass"),
        ("bios-configurable-tdp", XEON | NO_STATES, "pass"),
        ("bios-early-snoop", HASWELL | OSB, "pass"),
        ("hfi1-user-contexts", OPA | {CONTEXTS: "160"}, "pass"),
    ],
)
def test_a_value_has_the_limits_of_its_use(name: str, texts: dict[str, str], expected: str) -> None:
    assert status(name, texts) == expected
