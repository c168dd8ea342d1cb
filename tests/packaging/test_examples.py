"""The examples do what their page says."""

import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.engine
def test_plan_by_hand_gives_the_numbers_of_its_page(engine_folder: Path) -> None:
    command = [
        str(engine_folder / "wireproof-engine.nompi"),
        "run",
        "--plan",
        str(ROOT / "examples" / "model.plan"),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    frames = [json.loads(line) for line in ended.stdout.splitlines()]
    found = {
        frame["message_bytes"]: frame["pairs"][0] for frame in frames if frame["frame"] == "point"
    }
    page = (ROOT / "examples" / "README.md").read_text()
    for message_bytes, half_round_trip_ns in {8: 1700.64, 65536: 8942.88}.items():
        assert found[message_bytes]["estimate"]["median_ns"] == pytest.approx(
            half_round_trip_ns, rel=1e-9
        )
        assert f"= {half_round_trip_ns} ns" in page
    assert {pair["integrity"] for pair in found.values()} == {"ok"}


def test_every_example_is_on_the_page() -> None:
    page = (ROOT / "examples" / "README.md").read_text()
    for entry in (ROOT / "examples").iterdir():
        assert entry.name == "README.md" or f"`{entry.name}" in page, (
            f"examples/README.md does not name {entry.name}"
        )
