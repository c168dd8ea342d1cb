"""A self-signed certificate for loopback, made by the test."""

import hashlib
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Certificate:
    """Files in PEM; ``fingerprint``: SHA-256 of the certificate."""

    file: Path
    key: Path

    @property
    def fingerprint(self) -> str:
        der = ssl.PEM_cert_to_DER_cert(self.file.read_text(encoding="ascii"))
        return hashlib.sha256(der).hexdigest()

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key)
        return context


def make_certificate(folder: Path, name: str = "bmc", alternative: str = "") -> Certificate:
    """For 127.0.0.1 and localhost, else for the subject ``alternative``."""
    found = Certificate(folder / f"{name}.pem", folder / f"{name}.key")
    names = alternative or "IP:127.0.0.1,DNS:localhost"
    argv = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
    argv += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    argv += ["-addext", f"subjectAltName={names}"]
    argv += ["-out", str(found.file), "-keyout", str(found.key)]
    subprocess.run(argv, check=True, capture_output=True)
    return found
