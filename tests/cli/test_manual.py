"""The manual pages: complete, and nothing in a help text is taken for a request of roff."""

import re
import shutil
from pathlib import Path

import click
import pytest
from tests.processes import ran

from wireproof.cli.help import contexts, entry, pages, paragraphs, section, title, verbatim
from wireproof.cli.subcommands import SUBCOMMANDS, root

ROOT = root()
PAGES = pages(ROOT)
HOSTILE = (
    ".so /etc/passwd",
    "'\\\" comment",
    "a\\*[HOME]b \\fBbold",
    "--no-audit -1 ~/.x `date` ^2",
    "…, ×, 100 ± 2 %",
    "x\x1b[31m\n.ig",
)


def _shown(page: str) -> str:
    """As groff prints it for a terminal; it warns of nothing."""
    if shutil.which("groff") is None:
        pytest.skip("groff is missing")
    done = ran(["groff", "-man", "-Tascii", "-ww", "-P-cbou", "-rLL=300n"], input=page, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def _plain(page: str) -> str:
    return page.replace(r"\-", "-").replace(r"\fB", "").replace(r"\fI", "").replace(r"\fR", "")


def test_there_is_a_page_of_each_subcommand() -> None:
    assert {f"wireproof-{name}.1" for name in SUBCOMMANDS} | {"wireproof.1"} <= set(PAGES)
    assert {"wireproof-tune-plan.1", "wireproof-lab-up.1"} <= set(PAGES)


@pytest.mark.parametrize("context", list(contexts(ROOT)), ids=lambda one: one.command_path)
def test_every_option_is_on_its_page(context: click.Context) -> None:
    page = _plain(PAGES[f"{context.command_path.replace(' ', '-')}.1"])
    terms = [term.partition("\n")[0] for term in page.split("\n.TP\n")]
    named = {word.rstrip(",") for term in terms for word in term.split()}
    for option in context.command.get_params(context):
        if isinstance(option, click.Option) and not option.hidden:
            assert {*option.opts, *option.secondary_opts} <= named


def test_groff_warns_of_no_page() -> None:
    shown = _shown("\n".join(PAGES.values()))
    assert "wireproof-check - Is this interconnect normal? Measures, proves, judges" in shown
    assert "wireproof check --slurm -N 16 -p compute --profile standard" in shown


@pytest.mark.skipif(shutil.which("man") is None, reason="man is missing")
def test_man_shows_a_page(tmp_path: Path) -> None:
    page = tmp_path / "wireproof-gate.1"
    page.write_text(PAGES[page.name])
    done = ran(["man", "-l", str(page)], timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "nagios" in done.stdout


def test_pages_are_ascii_and_begin_no_line_with_a_request_of_a_text() -> None:
    ours = re.compile(r"\.(TH|SH|SS|PP|TP|RS|RE|nf|fi|nh|ad)\b")
    for page in PAGES.values():
        assert page.isascii()
        assert all(ours.match(line) for line in page.splitlines() if line[:1] in (".", "'"))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_letters_are_printed(text: str) -> None:
    made = [*title("x", 1, text, text), section(text), *paragraphs(text), *entry("-x", text)]
    shown = _shown("\n".join([*made, *verbatim([text]), ""]))
    first = text.partition("\n")[0].replace("\x1b", r"\x1b").replace("…", "...")
    beyond = re.compile(r"[^\x21-\x7e]")
    if first.isascii():
        assert beyond.sub("", shown).count(beyond.sub("", first)) >= 3


def test_a_paragraph_that_keeps_its_lines_keeps_its_blanks() -> None:
    shown = _shown(
        "\n".join([*title("x", 1, "", ""), *paragraphs("One.\n\n\b\n  .a    b\nc\n"), ""])
    )
    lines = [line.rstrip() for line in shown.splitlines()]
    at = next(at for at, line in enumerate(lines) if ".a" in line)
    assert lines[at].lstrip() == ".a    b"
    assert lines[at].index(".a") == lines[at + 1].index("c") + 2
