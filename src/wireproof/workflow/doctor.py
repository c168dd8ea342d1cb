"""Test this machine: capabilities, MPIs (two ranks, one point, bounded), transports and their
providers.
"""

import gzip
import os
import platform
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from wireproof.files.held import real_path
from wireproof.files.programs import by_path, find_tool
from wireproof.instrument import Recording, measure
from wireproof.launch.command import prepare, provenance
from wireproof.launch.engines import MpiInstall, find_engine
from wireproof.launch.here import meeting_point
from wireproof.launch.known import MPIS
from wireproof.launch.mpi.discovery import choose_mpi, find_mpis, openmpi_parameters
from wireproof.launch.mpi.identify import read_needed
from wireproof.launch.mpi.libfabrics import (
    ask,
    candidates,
    choose_provider,
    described,
    library_of,
)
from wireproof.launch.registry import LaunchCommand
from wireproof.model.claim import Claim, HostClaim
from wireproof.model.diagnosis import (
    Capability,
    Diagnosis,
    LibfabricFound,
    Listing,
    ProviderChoice,
    ProviderReport,
    ThisMachine,
    TransportTried,
)
from wireproof.model.errors import WireproofError
from wireproof.model.plan import Plan, Point, Policy, RankPlace, Transport, TransportKind
from wireproof.report.reporter import Reporter

# --- The capabilities of this machine that wireproof needs: the part of ``doctor`` that needs no
# MPI.

TOOLS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "ethtool": "ethtool",
    "ssh": "openssh-client",
    "lspci": "pciutils",
}
KERNEL_OPTIONS = {
    "netem": ("CONFIG_NET_SCH_NETEM", "sch_netem", "delay and loss in the lab"),
    "htb": ("CONFIG_NET_SCH_HTB", "sch_htb", "rate limits in the lab"),
    "veth": ("CONFIG_VETH", "veth", "links in the lab"),
    "bridge": ("CONFIG_BRIDGE", "bridge", "the switch in the lab"),
}
TRY_SECONDS = 10.0


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def _tools() -> list[Capability]:
    found = []
    for name, package in TOOLS.items():
        path = find_tool(name)
        advice = "" if path else f"install the package {package}"
        found.append(
            Capability(
                name=name,
                works=path is not None,
                detail=path or "neither on PATH nor in /usr/sbin",
                advice=advice,
            )
        )
    return found


def namespaces_argv(root: bool) -> list[str]:
    """Return a command that enters all namespaces of a lab node and exits, to test whether lab
    nodes can be created.
    """
    user = [] if root else ["--user", "--map-root-user"]
    return ["unshare", *user, "--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "true"]


def _namespaces(root: bool) -> Capability:
    how = "as root" if root else "in an unprivileged user namespace"
    try:
        done = subprocess.run(
            **by_path(namespaces_argv(root)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TRY_SECONDS,
            check=False,
        )
        works, said = done.returncode == 0, done.stderr.decode("utf-8", "replace").strip()[:200]
    except (OSError, subprocess.TimeoutExpired) as error:
        works, said = False, f"unshare: {type(error).__name__}"
    advice = (
        ""
        if works
        else "run as root, or set user.max_user_namespaces and kernel.unprivileged_userns_clone"
    )
    return Capability(
        name="namespaces", works=works, detail=how if works else f"not {how}: {said}", advice=advice
    )


def _kernel_config() -> str:
    try:
        return gzip.decompress(Path("/proc/config.gz").read_bytes()).decode("utf-8", "replace")
    except (OSError, EOFError):
        return _read(f"/boot/config-{platform.release()}")


def _kernel_features() -> list[Capability]:
    config = _kernel_config()
    builtin = _read(f"/lib/modules/{platform.release()}/modules.builtin")
    known = _read(f"/lib/modules/{platform.release()}/modules.dep")
    result = []
    for name, (option, module, use) in KERNEL_OPTIONS.items():
        works: bool | None = None
        if Path(f"/sys/module/{module}").is_dir() or f"/{module}.ko" in builtin + known:
            works = True
        elif config:
            works = f"\n{option}=" in config
        detail = {True: use, False: f"not in this kernel: {use}", None: f"unknown ({use})"}[works]
        result.append(Capability(name=name, works=works, detail=detail))
    return result


def _counters(root: Path = Path("/sys/class/net")) -> Capability:
    """Test whether byte counters of an interface other than the loopback can be read."""
    readable, unreadable = [], []
    for folder in sorted(root.glob("*/statistics")):
        name = folder.parent.name
        if name == "lo":
            continue
        try:
            int((folder / "tx_bytes").read_text())
            readable.append(name)
        except (OSError, ValueError):
            unreadable.append(name)
    if readable:
        return Capability(
            name="counters",
            works=True,
            detail=f"byte counters of {', '.join(readable[:8])} can be read",
        )
    seen = (
        f"not readable: {', '.join(unreadable[:8])}"
        if unreadable
        else "no network interface but the loopback"
    )
    return Capability(
        name="counters",
        works=False,
        detail=seen,
        advice="without counters no path can be proven here",
    )


def look() -> ThisMachine:
    """Examine this machine. Changes nothing; every test has a time limit."""
    root = os.geteuid() == 0
    source = _read("/sys/devices/system/clocksource/clocksource0/current_clocksource").strip()
    clock = Capability(
        name="clock",
        works=source in ("tsc", "arch_sys_counter"),
        detail=f"clock source {source or 'unknown'}",
        advice=""
        if source in ("tsc", "arch_sys_counter")
        else "reading the time takes a system call here, which makes latencies less precise",
    )
    return ThisMachine(
        kernel=platform.release(),
        architecture=platform.machine(),
        cores=len(os.sched_getaffinity(0)),
        clock_source=source,
        root=root,
        capabilities=[clock, _counters(), _namespaces(root), *_kernel_features(), *_tools()],
    )


DEADLINE_S = 40.0


def small_plan(transport: TransportKind, expect: str = "") -> Plan:
    """Return a plan with two ranks and one half round trip at 8 B, which is enough to show that
    frames arrive.
    """
    return Plan(
        run_id="doctor",
        seed=1,
        transport=Transport(kind=transport, expect=expect),
        ranks=tuple(RankPlace(index=rank, host="localhost") for rank in range(2)),
        points=(Point(id=0, pattern="pingpong", message_bytes=8, pairs=((0, 1),), budget_ms=100),),
        policy=Policy(
            point_budget_ms=100, point_deadline_ms=10_000, run_deadline_ms=30_000, yield_=1
        ),
    )


def _blank(install: MpiInstall | None, name: str) -> TransportTried:
    if install is None:
        return TransportTried(
            name=name,
            family="",
            launcher="",
            version="",
            abi="nompi",
            abi_version="",
            engine="",
            works=False,
        )
    return TransportTried(
        name=install.title,
        family=install.family,
        launcher=str(install.launcher),
        version=install.version,
        abi=install.abi or "",
        abi_version=install.abi_version,
        engine=f"wireproof-engine.{install.abi}" if install.abi else "",
        works=False,
        problem=install.problem,
    )


def _command(transport: TransportKind, install: MpiInstall | None) -> LaunchCommand:
    if transport not in ("tcp", "ofi"):
        return prepare(transport, install, ranks=2)
    # Any Hydra starts plain processes and passes them rank and size.
    return prepare(
        transport,
        install or choose_mpi("mpich"),
        ranks=2,
        meet=meeting_point("127.0.0.1"),
        over="ofi" if transport == "ofi" else "",
    )


def try_transport(transport: TransportKind, install: MpiInstall | None = None) -> TransportTried:
    """Run the small plan over ``transport``.

    If it does not work, return the reason in ``problem`` instead of raising. Raises
    ``KeyboardInterrupt`` if the user stopped it.
    """
    blank = _blank(install, transport)
    if install is not None and install.problem:
        return blank
    begun = time.monotonic()
    try:
        command = _command(transport, install)
        outcome = measure(
            small_plan(transport, command.expect),
            command,
            claim=Claim(
                hosts=[HostClaim(rank=rank, host="localhost") for rank in range(2)], wire=False
            ),
            provenance=provenance(command, install),
            recording=Recording(deadline_s=DEADLINE_S, on_this_machine=True),
        )
    except WireproofError as error:
        return msgspec.structs.replace(blank, problem=str(error))
    shutil.rmtree(outcome.folder, ignore_errors=True)
    if outcome.ending.ended == "interrupted":
        raise KeyboardInterrupt
    library = outcome.run.hosts[0].library if outcome.run.hosts else ""
    seconds = round(time.monotonic() - begun, 2)
    problem = "" if outcome.complete else outcome.ending.reason
    return msgspec.structs.replace(
        blank, works=outcome.complete, library=library, problem=problem, seconds=seconds
    )


def diagnose(reporter: Reporter, *, start: bool = True) -> Diagnosis:
    """Examine the machine; ``start``: also start each MPI that is found, with two ranks,
    briefly.
    """
    machine = look()
    if not start:
        return Diagnosis(machine=machine, transports=[])
    reporter.say("testing the transports and every MPI on this machine; each takes a few seconds")
    answers = [try_transport(kind) for kind in ("null", "tcp", "ofi")]
    for install in find_mpis():
        reporter.say(f"starting two ranks with {install.launcher}")
        answers.append(try_transport("mpi", install))
    return Diagnosis(machine=machine, transports=answers)


def providers(environment: Mapping[str, str]) -> ProviderReport:
    """Load each installed libfabric into the engine, in a separate process.

    Raises ``CouldNotMeasure`` if the engine is not built.
    """
    engine = find_engine("nompi", environment)
    installs = find_mpis(environment)
    libraries: list[LibfabricFound] = []
    listings: dict[str, Listing] = {}
    for path, origin in candidates(installs, environment):
        listing, version_text, problem = ask(engine, path, environment)
        described_library = described(path, origin, listing, version_text, problem)
        if listing is not None:
            listings[path] = listing
            if any(
                real_path(Path(described_library.path)) == real_path(Path(library.path))
                for library in libraries
            ):
                continue
        libraries.append(described_library)
    return ProviderReport(
        libfabrics=libraries,
        choices=[_choice(install, listings, environment) for install in installs],
    )


def _choice(
    install: MpiInstall, listings: Mapping[str, Listing], environment: Mapping[str, str]
) -> ProviderChoice:
    library, record = library_of(install), MPIS[install.family]
    path = environment.get(record.libfabric_variable) or (str(library) if library else "")
    needed = read_needed(install.library) if install.library else ()
    parameters = openmpi_parameters(install, environment) if record.parameter_files else {}
    return choose_provider(install, listings.get(path), needed, {**parameters, **environment})
