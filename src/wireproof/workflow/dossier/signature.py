"""Detached signatures of a manifest, by the user's own tool: OpenSSH's ``ssh-keygen -Y``.

Private keys are never read here: the tool is told their name. Whatever it says of a signature is
shown, and its exit status decides.
"""

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from wireproof.files.hostile import open_regular, replace_file
from wireproof.files.programs import by_path, find_program
from wireproof.model.dossier import Signature
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.report.names import clean
from wireproof.store.manifest import MANIFEST, manifest_bytes, signatures_of

NAMESPACE = "wireproof"
"""What ssh-keygen calls the purpose of a signature: one made for another is none."""
_CHECK_S = 60.0
_SIGN_S = 600.0
"""Somebody types a passphrase, or touches a token."""
_MOST_PRINCIPALS = 20


def ssh_sign_argv(program: str, key: str) -> list[str]:
    """Signs what comes on standard input with a private key, or by the agent with a public one."""
    return [program, "-Y", "sign", "-q", "-n", NAMESPACE, "-f", key]


def ssh_check_argv(program: str, signature: Path) -> list[str]:
    """Is it a signature of this, whoever made it?"""
    return [program, "-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(signature)]


def ssh_principals_argv(program: str, signature: Path, signers: Path) -> list[str]:
    """Who of ``signers`` (a file as OpenSSH's allowed_signers) has the key of the signature?"""
    return [program, "-Y", "find-principals", "-s", str(signature), "-f", str(signers)]


def ssh_verify_argv(program: str, signature: Path, signers: Path, principal: str) -> list[str]:
    """Is it a signature of this by ``principal``, whom ``signers`` lets sign?"""
    return [
        *(program, "-Y", "verify", "-n", NAMESPACE, "-s", str(signature)),
        *("-f", str(signers), "-I", principal),
    ]


def check_signer(key: str) -> None:
    """Raises ``BadInput`` when nothing here can sign with ``key``: said before hours of
    measurement.
    """
    _signer(key)


def sign(folder: Path, key: str) -> Path:
    """Sign the manifest of ``folder``; returns the new file beside it. ``key``: the file of an SSH
    key; a public one is for the agent.

    Raises ``BadInput`` when there is no such key or tool, ``CouldNotMeasure`` when it does not
    sign.
    """
    argv = _signer(key)
    manifest = manifest_bytes(folder)
    done = _run(argv, manifest, _SIGN_S, said=None)
    if done.returncode != 0 or not done.stdout:
        raise CouldNotMeasure(
            f"{argv[0]} did not sign {folder} (exit status {done.returncode}); the dossier is whole"
            f" without: `wireproof dossier sign {folder} --key KEY` signs it later."
        )
    try:
        place = _free(folder)
        replace_file(place, done.stdout)
    except OSError as error:
        raise CouldNotMeasure(
            f"the signature in {folder} cannot be written: {error.strerror}."
        ) from error
    return place


def _signer(key: str) -> list[str]:
    if not Path(key).is_file():
        raise BadInput(f"{key!r} is no file: give an SSH key's (GnuPG keys are not used any more).")
    program = find_program("ssh-keygen")
    if program is None:
        raise BadInput("ssh-keygen (OpenSSH) is not on PATH: it signs with the key of a file.")
    return ssh_sign_argv(program, str(Path(key).absolute()))


def _free(folder: Path) -> Path:
    """A name that no signature has: several parties may sign."""
    names = [f"{MANIFEST}.sig", *(f"{MANIFEST}.{n}.sig" for n in range(2, 100))]
    there = {path.name for path in signatures_of(folder)}
    free = next((name for name in names if name not in there), None)
    if free is None:
        raise BadInput(f"{folder} has 99 signatures: remove some.")
    return folder / free


def checked(folder: Path, signers: Path | None) -> list[Signature]:
    """Every signature of the manifest, looked at. With ``signers`` one of them at least is by
    somebody whom that file names.

    Raises ``BadInput`` for a signature that is not of this manifest, for one of GnuPG, and when
    ``signers`` is given and vouches for none; ``CouldNotMeasure`` when the tool that could tell is
    not here.
    """
    if signers is not None and not signers.is_file():
        raise BadInput(f"{signers} is no file: give OpenSSH's allowed_signers.")
    manifest = manifest_bytes(folder)
    found = [_checked(path, manifest, signers) for path in signatures_of(folder)]
    if signers is None or any(one.state == "vouched" for one in found):
        return found
    if not found:
        raise BadInput(f"{folder} is not signed, and --signers demands it.")
    if any(one.state == "unchecked" for one in found):
        raise CouldNotMeasure(f"the signature of {folder} cannot be told: {_listed(found)}.")
    raise BadInput(f"{folder} is signed, but by nobody whom {signers} names: {_listed(found)}.")


def _listed(found: Sequence[Signature]) -> str:
    return "; ".join(f"{one.file}: {one.said}" for one in found)


def _checked(path: Path, manifest: bytes, signers: Path | None) -> Signature:
    try:
        open_regular(path, follow=False).close()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    look = _LOOKS.get(path.suffix, _by_its_own_tool)
    return look(path.absolute(), manifest, signers and signers.absolute())


def _by_ssh(path: Path, manifest: bytes, signers: Path | None) -> Signature:
    program = find_program("ssh-keygen")
    if program is None:
        return _unchecked(path, "ssh-keygen (OpenSSH) is not on PATH")
    done = _run(ssh_check_argv(program, path), manifest, _CHECK_S)
    if done.returncode != 0:
        raise _not_of_it(path, done)
    for principal in _principals(program, path, signers):
        assert signers is not None  # noqa: S101  else there is no principal
        vouched = _run(ssh_verify_argv(program, path, signers, principal), manifest, _CHECK_S)
        if vouched.returncode == 0:
            return Signature(file=path.name, state="vouched", said=_first_line(vouched.stdout))
    return Signature(file=path.name, state="valid", said=_first_line(done.stdout))


def _principals(program: str, path: Path, signers: Path | None) -> list[str]:
    if signers is None:
        return []
    done = _run(ssh_principals_argv(program, path, signers), b"", _CHECK_S)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return lines[:_MOST_PRINCIPALS] if done.returncode == 0 else []


def _of_gnupg(path: Path, _manifest: bytes, _signers: Path | None) -> Signature:
    """Earlier versions vouched for it: whoever counts on that is not to read a verdict here."""
    raise BadInput(
        f"{path.name} is a GnuPG signature, which wireproof does not read any more: check it with"
        f" `gpg --verify {path.name} {MANIFEST}`, move it elsewhere, and have the dossier signed"
        " with an SSH key (`wireproof dossier sign`)."
    )


def _by_its_own_tool(path: Path, _manifest: bytes, _signers: Path | None) -> Signature:
    return _unchecked(path, "its own tool checks it")


_LOOKS: dict[str, Callable[[Path, bytes, Path | None], Signature]] = {
    ".sig": _by_ssh,
    ".asc": _of_gnupg,
}


def _unchecked(path: Path, why: str) -> Signature:
    return Signature(file=path.name, state="unchecked", said=f"not checked: {why}")


def _not_of_it(path: Path, done: subprocess.CompletedProcess[bytes]) -> BadInput:
    said = _first_line(done.stderr) or _first_line(done.stdout) or f"status {done.returncode}"
    return BadInput(
        f"{path.name} is no signature of this {MANIFEST}: it was made for another, or one of them"
        f" was changed ({said})."
    )


def _first_line(data: bytes) -> str:
    lines = data.decode("utf-8", "replace").strip().splitlines()
    return clean(lines[0], 300) if lines else ""


def _run(
    argv: Sequence[str], data: bytes, timeout_s: float, *, said: int | None = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    """``said`` None: what the tool asks or complains of reaches the user."""
    try:
        return subprocess.run(
            **by_path(argv),
            input=data,
            stdout=subprocess.PIPE,
            stderr=said,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CouldNotMeasure(f"{argv[0]} did not end in {timeout_s:.0f} s.") from error
    except OSError as error:
        raise CouldNotMeasure(f"{argv[0]} cannot be started: {error.strerror}.") from error
