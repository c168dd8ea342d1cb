"""Tables of the tests of this folder (tables.toml)."""

import tomllib
from pathlib import Path

TABLES = tomllib.loads(Path(__file__).with_name("tables.toml").read_text(encoding="utf-8"))
