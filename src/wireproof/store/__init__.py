"""Run folders: sealed into Parquet, read back years later. No server, no lock."""
