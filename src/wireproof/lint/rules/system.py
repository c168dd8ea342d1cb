"""Rules for limits, interrupts, mounts, package repositories, and for any configuration file."""

from __future__ import annotations

from wireproof.lint.rule import Kind, Rule

__all__ = ["CONFIGURATION_FILES", "RULES"]

_LIMITS_KINDS: tuple[Kind, ...] = ("limits", "script", "unknown")
_LIMITS_MAN = "limits.conf(5)"
_IRQBALANCE_KINDS: tuple[Kind, ...] = ("irqbalance", "script", "unknown")
_IRQBALANCE_MAN = "irqbalance(1)"
_MOUNTS_KINDS: tuple[Kind, ...] = ("fstab", "script", "unknown")
_REPOSITORY_KINDS: tuple[Kind, ...] = ("repository", "script", "unknown")
_DNF = "dnf.conf(5), REPO OPTIONS"
CONFIGURATION_FILES: tuple[Kind, ...] = (
    *("modprobe", "sysctl", "limits", "ifcfg", "keyfile", "irqbalance"),
    *("kernel-command-line", "repository", "fstab", "hosts"),
)

RULES: tuple[Rule, ...] = (
    Rule(
        "limits-columns",
        "The line has not the four columns domain, type, item, value.",
        "pam_limits ignores the line, and the default limit stays.",
        "* soft memlock unlimited",
        _LIMITS_MAN,
        _LIMITS_KINDS,
    ),
    Rule(
        "limits-word",
        "Type, item or value is no word that pam_limits knows.",
        "pam_limits ignores the line, and the default limit stays.",
        "soft, hard or -; memlock; a number of KiB or unlimited",
        _LIMITS_MAN,
        _LIMITS_KINDS,
    ),
    Rule(
        "limits-memlock-low",
        "The limit of locked memory is low.",
        "RDMA libraries lock their buffers: one process of PSM3 needs tens of MiB, and more for "
        "messages.",
        "* soft memlock unlimited and * hard memlock unlimited",
        "Open MPI FAQ (locked memory), libfabric psm3",
        _LIMITS_KINDS,
        setting="limit-memlock",
    ),
    Rule(
        "limits-memlock-half",
        "memlock is set for only one of soft and hard.",
        "soft is what a process gets, hard what soft may reach: one alone leaves the low default "
        "in force.",
        "* - memlock unlimited, or a soft and a hard line",
        _LIMITS_MAN,
        _LIMITS_KINDS,
        setting="limit-memlock",
    ),
    Rule(
        "irqbalance-option",
        "irqbalance has no such option.",
        "The daemon does not start, or ignores the wish: interrupts stay where they are.",
        "IRQBALANCE_ARGS=--hintpolicy=exact",
        _IRQBALANCE_MAN,
        _IRQBALANCE_KINDS,
        safe=True,
        setting="irqbalance",
    ),
    Rule(
        "irqbalance-policy",
        "hintpolicy takes exact, subset or ignore.",
        "Another word is refused, and the driver's hints are not obeyed.",
        "IRQBALANCE_ARGS=--hintpolicy=exact",
        _IRQBALANCE_MAN,
        _IRQBALANCE_KINDS,
        setting="irqbalance",
    ),
    Rule(
        "irqbalance-commented",
        "The wish is commented out and no other line says it.",
        "irqbalance runs with its default policy and moves the adapter's interrupts.",
        "IRQBALANCE_ARGS=--hintpolicy=exact without # before it",
        _IRQBALANCE_MAN,
        ("irqbalance",),
        severity="warning",
        setting="irqbalance",
    ),
    Rule(
        "irqbalance-hintpolicy",
        "--hintpolicy is an option of irqbalance before 1.2 only.",
        "Newer ones stop at an option that they do not know, and no interrupt is spread: the "
        "drivers place theirs themselves.",
        "--hintpolicy=exact with hfi1 on RHEL 7, and no such option on newer systems",
        "irqbalance 1.2.0: irqbalance(1) no longer has the option",
        _IRQBALANCE_KINDS,
        severity="warning",
        setting="irqbalance",
    ),
    Rule(
        "irqbalance-name",
        "The daemon reads no such variable.",
        "The line is ignored.",
        "IRQBALANCE_ARGS=…",
        "irqbalance(1), irqbalance.service",
        _IRQBALANCE_KINDS,
        safe=True,
        setting="irqbalance",
    ),
    Rule(
        "fstab-columns",
        "The line has not the columns device, folder, type, options, dump, pass.",
        "mount takes the wrong word as type or options: the folder is not mounted after the "
        "reboot.",
        "10.10.1.10:/opt/intel /opt/intel nfs nfsvers=3,nodev,nosuid 0 0",
        "fstab(5)",
        _MOUNTS_KINDS,
    ),
    Rule(
        "fstab-nfs",
        "An NFS source is SERVER:/FOLDER, with options that nfs knows.",
        "The mount fails at boot, and with it the programs on all nodes.",
        "10.10.1.10:/opt/intel /opt/intel nfs nfsvers=3,nodev,nosuid 0 0",
        "nfs(5)",
        _MOUNTS_KINDS,
    ),
    Rule(
        "exports-space",
        "There is a space between the host and its options.",
        "The options then belong to everybody: the named host gets the defaults, the world gets "
        "what was meant for it.",
        "/opt/intel 10.10.1.0/24(ro,no_subtree_check)",
        "exports(5)",
        _MOUNTS_KINDS,
    ),
    Rule(
        "exports-option",
        "exportfs knows no such option.",
        "exportfs refuses the line, and the folder is not exported.",
        "ro, rw, sync, no_subtree_check, no_root_squash, fsid=13",
        "exports(5)",
        _MOUNTS_KINDS,
    ),
    Rule(
        "exports-fsid-twice",
        "Two folders have one fsid.",
        "The server answers for one folder with the other.",
        "a different fsid for each exported folder",
        "exports(5)",
        _MOUNTS_KINDS,
    ),
    Rule(
        "repository-address",
        "This is no address of a repository.",
        "dnf finds no metadata there, and the packages do not come.",
        "baseurl=https://yum.repos.intel.com/oneapi, without markup; the key's address belongs to "
        "gpgkey=",
        _DNF,
        _REPOSITORY_KINDS,
    ),
    Rule(
        "repository-option",
        "Repositories have no option of this name.",
        "dnf ignores the line.",
        "name, baseurl, enabled, gpgcheck, gpgkey",
        _DNF,
        _REPOSITORY_KINDS,
        safe=True,
    ),
    Rule(
        "repository-section",
        "A repository needs its own [name], baseurl (or mirrorlist, metalink).",
        "dnf skips the file, or the second section of one name replaces the first.",
        "[oneAPI] and under it name= and baseurl=",
        _DNF,
        ("repository",),
    ),
    Rule(
        "file-typography",
        "Typographic quotes, dashes or spaces are used where ASCII is needed.",
        "Programs take them as part of the word: the value is wrong, or the line is refused.",
        "-, \" and ' and the plain space",
        "the manual page of each file",
        (*CONFIGURATION_FILES, "script"),
        safe=True,
    ),
    Rule(
        "drop-in-name",
        "Files in this folder are read only when their name ends in .conf.",
        "The whole file is silently ignored.",
        "/etc/sysctl.d/90-fabric.conf",
        "sysctl.d(5), modprobe.d(5), pam_limits(8)",
        ("modprobe", "sysctl", "limits"),
    ),
)
