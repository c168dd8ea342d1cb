"""Stored results for gates, and a gate that is asked about them."""

import functools
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from tests.synthetic import World, lab, run_of

from wireproof.archive.gate import gate
from wireproof.locate.node import node_verdicts
from wireproof.model.claim import Criteria
from wireproof.model.run import Gate, Run, StoredPart, StoredResult
from wireproof.store.result import write_result
from wireproof.verdict.run import judge

NOW = datetime.now(UTC)


@functools.cache
def _part(world: World) -> StoredPart:
    return _part_of(run_of(world))


def _part_of(run: Run) -> StoredPart:
    judgement = judge(run)
    return StoredPart(
        title="check",
        records=["run"],
        run=msgspec.structs.replace(run, points=[]),
        criteria=Criteria(),
        verdict=judgement.verdict,
        nodes=node_verdicts(run, judgement),
    )


def _written(folder: Path, part: StoredPart, when: datetime | None, parts: int) -> Path:
    started = (when or NOW).isoformat(timespec="seconds")
    provenance = msgspec.structs.replace(part.run.provenance, started=started)
    run = msgspec.structs.replace(part.run, provenance=provenance)
    dated = msgspec.structs.replace(part, run=run)
    folder.mkdir(parents=True)
    write_result(folder, StoredResult(title="t", wireproof="0.1.0", parts=[dated] * parts))
    return folder


def stored_run(folder: Path, run: Run) -> Path:
    """The result of ``run`` as a check leaves it; ``folder``."""
    return _written(folder, _part_of(run), None, 1)


_HEALTHY = lab(nodes=3)


def stored(
    folder: Path, world: World = _HEALTHY, *, when: datetime | None = None, parts: int = 1
) -> Path:
    """The result of a made-up cluster, by default three healthy nodes n1 to n3."""
    return _written(folder, _part(world), when, parts)


def many_nodes(folder: Path, count: int) -> Path:
    """The result of ``count`` healthy nodes n0, n1, ..."""
    part = _part(_HEALTHY)
    one, node = part.run.claim.hosts[0], part.nodes[0]
    names = [f"n{number}" for number in range(count)]
    hosts = [msgspec.structs.replace(one, rank=rank, host=name) for rank, name in enumerate(names)]
    claim = msgspec.structs.replace(part.run.claim, hosts=hosts)
    nodes = [msgspec.structs.replace(node, node=name) for name in names]
    run = msgspec.structs.replace(part.run, claim=claim)
    return _written(folder, msgspec.structs.replace(part, run=run, nodes=nodes), None, 1)


def asked(source: Path, nodes: str | None = None, **more: float) -> Gate:
    return gate(source, nodes, **more)
