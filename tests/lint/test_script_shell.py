"""Command lines as people write them, and what kind of recipe a text is."""

from pathlib import Path

import pytest

from wireproof.lint.check import fixed, lint_text, repaired
from wireproof.lint.rule import Recipe, detected, views
from wireproof.lint.script import jobs
from wireproof.lint.script.variables import nearest
from wireproof.lint.shell import Command, commands, corrected, segments


def read(text: str, name: str = "page.txt") -> tuple[Command, ...]:
    return commands(Recipe(name, "script", tuple(text.split("\n"))))


@pytest.mark.timeout(30)
@pytest.mark.parametrize("word", ["if", "A=1"])
def test_the_time_is_linear_in_the_words_of_a_line(word: str) -> None:
    """20 MiB are read; each word took as long as all words before it."""
    read(f"{word} " * 200_000 + "ping -c 3 n2", "job.sh")


def words(text: str, name: str = "page.txt") -> list[list[str]]:
    return [list(command.texts) for command in read(text, name)]


@pytest.mark.parametrize(
    "line",
    [
        "ping -c 3 n2",
        "$ ping -c 3 n2",
        "$> ping -c 3 n2",
        "- \\$> ping -c 3 n2",
        "- \\Rightarrow ping -c 3 n2",
        "* ping -c 3 n2",
        "4. ping -c 3 n2       // on server node",
        "[user@node01 ~]$ ping -c 3 n2",
        "[root@head ~]# ping -c 3 n2",
        "(base) [user@node01 ~]$ ping -c 3 n2",
        "user@node01:~/run$ ping -c 3 n2",
        "client: ping -c 3 n2",
        "    ping -c 3 n2   # a comment",
        "ping -c 3 \\\n   n2",
        'ping "-c" \'3\' n"2"',
    ],
)
def test_prompts_numbers_bullets_and_labels_are_no_part_of_a_command(line: str) -> None:
    assert words(line) == [["ping", "-c", "3", "n2"]]


@pytest.mark.parametrize(
    "before",
    [
        "pdsh -w c1",
        "pdsh -R ssh -w c[1-2]",
        "sudo",
        "sudo -u root",
        "ssh -o BatchMode=yes n1",
        "time",
        "timeout 60",
        "timeout -k 5 60",
        "nohup",
        "numactl --cpunodebind=0 -m 0",
        "taskset -c 0-3",
        "taskset 0xf",
        "env A=1 -u B",
        "srun -N 2 --ntasks-per-node=1 --mpi=pmix",
        "mpirun -np 2 -x A=b --mca btl self,tcp --map-by ppr:1:node",
        "mpiexec.hydra -genv A 1 -genv B=2 -hosts n1,n2 -ppn 1 -n 2",
        "sudo pdsh -w c1 timeout 9",
    ],
)
def test_a_rule_sees_the_program_behind_its_wrappers(before: str) -> None:
    found = words(f"{before} ping -c 3 n2")
    assert found[0] == [*before.split(), "ping", "-c", "3", "n2"]
    assert found[-1] == ["ping", "-c", "3", "n2"]


def test_separators_redirections_and_assignments() -> None:
    first, second, third = read("A=1 B='2 3' prog <in >>out 2>&1 && x | y &")
    assert [word.text for word in first.assignments] == ["A=1", "B=2 3"]
    assert first.texts == ("prog",)
    assert [(each.operator, each.target.text) for each in first.redirects] == [
        ("<", "in"),
        (">>", "out"),
        ("2>&", "1"),
    ]
    assert (second.texts, third.texts) == (("x",), ("y",))


def test_two_commands_that_a_page_joined_into_one_line() -> None:
    assert words('$> echo "a b" >> $C/etc/fstab $> systemctl restart x') == [
        ["echo", "a b"],
        ["systemctl", "restart", "x"],
    ]


def test_sentences_are_no_commands() -> None:
    assert (
        words(
            "Run a ping test to ensure that it is running.\nqperf is a benchmark that is included "
            "in OFED.\n"
        )
        == []
    )
    assert words("# ping -c 1 n1\n") == []


def test_a_script_may_use_any_word() -> None:
    assert words("#!/bin/sh\necho this is the end of it and that was all\n")[0][0] == "echo"


def test_here_documents_are_not_commands_but_known() -> None:
    every = read("#!/bin/sh\ncat > /etc/hosts <<'EOF'\nping -c n1\nEOF\nls\n", "a.sh")
    assert [command.program for command in every] == ["cat", "ls"]
    assert (every[0].heredoc.line, every[0].heredoc.lines) == (3, ("ping -c n1",))


def test_quotes_over_lines_in_scripts_only() -> None:
    script = "#!/bin/sh\nawk '\n{ ping -c }\n' file\nls\n"
    assert [command.program for command in read(script, "a.sh")] == ["awk", "ls"]
    assert words("the user's file\nping -c 3 n2\nit's\n")[-2] == ["ping", "-c", "3", "n2"]


def test_typographic_characters_stay_visible() -> None:
    (command,) = read("modprobe –r “acpi_pad”")
    assert command.texts == ("modprobe", "–r", "“acpi_pad”")


def test_places_and_corrected_lines() -> None:
    recipe = Recipe("a.txt", "script", ("$ sudo ping -c \\", "    '10.0.0.1'  # why"))
    outer, inner = commands(recipe)
    assert (inner.line, inner.last, inner.words[0].column) == (1, 2, 8)
    assert (inner.words[2].line, inner.words[2].column, inner.words[2].raw) == (2, 5, "'10.0.0.1'")
    assert outer.words[0].text == "sudo"
    assert [word.text for word in inner.outer] == ["sudo"]
    fix = corrected(recipe, [(inner.words[1], "-c 3"), (inner.words[2], "n1")], 1, 2)
    assert fix == "$ sudo ping -c 3 \\\n    n1  # why"
    assert corrected(recipe, [(inner.words[1], "")], 1) == "$ sudo ping \\"


def test_segments_of_a_page() -> None:
    page = (
        "Text before the script is here.\n```\n#!/bin/bash\n#SBATCH -N 2\nsrun "
        "a\n```\nmore\n#!/bin/sh\nls\n"
    )
    recipe = Recipe("p.md", "script", tuple(page.split("\n")))
    assert [(part.first, part.last) for part in segments(recipe) if part.script] == [
        (3, 5),
        (8, 10),
    ]
    assert [job.count("--nodes") for job in jobs(recipe) if job.part.script] == [2, None]


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("/etc/modprobe.d/hfi1.conf", "", "modprobe"),
        ("job.slurm", "", "script"),
        ("job", "#!/bin/bash\nls\n", "script"),
        ("notes.txt", "options hfi1 krcvqs=4\n", "modprobe"),
        ("notes.txt", "ONBOOT=yes\nMTU=65520\n", "ifcfg"),
        ("notes.txt", "net.core.rmem_max = 1\n", "sysctl"),
        ("notes.txt", "options hfi1 krcvqs=4\nONBOOT=yes\n", "unknown"),
        ("notes.txt", "", "unknown"),
    ],
)
def test_kinds(name: str, text: str, kind: str) -> None:
    assert detected(name, tuple(text.split("\n"))) == kind


def test_a_page_is_seen_as_every_kind_that_it_holds_with_its_line_numbers() -> None:
    lines = ("Set this:", "options hfi1 num_vls=8", "and", "ONBOOT=yes", "MTU=65520")
    seen = {view.kind: view.lines for view in views(Recipe("p.txt", "unknown", lines))}
    assert seen["script"] == lines
    assert seen["modprobe"] == ("", "options hfi1 num_vls=8", "", "", "")
    assert seen["ifcfg"] == ("", "", "", "ONBOOT=yes", "MTU=65520")


def test_files_that_a_script_writes_are_judged() -> None:
    text = "#!/bin/sh\ncat > /etc/modprobe.d/hfi1.conf <<X\noptions hfi1 hfi1 num_vls=8\nX\n"
    found = [(each.code, each.line) for each in lint_text(text, "a.sh")]
    assert ("modprobe-module-repeated", 3) in found
    inner = "#!/bin/sh\nsbatch <<X\n#!/bin/bash -I\nsrun a\nX\n"
    assert [(each.code, each.line) for each in lint_text(inner, "a.sh")] == [("shebang-option", 3)]


def test_several_fixes_of_one_line_come_one_after_the_other() -> None:
    text = "export I_MPI_PROCESSOR_LIST=0-3 UCX_NET_DEVICE=mlx5_0:1\n"
    findings = lint_text(text, "a.sh")
    assert len(findings) == 2
    assert fixed(text, findings) == "export I_MPI_PIN_PROCESSOR_LIST=0-3 UCX_NET_DEVICE=mlx5_0:1\n"
    assert (
        repaired(text, "a.sh") == "export I_MPI_PIN_PROCESSOR_LIST=0-3 UCX_NET_DEVICES=mlx5_0:1\n"
    )


def test_a_cut_script_gives_no_finding_that_the_whole_has_not() -> None:
    """A prefix at a line's end may miss what comes later, but says nothing about it that is not
    so.
    """
    good = Path(__file__).resolve().parents[1] / "golden" / "recipes" / "good"
    for file in sorted(good.iterdir()):
        lines = file.read_text(encoding="utf-8").split("\n")
        for end in range(len(lines)):
            cut = "\n".join(lines[:end])
            if cut.endswith("\\") or "<<" in cut:
                continue  # inside a command; a here-document without its end is none
            assert {each.code for each in lint_text(cut, file.name)} <= {"program-missing"}, (
                file.name,
                end,
            )


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("UCX_TSL", "UCX_TLS"),
        ("NCCL_IB_HCAS", "NCCL_IB_HCA"),
        ("PSM3_NCI", "PSM3_NIC"),
        ("FI_TPC_IFACE", "FI_TCP_IFACE"),
        ("UCX_IB_GDI_INDEX", "UCX_IB_GID_INDEX"),
        ("UCX_TLS", None),
        ("UCX_XYZ", None),
        ("UCX_IB_ABC_INDEX", None),
    ],
)
def test_swapped_letters_and_plurals_of_short_words_are_misspelt(
    name: str, meant: str | None
) -> None:
    assert nearest(name) == meant


class _Unhashed(tuple[str, ...]):
    """Lines of which nobody may take a hash: each would look at all of them."""

    __slots__ = ()

    def __hash__(self) -> int:
        raise AssertionError("a hash of all lines")


def test_here_documents_are_looked_up_without_looking_at_the_whole_recipe() -> None:
    lines = _Unhashed(("cat <<END", "text", "END", "echo a"))
    first, second = commands(Recipe("job.sh", "script", lines))
    assert first.heredoc.lines == ("text",)
    assert second.heredoc is None


def test_a_redirection_over_an_existing_file_ends_no_command() -> None:
    (found,) = read("echo 1 >| /proc/sys/vm/nr_hugepages", "job.sh")
    assert [(one.operator, one.target.text) for one in found.redirects] == [
        (">|", "/proc/sys/vm/nr_hugepages")
    ]
