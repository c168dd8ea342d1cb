"""The libfabric installations of this machine: their paths, their providers as the engine sees
them, and the provider that an MPI uses.
"""

import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from wireproof.files.held import real_path
from wireproof.files.programs import by_path
from wireproof.launch.engines import Family, MpiInstall
from wireproof.model.diagnosis import LibfabricFound, Listing, Offer, Provider, ProviderChoice

NAME = "libfabric.so.1"
USUAL = (
    *("/usr/lib*", "/usr/lib/*-linux-gnu", "/usr/local/lib*", "/opt/*/lib*"),
    *("/opt/amazon/efa/lib*", "/opt/cray/libfabric/*/lib*"),
    *("/opt/intel/oneapi/mpi/*/lib", "/opt/intel/oneapi/mpi/*/libfabric/lib"),
    "/opt/intel/oneapi/mpi/*/opt/mpi/libfabric/lib",
)
"""Folders in which distributions and vendors install libfabric."""
_BESIDE = (".", "mpich", "../libfabric/lib", "../opt/mpi/libfabric/lib", "../../libfabric/lib")
"""The place of an MPI's libfabric relative to its library's folder."""
_PATIENCE_S = 30.0
_MOST_LIBRARIES = 16
_WARNING = re.compile(
    r"libfabric:[0-9]+:[0-9]+::([A-Za-z0-9_;-]+):[a-z_]+:[^<]*<warn>\s*(.{1,300})"
)
_NEEDS = {
    "psm": "it needs a True Scale adapter",
    "psm2": "it needs an Omni-Path adapter (hfi1)",
    "opx": "it needs an Omni-Path adapter (hfi1)",
    "verbs": "it needs an RDMA device (ibv_devices)",
    "psm3": "it needs an RDMA device, or PSM3_HAL=sockets for plain Ethernet",
    "mlx": "it needs UCX and an RDMA device",
    "efa": "it needs an Elastic Fabric Adapter",
    "cxi": "it needs a Slingshot adapter (cxi)",
}
_LAYERS = ("ofi_", "off_")
"""Prefixes of names that are not providers: layers, hooks, offloads."""


def library_of(install: MpiInstall) -> Path | None:
    """Return the libfabric next to an MPI's library; None if there is none."""
    folder = install.library_folder
    if folder is None:
        return None
    for below in _BESIDE:
        if (library := folder / below / NAME).is_file():
            return library
    return None


def candidates(
    installs: Iterable[MpiInstall], environment: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Return (path, reason) of each library once, "" for the library that the dynamic
    linker finds.
    """
    seen: set[Path] = set()
    yield "", "found by the dynamic linker"
    for path, why in _places(installs, environment):
        real = real_path(path)
        if path.is_file() and real not in seen and len(seen) < _MOST_LIBRARIES:
            seen.add(real)
            yield str(path), why


def _places(
    installs: Iterable[MpiInstall], environment: Mapping[str, str]
) -> Iterator[tuple[Path, str]]:
    if given := environment.get("I_MPI_OFI_LIBRARY"):
        yield Path(given), "I_MPI_OFI_LIBRARY"
    for install in installs:
        if found := library_of(install):
            yield found, f"next to {install.version or install.family}"
    for folder in environment.get("LD_LIBRARY_PATH", "").split(":"):
        if folder.startswith("/"):
            yield Path(folder) / NAME, "LD_LIBRARY_PATH"
    for pattern in USUAL:
        for place in sorted(Path("/").glob(pattern[1:])):
            yield place / NAME, f"in {place}"


def ask(engine: Path, path: str, environment: Mapping[str, str]) -> tuple[Listing | None, str, str]:
    """Return the providers of the library at ``path``, its messages, and the reason why it cannot
    be used ("" if it can).

    ``FI_PROVIDER`` is removed, to list all providers; libfabric's warnings are requested.
    """
    argv = [str(engine), "providers", *(("--libfabric", path) if path else ())]
    variables = {name: value for name, value in environment.items() if name != "FI_PROVIDER"}
    try:
        done = subprocess.run(
            **by_path(argv, {**variables, "FI_LOG_LEVEL": "warn"}),
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, "", f"it does not answer: {type(error).__name__}"
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode != 0:
        lines = [line for line in said.splitlines() if line.startswith("wireproof-engine: ")]
        why = lines[-1].removeprefix("wireproof-engine: ") if lines else "the program ended"
        return None, said, why if lines else f"{why} with status {done.returncode}"
    try:
        return msgspec.json.decode(done.stdout, type=Listing), said, ""
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return None, said, f"its list cannot be read: {error}"


def described(
    path: str, origin: str, listing: Listing | None, said: str, problem: str
) -> LibfabricFound:
    """Return the library's providers, the usable ones in the library's order first, then the
    missing ones.
    """
    if listing is None:
        return LibfabricFound(path=path or NAME, origin=origin, problem=problem)
    warned = _warnings(said)
    registered = {one.provider: one.provider_version for one in listing.registered}
    offered = dict.fromkeys(one.provider.partition(";")[0] for one in listing.offers)
    own = [name for name in registered if not name.startswith(_LAYERS) and name not in offered]
    names = [*offered, *own, *(name for name in _NEEDS if name not in {*offered, *registered})]
    return LibfabricFound(
        path=listing.path or path,
        origin=origin,
        version=listing.version,
        providers=[
            _provider(name, listing.offers, registered, warned.pop(name, [])) for name in names
        ],
        warnings=[line for lines in warned.values() for line in lines],
    )


def _warnings(said: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in said.splitlines():
        if match := _WARNING.match(line):
            lines = found.setdefault(match[1].partition(";")[0], [])
            if match[2] not in lines:
                lines.append(match[2])
    return found


def _provider(
    name: str, offers: list[Offer], registered: Mapping[str, str], warnings: list[str]
) -> Provider:
    own = [one for one in offers if one.provider.partition(";")[0] == name]
    good = [one for one in own if one.measurable]
    if not own:
        here = (
            "in the library, but offers nothing here"
            if name in registered
            else ("not in the library")
        )
        needs = _NEEDS.get(name, "")
        return Provider(
            name=name,
            state="missing",
            version=registered.get(name, ""),
            reason=f"{here}: {needs}" if needs and name in registered else here,
            warnings=warnings,
        )
    return Provider(
        name=name,
        state="usable" if good else "other-endpoints",
        names=list(dict.fromkeys(one.provider for one in good or own)),
        version=own[0].provider_version,
        domains=list(dict.fromkeys(_domain(one) for one in good or own)),
        reason="" if good else "it offers no tagged reliable datagrams",
        warnings=warnings,
    )


def _domain(one: Offer) -> str:
    device = f" ({one.nic})" if one.nic and one.nic != one.domain else ""
    rate = f" {one.bits_per_s / 1e9:g} Gb/s" if one.bits_per_s else ""
    return f"{one.domain}{device}{rate}"


_OPENMPI_EXCLUDED = "shm,sockets,tcp,udp,rstream,usnic"
_SOCKETS_FABRICS = ("TCP-", "UDP-")
"""PSM3 uses this name for a fabric if its HAL is kernel sockets."""


def allowed_by(value: str, provider: str) -> bool:
    """Return whether ``FI_PROVIDER=value`` allows ``provider`` (its layers do not count): a list of
    names, or, after ^, of excluded names (fabric(7)).
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
    """Return the provider that the MPI selects, with the reasons. ``listing``: the providers of the
    libfabric that this MPI loads, None if it loads none; ``needed``: the libraries that the MPI's
    library needs. ``environment``: the variables that ranks inherit, and for Open MPI the
    parameters of its files as the equivalent variables.
    """
    library = listing.path if listing else ""
    barred = _barred(install.family, needed, environment)
    if barred or listing is None:
        why = [barred or "no libfabric that it loads was found"]
        return ProviderChoice(mpi=install.title, library=library, why=why)
    left = [one for one in listing.offers if one.measurable]
    why = [f"its libfabric {listing.version} offers {_named(left)}"]
    for setting, keeps in _filters(install.family, environment):
        kept = [one for one in left if keeps(one)]
        if len(kept) != len(left):
            why.append(f"{setting} leaves {_named(kept)}")
        left = kept
    why.append("the first of these is used" if left else _NOTHING[install.family])
    provider = left[0].provider if left else ""
    return ProviderChoice(mpi=install.title, library=library, provider=provider, why=why)


_NOTHING: dict[Family, str] = {
    "intel": 'nothing is left: MPI_Init ends with "OFI fi_getinfo() failed"',
    "mpich": "nothing is left: MPI_Init fails",
    "openmpi": "nothing is left for mtl ofi: Open MPI takes pml ucx, or ob1 with btl tcp",
}


def _barred(family: Family, needed: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the reason why this MPI does not use libfabric; "" if it does."""
    if family == "mpich":
        if not any(name.startswith("libfabric.so") for name in needed):
            return "it is built without libfabric (ch4:ucx)"
        ucx = any(name.startswith("libucp.so") for name in needed)
        netmod = environment.get("MPIR_CVAR_CH4_NETMOD", "")
        if ucx and netmod != "ofi":
            return "it uses its first netmod, UCX; MPIR_CVAR_CH4_NETMOD=ofi would select libfabric"
    for kind, component in (("pml", "cm"), ("mtl", "ofi")) if family == "openmpi" else ():
        chosen = environment.get(f"OMPI_MCA_{kind}", "")
        if chosen and not allowed_by(chosen, component):
            return f"{kind} = {chosen[:40]} (a parameter of Open MPI) excludes mtl ofi"
    return ""


Filter = tuple[str, Callable[[Offer], bool]]


def _filters(family: Family, environment: Mapping[str, str]) -> list[Filter]:
    """Return the text and the test of each setting that excludes providers, in the
    order of effect.
    """
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
