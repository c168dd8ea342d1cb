"""``wireproof dossier``: acceptance dossiers that anyone can verify."""

from pathlib import Path

import click

from wireproof.cli.declare import FORM, JSON, file, text

FOLDER = click.Argument(["folder"], type=click.Path(path_type=Path), metavar="DOSSIER")


@click.group("dossier")
def command() -> None:
    """Acceptance dossiers: verify, sign.

    DOSSIER is the --out folder of `check --profile acceptance`, from any machine. Pack it with any
    tool (tar, zip) and give this the unpacked folder.
    """


@command.command(
    "verify",
    params=[
        FOLDER,
        file(
            "--signers",
            "require a signature by one of the signers in this file: OpenSSH's allowed_signers.",
            must_exist=True,
            metavar="FILE",
        ),
        FORM,
        JSON,
    ],
)
def verify(folder: Path, signers: Path | None) -> int:
    """Verify that a dossier is as it was sealed, by whom, and judge its records by the rules of
    this version.

    Works offline, without the hosts, an MPI or root; nothing is written. Exit status: 0 intact and
    pass, 1 intact and fail, 3 intact and inconclusive; 2 if it was changed or truncated, was made
    by a newer wireproof, or lacks a signature that --signers requires: no verdict is given then.
    """
    from wireproof.cli.delivery import answer
    from wireproof.report.documents.dossier import verification_document
    from wireproof.workflow.dossier.verify import VerifySpecification
    from wireproof.workflow.dossier.verify import verify as run_verify

    found = run_verify(VerifySpecification(folder=folder, signers=signers))
    return answer(found, verification_document)


@command.command(
    "sign",
    params=[
        FOLDER,
        text("--key", "KEY", "file of an SSH key.", required=True),
    ],
)
def sign(folder: Path, key: str) -> int:
    """Sign an intact dossier; each party may sign. The signature is stored beside its SHA256SUMS.

    ssh-keygen signs: wireproof never reads the private key. A public key is used through the agent.
    """
    from wireproof.workflow.dossier.signature import refuse_altered
    from wireproof.workflow.dossier.signature import sign as run_sign

    refuse_altered(folder)
    click.echo(run_sign(folder, key))
    return 0
