"""What is done apart: a run is judged and rendered, two are compared."""

from __future__ import annotations

from pathlib import Path

import msgspec

from wireproof.model.history import Entry, Imported

__all__ = ["comparison", "log_text", "run_page"]

MOST_SERIES = 200
"""Of one log that are shown on its page."""


def run_page(folder: Path) -> bytes:
    """The report of a result, judged by the rules of this version."""
    from wireproof.report.html.page import render
    from wireproof.workflow.report import ReportSpecification, report
    from wireproof.workflow.reporter import LoggingReporter

    (again,) = report(ReportSpecification(folders=(folder,), pages=False), LoggingReporter())
    return render(
        [part.section for part in again.result.parts], again.title, home="index.html"
    ).encode()


def log_text(root: Path, entry: Entry, imported: Imported) -> bytes:
    """An imported log, judged by the rules of this version, as text."""
    from wireproof.report.documents.history import log_document
    from wireproof.report.text.document import document_text
    from wireproof.workflow.history.logs import judged_again

    judged = judged_again(root, entry, imported)
    more = len(judged.series) - MOST_SERIES
    shown = msgspec.structs.replace(judged, series=judged.series[:MOST_SERIES])
    rest = f"and {more} more: `wireproof history show` has them all" if more > 0 else ""
    return f"{document_text(log_document(entry, shown))}{rest}".encode()


def comparison(a: Path, b: Path) -> bytes:
    """Two results held against each other, as MessagePack."""
    from wireproof.workflow.compare import CompareSpecification, compare
    from wireproof.workflow.reporter import LoggingReporter

    return msgspec.msgpack.encode(compare(CompareSpecification(a=a, b=b), LoggingReporter()))
