"""Which libfabric provider an MPI takes, by the rules of each family. Pure.

Intel MPI 2021.18 was run with each of these settings and its I_MPI_DEBUG=2 line compared: without
any it takes the first of its libfabric's list; ``I_MPI_OFI_PROVIDER`` and ``FI_PROVIDER`` must both
allow the provider, else MPI_Init ends with "OFI fi_getinfo() failed"; PSM3 over the kernel's
sockets counts only with ``PSM3_HAL`` set. Open MPI 4.1's exclusions are those that ``ompi_info
--param mtl ofi`` prints; MPICH's order of netmods is its ``--with-device``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from wireproof.launch.mpi.install import Family, MpiInstall
from wireproof.model.diagnosis import Listing, Offer, ProviderChoice

__all__ = ["allowed_by", "choose_provider"]

_OPENMPI_EXCLUDED = "shm,sockets,tcp,udp,rstream,usnic"
_SOCKETS_FABRICS = ("TCP-", "UDP-")
"""PSM3 names a fabric so where its HAL is the kernel's sockets."""


def allowed_by(value: str, provider: str) -> bool:
    """Whether ``FI_PROVIDER=value`` leaves ``provider`` (its layers do not count): a list of names,
    or, with ^ before it, of those that are left out (fabric(7)).
    """
    core = provider.partition(";")[0].lower()
    names = {name.strip().partition(";")[0].lower() for name in value.lstrip("^").split(",")}
    return (core not in names) if value.startswith("^") else (core in names)


def choose_provider(
    install: MpiInstall,
    listing: Listing | None,
    needed: Sequence[str],
    environment: Mapping[str, str],
) -> ProviderChoice:
    """``listing``: of the libfabric that this MPI loads, None when it has none; ``needed``: the
    libraries that its own asks for. ``environment``: what ranks inherit, and for Open MPI the
    parameters of its files as the variables that they stand for.
    """
    choice = ProviderChoice(mpi=install.title, library=listing.path if listing else "")
    barred = _barred(install.family, needed, environment)
    if barred or listing is None:
        why = [barred or "no libfabric that it loads was found"]
        return ProviderChoice(mpi=choice.mpi, library=choice.library, why=why)
    left = [one for one in listing.offers if one.measurable]
    why = [f"its libfabric {listing.version} offers {_named(left)}"]
    for setting, keeps in _filters(install.family, environment):
        kept = [one for one in left if keeps(one)]
        if len(kept) != len(left):
            why.append(f"{setting} leaves {_named(kept)}")
        left = kept
    if not left:
        return ProviderChoice(
            mpi=choice.mpi, library=choice.library, why=[*why, _NOTHING[install.family]]
        )
    why.append("the first of these is taken")
    return ProviderChoice(
        mpi=choice.mpi, library=choice.library, provider=left[0].provider, why=why
    )


_NOTHING: dict[Family, str] = {
    "intel": 'nothing is left: MPI_Init ends with "OFI fi_getinfo() failed"',
    "mpich": "nothing is left: MPI_Init fails",
    "openmpi": "nothing is left for mtl ofi: Open MPI takes pml ucx, or ob1 with btl tcp",
}


def _barred(family: Family, needed: Sequence[str], environment: Mapping[str, str]) -> str:
    """Why this MPI does not come to libfabric at all; "" when it does."""
    if family == "mpich":
        if not any(name.startswith("libfabric.so") for name in needed):
            return "it is built without libfabric (ch4:ucx)"
        ucx = any(name.startswith("libucp.so") for name in needed)
        netmod = environment.get("MPIR_CVAR_CH4_NETMOD", "")
        if ucx and netmod != "ofi":
            return "it takes its first netmod, UCX; MPIR_CVAR_CH4_NETMOD=ofi would take libfabric"
    for kind, component in (("pml", "cm"), ("mtl", "ofi")) if family == "openmpi" else ():
        chosen = environment.get(f"OMPI_MCA_{kind}", "")
        if chosen and not allowed_by(chosen, component):
            return f"{kind} = {chosen[:40]} (a parameter of Open MPI) leaves mtl ofi out"
    return ""


Filter = tuple[str, Callable[[Offer], bool]]


def _filters(family: Family, environment: Mapping[str, str]) -> list[Filter]:
    """The text and the test of each setting that leaves providers out, in the order of effect."""
    found = []
    if value := environment.get("FI_PROVIDER", ""):
        found.append(_by_list("FI_PROVIDER", value))
    if family == "intel":
        if value := environment.get("I_MPI_OFI_PROVIDER", ""):
            found.append(_by_list("I_MPI_OFI_PROVIDER", value))
        if not environment.get("PSM3_HAL"):
            found.append(("PSM3_HAL unset (Intel MPI's psm3 wants an RDMA device)", _no_sockets))
    if family == "openmpi":
        found.append(_openmpi_list(environment))
    return found


def _by_list(name: str, value: str) -> Filter:
    return (f"{name}={value[:80]}", lambda one: allowed_by(value, one.provider))


def _openmpi_list(environment: Mapping[str, str]) -> Filter:
    if include := environment.get("OMPI_MCA_mtl_ofi_provider_include", ""):
        return _by_list("OMPI_MCA_mtl_ofi_provider_include", include)
    given = environment.get("OMPI_MCA_mtl_ofi_provider_exclude")
    value = _OPENMPI_EXCLUDED if given is None else given
    name = "mtl_ofi_provider_exclude" if given is None else "OMPI_MCA_mtl_ofi_provider_exclude"
    return (f"{name}={value[:80]}", lambda one: allowed_by("^" + value, one.provider))


def _no_sockets(one: Offer) -> bool:
    return one.provider != "psm3" or not one.fabric.startswith(_SOCKETS_FABRICS)


def _named(offers: Sequence[Offer]) -> str:
    return ", ".join(dict.fromkeys(one.provider for one in offers)) or "nothing"
