"""Judged runs as text, Markdown and pages, for tests."""

from collections.abc import Sequence
from pathlib import Path

from wireproof.measure.document import run_document
from wireproof.measure.export import page_of
from wireproof.report.answers import answers
from wireproof.report.document import Document, Table, words_of
from wireproof.report.ink import PLAIN, Look
from wireproof.report.judged_run import JudgedRun
from wireproof.report.markdown import document_markdown
from wireproof.report.text import document_text

__all__ = ["answered", "markdown_of", "page_of", "tables_of", "text_of", "write"]


def text_of(run: JudgedRun, look: Look = PLAIN) -> str:
    """What a terminal shows of one run."""
    return document_text(run_document([run], run.title, brief=True), look)


def tables_of(run: JudgedRun, look: Look = PLAIN) -> str:
    """The tables of it alone."""
    parts = run_document([run], run.title, brief=True).parts
    return document_text(Document("", "", tuple(p for p in parts if isinstance(p, Table))), look)


def answered(run: JudgedRun, question: str) -> tuple[str, str]:
    """The short answer to a question, and its text."""
    item = next(one for one in answers(run) if question in one.word)
    return item.text, " ".join(words_of(text) for _, text in item.details)


def markdown_of(runs: Sequence[JudgedRun], title: str) -> str:
    return document_markdown(run_document(runs, title))


def write(path: Path, page: str) -> Path:
    path.write_text(page, encoding="utf-8")
    return path
