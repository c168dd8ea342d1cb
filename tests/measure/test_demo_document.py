"""The last lines of the demo."""

from wireproof.measure.document import demo_document
from wireproof.report.ink import Look
from wireproof.report.text import document_text


def test_the_demo_ends_with_what_was_found() -> None:
    found = demo_document({"a slow node": "n3 sends slowly", "shared memory": "off-wire"})
    assert found.verdict == "pass"
    said = document_text(found, Look(width=60)).splitlines()
    assert said[0].startswith("PASS  2 of 2 injected faults")
    assert any("a slow node: n3 sends slowly" in line for line in said)
    assert max(map(len, said)) <= 60


def test_a_fault_that_was_missed_is_named() -> None:
    found = demo_document({"a slow node": "", "shared memory": "off-wire"})
    assert found.verdict == "fail"
    said = document_text(found)
    assert "1 of 2 injected faults" in said
    assert "MISSED:  a slow node" in said
