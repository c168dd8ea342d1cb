"""Puts results into a history; its folders are whole or not there."""

import contextlib
import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from wireproof.files.held import held_folder, within
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.finding import worst
from wireproof.model.gate import NodeVerdict
from wireproof.model.history import Entry, Number
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import fold
from wireproof.store.history import RESULTS, add_entry
from wireproof.verdict.comparison import number_of, samples_of
from wireproof.verdict.node import joined_nodes, node_verdicts
from wireproof.version import version
from wireproof.workflow.conditions import conditions, listed, setting_values


@contextlib.contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """A name to make the folder under; it is ``place`` when all went well, and gone when not, also
    when it is interrupted. Who makes the same at once comes first. Raises ``CouldNotMeasure``.
    """
    fresh = place.with_name(f".{place.name}.{secrets.token_hex(3)}")
    try:
        with (
            held_folder(place.parents[1], make=0o777),
            held_folder(place.parent, make=0o777) as folder,
        ):
            try:
                yield fresh
                with contextlib.suppress(FileExistsError):
                    _renamed(fresh, place, folder)
            finally:
                shutil.rmtree(within(folder, fresh), ignore_errors=True, dir_fd=folder)
    except OSError as error:
        raise not_copied(place, error) from error


def _renamed(fresh: Path, place: Path, folder: int | None) -> None:
    try:
        draft, name = within(folder, fresh), within(folder, place)
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ENOTEMPTY:
            raise FileExistsError(place) from error
        raise


def not_copied(place: Path, error: OSError) -> CouldNotMeasure:
    """The sentence for what the disk did not take."""
    why = error.strerror or str(error)[:200]
    return CouldNotMeasure(f"the result cannot be copied to {place.parent}: {why}.")


def new_folder(root: Path) -> Path:
    """Where the next result of a history goes; nothing is made."""
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    return root / RESULTS / stamp


def storage_folder(out: Path | None, history: Path) -> Path:
    """Where a result of the history goes: ``out`` if that is a folder of it, or a new one. Raises
    ``BadInput`` for another.
    """
    if out is not None and out.parent != history / RESULTS:
        raise BadInput("give --out or --history: a history keeps its results in itself.")
    return out or new_folder(history)


def record(root: Path, folder: Path, sections: Sequence[JudgedRun]) -> Entry:
    """Put a result that is in the history's own folder into its index. Raises
    ``CouldNotMeasure`` when that cannot be written.
    """
    entry = _entry(folder.name, sections)
    add_entry(root, entry)
    return entry


def measured(sections: Sequence[JudgedRun]) -> str:
    """When the last of them was started, UTC."""
    return max(section.run.provenance.started for section in sections)


def _entry(name: str, sections: Sequence[JudgedRun]) -> Entry:
    known = conditions(sections)
    hosts = sorted({one.host for section in sections for one in section.run.claim.hosts})
    nodes = joined_nodes(
        [
            node_verdicts(one.run, one.judgement, one.located)
            for one in sections
            if one.run.claim.wire and not one.run.played
        ]
    )
    same = [
        *hosts,
        known.get("link", ""),
        known.get("transport", ""),
        known.get("MPI", "").partition(" ")[0],
        known.get("NIC", ""),
    ]
    settings = sections[0].settings
    knobs = setting_values(settings) if settings else {}
    return Entry(
        id=name,
        measured=measured(sections),
        fingerprint=hashlib.sha256("\n".join(same).encode()).hexdigest()[:16],
        hosts=fold(hosts),
        link=known.get("link", ""),
        transport=known.get("transport", ""),
        mpi=known.get("MPI", ""),
        verdict=worst(section.judgement.verdict for section in sections),
        wireproof=version(),
        conditions=known | {f"setting {id_}": listed(values) for id_, values in knobs.items()},
        nodes={one.node: one.verdict for one in nodes},
        numbers=_numbers(sections),
        reasons=_reasons(nodes),
        fabric=any(one.fabric is not None for one in sections),
    )


def _reasons(nodes: Sequence[NodeVerdict]) -> dict[str, list[str]]:
    """Sentences with the nodes that they keep from passing: one may be that of all of them."""
    found: dict[str, list[str]] = {}
    for one in nodes:
        if one.verdict != "pass":
            found.setdefault(one.reason, []).append(one.node)
    return found


def _numbers(sections: Sequence[JudgedRun]) -> list[Number]:
    """Of results whose path is proven, and not of a model's."""
    return [
        number
        for section in sections
        if not section.run.played
        for key, samples in samples_of(section.judgement, section.run).items()
        if (number := number_of(key, samples)) is not None
    ]
