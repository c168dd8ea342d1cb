"""Rules of administration commands."""

from __future__ import annotations

import pytest

from wireproof.lint.check import CHECKS
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.rules import ADMIN, book


def broken(text: str, name: str = "setup.sh") -> list[Broken]:
    recipe = Recipe(name, "script", tuple(text.split("\n")))
    return [one for check in CHECKS for one in check(recipe)]


BAD: list[tuple[str, str, str | None]] = [
    ("ping -c 10.10.100.22", "ping-count", "ping -c 3 10.10.100.22"),
    ("pdsh -w c1 ping -c c2-ib0", "ping-count", "pdsh -w c1 ping -c 3 c2-ib0"),
    ("ip addr add 10.0.0.1 dev ib0", "command-address", "ip addr add 10.0.0.1/24 dev ib0"),
    ("ip addr add 10.0.0.1/240 dev ib0", "command-address", None),
    ("ifconfig ib0 10.0.0.1 netmask 255.0.255.0", "command-address", None),
    ("ip link set eth0 mtu 65520", "command-mtu", "ip link set eth0 mtu 9000"),
    (
        "nmcli con mod ib0 infiniband.transport-mode connected; ip link set dev ib0 mtu 65536",
        "command-mtu",
        "nmcli con mod ib0 infiniband.transport-mode connected; ip link set dev ib0 mtu 65520",
    ),
    ("ip link set ib0 mtu 65520", "mtu-not-connected", None),
    ("modprobe ib_ipoib; echo 65520 > /sys/class/net/ib0/mtu", "mtu-not-connected", None),
    (
        "echo datagram > /sys/class/net/ib0/mode\necho 65520 > /sys/class/net/ib0/mtu",
        "command-mtu",
        None,
    ),
    ("nmcli con mod ib0 ipv4.method static", "nmcli-value", "nmcli con mod ib0 ipv4.method manual"),
    (
        "nmcli con mod ib0 infiniband.transport-mode conected",
        "nmcli-value",
        "nmcli con mod ib0 infiniband.transport-mode connected",
    ),
    (
        "chdef -t network net40 net=10.10.40.0 mask=255.0.0.0",
        "network-mask-merges",
        "chdef -t network net40 net=10.10.40.0 mask=255.255.255.0",
    ),
    ("chdef -t network net40 net=10.10.40.0 mask=255.0.255.0", "network-mask", None),
    (
        "ip addr add 10.10.40.21/8 dev eth1\nip addr add 10.10.100.21/8 dev ib0",
        "network-mask-merges",
        None,
    ),
    ("make networks", "xcat-make", "makenetworks"),
    ("chdef c1 -p postscripts=confignetwork\nmake dns", "xcat-make", "makedns"),
    (
        "cpupower frequency-set -min 2.6GHz",
        "cpupower-option",
        "cpupower frequency-set --min 2.6GHz",
    ),
    (
        "cpupower frequency_set -g performance",
        "cpupower-option",
        "cpupower frequency-set -g performance",
    ),
    (
        "cpupower frequency-set -g Performance",
        "cpupower-governor",
        "cpupower frequency-set -g performance",
    ),
    (
        "cpupower frequency-set -c all -g performance",
        "cpupower-order",
        "cpupower -c all frequency-set -g performance",
    ),
    ("cpupower frequency-set -d 2.6GHz -u 2100MHz", "cpupower-frequency", None),
    ("tuned-adm latency-performance", "tuned-profile", "tuned-adm profile latency-performance"),
    ("tuned-adm profile network-latancy", "tuned-profile", "tuned-adm profile network-latency"),
    (
        "modprobe hfi1 krcvqs=3,3,3,3,3,3,3",
        "modprobe-queues-per-lane",
        "modprobe hfi1 krcvqs=3,3,3,3,3,3,3,3",
    ),
    ("modprobe hfi1 max_mut=8192", "modprobe-unknown-parameter", "modprobe hfi1 max_mtu=8192"),
    (
        "sysctl -w net.ipv4.tcp_rmem=4096 87380 16777216",
        "sysctl-command",
        "sysctl -w 'net.ipv4.tcp_rmem=4096 87380 16777216'",
    ),
    (
        "sysctl -w net.core.rmem_max = 16777216",
        "sysctl-command",
        "sysctl -w net.core.rmem_max=16777216",
    ),
    (
        "sysctl -w net.core.rmem_max=16M",
        "sysctl-value-form",
        "sysctl -w net.core.rmem_max=16777216",
    ),
    (
        "sysctl -w net.core.rmen_max=16777216",
        "sysctl-unknown-name",
        "sysctl -w net.core.rmem_max=16777216",
    ),
    ("grub2-mkconfig", "grub-output", "grub2-mkconfig -o /boot/grub2/grub.cfg"),
    (
        'grubby --update-kernel=ALL --args="intel_pstate=disable quiet"',
        "kernel-pstate-disabled",
        'grubby --update-kernel=ALL --args="quiet"',
    ),
    ("dracut -force", "long-option-dash", "dracut --force"),
    ("echo connected > /sys/class/net/ib0/mode", "ipoib-connected-mode", None),
    ("sudo echo datagram > /sys/class/net/ib0/mode", "echo-sudo", None),
    ("echo performance > /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "echo-many", None),
    (
        "echo datagramm > /sys/class/net/ib0/mode",
        "echo-value",
        "echo datagram > /sys/class/net/ib0/mode",
    ),
    ("echo 1 > /proc/sys/net/ipv4/tcp_tw_recycle", "sysctl-removed", None),
    (
        'dnf config-manager --add-repo <a href="https://x.example/r">https://x.example/KEY.PUB</a>',
        "repository-command",
        "dnf config-manager --add-repo https://x.example/r\nrpm --import https://x.example/KEY.PUB",
    ),
    (
        "dnf config-manager --add-repo https://x.example/GPG-PUB-KEY-A.PUB",
        "repository-command",
        None,
    ),
    ("yum install -y infinipath-psm", "package-psm1", "yum install -y libpsm2"),
    ("systemctl enable openfm", "service-name", "systemctl enable opafm"),
    ("service irqbalanced restart", "service-name", "service irqbalance restart"),
    ("opaconfig -E opafm", "fabric-manager-place", "systemctl enable --now opafm"),
    ("ulimit -l 64", "ulimit-value", "ulimit -l unlimited"),
    ("ulimit -l unlimted", "ulimit-value", "ulimit -l unlimited"),
    ("sudo ulimit -l unlimited", "ulimit-sudo", None),
    ("irqbalance --hintpolicy=exat", "irqbalance-policy", "irqbalance --hintpolicy=exact"),
    ("PhysicalState: Offline OfflineDisabledReason: No Loc Media", "port-not-active", None),
    ("   PortState:     Init (LinkUp)", "port-not-active", None),
    (
        "pdsh -w c1 ./qcu64e /SET 1x40",
        "qcu-reboot",
        "pdsh -w c1 ./qcu64e /SET 1x40\npdsh -w c1 reboot",
    ),
    (
        "pdsh -w c1 ./qcu64e /INFO\n./qcu64e /SET 1x40",
        "qcu-reboot",
        "pdsh -w c1 ./qcu64e /SET 1x40\npdsh -w c1 reboot",
    ),
    ("pdsh -w c1 ./qcu64e /NIC=1 /SET 4x10\npdsh -w c1 reboot", "qcu-sets-four-ports", None),
    ("qcu64e /NIC=1 /set=2x2x10\nreboot", "qcu-sets-four-ports", None),
    ("qcu64e /NIC=1 /SET 40\nreboot", "qcu-mode", None),
    ("Current Configuration: 2x2x10", "qcu-four-ports", None),
    ("qcu64e /NIC=1 /SET=1x40", "qcu-reboot", "qcu64e /NIC=1 /SET=1x40\nreboot"),
    ("LinkSpeed En: 25Gb Sup: 25Gb LinkWidth En: 4 Sup: 1,2,3,4", "port-not-active", None),
    ("\t\tState: Initializing\n\t\tPhysical state: LinkUp", "port-not-active", None),
    ("ethtool -K eth0 tso=on gro=off", "ethtool-value", "ethtool -K eth0 tso on gro off"),
    ("mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0", "pfc-eight-values", None),
]


@pytest.mark.parametrize(("text", "code", "fixed"), BAD, ids=lambda value: str(value)[:40])
def test_a_wrong_command_is_found(text: str, code: str, fixed: str | None) -> None:
    (one, *_) = [one for one in broken(text) if one.code == code]
    assert one.fix == fixed
    if fixed is not None and code != "repository-command":
        again = broken("\n".join([*text.split("\n")[: one.line - 1], fixed]))
        assert {left.code for left in again} <= {"irqbalance-hintpolicy"}, "right on RHEL 7 alone"


GOOD = [
    "ping -c 3 10.10.40.22 && ping -I ib0 -c 5 -W 1 c2-ib0",
    "ping -c $COUNT c2; ping c2 -c 3; ping -c 3 -i 0.2 10.0.0.1",
    "ip addr add 10.10.40.21/24 dev enp97s0\nip addr add 10.10.100.21/255.255.255.0 dev ib0",
    "ip addr add 10.1.1.1/16 dev eth0\nssh c2 ip addr add 10.1.2.1/16 dev eth1\nip addr show; ip a",
    "ip link set dev enp97s0 mtu 9000 up; ip link set ib0 mtu 4092; ip link set veth0 mtu 65535",
    "nmcli con mod ib0 infiniband.transport-mode connected; ip link set ib0 mtu 65520",
    (
        "nmcli con add type infiniband con-name ib0 ifname ib0 transport-mode datagram "
        "ipv4.method manual "
        "ipv4.addresses 10.0.0.1/24"
    ),
    (
        "chdef -t network net40 net=10.10.40.0 mask=255.255.255.0\nchdef -t network -o m "
        "net=10.0.0.0 "
        "mask=255.0.0.0"
    ),
    "makenetworks\nmakehosts\nmakedns -n\nmake\nmake install\nmake -j4 hosts",
    (
        "cpupower -c all frequency-set --min 2.6GHz --max 2.6GHz -g performance\ncpupower "
        "idle-set -D "
        "0\ncpupower monitor"
    ),
    (
        "cpupower frequency-set -d 1.2GHz -u 2600000 -r; cpupower -c 0-3 frequency-info -p; "
        "cpupower "
        "set --perf-bias 0"
    ),
    (
        "tuned-adm profile latency-performance; tuned-adm active; tuned-adm profile my-hpc "
        "network-latency"
    ),
    (
        "modprobe ib_ipoib; modprobe -r acpi_pad; modprobe -a ib_umad rdma_ucm; modprobe hfi1 "
        "num_vls=4 num_sdma=8"
    ),
    (
        "sysctl -p; sysctl --system; sysctl -w net.ipv4.tcp_rmem='4096 87380 16777216'; sysctl -n "
        "net.core.rmem_max"
    ),
    (
        'sysctl -w "net.ipv4.tcp_wmem=4096 65536 16777216" net.core.wmem_max=16777216\nsysctl -w '
        "net.core.rmem_max=$MAX"
    ),
    "grub2-mkconfig -o /boot/grub2/grub.cfg\ngrub2-mkconfig > /boot/grub2/grub.cfg\nupdate-grub",
    (
        'grubby --update-kernel=ALL --args="intel_iommu=on iommu=pt hugepagesz=1G hugepages=8"; '
        "dracut -f --kver 5.14.0"
    ),
    (
        "echo datagram > /sys/class/net/ib0/mode; echo 10236 > /sys/class/net/ib0/mtu; echo hello "
        "| "
        "sudo tee /etc/motd"
    ),
    (
        "for f in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo performance > $f; "
        "done"
    ),
    (
        "echo 3 > /proc/sys/vm/drop_caches; echo 16777216 > /proc/sys/net/core/rmem_max; echo > "
        "/proc/self/x"
    ),
    (
        "dnf config-manager --add-repo https://yum.repos.intel.com/oneapi\nrpm --import "
        "https://x.example/KEY.PUB"
    ),
    "dnf -y --installroot=$CHROOT install libpsm2 opa-fm; rpm -q infinipath",
    "yum install infinipath-psm # for the True Scale nodes\nmodprobe ib_qib",
    (
        "systemctl enable --now opafm; systemctl enable rdma; systemctl restart irqbalance.service "
        "nfs-server my-daemon"
    ),
    (
        "systemctl enable slurmd@c1; systemctl status; systemctl set-default multi-user; systemctl "
        "restart sssd mysqld"
    ),
    "ssh c1 opaconfig -E opafm; opainfo; opafabricinfo; service sshd restart",
    (
        "ulimit -l unlimited; ulimit -s unlimited; ulimit -l; ulimit -l $LIMIT; ulimit -Hl; "
        "ulimit -n "
        "65536"
    ),
    "irqbalance --oneshot --banirq=12; irqbalance",
    "  PortState:     Active\n  PhysicalState: LinkUp\n  LinkSpeed      Act: 25Gb  En: 25Gb",
    "./qcu64e /NIC=1 /INFO\n./qcu64e /NIC=1 /SET 1x40\nreboot",
    "./qcu64e /NIC=1 /SET 2x40\nreboot\n./qcu64e /NIC=2 /SET $MODE\nreboot",
    "Current Configuration: 2x40\n./qcu64e /NIC=1 /SET <mode>\nreboot",
    "\t\tState: Active\n\t\tPhysical state: LinkUp\nState: Down",
    (
        "ethtool -K eth0 tso on; ethtool -S eth0; ethtool -A eth0 rx off tx off; ethtool -C eth0 "
        "rx-usecs 0"
    ),
    "echo 3 > /proc/irq/${irq[$i]}/smp_affinity_list; echo 1 > '/sys/x*'",
    "mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0 --trust=dscp; mlnx_qos -i eth0",
]


@pytest.mark.parametrize("text", GOOD)
def test_right_commands_have_no_finding(text: str) -> None:
    assert broken(text) == []


NONSENSE = [
    *(
        "",
        "ping",
        "ping -c",
        "chdef -t network net= mask=",
        "ip addr add",
        "cpupower -g",
        "echo > /sys/",
        "sysctl -w =",
    ),
    *(
        "ulimit -l",
        "systemctl enable",
        "dnf config-manager --add-repo <<<",
        "qcu64e /SET",
        "\x00\x01",
        "modprobe a b=",
    ),
    *(
        "ip addr add 999999999999/9999999999999 dev x",
        "PortState:",
        "mlnx_qos --pfc",
        "nmcli con mod ipv4.addresses 1",
    ),
]


@pytest.mark.parametrize("text", NONSENSE)
def test_nonsense_is_survived(text: str) -> None:
    assert isinstance(broken(text), list)


def test_other_kinds_are_left_alone() -> None:
    for check in CHECKS:
        assert (
            list(check(Recipe("hosts", "hosts", ("make networks", "PFC at TOR switches only"))))
            == []
        )


def test_continued_commands_are_fixed_as_a_whole() -> None:
    (one,) = broken("chdef -t network net40 \\\n net=10.10.40.0 \\\n mask=255.0.0.0\nmakenetworks")
    assert (one.line, one.last) == (1, 3)
    assert one.fix == "chdef -t network net40 \\\n net=10.10.40.0 \\\n mask=255.255.255.0"


def test_rules_have_their_words() -> None:
    names = [rule.code for rule in book(ADMIN).rules.values()]
    assert len(names) == len(set(names)) >= 25
    assert all(
        len(rule.sentence) > 10 and rule.why and rule.right and rule.source
        for rule in book(ADMIN).rules.values()
    )
