"""Detached signatures of a manifest, made by the user's own tool: OpenSSH's ``ssh-keygen -Y``.

wireproof never reads private keys; it passes their file name to the tool. The tool's output about a
signature is shown, and its exit status decides.
"""

import contextlib
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from wireproof.files.held import real_path, temporary_folder
from wireproof.files.hostile import copy_folder, open_regular, replace_file
from wireproof.files.programs import by_path, find_program
from wireproof.model.dossier import Signature
from wireproof.model.errors import BadInput, CouldNotMeasure, reading, writing
from wireproof.report.names import clean
from wireproof.store.manifest import MANIFEST, differences, manifest_bytes, signatures_of

# --- Refuse a folder that differs from the sealed folder, naming each file.

_MOST = 10
"""Limit on the differences that are listed individually."""


def refuse_altered(folder: Path) -> bytes:
    """Return the manifest. Raise ``BadInput`` if ``folder`` has no manifest, or differs from it,
    with each file.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder: give the folder of an unpacked dossier.")
    manifest = manifest_bytes(folder)
    found = differences(folder, manifest)
    if found:
        names = listing([difference.said for difference in found])
        raise BadInput(f"{folder} differs from its sealed state: {names}. No verdict is given.")
    return manifest


@contextlib.contextmanager
def held(folder: Path) -> Iterator[Path]:
    """Yield a private copy of ``folder`` with the same name, so that the files that are checked are
    the files that are used. Raises ``BadInput`` if it cannot be copied; a ``BadInput`` from within
    the block names ``folder`` instead of the copy.
    """
    with temporary_folder("wireproof-") as place:
        copy = Path(place) / (real_path(folder).name or "folder")
        try:
            copy_folder(folder, copy)
        except OSError as error:
            raise BadInput(f"{error.filename} cannot be read: {error.strerror}.") from error
        try:
            yield copy
        except BadInput as error:
            raise BadInput(str(error).replace(str(copy), str(folder))) from error


@contextlib.contextmanager
def unaltered(folder: Path) -> Iterator[Path]:
    """Yield a private copy of ``folder`` if it is unchanged since it was sealed; else raise
    ``BadInput``.
    """
    refuse_altered(folder)  # this message contains the user's paths
    with held(folder) as copy:
        refuse_altered(copy)
        yield copy


def listing(sentences: Sequence[str]) -> str:
    more = len(sentences) - _MOST
    return "; ".join(sentences[:_MOST]) + (f"; and {more} more" if more > 0 else "")


NAMESPACE = "wireproof"
"""The purpose of a signature in ssh-keygen; a signature for another purpose is not accepted."""
_CHECK_S = 60.0
_SIGN_S = 600.0
"""Time limit in seconds; the user may have to type a passphrase or touch a token."""
_MOST_PRINCIPALS = 20


def check_signer(key: str) -> None:
    """Raise ``BadInput`` before hours of measurement if nothing on this machine can sign with
    ``key``.
    """
    _signer(key)


def sign(folder: Path, key: str, manifest: bytes | None = None) -> Path:
    """Sign the manifest of ``folder``; return the new file beside it.

    ``key``: the file of an SSH key; a public key is used through the agent. ``manifest``: the bytes
    that `refuse_altered` has compared the files with; the default is the manifest in the folder.

    Raises ``BadInput`` if there is no such key or tool, ``CouldNotMeasure`` if the tool does not
    sign.
    """
    argv = _signer(key)
    manifest = manifest_bytes(folder) if manifest is None else manifest
    done = _run(argv, manifest, _SIGN_S, stderr=None)
    if done.returncode != 0 or not done.stdout:
        raise CouldNotMeasure(
            f"{argv[0]} did not sign {folder} (exit status {done.returncode}); the dossier is"
            f" complete without it: `wireproof dossier sign {folder} --key KEY` signs it later."
        )
    with writing(f"the signature in {folder}", CouldNotMeasure):
        place = _free(folder)
        replace_file(place, done.stdout)
    return place


def _signer(key: str) -> list[str]:
    if not Path(key).is_file():
        raise BadInput(
            f"{key!r} is not a file: give the file of an SSH key (GnuPG keys are no longer"
            " supported)."
        )
    program = find_program("ssh-keygen")
    if program is None:
        raise BadInput("ssh-keygen (OpenSSH), which signs with the key in a file, is not on PATH.")
    return [program, "-Y", "sign", "-q", "-n", NAMESPACE, "-f", str(Path(key).absolute())]


def _free(folder: Path) -> Path:
    """Return a name that no signature has yet, because several parties may sign."""
    names = [f"{MANIFEST}.sig", *(f"{MANIFEST}.{n}.sig" for n in range(2, 100))]
    there = {path.name for path in signatures_of(folder)}
    free = next((name for name in names if name not in there), None)
    if free is None:
        raise BadInput(f"{folder} has 99 signatures: remove some.")
    return folder / free


def checked(folder: Path, signers: Path | None) -> list[Signature]:
    """Check every signature of the manifest.

    If ``signers`` is given, a person in that file must have made at least one of them.

    Raises ``BadInput`` for a signature that does not match this manifest, for a GnuPG signature,
    and if ``signers`` is given but lists none of the signers; ``CouldNotMeasure`` if the tool that
    checks signatures is missing.
    """
    if signers is not None and not signers.is_file():
        raise BadInput(f"{signers} is not a file: give OpenSSH's allowed_signers.")
    manifest = manifest_bytes(folder)
    signatures = [_checked(path, manifest, signers) for path in signatures_of(folder)]
    if signers is None or any(signature.state == "vouched" for signature in signatures):
        return signatures
    if not signatures:
        raise BadInput(f"{folder} is not signed, and --signers requires a signature.")
    if any(signature.state == "unchecked" for signature in signatures):
        raise CouldNotMeasure(
            f"the signature of {folder} cannot be checked: {_listed(signatures)}."
        )
    raise BadInput(f"{folder} is signed, but not by anyone in {signers}: {_listed(signatures)}.")


def _listed(signatures: Sequence[Signature]) -> str:
    return "; ".join(f"{signature.file}: {signature.said}" for signature in signatures)


def _checked(path: Path, manifest: bytes, signers: Path | None) -> Signature:
    with reading(path):
        open_regular(path, follow=False).close()
    if path.suffix == ".asc":  # earlier versions accepted it, but no verdict may rely on it
        raise BadInput(
            f"{path.name} is a GnuPG signature, which wireproof no longer reads: check it with"
            f" `gpg --verify {path.name} {MANIFEST}`, move it elsewhere, and have the dossier"
            " signed with an SSH key (`wireproof dossier sign`)."
        )
    if path.suffix != ".sig":
        return _unchecked(path, "only the tool that made it can check it")
    return _by_ssh(path.absolute(), manifest, signers and signers.absolute())


def _by_ssh(path: Path, manifest: bytes, signers: Path | None) -> Signature:
    program = find_program("ssh-keygen")
    if program is None:
        return _unchecked(path, "ssh-keygen (OpenSSH) is not on PATH")
    of_it = ["-n", NAMESPACE, "-s", str(path)]
    done = _run([program, "-Y", "check-novalidate", *of_it], manifest, _CHECK_S)
    if done.returncode != 0:
        raise _wrong_signature(path, done)
    for principal in _principals(program, path, signers):
        by = ["-f", str(signers), "-I", principal]
        vouched = _run([program, "-Y", "verify", *of_it, *by], manifest, _CHECK_S)
        if vouched.returncode == 0:
            return Signature(file=path.name, state="vouched", said=_first_line(vouched.stdout))
    return Signature(file=path.name, state="valid", said=_first_line(done.stdout))


def _principals(program: str, path: Path, signers: Path | None) -> list[str]:
    if signers is None:
        return []
    argv = [program, "-Y", "find-principals", "-s", str(path), "-f", str(signers)]
    done = _run(argv, b"", _CHECK_S)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return lines[:_MOST_PRINCIPALS] if done.returncode == 0 else []


def _unchecked(path: Path, why: str) -> Signature:
    return Signature(file=path.name, state="unchecked", said=f"not checked: {why}")


def _wrong_signature(path: Path, done: subprocess.CompletedProcess[bytes]) -> BadInput:
    reason = _first_line(done.stderr) or _first_line(done.stdout) or f"status {done.returncode}"
    return BadInput(
        f"{path.name} is not a signature of this {MANIFEST}: it was made for another file, or one"
        f" of the two was changed ({reason})."
    )


def _first_line(data: bytes) -> str:
    lines = data.decode("utf-8", "replace").strip().splitlines()
    return clean(lines[0], 300) if lines else ""


def _run(
    argv: Sequence[str], data: bytes, timeout_s: float, *, stderr: int | None = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    """Run a tool. If ``stderr`` is None, the user sees the tool's prompts and error messages."""
    try:
        return subprocess.run(
            **by_path(argv),
            input=data,
            stdout=subprocess.PIPE,
            stderr=stderr,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CouldNotMeasure(f"{argv[0]} did not finish within {timeout_s:.0f} s.") from error
    except OSError as error:
        raise CouldNotMeasure(f"{argv[0]} cannot be started: {error.strerror}.") from error
