"""The acceptance dossier: sealed by a check, signed, and verified by anyone."""
