"""The documents' own lines are found wrong, and their corrected forms are clean, by all rules
together.

Each file of tests/golden/recipes/{admin,files} holds the wrong lines with the codes that must be
found, and the right ones; its number is that of the erratum.
"""

from pathlib import Path

import pytest

from wireproof.lint.check import lint_text

FOLDER = Path(__file__).parents[1] / "golden" / "recipes"
RECIPES = sorted([*FOLDER.glob("admin/*.txt"), *FOLDER.glob("files/*.txt")])


def parts(path: Path) -> tuple[list[str], str, str]:
    """(codes, wrong lines, right lines)."""
    head, _, rest = path.read_text(encoding="utf-8").partition("\n")
    wrong, _, right = rest.partition("--- right\n")
    return (
        head.removeprefix("--- wrong:").split(),
        wrong.removesuffix("\n"),
        right.removesuffix("\n"),
    )


def test_the_recipes_are_there() -> None:
    assert len(RECIPES) >= 19


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    "frame", ["{}", "Some words of a document stand here.\n\n{}\n\nMore words of the document.\n"]
)
def test_wrong_lines_are_found_and_right_lines_are_clean(path: Path, frame: str) -> None:
    codes, wrong, right = parts(path)
    assert set(codes) <= {finding.code for finding in lint_text(frame.format(wrong), "page.txt")}
    assert lint_text(frame.format(right), "page.txt") == []


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_findings_have_places_within_the_text(path: Path) -> None:
    _, wrong, _ = parts(path)
    lines = wrong.split("\n")
    for finding in lint_text(wrong, "page.txt"):
        assert 1 <= finding.line <= len(lines)
        assert 1 <= finding.column <= len(lines[finding.line - 1]) + 1
        assert finding.message
        assert finding.why


# Single lines without a name: the kind is told by the line.
LINES = [
    ("options hfi1 krcvqs=3,3,3,3,3,3,3", "modprobe-queues-per-lane"),
    ("options hfi1 max_mtu 8192", "modprobe-parameter-spaces"),
    ("option hfi1 num_vls=8", "modprobe-unknown-command"),
    ("net.ipv4.tcp_rmem = 4096,87380,16777216", "sysctl-value-form"),
    ("* memlock unlimited", "limits-columns"),
    ("* soft memlock 64", "limits-memlock-low"),
    ("IRQBALANCE_ARGS=-hintpolicy=exact", "irqbalance-option"),
    ("console=ttyS0,115200 intel_pstate=disable", "kernel-pstate-disabled"),
    ("GRUB_CMDLINE_LINUX=quiet splash", "grub-unquoted"),
    ("/opt/intel 10.0.0.0/8 (ro,fsid=13)", "exports-space"),
    ("h:/opt /opt nfs nfsvers=3, nodev 0 0", "fstab-columns"),
    ("127.0.1.1 c1.cluster c1", "hosts-loopback-name"),
]


@pytest.mark.parametrize(("line", "code"), LINES)
@pytest.mark.parametrize(
    "frame", ["{}", "As the guide of the cluster says:\n\n{}\n\nThen reboot the node.\n"]
)
def test_lines_without_a_name_are_found(line: str, code: str, frame: str) -> None:
    assert code in {finding.code for finding in lint_text(frame.format(line), "-")}


TUNED = """[main]
summary=Streaming throughput
include=throughput-performance

[sysctl]
net.ipv4.tcp_rmem="4096 131072 16777216"
net.ipv4.tcp_wmem="4096 16384 16777216"
vm.swappiness=10
"""


@pytest.mark.parametrize("name", ["/usr/lib/tuned/network-throughput/tuned.conf", "-", "page.md"])
def test_a_tuned_profile_may_quote(name: str) -> None:
    assert lint_text(TUNED, name) == []


def test_what_a_template_fills_in_is_left_alone() -> None:
    text = "net.core.rmem_max = {{ rmem_max }}\nnet.ipv4.tcp_rmem = 4096 87380 {{ rmem_max }}\n"
    assert lint_text(text, "/etc/sysctl.d/90-net.conf") == []
    assert lint_text("IPADDR=%{NETDEVS::IB0::IPADDR}\nNETMASK=netmask_here\n", "ifcfg-ib0") == []
    assert lint_text("options hfi1 krcvqs=$QUEUES num_vls=$LANES\n", "hfi1.sh") == []
