"""What a check remembers of how it was asked, so that ``wireproof resume FOLDER`` can go on with it."""

from __future__ import annotations

import os
from pathlib import Path

import click
import msgspec

from wireproof.cli.place import Place
from wireproof.model.errors import BadInput

__all__ = ["ASKED", "Asked", "recall", "remember", "stored_seed"]

ASKED = "asked.json"
_RESUMABLE = ("check", "measure")
_LARGEST = 16 << 20


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """``argv`` without the program; ``environment``: the ``WIREPROOF_*`` that counted; ``hosts`` in rank order."""

    argv: list[str]
    seed: int
    folder: str
    environment: dict[str, str] = msgspec.field(default_factory=dict)
    hosts: list[str] = msgspec.field(default_factory=list)


def remember(folder: Path, seed: int, place: Place) -> None:
    """Write how we were asked into the result's folder, unless it is there already (we are being resumed)."""
    argv = (click.get_current_context().find_root().obj or {}).get("argv", [])
    path = folder / ASKED
    if not argv or path.exists():
        return
    kept = {name: value for name, value in os.environ.items() if name.startswith("WIREPROOF_")}
    asked = Asked(argv=list(argv), seed=seed, folder=os.getcwd(), environment=kept, hosts=list(place.hosts))
    path.write_bytes(msgspec.json.format(msgspec.json.encode(asked), indent=1) + b"\n")


def recall(folder: Path) -> Asked:
    """How the run in ``folder`` was asked; ``BadInput`` when that cannot be told or is no verb that can go on."""
    path = folder / ASKED
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder: give the --out folder of a check.")
    try:
        if path.stat().st_size > _LARGEST:
            raise BadInput(f"{path} is larger than {_LARGEST >> 20} MiB: it is not ours.")
        asked = msgspec.json.decode(path.read_bytes(), type=Asked)
    except FileNotFoundError:
        raise BadInput(
            f"{folder} does not say how it was asked (no {ASKED}): repeat the command with --resume --out {folder}."
        ) from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path} is damaged ({error}): repeat the command with --resume --out {folder}.") from error
    if not asked.argv or asked.argv[0] not in _RESUMABLE:
        raise BadInput(f"{path} does not hold a verb that can go on ({', '.join(_RESUMABLE)}).")
    return asked


def stored_seed(folder: Path) -> int | None:
    """The seed that the run in ``folder`` was begun with; None when nothing is there."""
    try:
        return recall(folder).seed
    except BadInput:
        return _seed_of_plan(folder)


def _seed_of_plan(folder: Path) -> int | None:
    from wireproof.store.load import load_document

    for path in sorted(folder.glob("run*/run.json")):
        return load_document(path.parent).plan.seed
    return None
