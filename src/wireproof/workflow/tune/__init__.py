"""The work of ``wireproof tune``: plan, apply, confirm, revert, status, export, residue, try."""
