"""Text for a terminal or a file: summaries, tables and progress."""
