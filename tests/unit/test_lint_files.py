"""Rules of configuration files: drivers, kernel settings, locked memory."""

from __future__ import annotations

from typing import get_args

import pytest

from wireproof.lint.files import CHECKS
from wireproof.lint.rule import Broken, Kind, Recipe
from wireproof.lint.rules import FILES, book

HFI1_LISTING = """options hfi1 max_mtu=8192 hfi1 num_vls=8 krcvqs=4"""


def broken(kind: Kind, text: str, name: str = "file") -> list[Broken]:
    recipe = Recipe(name, kind, tuple(text.split("\n")))
    return [one for check in CHECKS for one in check(recipe)]


def codes(kind: Kind, text: str, name: str = "file") -> list[str]:
    return [one.code for one in broken(kind, text, name)]


def corrected(kind: Kind, text: str) -> str:
    """The text with each finding's fix, last line first."""
    lines = text.split("\n")
    for one in sorted(broken(kind, text), key=lambda one: -one.line):
        if one.fix is not None:
            lines[one.line - 1 : one.last or one.line] = one.fix.split("\n")
    return "\n".join(lines)


BAD: list[tuple[Kind, str, str, str | None]] = [
    (
        "modprobe",
        HFI1_LISTING,
        "modprobe-module-repeated",
        "options hfi1 max_mtu=8192 num_vls=8 krcvqs=4",
    ),
    (
        "modprobe",
        "options hfi1 krcvqs=3,3,3,3,3,3,3",
        "modprobe-queues-per-lane",
        "options hfi1 krcvqs=3,3,3,3,3,3,3,3",
    ),
    (
        "modprobe",
        "options hfi1 num_vls=4 krcvqs=3,3,3,3,3",
        "modprobe-queues-per-lane",
        "options hfi1 num_vls=4 krcvqs=3,3,3,3",
    ),
    (
        "modprobe",
        "options hfi1 user_credit_return_theshold=33",
        "modprobe-unknown-parameter",
        "options hfi1 user_credit_return_threshold=33",
    ),
    (
        "modprobe",
        "options hfi1 max_mut=8192",
        "modprobe-unknown-parameter",
        "options hfi1 max_mtu=8192",
    ),
    (
        "modprobe",
        "options mlx4_core log_num_mt=24",
        "modprobe-unknown-parameter",
        "options mlx4_core log_num_mtt=24",
    ),
    ("modprobe", "options hfi1 max_mtu=9000", "modprobe-value-range", None),
    ("modprobe", "options hfi1 num_vls=9", "modprobe-value-range", None),
    ("modprobe", "options hfi1 rcvhdrcnt=100", "modprobe-value-range", None),
    ("modprobe", "options hfi1 eager_buffer_size=3000000", "modprobe-value-range", None),
    ("modprobe", "options hfi1 krcvqs = 3", "modprobe-parameter-spaces", "options hfi1 krcvqs=3"),
    (
        "modprobe",
        "options hfi1 krcvqs=3, 3",
        "modprobe-parameter-spaces",
        "options hfi1 krcvqs=3,3",
    ),
    (
        "modprobe",
        "options hfi1 max_mtu 8192",
        "modprobe-parameter-spaces",
        "options hfi1 max_mtu=8192",
    ),
    ("modprobe", "options hfi1 num_vls=8 num_vls=4", "modprobe-parameter-twice", None),
    ("modprobe", "option hfi1 num_vls=8", "modprobe-unknown-command", "options hfi1 num_vls=8"),
    ("modprobe", "num_vls=8", "modprobe-unknown-command", None),
    ("modprobe", "krcvqs 4", "modprobe-unknown-command", None),
    (
        "modprobe",
        "options hfi1 loopback=1 num_vls=8",
        "modprobe-loopback",
        "options hfi1 num_vls=8",
    ),
    ("sysctl", "net.core.rmem_max = 16M", "sysctl-value-form", "net.core.rmem_max = 16777216"),
    (
        "sysctl",
        'net.ipv4.tcp_rmem="4096 87380 16777216"',
        "sysctl-value-form",
        "net.ipv4.tcp_rmem=4096 87380 16777216",
    ),
    (
        "sysctl",
        "net.ipv4.tcp_wmem = 4096,65536,16777216",
        "sysctl-value-form",
        "net.ipv4.tcp_wmem = 4096 65536 16777216",
    ),
    ("sysctl", "net.ipv4.tcp_rmem = 4096 16777216", "sysctl-three-values", None),
    (
        "sysctl",
        "net.ipv4.tcp_rmem = 16777216 87380 4096",
        "sysctl-three-values",
        "net.ipv4.tcp_rmem = 4096 87380 16777216",
    ),
    ("sysctl", "net.ipv4.tcp_timestmps=1", "sysctl-unknown-name", "net.ipv4.tcp_timestamps=1"),
    ("sysctl", "net.ipv4.rmem_max=16777216", "sysctl-unknown-name", "net.core.rmem_max=16777216"),
    ("sysctl", "net.ipv4.tcp_tw_recycle = 1", "sysctl-removed", None),
    ("sysctl", "net.ipv4.tcp_low_latency = 1", "sysctl-removed", None),
    (
        "sysctl",
        "net.core.rmem_max = 16777216 # 16 MiB",
        "sysctl-comment-after-value",
        "# 16 MiB\nnet.core.rmem_max = 16777216",
    ),
    ("sysctl", "net.core.rmem_max = 4294967296", "sysctl-value-range", None),
    (
        "sysctl",
        "net.ipv4.tcp_window_scaling = 0",
        "sysctl-value-range",
        "net.ipv4.tcp_window_scaling = 1",
    ),
    (
        "sysctl",
        "net.ipv4.tcp_congestion_control = htpc",
        "sysctl-value-range",
        "net.ipv4.tcp_congestion_control = htcp",
    ),
    (
        "sysctl",
        "sysctl -w net.core.rmem_max=16777216",
        "sysctl-not-a-setting",
        "net.core.rmem_max=16777216",
    ),
    (
        "sysctl",
        "net.core.rmem_max 16777216",
        "sysctl-not-a-setting",
        "net.core.rmem_max = 16777216",
    ),
    ("sysctl", "kernel.foo 1", "sysctl-not-a-setting", None),
    ("sysctl", "rmem_max", "sysctl-not-a-setting", None),
    ("sysctl", "net.core.rmem_max=1\nnet.core.rmem_max=2", "sysctl-twice", None),
    (
        "sysctl",
        "net.core.rmem_max=212992\nnet.ipv4.tcp_rmem=4096 87380 16777216",
        "sysctl-maximum-below",
        "net.core.rmem_max=16777216\nnet.ipv4.tcp_rmem=4096 87380 16777216",
    ),
    ("limits", "* memlock unlimited", "limits-columns", "* - memlock unlimited"),
    ("limits", "* - memlock unlimted", "limits-word", "* - memlock unlimited"),
    ("limits", "* - memlok unlimited", "limits-word", "* - memlock unlimited"),
    ("limits", "* - memlock 64G", "limits-word", "* - memlock 67108864"),
    ("limits", "* - memlock 64", "limits-memlock-low", "* - memlock unlimited"),
    (
        "limits",
        "* soft memlock unlimited",
        "limits-memlock-half",
        "* soft memlock unlimited\n* hard memlock unlimited",
    ),
]


@pytest.mark.parametrize(("kind", "text", "code", "fixed"), BAD, ids=lambda value: str(value)[:40])
def test_a_wrong_line_is_found_and_its_corrected_form_is_clean(
    kind: Kind, text: str, code: str, fixed: str | None
) -> None:
    assert code in codes(kind, text)
    if fixed is not None:
        assert corrected(kind, text) == fixed
        assert codes(kind, fixed) == []


GOOD: list[tuple[Kind, str]] = [
    ("modprobe", "# driver\noptions hfi1 num_sdma=8 num_vls=4\n"),
    (
        "modprobe",
        (
            "options hfi1 krcvqs=5 rcvhdrcnt=8192 pcie_caps=0x51 cap_mask=0x4c09a01cbba "
            "sge_copy_mode=2"
        ),
    ),
    ("modprobe", "options hfi1 krcvqs=0,0,0,5\noptions hfi1 use_bulksvc=Y num_user_contexts=96"),
    (
        "modprobe",
        "options hfi1 max_mtu=10240 user_credit_return_threshold=33 num_rcv_contexts=0",
    ),
    ("modprobe", "options ib_qib singleport=1 krcvqs=4"),
    (
        "modprobe",
        (
            "alias ko2iblnd-opa ko2iblnd\noptions ko2iblnd-opa peer_credits=128 "
            "peer_credits_hiw=64 credits=1024 "
            "concurrent_sends=256 ntx=2048 map_on_demand=32 fmr_pool_size=2048 conns_per_peer=4\n"
            "install ko2iblnd /usr/sbin/ko2iblnd-probe"
        ),
    ),
    (
        "modprobe",
        (
            'options lnet networks="o2ib0(ib0),tcp0(eth0)"\nblacklist acpi_pad\nsoftdep mlx5_core '
            "post: mlx5_ib"
        ),
    ),
    (
        "modprobe",
        (
            "options irdma roce_ena=1 limits_sel=5\noptions rv num_conn=4 enable_user_mr=1 "
            "mr_cache_size=1024"
        ),
    ),
    (
        "modprobe",
        (
            "options mlx4_core log_num_mtt=24 log_mtts_per_seg=1\noptions nvidia "
            "NVreg_RestrictProfiling=0"
        ),
    ),
    (
        "sysctl",  # ESnet's host tuning, 100G
        (
            "# allow testing with buffers up to 64MB\nnet.core.rmem_max = "
            "67108864\nnet.core.wmem_max = 67108864\n"
            "net.ipv4.tcp_rmem = 4096 87380 33554432\nnet.ipv4.tcp_wmem = 4096 65536 33554432\n"
            "net.ipv4.tcp_congestion_control=htcp\nnet.ipv4.tcp_mtu_probing=1\n"
            "net.core.default_qdisc = fq\n"
            "net.ipv4.tcp_no_metrics_save=1\nnet.core.netdev_max_backlog = 250000\n"
        ),
    ),
    (
        "sysctl",  # NVIDIA (Mellanox) adapters
        (
            "net.ipv4.tcp_timestamps=0\nnet.ipv4.tcp_sack=1\nnet.core.netdev_max_backlog=250000\n"
            "net.core.rmem_max=4194304\nnet.core.wmem_max=4194304\nnet.core.rmem_default=4194304\n"
            "net.core.wmem_default=4194304\nnet.core.optmem_max=4194304\nnet.ipv4.tcp_rmem=4096 "
            "87380 4194304\n"
            "net.ipv4.tcp_wmem=4096 65536 4194304\nnet.ipv4.tcp_adv_win_scale=1\n"
        ),
    ),
    (
        "sysctl",  # Intel Ethernet and Omni-Path guides
        (
            "net.core.rmem_max=16777216\nnet.core.wmem_max=16777216\n"
            "net.core.rmem_default=16777216\n"
            "net.core.wmem_default=16777216\nnet.core.optmem_max=1677721\n"
            "net.ipv4.tcp_mem=16777216 16777216 16777216\n"
            "net.ipv4.tcp_rmem=4096 87380 16777216\nnet.ipv4.tcp_wmem=4096 65536 16777216\n"
            "net.core.netdev_max_backlog=250000\nnet.ipv4.neigh.default.gc_thresh1 = 2048\n"
            "net.ipv6.conf.default.disable_ipv6=1\nnet.ipv4.conf.all.arp_ignore=1\n"
            "-net.ipv4.conf.lo.rp_filter = 2\n"
            "net/core/busy_poll = 50\n; old comment\nvm.zone_reclaim_mode = "
            "1\nkernel.numa_balancing=0\n"
        ),
    ),
    (
        "limits",
        "# End of file\n* soft memlock unlimited\n* hard memlock unlimited\n*  -  nofile 1048576\n",
    ),
    (
        "limits",
        (
            "@hpc - memlock unlimited  # fabric\nroot hard stack unlimited\nftp hard nproc 0\n"
            "admin "
            "-\n"
        ),
    ),
    ("limits", "* soft memlock -1\n* hard memlock infinity\n* soft stack 8192\n@rt - nice -20\n"),
]


@pytest.mark.parametrize(("kind", "text"), GOOD)
def test_recommended_files_have_no_finding(kind: Kind, text: str) -> None:
    assert broken(kind, text) == []


ODD = (
    "",
    "\x00\x01\ufffd",
    "options",
    "=",
    " = ",
    "* * * *",
    "options hfi1 =",
    "net. = ",
    "[",
    "a=",
    " = b",
)


@pytest.mark.parametrize("kind", [*get_args(Kind)])
@pytest.mark.parametrize("text", [*ODD, " = b", "<<EOF", "(", "::", "/ (", "a" * 100_000])
def test_nonsense_is_survived(kind: Kind, text: str) -> None:
    assert isinstance(codes(kind, text), list)


def test_here_documents_and_echoes_in_scripts_are_read_in_place() -> None:
    text = (
        "#!/bin/bash\ncat > /etc/sysctl.d/90-net.conf <<'EOF'\nnet.core.rmem_max = 16M\nEOF\n"
        "echo 'options hfi1 krcvqs=3,3,3,3,3,3,3' | sudo tee /etc/modprobe.d/hfi1.conf\n"
        'echo "* soft memlock unlimted" >> /etc/security/limits.conf\n'
    )
    found = {(one.line, one.column, one.code): one.fix for one in broken("script", text)}
    assert found == {
        (3, 21, "sysctl-value-form"): "net.core.rmem_max = 16777216",
        (5, 20, "modprobe-queues-per-lane"): (
            "echo 'options hfi1 krcvqs=3,3,3,3,3,3,3,3' | sudo tee /etc/modprobe.d/hfi1.conf"
        ),
        (6, 22, "limits-word"): 'echo "* soft memlock unlimited" >> /etc/security/limits.conf',
    }


def test_rules_are_complete_and_codes_unique() -> None:
    names = [rule.code for rule in book(FILES).rules.values()]
    assert len(names) == len(set(names)) >= 30
    for rule in book(FILES).rules.values():
        assert len(rule.sentence) > 10
        assert all((rule.why, rule.right, rule.source, rule.kinds))


def test_every_code_that_is_reported_has_a_rule() -> None:
    known = {rule.code for rule in book(FILES).rules.values()}
    reported = {code for kind, text, _, _ in BAD for code in codes(kind, text)}
    assert reported <= known
