"""Rules for what the kernel is given: modprobe.d, sysctl.d and its command line."""

from __future__ import annotations

from wireproof.lint.rule import Kind, Rule

__all__ = ["RULES"]

_MODPROBE_KINDS: tuple[Kind, ...] = ("modprobe", "script", "unknown")
_MODPROBE_MAN = "modprobe.d(5)"
_HFI1 = "hfi1 driver: modinfo hfi1"
_SYSCTL_KINDS: tuple[Kind, ...] = ("sysctl", "script", "unknown")
_SYSCTL_DOCUMENT = "Linux Documentation/networking/ip-sysctl and Documentation/admin-guide/sysctl"
_SYSCTL_MAN = "sysctl.d(5), sysctl.conf(5)"
_COMMAND_LINE_KINDS: tuple[Kind, ...] = ("kernel-command-line", "script", "unknown")
_COMMAND_LINE_KERNEL = "Linux Documentation/admin-guide/kernel-parameters"

RULES: tuple[Rule, ...] = (
    Rule(
        "modprobe-module-repeated",
        "The module's name is repeated among its parameters.",
        "The repeated name is handed to the driver as a parameter that it does not know, and is "
        "ignored or refused.",
        "options MODULE first=1 second=2: the name once, then its parameters",
        _MODPROBE_MAN,
        _MODPROBE_KINDS,
        safe=True,
    ),
    Rule(
        "modprobe-unknown-parameter",
        "No release of this module has a parameter of this name.",
        "The kernel ignores it with one line in dmesg, and the setting never takes effect.",
        "options MODULE PARAMETER=VALUE with a name that modinfo -p MODULE lists",
        "modinfo of hfi1, rv, irdma, ib_ipoib, mlx4_core, mlx5_core",
        _MODPROBE_KINDS,
    ),
    Rule(
        "modprobe-value-range",
        "The value is outside what the driver takes.",
        "The driver refuses to load or falls back to its default.",
        "a value that modinfo and the driver's init code allow",
        _HFI1,
        _MODPROBE_KINDS,
    ),
    Rule(
        "modprobe-queues-per-lane",
        "krcvqs does not name one value for each virtual lane.",
        "Values are given by position: a lane without one has no receive queue of its own, values "
        "beyond num_vls are not used.",
        "options hfi1 krcvqs=3,3,3,3,3,3,3,3 for num_vls=8",
        _HFI1,
        _MODPROBE_KINDS,
        setting="hfi1-krcvqs",
    ),
    Rule(
        "modprobe-parameter-spaces",
        "There is a space where name=value must be one word.",
        "modprobe splits at spaces: name and value arrive as two parameters.",
        "options MODULE name=value, lists as name=1,2,3",
        _MODPROBE_MAN,
        _MODPROBE_KINDS,
        safe=True,
    ),
    Rule(
        "modprobe-parameter-twice",
        "One parameter is given two values.",
        "Only one of the two values takes effect (the later word on the line), the other is a "
        "trap for the reader.",
        "each parameter once",
        _MODPROBE_MAN,
        _MODPROBE_KINDS,
    ),
    Rule(
        "modprobe-unknown-command",
        "modprobe.d has no such command.",
        "modprobe ignores the line with a warning, so the setting never takes effect.",
        "options, blacklist, alias, install, remove, softdep or weakdep",
        _MODPROBE_MAN,
        _MODPROBE_KINDS,
    ),
    Rule(
        "modprobe-loopback",
        "The adapter is put into loopback.",
        "Nothing reaches the fabric: loopback is a self-test of the port.",
        "options hfi1 without loopback",
        _HFI1,
        _MODPROBE_KINDS,
        setting="hfi1-loopback",
    ),
    Rule(
        "sysctl-unknown-name",
        "The kernel has no setting of this name.",
        "sysctl says 'cannot stat' or 'unknown key' at boot and nothing is set.",
        "a name that exists below /proc/sys",
        _SYSCTL_DOCUMENT,
        _SYSCTL_KINDS,
    ),
    Rule(
        "sysctl-three-values",
        "This setting takes three ascending numbers: minimum, default, maximum.",
        "The kernel refuses the write or takes a window that is not the one that was meant.",
        "net.ipv4.tcp_rmem = 4096 131072 16777216",
        _SYSCTL_DOCUMENT,
        _SYSCTL_KINDS,
    ),
    Rule(
        "sysctl-value-form",
        "The value is not a plain number.",
        "The kernel takes no quotes, commas or unit letters: it answers 'Invalid argument' and "
        "keeps the old value.",
        "net.core.rmem_max = 16777216",
        _SYSCTL_DOCUMENT,
        _SYSCTL_KINDS,
        safe=True,
    ),
    Rule(
        "sysctl-value-range",
        "The value is outside what the setting takes.",
        "The kernel answers 'Invalid argument' and keeps the old value, or TCP is crippled.",
        "a value within the documented range",
        _SYSCTL_DOCUMENT,
        _SYSCTL_KINDS,
    ),
    Rule(
        "sysctl-maximum-below",
        "net.core.*mem_max is below the maximum of net.ipv4.tcp_*mem in the same file.",
        "Programs that set their own buffers (iperf3 -w, qperf) are held to net.core.*mem_max, "
        "and measure less than TCP's own tuning would reach.",
        "net.core.rmem_max at least the third number of net.ipv4.tcp_rmem",
        "tcp(7), socket(7) SO_RCVBUF",
        _SYSCTL_KINDS,
        severity="warning",
        setting="rmem-max",
    ),
    Rule(
        "sysctl-removed",
        "The kernel no longer obeys this setting.",
        "It does nothing, or is an error at each boot.",
        "leave the line out",
        _SYSCTL_DOCUMENT,
        _SYSCTL_KINDS,
        severity="warning",
    ),
    Rule(
        "sysctl-comment-after-value",
        "A comment follows the value.",
        "Comments are lines of their own: here the text becomes part of the value.",
        "the comment on a line above",
        _SYSCTL_MAN,
        _SYSCTL_KINDS,
        severity="warning",
        safe=True,
    ),
    Rule(
        "sysctl-twice",
        "One setting is given two values.",
        "The last one wins, whatever the first one says.",
        "each setting once",
        _SYSCTL_MAN,
        _SYSCTL_KINDS,
    ),
    Rule(
        "sysctl-not-a-setting",
        "The line is no name = value.",
        "sysctl skips it, and nothing is set.",
        "net.core.rmem_max = 16777216, without 'sysctl -w' and with '='",
        _SYSCTL_MAN,
        _SYSCTL_KINDS,
        safe=True,
    ),
    Rule(
        "grub-unquoted",
        "A value with spaces is not quoted.",
        "/etc/default/grub is read by the shell: only the first word becomes the value, the "
        "others are commands.",
        'GRUB_CMDLINE_LINUX="console=tty0 crashkernel=auto"',
        "GNU GRUB manual, Simple configuration handling",
        _COMMAND_LINE_KINDS,
        safe=True,
    ),
    Rule(
        "grub-name",
        "GRUB reads no such variable.",
        "The line is ignored, and the kernel starts without these parameters.",
        "GRUB_CMDLINE_LINUX or GRUB_CMDLINE_LINUX_DEFAULT",
        "GNU GRUB manual, Simple configuration handling",
        _COMMAND_LINE_KINDS,
        safe=True,
    ),
    Rule(
        "kernel-pstate-disabled",
        "intel_pstate=disable is superseded.",
        "It was advice for RHEL 7 on 2014's processors; later guides keep intel_pstate (hardware "
        "P-states) with the performance governor, and FastFabric's host check expects it.",
        "no intel_pstate parameter and cpupower frequency-set -g performance "
        "(intel_pstate=passive to set frequencies)",
        "Linux Documentation/admin-guide/pm/intel_pstate; FastFabric hostverify",
        _COMMAND_LINE_KINDS,
        severity="warning",
        setting="scaling-driver",
    ),
    Rule(
        "kernel-idle",
        "The processors never rest.",
        "idle=poll keeps every hardware thread busy: turbo is lost and a sibling thread is slowed; "
        "intel_idle.max_cstate=0 alone only hands over to acpi_idle, which goes as deep.",
        "processor.max_cstate=1 intel_idle.max_cstate=1, or tuned's latency-performance",
        _COMMAND_LINE_KERNEL,
        _COMMAND_LINE_KINDS,
        severity="warning",
        setting="idle-states",
    ),
    Rule(
        "kernel-iommu",
        "This is no value of the IOMMU's parameter.",
        "The kernel ignores it: the IOMMU stays as it was, and each transfer of the adapter may "
        "be translated.",
        "intel_iommu=on iommu=pt, or amd_iommu is on by itself and iommu=pt",
        _COMMAND_LINE_KERNEL,
        _COMMAND_LINE_KINDS,
        setting="iommu-mode",
    ),
    Rule(
        "kernel-hugepages-order",
        "hugepages= comes before the hugepagesz= that it belongs to.",
        "A count belongs to the size before it: here it reserves pages of the default size.",
        "default_hugepagesz=1G hugepagesz=1G hugepages=16",
        "Linux Documentation/admin-guide/mm/hugetlbpage",
        _COMMAND_LINE_KINDS,
        setting="reserved-huge-pages",
    ),
    Rule(
        "kernel-unknown-parameter",
        "No kernel parameter of this name is known.",
        "The kernel ignores it and hands it to init.",
        "a name from the kernel's list of parameters",
        _COMMAND_LINE_KERNEL,
        _COMMAND_LINE_KINDS,
        setting="kernel-arguments",
    ),
    Rule(
        "kernel-parameter-twice",
        "One parameter is given two values.",
        "The last one wins.",
        "each of these parameters once",
        _COMMAND_LINE_KERNEL,
        _COMMAND_LINE_KINDS,
        setting="kernel-arguments",
    ),
)
