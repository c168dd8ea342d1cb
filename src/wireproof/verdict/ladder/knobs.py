"""The knobs of each layer: what is worth trying when the step to it loses time or rate. Data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wireproof.model.ladder import Hint, LayerName, Quantity, Step

__all__ = ["KNOBS", "STUDIES", "Knob", "hints_for"]

_START: tuple[Quantity, ...] = ("start",)
_RATE: tuple[Quantity, ...] = ("rate", "windowed")
_TRANSPORT: dict[LayerName, str] = {"tcp": " --transport tcp", "ofi": " --transport ofi"}


@dataclass(frozen=True)
class Knob:
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
class Study:
    """A catalogue of `wireproof study`: many knobs at once, each read back."""

    layer: LayerName
    name: str
    reads: str

    def hint(self, where: str) -> Hint:
        command = f"wireproof study {self.name} {where}{_TRANSPORT.get(self.layer, '')}"
        does = f"all its knobs in one run, each read back ({self.reads})"
        return Hint(layer=self.layer, name=f"study {self.name}", does=does, command=command)


STUDIES: tuple[Study, ...] = (
    Study("ofi", "psm3", "psm3"),
    Study("mpi", "ucx", "UCX"),
    Study("mpi", "ofi", "libfabric"),
    Study("mpi", "impi", "Intel MPI"),
)
KNOBS: tuple[Knob, ...] = (
    Knob("verbs", "mtu", "bytes of one packet", moves=_RATE),
    Knob("verbs", "pcie-max-payload-rdma", "payload of one PCIe packet", moves=_RATE),
    Knob("verbs", "numa-node-rdma", "socket that the adapter belongs to"),
    Knob("tcp", "mtu", "bytes of one packet", moves=_RATE),
    Knob("tcp", "tcp-rmem", "largest receive window", moves=_RATE),
    Knob("tcp", "tcp-wmem", "largest send buffer", moves=_RATE),
    Knob("tcp", "coalescing-adaptive", "how long the adapter holds back interrupts", moves=_START),
    Knob("tcp", "busy-read", "the kernel polls instead of sleeping", moves=_START),
    Knob("ofi", "FI_TCP_IFACE", "interface that the provider uses", "eth0,ib0", "tcp"),
    Knob("ofi", "FI_OFI_RXM_BUFFER_SIZE", "eager limit", "16384,65536", "ofi_rxm"),
    Knob("ofi", "FI_TCP_STAGING_SBUF_SIZE", "copies of small messages", "0,9000", "tcp", _START),
    Knob("ofi", "PSM3_RDMA", "who moves large messages", "0,1,2,3", "psm3", _RATE),
    Knob("ofi", "PSM3_MQ_RNDV_NIC_THRESH", "eager limit", "64000,16000,256000", "psm3"),
    Knob("ofi", "PSM3_FLOW_CREDITS", "packets under way", "64,128,256", "psm3", _RATE),
    Knob("mpi", "UCX_TLS", "transports that may be used", "all|tcp,self,sm|rc,self,sm", "UCX"),
    Knob("mpi", "UCX_RNDV_THRESH", "eager limit", "auto,8k,64k,1m", "UCX"),
    Knob("mpi", "UCX_ZCOPY_THRESH", "from which size nothing is copied", "auto,2k,16k", "UCX"),
    Knob("mpi", "UCX_MAX_RNDV_RAILS", "adapters that share a message", "1,2", "UCX", _RATE),
    Knob("mpi", "FI_PROVIDER", "what libfabric talks through", "tcp,psm3,verbs", "libfabric"),
    Knob("mpi", "I_MPI_FABRICS", "shared memory and fabric", "ofi,shm:ofi", "Intel MPI"),
    Knob("mpi", "OMPI_MCA_pml", "point-to-point engine", "ucx,ob1,cm", "Open MPI"),
    Knob("mpi", "OMPI_MCA_btl_tcp_eager_limit", "eager limit", "65536,1048576", "Open MPI"),
    Knob("mpi", "MPIR_CVAR_CH4_NETMOD", "what MPICH talks through", "ucx,ofi", "MPICH"),
    Knob("mpi", "job-cores", "cores that the ranks may use: progress needs one for each"),
    Knob(
        "collective",
        "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM",
        "algorithm",
        "auto,recursive_doubling,reduce_scatter_allgather",
        "MPICH",
    ),
    Knob("collective", "I_MPI_ADJUST_ALLREDUCE", "algorithm", "1,2,3", "Intel MPI"),
    Knob("collective", "OMPI_MCA_coll_tuned_use_dynamic_rules", "algorithms by rule", "0,1"),
    Knob("collective", "OMPI_MCA_coll_hcoll_enable", "offload to the fabric", "0,1", "Open MPI"),
    Knob("collective", "timer-migration", "other work on the ranks' cores", moves=_START),
    Knob("application", "job-cores", "cores that the ranks may use"),
    Knob("application", "numa-balancing", "the kernel moves pages between sockets", moves=_RATE),
    Knob("application", "huge-pages", "page size of the buffers", moves=_RATE),
)


def hints_for(steps: Sequence[Step], titles: Mapping[LayerName, str], where: str) -> list[Hint]:
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


def _fits(one: Knob | Study, titles: Mapping[LayerName, str]) -> bool:
    """A variable of another provider does nothing."""
    return one.layer != "ofi" or not one.reads or one.reads in titles.get("ofi", "")
