"""Run folders: sealed into Parquet, readable years later. No server, no lock."""
