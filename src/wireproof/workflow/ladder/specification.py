"""What a ladder is asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import msgspec

from wireproof.model.errors import BadInput
from wireproof.model.ladder import LAYERS, Collective, LayerName
from wireproof.model.plan import ModelWorld
from wireproof.settings.options import Options
from wireproof.workflow.specification import Method, Storage
from wireproof.workflow.target.resolve import TargetSpecification

__all__ = [
    "LadderSpecification",
    "ModelStep",
    "layers_of",
    "methods_of",
    "model_step_of",
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelStep:
    """In the model: what ``layer`` and all above it have more than the layer below."""

    layer: LayerName
    latency_ns: float = 0.0
    gap_ns_per_byte: float = 0.0

    def put_on(self, world: ModelWorld) -> ModelWorld:
        return msgspec.structs.replace(
            world,
            latency_ns=world.latency_ns + self.latency_ns,
            gap_ns_per_byte=world.gap_ns_per_byte + self.gap_ns_per_byte,
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class LadderSpecification:
    """``layers`` empty: all that can be measured here; else these, and one that cannot is an error.
    ``rounds`` None: as many as it takes to decide all steps. ``smallest``: a smaller loss is none.

    The application is a ``pattern`` of our own, or a ``command``; ``number``: where each run of it
    is for one size, the time (ns) in its output.
    """

    target: TargetSpecification
    mpi: Method
    ofi: Method
    storage: Storage = dataclasses.field(default_factory=Storage)
    layers: tuple[LayerName, ...] = ()
    rounds: int | None = None
    sizes: tuple[int, ...] = ()
    smallest: float = 0.25
    collective: Collective = "allreduce"
    model_steps: tuple[ModelStep, ...] = ()
    pattern: str = ""
    command: tuple[str, ...] = ()
    number: Callable[[str], float | None] | None = None

    def asked(self, layer: LayerName) -> bool:
        """The user named it, so that it must be there."""
        given = layer in self.layers or layer == "application"
        return given or (layer == "ofi" and bool(self.ofi.ofi.provider))

    @property
    def names(self) -> tuple[LayerName, ...]:
        """The layers to begin with, from the wire up; raw verbs join when a NIC has them."""
        own: tuple[LayerName, ...] = ("application",) if self.pattern or self.command else ()
        chosen = self.layers or ("tcp", "ofi", "mpi", "collective")
        return tuple(one for one in LAYERS if one in (*chosen, *own))


def methods_of(settings: Options) -> tuple[Method, Method]:
    """The means of the MPI's layers and of libfabric's: --provider is for the one, --fabric for the
    others. Raises ``BadInput``.
    """
    transport = settings.transport
    if transport not in ("mpi", "model"):
        raise BadInput(
            f"{settings.source('transport')} chooses one transport, and a ladder compares several:"
            " leave it out, and choose with --layers."
        )
    ofi = dataclasses.replace(settings, transport="ofi", fabric="")
    mpi = dataclasses.replace(
        settings, provider="", libfabric="", messages="", completion="", exchange=""
    )
    return Method.from_options(mpi), Method.from_options(ofi)


def layers_of(text: str) -> tuple[LayerName, ...]:
    """``tcp,mpi`` as layers, from the wire up. Raises ``BadInput``."""
    words = [one.strip() for one in text.split(",")] if text else []
    known = ", ".join(LAYERS)
    for word in words:
        if word not in LAYERS:
            raise BadInput(f"--layers: there is no layer {word[:40]!r}; there are {known}.")
    if words and len(set(words)) < 2:
        raise BadInput("--layers: a step is between two layers: name two or more.")
    return tuple(one for one in LAYERS if one in words)


def model_step_of(text: str) -> ModelStep:
    """``mpi:latency_ns=11000`` (or ``gap_ns_per_byte``): that layer and those above. Raises
    ``BadInput``.
    """
    layer, _, rest = text.partition(":")
    fields = dict(one.strip().partition("=")[::2] for one in rest.split(","))
    try:
        if strange := set(fields) - {"latency_ns", "gap_ns_per_byte"}:
            raise BadInput(f"there is no {min(strange)[:40]!r}")
        return msgspec.convert({"layer": layer.strip(), **fields}, ModelStep, strict=False)
    except (msgspec.ValidationError, BadInput) as error:
        raise BadInput(
            f"--model-step {text[:60]!r}: {error}; give LAYER:latency_ns=N or"
            f" LAYER:gap_ns_per_byte=N, LAYER one of {', '.join(LAYERS)}."
        ) from error
