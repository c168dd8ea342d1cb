"""Every error code that a run can hold has its finding; no code is listed that nothing emits."""

import re
from pathlib import Path

from wireproof.verdict.catalogue import CATALOGUE, ENGINE

ROOT = Path(__file__).parent.parent.parent
_ENGINE = (
    r'\b(?:cannot_measure|CannotBegin|error_frame|fail)\(\s*"([a-z]+(?:-[a-z]+)*)"',
    r'\bFailure\(\s*ExitStatus::\w+,\s*"([a-z-]+)"',
    r'\\"code\\":\\"([a-z-]+)\\"',
)
_HEAD = (r'\bEngineError\(\s*code="([a-z-]+)"',)
_CONSTANT = (r"\bEngineError\(\s*code=([A-Z_]+)",)


def found(files: list[Path], patterns: tuple[str, ...]) -> set[str]:
    texts = [path.read_text() for path in files]
    return {code for text in texts for one in patterns for code in re.findall(one, text)}


def engine_sources() -> list[Path]:
    """All but the tests and the node agent, which writes no frames of a run."""
    files = [path for end in ("cpp", "hpp") for path in (ROOT / "engine").rglob(f"*.{end}")]
    return [path for path in files if not {"tests", "node"} & set(path.parts)]


def test_the_table_lists_exactly_the_codes_that_are_emitted() -> None:
    emitted = found(engine_sources(), _ENGINE)
    python = list((ROOT / "src" / "wireproof").rglob("*.py"))
    emitted |= found(python, _HEAD)
    for name in found(python, _CONSTANT):
        emitted |= found(python, (rf'(?m)^{name} = "([a-z-]+)"$',))
    assert {"bad-plan", "deadline", "interrupted", "tcp-lost", "wire-late"} <= emitted
    assert emitted == set(ENGINE)


def test_each_code_leads_to_a_finding_of_the_catalogue() -> None:
    assert set(ENGINE.values()) <= set(CATALOGUE)


def test_each_finding_of_the_catalogue_is_named_by_the_code() -> None:
    """A finding that nothing reports would be explained and never shown."""
    files = [path for end in ("py", "toml") for path in (ROOT / "src").rglob(f"*.{end}")]
    text = "\n".join(path.read_text("utf-8") for path in files)
    assert [code for code in CATALOGUE if f'"{code}"' not in text] == []
