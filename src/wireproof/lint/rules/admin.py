"""Rules for the commands by which a cluster is set up."""

from __future__ import annotations

from wireproof.lint.rule import Kind, Rule

__all__ = ["RULES"]

_COMMANDS: tuple[Kind, ...] = ("script", "unknown")


RULES: tuple[Rule, ...] = (
    Rule(
        "ping-count",
        "The option takes the address as its value, so that no host is left.",
        "ping answers 'bad number of packets' or 'destination address required' and tests nothing.",
        "ping -c 3 10.10.100.22",
        "ping(8)",
        _COMMANDS,
        safe=True,
    ),
    Rule(
        "command-address",
        "This is no address, or its prefix length is missing or impossible.",
        "The command is refused; without a length ip makes a /32, to which no neighbour belongs.",
        "ip addr add 10.10.40.21/24 dev enp97s0",
        "ip-address(8), nm-settings(5)",
        _COMMANDS,
    ),
    Rule(
        "command-mtu",
        "The interface cannot have this MTU.",
        "65520 needs IPoIB in connected mode first; Ethernet ends below 10000; the command is "
        "refused or cut short.",
        "echo connected > /sys/class/net/ib0/mode before 65520; 9000 on Ethernet",
        "Linux Documentation/infiniband/ipoib; ip-link(8)",
        _COMMANDS,
        setting="mtu",
    ),
    Rule(
        "ethtool-value",
        "ethtool takes a name and its value as two words.",
        "With '=' between them the name is unknown, and nothing is set.",
        "ethtool -K eth0 tso on",
        "ethtool(8)",
        _COMMANDS,
        safe=True,
    ),
    Rule(
        "nmcli-value",
        "The property takes no such value.",
        "NetworkManager refuses the command.",
        "nmcli con mod ib0 ipv4.method manual ipv4.addresses 10.10.100.21/24",
        "nm-settings-nmcli(5)",
        _COMMANDS,
    ),
    Rule(
        "network-mask-merges",
        "The mask puts networks that are numbered apart into one.",
        "Two interfaces of a node are then in one network: the kernel may send by either of them, "
        "fabric traffic leaves by the management link, and a ping that answers proves nothing.",
        "chdef -t network net40 net=10.10.40.0 mask=255.255.255.0",
        "xCAT networks(5); Linux arp_filter in Documentation/networking/ip-sysctl",
        _COMMANDS,
    ),
    Rule(
        "network-mask",
        "This is no network mask.",
        "The network's definition is refused or covers other addresses than meant.",
        "mask=255.255.255.0",
        "xCAT networks(5)",
        _COMMANDS,
    ),
    Rule(
        "xcat-make",
        "xCAT's commands are one word.",
        "make looks for a Makefile with a rule of this name, and the tables are not built.",
        "makenetworks, makehosts, makedns, makedhcp",
        "xCAT makenetworks(8)",
        _COMMANDS,
        safe=True,
    ),
    Rule(
        "cpupower-option",
        "cpupower does not know the option in this form.",
        "It prints its usage and sets nothing: the clock stays as it was, and so does the spread "
        "of the results.",
        "cpupower -c all frequency-set --min 2.6GHz --max 2.6GHz -g performance",
        "cpupower(1), cpupower-frequency-set(1)",
        _COMMANDS,
        safe=True,
        setting="clock-range",
    ),
    Rule(
        "cpupower-governor",
        "No governor has this name.",
        "The kernel refuses it; governors are written in lower case.",
        "performance, powersave, ondemand, conservative, schedutil or userspace",
        "Linux Documentation/admin-guide/pm/cpufreq",
        _COMMANDS,
        safe=True,
        setting="cpu-governor",
    ),
    Rule(
        "cpupower-order",
        "-c CPUS comes after the subcommand.",
        "It belongs to cpupower itself: behind the subcommand it is an unknown option and nothing "
        "is set.",
        "cpupower -c all frequency-set -g performance",
        "cpupower(1)",
        _COMMANDS,
        setting="cpu-governor",
    ),
    Rule(
        "cpupower-frequency",
        "The lower limit is above the upper one.",
        "The kernel refuses the limits.",
        "--min not above --max",
        "cpupower-frequency-set(1)",
        _COMMANDS,
        setting="clock-range",
    ),
    Rule(
        "tuned-profile",
        "tuned has no profile of this name, or the word 'profile' is missing.",
        "tuned-adm refuses, and the old profile stays.",
        "tuned-adm profile latency-performance",
        "tuned-adm(8), tuned-profiles(7)",
        _COMMANDS,
        setting="tuned-profile",
    ),
    Rule(
        "sysctl-command",
        "A setting and its value are not one word.",
        "sysctl takes each word for a setting of its own: only the first number arrives.",
        "sysctl -w net.ipv4.tcp_rmem='4096 131072 16777216'",
        "sysctl(8)",
        _COMMANDS,
        safe=True,
    ),
    Rule(
        "grub-output",
        "grub2-mkconfig without -o writes to the terminal.",
        "The boot menu stays as it was, and the kernel starts without the new parameters.",
        "grub2-mkconfig -o /boot/grub2/grub.cfg",
        "GNU GRUB manual, Invoking grub-mkconfig",
        _COMMANDS,
    ),
    Rule(
        "long-option-dash",
        "A long option needs two dashes.",
        "With one dash each letter is an option of its own.",
        "dracut --force, grubby --update-kernel=ALL --args=…, systemctl --now",
        "the program's manual page",
        _COMMANDS,
        safe=True,
    ),
    Rule(
        "ipoib-connected-mode",
        "Connected mode is set for the IPoIB interface.",
        "Its 65520 bytes are the IP packet's, not the link's: the fabric's MTU (8192 or 10240) is "
        "set in the subnet manager; connected mode also switches off Omni-Path's accelerated IP "
        "(AIP), and mlx5 on RHEL 8 refuses it.",
        "echo datagram > /sys/class/net/ib0/mode and the MTU of the IPoIB group less 4: 2044, "
        "4092 or 10236",
        "Cornelis CN5000 performance tuning, IPoIB; RHEL Configuring InfiniBand and RDMA "
        "networks, chapter 6",
        _COMMANDS,
        severity="warning",
        setting="ipoib-mode",
    ),
    Rule(
        "echo-value",
        "The file takes no such value.",
        "The write fails with 'Invalid argument', and the setting stays as it was.",
        "echo performance, echo datagram, echo connected",
        "Linux Documentation/admin-guide/pm/cpufreq, Documentation/infiniband/ipoib",
        _COMMANDS,
    ),
    Rule(
        "echo-sudo",
        "sudo is given to echo, and the file is opened without it.",
        "The shell of the user opens the file before sudo starts: Permission denied.",
        "echo connected | sudo tee /sys/class/net/ib0/mode",
        "sudo(8), the example with redirection",
        _COMMANDS,
    ),
    Rule(
        "echo-many",
        "The output goes to a pattern of several files.",
        "bash calls it an ambiguous redirect, and nothing is written.",
        "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
        "bash(1), REDIRECTION",
        _COMMANDS,
    ),
    Rule(
        "repository-command",
        "The address of the repository is mangled or is that of a key.",
        "dnf adds a repository that does not exist, or the shell takes the markup for "
        "redirections.",
        "dnf config-manager --add-repo https://yum.repos.intel.com/oneapi, and rpm --import for "
        "the key",
        "dnf config-manager, --add-repo; Intel oneAPI installation guide, dnf",
        _COMMANDS,
    ),
    Rule(
        "package-psm1",
        "infinipath-psm is PSM 1, the library of True Scale.",
        "Omni-Path's adapters need PSM 2 or OPX: MPI finds no fabric and falls back to TCP.",
        "dnf install libpsm2",
        "Intel Omni-Path host software release notes; infinipath-psm package description",
        _COMMANDS,
        severity="warning",
    ),
    Rule(
        "service-name",
        "No service has this name.",
        "Systemctl answers that the unit does not exist, and nothing starts at boot.",
        "opafm, opensm, rdma, irqbalance, tuned, nfs-server",
        "the packages' unit files",
        _COMMANDS,
    ),
    Rule(
        "fabric-manager-place",
        "The fabric manager is switched on by opaconfig, which starts it only at the next boot of "
        "this node.",
        "The manager must run on a node whose adapter is cabled to that fabric: without it the "
        "ports stay in Init and "
        "carry no data; a head node without a link to the compute nodes' fabric cannot do it.",
        "systemctl enable --now opafm on a node with a link (here c1 or c2), then opainfo shows "
        "PortState: Active",
        "Omni-Path Fabric Suite Fabric Manager user guide",
        _COMMANDS,
        severity="warning",
    ),
    Rule(
        "ulimit-value",
        "The limit of locked memory is low or no number.",
        "RDMA libraries cannot lock their buffers and fail or fall back to TCP.",
        "ulimit -l unlimited",
        "bash(1), ulimit; Open MPI FAQ (locked memory)",
        _COMMANDS,
        setting="limit-memlock",
    ),
    Rule(
        "ulimit-sudo",
        "ulimit belongs to the shell and is no program.",
        "sudo finds no command of this name; even if it did, only that process would get the "
        "limit.",
        "a line in /etc/security/limits.d, or LimitMEMLOCK=infinity in the service",
        "bash(1), SHELL BUILTIN COMMANDS",
        _COMMANDS,
    ),
    Rule(
        "port-not-active",
        "This output shows a port that carries no traffic.",
        "Speeds named En and Sup are what the port could do; only state Active with Act values "
        "proves a link.",
        "PortState: Active, LinkSpeed Act: 25Gb, LinkWidth Act: 4, LinkWidthDnGrd ActTx: 4 Rx: 4",
        "opainfo(1), ibstat(8)",
        _COMMANDS,
        setting="port-state",
    ),
    Rule(
        "qcu-reboot",
        "The port's new mode takes effect only after a reboot, and none follows.",
        "Until then the adapter keeps its old ports, and the measurement is of those.",
        "./QCU/Linux_x64/qcu64e /NIC=1 /SET 1x40, then reboot",
        "Intel QSFP+ Configuration Utility, readme",
        _COMMANDS,
        severity="warning",
    ),
    Rule(
        "tool-two-folders",
        "One tool is started from two different relative folders.",
        "From one working folder only one of the two paths exists.",
        "./QCU/Linux_x64/qcu64e in both commands",
        "the text itself",
        _COMMANDS,
    ),
    Rule(
        "listing-old-default",
        "The listing names a default that the driver has not.",
        "hdrq_entsize starts as 32 (128 bytes), though modinfo's text calls 16 (64 bytes) the "
        "default; max_mtu now "
        "starts as 10240, not 8192: a comparison with the text shows a change that was not made.",
        "the value that /sys/module/hfi1/parameters shows without any options line",
        "hfi1 driver 0.9 and 10.11: modinfo against /sys/module/hfi1/parameters",
        _COMMANDS,
        severity="warning",
    ),
    Rule(
        "pfc-part-way",
        "Priority flow control is configured on a part of the switches only.",
        "A fabric is lossless end to end or not at all: frames are dropped at the hop without it.",
        "PFC for the same priority on edge and spine switches and on the adapters",
        "IEEE 802.1Qbb",
        _COMMANDS,
        severity="warning",
        setting="pfc-enabled",
    ),
    Rule(
        "pfc-eight-values",
        "--pfc takes eight values of 0 or 1, one for each priority.",
        "mlnx_qos refuses the list.",
        "mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0",
        "mlnx_qos(8)",
        _COMMANDS,
        setting="pfc-enabled",
    ),
)
