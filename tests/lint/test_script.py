"""Rules for scripts and command lines: the documents' own lines are found, their corrected forms
are not.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest

from wireproof.lint.check import lint_text, repaired
from wireproof.lint.rules import SCRIPT, book

RECIPES = Path(__file__).resolve().parents[1] / "golden" / "recipes"
MINE = {rule.code for rule in book(SCRIPT).rules.values()}


@dataclass(frozen=True)
class Pair:
    """``=== ERRATUM… CODE… [NAME]``, the wrong text, ``--- right``, the right text."""

    codes: tuple[str, ...]
    name: str
    wrong: str
    right: str


def pairs() -> list[Pair]:
    found = []
    for file in ("scripts.txt", "more.txt"):
        for block in ("\n" + (RECIPES / file).read_text(encoding="utf-8")).split("\n=== ")[1:]:
            head, _, body = block.partition("\n")
            wrong, _, right = body.partition("\n--- right\n")
            words = head.split()
            name = next((word for word in words if "." in word), "page.txt")
            codes = tuple(word for word in words if not word.isdigit() and word != name)
            found.append(Pair(codes, name, wrong, right))
    return found


PAIRS = pairs()
NAMES = [f"{at}-{pair.codes[0]}" for at, pair in enumerate(PAIRS)]


def mine(text: str, name: str) -> set[str]:
    return {finding.code for finding in lint_text(text, name) if finding.code in MINE}


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_the_wrong_form_is_found(pair: Pair) -> None:
    assert mine(pair.wrong, pair.name) == set(pair.codes)


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_the_right_form_gives_no_finding(pair: Pair) -> None:
    assert mine(pair.right, pair.name) == set()


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_windows_line_ends_change_nothing_else(pair: Pair) -> None:
    assert mine(pair.wrong.replace("\n", "\r\n"), pair.name) - {"dos-line-ends"} == set(pair.codes)


def test_windows_line_ends_of_a_script_are_told_once() -> None:
    assert mine("#!/bin/bash\r\n#SBATCH -N 2\r\nsrun ./a.out\r\n", "a.sh") == {"dos-line-ends"}
    assert mine("Start it:\r\n\r\n$ srun ./a.out\r\n", "a.txt") == set()


@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_a_fix_takes_its_finding_away(pair: Pair) -> None:
    for finding in lint_text(pair.wrong, pair.name):
        if finding.code in MINE and finding.fix:
            lines = pair.wrong.split("\n")
            lines[finding.line - 1 : max(finding.line, finding.last)] = finding.fix.split("\n")
            left = [
                (each.code, each.line, each.column)
                for each in lint_text("\n".join(lines), pair.name)
            ]
            assert (finding.code, finding.line, finding.column) not in left


def test_every_rule_has_a_pair() -> None:
    assert {code for pair in PAIRS for code in pair.codes} == MINE - {"dos-line-ends"}


@pytest.mark.parametrize("file", sorted((RECIPES / "good").iterdir()), ids=lambda file: file.name)
def test_good_recipes_give_no_finding(file: Path) -> None:
    assert lint_text(file.read_text(encoding="utf-8"), file.name) == []


def test_all_the_errata_in_one_page() -> None:
    """A page that holds everything at once finds the same codes as its parts."""
    page = "\n\nNow the next of the examples that we have seen in the document.\n\n".join(
        f"```\n{pair.wrong}\n```" for pair in PAIRS if "shebang-not-first" not in pair.codes
    )
    expected = {code for pair in PAIRS for code in pair.codes}
    whole_file = {
        "shebang-missing",
        "invisible-character",
        "shebang-not-first",
        "perftest-sides-differ",
        "export-none",
        "provider-other-fabric",
        *("rate-1024", "single-host", "pairs-on-one-node"),
    }
    whole_file.add("program-other-prefix")
    assert mine(page, "page.md") >= expected - whole_file


def test_safe_fixes_repair_the_script_and_stay_repaired() -> None:
    wrong = (
        "#!/bin/bash -I\n#SBATCH -N=2\nexport I_MPI_PROCESSOR_LIST=0-3\ncpupower –c all "
        "frequency-set –min 2GHz\n"
    )
    right = "#!/bin/bash -l\n#SBATCH -N 2\nexport I_MPI_PIN_PROCESSOR_LIST=0-3\n"
    right += "cpupower -c all frequency-set --min 2GHz\n"
    assert repaired(wrong, "job.sh") == right
    assert repaired(right, "job.sh") == right


def test_a_rule_can_be_allowed() -> None:
    text = (
        "#!/bin/bash\n# wireproof: allow path-overwritten, value-invalid\nexport PATH=/opt/x "
        "PSM3_RDMA=9\n"
    )
    assert mine(text, "a.sh") == set()


def test_places_are_exact() -> None:
    (finding,) = lint_text(
        "#!/bin/sh\n\n  mpirun -genv I_MPI_PROCESSOR_LIST 0-23 -n 2 ./a\n", "a.sh"
    )
    assert (finding.line, finding.column) == (3, 16)
    assert finding.fix == "  mpirun -genv I_MPI_PIN_PROCESSOR_LIST 0-23 -n 2 ./a"


@pytest.mark.parametrize("name", ["Allgather", "allgatherv", "Reduce_scatter_block", "Scatterv"])
def test_a_benchmark_that_imb_has_is_not_called_unknown(name: str) -> None:
    assert mine(f"#!/bin/sh\nmpirun -n 4 -ppn 1 IMB-MPI1 {name}\n", "a.sh") == set()
