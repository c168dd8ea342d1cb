"""The catalogue of rules: each code once, and each found by a check or a row."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from wireproof import catalogue
from wireproof.lint import check
from wireproof.lint import job as lint
from wireproof.lint.check import lint_text
from wireproof.lint.rules import book, rules
from wireproof.model.errors import BadInput
from wireproof.model.site import CatalogueFile, use_site
from wireproof.workflow.explain import explain

LINT = Path(check.__file__).parent
RULE = """\
[[rule]]
code = "site-rule"
sentence = "It is wrong here."
why = "It fails."
right = "x"
source = "the site"
"""


@pytest.fixture(autouse=True)
def _no_site() -> Iterator[None]:
    yield
    use_site(())


def site(text: str) -> None:
    use_site((CatalogueFile(text, "site.toml"),))


def test_every_rule_has_a_check_and_every_code_a_rule() -> None:
    written = {row.code for kind in book()[1:] for row in kind}
    for path in LINT.rglob("*.py"):
        written |= set(re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)+)"', path.read_text("utf-8")))
    assert not set(rules()) - written
    call = r'\b(?:Broken|at|at_word|broken|edited|misspelt|_at)\(\s*"([a-z0-9-]+)"'
    texts = [path.read_text("utf-8") for path in LINT.rglob("*.py")]
    yielded = {code for text in texts for code in re.findall(call, text)}
    assert yielded - set(rules()) == set()
    assert len(yielded) > 90


def test_a_second_rule_of_a_code_is_refused() -> None:
    site(RULE.replace("site-rule", "grub-name"))
    with pytest.raises(BadInput, match=r"site.toml, line 1: the rule 'grub-name' already exists"):
        rules()


def test_a_row_of_no_rule_is_refused() -> None:
    site('[[line]]\ncode = "no-such-rule"\nmatch = "x"\n')
    with pytest.raises(BadInput, match=r"site.toml, line 2: .code. is .no-such-rule."):
        rules()


@pytest.mark.parametrize(
    ("row", "line", "field"),
    [
        ('[[line]]\ncode = "site-rule"\nmatch = "("', 9, "match"),
        ('[[line]]\ncode = "site-rule"\nmatch = "a"\nchange = "\\\\1"', 10, "change"),
        ('[[line]]\ncode = "site-rule"\nmatch = "a"\nseen = "\\\\2"', 10, "seen"),
        ('[[line]]\ncode = "site-rule"\nmatch = 3', 9, "match"),
        ('[[line]]\ncode = "site-rule"\nmatch = "a"\nunles = "b"', 10, "unles"),
        ('[[variable]]\ncode = "site-rule"\nname = "A"\nallowed = "[z-a]"', 10, "allowed"),
        ('[[variable]]\ncode = "site-rule"\nname = "A"\nunless = "("', 10, "unless"),
        ('[[command]]\ncode = "site-rule"\nprogram = "a"\nbelow = "x"', 10, "below"),
        ('[[command]]\ncode = "site-rule"\nprogram = "a"\nwhere = "*"', 10, "where"),
        ('[[line]]\ncode = "site-rule"', 7, "match"),
    ],
)
def test_a_wrong_row_is_named_by_file_line_and_field(row: str, line: int, field: str) -> None:
    site(f"{RULE}{row}\n")
    with pytest.raises(BadInput, match=rf"^site.toml, line {line}: .*{field}"):
        rules()


def test_rows_of_a_site_are_found_and_mended() -> None:
    site(
        RULE + '[[line]]\ncode = "site-rule"\nmatch = "old(\\\\d)"\nchange = "new\\\\1"\n'
        '[[variable]]\ncode = "site-rule"\nname = "SITE_.*"\nallowed = "[01]"\nseen = "{name}"\n'
        '[[command]]\ncode = "site-rule"\nprogram = "launch"\noption = ["-n"]\nbelow = 4\n'
        'change = "4"\nseen = "{word} of {program}"\n'
    )
    text = "#!/bin/sh\necho old7\nexport SITE_A=2 SITE_B=1\nlaunch -n 2 ./x\nlaunch -n 5 ./x\n"
    findings = lint_text(text, "a.sh")
    assert [(each.line, each.column, each.fix) for each in findings] == [
        (2, 6, "echo new7"),
        (3, 8, ""),
        (4, 11, "launch -n 4 ./x"),
    ]
    assert [each.message.partition(": ")[2] for each in findings] == ["", "SITE_A", "2 of launch"]


def test_a_row_corrects_the_value_of_a_variable() -> None:
    site(
        RULE + '[[variable]]\ncode = "site-rule"\nname = "SITE_A"\nvalue = "x.*"\nhow = "export"\n'
        'unless = "module load new"\nchange = "{value}y"\n'
    )
    text = 'SITE_A=x\nexport SITE_A="x1" B=1\nsetenv SITE_A x\n'
    fixes = [(each.line, each.fix) for each in lint_text(text, "a.sh")]
    assert fixes == [(2, 'export SITE_A="x1y" B=1'), (3, "setenv SITE_A xy")]
    assert lint_text(f"module load new\n{text}", "a.sh") == []


def test_what_a_variable_holds_is_not_judged() -> None:
    site(
        RULE + '[[command]]\ncode = "site-rule"\nprogram = "launch"\noption = ["-n"]\n'
        'allowed = "4"\n'
    )
    assert lint_text("#!/bin/sh\nlaunch -n $N ./x\nlaunch -n 4 ./x\n", "a.sh") == []


def test_a_pattern_without_end_is_named_after_a_fix_and_by_explain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site(
        f"{RULE}safe = true\n"
        '[[line]]\ncode = "site-rule"\nmatch = "(?:a+)+!"\n'
        f'[[line]]\ncode = "site-rule"\nmatch = "bad"\nchange = "{"a" * 60}"\n'
    )
    monkeypatch.setattr(catalogue, "LONGEST_S", 0.5)
    file = lint.LintedFile(name="a.sh", text="#!/bin/sh\necho bad\n")
    with pytest.raises(BadInput, match=r"site\.toml"):
        lint.mend(file, lint.Filter())
    with pytest.raises(BadInput, match=r"site\.toml"):
        explain(f"UCX_TLS={'a' * 60}")


def test_a_rows_pattern_without_end_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site(RULE + '[[line]]\ncode = "site-rule"\nmatch = "(?:a+)+!"\n')
    (tmp_path / "slow.sh").write_text(f"#!/bin/sh\necho {'a' * 60}\n")
    with monkeypatch.context() as patch:
        patch.setattr(catalogue, "LONGEST_S", 0.5)
        found = lint.lint_file(str(tmp_path / "slow.sh"), lint.Filter())
    assert not found.bug
    assert "site.toml" in found.error
    (tmp_path / "good.sh").write_text("#!/bin/sh\necho aa!\n")
    (one,) = lint.lint_file(str(tmp_path / "good.sh"), lint.Filter()).findings
    assert one.code == "site-rule"
