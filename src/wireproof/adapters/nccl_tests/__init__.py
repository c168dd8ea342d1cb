"""NVIDIA's and AMD's collective tests: nccl-tests, rccl-tests."""

from __future__ import annotations

from wireproof.adapters.nccl_tests.output import ADAPTER

__all__ = ["ADAPTER"]
