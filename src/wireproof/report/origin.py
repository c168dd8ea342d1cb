"""Where the numbers of a run come from (MPI, engine, clock, command, placement), and what could not
be measured.
"""

import shlex

from wireproof.model import gathered, quantity
from wireproof.model.claim import rails_of
from wireproof.model.record import Host
from wireproof.model.run import Run
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import clean, fold

Fact = tuple[str, str]
"""Name and value."""

MOST_LINES = 40
MOST_PLACES = 64


def trouble(section: JudgedRun) -> list[str]:
    """Return the planned points that are missing, each with the observed reason, and the errors
    that the engine reported.
    """
    run = section.run
    missing = sorted(run.missing.items())
    lines = [
        f"point {point} is missing: {clean(str(reason), 300)}"
        for point, reason in missing[:MOST_LINES]
    ]
    if len(missing) > MOST_LINES:
        lines.append(f"and {len(missing) - MOST_LINES} more missing points")
    for error in run.errors[:MOST_LINES]:
        where = f" (point {error.id})" if error.id is not None else ""
        where += f" (rank {error.rank})" if error.rank is not None else ""
        lines.append(f"{clean(error.code, 40)}: {clean(error.message, 300)}{where}")
    return lines


def facts(section: JudgedRun) -> list[Fact]:
    """Return provenance as names and values: what was requested, what answered, and how it was
    started.
    """
    run, known = section.run, section.run.provenance
    environment: list[Fact] = [
        ("environment set", clean(f"{name}={value}", 500))
        for name, value in sorted(known.environment.items())
    ]
    return [
        ("MPI", clean(known.mpi)),
        *_libraries(run),
        ("engine", clean(known.engine)),
        *_engine(run),
        ("launcher", clean(known.launcher)),
        ("started", clean(known.started)),
        ("command", clean(shlex.join(known.argv), 2000)),
        *environment,
        *_claim(run),
        ("wireproof", clean(known.wireproof)),
        *[("note", clean(note)) for note in known.notes],
    ]


def _libraries(run: Run) -> list[Fact]:
    """Return each MPI library that answered, with its hosts; two libraries in one run would be a
    finding.
    """
    found = gathered(
        ((host.library, host.library_path), host.hostname or host.host) for host in run.hosts
    )
    lines: list[Fact] = []
    for (library, path), hosts in found.items():
        lines.append(("library that answered", clean(f"{library or 'none'} on {fold(hosts)}")))
        if path:
            lines.append(("its file", clean(path)))
    return lines


def _engine(run: Run) -> list[Fact]:
    floors = ", ".join(
        f"{floor.pattern} {floor.form} {floor.floor_ns:.3g} ns" for floor in run.floors
    )
    lines: list[Fact] = [("harness floor", floors or "unknown")]
    if run.open is None:
        return [("engine says", "nothing: it did not open its transport"), *lines]
    said, clock = run.open, run.open.clock
    costs = f"quantum {clock.quantum_ns:.3g} ns, one read costs {clock.read_cost_ns:.3g} ns"
    return [
        ("engine says", clean(f"{said.engine}, ABI {said.abi}, transport {said.transport}")),
        ("clock", f"{clock.source}, {costs}"),
        ("run, seed of the order", clean(f"{said.run_id}, {said.seed}")),
        *lines,
    ]


def _claim(run: Run) -> list[Fact]:
    nodes: Fact = (
        "nodes are",
        "virtual: a lab on one machine" if run.claim.virtual else "as found",
    )
    link = run.claim.link
    if link is None:
        return [("link claimed", "none"), nodes]
    text = (
        f"{link.name}, {link.protocol}, {quantity.line_rate(link.line_rate)}, MTU "
        f"{link.mtu or 'unknown'}"
    )
    return [("link claimed", clean(f"{text} ({link.source or 'source unknown'})")), nodes]


def places(section: JudgedRun) -> list[tuple[str, ...]]:
    """Return the actual placement as the engine found it, one row per rank: rank, claimed host,
    actual host, core, NIC, network and IPC namespace, ranks that share memory.
    """
    claims = {claim.rank: claim for claim in section.run.claim.hosts}
    return [
        (
            str(host.rank),
            clean(claims[host.rank].host if host.rank in claims else host.host, 80),
            clean(host.hostname, 80),
            "any" if host.core is None else str(host.core),
            _nic(host, claims[host.rank].nic if host.rank in claims else ""),
            f"{host.netns or '?'}, {host.ipcns or '?'}",
            "unknown" if host.shared_ranks is None else str(host.shared_ranks),
        )
        for host in section.run.hosts[:MOST_PLACES]
    ]


def _nic(host: Host, claimed: str) -> str:
    if not claimed:
        return "none claimed"
    return "; ".join(_one_nic(host, name) for name in rails_of(claimed)[:8])


def _one_nic(host: Host, name: str) -> str:
    from wireproof.analysis.relations import port_called  # the analysis package loads numpy

    nic = port_called(host.nics, name)
    if nic is None:
        return clean(f"{name} (not on this host)", 80)
    return clean(f"{nic.name}, {nic.driver or 'driver unknown'}, MTU {nic.mtu or 'unknown'}", 80)
