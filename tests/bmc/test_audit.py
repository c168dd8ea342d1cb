"""``wireproof audit --bmc`` against sushy-tools' emulator: as a user starts it."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.bmc.certificate import Certificate, make_certificate
from tests.bmc.emulator import PASSWORD, Emulator, emulated
from tests.bmc.server import PASSWORD as SERVED
from tests.bmc.server import Board, served
from tests.cli.verb import document, one_sentence, wireproof

from wireproof.model.errors import BadInput
from wireproof.options.bmc import BmcOptions, bmcs_of

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def bmc(tmp_path_factory: pytest.TempPathFactory, certificate: Certificate) -> Iterator[Emulator]:
    with emulated(tmp_path_factory.mktemp("emulator"), certificate) as bmc:
        yield bmc


@pytest.fixture
def emulator(bmc: Emulator) -> Emulator:
    bmc.requests.clear()
    return bmc


def secret(folder: Path, text: str = PASSWORD, mode: int = 0o600) -> Path:
    path = folder / "bmc.password"
    path.write_text(f"{text}\n", encoding="utf-8")
    path.chmod(mode)
    return path


def audit(emulator: Emulator, password: Path, *more: object) -> subprocess.CompletedProcess[str]:
    given = ("--bmc", emulator.address, "--bmc-user", "admin", "--bmc-password-file", password)
    return wireproof("audit", "bios-turbo", "--json", *given, *more)


def only(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    (found,) = document(done)["results"]
    return dict(found)


def test_an_attribute_is_read_and_judged_and_judged_again(
    emulator: Emulator, certificate: Certificate, tmp_path: Path
) -> None:
    """The emulator's registry calls its ProcTurboMode "Turbo Boost"."""
    snapshot = tmp_path / "before.snap"
    password = secret(tmp_path)
    done = audit(emulator, password, "--bmc-ca", certificate.file, "--snapshot", snapshot)
    found = only(done)
    assert (found["status"], found["seen"], done.returncode) == ("fail", "Disabled", 1)
    assert found["evidence"] == ["BIOS: Turbo Boost (ProcTurboMode): Disabled"]
    again = wireproof("audit", "bios-turbo", "--json", "--from", snapshot)
    assert only(again) == found
    for text in (done.stdout, done.stderr, again.stdout):
        assert PASSWORD not in text
    assert PASSWORD.encode() not in subprocess.run(
        ["gzip", "-dc", snapshot], check=True, capture_output=True, stdin=subprocess.DEVNULL
    ).stdout  # fmt: skip


def test_a_wrong_password_is_tried_once(
    emulator: Emulator, certificate: Certificate, tmp_path: Path
) -> None:
    done = audit(emulator, secret(tmp_path, "wrong"), "--bmc-ca", certificate.file)
    found = only(done)
    assert (found["status"], done.returncode) == ("unknown", 3)
    assert "refused user 'admin' or the password" in found["message"]
    assert sum(carried for _, _, carried in emulator.requests) == 1


@pytest.mark.parametrize("how", ["nothing", "another", "insecure", "fingerprint"])
def test_a_certificate_that_is_not_trusted_is_refused(
    how: str, emulator: Emulator, certificate: Certificate, tmp_path: Path
) -> None:
    other = make_certificate(tmp_path, "other")
    password = secret(tmp_path)
    file = tmp_path / "bmc.toml"
    file.write_text(
        f'[[bmc]]\naddress = "{emulator.address}"\nuser = "admin"\n'
        f'password_file = "{password.name}"\nfingerprint = "{certificate.fingerprint}"\n',
        encoding="utf-8",
    )
    done = {
        "nothing": lambda: audit(emulator, password),
        "another": lambda: audit(emulator, password, "--bmc-ca", other.file),
        "insecure": lambda: audit(emulator, password, "--bmc-insecure"),
        "fingerprint": lambda: wireproof("audit", "bios-turbo", "--json", "--bmc", file),
    }[how]()
    found = only(done)
    if how in ("insecure", "fingerprint"):
        assert found["status"] == "fail", "it was read"
        assert ("certificate was not checked" in found["message"]) == (how == "insecure")
        return
    assert (found["status"], done.returncode) == ("unknown", 3)
    assert "certificate that is not trusted" in found["message"]
    assert emulator.requests == [], "nothing was sent"


FAR = ["far1", "far2"]


@pytest.mark.parametrize(
    ("source", "hosts", "more", "said"),
    [
        ("n1 n2", FAR[:1], {}, "not the address"),
        ("ftp://n1-bmc", FAR[:1], {}, "not the address"),
        ("https://n1-bmc:70000", FAR[:1], {}, "not the address"),
        ("n1-bmc/redfish", FAR[:1], {}, "not the address"),
        ("http://n1-bmc", FAR[:1], {"insecure": True}, "has no TLS"),
        ("http://127.0.0.1", FAR[:1], {}, "has no TLS"),
        ("nowhere.toml", FAR[:1], {}, "cannot be read"),
        ("{host}-bmc", FAR, {"user": "a:b"}, "not a user name"),
        ("{host}-bmc", FAR, {"user": ""}, "--bmc-user"),
        ("{host}-bmc", FAR, {}, "no password"),
        ("{host}-bmc", FAR, {"ask": lambda _user: ""}, "the password is empty"),
        ("n1-bmc", FAR, {}, "one BMC for 2 hosts"),
    ],
)
def test_bad_input_is_one_sentence(
    source: str, hosts: list[str], more: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        bmcs_of(BmcOptions(**{"sources": [source], "user": "admin", **more}), hosts)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--bmc", "{host}-bmc", "--bmc-user", "admin"), "no password"),
        (("--bmc", "{host}-bmc", "--from", "/"), "leave out --bmc"),
    ],
)
def test_bad_input_ends_with_status_2(more: tuple[str, ...], said: str) -> None:
    done = wireproof("audit", *more)
    assert done.returncode == 2
    assert said in one_sentence(done)


@pytest.mark.parametrize(
    ("mode", "text", "said"),
    [(0o644, PASSWORD, "0644"), (0o600, "", "is empty"), (0o600, "a\x07b", "cannot be printed")],
)
def test_a_password_file_that_others_can_read_is_refused(
    mode: int, text: str, said: str, emulator: Emulator, tmp_path: Path
) -> None:
    done = audit(emulator, secret(tmp_path, text, mode))
    assert done.returncode == 2
    assert said in one_sentence(done)
    assert PASSWORD not in done.stderr
    assert emulator.requests == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bmc = 7", "line 1: bmc: expected a list"),
        ('[[bmc]]\nadress = "x"', "adress"),
        ('[[bmc]]\naddress = "x"\npassword = "never here"', "password"),
        ('[[bmc]]\naddress = "x"\nhosts = "n["', "n["),
        ('[[bmc]]\naddress = "x"\nuser = "a"\nfingerprint = "12"', "fingerprint"),
        ('[[bmc]]\naddress = "x"\nhosts = "elsewhere"', "no BMC for any of the hosts"),
        ("[" * 100, "nested"),
    ],
)
def test_a_mistake_in_the_file_is_one_sentence(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "bmc.toml"
    file.write_text(text, encoding="utf-8")
    options = BmcOptions(sources=[str(file)], password_file=secret(tmp_path))
    with pytest.raises(BadInput, match=re.escape(said)):
        bmcs_of(options, ["n1"])


def test_a_host_has_one_bmc(tmp_path: Path) -> None:
    options = BmcOptions(sources=["a-bmc", "b-bmc"], user="a", password_file=secret(tmp_path))
    with pytest.raises(BadInput, match="n1 already has a BMC"):
        bmcs_of(options, ["n1"])


def test_the_example_is_read(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "bmc.toml"
    file = tmp_path / "bmc.toml"
    file.write_text(example.read_text(encoding="utf-8"), encoding="utf-8")
    secret(tmp_path).rename(tmp_path / "ilo.password")
    secret(tmp_path)
    found = bmcs_of(BmcOptions(sources=[str(file)]), ["n7", "gpu2", "login"])
    assert [(one.host, one.place) for one in found] == [
        ("n7", "n7-bmc.example.org"),
        ("gpu2", "gpu2-ilo:8443"),
    ]
    assert found[0].authority == str(tmp_path / "site-ca.pem")
    assert len(found[1].fingerprint) == 64


def test_an_address_of_this_machine_may_do_without_tls(tmp_path: Path) -> None:
    board = Board({"T": "Disabled"}, [{"AttributeName": "T", "DisplayName": "Turbo Mode"}])
    with served(board, None):
        password = secret(tmp_path, SERVED)
        given = ("--bmc", f"http://127.0.0.1:{board.port}", "--bmc-user", "admin")
        more = ("--bmc-password-file", password, "--bmc-insecure")
        found = only(wireproof("audit", "bios-turbo", "--json", *given, *more))
    assert (found["status"], found["seen"]) == ("fail", "Disabled")
    assert "not checked" in found["message"]


def test_the_password_is_asked_for_at_a_terminal(
    emulator: Emulator, certificate: Certificate
) -> None:
    """Typed at the prompt, it is not echoed."""
    import pty
    import sys

    argv = [sys.executable, "-m", "wireproof", "audit", "bios-turbo", "--bmc", emulator.address]
    argv += ["--bmc-user", "admin", "--bmc-ca", str(certificate.file)]
    parent, child = pty.openpty()
    with subprocess.Popen(argv, stdin=child, stdout=subprocess.PIPE, stderr=child) as process:
        os.close(child)
        shown = b""
        try:
            while b"Password" not in shown:
                shown += os.read(parent, 1024)
            os.write(parent, f"{PASSWORD}\n".encode())
            printed, _ = process.communicate(timeout=60)
            shown += os.read(parent, 4096)
        finally:
            process.kill()
            os.close(parent)
    assert process.returncode == 1
    assert b"Disabled, should be Enabled" in printed
    assert PASSWORD.encode() not in shown + printed
