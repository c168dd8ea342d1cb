"""Files that a script writes: one table of paths, one extractor."""

import pytest

from wireproof.lint.check import lint_text
from wireproof.lint.fragments import Fragment, files_written
from wireproof.lint.rule import Kind, Recipe, kind_of_name
from wireproof.lint.shell import heredocs, lines_inside

PATHS: list[tuple[str, Kind]] = [
    ("/etc/modprobe.d/hfi1.conf", "modprobe"),
    ("/etc/sysctl.d/90-fabric.conf", "sysctl"),
    ("/etc/security/limits.d/mpi.conf", "limits"),
    ("/etc/sysconfig/network-scripts/ifcfg-ib0", "ifcfg"),
    ("/etc/sysconfig/network-scripts/route-ib0", "ifcfg"),
    ("/etc/NetworkManager/system-connections/ib0.nmconnection", "keyfile"),
    ("/etc/default/irqbalance", "irqbalance"),
    ("/etc/irqbalance.env", "irqbalance"),
    ("/etc/default/grub", "kernel-command-line"),
    ("/boot/loader/entries/rocky.conf", "kernel-command-line"),
    ("/etc/yum.repos.d/oneAPI.repo", "repository"),
    ("/etc/fstab", "fstab"),
    ("/etc/exports", "fstab"),
    ("/etc/hosts", "hosts"),
]


def files(*lines: str) -> list[Fragment]:
    return list(files_written(Recipe("setup.sh", "script", lines)))


@pytest.mark.parametrize(("path", "kind"), PATHS)
def test_a_path_has_one_kind_however_the_file_is_met(path: str, kind: Kind) -> None:
    assert kind_of_name(path) == kind
    for lines in (
        (f"cat > {path} <<EOF", "text", "EOF"),
        (f"sudo tee {path} <<'EOF'", "text", "EOF"),
        (f"cat <<EOF | sudo tee -a {path}", "text", "EOF"),
        (f"ssh n1 'cat > {path}' <<EOF", "text", "EOF"),
        (f"cat > $ROOT{path} 2>/dev/null <<EOF", "text", "EOF"),
    ):
        (found,) = files("#!/bin/bash", *lines)
        assert found.kind == kind
        assert not found.quoted
        assert found.path.endswith(path)
        assert [(line.number, line.text) for line in found.lines] == [(3, "text")]
    for line in (
        f'echo "text" >> {path}',
        f"echo text > '{path}'",
        f"printf 'text' | sudo tee -a {path}",
    ):
        (found,) = files("#!/bin/bash", line)
        assert (found.kind, found.path, found.quoted) == (kind, path, True)
        assert [line.text for line in found.lines] == ["text"]
        assert found.lines[0].with_text("text") == line


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/etc/exports.d/home.exports", "fstab"),
        ("/etc/sysctl.conf", "sysctl"),
        ("rootimg/etc/sysctl.d/90-x.conf", "sysctl"),
        ("/etc/modprobe.d/hfi1.conf.bak", "modprobe"),
        ("/etc/security/limits.conf", "limits"),
        ("/etc/sysconfig/irqbalance", "irqbalance"),
    ],
)
def test_other_names_of_the_same_files(path: str, kind: Kind) -> None:
    assert kind_of_name(path) == kind


@pytest.mark.parametrize("path", ["/etc/motd", "/usr/lib/modprobe.d/x/y", "/dev/null", ""])
def test_what_is_no_configuration_file_is_left_alone(path: str) -> None:
    assert kind_of_name(path) is None
    assert files(f"cat > {path or '/tmp/x'} <<EOF", "options hfi1 krcvqs=5,5", "EOF") == []


def test_a_shell_runs_what_stands_on_its_input() -> None:
    (found,) = files("sbatch <<EOF", "#!/bin/bash", "EOF")
    assert (found.kind, found.expanded) == ("script", True)
    (found,) = files("ssh n1 bash -s <<'EOF'", "ulimit -l unlimited", "EOF")
    assert (found.kind, found.expanded) == ("script", False)


@pytest.mark.parametrize(
    "line",
    [
        'echo -e "a\\nb" >> /etc/hosts',
        'echo "$(hostname)" >> /etc/hosts',
        "echo `hostname` >> /etc/hosts",
        "echo 10.0.0.1 n1 >> /etc/hosts",
    ],
)
def test_what_the_shell_changes_is_not_judged(line: str) -> None:
    assert files(line) == []


def test_an_added_line_says_nothing_of_what_the_file_lacks() -> None:
    line = 'echo "* soft memlock unlimited" >> /etc/security/limits.conf'
    assert lint_text(line, "setup.sh") == []
    assert lint_text(f"{line}\n{line.replace('soft', 'hard')}", "setup.sh") == []
    file = "cat > /etc/security/limits.conf <<EOF\n* soft memlock unlimited\nEOF"
    assert [found.code for found in lint_text(file, "setup.sh")] == ["limits-memlock-half"]


def test_exports_are_judged_as_a_file_and_as_a_here_document() -> None:
    line = "/opt *(ro,no_subtree_chek)"
    codes = [found.code for found in lint_text(line, "/etc/exports")]
    assert codes
    script = f"#!/bin/bash\ncat > /etc/exports <<EOF\n{line}\nEOF"
    assert [found.code for found in lint_text(script, "setup.sh")] == codes


def test_typography_in_a_written_file() -> None:
    script = "#!/bin/bash\ncat > /etc/modprobe.d/x.conf <<'EOF'\noptions hfi1 cu=“1”\nEOF"
    (found,) = [each for each in lint_text(script, "x.sh") if each.code == "file-typography"]
    assert (found.line, found.fix) == (3, 'options hfi1 cu="1"')


def test_here_documents_know_their_lines_and_their_quotes() -> None:
    lines = ("cat <<A", "x <<B", "A", "cat <<-'E.1'", "\ty", "\tE.1", "# <<C", "C", "cat <<D")
    recipe = Recipe("x.sh", "script", lines)
    assert {at: (one.lines, one.quoted) for at, one in heredocs(recipe).items()} == {
        1: (("x <<B",), False),
        4: (("\ty",), True),
    }
    assert lines_inside(recipe) == {2, 5}


@pytest.mark.parametrize("head", ["#!/bin/bash\ncat > /etc/modprobe.d/x.conf <<'EOF'\n", ""])
def test_a_fix_keeps_the_end_of_a_line_however_long(head: str) -> None:
    line = f"options hfi1 krcvqs=3,3,3,3,3,3,3 {'x' * 10_000} end"
    text = f"{head}{line}\nEOF" if head else line
    name = "setup.sh" if head else "/etc/modprobe.d/x.conf"
    fixes = [found.fix for found in lint_text(text, name) if found.fix]
    assert fixes
    assert all(fix.endswith("x end") for fix in fixes)
