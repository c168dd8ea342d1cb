"""Plans for questions that the available machines cannot answer by measurement: QPs and memory, PFC
buffers, latency at scale, time to prove.

Each function imports its dependencies when it is called: a footprint needs no numpy.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from wireproof.model.errors import BadInput, reading, whole, writing
from wireproof.options.row import as_path

if TYPE_CHECKING:
    from wireproof.plan import Footprint, LimitCheck, Pfc, Scale, Validation
    from wireproof.plan.footprint.modes import PlannedJob


T = TypeVar("T")
_LARGEST_FILE = 256 << 20


def plan_footprint(nodes: int, ppn: int, mode: str, **options: Any) -> Footprint:
    """Return QPs and memory of ``nodes`` x ``ppn`` ranks in ``mode`` (psm3-rdma0 to 3, rxm,
    rxm-srx, ucx-rc, ucx-dc, ucx-ud), as bounds if they depend on which ranks communicate.

    ``options``: see ``plan.footprint.modes.PlannedJob``. Raises ``BadInput``, and ``TypeError``
    for an unknown option.
    """
    from wireproof.plan.footprint import footprint
    from wireproof.plan.footprint.modes import PlannedJob, mode_called

    job, mode = PlannedJob(nodes=nodes, ppn=ppn, **options), mode_called(mode)
    computed = footprint(mode, job, _limits(mode, job.max_qps, job.device))
    if job.observed is None and job.seen_qps is None and job.seen_memory is None:
        return computed
    return _beside(computed, job)


def _beside(computed: Footprint, job: PlannedJob) -> Footprint:
    """Return the footprint together with the values observed in a real run."""
    import msgspec

    from wireproof.plan.footprint.observed import of_job, of_memory, of_node, resources_of

    seen = [] if job.observed is None else [of_node(computed, resources_of(_text(job.observed)))]
    seen += [] if job.seen_qps is None else [of_job(computed, job.seen_qps)]
    seen += [] if job.seen_memory is None else [of_memory(computed, job.seen_memory)]
    return msgspec.structs.replace(computed, observed=seen)


def _limits(mode: str, max_qps: int | None, device: Path | str | None) -> tuple[LimitCheck, ...]:
    """Return the given limit, or else the limits of the known adapters that support the mode."""
    from wireproof.plan.footprint import ADAPTERS, limit_of_attributes, qp_limit

    given = []
    if max_qps is not None:
        given.append(qp_limit("the adapter", whole("--max-qps", max_qps, 1, 1 << 24), "--max-qps"))
    if device is not None:
        given.append(limit_of_attributes(_text(device)))
    if given or mode == "ucx-dc":
        return tuple(given)
    return (ADAPTERS["irdma"],) if mode.startswith("psm3") else tuple(ADAPTERS.values())


def plan_pfc(speed_gbps: float, mtu: int, cable_m: float, ports: int, **options: Any) -> Pfc:
    """Return headroom, XOFF, XON and total buffer (bytes) that ``ports`` of a switch need for
    lossless priorities, by IEEE 802.1Q. ``options``: see ``plan.headroom.LosslessPorts``.

    Raises ``BadInput``, and ``TypeError`` for an unknown option.
    """
    from wireproof.plan.headroom import LosslessPorts, pfc

    asked = LosslessPorts(speed_gbps=speed_gbps, mtu=mtu, cable_m=cable_m, ports=ports, **options)
    return pfc(asked)


def settings_of(texts: Sequence[str]) -> dict[str, int]:
    """Parse ``NAME=VALUE`` texts. Raises ``BadInput`` for anything else."""
    settings: dict[str, int] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (equals and name and value.isascii() and value.isdigit() and len(value) <= 18):
            raise BadInput(
                f"--set {text[:80]!r} is not NAME=NUMBER, such as PSM3_RV_QP_PER_CONN=4."
            )
        settings[name.strip()] = int(value)
    return settings


_TIMES = {
    "start": "start_ns",
    "overhead": "overhead_ns",
    "gap": "gap_ns",
    "hop": "hop_ns",
    "local_start": "local_start_ns",
    "local_overhead": "local_overhead_ns",
}
_RATES = {"rate": "byte_ns", "local_rate": "local_byte_ns"}


def machine_options(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the options of the command line: times (``1.5us``) to ns and rates (``12.3GB/s``) to
    ns per byte. Raises ``BadInput``.
    """
    from wireproof.physics.units import parse_quantity

    options: dict[str, Any] = {}
    for name, value in typed.items():
        wanted = "time" if name in _TIMES else "rate" if name in _RATES else ""
        if not wanted:
            options[name] = value
        elif value is not None:
            quantity = parse_quantity(value)
            option = f"--{name.replace('_', '-')}"
            if quantity.kind != wanted or not quantity.value:
                raise BadInput(
                    f"{option} {value!r} is not a {wanted} above 0: give 1.5us, or 12.3GB/s."
                )
            number = float(quantity.value)
            options[_TIMES.get(name) or _RATES[name]] = (
                number * 1e9 if wanted == "time" else 1e9 / number
            )
    return options


def scales_of(text: str) -> tuple[int, ...]:
    """Parse ``2,4,8`` into numbers of nodes. Raises ``BadInput``."""
    scales = []
    for item in text.split(","):
        word = item.strip()
        if not (word.isascii() and word.isdigit() and len(word) <= 40):
            raise BadInput(f"--nodes {text[:80]!r} is not a list of numbers, such as 2,4,8.")
        scales.append(int(word))
    return tuple(scales)


def write_text(path: Path, text: str) -> None:
    """Replace the file ``path`` atomically. Raises ``BadInput`` if it cannot be written."""
    from wireproof.files.hostile import replace_file

    with writing(path):
        replace_file(path, text.encode("utf-8"))


def _text(path: Path | str) -> str:
    from wireproof.files.hostile import read_bounded

    with reading(path):
        return read_bounded(path, _LARGEST_FILE).decode("utf-8", "replace")


def plan_scale(nodes: Sequence[int] | int, ppn: int = 1, **options: Any) -> Scale:
    """Predict the latency of rings, barrier, allreduce and alltoall, and the duration of a sweep,
    at each of the scales ``nodes``, simulated from the parameters of one pair (``start_ns``,
    ``byte_ns`` ..., or ``run``, the folder of a measurement).

    ``options``: see ``plan.scale.network.MachineCosts`` and
    ``plan.scaled.ScaleSpecification``. Raises ``BadInput``, and ``TypeError`` for an
    unknown option.
    """
    from wireproof.plan.scaled import ScaleSpecification, scale

    scales = (nodes,) if isinstance(nodes, int) else tuple(nodes)
    return scale(_specified(ScaleSpecification, options, nodes=scales, ppn=ppn))


def plan_validate(nodes: int, **options: Any) -> Validation:
    """Return the rounds, pairs and time needed to prove that none of ``nodes`` is slower than the
    others, and the loss that the rounds of a check detect.

    ``options``: see ``plan.scaled.ValidateSpecification``; ``start_ns``, ``byte_ns`` or
    ``run`` as for ``plan_scale``. Raises ``BadInput``, and ``TypeError`` for an unknown option.
    """
    from wireproof.plan.scaled import ValidateSpecification, validate

    return validate(_specified(ValidateSpecification, options, nodes=nodes))


def _specified(specification: Callable[..., T], options: Mapping[str, Any], **given: Any) -> T:
    """Return the specification of a plan, with the parameters of the machine among ``options``."""
    from wireproof.plan.machine import UNITS

    mine = inspect.signature(specification).parameters
    machine = {name: value for name, value in options.items() if name in UNITS and name not in mine}
    rest = {name: value for name, value in options.items() if name not in {"run", *machine}}
    folder = as_path(options.get("run"))
    return specification(folder=folder, parameters=machine, **given, **rest)
