"""Signatures of a dossier, and the file of criteria that it is judged by."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.dossiers import dossier_of, refused, resealed, verified

from wireproof.archive.verify import NOT_SIGNED, verification_document
from wireproof.model.claim import Criteria
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.options.resolve import read_criteria
from wireproof.report.ink import Look
from wireproof.report.text import document_text
from wireproof.store import signature
from wireproof.store.manifest import MANIFEST
from wireproof.store.signature import sign


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dossier_of(tmp_path_factory.mktemp("dossier") / "made")


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    """The dossier on "another machine"."""
    shutil.copytree(made, tmp_path / "elsewhere")
    return tmp_path / "elsewhere"


SSH = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two SSH keys, ``seller`` and ``buyer``, and the file of signers of each."""
    place = tmp_path_factory.mktemp("keys")
    for name in ("seller", "buyer"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", place / name],
            check=True,
        )
        public = (place / f"{name}.pub").read_text()
        (place / f"{name}.signers").write_text(
            f'{name}@example.org namespaces="wireproof" {public}'
        )
    return place


@SSH
def test_a_signature_is_told_and_who_vouches_for_it(copy: Path, keys: Path) -> None:
    assert sign(copy, str(keys / "seller")).name == "SHA256SUMS.sig"
    assert sign(copy, str(keys / "buyer")).name == "SHA256SUMS.2.sig"
    assert [one.state for one in verified(copy).signatures] == ["valid", "valid"]
    found = verified(copy, keys / "seller.signers")
    assert sorted(one.state for one in found.signatures) == ["valid", "vouched"]
    text = document_text(verification_document(found), Look(width=2000))
    assert "for seller@example.org with ED25519 key" in text
    assert NOT_SIGNED not in text


@SSH
def test_a_signature_that_is_demanded_and_not_there(copy: Path, keys: Path) -> None:
    assert "is not signed" in refused(copy, keys / "seller.signers")
    sign(copy, str(keys / "buyer"))
    assert "not by anyone in" in refused(copy, keys / "seller.signers")


@SSH
def test_an_edit_that_is_sealed_anew_breaks_the_signature(copy: Path, keys: Path) -> None:
    sign(copy, str(keys / "seller"))
    (copy / "run-1" / "engine.log").write_text("a file more, sealed with the rest\n")
    resealed(copy)
    assert "SHA256SUMS.sig is not a signature of this SHA256SUMS" in refused(copy)


@SSH
def test_one_that_is_signed_anew_by_another_is_not_vouched_for(copy: Path, keys: Path) -> None:
    (copy / "run-1" / "engine.log").write_text("a file more\n")
    sign(resealed(copy), str(keys / "buyer"))
    assert verified(copy).verdict == "pass"
    assert "not by anyone in" in refused(copy, keys / "seller.signers")


@SSH
@pytest.mark.parametrize("what", ["garbage", "empty", "link", "other purpose"])
def test_a_bad_signature_is_no_signature(copy: Path, keys: Path, what: str) -> None:
    place = copy / "SHA256SUMS.sig"
    if what == "link":
        place.symlink_to(keys / "seller")
    elif what == "other purpose":
        argv = ["ssh-keygen", "-Y", "sign", "-q", "-n", "file", "-f", keys / "seller"]
        done = subprocess.run(argv, input=(copy / MANIFEST).read_bytes(), capture_output=True)
        place.write_bytes(done.stdout)
    else:
        place.write_bytes(b"" if what == "empty" else b"\0garbage")
    assert "SHA256SUMS.sig" in refused(copy)


def test_without_the_tool_a_demanded_signature_cannot_be_told(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (copy / "SHA256SUMS.sig").write_text("x")
    (copy / "SHA256SUMS.minisig").write_text("x")
    (tmp_path / "signers").write_text("")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [one.state for one in verified(copy).signatures] == ["unchecked", "unchecked"]
    with pytest.raises(CouldNotMeasure, match="ssh-keygen"):
        verified(copy, tmp_path / "signers")


def test_a_key_that_is_not_there_is_said_before(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not a file: give the file of an SSH key"):
        signature.check_signer(str(tmp_path / "id_ed25519"))


@SSH
@pytest.mark.parametrize("name", ["SHA256SUMS.asc", "SHA256SUMS.2.asc"])
@pytest.mark.parametrize("kind", ["armor", "empty", "link"])
def test_a_signature_of_gnupg_is_never_a_pass(
    copy: Path, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    """Neither alone nor beside one that vouches; no program is run for it, no ~/.gnupg made."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for program in ("gpg", "gpgv"):
        (tmp_path / program).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    place = copy / name
    if kind == "link":
        place.symlink_to(keys / "seller")
    else:
        place.write_text("-----BEGIN PGP SIGNATURE-----\n" if kind == "armor" else "")
    wanted = "symbolic link" if kind == "link" else f"{name} is a GnuPG signature, which wireproof"
    assert wanted in refused(copy)
    sign(copy, str(keys / "seller"))
    assert wanted in refused(copy, keys / "seller.signers")
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "home").exists()
    place.unlink()
    assert verified(copy, keys / "seller.signers").verdict == "pass"


def test_a_gnupg_key_is_no_key(copy: Path) -> None:
    with pytest.raises(BadInput, match="GnuPG keys are no longer supported"):
        sign(copy, "seller@example.org")


# --- the file of criteria


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "sets nothing"),
        ("min_eficiency = 0.9", "did you mean min_efficiency?"),
        ("colour = 1", "no criterion 'colour'; there are min_efficiency"),
        ("min_efficiency = 1.5", "min_efficiency is 1.5: give a share from 0.01 to 1"),
        ("min_efficiency = nan", "give a share"),
        ("min_efficiency = true", "is True: give a share"),
        ("min_efficiency = '90 %'", "is '90 %': give a share"),
        ("min_payload_bytes = 1.5", "give a whole number of bytes"),
        ("[min_efficiency]\nvalue = 1", "give a share"),
        ("min_efficiency", "not TOML"),
        ("min_efficiency = 0.9\nmin_efficiency = 0.8", "not TOML"),
    ],
)
def test_criteria_that_cannot_be_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "agreed.toml"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        read_criteria(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_criteria_of_the_example_are_read() -> None:
    found = read_criteria(Path(__file__).parents[2] / "examples" / "acceptance" / "criteria.toml")
    assert found.criteria != Criteria()
