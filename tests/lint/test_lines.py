"""Rules of commands and of configuration files, tried by the lines of tests/golden/recipes."""

import tomllib
from pathlib import Path
from typing import get_args

import pytest

from wireproof.lint.check import CHECKS
from wireproof.lint.rule import Broken, Kind, Recipe
from wireproof.lint.rules import ADMIN, FILES, book

LINES = Path(__file__).parents[1] / "golden" / "lint_lines.toml"
TABLES = tomllib.loads(LINES.read_text("utf-8"))
WRONG = [
    (kind, code, *row)
    for kind, codes in TABLES["wrong"].items()
    for code, rows in codes.items()
    for row in rows
]
RIGHT = [(kind, text) for kind, texts in TABLES["right"].items() for text in texts]
LEFT = {
    "file-typography": {"sysctl-value-form"},  # quotes of the wrong form are quotes all the same
    "irqbalance-option": {"irqbalance-hintpolicy"},  # right on RHEL 7 alone
    "irqbalance-policy": {"irqbalance-hintpolicy"},
    "irqbalance-name": {"irqbalance-hintpolicy"},
    "irqbalance-commented": {"irqbalance-hintpolicy"},
}
"""What is found in a line after its finding was mended."""


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


@pytest.mark.parametrize("row", WRONG, ids=lambda row: f"{row[1]}-{row[2]}"[:60])
def test_a_wrong_line_is_found_and_its_corrected_form_is_clean(row: tuple[Kind, ...]) -> None:
    kind, code, text, *fixed = row
    (one, *_) = [one for one in broken(kind, text) if one.code == code]
    assert (one.fix is not None) == bool(fixed)
    if fixed:
        assert corrected(kind, text) == fixed[0]
        assert set(codes(kind, fixed[0])) <= LEFT.get(code, set())


@pytest.mark.parametrize(
    ("kind", "text", "seen"),
    [
        ("script", "cpupower frequency-set -min 2GHz -max 3GHz", "-min -max"),
        (
            "script",
            "tuned-adm profile network-latncy",
            "network-latncy; nearest is network-latency",
        ),
        ("modprobe", "options hfi1 num_vl=8", "hfi1 num_vl; nearest is num_vls"),
        ("script", "yum-config-manager --add-repo https://a.b/KEY.PUB", "https://a.b/KEY.PUB"),
    ],
)
def test_a_finding_shows_what_it_saw(kind: Kind, text: str, seen: str) -> None:
    assert seen in {one.seen for one in broken(kind, text)}


@pytest.mark.parametrize(("kind", "text"), RIGHT)
def test_right_lines_have_no_finding(kind: Kind, text: str) -> None:
    assert broken(kind, text) == []


@pytest.mark.parametrize("text", TABLES["nonsense"])
def test_nonsense_is_survived(text: str) -> None:
    for kind in get_args(Kind):
        assert isinstance(broken(kind, text), list)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_word_without_end_is_survived(kind: Kind) -> None:
    assert isinstance(broken(kind, "a" * 100_000), list)


def test_commands_in_a_file_of_hosts_are_left_alone() -> None:
    assert broken("hosts", "make networks\nPFC at TOR switches only", "hosts") == []


def test_continued_commands_are_fixed_as_a_whole() -> None:
    text = "chdef -t network net40 \\\n net=10.10.40.0 \\\n mask=255.0.0.0\nmakenetworks"
    (one,) = broken("script", text)
    assert (one.line, one.last) == (1, 3)
    assert one.fix == "chdef -t network net40 \\\n net=10.10.40.0 \\\n mask=255.255.255.0"


def test_here_documents_and_echoes_in_scripts_are_read_in_place() -> None:
    text = (
        "#!/bin/bash\ncat > /etc/sysctl.d/90-net.conf <<'EOF'\nnet.core.rmem_max = 16M\nEOF\n"
        "echo 'options hfi1 krcvqs=3,3,3,3,3,3,3' | sudo tee /etc/modprobe.d/hfi1.conf\n"
        'echo "* soft memlock unlimted" >> /etc/security/limits.conf\n'
        "dracut --force\n"
    )
    found = {(one.line, one.column, one.code): one.fix for one in broken("script", text)}
    assert found == {
        (3, 21, "sysctl-value-form"): "net.core.rmem_max = 16777216",
        (5, 20, "modprobe-queues-per-lane"): (
            "echo 'options hfi1 krcvqs=3,3,3,3,3,3,3,3' | sudo tee /etc/modprobe.d/hfi1.conf"
        ),
        (6, 22, "limits-word"): 'echo "* soft memlock unlimited" >> /etc/security/limits.conf',
    }


@pytest.mark.parametrize(("files", "least"), [(FILES, 30), (ADMIN, 25)])
def test_rules_are_complete_and_codes_unique(files: tuple[str, ...], least: int) -> None:
    names = [rule.code for rule in book(files).rules.values()]
    assert len(names) == len(set(names)) >= least
    for rule in book(files).rules.values():
        assert len(rule.sentence) > 10
        assert all((rule.why, rule.right, rule.source, rule.kinds))


def test_every_code_that_is_reported_has_a_rule() -> None:
    known = {rule.code for rule in book().rules.values()}
    assert {code for kind, _, text, *_ in WRONG for code in codes(kind, text)} <= known


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


@pytest.mark.parametrize(
    "second",
    [
        "mpirun -n 2 -N 1 --mca pml ob1 --mca btl self,tcp --mca btl_tcp_if_include eth1 osu_bw",
        "export OMPI_MCA_btl=self,tcp OMPI_MCA_pml=ob1 OMPI_MCA_btl_tcp_if_include=eth1",
    ],
)
def test_a_launch_is_judged_by_the_btl_in_force_at_its_line(second: str) -> None:
    text = f"mpirun -n 2 -N 1 -mca btl self,tcp osu_bw\n{second}\nmpirun -n 2 -N 1 osu_bw"
    found = {(one.line, one.code) for one in broken("script", text)}
    assert found == {(1, "no-interface"), (1, "pml-not-forced")}


def test_two_interfaces_that_one_mask_puts_into_one_network() -> None:
    text = (
        "cat > /etc/sysconfig/ifcfg-eth1 "
        "<<EOF\nDEVICE=eth1\nIPADDR=10.10.40.21\nNETMASK=255.0.0.0\nEOF\n"
        "cat > /etc/sysconfig/ifcfg-ib0 "
        "<<EOF\nDEVICE=ib0\nIPADDR=10.10.100.21\nNETMASK=255.0.0.0\nEOF\n"
    )
    assert codes("script", text) == ["interface-mask-merges"]
    assert codes("script", text.replace("255.0.0.0", "255.255.255.0")) == []
