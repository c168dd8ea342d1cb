"""Rules for network interfaces (ifcfg files, keyfiles of NetworkManager) and for host names."""

from __future__ import annotations

from wireproof.lint.rule import Kind, Rule

__all__ = ["RULES"]

_BOTH: tuple[Kind, ...] = ("ifcfg", "keyfile", "script", "unknown")
_IFCFG: tuple[Kind, ...] = ("ifcfg", "script", "unknown")
_KEYFILE: tuple[Kind, ...] = ("keyfile", "script", "unknown")
_IPOIB = "Linux Documentation/infiniband/ipoib; Configuring InfiniBand and RDMA networks (RHEL)"
_INTERFACE_NM = "nm-settings-keyfile(5)"
_HOSTS_KINDS: tuple[Kind, ...] = ("hosts", "script", "unknown")
_HOSTS_MAN = "hosts(5)"

RULES: tuple[Rule, ...] = (
    Rule(
        "interface-mtu-mode",
        "The MTU does not fit the IPoIB mode.",
        "65520 needs connected mode; a datagram holds the fabric's MTU less 4 bytes (2044, 4092; "
        "10236 on Omni-Path), and the driver cuts what is more.",
        "CONNECTED_MODE=yes with MTU=65520, or no connected mode with MTU=2044, 4092 or 10236",
        _IPOIB,
        _BOTH,
        setting="ipoib-mtu",
    ),
    Rule(
        "interface-mtu-ethernet",
        "No Ethernet adapter or switch carries an MTU of this size.",
        "The driver refuses it (most end between 9000 and 9978), and the interface stays at 1500 "
        "or stays down.",
        "MTU=9000, on the hosts and with room for headers on the switches",
        "ethtool/ip link maxmtu of ice (9702), i40e (9702), mlx5 (9978), bnxt_en (9500)",
        _BOTH,
        setting="mtu",
    ),
    Rule(
        "interface-address",
        "This is no address or no mask.",
        "The interface does not come up.",
        "IPADDR=10.10.40.21, NETMASK=255.255.255.0 or PREFIX=24",
        "sysconfig.txt of initscripts; nm-settings-keyfile(5)",
        _BOTH,
    ),
    Rule(
        "interface-mask-twice",
        "PREFIX and NETMASK say different things.",
        "One of them wins (PREFIX), the other deceives the reader.",
        "only PREFIX=24 or only NETMASK=255.255.255.0",
        "sysconfig.txt of initscripts",
        _IFCFG,
    ),
    Rule(
        "interface-mask-merges",
        "The mask puts networks that are numbered apart into one.",
        "Two interfaces in one network: the kernel sends by either of them, so that fabric "
        "traffic leaves by the management link and a ping proves nothing.",
        "255.255.255.0 for 10.10.40.0 and for 10.10.100.0",
        "Linux arp_filter and rp_filter in Documentation/networking/ip-sysctl; RFC 1812 5.2.4.3",
        _BOTH,
    ),
    Rule(
        "ifcfg-name",
        "No such variable is read from ifcfg files.",
        "It is ignored, and the setting never takes effect.",
        "ONBOOT, BOOTPROTO, IPADDR, PREFIX, NETMASK, MTU, CONNECTED_MODE …",
        "sysconfig.txt of initscripts",
        _IFCFG,
        safe=True,
    ),
    Rule(
        "ifcfg-spaces",
        "There are spaces around '='.",
        "ifcfg files are read by the shell: a space ends the name, and the line is an error.",
        "NAME=value",
        "sysconfig.txt of initscripts",
        _IFCFG,
        safe=True,
    ),
    Rule(
        "ifcfg-value",
        "The variable takes no such value.",
        "The interface comes up otherwise than meant, or not at all.",
        "BOOTPROTO=none, static or dhcp; ONBOOT, NM_CONTROLLED, CONNECTED_MODE yes or no",
        "sysconfig.txt of initscripts",
        _IFCFG,
    ),
    Rule(
        "ifcfg-device",
        "DEVICE names another interface than the file's name.",
        "A copied file that still configures the first interface.",
        "DEVICE=ib0 in ifcfg-ib0",
        "sysconfig.txt of initscripts",
        ("ifcfg",),
        severity="warning",
    ),
    Rule(
        "keyfile-value",
        "The property takes no such value.",
        "NetworkManager refuses the connection or takes a default.",
        "method=manual, auto, link-local, shared, disabled or ignore; transport-mode=datagram or "
        "connected",
        _INTERFACE_NM,
        _KEYFILE,
    ),
    Rule(
        "keyfile-no-address",
        "method=manual without an address.",
        "NetworkManager refuses the connection.",
        "address1=10.10.40.21/24",
        _INTERFACE_NM,
        ("keyfile",),
    ),
    Rule(
        "keyfile-no-prefix",
        "An address has no prefix length.",
        "NetworkManager assumes a length, /24 today, and other tools read it as one host.",
        "address1=10.10.40.21/24",
        _INTERFACE_NM,
        _KEYFILE,
        severity="warning",
    ),
    Rule(
        "hosts-loopback-name",
        "A node's own name maps to a loopback address.",
        "Programs that look up their own name tell the others 127.0.0.1 or 127.0.1.1: ranks of "
        "other nodes connect to themselves and wait.",
        "10.10.1.21 c1, and only localhost on 127.0.0.1",
        "hosts(5); Open MPI FAQ (TCP), MPICH FAQ",
        _HOSTS_KINDS,
    ),
    Rule(
        "hosts-two-addresses",
        "One name has two addresses.",
        "The first one is used; which network a job takes then depends on the order of lines.",
        "a name of its own for each network: c1 and c1-ib0",
        _HOSTS_MAN,
        _HOSTS_KINDS,
        severity="warning",
    ),
    Rule(
        "hosts-line",
        "The line is not ADDRESS NAME ….",
        "The resolver skips it.",
        "10.10.100.21 c1-ib0",
        _HOSTS_MAN,
        _HOSTS_KINDS,
    ),
)
