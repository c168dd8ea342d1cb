"""Results over time: history and its pages, comparison, dossier, gate."""
