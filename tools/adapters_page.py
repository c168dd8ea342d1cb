"""Writes docs/adapters.md from the catalogue of port counters."""

from pathlib import Path

from wireproof.analysis.catalogue import FAMILIES
from wireproof.report.adapters import adapters_page

Path(__file__).resolve().parents[1].joinpath("docs", "adapters.md").write_text(
    adapters_page(FAMILIES)
)
