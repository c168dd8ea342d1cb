"""Adapters: what other benchmarks print, read into Series, and the options that they take. No
processes, no files.

``registry`` says what an adapter is and lists the tools, ``scan`` finds their results in a log.
Each tool has a module, or a folder of that name with its ``benchmarks`` (what each measures) and
more. They share ``page`` (a log as plain lines), ``rows`` (tables of numbers), ``documents`` (JSON)
and ``options`` (command lines); ``table`` reads a bare table that no tool has signed, ``headless``
rows without a heading.
"""

from wireproof.adapters.registry import adapter, adapter_names
from wireproof.adapters.scan import read

__all__ = ["adapter", "adapter_names", "read"]
