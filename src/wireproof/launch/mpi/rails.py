"""Several NICs for each rank: the variables with which an MPI, or the library below it, uses all of
them. Pure.

A variable does not prove that the library used the NICs; the port counters do.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wireproof.model.claim import rails_of
from wireproof.model.errors import BadInput


@dataclass(frozen=True)
class Rails:
    """Variables (or MCA parameters) for rails; ``{nics}`` and ``{count}`` are filled in.

    ``written``: returns a NIC's name there: as claimed (``mlx5_0:1``), its device alone, or PSM2's
    number of its unit and port. ``source``: the document that states this.
    """

    variables: Mapping[str, str]
    written: Callable[[str], str]
    source: str
    most: int = 32

    def of(self, nics: str) -> dict[str, str]:
        """Return the variables for the rails ``nics``. Raise ``BadInput`` for more than the
        maximum.
        """
        names = rails_of(nics)
        if len(names) > self.most:
            raise BadInput(f"{len(names)} rails are given, but the maximum here is {self.most}.")
        words = ",".join(self.written(name) for name in names)
        return {
            name: value.format(nics=words, count=len(names))
            for name, value in self.variables.items()
        }


def _device(nic: str) -> str:
    return nic.partition(":")[0]


def _unit(nic: str) -> str:
    """Return ``0:1`` of ``hfi1_0`` and of ``hfi1_0:1``."""
    found = re.fullmatch(r"hfi1_([0-9]{1,3})(?::([0-9]{1,3}))?", nic)
    if found is None:
        raise BadInput(f"NIC {nic} is not an Omni-Path adapter: give the rails as hfi1_0,hfi1_1.")
    return f"{found.group(1)}:{found.group(2) or 1}"


UCX = Rails(
    {
        "UCX_NET_DEVICES": "{nics}",
        "UCX_MAX_EAGER_RAILS": "{count}",
        "UCX_MAX_RNDV_RAILS": "{count}",
    },
    str,
    "ucx_info -cf: MAX_EAGER_RAILS (1 unless set), MAX_RNDV_RAILS (2 unless set)",
    most=16,
)
PSM3 = Rails(
    {"PSM3_MULTIRAIL": "1", "PSM3_MULTIRAIL_MAP": "{nics}"},
    _device,
    "libfabric prov/psm3 psm_multi_ep: rail = unit[-address], unit a number or a name",
)
PSM2 = Rails(
    {"PSM2_MULTIRAIL": "1", "PSM2_MULTIRAIL_MAP": "{nics}"},
    _unit,
    "opa-psm2 psm_ep: PSM2_MULTIRAIL_MAP=unit:port,unit:port",
    most=4,
)
MPICH_OFI = Rails(
    {
        "MPIR_CVAR_CH4_OFI_MAX_NICS": "{count}",
        "MPIR_CVAR_CH4_OFI_ENABLE_MULTI_NIC_STRIPING": "1",
        "MPIR_CVAR_CH4_OFI_ENABLE_MULTI_NIC_HASHING": "1",
    },
    _device,
    "MPICH src/mpid/ch4/netmod/ofi/ofi_init.c: control variables of several NICs",
    most=8,
)
INTEL_OFI = Rails(
    {"I_MPI_MULTIRAIL": "1"},
    _device,
    "Intel MPI 2021: control variable CH4_OFI_ENABLE_MULTI_NIC, alias I_MPI_MULTIRAIL",
    most=10,
)
BTL_TCP = Rails(
    {"btl_tcp_if_include": "{nics}"},
    str,
    "Open MPI: one module of the BTL tcp for each interface, and ob1 stripes over all",
)


_TABLES = (UCX, PSM3, PSM2, MPICH_OFI, INTEL_OFI, BTL_TCP)
_TOLD = {name for table in _TABLES for name in table.variables} | {
    "FI_PROVIDER",
    "FI_TCP_IFACE",
    "FI_VERBS_IFACE",
    "PSM3_NIC",
}
_PAIRS = ("-genv", "-env", "--mca")
"""Options of launchers that precede a name and its value."""


def told_in(argv: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a launch for the MPI's NICs: from variables, or from options of the
    launcher (``-genv NAME VALUE``, ``-x NAME=VALUE``, ``--mca name value``).
    """
    pairs = dict(environment)
    for index, word in enumerate(argv):
        if word in _PAIRS and index + 2 < len(argv):
            pairs[argv[index + 1]] = argv[index + 2]
        if word == "-x" and index + 1 < len(argv) and "=" in argv[index + 1]:
            name, _, value = argv[index + 1].partition("=")
            pairs[name] = value
    return {name: pairs[name] for name in sorted(pairs) if name in _TOLD}


def one_nic_only(what: str, nics: str) -> BadInput:
    """Return the message for programs that can use only one NIC for each rank."""
    return BadInput(
        f"{what} uses one NIC for each rank, not {nics}: give one, or rails over UCX (MPICH, Open"
        " MPI), PSM3 (--fabric psm3) or Open MPI's TCP."
    )
