"""The last lines of the demo."""

from __future__ import annotations

from wireproof.report.text.demo import ending_lines
from wireproof.report.text.look import Look


def test_the_demo_ends_with_what_was_found() -> None:
    look = Look(width=60)
    said = ending_lines({"a slow node": "n3 sends slowly", "shared memory": "off-wire"}, look)
    assert said[1] == "Demo OK: 2 of 2 injected faults found."
    assert "  found: a slow node: n3 sends slowly" in said
    assert max(map(len, said)) <= 60


def test_a_fault_that_was_missed_is_named() -> None:
    said = ending_lines({"a slow node": "", "shared memory": "off-wire"}, Look(width=80))
    assert said[1] == "Demo FAILED: 1 of 2 injected faults found."
    assert "  MISSED: a slow node" in said
    assert "fails above" not in "\n".join(said)
