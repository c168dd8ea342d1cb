"""An acceptance check from the command line: made, signed, carried away, verified."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.cli.verb import document, one_sentence, wireproof

pytestmark = pytest.mark.engine
ARGV = ("check", "--transport", "model", "--hosts", "n[1-3]", "--budget", "1ms", "--link", "edr")
SSH = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("key") / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", place], check=True)
    return place


@SSH
def test_from_the_check_to_the_verdict_elsewhere(tmp_path: Path, key: Path) -> None:
    agreed = tmp_path / "agreed.toml"
    agreed.write_text("min_efficiency = 0.95\n")
    signers = tmp_path / "signers"
    signers.write_text(f"seller {key.with_suffix('.pub').read_text()}")
    made = tmp_path / "made"
    more = ("--profile", "acceptance", "--criteria", agreed, "--sign", key, "--out", made)
    done = wireproof(*ARGV, *more)
    assert done.returncode == 3, done.stderr
    assert "signature:" in done.stderr
    assert len(list(made.glob("run-*"))) >= 10  # a late launch has another attempt
    place = shutil.copytree(made, tmp_path / "elsewhere" / "dossier")

    done = wireproof("dossier", "verify", place, "--signers", signers)
    assert done.returncode == 3, done.stderr
    assert "min_efficiency" in done.stdout
    assert "agreed.toml" in done.stdout
    assert "for seller with ED25519 key" in " ".join(done.stdout.split())
    assert done.stdout.startswith("INCONCLUSIVE  ")
    found = document(wireproof("dossier", "verify", place, "--json"))
    assert (found["schema"], found["verdict"]) == ("wireproof.dossier", "inconclusive")

    with (place / "run-3" / "frames.jsonl").open("ab") as file:
        file.write(b"\n")
    done = wireproof("dossier", "verify", place, "--json")
    assert done.returncode == 2
    assert "run-3/frames.jsonl was changed" in one_sentence(done)
    assert document(done)["verdict"] is None

    done = wireproof(*ARGV, *more[:4], "--resume", "--out", made)
    assert "its signatures are removed" in done.stderr
    again = wireproof("dossier", "verify", made)
    assert again.returncode == 3, again.stderr
    assert "checksums reveal accidents, not intent" in " ".join(again.stdout.split())


def test_a_key_or_criteria_that_cannot_be_used_cost_no_measurement(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = wireproof(*ARGV, "--profile", "acceptance", "--sign", tmp_path / "no", "--out", out)
    assert done.returncode == 2
    assert "is not a file: give the file of an SSH key" in one_sentence(done)
    done = wireproof(*ARGV, "--sign", "x", "--out", out)
    assert "give both" in one_sentence(done)
    bad = tmp_path / "bad.toml"
    bad.write_text("min_eficiency = 1\n")
    done = wireproof(*ARGV, "--criteria", bad, "--out", out)
    assert done.returncode == 2
    assert "did you mean min_efficiency?" in one_sentence(done)
    assert not out.exists()


def test_criteria_decide(tmp_path: Path) -> None:
    """The thresholds of the file are those of the result."""
    agreed = tmp_path / "agreed.toml"
    agreed.write_text("peer_ratio = 0.5\nmin_payload_bytes = 4096\n")
    found = document(wireproof(*ARGV, "--criteria", agreed, "--out", tmp_path / "out", "--json"))
    assert found["criteria"]["peer_ratio"] == 0.5
    assert found["criteria"]["min_payload_bytes"] == 4096
    stored = json.loads((tmp_path / "out" / "result.json").read_bytes())
    assert stored["parts"][0]["criteria"]["peer_ratio"] == 0.5
    assert not (tmp_path / "out" / "SHA256SUMS").exists()
