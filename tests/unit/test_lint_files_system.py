"""Rules of configuration files: interfaces, irqbalance, kernel command lines, repositories, mounts,
host names.
"""

from __future__ import annotations

import pytest
from tests.unit.test_lint_files import broken, codes

from wireproof.lint.rule import Kind


def fixes(kind: Kind, text: str, code: str) -> list[str | None]:
    return [one.fix for one in broken(kind, text) if one.code == code]


IFCFG_IB0 = """TYPE=InfiniBand
DEVICE=ib0
BOOTPROTO=none
IPADDR=10.10.100.21
PREFIX=24
ONBOOT=yes
NM_CONTROLLED=no
MTU=65520
CONNECTED_MODE=yes
"""
KEYFILE = """[connection]
id=ib0
type=infiniband
interface-name=ib0

[infiniband]
mtu=65520
transport-mode=connected

[ipv4]
address1=10.10.100.21/24,10.10.100.1
method=manual

[ipv6]
method=ignore
"""
REPOSITORY = """[oneAPI]
name=Intel® oneAPI repository – 2025
baseurl=https://yum.repos.intel.com/oneapi
enabled=1
gpgcheck=1
repo_gpgcheck=1
gpgkey=https://yum.repos.intel.com/intel-gpg-keys/GPG-PUB-KEY-INTEL-SW-PRODUCTS.PUB
"""
GRUB = """# defaults
GRUB_TIMEOUT=5
GRUB_DISTRIBUTOR="$(sed 's, release .*$,,g' /etc/system-release)"
GRUB_DEFAULT=saved
GRUB_TERMINAL_OUTPUT="console"
GRUB_CMDLINE_LINUX="crashkernel=1G-4G:192M,4G-64G:256M rd.lvm.lv=rl/root rhgb quiet \
intel_iommu=on iommu=pt"
GRUB_DISABLE_RECOVERY="true"
GRUB_ENABLE_BLSCFG=true
"""
CMDLINE = (
    "BOOT_IMAGE=(hd0,gpt2)/vmlinuz-5.14.0 root=/dev/sda1 ro default_hugepagesz=1G hugepagesz=1G "
    "hugepages=16 "
    "hugepagesz=2M hugepages=512 processor.max_cstate=1 intel_idle.max_cstate=0 "
    "isolcpus=managed_irq,domain,2-31 "
    "nohz_full=2-31 rcu_nocbs=2-31 console=tty0 console=ttyS0,115200 mitigations=off tsc=reliable "
    "amd_iommu=on "
    "pci=realloc nvme_core.default_ps_max_latency_us=0 audit_backlog_limit=8192 "
    "systemd.unified_cgroup_hierarchy=1"
)
FSTAB = """# /etc/fstab
UUID=4d1b2c3e-0000-4000-8000-000000000000 / xfs defaults 0 0
10.10.1.10:/opt/intel /opt/intel nfs nfsvers=3,nodev,nosuid 0 0
head:/home /home nfs rw,hard,intr,nconnect=8,proto=rdma,port=20049 0 0
10.10.1.10@o2ib:/scratch /scratch lustre flock,_netdev 0 0
tmpfs /tmp tmpfs defaults
"""
EXPORTS = """/home *(rw,no_subtree_check,fsid=10,no_root_squash)
/opt/ohpc/pub *(ro,no_subtree_check,fsid=11)
/opt/intel 10.10.1.0/24(ro,no_subtree_check,fsid=13) head(rw,sync)
"""
HOSTS = """127.0.0.1 localhost localhost.localdomain localhost4 localhost4.localdomain4
::1 localhost localhost.localdomain localhost6
ff02::1 ip6-allnodes
10.10.1.21 c1 c1.cluster # rack 1
10.10.100.21 c1-ib0
fd00::21 c1
"""
GOOD: list[tuple[Kind, str]] = [
    ("ifcfg", IFCFG_IB0),
    ("ifcfg", "DEVICE=ib0\nONBOOT=yes\nCONNECTED_MODE=no\nMTU=10236\nBOOTPROTO=dhcp"),
    (
        "ifcfg",
        (
            'DEVICE="eth0"\nMTU="9000"\nIPADDR0=10.0.0.1\nNETMASK0=255.255.0.0\nETHTOOL_OPTS="-A '
            '${DEVICE} rx off"'
        ),
    ),
    (
        "ifcfg",
        (
            'DEVICE=bond0\nBONDING_OPTS="mode=4 '
            'miimon=100"\nPREFIX=24\nNETMASK=255.255.255.0\nIPV6_MTU=1500'
        ),
    ),
    ("keyfile", KEYFILE),
    (
        "keyfile",
        "[ethernet]\nmtu=9000\n[ipv4]\nmethod=auto\n[ipv6]\naddress1=fd00::21/64\nmethod=manual",
    ),
    ("irqbalance", "# irqbalance\n#IRQBALANCE_ARGS=\n\nIRQBALANCE_ARGS=--numa\n"),
    (
        "irqbalance",
        (
            'IRQBALANCE_ONESHOT=\nIRQBALANCE_ARGS="--policyscript=/etc/irq.sh -h exact '
            '--deepestcache=2"'
        ),
    ),
    ("kernel-command-line", GRUB),
    ("kernel-command-line", CMDLINE),
    ("repository", REPOSITORY),
    (
        "repository",
        (
            "[main]\ngpgcheck=1\n[ifs]\nname=IFS\nbaseurl=file:///opt/ifs\ngpgcheck=0\nexclude=a "
            "b\n  "
            "c"
        ),
    ),
    ("fstab", FSTAB),
    ("fstab", EXPORTS),
    ("hosts", HOSTS),
]


@pytest.mark.parametrize(("kind", "text"), GOOD)
def test_recommended_files_have_no_finding(kind: Kind, text: str) -> None:
    assert broken(kind, text) == []


BAD: list[tuple[Kind, str, str, str | None]] = [
    ("ifcfg", "MTU=2044\nCONNECTED_MODE=yes", "interface-mtu-mode", "MTU=65520"),
    ("ifcfg", "DEVICE=ib0\nMTU=65520", "interface-mtu-mode", None),
    ("ifcfg", "CONNECTED_MODE=yes\nMTU=65536", "interface-mtu-mode", "MTU=65520"),
    ("ifcfg", "CONNECTED_MODE=no\nMTU=65520", "interface-mtu-mode", None),
    ("ifcfg", "DEVICE=eth0\nMTU=65520", "interface-mtu-ethernet", "MTU=9000"),
    ("ifcfg", "IPADDR=10.10.100.210.4", "interface-address", None),
    ("ifcfg", "NETMASK=255.0.255.0", "interface-address", None),
    ("ifcfg", "PREFIX=16\nNETMASK=255.255.255.0", "interface-mask-twice", None),
    ("ifcfg", "NETWORK=10.10.40.0\nNETMASK=255.0.0.0", "interface-mask-merges", None),
    ("ifcfg", "ONBOT=yes", "ifcfg-name", "ONBOOT=yes"),
    ("ifcfg", "IPADDR = 10.0.0.1", "ifcfg-spaces", "IPADDR=10.0.0.1"),
    ("ifcfg", "ONBOOT yes", "ifcfg-spaces", "ONBOOT=yes"),
    ("ifcfg", "BOOTPROTO=statc", "ifcfg-value", "BOOTPROTO=static"),
    (
        "keyfile",
        KEYFILE.replace("transport-mode=connected", "transport-mode=datagram"),
        "interface-mtu-mode",
        None,
    ),
    ("keyfile", "[ipv4]\nmethod=static\naddress1=10.0.0.1/24", "keyfile-value", "method=manual"),
    ("keyfile", "[ipv4]\nmethod=manual", "keyfile-no-address", None),
    (
        "keyfile",
        "[ipv4]\nmethod=manual\naddress1=10.0.0.1",
        "keyfile-no-prefix",
        "address1=10.0.0.1/24",
    ),
    ("keyfile", "[ipv4]\nmethod=manual\naddress1=10.0.0.1/33", "interface-address", None),
    ("irqbalance", "IRQBALANCE_ARGS=--hintpolicy=exact", "irqbalance-hintpolicy", None),
    (
        "irqbalance",
        "IRQBALANCE_ARGS=-hintpolicy=exact",
        "irqbalance-option",
        "IRQBALANCE_ARGS=--hintpolicy=exact",
    ),
    (
        "irqbalance",
        "IRQBALANCE_ARGS=--hint-policy=exact",
        "irqbalance-option",
        "IRQBALANCE_ARGS=--hintpolicy=exact",
    ),
    (
        "irqbalance",
        "IRQBALANCE_ARGS=--hintpolicy=exat",
        "irqbalance-policy",
        "IRQBALANCE_ARGS=--hintpolicy=exact",
    ),
    (
        "irqbalance",
        "IRQBALANCE_ARG=--hintpolicy=exact",
        "irqbalance-name",
        "IRQBALANCE_ARGS=--hintpolicy=exact",
    ),
    (
        "irqbalance",
        "#IRQBALANCE_ARGS=--hintpolicy=exact",
        "irqbalance-commented",
        "IRQBALANCE_ARGS=--hintpolicy=exact",
    ),
    (
        "kernel-command-line",
        "GRUB_CMDLINE_LINUX=quiet splash",
        "grub-unquoted",
        'GRUB_CMDLINE_LINUX="quiet splash"',
    ),
    ("kernel-command-line", 'GRUB_CMD_LINUX="quiet"', "grub-name", 'GRUB_CMDLINE_LINUX="quiet"'),
    (
        "kernel-command-line",
        'GRUB_CMDLINE_LINUX="quiet intel_pstate=disable"',
        "kernel-pstate-disabled",
        'GRUB_CMDLINE_LINUX="quiet"',
    ),
    ("kernel-command-line", 'GRUB_CMDLINE_LINUX="idle=poll"', "kernel-idle", None),
    (
        "kernel-command-line",
        'GRUB_CMDLINE_LINUX="intel_idle.max_cstate=0"',
        "kernel-idle",
        'GRUB_CMDLINE_LINUX="intel_idle.max_cstate=0 processor.max_cstate=1"',
    ),
    (
        "kernel-command-line",
        'GRUB_CMDLINE_LINUX="intel_iommu=pt"',
        "kernel-iommu",
        'GRUB_CMDLINE_LINUX="intel_iommu=on iommu=pt"',
    ),
    (
        "kernel-command-line",
        'GRUB_CMDLINE_LINUX="hugepages=16 hugepagesz=1G"',
        "kernel-hugepages-order",
        'GRUB_CMDLINE_LINUX="hugepagesz=1G hugepages=16"',
    ),
    (
        "kernel-command-line",
        'GRUB_CMDLINE_LINUX="isolcpu=2-5"',
        "kernel-unknown-parameter",
        'GRUB_CMDLINE_LINUX="isolcpus=2-5"',
    ),
    (
        "kernel-command-line",
        'GRUB_CMDLINE_LINUX="mitigations=off mitigations=auto"',
        "kernel-parameter-twice",
        None,
    ),
    (
        "repository",
        REPOSITORY.replace(
            "https://yum.repos.intel.com/oneapi",
            '<a href="https://yum.repos.intel.com/oneapi">x</a>',
        ),
        "repository-address",
        "baseurl=https://yum.repos.intel.com/oneapi",
    ),
    ("repository", "[a]\nbaseurl=https://x.example/RPM-GPG-KEY", "repository-address", None),
    (
        "repository",
        "[a]\nbasurl=https://x.example/r",
        "repository-option",
        "baseurl=https://x.example/r",
    ),
    ("repository", "[a]\nname=b", "repository-section", None),
    (
        "fstab",
        "h:/o /o nfs nfsvers=3, nodev 0 0",
        "fstab-columns",
        "h:/o /o nfs nfsvers=3,nodev 0 0",
    ),
    ("fstab", "10.10.1.10/opt /opt nfs ro 0 0", "fstab-nfs", "10.10.1.10:/opt /opt nfs ro 0 0"),
    ("fstab", "h:/opt /opt nfs nfsver=3 0 0", "fstab-nfs", "h:/opt /opt nfs nfsvers=3 0 0"),
    ("fstab", "/opt 10.0.0.0/8 (ro,fsid=13)", "exports-space", "/opt 10.0.0.0/8(ro,fsid=13)"),
    ("fstab", "/opt *(ro,no_subtree_chek)", "exports-option", "/opt *(ro,no_subtree_check)"),
    ("fstab", "/opt *(ro,fsid=13)\n/home *(rw,fsid=13)", "exports-fsid-twice", None),
    ("hosts", "127.0.1.1 c1.cluster c1", "hosts-loopback-name", None),
    ("hosts", "127.0.0.1 localhost c1", "hosts-loopback-name", "127.0.0.1 localhost"),
    ("hosts", "10.0.0.1 c1\n10.1.0.1 c1", "hosts-two-addresses", None),
    ("hosts", "c1 10.0.0.1", "hosts-line", "10.0.0.1 c1"),
    (
        "sysctl",
        "net.core.rmem_max = “16777216”",
        "file-typography",
        'net.core.rmem_max = "16777216"',
    ),
]


@pytest.mark.parametrize(("kind", "text", "code", "fixed"), BAD, ids=lambda value: str(value)[:40])
def test_a_wrong_line_is_found(kind: Kind, text: str, code: str, fixed: str | None) -> None:
    assert code in codes(kind, text)
    assert fixes(kind, text, code)[0] == fixed
    if fixed is not None and "\n" not in text and code != "file-typography":
        assert set(codes(kind, fixed)) <= {"irqbalance-hintpolicy"}, "right on RHEL 7 alone"


@pytest.mark.parametrize("name", ["/etc/sysctl.d/90-fabric", "/etc/modprobe.d/hfi1"])
def test_a_drop_in_that_is_not_read(name: str) -> None:
    kind: Kind = "sysctl" if "sysctl" in name else "modprobe"
    assert codes(kind, "# nothing", name) == ["drop-in-name"]
    assert codes(kind, "# nothing", name + ".conf") == []


def test_the_wrapped_line_of_a_document_is_joined_and_quoted() -> None:
    text = (
        "Edit\n\nGRUB_CMDLINE_LINUX=console=tty0 \ncrashkernel=auto \nquiet=1 intel_pstate=active "
        "\n\n2. Then"
    )
    (one,) = broken("unknown", text)
    assert (one.code, one.line, one.last) == ("grub-unquoted", 3, 5)
    assert (
        one.fix == 'GRUB_CMDLINE_LINUX="console=tty0 crashkernel=auto quiet=1 intel_pstate=active"'
    )


def test_two_interfaces_that_one_mask_puts_into_one_network() -> None:
    text = (
        "cat > /etc/sysconfig/ifcfg-eth1 "
        "<<EOF\nDEVICE=eth1\nIPADDR=10.10.40.21\nNETMASK=255.0.0.0\nEOF\n"
        "cat > /etc/sysconfig/ifcfg-ib0 "
        "<<EOF\nDEVICE=ib0\nIPADDR=10.10.100.21\nNETMASK=255.0.0.0\nEOF\n"
    )
    assert codes("script", text) == ["interface-mask-merges"]
    assert codes("script", text.replace("255.0.0.0", "255.255.255.0")) == []
