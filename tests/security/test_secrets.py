"""No password, token or key of a host or of the caller reaches anything that wireproof writes."""

import gzip
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import msgspec
import pytest
from tests.audit.trees import lay_out

from wireproof.model.record import FactFrame
from wireproof.model.secrets import masked
from wireproof.store.snapshot import read_snapshot, write_snapshot

CANARY = "Kanari7vogel"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"ro password={CANARY} quiet", "ro password=*** quiet"),
        (f"rd.iscsi.password={CANARY}", "rd.iscsi.password=***"),
        (f"netroot=iscsi:bob:{CANARY}@10.0.0.1::3260", "@10.0.0.1::3260"),
        (f"url=https://bob:{CANARY}@host/x", "url=https://bob:***@host/x"),
        (f"FI_TOKEN={CANARY}", "FI_TOKEN=***"),
        (f"UCX_SECRET_X: {CANARY}", "UCX_SECRET_X: ***"),
        (f"AccountingStoragePass={CANARY}", "AccountingStoragePass=***"),
        (f"DB_PASSWORD='{CANARY} {CANARY}' x", "DB_PASSWORD=*** x"),
        (f'"api-key": "{CANARY}", "b": 1', '"api-key": ***, "b": 1'),
        (f"mount --password {CANARY} x", "mount --password *** x"),
        (f"-----BEGIN RSA PRIVATE KEY-----\n{CANARY}\n", "PRIVATE KEY"),
        (f"ghp_{CANARY * 2}", "***"),
    ],
)
def test_what_looks_like_a_secret_is_masked(text: str, kept: str) -> None:
    assert CANARY not in masked(text)
    assert kept in masked(text)
    assert masked(masked(text)) == masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "BOOT_IMAGE=/vmlinuz root=/dev/sda2 ro iommu=pt intel_pstate=disable",
        "UCX_NET_DEVICES=mlx5_0:1 I_MPI_HYDRA_BOOTSTRAP=ssh bypass=1 compass=3 tokens=5",
        "Linux version 5.14.0 (mock@build) 0000:c1:00.0 4: ACTIVE",
        "Max locked memory         unlimited            unlimited            bytes",
    ],
)
def test_what_does_not_is_kept(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize("piece", ["pass_", "a:", "--", "eyJ-", 'password="', "-----BEGIN ", "="])
def test_no_text_takes_long(piece: str) -> None:
    """256 KiB of what an expression begins with: quadratic work would not end in a test's time."""
    text = piece * ((1 << 18) // len(piece))
    assert CANARY not in masked(f"{text}\npassword={CANARY}")


def _plant(tmp_path: Path) -> Path:
    """A host's files with the canary wherever secrets are."""
    places = {
        "proc/cmdline": f"root=/dev/sda2 password={CANARY} netroot=iscsi:bob:{CANARY}@10.0.0.1",
        "proc/1/environ": f"DB={CANARY}",
        "proc/self/environ": f"DB={CANARY}",
        "etc/shadow": f"root:{CANARY}:1::::::",
        "etc/ssh/ssh_host_rsa_key": CANARY,
        "etc/munge/munge.key": CANARY,
        "etc/slurm/slurm.conf": f"{CANARY}\nAccountingStoragePass={CANARY}",
        "etc/psm3.conf": f"PSM3_TOKEN={CANARY}",
        "etc/sysconfig/irqbalance": f"IRQBALANCE_ARGS=--password {CANARY}",
        "environment": f"SECRET={CANARY}",
        "root/.ssh/id_rsa": CANARY,
        "sos_commands/networking/ethtool_-k_eth2": f"token: {CANARY}\nscatter-gather: on",
    }
    return lay_out(tmp_path / "sosreport-n1", "icelake-e810", places)


def _written(folder: Path) -> bytes:
    """All bytes below the folder, unpacked."""
    texts = []
    for file in folder.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            texts.append(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
    return b"\n".join(texts)


def _run(out: Path, *argv: str) -> bytes:
    environment = {
        **os.environ,
        "AWS_SECRET_ACCESS_KEY": CANARY,
        "DB_PASSWORD": CANARY,
        "PSM3_TOKEN": CANARY,
        "UCX_URL": f"https://bob:{CANARY}@host",
        "TMPDIR": str(out),
        "XDG_CACHE_HOME": str(out),
    }
    done = subprocess.run(
        [sys.executable, "-m", "wireproof", *argv],
        capture_output=True,
        env=environment,
        cwd=out,
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, 1, 3), done.stderr
    return done.stdout + done.stderr


@pytest.mark.engine
@pytest.mark.parametrize("form", ["text", "json", "html", "sarif", "junit"])
def test_an_audit_writes_no_secret_of_a_host(form: str, tmp_path: Path) -> None:
    source, out = _plant(tmp_path), tmp_path / "out"
    out.mkdir()
    if form in ("json", "junit"):
        packed = tmp_path / "sosreport-n1.tar.gz"
        with tarfile.open(packed, "w:gz") as archive:
            archive.add(source, source.name)
        source = packed
    argv = ("audit", "--from", str(source), "--all", "--format", form, "--snapshot", "s")
    said = _run(out, *argv)
    assert b"scatter-gather" in _written(out), "the snapshot was written"
    assert CANARY.encode() not in said + _written(out)


@pytest.mark.engine
def test_an_audit_writes_no_secret_of_its_caller(tmp_path: Path) -> None:
    said = _run(tmp_path, "audit", "--all", "--json", "--snapshot", "s")
    assert b"PSM3_TOKEN=***" in _written(tmp_path), "the variables were read"
    assert CANARY.encode() not in said + _written(tmp_path)


@pytest.mark.engine
def test_a_measurement_writes_no_secret_of_its_caller(tmp_path: Path) -> None:
    argv = ("measure", "pingpong", "--transport", "tcp", "--sizes", "8", "--out", "result")
    said = _run(tmp_path, *argv)
    assert (tmp_path / "result").is_dir()
    assert CANARY.encode() not in said + _written(tmp_path)


def test_a_snapshot_of_before_is_masked_when_it_is_read(tmp_path: Path) -> None:
    frame = FactFrame(rank=0, kind="file", status="ok", path="/proc/cmdline", text="x")
    write_snapshot(tmp_path / "s", {"n1": [frame]})
    document = msgspec.msgpack.decode(gzip.decompress((tmp_path / "s").read_bytes()))
    document["texts"] = [
        f"password={CANARY}" if text == "x" else text for text in document["texts"]
    ]
    (tmp_path / "s").write_bytes(gzip.compress(msgspec.msgpack.encode(document)))
    assert read_snapshot(tmp_path / "s")["n1"][0].text == "password=***"
