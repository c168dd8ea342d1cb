"""Rules of the kernel's command line."""

from __future__ import annotations

from wireproof.lint.rule import Kind, Rule

__all__ = ["RULES"]

KINDS: tuple[Kind, ...] = ("kernel-command-line", "script", "unknown")
KERNEL = "Linux Documentation/admin-guide/kernel-parameters"

RULES = (
    Rule(
        "grub-unquoted",
        "A value with spaces stands without quotes.",
        "/etc/default/grub is read by the shell: only the first word becomes the value, the others are commands.",
        'GRUB_CMDLINE_LINUX="console=tty0 crashkernel=auto"',
        "GNU GRUB manual, Simple configuration handling",
        KINDS,
        safe=True,
    ),
    Rule(
        "grub-name",
        "GRUB reads no such variable.",
        "The line is ignored, and the kernel starts without these parameters.",
        "GRUB_CMDLINE_LINUX or GRUB_CMDLINE_LINUX_DEFAULT",
        "GNU GRUB manual, Simple configuration handling",
        KINDS,
        safe=True,
    ),
    Rule(
        "kernel-pstate-disabled",
        "intel_pstate=disable is superseded.",
        "It was advice for RHEL 7 on 2014's processors; later guides keep intel_pstate (hardware P-states) with the "
        "performance governor, and FastFabric's host check expects it.",
        "no intel_pstate parameter and cpupower frequency-set -g performance (intel_pstate=passive to set frequencies)",
        "Linux Documentation/admin-guide/pm/intel_pstate; FastFabric hostverify",
        KINDS,
        severity="warning",
    ),
    Rule(
        "kernel-idle",
        "The processors never rest.",
        "idle=poll keeps every hardware thread busy: turbo is lost and a sibling thread is slowed; "
        "intel_idle.max_cstate=0 alone only hands over to acpi_idle, which goes as deep.",
        "processor.max_cstate=1 intel_idle.max_cstate=1, or tuned's latency-performance",
        KERNEL,
        KINDS,
        severity="warning",
    ),
    Rule(
        "kernel-iommu",
        "This is no value of the IOMMU's parameter.",
        "The kernel ignores it: the IOMMU stays as it was, and each transfer of the adapter may be translated.",
        "intel_iommu=on iommu=pt, or amd_iommu is on by itself and iommu=pt",
        KERNEL,
        KINDS,
    ),
    Rule(
        "kernel-hugepages-order",
        "hugepages= stands before the hugepagesz= that it is meant for.",
        "A count belongs to the size before it: here it reserves pages of the default size.",
        "default_hugepagesz=1G hugepagesz=1G hugepages=16",
        "Linux Documentation/admin-guide/mm/hugetlbpage",
        KINDS,
    ),
    Rule(
        "kernel-unknown-parameter",
        "No kernel parameter of this name is known.",
        "The kernel ignores it and hands it to init.",
        "a name from the kernel's list of parameters",
        KERNEL,
        KINDS,
    ),
    Rule(
        "kernel-parameter-twice",
        "One parameter is given two values.",
        "The last one wins.",
        "each of these parameters once",
        KERNEL,
        KINDS,
    ),
)
