"""Adapters: what other benchmarks print, read into Series, and the options that they take. No
processes, no files.
"""

from __future__ import annotations

from wireproof.adapters.registry import adapter, adapter_names
from wireproof.adapters.scan import read

__all__ = ["adapter", "adapter_names", "read"]
