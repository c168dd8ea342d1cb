"""Priority flow control under load, read before and after it, live or from stored texts."""

from wireproof.workflow.pfc.report import PfcOptions, pfc_report

__all__ = ["PfcOptions", "pfc_report"]
