"""What is done apart: a run is judged and rendered, two are compared."""

import dataclasses
from pathlib import Path

import msgspec

from wireproof.model.history import Entry, Imported

MOST_SERIES = 200
"""Of one log that are shown on its page."""


def run_page(folder: Path) -> bytes:
    """The report of a result, judged by the rules of this version."""
    from wireproof.workflow.export import page_of
    from wireproof.workflow.report import ReportSpecification, report
    from wireproof.workflow.reporter import LoggingReporter

    (again,) = report(ReportSpecification(folders=(folder,), pages=False), LoggingReporter())
    runs = [part.section for part in again.result.parts]
    return page_of(runs, again.title, home="index.html").encode()


def log_page(root: Path, entry: Entry, imported: Imported) -> bytes:
    """The page of an imported log, judged by the rules of this version."""
    from wireproof.report.document import Text
    from wireproof.report.documents.board import framed
    from wireproof.report.documents.history import log_document
    from wireproof.workflow.history.logs import judged_again

    judged = judged_again(root, entry, imported)
    more = len(judged.series) - MOST_SERIES
    shown = msgspec.structs.replace(judged, series=judged.series[:MOST_SERIES])
    document = log_document(entry, shown)
    if more > 0:
        rest = Text(f"and {more} more: `wireproof history show` has them all", "note")
        document = dataclasses.replace(document, parts=(*document.parts, rest))
    return framed(document, str(root)).encode()


def comparison(a: Path, b: Path) -> bytes:
    """Two results held against each other, as MessagePack."""
    from wireproof.workflow.compare import CompareSpecification, compare
    from wireproof.workflow.reporter import LoggingReporter

    return msgspec.msgpack.encode(compare(CompareSpecification(a=a, b=b), LoggingReporter()))
