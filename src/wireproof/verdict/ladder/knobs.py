"""The knobs of each layer: what is worth trying when the step to it loses time or rate. Data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wireproof.model.ladder import Hint, LayerName, LayerStep, Quantity

__all__ = ["KNOBS", "STUDIES", "LayerKnob", "hints_for"]

_START: tuple[Quantity, ...] = ("start",)
_RATE: tuple[Quantity, ...] = ("rate", "windowed")
_TRANSPORT: dict[LayerName, str] = {"tcp": " --transport tcp", "ofi": " --transport ofi"}


@dataclass(frozen=True)
class LayerKnob:
    """``name``: a setting of the catalogue, or a variable. ``values``: of a variable, to be tried
    against what is set now; "" of a setting, whose recommended value is tried. ``reads``: what
    reads it (of libfabric: the provider). ``moves``: the quantities that it moves.
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
        """`tune try` has no collective: there the ladder itself is asked again with the value."""
        if self.layer == "collective" and self.values:
            value = self.values.split(",")[-1]
            return f"{self.name}={value} wireproof ladder {where} --layers mpi,collective"
        tried = f"'{self.name}={self.values}'" if self.values else self.name
        pattern = "" if self.moves == _START else " --pattern stream"
        return f"wireproof tune try {tried} {where}{pattern}{_TRANSPORT.get(self.layer, '')}"


@dataclass(frozen=True)
class StudyHint:
    """A catalogue of `wireproof study`: many knobs at once, each read back."""

    layer: LayerName
    name: str
    reads: str

    def hint(self, where: str) -> Hint:
        command = f"wireproof study {self.name} {where}{_TRANSPORT.get(self.layer, '')}"
        does = f"all its knobs in one run, each read back ({self.reads})"
        return Hint(layer=self.layer, name=f"study {self.name}", does=does, command=command)


STUDIES: tuple[StudyHint, ...] = (
    StudyHint("ofi", "psm3", "psm3"),
    StudyHint("mpi", "ucx", "UCX"),
    StudyHint("mpi", "ofi", "libfabric"),
    StudyHint("mpi", "impi", "Intel MPI"),
)
KNOBS: tuple[LayerKnob, ...] = (
    LayerKnob("verbs", "mtu", "bytes of one packet", moves=_RATE),
    LayerKnob("verbs", "pcie-max-payload-rdma", "payload of one PCIe packet", moves=_RATE),
    LayerKnob("verbs", "numa-node-rdma", "socket that the adapter belongs to"),
    LayerKnob("tcp", "mtu", "bytes of one packet", moves=_RATE),
    LayerKnob("tcp", "tcp-rmem", "largest receive window", moves=_RATE),
    LayerKnob("tcp", "tcp-wmem", "largest send buffer", moves=_RATE),
    LayerKnob(
        "tcp", "coalescing-adaptive", "how long the adapter holds back interrupts", moves=_START
    ),
    LayerKnob("tcp", "busy-read", "the kernel polls instead of sleeping", moves=_START),
    LayerKnob("ofi", "FI_TCP_IFACE", "interface that the provider uses", "eth0,ib0", "tcp"),
    LayerKnob("ofi", "FI_OFI_RXM_BUFFER_SIZE", "eager limit", "16384,65536", "ofi_rxm"),
    LayerKnob(
        "ofi", "FI_TCP_STAGING_SBUF_SIZE", "copies of small messages", "0,9000", "tcp", _START
    ),
    LayerKnob("ofi", "PSM3_RDMA", "who moves large messages", "0,1,2,3", "psm3", _RATE),
    LayerKnob("ofi", "PSM3_MQ_RNDV_NIC_THRESH", "eager limit", "64000,16000,256000", "psm3"),
    LayerKnob("ofi", "PSM3_FLOW_CREDITS", "packets under way", "64,128,256", "psm3", _RATE),
    LayerKnob("mpi", "UCX_TLS", "transports that may be used", "all|tcp,self,sm|rc,self,sm", "UCX"),
    LayerKnob("mpi", "UCX_RNDV_THRESH", "eager limit", "auto,8k,64k,1m", "UCX"),
    LayerKnob("mpi", "UCX_ZCOPY_THRESH", "from which size nothing is copied", "auto,2k,16k", "UCX"),
    LayerKnob("mpi", "UCX_MAX_RNDV_RAILS", "adapters that share a message", "1,2", "UCX", _RATE),
    LayerKnob("mpi", "FI_PROVIDER", "what libfabric talks through", "tcp,psm3,verbs", "libfabric"),
    LayerKnob("mpi", "I_MPI_FABRICS", "shared memory and fabric", "ofi,shm:ofi", "Intel MPI"),
    LayerKnob("mpi", "OMPI_MCA_pml", "point-to-point engine", "ucx,ob1,cm", "Open MPI"),
    LayerKnob("mpi", "OMPI_MCA_btl_tcp_eager_limit", "eager limit", "65536,1048576", "Open MPI"),
    LayerKnob("mpi", "MPIR_CVAR_CH4_NETMOD", "what MPICH talks through", "ucx,ofi", "MPICH"),
    LayerKnob("mpi", "job-cores", "cores that the ranks may use: progress needs one for each"),
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
    """The knobs of the layers that lose, by what they lose; of libfabric those of its provider.

    ``titles``: of the layers, libfabric's with its provider. ``where``: the options that choose the
    hosts.
    """
    lost = {(one.upper, one.quantity) for one in steps if one.answer == "loses"}
    layers = {layer for layer, _ in lost}
    studies = [one.hint(where) for one in STUDIES if one.layer in layers and _fits(one, titles)]
    knobs = [
        one.hint(where)
        for one in KNOBS
        if any((one.layer, quantity) in lost for quantity in one.moves) and _fits(one, titles)
    ]
    return [*studies, *knobs]


def _fits(one: LayerKnob | StudyHint, titles: Mapping[LayerName, str]) -> bool:
    """A variable of another provider does nothing."""
    return one.layer != "ofi" or not one.reads or one.reads in titles.get("ofi", "")
