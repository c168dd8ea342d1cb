"""Logs of other tools: read them, and judge whether their numbers could be true."""
