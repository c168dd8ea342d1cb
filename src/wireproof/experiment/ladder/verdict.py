# pure
"""Judge which step between two layers loses time or rate, and the consequences. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from wireproof.experiment.effects import busy
from wireproof.experiment.ladder import Hint, Layer, LayerName, LayerStep, MissingLayer, Quantity
from wireproof.experiment.ladder.steps import Rung, decided
from wireproof.model import quantity
from wireproof.model.finding import Evidence, Finding, Severity, Verdict, rank, verdict_of
from wireproof.verdict.issue import as_finding

__all__ = ["KNOBS", "JudgedSteps", "LayerKnob", "Rung", "decided", "hints_for", "judge_ladder"]


def step_said(step: LayerStep, titles: Mapping[LayerName, str], smallest: float) -> str:
    """Return a sentence about one step.

    ``MPI point to point takes 11.2 us longer to start than libfabric tcp (2.1 times its start [2.0,
    2.2])``
    """
    lower, upper = titles[step.lower], titles[step.upper]
    if step.answer == "undecided":
        how = " with a full window" if step.quantity == "windowed" else ""
        times = _times(step).replace("its", f"{lower}'s", 1)
        return f"{upper}{how}: {times}; a decision at {smallest:.0%} needs more --rounds"
    if step.answer == "no-loss":
        return f"{upper} {_alike(step)} {lower}, within {smallest:.0%} ({_times(step)})"
    sentence = f"{upper} {_lost(step)} {lower} ({_times(step)})"
    if step.regained:
        regained = titles[step.regained]
        return f"{sentence}; {regained} does not have this loss, so it bypasses that layer"
    return sentence


def _alike(step: LayerStep) -> str:
    words = {"start": "starts as soon as", "rate": "is as fast as"}
    return words.get(step.quantity, "with a full window is as fast as")


def _lost(step: LayerStep) -> str:
    amount = abs(step.difference.value)
    if step.quantity == "start":
        return f"takes {quantity.microseconds(amount)} us longer to start than"
    how = " with a full window" if step.quantity == "windowed" else ""
    return f"moves {quantity.megabytes(amount)} MB/s less{how} than"


def _times(step: LayerStep) -> str:
    """Return ``2.1 times its start [2.0, 2.2]``; for rates the remaining share, ``26 % of its rate
    [25, 27]``."""
    if step.quantity == "start":
        span = "" if step.low is None or step.high is None else _span(step.low, step.high)
        return f"{quantity.significant(step.ratio)} times its start{span}"
    low, high = step.low, step.high
    span = "" if low is None or high is None else f" [{100 / high:.0f}, {100 / low:.0f}]"
    return f"{100 / step.ratio:.0f} % of its rate{span}"


def _span(low: float, high: float) -> str:
    return f" [{quantity.significant(low)}, {quantity.significant(high)}]"


_LINK_SHARE = 0.8
"""Share of the link's attainable goodput below which the lowest layer itself is slow."""


@dataclass(frozen=True)
class JudgedSteps:
    steps: list[LayerStep]
    findings: list[Finding]
    verdict: Verdict
    answer: str


def judge_ladder(
    layers: Sequence[Layer],
    missing: Sequence[MissingLayer],
    steps: Sequence[LayerStep],
    *,
    smallest: float,
    attainable_bytes_per_s: float | None = None,
) -> JudgedSteps:
    """Return the findings, worst first, the verdict and the answer in words."""
    titles: dict[LayerName, str] = {layer.name: layer.title for layer in layers}
    worded = [
        msgspec.structs.replace(step, text=step_said(step, titles, smallest)) for step in steps
    ]
    parts = [layer for layer in layers if not layer.apart]
    findings = [
        *(_of_step(step, _busy(step, layers)) for step in worded if step.answer != "no-loss"),
        *_of_lowest(parts, attainable_bytes_per_s),
        *(_of_layer(layer) for layer in layers if layer.apart),
        *_of_number(parts, worded),
        *(_of_missing(layer) for layer in missing),
    ]
    findings.sort(key=lambda finding: rank(finding.severity))
    verdict = verdict_of(finding.severity for finding in findings)
    return JudgedSteps(worded, findings, verdict, _answer(findings, parts, smallest))


def _busy(step: LayerStep, layers: Sequence[Layer]) -> str:
    """Return why the hosts may cause the difference, or "". If only the processes of the upper
    layer waited for a processor, the layer's way of waiting is the cause.
    """
    waited = {layer.name: layer.waited for layer in layers}
    why = busy(waited[step.lower], waited[step.upper])
    return f"; but {why}" if why else ""


def _of_step(step: LayerStep, busy: str) -> Finding:
    code = "layer-latency" if step.quantity == "start" else "layer-rate"
    severity: Severity = "note" if step.regained else "inconclusive" if busy else "fail"
    if step.answer == "undecided":
        code, severity = "layer-undecided", "inconclusive"
    return as_finding(
        code,
        severity,
        step.text + busy,
        evidence={
            "lower": step.lower,
            "upper": step.upper,
            "quantity": step.quantity,
            "ratio": step.ratio,
            "low": step.low,
            "high": step.high,
            "p": step.p,
        },
        subject=step.upper,
    )


def _of_lowest(parts: Sequence[Layer], attainable: float | None) -> list[Finding]:
    """Compare the rate of the lowest layer with the link, only if no layer above is faster."""
    lowest = parts[0].line.windowed or parts[0].line.rate if parts else None
    if lowest is None or attainable is None or max(map(_top, parts)) >= _LINK_SHARE * attainable:
        return []
    rate = lowest.value
    message = (
        f"{parts[0].title} itself moves {quantity.megabytes(rate)} MB/s, {rate / attainable:.0%} of"
        f" the {quantity.megabytes(attainable)} MB/s that the link can carry, and no layer above"
        " does better: check the link and the host first"
    )
    evidence: Evidence = {"rate": rate, "attainable": attainable}
    name = parts[0].name
    return [as_finding("lowest-layer-slow", "fail", message, evidence=evidence, subject=name)]


def _top(layer: Layer) -> float:
    """Return the upper end of the layer's best rate in bytes/s; infinite after too few rounds."""
    rates = (layer.line.rate, layer.line.windowed)
    return max((rate.most for rate in rates if rate is not None), default=math.inf)


def _of_layer(layer: Layer) -> Finding:
    return as_finding(
        "layer-off-wire",
        "inconclusive",
        f"{layer.title} is left out of all comparisons: {layer.apart}",
        evidence={"proof": layer.proof},
        subject=layer.name,
    )


def _of_number(parts: Sequence[Layer], steps: Sequence[LayerStep]) -> list[Finding]:
    """Report that no step can be compared: too few layers, or layers without a fitted line."""
    if steps:
        return []
    usable = ", ".join(layer.title for layer in parts) or "none"
    return [
        as_finding(
            "ladder-too-short",
            "inconclusive",
            (
                "no two layers were both measured and proven, so there is no step to compare: "
                f"{usable}"
            ),
            evidence={"layers": len(parts)},
        )
    ]


def _of_missing(layer: MissingLayer) -> Finding:
    return as_finding(
        "layer-missing", "note", f"{layer.title} is not measured: {layer.why}", subject=layer.name
    )


def _answer(findings: Sequence[Finding], parts: Sequence[Layer], smallest: float) -> str:
    sentences = [finding.message for finding in findings if finding.severity == "fail"]
    if not sentences:
        open_ = [finding for finding in findings if finding.severity == "inconclusive"]
        open_.sort(key=lambda finding: finding.code == "layer-undecided")
        sentences = [open_[0].message] if open_ else [f"no layer loses more than {smallest:.0%}"]
    return ". ".join([*sentences, *_share(parts)]) + "."


def _share(parts: Sequence[Layer]) -> list[str]:
    """Return the share of the lowest layer's rate that the top layer keeps, with a full window if
    both have that rate."""
    if len(parts) < 2:
        return []
    low, top = parts[0].line, parts[-1].line
    ends = (low.windowed, top.windowed) if low.windowed and top.windowed else (low.rate, top.rate)
    if ends[0] is None or ends[1] is None:
        return []
    first, last = ends[0].value, ends[1].value
    left = f"{quantity.megabytes(last)} MB/s ({last / first:.0%}) remain in {parts[-1].title}"
    return [f"Of {quantity.megabytes(first)} MB/s in {parts[0].title}, {left}"]


# --- The knobs of each layer, to try if time or rate is lost at the step to it. Data.

_START: tuple[Quantity, ...] = ("start",)
_RATE: tuple[Quantity, ...] = ("rate", "windowed")
_STUDY = "all its knobs in one run, with each value read back"
_TRANSPORT: dict[LayerName, str] = {"tcp": " --transport tcp", "ofi": " --transport ofi"}


@dataclass(frozen=True)
class LayerKnob:
    """A setting of the catalogue, a variable, or a ``study`` of many knobs.

    ``values``: for a variable, the values to try against the current one; "" for a setting, whose
    recommended value is tried, and for a study. ``reads``: the library that reads it (for
    libfabric, the provider). ``moves``: the quantities that it can change.
    """

    layer: LayerName
    name: str
    does: str
    values: str = ""
    reads: str = ""
    moves: tuple[Quantity, ...] = ("start", *_RATE)

    def hint(self, where: str) -> Hint:
        reads = f" ({self.reads})" if self.reads else ""
        does, command = f"{self.does}{reads}", self._command(where)
        return Hint(layer=self.layer, name=self.name, does=does, command=command)

    def _command(self, where: str) -> str:
        """Return the command. `tune try` measures no collectives: for those, the ladder itself runs
        with the value."""
        transport = _TRANSPORT.get(self.layer, "")
        if self.does == _STUDY:
            return f"wireproof {self.name} {where}{transport}"
        if self.layer == "collective" and self.values:
            value = self.values.split(",")[-1]
            return f"{self.name}={value} wireproof ladder {where} --layers mpi,collective"
        tried = f"'{self.name}={self.values}'" if self.values else self.name
        pattern = "" if self.moves == _START else " --pattern stream"
        return f"wireproof tune try {tried} {where}{pattern}{transport}"


KNOBS: tuple[LayerKnob, ...] = (
    LayerKnob("ofi", "study psm3", _STUDY, reads="psm3"),
    LayerKnob("mpi", "study ucx", _STUDY, reads="UCX"),
    LayerKnob("mpi", "study ofi", _STUDY, reads="libfabric"),
    LayerKnob("mpi", "study impi", _STUDY, reads="Intel MPI"),
    LayerKnob("verbs", "mtu", "bytes of one packet", moves=_RATE),
    LayerKnob("verbs", "pcie-max-payload-rdma", "payload of one PCIe packet", moves=_RATE),
    LayerKnob("verbs", "numa-node-rdma", "CPU socket of the adapter"),
    LayerKnob("tcp", "mtu", "bytes of one packet", moves=_RATE),
    LayerKnob("tcp", "tcp-rmem", "largest receive window", moves=_RATE),
    LayerKnob("tcp", "tcp-wmem", "largest send buffer", moves=_RATE),
    LayerKnob("tcp", "coalescing-adaptive", "how long the adapter delays interrupts", moves=_START),
    LayerKnob("tcp", "busy-read", "the kernel polls instead of sleeping", moves=_START),
    LayerKnob("ofi", "FI_TCP_IFACE", "interface that the provider uses", "eth0,ib0", "tcp"),
    LayerKnob("ofi", "FI_OFI_RXM_BUFFER_SIZE", "eager limit", "16384,65536", "ofi_rxm"),
    LayerKnob(
        "ofi", "FI_TCP_STAGING_SBUF_SIZE", "copies of small messages", "0,9000", "tcp", _START
    ),
    LayerKnob("ofi", "PSM3_RDMA", "RDMA or copies for large messages", "0,1,2,3", "psm3", _RATE),
    LayerKnob("ofi", "PSM3_MQ_RNDV_NIC_THRESH", "eager limit", "64000,16000,256000", "psm3"),
    LayerKnob("ofi", "PSM3_FLOW_CREDITS", "packets in flight", "64,128,256", "psm3", _RATE),
    LayerKnob("mpi", "UCX_TLS", "transports that may be used", "all|tcp,self,sm|rc,self,sm", "UCX"),
    LayerKnob("mpi", "UCX_RNDV_THRESH", "eager limit", "auto,8k,64k,1m", "UCX"),
    LayerKnob(
        "mpi", "UCX_ZCOPY_THRESH", "smallest message size without copies", "auto,2k,16k", "UCX"
    ),
    LayerKnob("mpi", "UCX_MAX_RNDV_RAILS", "adapters that share a message", "1,2", "UCX", _RATE),
    LayerKnob("mpi", "FI_PROVIDER", "libfabric provider", "tcp,psm3,verbs", "libfabric"),
    LayerKnob(
        "mpi", "I_MPI_FABRICS", "fabrics within and between nodes", "ofi,shm:ofi", "Intel MPI"
    ),
    LayerKnob("mpi", "OMPI_MCA_pml", "point-to-point engine", "ucx,ob1,cm", "Open MPI"),
    LayerKnob("mpi", "OMPI_MCA_btl_tcp_eager_limit", "eager limit", "65536,1048576", "Open MPI"),
    LayerKnob("mpi", "MPIR_CVAR_CH4_NETMOD", "MPICH's network module", "ucx,ofi", "MPICH"),
    LayerKnob("mpi", "job-cores", "cores that the ranks may use: progress needs one core per rank"),
    LayerKnob(
        "collective",
        "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM",
        "algorithm",
        "auto,recursive_doubling,reduce_scatter_allgather",
        "MPICH",
    ),
    LayerKnob("collective", "I_MPI_ADJUST_ALLREDUCE", "algorithm", "1,2,3", "Intel MPI"),
    LayerKnob("collective", "OMPI_MCA_coll_tuned_use_dynamic_rules", "algorithms by rule", "0,1"),
    LayerKnob(
        "collective", "OMPI_MCA_coll_hcoll_enable", "offload to the fabric", "0,1", "Open MPI"
    ),
    LayerKnob("collective", "timer-migration", "other work on the ranks' cores", moves=_START),
    LayerKnob("application", "job-cores", "cores that the ranks may use"),
    LayerKnob(
        "application", "numa-balancing", "the kernel moves pages between sockets", moves=_RATE
    ),
    LayerKnob("application", "huge-pages", "page size of the buffers", moves=_RATE),
)


def hints_for(
    steps: Sequence[LayerStep], titles: Mapping[LayerName, str], where: str
) -> list[Hint]:
    """Return the knobs of the layers that lose, selected by the quantities that they lose; for
    libfabric, those of its provider.

    ``titles``: the layers' titles; libfabric's names its provider. ``where``: the options that
    choose the hosts.
    """
    lost = {(step.upper, step.quantity) for step in steps if step.answer == "loses"}
    return [
        knob.hint(where)
        for knob in KNOBS
        if any((knob.layer, quantity) in lost for quantity in knob.moves)
        # a variable of another provider has no effect
        and (knob.layer != "ofi" or not knob.reads or knob.reads in titles.get("ofi", ""))
    ]
