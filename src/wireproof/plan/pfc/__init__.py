"""Buffers that priority flow control needs to lose nothing. Pure; formulas with their sources."""
