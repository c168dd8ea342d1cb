"""The search of the pages, from files: the words that people use find the page, with an excerpt."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest
from tests.browser.visit import Visit
from tests.docs.markdown import ROOT

from pages import lay_out

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("sphinx") is None, reason="Sphinx is missing: `tools/setup docs`"
    ),
]

QUESTIONS = {
    "how do I undo what I changed": "tune.html",
    "which node is slow?": "locate.html",
    "did it use shared memory": "explain.html#shared-memory-suspected",
    "install without network": "install.html",
    "convert MB/s to Gb/s": "units.html",
    "run in a slurm prolog": "gate.html",
    "two rails": "rails.html",
    "prometheus": "gate.html",
    "PFC pause frames": "pfc.html",
    "compare two runs": "compare.html",
    "BIOS settings": "audit.html",
    "add my own NIC": "catalogue.html",
    "containers and pods": "prove.html",
    "iperf3 log": "judge.html",
    "two nics per node multirail": "rails.html",
    "bandwidth half": "locate.html",
    "json schema": "reference/json.html",
    "ucx tcp fallback": "explain.html",
    "ulimit": "settings.html",
    "hostfile": "launch.html",
    "gigabit vs gigabyte": "units.html",
    "persist across reboot": "tune.html",
    "is my benchmark right": "judge.html",
    "check sbatch file": "lint.html",
    "latency jumped after kernel upgrade": "compare.html",
    "theoretical max bandwidth ndr": "physics.html",
    "no counters in vm": "prove.html",
    "hyperthreading": "settings.html",
    "exit codes": "subcommands.html",
    "noise other jobs": "explain.html",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    lay_out(folder / "pages")
    words = ("-q", "-W", "--keep-going", "-c", "docs", folder / "pages", folder / "site")
    subprocess.run([sys.executable, "-m", "sphinx", *words], cwd=ROOT, check=True, timeout=170)
    return folder / "site"


def _ask(visit: Visit, site: Path, question: str) -> tuple[list[str], list[str]]:
    visit.page.goto(f"file://{site}/search.html?q={quote_plus(question)}")
    links = visit.page.locator("#search-results h3 a")
    excerpts = visit.page.locator("#search-results h3 + p").all_inner_texts()
    assert visit.complaints == []
    return [link.get_attribute("href") for link in links.all()], excerpts


def test_the_answer_is_among_the_first_three(browser: Any, site: Path) -> None:
    missed = {}
    with Visit(browser, site / "search.html") as visit:
        for question, page in QUESTIONS.items():
            links, excerpts = _ask(visit, site, question)
            if not any(page in link for link in links[:3]):
                missed[question] = links[:3]
            assert all(excerpts[:3]), question
            records = ["/adr/" in link or link.startswith("CHANGELOG") for link in links]
            assert records == sorted(records), f"{question}: a record before a page in {links}"
    assert missed == {}


def test_a_question_is_text_and_nothing_else(browser: Any, site: Path) -> None:
    with Visit(browser, site / "search.html") as visit:
        visit.page.goto(f"file://{site}/search.html?q={quote_plus('<img src=x onerror=alert(1)>')}")
        assert visit.page.locator("#search-results img").count() == 0
        assert visit.page.locator("#search-results h1").inner_text().endswith("alert(1)>")
        assert visit.dialogs == []
