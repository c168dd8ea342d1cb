"""Find the node, port, link or switch that is slow, from a check's folder, a table of pairs or a
synthetic world.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from wireproof.audit.job import AuditSpecification, audit, settings_by_id
from wireproof.files.hostile import read_bounded
from wireproof.locate.causes import explain
from wireproof.locate.causes.differing import WrongSettings
from wireproof.locate.causes.settings import with_settings
from wireproof.locate.confirm import conclude
from wireproof.locate.document import LocateDocument, WorstPair
from wireproof.locate.samples import Samples, hosts_of, samples_of
from wireproof.locate.screen import screen
from wireproof.locate.screen.few import by_rows
from wireproof.locate.verdict import with_other_traffic
from wireproof.locate.world import World
from wireproof.measure.conditions import without_own_doing
from wireproof.measure.schedule import screen_rounds
from wireproof.measure.session.screen_plan import again_rounds, leaves_of
from wireproof.model.errors import BadInput, CouldNotMeasure, reading
from wireproof.model.located import Fabric, Located, Metric
from wireproof.model.quantity import counted
from wireproof.model.run import Run
from wireproof.model.toml import LARGEST, read_struct
from wireproof.report.reporter import LoggingReporter
from wireproof.store.load import load_run
from wireproof.store.pair_table import PairTable
from wireproof.store.pairs import PlainPairs, open_pairs
from wireproof.store.snapshot import SETTINGS
from wireproof.target.resolve import read_fabric
from wireproof.topology import against
from wireproof.verdict.run import judge

ALL_ROWS = 4_000_000
"""Tables up to this number of pairs are read whole; larger tables are sampled for each node."""
PARTNERS = 60
WORST = 20
MOST_WORLD_NODES = 20_000
MOST_WORLD_LINKS = 200_000
_MOST = {
    "rate": 1e15,
    "uplink_rate": 1e3,
    "latency_ns": 1e12,
    "sigma": 10.0,
    "spread": 10.0,
    "tail_share": 1.0,
    "tail_size": 1e3,
}
_MOST_SHARE = 100
"""Largest share of a fault in a world; a larger share has no meaning and overflows."""
METRICS: tuple[Metric, ...] = ("goodput", "hrt")


def locate(
    source: Path | None = None,
    *,
    world: Path | None = None,
    topology: Path | None = None,
    rounds: int | None = None,
) -> LocateDocument:
    """Locate slow parts from earlier measurements; nothing is measured.

    ``source``: a check's folder or a table of pairs; or ``world``: a synthetic cluster of which
    ``rounds`` are simulated. Exactly one of the two is given. Raises ``BadInput`` for a source that
    cannot be read or contains no data for locate.
    """
    if (source is None) == (world is None):
        raise BadInput("give the folder of a check, a table of pairs, or --world FILE.")
    fabric = read_fabric(topology) if topology else None
    if world is not None:
        return from_world(world, rounds)
    assert source is not None  # noqa: S101  checked above
    return from_folder(source, fabric) if source.is_dir() else from_table(source, fabric)


def joined(parts: Sequence[Samples], names: Iterable[str] = ()) -> Samples | None:
    """Join the samples of several launches, matching nodes by name; rounds stay separate.
    ``names``: all nodes, including those without a sample.
    """
    if not parts:
        return None
    nodes = tuple(dict.fromkeys([*(name for part in parts for name in part.nodes), *names]))
    index = {name: number for number, name in enumerate(nodes)}
    origin, target, number, first = [], [], [], 0
    for part in parts:
        number_of = np.asarray([index[name] for name in part.nodes], dtype=np.int32)
        origin.append(number_of[part.origin])
        target.append(number_of[part.target])
        number.append(part.round + np.int32(first))
        first += int(part.round.max()) + 1 if len(part) else 0
    return Samples(
        metric=parts[0].metric,
        nodes=nodes,
        origin=np.concatenate(origin),
        target=np.concatenate(target),
        round=np.concatenate(number),
        value=np.concatenate([part.value for part in parts]),
        half_width=np.concatenate([part.half_width for part in parts]),
        when=np.concatenate([part.when for part in parts]),
    )


def _all_samples(runs: Sequence[Run], metric: Metric) -> Samples | None:
    names = [name for run in runs for name in hosts_of(run).values()]
    return joined([part for run in runs if (part := samples_of(run, metric)) is not None], names)


def _stage(folder: Path, stem: str) -> list[Path]:
    return sorted(path.parent for path in folder.glob(f"{stem}*/run.json"))


def from_folder(folder: Path, fabric: Fabric | None) -> LocateDocument:
    """Locate again in the check stored in ``folder``, perhaps with another topology. Nothing is
    measured.
    """
    screens = _stage(folder, "run") or ([folder] if (folder / "run.json").is_file() else [])
    if not screens:
        raise BadInput(
            f"{folder} contains no run: give the --out folder of a check, or a table of pairs."
        )
    runs = [load_run(path) for path in screens]
    wrong, notes = _settings_of(folder, runs[0])
    again = [load_run(path) for path in _stage(folder, "confirm")]
    judgements = [judge(run) for run in runs]
    located: list[Located] = []
    for metric in METRICS:
        samples = _all_samples(runs, metric)
        if samples is None:
            continue
        known, remarks = _known(fabric, samples.nodes)
        notes += remarks
        try:
            concluded = conclude(screen(samples, known), _all_samples(again, metric))
        except ValueError as error:
            raise BadInput(f"{folder} is damaged: {error}.") from error
        explained = explain(concluded, runs[0], settings=settings_by_id())
        if wrong:
            explained = with_settings(explained, wrong, runs[0].claim.link)
        for one in judgements:
            explained = with_other_traffic(explained, one.findings, one.pairs)
        located.append(explained)
    if not located:
        raise BadInput(
            f"{folder} has no streams or short ping-pongs between hosts, so there is nothing to"
            " locate."
        )
    return LocateDocument(located=tuple(located), notes=tuple(dict.fromkeys(notes)))


def _settings_of(folder: Path, run: Run) -> tuple[WrongSettings | None, list[str]]:
    """Return the settings of the hosts that the check stored, and a note if they are damaged."""
    kept = folder / SETTINGS
    if not kept.is_file():
        return None, []
    try:
        settings = audit(AuditSpecification(source=kept), LoggingReporter(), {})
    except (BadInput, CouldNotMeasure) as error:
        return None, [f"the settings of the hosts are left out: {error}"]
    return WrongSettings(without_own_doing(settings), settings_by_id(), run), []


def _known(fabric: Fabric | None, nodes: Sequence[str]) -> tuple[Fabric | None, list[str]]:
    if fabric is None:
        return None, []
    connected, notes = against(fabric, nodes)
    return connected, [*connected.notes, *notes]


def from_table(path: Path, fabric: Fabric | None) -> LocateDocument:
    """Locate in a table of pairs: every row of a small table; from a large table a sample of each
    node's pairs, and the worst pairs.
    """
    with open_pairs(path) as table:
        known, notes = _known(fabric, table.nodes)
        if isinstance(table, PairTable) and table.rows > ALL_ROWS:
            columns = table.sample(PARTNERS)
        else:
            columns = table.everything()
        samples = Samples(
            metric=table.metric,
            nodes=table.nodes,
            origin=columns.origin,
            target=columns.target,
            round=columns.round,
            value=columns.value,
            half_width=np.full(len(columns.value), np.nan),
        )
        if len(columns.value) < table.rows:
            notes.append(
                f"{len(columns.value)} of {table.rows} rows were read, about {PARTNERS} per node"
            )
        worst = _worst(table)
        left = counted(table.left_out, "row")
        down = f"{left} without a positive number: are those pairs down?"
        undecided = [down] if table.left_out else []
    try:
        located, scattered = by_rows(screen(samples, known))
    except ValueError as error:  # DuckDB's rows if a table's statistics are damaged
        raise BadInput(f"{path} is damaged: {error}.") from error
    return LocateDocument(
        located=(located,),
        notes=tuple(notes),
        worst_pairs=worst,
        undecided=(*undecided, *scattered),
    )


def _worst(table: PairTable | PlainPairs) -> tuple[WorstPair, ...]:
    tx, rx = table.medians()
    # A node that occurs only as sender or only as receiver (each pair once) is judged by that side.
    sender, receiver = np.where(np.isnan(tx), rx, tx), np.where(np.isnan(rx), tx, rx)
    return tuple(
        WorstPair(
            origin=table.nodes[origin],
            target=table.nodes[target],
            value=float(value),
            ratio=float(ratio),
        )
        for origin, target, value, ratio in table.worst(sender, receiver, WORST)
    )


def _world_of(path: Path) -> World:
    with reading(path):
        text = read_bounded(path, LARGEST).decode("utf-8")
    world = read_struct(text, str(path), World)
    _check_world(world, path)
    return world


def _check_world(world: World, path: Path) -> None:
    """Raise ``BadInput`` for a number that no cluster can have."""
    if not 2 <= world.nodes <= MOST_WORLD_NODES:
        raise BadInput(
            f"{path}: nodes = {world.nodes} is out of range: give 2 to {MOST_WORLD_NODES}."
        )
    for name, most in _MOST.items():
        if not 0 <= getattr(world, name) <= most:  # every comparison with NaN is false
            raise BadInput(
                f"{path}: {name} = {getattr(world, name):g} is out of range: give 0 to {most:g}."
            )
    for fault in world.faults:
        if not 0 < fault.share <= _MOST_SHARE:
            raise BadInput(
                f"{path}: a fault has share = {fault.share:g}: give the remaining share of the"
                f" rate, above 0 and at most {_MOST_SHARE}."
            )
    if not (
        1 <= world.leaves <= world.nodes and 0 <= world.uplinks * world.leaves <= MOST_WORLD_LINKS
    ):
        raise BadInput(
            f"{path}: leaves = {world.leaves}, uplinks = {world.uplinks} is out of range: give 1"
            f" to {world.nodes} leaves and at most {MOST_WORLD_LINKS} up-links in total."
        )


def from_world(path: Path, rounds: int | None) -> LocateDocument:
    """Measure and locate in a synthetic cluster as in a real cluster, to see which faults would be
    found.
    """
    world = _world_of(path)
    try:
        fabric = world.fabric() if world.leaves > 1 else None
        leaves = leaves_of(world.names, fabric)
        first = screen(
            world.measure(screen_rounds(world.nodes, leaves, world.seed, rounds)), fabric
        )
        index = {name: number for number, name in enumerate(world.names)}
        again, _ = again_rounds([first], index, leaves, world.seed)
        confirm = world.measure(again, alone=True) if again else None
        return LocateDocument(located=(conclude(first, confirm),))
    except (IndexError, ZeroDivisionError, ValueError) as error:
        raise BadInput(f"{path}: this world is impossible: {error}.") from error
