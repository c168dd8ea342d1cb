"""The forms of a report, by the names that ``report --format`` has for them."""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["FORMS", "Form"]

Form = Literal["html", "markdown", "svg", "pdf", "png"]
"""A page, Markdown, every figure as SVG or PNG, the page on paper."""
FORMS: tuple[Form, ...] = get_args(Form)
